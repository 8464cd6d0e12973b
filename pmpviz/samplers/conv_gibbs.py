"""Gibbs sampling of the binary convolution, everything that is independent given the rest at once."""

from __future__ import annotations

import math

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Int8

from pmpviz import keys
from pmpviz.models.conv_or import ConvOR, explanations
from pmpviz.samplers._conv import ConvAlgorithm
from pmpviz.samplers.conv_pmp import why_not
from pmpviz.types import Info, Spec, Style, Target, pytree

SPEC = Spec(
    id="gibbs",
    label="Gibbs sampling",
    kind="chain",
    guarantee="invariant",
    reversible=False,
    summary="Draws places that don't overlap together, then the features' pixels one by one, then unseen pixels.",
    paper="Geman and Geman 1984; baseline of perturb-and-max-product",
    metrics=("flips",),
    tile=lambda model: 1,
    why_not=why_not,
    style=Style("#0072B2", "dash", "square"),
    short="Gibbs",
)


@pytree
class ConvGibbs(ConvAlgorithm):
    """One sweep draws every free variable once from its conditional, in a fixed order.

    Places of one feature that are a whole feature apart share no pixel, and images share none at all: given the rest
    they are independent. A step is a sweep.
    """

    spec = SPEC

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> Int8[Array, " n"]:
        """x0 with the clamped variables at their values."""
        return target.evidence.apply(x0)

    def step(self, key: Array, target: Target, state: Int8[Array, " n"]) -> tuple[Int8[Array, " n"], Info]:
        """One sweep."""
        model: ConvOR = target.model
        s, w, x = (part.astype(jnp.float32) for part in model.split(state))
        masks = model.split(jnp.asarray(target.evidence.mask))
        thresholds = model.split(keys.logistic_threshold(keys.uniform(key, target.n)))
        gain = target.beta * model.noise_logit * (2.0 * x - 1.0)
        count = explanations(s, w)
        s, count = _locations(target, s, w, gain, count, masks[0], thresholds[0])
        w, count = _features(target, s, w, gain, count, masks[1], thresholds[1])
        drawn = target.beta * model.noise_logit * jnp.where(count > 0.5, 1.0, -1.0) > thresholds[2]
        fresh = model.join(s, w, jnp.where(masks[2], x, drawn))
        return fresh, {"flips": (fresh != state).mean(dtype=jnp.float32)}

    def position(self, target: Target, state: Int8[Array, " n"]) -> Int8[Array, " n"]:
        """The state itself."""
        return state


def _locations(target: Target, s, w, gain, count, mask, threshold) -> tuple[Array, Array]:
    """New places: those of one feature and one remainder of row and column by the feature's size, all images."""
    shape = target.model.shape
    size, places = (shape.feature_height, shape.feature_width), shape.locations
    tiles = tuple(math.ceil(count / side) for count, side in zip(places, size, strict=True))
    grown = tuple(tiles[k] * size[k] for k in range(2))
    extra = tuple((0, grown[k] - places[k]) for k in range(2))
    # Room below and to the right, so that every class reads a whole number of tiles.
    spare = tuple((0, grown[k] + size[k] - 1 - (shape.height, shape.width)[k]) for k in range(2))
    s, threshold = (jnp.pad(part, ((0, 0), (0, 0), *extra)) for part in (s, threshold))
    fixed = jnp.pad(mask, ((0, 0), (0, 0), *extra), constant_values=True)
    gain, count = (jnp.pad(part, ((0, 0), (0, 0), *spare)) for part in (gain, count))
    prior = target.beta * target.model.location_copies * target.model.location_logit

    def draw(step, carry):
        s, count = carry
        f, rest = step // (size[0] * size[1]), step % (size[0] * size[1])
        row, column = rest // size[1], rest % size[1]
        feature = lax.dynamic_index_in_dim(w, f, 1, keepdims=False)

        def tiled(pixels):
            window = lax.dynamic_slice(pixels, (0, 0, row, column), (*pixels.shape[:2], *grown))
            return window.reshape(*pixels.shape[:2], tiles[0], size[0], tiles[1], size[1])

        def of_class(part):
            own = lax.dynamic_index_in_dim(part, f, 1, keepdims=False)
            return _strided(own, row, column, tiles, size)

        own, held, around = of_class(s), of_class(fixed), tiled(count)
        others = around - own[:, None, :, None, :, None] * feature[None, :, None, :, None, :]
        gained = jnp.einsum("nciajb,cab->nij", tiled(gain) * (others < 0.5), feature)
        new = jnp.where(held, own, (prior + gained > of_class(threshold)).astype(jnp.float32))
        window = (others + new[:, None, :, None, :, None] * feature[None, :, None, :, None, :]).reshape(
            *count.shape[:2], *grown
        )
        count = lax.dynamic_update_slice(count, window, (0, 0, row, column))
        return _put(s, new, f, row, column, tiles, size), count

    s, count = lax.fori_loop(0, shape.features * size[0] * size[1], draw, (s, count))
    return s[:, :, : places[0], : places[1]], count[:, :, : shape.height, : shape.width]


def _strided(own: Array, row, column, tiles, size) -> Array:
    """Entries [n, i, j] of a feature's padded places at rows row + i * height and columns column + j * width."""
    cells = own.reshape(own.shape[0], tiles[0], size[0], tiles[1], size[1])
    return lax.dynamic_index_in_dim(lax.dynamic_index_in_dim(cells, row, 2, False), column, 3, False)


def _put(s: Array, new: Array, f, row, column, tiles, size) -> Array:
    cells = s.reshape(*s.shape[:2], tiles[0], size[0], tiles[1], size[1])
    fresh = new[:, None, :, None, :, None].astype(s.dtype)
    return lax.dynamic_update_slice(cells, fresh, (0, f, 0, row, 0, column)).reshape(s.shape)


def _features(target: Target, s, w, gain, count, mask, threshold) -> tuple[Array, Array]:
    """New pixels of the features, one after the other: each meets all images."""
    shape = target.model.shape
    _, features, height, width = shape.w
    places = shape.locations
    prior = target.beta * target.model.feature_logit

    def draw(step, carry):
        w, count = carry
        (c, f), (a, b) = divmod(step // (height * width), features), divmod(step % (height * width), width)
        own, at = w[c, f, a, b], lax.dynamic_index_in_dim(s, f, 1)
        window = lax.dynamic_slice(count, (0, c, a, b), (count.shape[0], 1, *places))
        others = window - own * at
        field = (lax.dynamic_slice(gain, (0, c, a, b), window.shape) * at * (others < 0.5)).sum()
        new = jnp.where(mask[c, f, a, b], own, (prior + field > threshold[c, f, a, b]).astype(jnp.float32))
        return w.at[c, f, a, b].set(new), lax.dynamic_update_slice(count, others + new * at, (0, c, a, b))

    return lax.fori_loop(0, w.size, draw, (w, count))


__all__ = ["ConvGibbs"]

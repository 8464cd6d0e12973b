"""Gibbs-with-gradients on the binary convolution (Grathwohl et al. 2021), differences kept up to date."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float, Int8

from pmpviz import keys
from pmpviz.models.conv_or import ConvOR, at_features, at_locations, explanations
from pmpviz.samplers._conv import ConvAlgorithm
from pmpviz.samplers.conv_pmp import why_not
from pmpviz.types import Info, Spec, Style, Target, pytree

# Proposals of one quantum.
BLOCK = 64
FORBIDDEN = -1e30


def _quanta(model: ConvOR) -> int:
    return max(1, -(-model.n // BLOCK))


SPEC = Spec(
    id="gwg",
    label="Gibbs-with-gradients",
    kind="chain",
    guarantee="invariant",
    reversible=False,
    summary="Proposes the single flip that a gradient favours, with the acceptance step that makes it exact.",
    paper="Grathwohl et al. 2021, Algorithm 1; baseline of perturb-and-max-product, section 5.6",
    metrics=("acceptance",),
    update="proposal",
    updates_per_sweep=lambda model: _quanta(model) * BLOCK,
    quanta=_quanta,
    tile=lambda model: 1,
    why_not=why_not,
    style=Style("#009E73", "dot", "diamond"),
    short="GWG",
)


@pytree
class ConvGwgState:
    """The configuration, and half the gain of every flip: by image `per_image[n, f h w + c H W]` (places, then pixels),
    and of the features, of which `shares[n, c f a b]` are the images' parts.
    """

    s: Int8[Array, "n f h w"]
    w: Int8[Array, "c f a b"]
    x: Int8[Array, "n c height width"]
    per_image: Float[Array, "n m"]
    shares: Float[Array, "n k"]


@pytree
class ConvGWG(ConvAlgorithm):
    """Flips variable i with probability proportional to exp(d_i / 2), d_i = (1 - 2 x_i) log-odds of x_i, and accepts
    with min(1, sum_j exp(d_j(x) / 2) / sum_j exp(d_j(x') / 2)).

    The gradient of the multilinear form of the OR gives the differences d exactly, since no pixel meets a variable
    twice. A flip in one image changes the differences of that image and of the features only. A step is a block of
    64 proposals; clamped variables are in neither sum.
    """

    spec = SPEC

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> ConvGwgState:
        """Differences at x0 with the clamped variables at their values."""
        return _state(target, *target.model.split(target.evidence.apply(x0)))

    def step(self, key: Array, target: Target, state: ConvGwgState) -> tuple[ConvGwgState, Info]:
        """A block of proposals; the differences are taken anew at its beginning, so that no rounding gathers."""
        state = _state(target, state.s, state.w, state.x)

        def propose(i, carry):
            state, accepted = carry
            state, taken = _propose(keys.fold_in(key, i), target, state)
            return state, accepted + taken

        state, accepted = lax.fori_loop(0, BLOCK, propose, (state, jnp.int32(0)))
        return state, {"acceptance": accepted / BLOCK}

    def step_tile(self, chain_keys: Array, target: Target, state: ConvGwgState) -> tuple[ConvGwgState, Info]:
        """Chain after chain: side by side every proposal would cost what one of a feature's pixel does."""
        return lax.map(lambda one: self.step(one[0], target, one[1]), (chain_keys, state))

    def position(self, target: Target, state: ConvGwgState) -> Int8[Array, " n"]:
        """The configuration."""
        return target.model.join(state.s, state.w, state.x)


def _images(target: Target, s, w, x, mask_s, mask_x) -> tuple[Array, Array]:
    """(per_image, shares) of some images."""
    model, beta = target.model, target.beta
    sf, wf = s.astype(jnp.float32), w.astype(jnp.float32)
    count = explanations(sf, wf)
    gain = beta * model.noise_logit * (2.0 * x - 1.0)
    bare, alone = gain * (count < 0.5), gain * (jnp.abs(count - 1) < 0.5)
    field = jnp.where(sf > 0, at_locations(alone, wf), at_locations(bare, wf))
    places = _half(s, field + beta * model.location_copies * model.location_logit, mask_s)
    pixels = _half(x, beta * model.noise_logit * jnp.where(count > 0.5, 1.0, -1.0), mask_x)
    each = jax.vmap(at_features)
    one = jnp.where(wf > 0, each(alone[:, None], sf[:, None]), each(bare[:, None], sf[:, None]))
    rows = len(s)
    return jnp.concatenate([places.reshape(rows, -1), pixels.reshape(rows, -1)], 1), one.reshape(rows, -1)


def _half(x: Array, field: Array, mask: Array) -> Array:
    """Half the gain of flipping x, -1e30 where it is clamped."""
    return jnp.where(mask, FORBIDDEN, 0.5 * (1.0 - 2.0 * x) * field)


def _state(target: Target, s, w, x) -> ConvGwgState:
    mask_s, _, mask_x = target.model.split(target.evidence.mask)
    return ConvGwgState(s, w, x, *_images(target, s, w, x, mask_s, mask_x))


def _of_features(target: Target, w: Array, shares: Array) -> Array:
    mask = target.model.split(target.evidence.mask)[1]
    field = shares.sum(0) + target.beta * target.model.feature_logit
    return _half(w, field.reshape(w.shape), mask).reshape(-1)


def _propose(key: Array, target: Target, state: ConvGwgState) -> tuple[ConvGwgState, Array]:
    """One proposal: a group (an image, or the features), one of its variables, and the acceptance."""
    rows, places = len(state.per_image), state.s[0].size
    features = _of_features(target, state.w, state.shares)
    by_image = jax.nn.logsumexp(state.per_image, axis=1)
    groups = jnp.append(by_image, jax.nn.logsumexp(features))
    wide = max(state.per_image.shape[1], len(features))
    noise = -jnp.log(-jnp.log(keys.uniform(key, rows + 1 + wide + 1)))
    group = jnp.argmax(groups + noise[: rows + 1])
    inside = noise[rows + 1 : rows + 1 + wide]
    # A free variable exists somewhere, or nothing may move.
    possible = groups.max() > 0.5 * FORBIDDEN

    def flip_feature(_):
        k = jnp.argmax(features + inside[: len(features)])
        w = state.w.reshape(-1).at[k].set(1 - state.w.reshape(-1)[k]).reshape(state.w.shape)
        fresh = _state(target, state.s, w, state.x)
        after = jnp.append(
            jax.nn.logsumexp(fresh.per_image, axis=1),
            jax.nn.logsumexp(_of_features(target, w, fresh.shares)),
        )
        return fresh, jax.nn.logsumexp(after)

    def flip_in_image(_):
        image = jnp.minimum(group, rows - 1)
        k = jnp.argmax(state.per_image[image] + inside[: state.per_image.shape[1]])
        flat = jnp.concatenate([state.s[image].reshape(-1), state.x[image].reshape(-1)])
        flat = flat.at[k].set(1 - flat[k])
        s, x = flat[:places].reshape(state.s[image].shape), flat[places:].reshape(state.x[image].shape)
        masks = target.model.split(jnp.asarray(target.evidence.mask))
        row, share = _images(target, s[None], state.w, x[None], masks[0][image][None], masks[2][image][None])
        fresh = ConvGwgState(
            state.s.at[image].set(s),
            state.w,
            state.x.at[image].set(x),
            state.per_image.at[image].set(row[0]),
            state.shares.at[image].set(share[0]),
        )
        after = by_image.at[image].set(jax.nn.logsumexp(row[0]))
        return fresh, jax.nn.logsumexp(jnp.append(after, jax.nn.logsumexp(_of_features(target, state.w, fresh.shares))))

    fresh, after = lax.cond(group == rows, flip_feature, flip_in_image, None)
    u = keys.uniform_at(key, jnp.array([rows + 1 + wide]))[0]
    taken = possible & (jnp.log(u) < jax.nn.logsumexp(groups) - after)
    return jax.tree.map(lambda new, old: jnp.where(taken, new, old), fresh, state), taken.astype(jnp.int32)


__all__ = ["BLOCK", "ConvGWG", "ConvGwgState"]

"""Parallel damped max-product on the binary convolution (perturb-and-max-product, Appendix C.3).

Messages are log-ratios, arranged around the location: of the AND of S[n, f, i, j] and W[c, f, a, b] both are kept at
`[c, i, j, f, a, b, n]`, which holds the pairs that exist and no others; pixel (i + a, j + b) takes the OR of them.

    AND to its bottom:  p = min(q_S + q_W, q_S, q_W)
    OR to a top k:      N_k = min(u + P_k, max(0, -M_k)),   P_k = sum_{j != k} max(0, p_j),   M_k = max_{j != k} p_j
    AND to a top:       max(0, q + N) - max(0, q), q from the other top

with u the pixel's own log-ratio: the forward and backward passes of C.3. P_k is taken from the pixel's sum, which
loses digits only where a pair is certain, both of its tops clamped.
"""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax
from jaxtyping import Array, Float

from pmpviz.oracles.max_product import message
from pmpviz.types import pytree

NOTHING = -1e30

# Over what is reduced at a pixel: (sum of the positive parts, the largest, the second largest).
Triple = tuple[Array, Array, Array]


@pytree
class ConvMessages:
    """From the ANDs to the locations and to the features, `[c, i, j, f, a, b, n]` both."""

    to_locations: Float[Array, "c i j f a b n"]
    to_features: Float[Array, "c i j f a b n"]


def zero_messages(channels: int, locations: tuple[int, int], features: tuple[int, int, int], images: int):
    """All messages zero."""
    zero = jnp.zeros((channels, *locations, *features, images))
    return ConvMessages(zero, zero)


def beliefs(
    location: Float[Array, "i j f n"], feature: Float[Array, "c f a b"], messages: ConvMessages
) -> tuple[Float[Array, "i j f n"], Float[Array, "c f a b"]]:
    """Unaries with all messages added: S and W are decoded as 1 where these are positive."""
    return location + messages.to_locations.sum((0, 4, 5)), feature + messages.to_features.sum((1, 2, 6))


def update(
    location: Float[Array, "i j f n"],
    feature: Float[Array, "c f a b"],
    pixel: Float[Array, "c row column n"],
    messages: ConvMessages,
    damping: Float[Array, ""],
) -> tuple[ConvMessages, Float[Array, ""]]:
    """One parallel update, n <- damping n + (1 - damping) n', and the residual max |n' - n|."""
    total_s, total_w = beliefs(location, feature, messages)
    from_s = total_s[None, :, :, :, None, None] - messages.to_locations
    from_w = total_w[:, None, None, :, :, :, None] - messages.to_features
    up = jnp.minimum(from_s + from_w, jnp.minimum(from_s, from_w))
    down = _or_to_tops(up, pixel)
    return _damped(messages, message(from_w, down), message(from_s, down), damping)


def _damped(messages: ConvMessages, to_s: Array, to_w: Array, damping) -> tuple[ConvMessages, Float[Array, ""]]:
    change_s, change_w = to_s - messages.to_locations, to_w - messages.to_features
    keep = 1.0 - damping
    fresh = ConvMessages(messages.to_locations + keep * change_s, messages.to_features + keep * change_w)
    return fresh, jnp.maximum(jnp.abs(change_s).max(), jnp.abs(change_w).max())


def _or_to_tops(up: Float[Array, "c i j f a b n"], pixel: Float[Array, "c row column n"]):
    """The OR factors' messages to each of their tops, from those of the tops and of the pixels."""
    places, offsets = up.shape[1:3], up.shape[4:6]
    total, largest, second = (_at_pairs(found, places, offsets) for found in _reduce(up))
    others = jnp.where(up == largest, second, largest)
    # The sum without this one; the rounding of the total is not to make it negative.
    positive = jnp.maximum(total - jnp.maximum(up, 0.0), 0.0)
    return jnp.minimum(_at_pairs(pixel, places, offsets) + positive, jnp.maximum(0.0, -others))


def _reduce(up: Float[Array, "c i j f a b n"]) -> Triple:
    """Over all pairs of every pixel [c, row, column, n]: first over features, then over rows, then over columns."""
    nothing = jnp.full_like(up[:, :, :, 0], NOTHING)
    found: Triple | None = None
    for f in range(up.shape[3]):
        one = up[:, :, :, f]
        found = _combine(found, (jnp.maximum(one, 0.0), one, nothing))
    assert found is not None
    rows = _spread([tuple(part[:, :, :, a] for part in found) for a in range(up.shape[4])], 1)
    return _spread([tuple(part[:, :, :, b] for part in rows) for b in range(up.shape[5])], 2)


def _combine(one: Triple | None, other: Triple) -> Triple:
    if one is None:
        return other
    second = jnp.maximum(jnp.minimum(one[1], other[1]), jnp.maximum(one[2], other[2]))
    return one[0] + other[0], jnp.maximum(one[1], other[1]), second


def _spread(parts: list, axis: int) -> Triple:
    """Combine the triples of all offsets, each moved by its offset along `axis`."""
    found: Triple | None = None
    last = len(parts) - 1
    for offset, part in enumerate(parts):
        edges = [(0, 0, 0)] * part[0].ndim
        edges[axis] = (offset, last - offset, 0)
        fills = (0.0, NOTHING, NOTHING)
        moved = tuple(lax.pad(x, jnp.asarray(fill, x.dtype), edges) for x, fill in zip(part, fills, strict=True))
        found = _combine(found, moved)  # type: ignore[arg-type]
    assert found is not None
    return found


def _at_pairs(x: Float[Array, "c row column n"], places: tuple[int, int], offsets: tuple[int, int]) -> Array:
    """A pixel's value at every pair [c, i, j, 1, a, b, n] that it takes the OR of."""
    rows = jnp.stack([x[:, a : a + places[0]] for a in range(offsets[0])], 3)
    both = jnp.stack([rows[:, :, b : b + places[1]] for b in range(offsets[1])], 4)
    return both[:, :, :, None]


__all__ = ["ConvMessages", "beliefs", "update", "zero_messages"]

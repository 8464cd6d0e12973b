"""Parallel damped max-product on binary pairwise models, in the layout of the couplings.

Messages are log-ratios n_{i->j} = log m_{i->j}(1) - log m_{i->j}(0) (perturb-and-max-product, Eq. 6):

    n_{i->j} = max(0, P + w_ij) - max(0, P),   P = b_i + sum_{k != j} n_{k->i},

computed without cancellation as clip(sgn(w) P + max(w, 0), min(w, 0), max(w, 0)), which stays exact for infinite or
clamped P. Every array carries the chains of a tile on its last axis.

Messages are kept where they can be updated in place, with as little moving as the layout allows:
- lattice: a tuple with one pair of planes (forward, backward) for each shift, `forward[site]` from site to
  site + shift and `backward[site]` the other way, both stored at the site that the weight is stored at;
- sparse: `incoming[slot]`, from the neighbour in that slot to the slot's site, without padding but for a last, empty
  slot that stays 0;
- dense: a tree: of a few sites `incoming[i, j]` from i to j; of more (`down[k, i]` from the k-th site of the second
  half to the i-th of the first, `up[k, i]` the other way, the tree of the first half, that of the second);
- layered: (`down[k, i]` from hidden k to visible i, `up[k, i]` the other way, dense messages within the visible layer
  or None).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.models.couplings import (
    DENSE,
    Couplings,
    DenseCouplings,
    LayeredCouplings,
    ShiftCouplings,
    SparseCouplings,
)

CLAMPED_FIELD = 1e9
UNROLLED_SLOTS = 24
# A message is worked out from the one the other way. Within a block that is the transposed entry, which is slow to come
# by in a large one; between two halves both lie side by side. More than three halvings only take longer to compile.
MOST_IN_BLOCK = 240
MOST_HALVINGS = 3

# Algorithm 1 starts from zero messages, which depend on the form: those of the 0/1 form (Appendix C.1, the authors'
# code), or those of the spin form. Of an edge w x x' = w/4 (s s' + s + s' + 1) the spin form has w/4 s' in the unary of
# the receiver; in the 0/1 form this log-ratio of w/2 belongs to the message.
STARTS = ("zero", "balanced")

# A pytree of arrays: see above.
Messages = Any


def message(field: Float[Array, "..."], weight: Float[Array, "..."]) -> Float[Array, "..."]:
    """max(0, field + weight) - max(0, field), without cancellation."""
    # Choices, not `maximum` and `minimum`: each is one instruction on a CPU, which those are not, and this is most of
    # the work of a sweep. A field that is NaN stays NaN.
    high, low = jnp.where(weight > 0, weight, 0.0), jnp.where(weight < 0, weight, 0.0)
    reach = jnp.where(weight < 0, -field, field) + high
    reach = jnp.where(reach < low, low, reach)
    return jnp.where(reach > high, high, reach)


def clamp_field(field: Float[Array, "n t"], mask: Bool[Array, " n"], value: Int8[Array, " n"]) -> Float[Array, "n t"]:
    """Unaries with those of clamped variables replaced by a field that no sum of messages can overturn."""
    certain = jnp.where(value > 0, CLAMPED_FIELD, -CLAMPED_FIELD).astype(field.dtype)
    return jnp.where(mask[:, None], certain[:, None], field)


def zero_messages(couplings: Couplings, chains: int) -> Messages:
    """All messages zero, with `chains` on the last axis."""
    if isinstance(couplings, ShiftCouplings):
        return tuple((jnp.zeros((*couplings.shape, chains)),) * 2 for _ in couplings.shifts)
    if isinstance(couplings, DenseCouplings):
        return jax.tree.map(lambda weight: jnp.zeros((*weight.shape, chains)), _edge_weights(couplings))
    if isinstance(couplings, LayeredCouplings):
        between = jnp.zeros((*couplings.weight.shape, chains))
        within = None if couplings.lateral is None else zero_messages(DenseCouplings(couplings.lateral), chains)
        return between, between, within
    return jnp.zeros((couplings.entry.shape[0], chains))


def first_messages(couplings: Couplings, chains: int, start: Int[Array, ""]) -> Messages:
    """Messages before the first update, by the (traced) index of one of STARTS.

    `zero` lets every site see its neighbours at 0, which decides where several fixed points are near: decoded values
    lean to 0 where a site's weights are mostly positive. `balanced`, n_{i->j} = w_ij / 2, is the mean of what a
    neighbour at 0 and one at 1 would say, and stays what it is where the names of the two values are exchanged.
    """
    half = jax.tree.map(lambda weight: jnp.where(start == 0, 0.0, 0.5 * weight)[..., None], _edge_weights(couplings))
    return jax.tree.map(jnp.add, zero_messages(couplings, chains), half)


def belief(couplings: Couplings, field: Float[Array, "n t"], incoming: Messages) -> Float[Array, "n t"]:
    """b_i + sum_k n_{k->i}: the decoded configuration is 1 where this is positive (Appendix C.1)."""
    if isinstance(couplings, ShiftCouplings):
        total = field.reshape(*couplings.shape, -1)
        for (forward, backward), shift in zip(incoming, couplings.shifts, strict=True):
            total = total + backward + _roll(forward, shift)
        return total.reshape(field.shape)
    if isinstance(couplings, DenseCouplings):
        return _dense_sum(incoming) + field
    if isinstance(couplings, LayeredCouplings):
        return _layer_belief(couplings, field, incoming)
    if couplings.number.shape[1] > UNROLLED_SLOTS:
        return field + incoming[couplings.number].sum(1)
    for numbers in couplings.number.T:
        field = field + _rows(incoming, numbers)
    return field


def update(
    couplings: Couplings, field: Float[Array, "n t"], incoming: Messages, damping: Float[Array, ""]
) -> tuple[Messages, Float[Array, " t"]]:
    """One parallel update of all messages, n <- damping n + (1 - damping) n', and the residual max |n' - n|."""
    kernels = {
        ShiftCouplings: _shift_update,
        DenseCouplings: _dense_update,
        LayeredCouplings: _layer_update,
        SparseCouplings: _sparse_update,
    }
    fresh = kernels[type(couplings)](couplings, belief(couplings, field, incoming), incoming)
    change = jax.tree.map(jnp.subtract, fresh, incoming)
    damped = jax.tree.map(lambda old, step: old + (1.0 - damping) * step, incoming, change)
    largest = _largest_of_dense if isinstance(couplings, DENSE) else _largest
    return damped, jnp.stack([largest(leaf) for leaf in jax.tree.leaves(change)]).max(0)


def to_site(couplings: Couplings, incoming: Messages) -> Float[Array, "n k t"]:
    """Messages into every site, in the order of `neighbour_lists`; of a dense model, from every site."""
    if isinstance(couplings, ShiftCouplings):
        planes = []
        for (forward, backward), shift in zip(incoming, couplings.shifts, strict=True):
            planes += [backward, _roll(forward, shift)]
        return jnp.stack([plane.reshape(couplings.n, -1) for plane in planes], axis=1)
    if isinstance(couplings, DenseCouplings):
        return _dense_to_site(incoming)
    if isinstance(couplings, LayeredCouplings):
        return _layers_to_site(couplings, incoming)
    return incoming[couplings.number]


def _largest(change: Float[Array, "... t"]) -> Float[Array, " t"]:
    return jnp.abs(change).reshape(-1, change.shape[-1]).max(0)


def _largest_of_dense(change: Float[Array, "... t"]) -> Float[Array, " t"]:
    # Floats that are not negative are in the order of their bits, and the largest of whole numbers is found several
    # times faster on a CPU where few chains lie side by side. A NaN is above all others, as in `max`.
    bits = jax.lax.bitcast_convert_type(jnp.abs(change), jnp.int32)
    return jax.lax.bitcast_convert_type(bits.reshape(-1, bits.shape[-1]).max(0), jnp.float32)


def _roll(plane: Float[Array, "..."], shift: tuple[int, ...]) -> Float[Array, "..."]:
    return jnp.roll(plane, shift, tuple(range(len(shift))))


def _rows(rows: Float[Array, "r t"], index: Array) -> Float[Array, "i t"]:
    return jnp.take(rows, index, axis=0, mode="clip")


def _shift_update(couplings, total, incoming):
    total = total.reshape(*couplings.shape, -1)
    fresh = []
    for weight, (forward, backward), shift in zip(couplings.weight, incoming, couplings.shifts, strict=True):
        ahead = _roll(total, tuple(-s for s in shift))
        fresh.append((message(total - backward, weight[..., None]), message(ahead - forward, weight[..., None])))
    return tuple(fresh)


def _sparse_update(couplings, total, incoming):
    sender = couplings.neighbour.reshape(-1)[couplings.entry]
    reverse = couplings.number.reshape(-1)[couplings.reverse.reshape(-1)[couplings.entry]]
    weight = _slot_weights(couplings)
    return message(_rows(total, sender) - _rows(incoming, reverse), weight[:, None])


def _slot_weights(couplings: SparseCouplings) -> Float[Array, " r"]:
    # The last slot is empty: its weight is 0, so that its message stays 0 whatever it reads.
    real = jnp.arange(couplings.entry.shape[0]) < couplings.entry.shape[0] - 1
    return jnp.where(real, couplings.weight.reshape(-1)[couplings.entry], 0.0)


def _edge_weights(couplings: Couplings) -> Messages:
    """The weight of every message's edge, as the messages are stored but without chains."""
    if isinstance(couplings, ShiftCouplings):
        return tuple((weight, weight) for weight in couplings.weight)
    if isinstance(couplings, LayeredCouplings):
        lateral = couplings.lateral
        within = None if lateral is None else _edge_weights(DenseCouplings(lateral))
        return couplings.weight, couplings.weight, within
    return _halved(couplings.weight) if isinstance(couplings, DenseCouplings) else _slot_weights(couplings)


def _halved(weight: Float[Array, "n n"], halvings: int = MOST_HALVINGS) -> Messages:
    """The weights in the tree of a dense model's messages."""
    n = len(weight)
    if n <= MOST_IN_BLOCK or not halvings:
        return weight
    half = n - n // 2
    between = weight[half:, :half]
    first, second = (_halved(part, halvings - 1) for part in (weight[:half, :half], weight[half:, half:]))
    return between, between, first, second


def _dense_sum(incoming: Messages) -> Float[Array, "n t"]:
    """What every site hears in all."""
    if not isinstance(incoming, tuple):
        return incoming.sum(0)
    down, up, first, second = incoming
    return jnp.concatenate([down.sum(0) + _dense_sum(first), up.sum(1) + _dense_sum(second)])


def _dense_update(couplings, total, incoming):
    # The barrier keeps XLA from working out the weights' signs and limits before the loop: reading three matrices
    # costs more than working them out from one.
    return _halves_update(*jax.lax.optimization_barrier((_edge_weights(couplings), total)), incoming)


def _halves_update(weight, total, incoming):
    # What i says to j leaves out what j said to i.
    if not isinstance(incoming, tuple):
        return message(total[:, None] - incoming.swapaxes(0, 1), weight[..., None])
    between, _, *within = weight
    down, up, *inner = incoming
    half = down.shape[1]
    fresh = [_halves_update(w, part, m) for w, part, m in zip(within, (total[:half], total[half:]), inner, strict=True)]
    return *_pair_update(between, total, down, up), *fresh


def _pair_update(weight, total, down, up):
    """New messages between the first and the last sites of `total`, of the old ones and `weight[last, first]`."""
    first, last = total[None, : down.shape[1]], total[down.shape[1] :, None]
    return message(last - up, weight[..., None]), message(first - down, weight[..., None])


def _dense_to_site(incoming: Messages) -> Float[Array, "n n t"]:
    if not isinstance(incoming, tuple):
        return incoming.swapaxes(0, 1)
    down, up, *inner = incoming
    first, second = map(_dense_to_site, inner)
    upper, lower = jnp.concatenate([first, down.swapaxes(0, 1)], 1), jnp.concatenate([up, second], 1)
    return jnp.concatenate([upper, lower])


def _layer_belief(couplings, field, incoming):
    down, up, within = incoming
    visible = couplings.visible
    total = jnp.concatenate([down.sum(0), up.sum(1)]) + field
    return total if within is None else total.at[:visible].add(_dense_sum(within))


def _layer_update(couplings, total, incoming):
    weight, total = jax.lax.optimization_barrier((couplings.weight, total))
    down, up, within = incoming
    if within is not None:
        within = _dense_update(DenseCouplings(couplings.lateral), total[: couplings.visible], within)
    return *_pair_update(weight, total, down, up), within


def _layers_to_site(couplings, incoming):
    down, up, within = incoming
    visible, hidden = couplings.visible, couplings.hidden
    none = jnp.zeros((hidden, hidden, down.shape[-1]))
    within = jnp.zeros((visible, visible, down.shape[-1])) if within is None else _dense_to_site(within)
    to_visible = jnp.concatenate([within, down.swapaxes(0, 1)], 1)
    return jnp.concatenate([to_visible, jnp.concatenate([up, none], 1)], 0)

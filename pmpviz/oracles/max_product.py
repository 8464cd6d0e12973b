"""Parallel damped max-product on binary pairwise models, in the layout of the couplings.

Messages are log-ratios n_{i->j} = log m_{i->j}(1) - log m_{i->j}(0) (perturb-and-max-product, Eq. 6):

    n_{i->j} = max(0, P + w_ij) - max(0, P),   P = b_i + sum_{k != j} n_{k->i},

computed without cancellation as clip(sgn(w) P + max(w, 0), min(w, 0), max(w, 0)), which stays exact for infinite or
clamped P. Every array carries the chains of a tile on its last axis.

Messages are kept where they can be updated in place, with as little moving as the layout allows: each layout of the
couplings says how, and moves them. What is said over an edge, the start and the damping are here.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.models.couplings import Couplings, Messages

CLAMPED_FIELD = 1e9

# Algorithm 1 starts from zero messages, which depend on the form: those of the 0/1 form (Appendix C.1, the authors'
# code), or those of the spin form. Of an edge w x x' = w/4 (s s' + s + s' + 1) the spin form has w/4 s' in the unary of
# the receiver; in the 0/1 form this log-ratio of w/2 belongs to the message.
STARTS = ("zero", "balanced")


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
    return couplings.zero_messages(chains)


def first_messages(couplings: Couplings, chains: int, start: Int[Array, ""]) -> Messages:
    """Messages before the first update, by the (traced) index of one of STARTS.

    `zero` lets every site see its neighbours at 0, which decides where several fixed points are near: decoded values
    lean to 0 where a site's weights are mostly positive. `balanced`, n_{i->j} = w_ij / 2, is the mean of what a
    neighbour at 0 and one at 1 would say, and stays what it is where the names of the two values are exchanged.
    """
    half = jax.tree.map(lambda weight: jnp.where(start == 0, 0.0, 0.5 * weight)[..., None], couplings.message_weights())
    return jax.tree.map(jnp.add, couplings.zero_messages(chains), half)


def belief(couplings: Couplings, field: Float[Array, "n t"], incoming: Messages) -> Float[Array, "n t"]:
    """b_i + sum_k n_{k->i}: the decoded configuration is 1 where this is positive (Appendix C.1)."""
    return couplings.belief(field, incoming)


def update(
    couplings: Couplings, field: Float[Array, "n t"], incoming: Messages, damping: Float[Array, ""]
) -> tuple[Messages, Float[Array, " t"]]:
    """One parallel update of all messages, n <- damping n + (1 - damping) n', and the residual max |n' - n|."""
    fresh = couplings.outgoing(message, couplings.belief(field, incoming), incoming)
    change = jax.tree.map(jnp.subtract, fresh, incoming)
    damped = jax.tree.map(lambda old, step: old + (1.0 - damping) * step, incoming, change)
    return damped, couplings.largest_change(change)


def to_site(couplings: Couplings, incoming: Messages) -> Float[Array, "n k t"]:
    """Messages into every site, in the order of `neighbour_lists`; of a dense model, from every site."""
    return couplings.to_site(incoming)


__all__ = [
    "CLAMPED_FIELD",
    "STARTS",
    "Messages",
    "belief",
    "clamp_field",
    "first_messages",
    "message",
    "to_site",
    "update",
    "zero_messages",
]

"""Perturb-and-max-product on pairwise models of K states: messages by slots of the neighbour lists.

A message into site i from its neighbour j is K numbers, the largest 0:

    m(a) = max_b [theta_ij(a, b) + P(b)],   P = theta_j + gamma_j + sum of what j hears but from i.

They are kept as [K, slot, chain], so that every step runs along the chains of a tile.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz.messages.certainty import IMPOSSIBLE
from pmpviz.models.interactions import UNROLLED_NEIGHBOURS, UNROLLED_STATES, Potts
from pmpviz.models.pairwise import Pairwise
from pmpviz.samplers._pmp_graph import equation, noise
from pmpviz.types import Target

TILE = 16


def serves(model: object) -> bool:
    """Whether messages are written out here; those of more states or neighbours are left to the factor graph."""
    if not isinstance(model, Pairwise) or model.space.states > UNROLLED_STATES:
        return False
    return model.interactions.couplings.neighbour_lists()[0].shape[1] <= UNROLLED_NEIGHBOURS


def first(target: Target, chains: int) -> Float[Array, "k s t"]:
    """Messages of all 0."""
    model = target.model
    slots = model.interactions.couplings.neighbour_lists()[0].size
    return jnp.zeros((model.space.states, slots, chains))


def _beliefs(
    target: Target, noise: Float[Array, "t n k"], incoming: Float[Array, "k s t"]
) -> list[Float[Array, "n t"]]:
    """Of every state its own log potential, its noise and what all neighbours say; what cannot be is far below."""
    model, evidence = target.model, target.evidence
    own = model.scaled_unary(target.beta)
    field = own[:, :, None] + jnp.moveaxis(noise, 0, -1)
    ruled_out = evidence.mask[:, None] & (jnp.arange(own.shape[1]) != evidence.value[:, None])
    field = jnp.where(ruled_out[..., None], IMPOSSIBLE, jnp.maximum(field, IMPOSSIBLE))
    n, _, chains = field.shape
    return [field[:, k] + incoming[k].reshape(n, -1, chains).sum(1) for k in range(own.shape[1])]


def update(target: Target, noise: Float[Array, "t n k"], incoming: Float[Array, "k s t"], damping: Float[Array, ""]):
    """One parallel update of all messages, m <- damping m + (1 - damping) m', and the residual of every chain."""
    interactions = target.model.interactions
    sender = jnp.asarray(interactions.couplings.neighbour_lists()[0]).reshape(-1)
    reverse = jnp.asarray(interactions.reverse()).reshape(-1)
    totals = _beliefs(target, noise, incoming)
    heard = [_rows(total, sender) - _rows(old, reverse) for total, old in zip(totals, incoming, strict=True)]
    fresh = _said(interactions, target.beta * interactions.terms(), heard)
    top = _largest(fresh)
    fresh = [part - top for part in fresh]
    change = [new - old for new, old in zip(fresh, incoming, strict=True)]
    spread = _largest(change) + _largest([-part for part in change])
    mixed = [old + (1.0 - damping) * part for old, part in zip(incoming, change, strict=True)]
    return jnp.stack(mixed), spread.max(0, initial=0.0)


def _said(interactions, terms: Float[Array, "n d ..."], heard: list[Float[Array, "s t"]]) -> list[Float[Array, "s t"]]:
    """max_b [theta(a, b) + P(b)] for every state a of the receiver."""
    states = range(len(heard))
    if isinstance(interactions, Potts):
        weight = terms.reshape(-1)[:, None]
        others = [_largest([heard[b] for b in states if b != a]) for a in states]
        return [jnp.maximum(heard[a] + weight, others[a]) for a in states]
    table = interactions.slot_tables(terms, len(heard)).reshape(-1, len(heard), len(heard))
    return [_largest([table[:, a, b, None] + heard[b] for b in states]) for a in states]


def _largest(parts: list[Array]) -> Array:
    top = parts[0]
    for other in parts[1:]:
        top = jnp.maximum(top, other)
    return top


def _rows(rows: Float[Array, "r t"], index: Int[Array, " s"]) -> Float[Array, "s t"]:
    return jnp.take(rows, index, axis=0, mode="clip")


def decoded(target: Target, noise: Float[Array, "t n k"], incoming: Float[Array, "k s t"]) -> Int8[Array, "t n"]:
    """The best state of every variable's belief."""
    return jnp.stack(_beliefs(target, noise, incoming)).argmax(0).astype(jnp.int8).T


def magnitude(target: Target, incoming: Float[Array, "k s t"]) -> Float[np.ndarray, " n"]:
    """Of the first chain the sum of the spans of the messages into each variable."""
    said = np.asarray(jax.device_get(incoming[..., 0])).reshape(len(incoming), target.n, -1)
    exists = target.model.space.mask.T[..., None]
    return (said.max(0, where=exists, initial=IMPOSSIBLE) - said.min(0, where=exists, initial=-IMPOSSIBLE)).sum(1)


__all__ = ["decoded", "equation", "first", "magnitude", "noise", "serves", "update"]

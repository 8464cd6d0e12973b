"""Drawing among K states: what samplers of models of more than two states share."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8

from pmpviz import keys, numerals
from pmpviz.models.beyond_ising import beyond_ising, beyond_pairs
from pmpviz.models.ising import Ising
from pmpviz.models.order import SweepOrder
from pmpviz.models.pairwise import Pairwise
from pmpviz.samplers import _factors
from pmpviz.types import Target


def drawn(u: Float[Array, "..."], logits: Sequence[Float[Array, "..."]]) -> Int8[Array, "..."]:
    """State k with probability exp(logits[k]) / sum, by inversion: as many states as have a sum up to u or less.

    u is below 1, so that a state of weight 0 is never drawn: u times the sum is less than the sum in float32 too.
    """
    top = logits[0]
    for other in logits[1:]:
        top = jnp.maximum(top, other)
    total, below = jnp.zeros_like(top), []
    for logit in logits:
        total = total + jnp.exp(logit - top)
        below.append(total)
    state, bar = jnp.zeros(top.shape, jnp.int8), u * total
    for part in below[:-1]:
        state = state + (part <= bar).astype(jnp.int8)
    return state


def sweep(
    chain_keys: Array,
    target: Target,
    order: SweepOrder,
    x: Int8[Array, "slot t"],
    first: Int[Array, ""] | int = 0,
    last: Int[Array, ""] | int | None = None,
) -> Int8[Array, "slot t"]:
    """Draw every site i with first <= i < last (all where None) in this order from its conditional; x is by slots."""

    def draw(site, logits):
        return drawn(keys.uniform_at(chain_keys, site[:, None]), logits)

    return _factors.sweep(target, draw, order, x, first, last)


def why_not(target: Target, who: str) -> str | None:
    """Why a sampler that takes pairwise models of any states does not take this one; None where it does."""
    if isinstance(target.model, (Ising, Pairwise)):
        return None
    return f"{who} needs pairwise factors that forbid no state; this model has {beyond_pairs(target.model)}"


def why_not_binary(target: Target, who: str) -> str | None:
    """Why a sampler that takes pairwise models of two states, `who` in the singular, does not take this one."""
    if isinstance(target.model, Ising):
        return None
    return f"{who} needs two-state variables with pairwise factors; this model has {beyond_ising(target.model)}"


def equation(target: Target) -> str:
    """The conditional of a site of K states."""
    return (
        rf"p(x_i = k \mid x_{{-i}}) \propto \exp\Big[{numerals.katex(float(target.beta))}\,\big(\theta_i(k) + "
        r"\textstyle\sum_j \theta_{ij}(k, x_j)\big)\Big]"
    )


__all__ = ["drawn", "equation", "sweep", "why_not", "why_not_binary"]

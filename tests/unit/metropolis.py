"""Metropolis on any finite states, in one file: what a sampler of one's own looks like."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Int8

from pmpviz.types import Algorithm, Info, Spec, Target, pytree

SPEC = Spec(
    id="metropolis",
    label="Metropolis",
    kind="chain",
    guarantee="invariant",
    reversible=True,
    summary="Proposes another state of one site, both at random, and takes it with probability min(1, p(x') / p(x)).",
    paper="Metropolis et al. 1953",
    metrics=("acceptance",),
    update="proposal",
)


@pytree
class Metropolis(Algorithm):
    """A sweep is n proposals: a site i uniformly chosen, and one of its card_i - 1 other states."""

    spec = SPEC

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> Int8[Array, " n"]:
        """x0 with the clamped sites at their values."""
        return target.evidence.apply(x0)

    def step(self, key: Array, target: Target, state: Int8[Array, " n"]) -> tuple[Int8[Array, " n"], Info]:
        """One sweep, and the share of proposals that were taken."""
        card = jnp.asarray(target.model.card)

        def propose(i, carry):
            x, taken = carry
            site_key, state_key, accept_key = jax.random.split(jax.random.fold_in(key, i), 3)
            site = jax.random.randint(site_key, (), 0, target.n)
            shift = self.shift(state_key, card[site])
            old, new = x[site], ((x[site] + shift) % card[site]).astype(jnp.int8)
            logits = target.conditional_logits(x)[site]
            take = jnp.log(jax.random.uniform(accept_key)) < logits[new] - logits[old]
            take = take & ~target.evidence.mask[site] & (new != old)
            return x.at[site].set(jnp.where(take, new, old)), taken + take

        x, taken = jax.lax.fori_loop(0, target.n, propose, (state, jnp.int32(0)))
        return x, {"acceptance": taken / target.n}

    def shift(self, key: Array, states: Int[Array, ""]) -> Int[Array, ""]:
        """How far on the proposed state lies: 1, ..., states - 1, uniformly."""
        return 1 + jax.random.randint(key, (), 0, jnp.maximum(states - 1, 1))

    def position(self, target: Target, state: Int8[Array, " n"]) -> Int8[Array, " n"]:
        """The state itself."""
        return state

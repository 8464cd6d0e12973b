"""Perturb-and-max-product on any factor graph: noise on every state of every variable, then max-product."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8

from pmpviz import keys
from pmpviz.messages.passing import State, decode, initial, run
from pmpviz.types import InputError, Target

# Perturbations side by side: samples are padded to a multiple, so that their number never changes a bit of one.
TILE = 16


def perturbation(key: Array, n: int, states: int, draw: Int[Array, ""] = 0) -> Float[Array, "n k"]:
    """Gumbel noise of every state, from one chain's NOISE key and the index of its draw.

    Of two states only the difference matters, and it is logistic: then state 1 has the logistic number that the
    samplers of binary models draw from the same key, and state 0 has 0.
    """
    draw_key = keys.fold_in(key, draw)
    if states == 2:
        logistic = keys.logistic_threshold(keys.uniform_at(draw_key, jnp.arange(n)))
        return jnp.stack([jnp.zeros(n), logistic], 1)
    u = keys.uniform_at(draw_key, jnp.arange(states)[None, :] * n + jnp.arange(n)[:, None])
    return -jnp.log(-jnp.log(u))


def perturbed(key: Array, target: Target, draw: Int[Array, ""] = 0) -> State:
    """Messages of all 0 under a new perturbation, which beta does not multiply."""
    graph = target.model
    return initial(target, perturbation(key, graph.n, graph.states, draw))


def sample(
    key: Array, target: Target, count: int, sweeps: Int[Array, ""] = 64, damping: Float[Array, ""] = 0.5
) -> Int8[Array, "count n"]:
    """x = argmax_x log_weight(x) + noise(x) of `count` perturbations, by damped parallel max-product (Algorithm 1).

    Approximate: maxima of loopy graphs are not always found, and unary noise is not the Gibbs law. Raises InputError
    for a count below 1.
    """
    if count < 1:
        raise InputError(f"{count} samples cannot be drawn; give 1 or more")
    tiles = -(-count // TILE)
    chains = keys.of_chains(keys.role(key, keys.NOISE), jnp.arange(tiles * TILE)).reshape(tiles, TILE)
    found = _decoded(chains, target, jnp.int32(sweeps), jnp.float32(damping))
    return found.reshape(tiles * TILE, -1)[:count]


@jax.jit
def _decoded(chains: Array, target: Target, sweeps, damping) -> Int8[Array, "tiles tile n"]:
    def one(key):
        state, _ = run(target, perturbed(key, target), sweeps, damping, jnp.float32(0.0))
        return decode(target, state)

    return jax.lax.map(jax.vmap(one), chains)


__all__ = ["perturbation", "perturbed", "sample"]

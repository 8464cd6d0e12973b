"""Samples of the model of the moment: so many sweeps of a registered sampler, from given or random starts."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int, Int8

from pmpviz import keys
from pmpviz.tiles import sample_tiles, tile_index, tile_of
from pmpviz.types import Target


def random_start(key: Array, chains: int, n: int) -> Int8[Array, "chains n"]:
    """Every site of every chain 0 or 1 at even odds, from the key's START role."""
    sites = jnp.arange(n, dtype=jnp.uint32)
    own = keys.of_chains(keys.role(key, keys.START), jnp.arange(chains))
    return (jax.vmap(lambda chain: keys.hash_bits(chain, sites))(own) >> 31).astype(jnp.int8)


def draw(
    algorithm, target: Target, key: Array, x0: Int8[Array, "chains n"], sweeps: Int[Array, ""]
) -> Int8[Array, "chains n"]:
    """Configurations after `sweeps` (traced) full sweeps from x0, one key of the learning iteration for all."""
    chains, target = x0.shape[0], traced(target)
    index = tile_index(chains, min(tile_of(algorithm, target), chains))
    first = keys.NOISE if algorithm.spec.kind == "draw" else keys.INIT
    own, steps = (_words(key, role, index) for role in (first, keys.STEP))
    padded = x0[index.reshape(-1) % chains].reshape(*index.shape, -1)
    count = sweeps * algorithm.spec.quanta(target.model)
    return sample_tiles(algorithm, target, own, steps, padded, count).reshape(index.size, -1)[:chains]


def traced(target: Target) -> Target:
    """The target with JAX arrays throughout: samplers index them by traced numbers."""
    return jax.tree.map(jnp.asarray, target)


def _words(key, role, index):
    own = keys.of_chains(keys.role(key, role), jnp.asarray(index.reshape(-1)))
    return jax.random.key_data(own).reshape(*index.shape, 2)

"""A tile of chains: an algorithm's own batched form, or its single-chain form mapped; and many tiles in turn."""

from __future__ import annotations

import jax
import numpy as np
from jaxtyping import Array, Int, Int8, UInt32

from pmpviz import keys
from pmpviz.types import Target

GPU_TILES = 64


def init_tile(algorithm, chain_keys: Array, target: Target, x0: Int8[Array, "t n"]):
    """State of one tile."""
    if hasattr(algorithm, "init_tile"):
        return algorithm.init_tile(chain_keys, target, x0)
    return jax.vmap(algorithm.init, in_axes=(0, None, 0))(chain_keys, target, x0)


def step_tile(algorithm, chain_keys: Array, target: Target, state):
    """One quantum of one tile: (state, info)."""
    if hasattr(algorithm, "step_tile"):
        return algorithm.step_tile(chain_keys, target, state)
    return jax.vmap(algorithm.step, in_axes=(0, None, 0))(chain_keys, target, state)


def position_tile(algorithm, target: Target, state) -> Int8[Array, "t n"]:
    """Configurations of one tile."""
    if hasattr(algorithm, "position_tile"):
        return algorithm.position_tile(target, state)
    return jax.vmap(algorithm.position, in_axes=(None, 0))(target, state)


def tile_of(algorithm, target: Target) -> int:
    """Chains that are computed together: the algorithm's figure, which fits a core's cache, and more on a GPU."""
    on_host = not algorithm.spec.jit or jax.default_backend() == "cpu"
    return algorithm.spec.tile(target.model) * (1 if on_host else GPU_TILES)


def tile_index(chains: int, tile: int, devices: int = 1) -> Int[np.ndarray, "tiles tile"]:
    """Global chain indices, padded to whole tiles and as many of them on every device."""
    tiles = -(-chains // (tile * devices)) * devices
    return np.arange(tiles * tile, dtype=np.int32).reshape(tiles, tile)


def sample_tiles(
    algorithm,
    target: Target,
    init_words: UInt32[Array, "tiles t 2"],
    step_words: UInt32[Array, "tiles t 2"],
    x0: Int8[Array, "tiles t n"],
    count: Int[Array, ""],
) -> Int8[Array, "tiles t n"]:
    """Configurations after `count` quanta from x0, tile after tile: only one tile's state exists at a time."""

    def one_tile(args):
        own, words, first = args
        state = init_tile(algorithm, jax.random.wrap_key_data(own), target, first)
        chain_keys = jax.random.wrap_key_data(words)

        def body(i, state):
            quantum_keys = keys.fold_in(chain_keys, i)
            return step_tile(algorithm, quantum_keys, target, state)[0]

        return position_tile(algorithm, target, jax.lax.fori_loop(0, count, body, state))

    return jax.lax.map(one_tile, (init_words, step_words, x0))

"""Tiles of chains: how many chains are computed together, and many tiles in turn."""

from __future__ import annotations

import jax
import numpy as np
from jaxtyping import Array, Int, Int8, UInt32

from pmpviz import keys
from pmpviz.types import Target

GPU_TILES = 64


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
        state = algorithm.init_tile(jax.random.wrap_key_data(own), target, first)
        chain_keys = jax.random.wrap_key_data(words)

        def body(i, state):
            quantum_keys = keys.fold_in(chain_keys, i)
            return algorithm.step_tile(quantum_keys, target, state)[0]

        return algorithm.position_tile(target, jax.lax.fori_loop(0, count, body, state))

    return jax.lax.map(one_tile, (init_words, step_words, x0))

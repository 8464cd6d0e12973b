"""The parts of a run that a host algorithm (`jit=False`) does in Python: the same keys, order and records.

A host algorithm has the tile forms `init_tile`, `step_tile` and `position_tile`, on numpy arrays. It is given the
words of its keys, uint32 [t, 2], instead of the keys.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jaxtyping import Array, Float, Int8

from pmpviz import keys
from pmpviz.models.space import Space
from pmpviz.types import Target


@jax.jit
def _energies(model: Any, x: Int8[Array, "t n"]) -> Float[Array, " t"]:
    return -jax.vmap(model.log_weight)(x)


def _tiles(state) -> list:
    """The states of all tiles, of one state with the tiles on its leading axis."""
    leaves, tree = jax.tree.flatten(state)
    leaves = [np.asarray(leaf) for leaf in leaves]
    return [jax.tree.unflatten(tree, [leaf[t] for leaf in leaves]) for t in range(len(leaves[0]))]


def _stack(states: list):
    return jax.tree.map(lambda *leaves: np.stack(leaves), *states)


def init(algorithm, target: Target, root: Array, index: np.ndarray, x0: np.ndarray):
    """State of all tiles; `root` is the key of the role that the algorithm starts from."""
    words, x0 = keys.fold_words(keys.words_of(root), index), np.asarray(x0)
    return _stack([algorithm.init_tile(w, target, x) for w, x in zip(words, x0, strict=True)])


def advance(
    algorithm,
    target: Target,
    key: Array,
    index: np.ndarray,
    state,
    span: range,
    record: bool,
    weights: np.ndarray | None = None,
):
    """(state, buffers) after the quanta of `span`; the buffers hold the sweeps that it completes.

    With `weights` of the chains they hold the sum of what is expected of these, too, under `total`.
    """
    chain_words = keys.fold_words(keys.words_of(keys.role(key, keys.STEP)), index)
    quanta = algorithm.spec.quanta(target.model)
    tiles = _tiles(state)
    first = span.start // quanta
    space = target.model.space
    buffers = _buffers(algorithm, space, index.shape, span.stop // quanta - first) if record else {}
    if weights is not None:
        buffers["total"] = np.zeros((len(tiles), *space.indicator_shape))
    for quantum in span:
        words = keys.fold_words(chain_words, quantum)
        for t, tile in enumerate(tiles):
            tiles[t], info = algorithm.step_tile(words[t], target, tile)
            if record and (quantum + 1) % quanta == 0:
                _record(buffers, (t, quantum // quanta - first), algorithm, target, tiles[t], info)
            if weights is not None and (quantum + 1) % quanta == 0:
                expected = np.asarray(algorithm.expected_tile(target, tiles[t]), np.float64)
                buffers["total"][t] += np.tensordot(weights[t], expected, 1)
    return _stack(tiles), buffers


def _buffers(algorithm, space: Space, index_shape: tuple[int, int], sweeps: int) -> dict[str, np.ndarray]:
    tiles, chains = index_shape
    shapes: dict[str, tuple[int, ...]] = {name: () for name in ("energy", *_infos(algorithm))}
    shapes["statistic"] = space.statistic_shape
    buffers = {name: np.zeros((tiles, sweeps, chains, *shape), np.float32) for name, shape in shapes.items()}
    return buffers | {"frame": np.zeros((tiles, sweeps, space.frame_bytes), np.uint8)}


def _infos(algorithm) -> list[str]:
    return [f"info:{name}" for name in algorithm.spec.metrics]


def _record(buffers, place: tuple[int, int], algorithm, target: Target, state, info) -> None:
    x, space = algorithm.position_tile(target, state), target.model.space
    buffers["energy"][place] = _energies(target.model, x)
    buffers["statistic"][place] = space.statistic(x)
    buffers["frame"][place] = space.pack(x[0])
    for name in algorithm.spec.metrics:
        buffers[f"info:{name}"][place] = info[name]


def positions(algorithm, target: Target, state, counted: bool = False) -> Int8[np.ndarray, "tiles t n"]:
    """Configurations of all tiles, or those that statistics count."""
    of_tile = algorithm.counted_tile if counted else algorithm.position_tile
    return np.stack([of_tile(target, tile) for tile in _tiles(state)])


def sample(algorithm, target: Target, key: Array, root: Array, index: np.ndarray, x0: np.ndarray, quanta: int):
    """Configurations of all tiles after `quanta` quanta, int8 [tiles, t, n]."""
    state = init(algorithm, target, root, index, x0)
    state, _ = advance(algorithm, target, key, index, state, range(quanta), record=False)
    return positions(algorithm, target, state)

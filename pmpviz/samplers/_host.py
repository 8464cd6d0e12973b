"""What samplers on the host share: targets as keys of a cache, words of keys, the state of independent draws."""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Int, Int8, UInt32

from pmpviz.types import Algorithm, Info, Target


class Hashed:
    """A target, or a model, that is equal to another where all its numbers are."""

    def __init__(self, target: Any):
        leaves, tree = jax.tree.flatten(target)
        digest = hashlib.sha256(str(tree).encode())
        for leaf in leaves:
            array = np.asarray(leaf)
            digest.update(f"{array.dtype.str} {array.shape};".encode() + array.tobytes())
        self.target, self.digest = target, digest.digest()

    def __eq__(self, other) -> bool:
        return isinstance(other, Hashed) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


class DrawState(NamedTuple):
    """One tile: the words of the chains' NOISE keys, uint32[t, 2], and the index of the draw that is shown."""

    words: UInt32[np.ndarray, "t 2"]
    draw: Int[np.ndarray, ""]


class HostDraws(Algorithm):
    """Base of the samplers whose draws are functions of the keys, the draw's index and the target alone.

    One quantum is one draw. x0 is not used, and a change of the target keeps the keys. A subclass makes the draws in
    `position_tile`, when they are asked for; a tile is the least that is computed, so that there are tile forms alone.
    """

    def init_tile(self, keys: Array, target: Target, x0: Int8[Array, "t n"]) -> DrawState:
        """Draw 0 of each chain."""
        return DrawState(words_of(keys), np.zeros((), np.int32))

    def step_tile(self, keys: Array, target: Target, state: DrawState) -> tuple[DrawState, Info]:
        """The next draw; it is made when `position_tile` asks for it."""
        return DrawState(state.words, np.asarray(state.draw + 1, np.int32)), {}

    def draws_done(self, state: DrawState) -> int:
        """One a quantum."""
        return int(np.ravel(state.draw)[0])

    def position_tile(self, target: Target, state: DrawState) -> Int8[np.ndarray, "t n"]:
        """The draws; raises Refusal where they cannot be made on this target."""
        raise NotImplementedError


def words_of(keys) -> UInt32[np.ndarray, "t 2"]:
    """The words of typed keys; words stay as they are."""
    typed = isinstance(keys, jax.Array) and jax.dtypes.issubdtype(keys.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(keys) if typed else keys, np.uint32)

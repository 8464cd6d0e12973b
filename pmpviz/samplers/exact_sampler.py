"""Independent exact draws, from exact inference on the host."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Int, Int8, UInt32

from pmpviz import exact
from pmpviz.types import Exact, Info, InputError, Refusal, Spec, Target, pytree

# Sampling has a cost per call (tables are rebuilt), so that draws are made ahead, in blocks of up to this many.
BLOCK = 64
KEPT_SOLUTIONS, KEPT_BLOCKS = 8, 64


class _Hashed:
    """A target that is equal to another where all its numbers are."""

    def __init__(self, target: Target):
        leaves, tree = jax.tree.flatten(target)
        digest = hashlib.sha256(str(tree).encode())
        for leaf in leaves:
            array = np.asarray(leaf)
            digest.update(f"{array.dtype.str} {array.shape};".encode() + array.tobytes())
        self.target, self.digest = target, digest.digest()

    def __eq__(self, other) -> bool:
        return isinstance(other, _Hashed) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


@lru_cache(maxsize=KEPT_SOLUTIONS)
def _solve(hashed: _Hashed) -> Exact:
    return exact.solve(hashed.target)


@lru_cache(maxsize=KEPT_BLOCKS)
def _block(hashed: _Hashed, seed: int, count: int) -> Int8[np.ndarray, "count n"]:
    sample = _solve(hashed).sample
    if sample is None:
        raise Refusal(_why_not(hashed.target) or "exact inference gives no samples of this model")
    draws = np.asarray(sample(seed, count), np.int8)
    draws.setflags(write=False)
    return draws


def _why_not(target: Target) -> str | None:
    try:
        return exact.why_not(target)
    except InputError as error:
        return str(error)


SPEC = Spec(
    id="exact",
    label="Exact sampler",
    kind="draw",
    guarantee="exact",
    reversible=False,
    summary="Draws independent configurations from the target itself, where exact inference is tractable.",
    paper="Dechter 1999 (bucket elimination)",
    update="variable drawn",
    jit=False,
    tile=lambda model: 64,
    why_not=_why_not,
)


class ExactState(NamedTuple):
    """One tile: the words of the chains' NOISE keys, uint32[t, 2], and the index of the draw that is shown."""

    words: UInt32[np.ndarray, "t 2"]
    draw: Int[np.ndarray, ""]


@pytree
class ExactSampler:
    """x ~ exp(beta log_weight(x)) / Z over the configurations that agree with the evidence; one quantum is one draw.

    Computed on the host (`jit=False`). A draw is a function of the key, the tile, the draw's index and the target
    alone: a tile's draws come from one generator, seeded by the key of its first chain and the number of a block of
    draws. x0 is not used, and a change of the target keeps the seeds.
    """

    spec = SPEC

    def init_tile(self, keys: Array, target: Target, x0: Int8[Array, "t n"]) -> ExactState:
        """Draw 0 of each chain."""
        return ExactState(_words(keys), np.zeros((), np.int32))

    def step_tile(self, keys: Array, target: Target, state: ExactState) -> tuple[ExactState, Info]:
        """The next draw; it is made when `position_tile` asks for it."""
        return ExactState(state.words, np.asarray(state.draw + 1, np.int32)), {}

    def position_tile(self, target: Target, state: ExactState) -> Int8[np.ndarray, "t n"]:
        """The draws; raises Refusal where exact inference is not tractable."""
        chains, draw = len(state.words), int(state.draw)
        first, size = block_of(draw)
        draws = _block(_Hashed(target), _seed(state.words, first), size * chains)
        return draws[(draw - first) * chains :][:chains]

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> ExactState:
        """Single-chain form: a tile of one."""
        return self.init_tile(key[None], target, x0)

    def step(self, key: Array, target: Target, state: ExactState) -> tuple[ExactState, Info]:
        """Single-chain form of `step_tile`."""
        return self.step_tile(key, target, state)

    def position(self, target: Target, state: ExactState) -> Int8[np.ndarray, " n"]:
        """Single-chain form of `position_tile`."""
        return self.position_tile(target, state)[0]


def block_of(draw: int) -> tuple[int, int]:
    """(first draw, size) of the block that holds `draw`: 0, 1, 2-3, 4-7, ..., 32-63, then every 64."""
    size = min(1 << max(draw.bit_length() - 1, 0), BLOCK)
    return draw - draw % size, size


def _words(keys) -> UInt32[np.ndarray, "t 2"]:
    typed = isinstance(keys, jax.Array) and jax.dtypes.issubdtype(keys.dtype, jax.dtypes.prng_key)
    return np.asarray(jax.random.key_data(keys) if typed else keys, np.uint32)


def _seed(words: UInt32[np.ndarray, "t 2"], first: int) -> int:
    return (int(words[0, 0]) << 96) | (int(words[0, 1]) << 64) | first

"""Independent exact draws, from exact inference on the host."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Int8, UInt32

from pmpviz import exact
from pmpviz.samplers._host import DrawState, Hashed, HostDraws
from pmpviz.types import Exact, InputError, Refusal, Spec, Style, Target, pytree

# Sampling has a cost per call (tables are rebuilt), so that draws are made ahead, in blocks of up to this many.
BLOCK = 64
KEPT_SOLUTIONS, KEPT_BLOCKS = 8, 64


@lru_cache(maxsize=KEPT_SOLUTIONS)
def _solve(hashed: Hashed) -> Exact:
    return exact.solve(hashed.target)


@lru_cache(maxsize=KEPT_BLOCKS)
def _block(hashed: Hashed, seed: int, count: int) -> Int8[np.ndarray, "count n"]:
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
    style=Style("#8A8A86", "solid", "star"),
)


@pytree
class ExactSampler(HostDraws):
    """x ~ exp(beta log_weight(x)) / Z over the configurations that agree with the evidence; one quantum is one draw.

    Computed on the host (`jit=False`). A draw is a function of the key, the tile, the draw's index and the target
    alone: a tile's draws come from one generator, seeded by the key of its first chain and the number of a block of
    draws. x0 is not used, and a change of the target keeps the seeds.
    """

    spec = SPEC

    def position_tile(self, target: Target, state: DrawState) -> Int8[np.ndarray, "t n"]:
        """The draws; raises Refusal where exact inference is not tractable."""
        chains, draw = len(state.words), int(state.draw)
        first, size = block_of(draw)
        draws = _block(Hashed(target), _seed(state.words, first), size * chains)
        return draws[(draw - first) * chains :][:chains]

    def equation(self, target: Target) -> str:
        """One variable after another, in the order of elimination turned round."""
        return r"x_i \sim p(x_i \mid x_{i+1}, \ldots, x_n),\quad i = n, \ldots, 1"


def block_of(draw: int) -> tuple[int, int]:
    """(first draw, size) of the block that holds `draw`: 0, 1, 2-3, 4-7, ..., 32-63, then every 64."""
    size = min(1 << max(draw.bit_length() - 1, 0), BLOCK)
    return draw - draw % size, size


def _seed(words: UInt32[np.ndarray, "t 2"], first: int) -> int:
    return (int(words[0, 0]) << 96) | (int(words[0, 1]) << 64) | first

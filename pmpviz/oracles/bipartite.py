"""Exact MAP of bipartite binary models, such as RBMs: one side is listed, the other maximised unit by unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from pmpviz.oracles.oracle import MapOracle, OracleSpec, Solution
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Style

# log2 of the states of the side that is listed, and cells worked on at once.
MAX_SIDE, BLOCK = 22, 1 << 14


@dataclass(frozen=True)
class BipartiteEnumeration(MapOracle):
    """max over a of own.a + sum_b max(0, c_b + a.W_b): the smaller side listed, the other maximised unit by unit."""

    spec = OracleSpec(
        id="bipartite",
        label="Bipartite enumeration",
        style=Style("#8A8A86", "solid", "star"),
        promise="exact",
        summary="Lists the states of the smaller side of a bipartite binary model, such as an RBM.",
        paper="",
        why_not=lambda potentials: not_bipartite(potentials.structure),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The maximum; the listed side is split in two halves whose fields are added, which touches little memory."""
        self.insist(potentials)
        listed, own, other, cross = _sides(potentials)
        near = _near_maxima(own / potentials.size, other / potentials.size, cross / potentials.size)
        best, found = -np.inf, np.zeros(potentials.n, np.int8)
        for start in range(0, len(near), BLOCK):
            a = (near[start : start + BLOCK, None] >> np.arange(len(own))) & 1
            x = np.zeros((len(a), potentials.n), np.int8)
            x[:, listed], x[:, ~listed] = a, other + a @ cross > 0
            values = potentials.value(x)
            if values.max() > best:
                best, found = float(values.max()), x[values.argmax()]
        return Solution.proved(potentials, found, states=2.0 ** len(own))


def _near_maxima(own, other, cross) -> Int[np.ndarray, " near"]:
    """The listed side's states that may be maxima, all numbers being at most 1 in size: single precision finds those
    within its rounding of the largest, which are then told apart in double precision.

    max(0, l + r) = l + max(-l, r): with all l in the lower half's own sum, a unit costs a maximum and an addition.
    """
    middle = len(own) // 2
    low, high = _fields(own[:middle], cross[:middle]), _fields(own[middle:], cross[middle:])
    sums = (low[0] + low[1].sum(1)).astype(np.float32)[:, None] + high[0].astype(np.float32)
    left, right = (-low[1]).astype(np.float32), np.ascontiguousarray((high[1] + other).T, np.float32)
    rows = max(1, BLOCK // sums.shape[1])
    unit = np.empty((rows, sums.shape[1]), np.float32)
    for start in range(0, len(sums), rows):
        total, part = sums[start : start + rows], left[start : start + rows]
        for b in range(len(other)):
            total += np.maximum(part[:, b, None], right[b], out=unit[: len(part)])
    # Every one of the sums' terms and of their partial sums is rounded once, and they are at most 4 in size.
    margin = 16 * (len(other) + 4) * float(np.finfo(np.float32).eps)
    i, j = np.nonzero(sums >= sums.max() - np.float32(margin))
    return i + (j << middle)


def _sides(potentials: Potentials):
    """(which variables are listed, their biases, the others' biases, weights between)."""
    s = potentials.structure
    listed = s.sides
    assert listed is not None
    if listed.sum() * 2 > s.n:
        listed = ~listed
    bias, w, _ = potentials.quadratic()
    # Each variable's number on its own side.
    place = np.where(listed, np.cumsum(listed), np.cumsum(~listed)) - 1
    between = np.zeros((int(listed.sum()), int((~listed).sum())))
    first = listed[s.i]
    between[place[np.where(first, s.i, s.j)], place[np.where(first, s.j, s.i)]] = w
    return listed, bias[listed], bias[~listed], between


def _bits(count: int) -> np.ndarray:
    return ((np.arange(1 << count)[:, None] >> np.arange(count)) & 1).astype(np.float64)


def _fields(own: np.ndarray, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    states = _bits(len(own))
    return states @ own, states @ cross


def not_bipartite(structure: Structure) -> str | None:
    """Why the structure can't be solved by listing one side's configurations; None where it can."""
    if not structure.binary:
        return "bipartite enumeration needs two-state variables; this model has others"
    if structure.sides is None:
        return "bipartite enumeration needs a model whose edges all run between two groups; this one has an odd cycle"
    small = min(int(structure.sides.sum()), int((~structure.sides).sum()))
    if small <= MAX_SIDE:
        return None
    return f"bipartite enumeration would list 2^{small} states of the smaller side; it lists at most 2^{MAX_SIDE}"


__all__ = ["BipartiteEnumeration", "not_bipartite"]

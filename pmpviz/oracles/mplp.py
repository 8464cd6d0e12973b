"""MPLP: block-coordinate descent on the dual of the local polytope's linear program (Globerson and Jaakkola 2007).

With messages d_{j->i}(x_i) the dual is

    L(d) = sum_i max_{x_i} b_i(x_i) + sum_ij max_{x_i, x_j} (theta_ij - d_{j->i} - d_{i->j}),
    b_i = theta_i + sum_j d_{j->i}  >=  max_x theta(x) for every d.

An edge's two messages are set to their joint optimum, d_{j->i} <- (max_{x_j}(theta_ij + a_j) - a_i) / 2 and likewise
for j, where a_i = b_i - d_{j->i}. Edges without a common end do not see one another: those of a matching are updated
at once, which is the same as one after the other. The batch lies on the last axis of all arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pmpviz.oracles.oracle import TOLERANCE, MapOracle, OracleSpec, Prepared, Solution
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Param, Style

# Cells (edges x pairs of states x problems) that are worked on at once.
CELLS = 1 << 18
# The descent ends where a sweep lowers the dual by less than TOLERANCE of the potentials' size: beliefs of two states
# that are this near, as a share of that size, are equal as far as it can tell.
TIED = 100 * TOLERANCE
# The note of a solution that says how many are.
TIES = "share of ties"


def matchings(structure: Structure) -> tuple[np.ndarray, ...]:
    """The edges in groups without a common end: each goes into the first group where both its ends are free."""
    groups: list[list[int]] = []
    taken: list[set[int]] = [set() for _ in structure.card]
    for e, (a, b) in enumerate(zip(structure.i.tolist(), structure.j.tolist(), strict=True)):
        group = 0
        while group in taken[a] or group in taken[b]:
            group += 1
        groups += [[]] * (group == len(groups))
        groups[group] = [*groups[group], e]
        taken[a].add(group)
        taken[b].add(group)
    return tuple(np.array(group, np.int64) for group in groups)


_matchings_of = Prepared(matchings)


class Descent:
    """The messages of several problems on one structure: `to_first[e]` into i, `to_second[e]` into j of edge e."""

    def __init__(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]):
        s = self.structure = potentials.structure
        self.constant, self.groups = potentials.constant, _matchings_of(s)
        self.table = potentials.table[..., None]
        self.allowed = np.where(s.valid_pairs, potentials.table, -np.inf)[..., None]
        self.valid_first, self.valid_second = s.valid[s.i][..., None], s.valid[s.j][..., None]
        self.unary = np.where(s.valid, unary, -np.inf).transpose(1, 2, 0)
        shape = (len(s.i), s.states, len(unary))
        self.to_first, self.to_second = np.zeros(shape), np.zeros(shape)
        self.belief = self.unary.copy()

    def keep(self, columns: np.ndarray) -> None:
        """Go on with some of the problems only."""
        for name in ("unary", "to_first", "to_second", "belief"):
            setattr(self, name, getattr(self, name)[..., columns])

    def sweep(self, parallel: bool = False) -> None:
        """Update every edge once: group after group, or all from the same old messages."""
        for group in [slice(None)] if parallel else self.groups:
            self._update(group)
        s = self.structure
        self.belief = self.unary.copy()
        np.add.at(self.belief, s.i, self.to_first)
        np.add.at(self.belief, s.j, self.to_second)

    def _update(self, group) -> None:
        i, j = self.structure.i[group], self.structure.j[group]
        first, second = self.belief[i] - self.to_first[group], self.belief[j] - self.to_second[group]
        above = self.table[group]
        to_first = (above + second[:, None]).max(2) - first
        to_second = (above + first[:, :, None]).max(1) - second
        self.to_first[group] = np.where(self.valid_first[group], 0.5 * to_first, 0.0)
        self.to_second[group] = np.where(self.valid_second[group], 0.5 * to_second, 0.0)
        self.belief[i], self.belief[j] = first + self.to_first[group], second + self.to_second[group]

    def dual(self) -> Float[np.ndarray, " b"]:
        """L of every problem."""
        rest = self.allowed - self.to_first[:, :, None] - self.to_second[:, None]
        return self.constant + self.belief.max(1).sum(0) + rest.max((1, 2), initial=-np.inf).sum(0)

    def decoded(self) -> np.ndarray:
        """argmax of every belief, [b, n]."""
        return self.belief.argmax(1).T

    def ties(self, near: float) -> Float[np.ndarray, " b"]:
        """Share of the variables whose best belief two states have, up to `near`: rounding says which is decoded."""
        leading = (self.belief >= self.belief.max(1, keepdims=True) - near).sum(1)
        return (leading > 1).sum(0) / max(len(leading), 1)


@dataclass(frozen=True)
class Mplp(MapOracle):
    """The dual's descent until a sweep lowers it no more, decoded by the beliefs' argmax; `upper` is the dual.

    Where the dual lies above the maximum, beliefs tie at its optimum, and the decoded value depends on where the
    descent stops: on dense frustrated models nothing but rounding decides it. The note `share of ties` says so.
    """

    sweeps: int = 300
    parallel: bool = False

    spec = OracleSpec(
        id="mplp",
        label="MPLP",
        style=Style("#A8A8A4", "dot", "diamond"),
        promise="bound",
        summary="Lowers an upper bound edge by edge; exact where the configuration read off reaches it. With all edges "
        "at once (parallel) the bound swings instead, as the paper says.",
        paper="Globerson and Jaakkola 2007, Fixing max-product",
        params=(
            Param("sweeps", "sweeps", 1, 100_000, 300, scale="int", help="updates of every edge, at most"),
            Param("parallel", "parallel", 0, 1, False, scale="bool", help="all edges at once: does not converge"),
        ),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The beliefs' argmax (ties to the smaller state) and the dual."""
        return self.solve_batch(potentials, potentials.unary[None])[0]

    def solve_batch(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> list[Solution]:
        """All unaries side by side."""
        self.insist(potentials)
        rows = max(1, CELLS // max(potentials.table.size, 1))
        parts = [self._solve(potentials, unary[at : at + rows]) for at in range(0, len(unary), rows)]
        return [solution for part in parts for solution in part]

    def _solve(self, potentials: Potentials, unary: np.ndarray) -> list[Solution]:
        descent, left = Descent(potentials, unary), np.arange(len(unary))
        best = descent.dual()
        found: dict[int, Solution] = {}
        for sweep in range(1, int(self.sweeps) + 1):
            descent.sweep(bool(self.parallel))
            dual = descent.dual()
            settled = np.abs(best[left] - dual) <= TOLERANCE * potentials.size
            done = settled | (sweep == int(self.sweeps))
            best[left] = np.minimum(best[left], dual)
            x, ties = descent.decoded(), descent.ties(TIED * potentials.size)
            for column in np.flatnonzero(done).tolist():
                at = int(left[column])
                own = potentials.with_values(unary[at])
                notes = {"sweeps": float(sweep), TIES: float(ties[column])}
                found[at] = Solution.bounded(own, x[column], float(best[at]), **notes)
            if done.all():
                break
            if done.any():
                descent.keep(~done)
                left = left[~done]
        return [found[at] for at in range(len(unary))]


__all__ = ["TIES", "Mplp"]

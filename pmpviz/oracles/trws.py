"""TRW-S: sequential tree-reweighted message passing on monotonic chains (Kolmogorov 2006).

Variables go in the order of their numbers. With b_i = theta_i + sum_j M_{j->i} and gamma_i = 1 / max(neighbours before,
neighbours after), one over the number of monotonic chains through i, the forward pass sets for j after i

    M_{i->j}(x_j) = max_{x_i} (gamma_i b_i(x_i) - M_{j->i}(x_i) + theta_ij(x_i, x_j)),

b_i and M_{i->j} being shifted to a largest entry of 0; the backward pass does the same in the other direction. The
shifts of a pass add up to the sum of the chains' maxima, an upper bound of the maximum that no pass raises.
A variable waits only for those before it that it is joined to: all that wait for no one are updated at once, which is
the same as one after the other. The batch lies on the last axis of all arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pmpviz.oracles.oracle import TOLERANCE, MapOracle, OracleSpec, Prepared, Solution
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Param, Style

# Cells (messages x pairs of states x problems) that are worked on at once.
CELLS = 1 << 18


@dataclass(frozen=True)
class Level:
    """Variables that wait for none of one another, and the messages to and from them, by number."""

    sites: Int[np.ndarray, " v"]
    incoming: Int[np.ndarray, " m"]
    start: Int[np.ndarray, " v"]
    onward: Int[np.ndarray, " o"]
    sender: Int[np.ndarray, " o"]
    earlier: Int[np.ndarray, " h"]
    earlier_start: Int[np.ndarray, " v"]


class Schedule:
    """Messages 0 to e - 1 go from i to j of their edge, e to 2 e - 1 back; 2 e stays 0 and pads."""

    def __init__(self, structure: Structure):
        s, e = structure, len(structure.i)
        self.source = np.concatenate([s.i, s.j])
        before, after = np.bincount(s.j, minlength=s.n), np.bincount(s.i, minlength=s.n)
        self.share = 1.0 / np.maximum(1, np.maximum(before, after))
        self.forward = self._levels(s, range(s.n), np.arange(e), lambda u, v: u < v)
        self.backward = self._levels(s, reversed(range(s.n)), e + np.arange(e), lambda u, v: u > v)

    def _levels(self, s: Structure, order, sent, is_before) -> tuple[Level, ...]:
        level: dict[int, int] = {}
        groups: list[list[int]] = []
        for v in order:
            level[v] = 1 + max((level[u] for _, u, _ in s.neighbours[v] if is_before(u, v)), default=-1)
            groups += [[]] * (level[v] == len(groups))
            groups[level[v]] = [*groups[level[v]], v]
        return tuple(self._level(s, group, sent, is_before) for group in groups)

    def _level(self, s: Structure, group: list[int], sent, is_before) -> Level:
        e = len(s.i)
        into, earlier, onward, sender = [], [], [], []
        for place, v in enumerate(group):
            # The message into v along an edge is the one from its other end.
            rows = [(edge + e * first, u) for edge, u, first in s.neighbours[v]]
            into.append([number for number, _ in rows] or [2 * e])
            earlier.append([number for number, u in rows if is_before(u, v)] or [2 * e])
            ahead = [int(sent[edge]) for edge, u, _ in s.neighbours[v] if not is_before(u, v)]
            onward += ahead
            sender += [place] * len(ahead)
        return Level(
            np.array(group, np.int64),
            *_flat(into),
            np.array(onward, np.int64),
            np.array(sender, np.int64),
            *_flat(earlier),
        )


def _flat(lists: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """All lists one after another, and where each begins."""
    lengths = [len(one) for one in lists]
    return np.concatenate(lists).astype(np.int64), np.cumsum([0, *lengths])[:-1]


_schedule_of = Prepared(Schedule)


class Passes:
    """The messages of several problems on one structure."""

    def __init__(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]):
        s = self.structure = potentials.structure
        self.schedule, self.constant = _schedule_of(s), potentials.constant
        self.table = np.concatenate([potentials.table, potentials.table.swapaxes(1, 2)])
        self.unary = np.where(s.valid, unary, -np.inf).transpose(1, 2, 0)
        self.message = np.zeros((2 * len(s.i) + 1, s.states, len(unary)))

    def keep(self, columns: np.ndarray) -> None:
        """Go on with some of the problems only."""
        self.unary, self.message = self.unary[..., columns], self.message[..., columns]

    def sweep(self) -> tuple[Float[np.ndarray, " b"], Float[np.ndarray, " b"]]:
        """Forward and backward; the bounds after each."""
        return self._pass(self.schedule.forward), self._pass(self.schedule.backward)

    def _pass(self, levels: tuple[Level, ...]) -> Float[np.ndarray, " b"]:
        bound = np.full(self.unary.shape[-1], self.constant)
        e, share = len(self.structure.i), self.schedule.share
        for level in levels:
            belief = self.unary[level.sites] + np.add.reduceat(self.message[level.incoming], level.start, axis=0)
            top = belief.max(1)
            bound += top.sum(0)
            if not len(level.onward):
                continue
            own = share[level.sites, None, None] * (belief - top[:, None])
            reverse = np.where(level.onward < e, level.onward + e, level.onward - e)
            rest = own[level.sender] - self.message[reverse]
            fresh = (rest[:, :, None] + self.table[level.onward][..., None]).max(1)
            top = fresh.max(1)
            bound += top.sum(0)
            self.message[level.onward] = fresh - top[:, None]
        return bound

    def decoded(self) -> Int[np.ndarray, "b n"]:
        """One after another: x_i the best given those before it and the messages from those after it (section 3.5)."""
        count = self.unary.shape[-1]
        x, e = np.zeros((self.structure.n + 1, count), np.int64), len(self.structure.i)
        table = np.concatenate([self.table, np.zeros((1, *self.table.shape[1:]))])
        source = np.append(self.schedule.source, self.structure.n)
        for level in self.schedule.forward:
            # Messages e to 2 e - 1 come from variables after i: those from before are taken out again below.
            given = table[level.earlier[:, None], x[source[level.earlier]]].swapaxes(1, 2)
            later = np.where((level.incoming < e)[:, None, None], 0.0, self.message[level.incoming])
            score = self.unary[level.sites] + np.add.reduceat(given, level.earlier_start, axis=0)
            x[level.sites] = (score + np.add.reduceat(later, level.start, axis=0)).argmax(1)
        return x[:-1].T


@dataclass(frozen=True)
class TrwS(MapOracle):
    """Passes until the bound falls no more; the best configuration decoded on the way."""

    sweeps: int = 200

    spec = OracleSpec(
        id="trws",
        label="TRW-S",
        style=Style("#5A5A57", "dashdot", "triangle"),
        promise="bound",
        summary="Tree-reweighted messages, one variable after another: an upper bound that never rises, and the best "
        "configuration read off on the way.",
        paper="Kolmogorov 2006, Convergent tree-reweighted message passing",
        params=(Param("sweeps", "sweeps", 1, 100_000, 200, scale="int", help="forward and backward passes, at most"),),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The best decoded configuration and the last bound."""
        return self.solve_batch(potentials, potentials.unary[None])[0]

    def solve_batch(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> list[Solution]:
        """All unaries side by side."""
        self.insist(potentials)
        rows = max(1, CELLS // max(2 * potentials.table.size, 1))
        parts = [self._solve(potentials, unary[at : at + rows]) for at in range(0, len(unary), rows)]
        return [solution for part in parts for solution in part]

    def _solve(self, potentials: Potentials, unary: np.ndarray) -> list[Solution]:
        passes, left, problems = (
            Passes(potentials, unary),
            np.arange(len(unary)),
            [potentials.with_values(u) for u in unary],
        )
        bound, best = np.full(len(unary), np.inf), np.full(len(unary), -np.inf)
        x = np.zeros((len(unary), potentials.n), np.int64)
        found: dict[int, Solution] = {}
        near = TOLERANCE * potentials.size
        for sweep in range(1, int(self.sweeps) + 1):
            upper = np.minimum(*passes.sweep())
            for column, (at, one) in enumerate(zip(left.tolist(), passes.decoded(), strict=True)):
                value = float(problems[at].value(one))
                if value > best[at]:
                    best[at], x[at] = value, one
                settled = bound[at] - upper[column] <= near or upper[column] - best[at] <= near
                bound[at] = min(bound[at], upper[column])
                if settled or sweep == int(self.sweeps):
                    found[at] = Solution.bounded(problems[at], x[at], float(bound[at]), sweeps=float(sweep))
            going = np.array([at not in found for at in left.tolist()], bool)
            left = left[going]
            if not len(left):
                break
            if not going.all():
                passes.keep(going)
        return [found[at] for at in range(len(unary))]


__all__ = ["TrwS"]

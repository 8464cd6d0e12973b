"""A problem over the states that its zeros leave possible: fewer states, and fewer variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact.possible import domains
from pmpviz.exact.problem import Problem
from pmpviz.models.tables import Factor, TableModel
from pmpviz.types import Exact, Target


@dataclass(frozen=True, eq=False)
class Narrowed:
    """Factors and a constant over the variables with more than one possible state.

    States that no neighbouring factor allows are left out beforehand, and with them variables of a single state;
    `kept[v]` is the problem's number of variable v, `states[u]` the possible states of every free variable u of the
    problem. Scopes rise, each comes once; -inf stands for probability 0.
    """

    card: tuple[int, ...]
    factors: tuple[Factor, ...]
    constant: float
    kept: Int[np.ndarray, " n"]
    states: tuple[Int[np.ndarray, " k"], ...]

    @classmethod
    def of_problem(cls, problem: Problem) -> Self:
        """Raises InputError where no state is possible."""
        states = tuple(np.flatnonzero(left) for left in domains(problem))
        kept = np.array([v for v, left in enumerate(states) if len(left) > 1], np.int64)
        number = {int(v): place for place, v in enumerate(kept)}
        merged: dict[tuple[int, ...], np.ndarray] = {}
        constant = problem.constant
        for scope, table in problem.factors:
            table = table[np.ix_(*(states[v] for v in scope))]
            rest = [axis for axis, v in enumerate(scope) if v in number]
            table = table.reshape([table.shape[axis] for axis in rest])
            if not rest:
                constant += float(table)
                continue
            order = np.argsort([scope[axis] for axis in rest])
            name = tuple(number[scope[rest[a]]] for a in order)
            table = table.transpose(order)
            merged[name] = merged[name] + table if name in merged else table
        card = tuple(len(states[v]) for v in kept)
        return cls(card, tuple(merged.items()), constant, kept, states)

    @property
    def n(self) -> int:
        """Number of variables that are left."""
        return len(self.card)

    def problem(self) -> Problem:
        """The same as a problem without clamped variables, for elimination."""
        nothing = np.zeros(self.n, np.int64)
        return Problem(self.card, nothing, np.arange(self.n), None, self.factors, self.constant)

    def target(self) -> Target:
        """The same as a target without evidence."""
        return Target.of(TableModel.of(self.card, self.factors, self.constant))

    def free_states(self, x: Int[np.ndarray, "... n"]) -> Int[np.ndarray, "... free"]:
        """Configurations of all free variables of the problem."""
        x = np.asarray(x, np.int64)
        found = np.empty((*x.shape[:-1], len(self.states)), np.int64)
        found[...] = [int(left[0]) for left in self.states]
        for place, v in enumerate(self.kept):
            found[..., v] = self.states[v][x[..., place]]
        return found

    def free_rows(self, rows: Sequence[np.ndarray], card: Sequence[int]) -> list[Float[np.ndarray, " k"]]:
        """Marginals of all free variables of the problem, whose numbers of states are `card`."""
        found = []
        for states, left in zip(card, self.states, strict=True):
            row = np.zeros(states)
            row[left] = 1.0 / len(left)
            found.append(row)
        for v, row in zip(self.kept, rows, strict=False):
            found[v][self.states[v]] = row[: len(self.states[v])]
        return found

    def lifted(self, problem: Problem, solved: Exact) -> Exact:
        """The solution of the problem that this is made of, from that of `target`."""
        assert solved.marginals is not None and solved.sample is not None
        free, draw = self.free_rows(solved.marginals, problem.free_card), solved.sample
        marginals = problem.all_marginals(free)

        def inner(pairs: Int[np.ndarray, "p 2"]) -> Float[np.ndarray, "p k k"]:
            return self._pairs(free, solved, pairs)

        return Exact(
            solved.log_z,
            marginals,
            lambda pairs: problem.all_pairs(marginals, inner, pairs),
            lambda seed, count: problem.all_states(self.free_states(draw(seed, count))),
            solved.method,
        )

    def _pairs(self, free: list[np.ndarray], solved: Exact, pairs: np.ndarray) -> Float[np.ndarray, "p k k"]:
        """Where one of the two is certain, the product of their marginals."""
        number = np.full(len(self.states), -1)
        number[self.kept] = np.arange(self.n)
        found = np.zeros((len(pairs), *[max(map(len, free), default=1)] * 2))
        both = (number[pairs] >= 0).all(1)
        for place in np.flatnonzero(~both):
            i, j = pairs[place]
            found[place, : len(free[i]), : len(free[j])] = np.outer(free[i], free[j])
        if both.any():
            assert solved.pair_marginals is not None
            tables = solved.pair_marginals(number[pairs[both]])
            for place, table in zip(np.flatnonzero(both), tables, strict=True):
                rows, columns = (self.states[v] for v in pairs[place])
                found[place][np.ix_(rows, columns)] = table[: len(rows), : len(columns)]
        return found


__all__ = ["Narrowed"]

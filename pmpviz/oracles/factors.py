"""Any factor graph in float64 on the host: zeros, factors of any number of variables, mixed numbers of states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact.possible import domains, forbids
from pmpviz.exact.problem import Problem
from pmpviz.models.tables import Factor

# Nats by which a forbidden state lies below all others together: e^-64 is no rounding error of theirs.
APART = 64.0
# Nats that perturbations, and the logarithms in a gradient, may add at one variable or factor.
ROOM = 40.0


@dataclass(frozen=True, eq=False)
class Factors:
    """theta(x) = constant + sum_f table_f(x_scope) over the variables with more than one possible state.

    Made of a problem: states that no neighbouring factor allows are left out beforehand, and with them variables of a
    single state; `kept[v]` is the problem's number of variable v, `states[u]` the possible states of every free
    variable u of the problem. Scopes rise, each comes once; -inf stands for probability 0.
    """

    card: tuple[int, ...]
    factors: tuple[Factor, ...]
    constant: float
    kept: Int[np.ndarray, " n"]
    states: tuple[Int[np.ndarray, " k"], ...]

    @classmethod
    def of_problem(cls, problem: Problem) -> Factors:
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
        return len(self.card)

    @cached_property
    def penalty(self) -> float:
        """How far below a table's least finite entry a zero is put where it has to be finite: no state with one can
        then be mistaken for a possible one, nor do all of them together weigh anything."""
        spans = sum(float(np.ptp(finite)) for _, t in self.factors if (finite := t[np.isfinite(t)]).size)
        return APART + spans + ROOM * (self.n + len(self.factors)) + float(np.log(np.array(self.card, float)).sum())

    @cached_property
    def finite(self) -> tuple[Factor, ...]:
        """The factors, zeros `penalty` below their table's least finite entry."""
        return tuple((scope, lowered(table, self.penalty)) for scope, table in self.factors)

    @cached_property
    def of_variable(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For every variable its (factor, place in the scope)."""
        found: list[list[tuple[int, int]]] = [[] for _ in self.card]
        for f, (scope, _) in enumerate(self.factors):
            for axis, v in enumerate(scope):
                found[v].append((f, axis))
        return tuple(map(tuple, found))

    def value(self, x: Int[np.ndarray, "... n"]) -> Float[np.ndarray, "..."]:
        """theta(x) of one configuration or of many; -inf where it is forbidden."""
        x = np.asarray(x, np.int64)
        total = np.full(x.shape[:-1], self.constant)
        for scope, table in self.factors:
            total = total + table[tuple(x[..., v] for v in scope)]
        return total

    def problem(self) -> Problem:
        """The same as a problem without clamped variables, for elimination."""
        nothing = np.zeros(self.n, np.int64)
        return Problem(self.card, nothing, np.arange(self.n), None, self.factors, self.constant)

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


def is_pairwise(problem: Problem) -> bool:
    """Whether `Potentials` take the problem as it is: factors of at most two variables, and no zeros."""
    return problem.quadratic is not None or (
        not forbids(problem) and max((len(scope) for scope, _ in problem.tables), default=0) <= 2
    )


def lowered(table: np.ndarray, penalty: float) -> np.ndarray:
    """The table with its zeros `penalty` below its least finite entry."""
    held = np.isfinite(table)
    return np.where(held, table, (table[held].min() if held.any() else 0.0) - penalty)


__all__ = ["Factors", "is_pairwise", "lowered"]

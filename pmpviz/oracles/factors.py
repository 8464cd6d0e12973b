"""Any factor graph in float64 on the host: zeros, factors of any number of variables, mixed numbers of states."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact.narrowed import Narrowed
from pmpviz.exact.possible import forbids
from pmpviz.exact.problem import Problem
from pmpviz.models.tables import Factor

# Nats by which a forbidden state lies below all others together: e^-64 is no rounding error of theirs.
APART = 64.0
# Nats that perturbations, and the logarithms in a gradient, may add at one variable or factor.
ROOM = 40.0


@dataclass(frozen=True, eq=False)
class Factors(Narrowed):
    """theta(x) = constant + sum_f table_f(x_scope) over the variables with more than one possible state.

    Made of a problem by `of_problem`: see `Narrowed`.
    """

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

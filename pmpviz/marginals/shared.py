"""Potentials that share parameters, for marginal inference: expected statistics and bounds of the log-likelihood."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pmpviz.exact.problem import Problem
from pmpviz.marginals.solver import Answer
from pmpviz.models.log_linear import LogLinear
from pmpviz.oracles.factors import Factors, is_pairwise
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.oracles.reduction import Reduction


@dataclass(frozen=True, eq=False)
class SharedPotentials:
    """theta(x) = base(x) + sum_k theta_k phi_k(x) over the cells of one structure.

    Finite pairs are taken as they are, and are linear in the parameters. Factors of more variables, and zeros, become
    pairs with auxiliary variables (`Reduction`), whose structure is the same for all parameters; the tables that say
    how they agree hold no features. `unary[p, n, k]`, `table[p, e, k, k]` and `constant[p]` are phi over the cells.
    """

    field: LogLinear
    problem: Problem
    base: Potentials
    factors: Factors | None
    unary: Float[np.ndarray, "p n k"]
    table: Float[np.ndarray, "p e k k"]
    constant: Float[np.ndarray, " p"]

    @classmethod
    def of(cls, field: LogLinear) -> SharedPotentials:
        """Raises Refusal where factors do not fit into pairs, InputError where nothing is possible."""
        zero = np.zeros(field.size)
        base, factors = _potentials(field, zero)
        barred = base.structure.forbidden
        unary, table, constant = [], [], np.zeros(field.size)
        for k in range(field.size):
            one = zero.copy()
            one[k] = 1.0
            moved, _ = _potentials(field, one)
            unary.append(moved.unary - base.unary)
            rise = moved.table - base.table
            table.append(rise if barred is None else np.where(barred, 0.0, rise))
            constant[k] = moved.constant - base.constant
        problem = _problem(field, zero)
        return cls(field, problem, base, factors, np.array(unary), np.array(table), constant)

    @property
    def structure(self) -> Structure:
        """The same object whatever the parameters are: what oracles prepared for it stays."""
        return self.base.structure

    def potentials(self, theta: Float[np.ndarray, " p"]) -> Potentials:
        """Those of some parameters; raises InputError where they are no parameters."""
        theta = self.field.check(theta)
        if self.factors is not None:
            # Penalties of zeros grow with the potentials.
            found, _ = _potentials(self.field, theta)
            return Potentials(self.structure, found.unary, found.table, found.constant)
        unary = self.base.unary + np.tensordot(theta, self.unary, 1)
        table = self.base.table + np.tensordot(theta, self.table, 1)
        return Potentials(self.structure, unary, table, self.base.constant + float(theta @ self.constant))

    def expected(self, answer: Answer) -> Float[np.ndarray, " p"]:
        """sum_x mu(x) phi(x): the statistics that the answer's marginals give."""
        ones = np.einsum("pnk,nk->p", self.unary, answer.unary)
        return ones + np.einsum("pekl,ekl->p", self.table, answer.table) + self.constant

    def marginals(self, answer: Answer) -> tuple[Float[np.ndarray, " k"], ...]:
        """Of the field's own variables, all states."""
        card = self.problem.free_card
        if self.factors is not None:
            free = self.factors.free_rows(answer.unary, card)
        else:
            free = [row[:states] for row, states in zip(answer.unary, card, strict=True)]
        return self.problem.all_marginals(free)


def _potentials(field: LogLinear, theta: Float[np.ndarray, " p"]) -> tuple[Potentials, Factors | None]:
    problem = _problem(field, theta)
    if is_pairwise(problem):
        return Potentials.of_problem(problem), None
    factors = Factors.of_problem(problem)
    return Reduction.of(factors).potentials, factors


def _problem(field: LogLinear, theta: Float[np.ndarray, " p"]) -> Problem:
    """All variables are free, and every factor stays, whatever its numbers are: the structure is always the same."""
    tables, card = field.tables(theta), field.base.card
    nothing, free = np.zeros(field.n, np.int64), np.arange(field.n)
    return Problem(card, nothing, free, None, tuple(tables.factors), float(tables.constant))


__all__ = ["SharedPotentials"]

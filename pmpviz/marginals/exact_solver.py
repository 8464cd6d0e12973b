"""Exact marginals as one of the algorithms: it ends after one step."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from pmpviz import exact
from pmpviz.marginals.solver import Answer, MarginalSolver, Record, unknown
from pmpviz.models.tables import TableModel
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Exact, Refusal, Spec, Style, Target


@dataclass(frozen=True, eq=False)
class ExactState:
    """The solution, once there is one."""

    potentials: Potentials | Factors
    solution: Exact | None = None
    trace: tuple[Record, ...] = ()
    reason: str = ""


def _target(potentials: Potentials | Factors) -> Target:
    if isinstance(potentials, Factors):
        return Target.of(TableModel.of(potentials.card, potentials.factors, potentials.constant))
    s = potentials.structure
    factors: list[tuple[tuple[int, ...], np.ndarray]] = [
        ((v,), row[:states]) for v, (row, states) in enumerate(zip(potentials.unary, s.card, strict=True))
    ]
    pairs = zip(s.i.tolist(), s.j.tolist(), potentials.table, strict=True)
    factors += [((a, b), table[: s.card[a], : s.card[b]]) for a, b, table in pairs]
    return Target.of(TableModel.of(s.card, factors, potentials.constant))


@dataclass(frozen=True)
class ExactMarginals(MarginalSolver):
    """p(x_i), p(x_i, x_j) on the edges and log Z by enumeration or elimination, where one of them is tractable."""

    spec = Spec(
        id="exact",
        label="Exact",
        style=Style("#8A8A86", "solid", "star"),
        kind="solver",
        guarantee="exact",
        reversible=False,
        summary="Sums over all states by enumeration or variable elimination, where that is tractable.",
        paper="Dechter 1999 (bucket elimination)",
        update="solution",
        jit=False,
        metrics=("objective",),
    )
    patient: ClassVar[bool] = False

    def unhurried(self) -> ExactMarginals:
        """It takes tables eight times as large."""
        return PatientExactMarginals()

    def why_not(self, potentials: Potentials) -> str | None:
        """The width found, where it is too large."""
        return exact.why_not(_target(potentials), patient=self.patient)

    def start(self, potentials: Potentials) -> ExactState:
        """Nothing computed yet; raises Refusal with the width found."""
        if (reason := self.why_not(potentials)) is not None:
            raise Refusal(reason)
        return ExactState(potentials)

    def start_factors(self, factors: Factors) -> ExactState:
        """The same of factors as they are."""
        if (reason := exact.why_not(_target(factors), patient=self.patient)) is not None:
            raise Refusal(reason)
        return ExactState(factors)

    def step(self, state: ExactState) -> ExactState:
        """All of it."""
        if state.reason:
            return state
        begin = time.perf_counter()
        solution = exact.solve(_target(state.potentials), patient=self.patient)
        record = {"call": 1, "objective": solution.log_z, "seconds": time.perf_counter() - begin}
        return replace(state, solution=solution, trace=(record,), reason=solution.method)

    def answer(self, state: ExactState) -> Answer:
        """The marginals of the variables and of the edges; before the first step those of the uniform distribution."""
        given = state.potentials
        # Of factors the variables' marginals are all that is asked for.
        s = Structure(given.card, *np.zeros((2, 0), np.int64)) if isinstance(given, Factors) else given.structure
        if state.solution is None:
            return unknown(s)
        rows = state.solution.marginals
        pairs = state.solution.pair_marginals
        assert rows is not None and pairs is not None
        unary = np.stack([np.pad(row, (0, s.states - len(row))) for row in rows]) if rows else np.zeros((0, 1))
        table = pairs(np.stack([s.i, s.j], 1)) if len(s.i) else np.zeros((0, s.states, s.states))
        log_z = state.solution.log_z
        return Answer(unary, table, log_z, log_z, log_z)


class PatientExactMarginals(ExactMarginals):
    """Exact marginals of what lasts for minutes, too."""

    patient = True


__all__ = ["ExactMarginals", "PatientExactMarginals"]

"""The best of several approximate oracles, as the barrier Frank-Wolfe paper runs its approximate MAP solver."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from pmpviz.oracles.graph_cut import Qpbo
from pmpviz.oracles.icm import Icm, unary_argmax
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Solution
from pmpviz.oracles.potentials import Potentials
from pmpviz.oracles.trws import TrwS
from pmpviz.types import Param, Style


@dataclass(frozen=True)
class BestOf(MapOracle):
    """QPBO (where all variables have two states), TRW-S and ICM: the largest value, and the smallest of the bounds."""

    sweeps: int = 200

    spec = OracleSpec(
        id="best_of",
        label="Best of QPBO, TRW-S and ICM",
        style=Style("#CC79A7", "dashdot", "cross"),
        promise="bound",
        summary="Runs all three; keeps the best configuration and the smallest upper bound.",
        paper="Krishnan, Lacoste-Julien and Sontag 2015, Barrier Frank-Wolfe, section 5",
        params=(Param("sweeps", "sweeps", 1, 100_000, 200, scale="int", help="of TRW-S, at most"),),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The best configuration; the note `by` names the oracle that found it."""
        return self.solve_from(potentials, unary_argmax(potentials))

    def solve_from(self, potentials: Potentials, x: Int[np.ndarray, " n"]) -> Solution:
        """The same with ICM from x: along a walk from its last vertex, as the paper's code runs it."""
        oracles = [Qpbo(), TrwS(int(self.sweeps)), Icm()]
        usable = [oracle for oracle in oracles if oracle.spec.why_not(potentials) is None]
        solutions = [oracle.solve_from(potentials, x) for oracle in usable]
        best = max(range(len(usable)), key=lambda k: solutions[k].value)
        upper = min(one.upper for one in solutions if one.upper is not None)
        return Solution.bounded(potentials, solutions[best].x, upper, by=usable[best].spec.id)


__all__ = ["BestOf"]

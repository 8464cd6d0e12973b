"""Perturbed maxima on inflated graphs, as an algorithm beside the others."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from pmpviz.marginals.inflation import INFLATIONS, Found, Inflation
from pmpviz.marginals.perturbation import Estimate
from pmpviz.marginals.perturbation_solvers import BATCH
from pmpviz.marginals.solver import Answer, MarginalSolver, Record, unknown
from pmpviz.marginals.tree_perturbation import has_cycle
from pmpviz.oracles import make_oracle
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.potentials import Potentials
from pmpviz.oracles.reduction import Reduction
from pmpviz.types import Param, Refusal, Spec, Style

MOST_COPIES = 64


@dataclass(frozen=True, eq=False)
class InflatedState:
    """The inflated graph, and what has been found of it batch by batch."""

    potentials: Potentials
    inflation: Inflation
    found: tuple[Found, ...] = ()
    trace: tuple[Record, ...] = ()
    reason: str = ""

    @property
    def maximum(self) -> Estimate | None:
        """The mean maximum, where every maximum is proved or bounded."""
        upper = np.concatenate([each.upper for each in self.found])
        return None if np.isnan(upper).any() else Estimate.of(upper)


@dataclass(frozen=True)
class InflatedMaxima(MarginalSolver):
    """Expected perturbed maxima with variables in several copies, and the copies' shares as marginals.

    `one side`: copies of variables that do not interact, a bound on log Z that falls with the copies. `tree`: Hazan,
    Maji and Jaakkola's theorem, for trees: it falls to log Z itself. `all`: every variable copied, every copy joined
    with all its neighbours' copies: no bound beyond one copy, since it falls to naive mean field's value below log Z.
    """

    inflation: int | str = "one side"
    copies: int = 8
    perturbations: int = 1000
    seed: int = 0

    spec = Spec(
        id="inflated_maxima",
        label="Maxima on inflated graphs",
        short="Inflated",
        style=Style("#6B8E23", "longdash", "square"),
        kind="solver",
        guarantee="approximate",
        reversible=False,
        summary="Takes perturbed maxima with variables in several copies: the mean comes nearer to log Z with them.",
        paper="Hazan and Jaakkola 2012; Hazan, Maji and Jaakkola 2013",
        update="50 perturbations",
        jit=False,
        metrics=("mean_maximum",),
        params=(
            Param("inflation", "Copied", 0, 0, "one side", "choice",
                  "Variables that do not interact (a bound); all, all copies joined (no bound); on a tree behind one "
                  "another, under pairwise noise.", choices=tuple(INFLATIONS)),
            Param("copies", "Copies", 1, MOST_COPIES, 8, "int", "Of each copied variable."),
            Param("perturbations", "Perturbations", 2, 100_000, 1000, "int", "How many draws of the noise."),
            Param("seed", "Seed", 0, 2**31 - 1, 0, "int", "Of the noise."),
        ),
    )  # fmt: skip

    def __post_init__(self):
        if isinstance(self.inflation, int):
            object.__setattr__(self, "inflation", tuple(INFLATIONS)[self.inflation])

    def why_not(self, potentials: Potentials) -> str | None:
        """A cycle, more than two states, or the exact oracle's own reason on the inflated graph."""
        if self.inflation == "tree":
            return "the tree theorem's copies need a tree; this model has a cycle" if has_cycle(potentials) else None
        if self.inflation == "all" and not potentials.structure.binary:
            return "all copies are joined for variables of two states only; choose one side"
        reason = make_oracle("exact").spec.why_not(self._made(potentials, potentials.n).inflated)
        return None if reason is None else f"no exact maxima with {self.copies} copies: {reason}"

    def start(self, potentials: Potentials) -> InflatedState:
        """The inflated graph; raises Refusal with the reason why there is none."""
        return self._start(potentials, potentials.n)

    def start_factors(self, factors: Factors) -> InflatedState:
        """As pairs of variables; the auxiliary ones, which the others decide, are not perturbed."""
        return self._start(Reduction.of(factors).potentials, factors.n)

    def _start(self, potentials: Potentials, perturbed: int) -> InflatedState:
        if (reason := self.why_not(potentials)) is not None:
            raise Refusal(reason)
        return InflatedState(potentials, self._made(potentials, perturbed))

    def _made(self, potentials: Potentials, perturbed: int) -> Inflation:
        return INFLATIONS[str(self.inflation)](potentials, self.copies, perturbed)

    def step(self, state: InflatedState) -> InflatedState:
        """The next fifty perturbations."""
        if state.reason:
            return state
        begin, done = time.perf_counter(), BATCH * len(state.found)
        rng = np.random.default_rng([self.seed, len(state.found)])
        count = min(BATCH, self.perturbations - done)
        found = state.inflation.found(rng, count, make_oracle("exact"))
        state, done = replace(state, found=(*state.found, found)), done + count
        seconds = time.perf_counter() - begin + (state.trace[-1]["seconds"] if state.trace else 0.0)
        mean = None if state.maximum is None else state.maximum.mean
        record = {"call": done, "mean_maximum": mean, "seconds": seconds}
        reason = f"{done:,} perturbations are done" if done >= self.perturbations else ""
        return replace(state, trace=(*state.trace, record), reason=reason)

    def answer(self, state: InflatedState) -> Answer:
        """Marginals, and the mean maximum: of an inflation that does not bound it is an estimate of log Z."""
        if not state.found:
            return unknown(state.potentials.structure)
        weight = np.array([len(each.value) for each in state.found], np.float64)
        unary, table = (
            np.tensordot(weight / weight.sum(), np.stack([getattr(each, name) for each in state.found]), 1)
            for name in ("unary", "table")
        )
        mean = state.maximum
        value, error = (None, None) if mean is None else (mean.mean, mean.standard_error)
        calls = int(weight.sum()) if self.inflation != "tree" else 0
        log_z, maximum = (None, value) if state.inflation.bounds else (value, None)
        return Answer(unary, table, log_z, None, oracle_calls=calls, standard_error=error, mean_maximum=maximum)


__all__ = ["InflatedMaxima"]

"""Perturb-and-MAP marginals and those from ratios of expected maxima, as algorithms beside the others."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from pmpviz.marginals.perturbation import PerturbedMaxima, clamped_marginals, gumbels, lists_clamps, perturbed_maxima
from pmpviz.marginals.solver import Answer, MarginalSolver, Record, unknown
from pmpviz.oracles import ORACLES, make_oracle
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.potentials import Potentials
from pmpviz.oracles.reduction import Reduction
from pmpviz.types import Param, Refusal, Spec, Style

BATCH = 50

_SHARED = (
    Param("oracle", "MAP oracle", 0, 0, "exact", "choice", "Maximises under every perturbation.",
          choices=ORACLES.ids),
    Param("perturbations", "Perturbations", 2, 100_000, 1000, "int", "How many draws of the noise."),
    Param("seed", "Seed", 0, 2**31 - 1, 0, "int", "Of the noise."),
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class PerturbationState:
    """The noise, and what has been found under its first rows."""

    potentials: Potentials
    noise: Float[np.ndarray, "m n k"]
    found: tuple[PerturbedMaxima, ...] = ()
    clamped: tuple[Float[np.ndarray, "n k"], ...] = ()
    trace: tuple[Record, ...] = ()
    reason: str = ""

    @property
    def maxima(self) -> PerturbedMaxima:
        """All that has been found so far."""
        parts = self.found
        return PerturbedMaxima(
            np.concatenate([p.x for p in parts]),
            np.concatenate([p.value for p in parts]),
            np.concatenate([p.upper for p in parts]),
            np.concatenate([p.exact for p in parts]),
        )


@dataclass(frozen=True)
class _Perturbing(MarginalSolver):
    oracle: int | str = "exact"
    perturbations: int = 1000
    seed: int = 0

    def why_not(self, potentials: Potentials) -> str | None:
        """The oracle's own reason."""
        oracle = make_oracle(_named(self.oracle))
        reason = oracle.spec.why_not(potentials)
        return None if reason is None else f"{oracle.spec.label} cannot run here: {reason}"

    def start(self, potentials: Potentials) -> PerturbationState:
        """The noise of all perturbations; raises Refusal with the oracle's reason."""
        if (reason := self.why_not(potentials)) is not None:
            raise Refusal(reason)
        rng = np.random.default_rng(self.seed)
        return PerturbationState(potentials, gumbels(rng, self.perturbations, potentials.structure))

    def start_factors(self, factors: Factors) -> PerturbationState:
        """As pairs of variables; the auxiliary ones, which the others decide, are not perturbed."""
        state = self.start(Reduction.of(factors).potentials)
        state.noise[:, factors.n :] = 0.0
        return state

    def step(self, state: PerturbationState) -> PerturbationState:
        """The next fifty perturbations."""
        if state.reason:
            return state
        begin, oracle = time.perf_counter(), make_oracle(_named(self.oracle))
        done = BATCH * len(state.found)
        bank = state.noise[done : done + BATCH]
        state = replace(state, found=(*state.found, perturbed_maxima(state.potentials, bank, oracle)))
        state = self._more(state, bank, oracle)
        done += len(bank)
        bound = state.maxima.log_z_bound
        record = {
            "call": done,
            "mean_maximum": None if bound is None else bound.mean,
            "seconds": time.perf_counter() - begin + (state.trace[-1]["seconds"] if state.trace else 0.0),
        }
        reason = f"{done:,} perturbations are done" if done >= len(state.noise) else ""
        return replace(state, trace=(*state.trace, record), reason=reason)

    def _more(self, state: PerturbationState, bank: np.ndarray, oracle) -> PerturbationState:
        return state

    def _rows(self, state: PerturbationState) -> Float[np.ndarray, "n k"]:
        """Marginals by what has been found."""
        raise NotImplementedError

    def answer(self, state: PerturbationState) -> Answer:
        """Marginals, and the mean of the perturbed maxima (or of what the oracle proves above them).

        Its expectation is an upper bound of log Z; the mean itself may be below it, and estimates nothing else.
        """
        s = state.potentials.structure
        if not state.found:
            return unknown(s)
        bound = state.maxima.log_z_bound
        return Answer(
            self._rows(state),
            _pairs(state.maxima, s) if len(s.i) else np.zeros((0, s.states, s.states)),
            None,
            None,
            oracle_calls=len(state.maxima.x) * self._calls(state),
            standard_error=None if bound is None else bound.standard_error,
            mean_maximum=None if bound is None else bound.mean,
        )

    def _calls(self, state: PerturbationState) -> int:
        return 1


@dataclass(frozen=True)
class PerturbAndMap(_Perturbing):
    """p(x_i) estimated by how often argmax_x theta(x) + sum_i gamma_i(x_i) has x_i (Papandreou and Yuille 2011).

    Biased by the unary noise, however many perturbations. The expectation of the mean maximum is an upper bound of
    log Z (Hazan and Jaakkola 2012); an oracle without upper bounds gives none.
    """

    spec = Spec(
        id="perturb_and_map",
        label="Perturb-and-MAP frequencies",
        short="Perturb-and-MAP",
        style=Style("#5B6C8F", "longdash", "triangle"),
        kind="solver",
        guarantee="approximate",
        reversible=False,
        summary="Counts maxima under random perturbations of the unaries; their mean value exceeds log Z on average.",
        paper="Papandreou and Yuille 2011; Hazan and Jaakkola 2012",
        update="50 perturbations",
        jit=False,
        metrics=("mean_maximum",),
        params=_SHARED,
    )

    def _rows(self, state: PerturbationState) -> Float[np.ndarray, "n k"]:
        return state.maxima.marginals(state.potentials).marginals


@dataclass(frozen=True)
class ExpectedMaxima(_Perturbing):
    """p(x_i = k) proportional to exp E max_{x: x_i = k} theta(x) + sum_{j != i} gamma_j(x_j), one noise for all clamps.

    The comparison of barrier Frank-Wolfe's Figure 1 (e, f), after Hazan and Jaakkola (2012).
    """

    spec = Spec(
        id="expected_maxima",
        label="Ratios of expected maxima",
        short="Ratios of maxima",
        style=Style("#9C6ADE", "dashdot", "diamond"),
        kind="solver",
        guarantee="approximate",
        reversible=False,
        summary="Clamps every variable to every state, and compares the mean maxima under the same perturbations.",
        paper="Hazan and Jaakkola 2012; Barrier Frank-Wolfe for Marginal Inference, Figure 1 (e, f)",
        update="50 perturbations",
        jit=False,
        metrics=("mean_maximum",),
        params=_SHARED,
    )

    def _more(self, state: PerturbationState, bank: np.ndarray, oracle) -> PerturbationState:
        rows = np.log(clamped_marginals(state.potentials, bank, oracle).marginals.clip(1e-300))
        return replace(state, clamped=(*state.clamped, rows))

    def _rows(self, state: PerturbationState) -> Float[np.ndarray, "n k"]:
        weights = np.array([len(part.x) for part in state.found], np.float64)
        # Within a batch log p is the mean maximum up to a constant of the variable: batches are averaged there.
        log = np.tensordot(weights / weights.sum(), np.stack(state.clamped), 1)
        p = np.where(state.potentials.structure.valid, np.exp(log - log.max(1, keepdims=True)), 0.0)
        return p / p.sum(1, keepdims=True)

    def _calls(self, state: PerturbationState) -> int:
        if lists_clamps(state.potentials, make_oracle(_named(self.oracle))):
            return 1
        perturbed = state.noise.any((0, 2))
        return 1 + int(np.array(state.potentials.structure.card)[perturbed].sum())


def _pairs(maxima: PerturbedMaxima, structure) -> Float[np.ndarray, "e k k"]:
    one = np.eye(structure.states)[maxima.x.astype(np.int64)]
    return np.einsum("mek,mel->ekl", one[:, structure.i], one[:, structure.j]) / len(one)


def _named(oracle: int | str) -> str:
    return oracle if isinstance(oracle, str) else ORACLES[oracle].spec.id


__all__ = ["ExpectedMaxima", "PerturbAndMap"]

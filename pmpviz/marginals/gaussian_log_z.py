"""log Z and marginals from draws of a Gaussian relaxation (Zhang, Sutton, Storkey and Ghahramani 2012, 3.3 and 3.4)."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import numpy as np
from jaxtyping import Float
from scipy.special import logsumexp, softmax

from pmpviz import keys
from pmpviz.marginals import log_z_estimates as estimates
from pmpviz.marginals.log_z_estimates import Estimate
from pmpviz.marginals.solver import Answer, MarginalSolver, Record, unknown
from pmpviz.models.gaussian import Relaxation, StateRelaxation
from pmpviz.models.gaussian.maps import MOST_DENSE
from pmpviz.models.ising import Ising
from pmpviz.models.tables import TableModel
from pmpviz.oracles.icm import descend, random_states, unary_argmax
from pmpviz.oracles.potentials import Potentials
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.samplers.gaussian_hmc import GaussianHMC
from pmpviz.types import Param, Refusal, Spec, Style, Target

CHAINS, BATCH = 16, 25
LEAST_DRAWS = 800
ESTIMATORS = ("bridge", "mirrored_split", "mirrored", "forward", "state")
SAMPLERS = ("gaussian_hmc", "gaussian_gibbs")
EIGEN = 2


@dataclass(frozen=True, eq=False)
class DrawsState:
    """Sixteen chains of a relaxation, and the Gaussians z[25 * 16, m] of every batch of sweeps, in order of time."""

    potentials: Potentials
    target: Target
    chains: Any
    batches: tuple[Float[np.ndarray, "k m"], ...] = ()
    sweeps: int = 0
    trace: tuple[Record, ...] = ()
    reason: str = ""

    @property
    def relaxation(self) -> Relaxation | StateRelaxation:
        """Of the chains' target."""
        found = self.target.prepared
        return getattr(found, "relaxation", found)

    @property
    def draws(self) -> Float[np.ndarray, "k m"]:
        """All Gaussians so far."""
        return np.concatenate(self.batches)


@dataclass(frozen=True)
class GaussianLogZ(MarginalSolver):
    """Bridge sampling, importance sampling or p(s = s_ref), on draws by Hamiltonian Monte Carlo or block Gibbs.

    Marginals are means of p(s_i | z), those of an edge of the product of both. Errors are of batch means.
    """

    estimator: int | str = "bridge"
    sampler: int | str = "gaussian_hmc"
    draws: int = 4000
    burn_in: int = 100
    seed: int = 0

    spec = Spec(
        id="gaussian_log_z",
        label="Gaussian relaxation",
        style=Style("#E69F00", "solid", "diamond"),
        kind="solver",
        guarantee="approximate",
        reversible=False,
        summary="Samples the Gaussians of a relaxation, averages p(s | z), and estimates log Z by comparing their "
        "landscape with a fitted Gaussian, with an error bar.",
        paper="Zhang, Sutton, Storkey and Ghahramani 2012; Meng and Wong 1996 (bridge sampling)",
        update="25 sweeps of 16 chains",
        jit=False,
        metrics=("objective",),
        params=(
            Param("estimator", "Estimator", 0, 0, "bridge", "choice",
                  "bridge: Meng and Wong's; mirrored_split: mirrored importance with the Gaussian fitted on one half; "
                  "mirrored: the paper's, on all draws, biased; forward: importance sampling from the Gaussian; "
                  "state: by the probability of one configuration.", choices=ESTIMATORS),
            Param("sampler", "Sampler", 0, 0, "gaussian_hmc", "choice", "What the draws are made by.",
                  choices=SAMPLERS),
            Param("draws", "Draws", LEAST_DRAWS, 1_000_000, 4000, "int",
                  "How many are kept, of sixteen chains in all."),
            Param("burn_in", "Burn-in", 0, 100_000, 100, "int", "Sweeps of every chain before the first is kept."),
            Param("seed", "Seed", 0, 2**31 - 1, 0, "int", "Of the chains."),
        ),
    )  # fmt: skip

    def why_not(self, potentials: Potentials) -> str | None:
        """Models of at most 1,024 free variables, or of more than two states as many states in all."""
        s = potentials.structure
        size = s.n if s.binary else s.n * s.states
        if size > MOST_DENSE:
            return f"a Gaussian of {size:,} dimensions needs too many draws; give a model of at most {MOST_DENSE:,}"
        return None

    def start(self, potentials: Potentials) -> DrawsState:
        """The relaxation by eigenvectors, and sixteen chains from random configurations."""
        if (reason := self.why_not(potentials)) is not None:
            raise Refusal(reason)
        target, algorithm = Target.of(_model(potentials)), self._sampler()
        target = replace(target, prepared=algorithm.prepare(target))
        words = self._words(keys.INIT)
        x0 = random_states(potentials, np.random.default_rng(self.seed), CHAINS).astype(np.int8)
        chains = algorithm.init_tile(jax.random.wrap_key_data(words), target, x0)
        state = DrawsState(potentials, target, chains)
        while state.sweeps < self.burn_in:
            state = replace(self._moved(state)[0], batches=())
        return state

    def _sampler(self):
        name = SAMPLERS[self.sampler] if isinstance(self.sampler, int) else self.sampler
        return GaussianHMC(map=EIGEN, eps=0.0) if name == "gaussian_hmc" else GaussianGibbs(map=EIGEN, eps=0.0)

    def _words(self, role: int) -> np.ndarray:
        root = keys.fold_words(keys.words_of(jax.random.key(self.seed)), role)
        return keys.fold_words(root, np.arange(CHAINS))

    def _moved(self, state: DrawsState) -> tuple[DrawsState, np.ndarray]:
        chains, z = _sweeps(self._sampler(), state.target, self._words(keys.STEP), state.chains, np.int32(state.sweeps))
        rows = np.asarray(z, np.float64).swapaxes(1, 2).reshape(BATCH * CHAINS, -1)
        return replace(state, chains=chains, batches=(*state.batches, rows), sweeps=state.sweeps + BATCH), rows

    def step(self, state: DrawsState) -> DrawsState:
        """Twenty-five more sweeps of all chains."""
        if state.reason:
            return state
        begin = time.perf_counter()
        state, _ = self._moved(state)
        count = len(state.batches) * BATCH * CHAINS
        found = self.estimate(state) if self._is_due(count) else None
        record = {
            "call": len(state.batches) * BATCH,
            "objective": None if found is None else found.log,
            "standard_error": None if found is None else found.error,
            "seconds": time.perf_counter() - begin + (state.trace[-1]["seconds"] if state.trace else 0.0),
        }
        reason = f"{count:,} draws are done" if count >= self.draws else ""
        return replace(state, trace=(*state.trace, record), reason=reason)

    def _is_due(self, count: int) -> bool:
        """At the end, and before it whenever the draws have doubled: all estimates together cost twice the last."""
        doubled = math.log2(count / LEAST_DRAWS) if count >= LEAST_DRAWS else -0.5
        return count >= self.draws or doubled.is_integer()

    def estimate(self, state: DrawsState, estimator: str | None = None) -> Estimate:
        """log Z and its standard error by the draws so far, by this knob's estimator or another."""
        name = estimator or (ESTIMATORS[self.estimator] if isinstance(self.estimator, int) else self.estimator)
        z, log_p = state.draws, partial(log_landscape, state.relaxation)
        rng = np.random.default_rng((self.seed, 1))
        shift = float(state.target.model.constant) - 0.5 * z.shape[1] * np.log(2 * np.pi)
        if name == "state":
            best = descend(state.potentials, unary_argmax(state.potentials))
            logits = _logits(state.relaxation, z)
            given = logits[:, np.arange(len(best)), best] - logsumexp(logits, axis=2)
            return estimates.of_state(given.sum(1), float(state.potentials.value(best)))
        if name in ("bridge", "forward"):
            found = getattr(estimates, name)(z, log_p, rng)
        else:
            found = getattr(estimates, name)(z, log_p)
        return Estimate(found.log + shift, found.error)

    def answer(self, state: DrawsState) -> Answer:
        """Means over the draws so far, and log Z where all are done."""
        s = state.potentials.structure
        if not state.batches:
            return unknown(s)
        p = softmax(_logits(state.relaxation, state.draws), axis=2)
        flat = p.reshape(len(p), -1)
        both = (flat.T @ flat / len(flat)).reshape(s.n, s.states, s.n, s.states)
        last = next((record for record in reversed(state.trace) if record["objective"] is not None), {})
        return Answer(
            p.mean(0),
            both[s.i, :, s.j],
            last.get("objective"),
            None,
            standard_error=last.get("standard_error"),
        )


@jax.jit
def _sweeps(algorithm, target: Target, words, chains, first):
    """(chains, z[25, m, 16]) after 25 sweeps from number `first` on."""

    def one(chains, number):
        own = keys.fold_in(jax.random.wrap_key_data(words), first + number)
        chains, _ = algorithm.step_tile(own, target, chains)
        return chains, chains.z

    return jax.lax.scan(one, chains, np.arange(BATCH, dtype=np.int32))


def _model(potentials: Potentials) -> Ising | TableModel:
    s = potentials.structure
    if s.binary:
        bias, w, constant = potentials.quadratic()
        return Ising.from_edges(bias, s.i, s.j, w, constant, layout="dense")
    own = [((v,), row[:size]) for v, (row, size) in enumerate(zip(potentials.unary, s.card, strict=True))]
    pairs = zip(s.i.tolist(), s.j.tolist(), potentials.table, strict=True)
    tables = [((i, j), table[: s.card[i], : s.card[j]]) for i, j, table in pairs]
    return TableModel.of(s.card, [*own, *tables], potentials.constant)


def _logits(relaxation: Relaxation | StateRelaxation, z: Float[np.ndarray, "k m"]) -> Float[np.ndarray, "k n s"]:
    """log p(x_i = s | z) but for a constant of each i, of a map that is a matrix, in float64."""
    field = z @ np.asarray(relaxation.map.weight, np.float64).T + np.asarray(relaxation.bias, np.float64)
    if isinstance(relaxation, StateRelaxation):
        return np.where(relaxation.mask, field.reshape(len(z), *relaxation.mask.shape), -np.inf)
    return np.stack([np.zeros_like(field), field], axis=2)


def log_landscape(relaxation: Relaxation | StateRelaxation, z: Float[np.ndarray, "k m"]) -> Float[np.ndarray, " k"]:
    """log p*(z) = -z'z / 2 + sum_i log sum_s exp(field_is), softplus of two states; in float64."""
    return -0.5 * (z**2).sum(1) + logsumexp(_logits(relaxation, z), axis=2).sum(1)


__all__ = ["GaussianLogZ", "log_landscape"]

"""log Z of small complete models by estimates that bring an error bar: how large the errors are, how often they hold.

Zhang, Sutton, Storkey and Ghahramani compare mirrored importance with Chib's estimate; bridge sampling on the same
draws is beside them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pmpviz import exact
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.marginals.chib import Chib
from pmpviz.marginals.gaussian_log_z import GaussianLogZ
from pmpviz.marginals.log_z_estimates import Estimate
from pmpviz.models import Ising
from pmpviz.models.builders import dense_model
from pmpviz.oracles import Potentials
from pmpviz.types import Target

SPINS, FIELD, DRAWS, CHAINS = 10, 0.5, 4000, 16
# Of a normal law, 95 % lie within so many standard errors.
WITHIN = 1.96
GAUSSIAN = {
    "mirrored, all draws": "mirrored",
    "mirrored, split": "mirrored_split",
    "bridge": "bridge",
    "forward": "forward",
    "one state": "state",
}
CHIBS = {"Chib": "chib", "Murray and Salakhutdinov": "unbiased"}


@dataclass(frozen=True)
class Setting:
    """Largest couplings times root n, and models of each."""

    strengths: tuple[float, ...]
    models: int


FULL = Setting((0.2, 0.5, 1.0, 2.0), 50)
QUICK = Setting((0.5, 1.0), 50)


def complete(strength: float, seed: int) -> Ising:
    """Fields from U[-.5, .5] and couplings from U[-J, J] / sqrt(n), over spins."""
    rng = np.random.default_rng([seed, round(1000 * strength)])
    couplings = rng.uniform(-strength, strength, (SPINS, SPINS)) / np.sqrt(SPINS)
    return dense_model(couplings, rng.uniform(-FIELD, FIELD, SPINS))


def estimates(strength: float, seed: int) -> dict[str, tuple[float, float]]:
    """(error, standard error) of every estimate of one model's log Z."""
    target = Target.of(complete(strength, seed))
    potentials, _ = Potentials.of_target(target)
    log_z = exact.solve(target).log_z
    solver = GaussianLogZ(draws=DRAWS, seed=seed)
    drawn = _done(solver, potentials)
    found = {name: solver.estimate(drawn, estimator) for name, estimator in GAUSSIAN.items()}
    for name, estimator in CHIBS.items():
        last = _done(Chib(estimator=estimator, sweeps=DRAWS // CHAINS, seed=seed), potentials).trace[-1]
        found[name] = Estimate(last["objective"], last["standard_error"])
    return {name: (one.log - log_z, one.error) for name, one in found.items()}


def _done(solver, potentials: Potentials):
    state = solver.start(potentials)
    while not state.reason:
        state = solver.step(state)
    return state


def _one_seed(setting: Setting, seed: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for strength in setting.strengths:
        each = [estimates(strength, seed * setting.models + k) for k in range(setting.models)]
        for name in each[0]:
            error, bar = np.array([one[name] for one in each]).T
            found[f"RMSE of log Z, {name}, J = {strength:g}"] = float(np.sqrt((error**2).mean()))
            found[f"coverage of 95 %, {name}, J = {strength:g}"] = float((np.abs(error) <= WITHIN * bar).mean())
    return found


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Errors and coverage by the strength of coupling."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_one_seed(setting, seed) for seed in range(request.seeds)]
    curves = {
        name: np.array([[one[f"RMSE of log Z, {name}, J = {s:g}"] for s in setting.strengths] for one in found])
        for name in (*GAUSSIAN, *CHIBS)
    }
    figure = lines(setting.strengths, curves, "log Z of complete models of 10 spins", "J", "RMSE of log Z")
    figure.update_yaxes(type="log")
    notes = (
        f"{setting.models} models a strength, {DRAWS:,} draws each, sixteen chains; error bars by 25 batches in time, "
        "of Murray and Salakhutdinov's estimate between the chains",
        "the paper has the mirrored estimate, fitted on all draws, ahead of Chib's; a coverage far below 95 % is that "
        "of a bar that does not say how biased its estimate is",
    )
    return Outcome(rows_of(found), figure, notes)


REPRODUCTION = Reproduction(
    "dhmc-log-z",
    "Error bars of log Z",
    "50 complete models of 10 spins for each of J = .2, .5, 1, 2; 4,000 draws",
    "J = .5 and 1",
    1,
    1,
    run,
    shown="frank_wolfe?preset=error-bars",
)

__all__ = ["REPRODUCTION", "complete", "estimates"]

"""Where Gaussians win: a Hopfield model of two patterns, whose landscape has two dimensions whatever its size.

Truth is a sum over a grid of those two dimensions: the landscape is a mixture of Gaussians of unit variance, so that
half a unit between the points loses nothing that a float64 holds.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.special import expit, logsumexp

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.walks import BLOCK, Chains, Walk
from pmpviz.marginals.gaussian_log_z import log_landscape
from pmpviz.marginals.log_z_estimates import bridge
from pmpviz.models import Ising
from pmpviz.models.builders import dense_model
from pmpviz.models.gaussian import Relaxation, relax
from pmpviz.samplers.gaussian_gibbs import MAPS, GaussianGibbs
from pmpviz.samplers.gaussian_hmc import OWN_MAPS, GaussianHMC
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Target

FIELD, SPACING, AROUND, ROWS = 0.01, 0.5, 8.0, 2000
# Draws of the landscape that log Z is estimated by.
DRAWS = 8000


@dataclass(frozen=True)
class Setting:
    """Spins, inverse temperatures, chains, sweeps before the first that counts, and CPU seconds of each method."""

    spins: int
    betas: tuple[float, ...]
    chains: int
    burn_in: int
    seconds: float


FULL = Setting(900, (0.9, 0.95, 1.0, 1.05), 64, 200, 4.0)
QUICK = Setting(900, (0.95, 1.0, 1.05), 64, 100, 0.8)


def hopfield(spins: int, beta: float, seed: int) -> Ising:
    """J = beta / n sum of xi xi' over two random patterns without overlap, which differ in half of the spins."""
    rng = np.random.default_rng(seed)
    first = rng.choice([-1.0, 1.0], spins)
    second = first * rng.permutation(np.where(np.arange(spins) < spins // 2, 1.0, -1.0))
    return dense_model(beta / spins * (np.outer(first, first) + np.outer(second, second)), np.full(spins, FIELD))


@dataclass(frozen=True, eq=False)
class Truth:
    """The relaxation to two dimensions, log Z, and p(x_i = 1)."""

    relaxation: Relaxation
    log_z: float
    p1: Float[np.ndarray, " n"]

    @property
    def largest(self) -> float:
        """lambda_1(W + D): that of B'B."""
        b = np.asarray(self.relaxation.map.weight, np.float64)
        return float(np.linalg.eigvalsh(b.T @ b)[-1])

    @classmethod
    def of(cls, target: Target) -> Truth:
        """By the grid's points."""
        relaxation = relax(target, "low_rank")
        assert isinstance(relaxation, Relaxation)
        b, bias = (np.asarray(part, np.float64) for part in (relaxation.map.weight, relaxation.bias))
        # B's lies between the sums of B's negative and of its positive entries.
        sides = [
            np.arange(low - AROUND, high + AROUND, SPACING)
            for low, high in zip(np.minimum(b, 0).sum(0), np.maximum(b, 0).sum(0), strict=True)
        ]
        z = np.stack(np.meshgrid(*sides, indexing="ij"), -1).reshape(-1, b.shape[1])
        log = np.concatenate([log_landscape(relaxation, z[k : k + ROWS]) for k in range(0, len(z), ROWS)])
        weight = np.exp(log - logsumexp(log))
        heavy = weight > 1e-14
        p1 = weight[heavy] @ expit(z[heavy] @ b.T + bias)
        log_z = float(logsumexp(log)) + b.shape[1] * np.log(SPACING)
        return cls(relaxation, log_z + constant(target, b.shape[1]), p1)


def constant(target: Target, m: int) -> float:
    """What log Z is above the integral of the landscape."""
    return float(target.model.constant) - 0.5 * m * np.log(2 * np.pi)


METHODS: dict[str, tuple[Any, tuple[str, ...], bool]] = {
    "Gibbs, frequencies": (Gibbs(), (), False),
    "Gibbs, conditionals": (Gibbs(), (), True),
    "block Gibbs": (GaussianGibbs(map=MAPS.index("low_rank"), eps=0.0), (), True),
    "HMC": (GaussianHMC(map=OWN_MAPS.index("low_rank"), eps=0.0, leapfrog_steps=3), ("z",), True),
}


def walks(name: str, target: Target, seeds: int, setting: Setting) -> list[Walk]:
    """One a seed, of as many sweeps as the CPU seconds are enough for by the pace that was met; at least one block."""
    algorithm, kept, rao_blackwell = METHODS[name]
    begun = [
        Chains.begun(algorithm, target, seed, setting.chains, setting.burn_in, kept, rao_blackwell)
        for seed in range(seeds)
    ]
    sweeps = max(BLOCK, round(setting.seconds / begun[0].pace() / BLOCK) * BLOCK)
    return [chains.walk(sweeps) for chains in begun]


def log_z(target: Target, truth: Truth, walk: Walk, seed: int) -> float:
    """By bridge sampling, of at most 8,000 draws spread over the walk."""
    assert walk.z is not None
    z = walk.z.reshape(-1, walk.z.shape[-1]).astype(np.float64)
    z = z[:: -(-len(z) // DRAWS)]
    found = bridge(z, partial(log_landscape, truth.relaxation), np.random.default_rng(seed))
    return found.log + constant(target, z.shape[1])


def _at(setting: Setting, beta: float, seeds: int) -> list[dict[str, float]]:
    """What is found at one temperature, a mapping a seed."""
    target = Target.of(hopfield(setting.spins, beta, 0))
    truth, at = Truth.of(target), f"beta = {beta:g}"
    found: list[dict[str, float]] = [{f"largest eigenvalue of W + D, {at}": truth.largest} for _ in range(seeds)]
    for name in METHODS:
        for seed, walk in enumerate(walks(name, target, seeds, setting)):
            error = np.sqrt(((walk.expected.mean((0, 1)) - truth.p1) ** 2).mean())
            found[seed] |= {_error(name, beta): float(error), f"CPU seconds, {name}, {at}": walk.seconds}
            found[seed][f"sweeps of {setting.chains} chains, {name}, {at}"] = walk.sweeps
            if walk.z is not None:
                found[seed][f"error of log Z, {name}, {at}"] = abs(log_z(target, truth, walk, seed) - truth.log_z)
    return found


def ratio(found: list[dict[str, float]], beta: float, against: str) -> float:
    """The median over the seeds of HMC's RMSE, over the median of another method's."""
    return float(np.divide(*(np.median([one[_error(name, beta)] for one in found]) for name in ("HMC", against))))


def _error(name: str, beta: float) -> str:
    return f"RMSE of marginals, {name}, beta = {beta:g}"


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Errors of the marginals at equal CPU time, around the temperature at which the landscape's hill parts."""
    setting = setting or (QUICK if request.quick else FULL)
    parts = [_at(setting, beta, request.seeds) for beta in setting.betas]
    found = [reduce(operator.or_, of_a_seed) for of_a_seed in zip(*parts, strict=True)]
    ratios = {
        f"HMC's RMSE over that of {against}, medians, beta = {beta:g}": ratio(found, beta, against)
        for beta in setting.betas
        for against in list(METHODS)[:3]
    }
    curves = {
        name: np.array([[one[_error(name, beta)] for beta in setting.betas] for one in found]) for name in METHODS
    }
    figure = lines(setting.betas, curves, "Hopfield model of two patterns, equal CPU time", "beta", "RMSE", log_x=False)
    figure.update_yaxes(type="log")
    notes = (
        f"{setting.spins} spins, two patterns without overlap, a field of {FIELD} on every spin; truth by quadrature",
        f"{setting.seconds:g} CPU seconds a method, {setting.chains} chains from random starts, "
        f"{setting.burn_in} sweeps before the first that counts; a sweep of HMC is a trajectory of 1 to 5 steps",
        "neither paper has this model; one Gaussian a pattern is what makes the relaxation cheap",
        "log Z by bridge sampling on HMC's draws; the patterns are the same for all seeds",
    )
    return Outcome((*rows_of(found), *rows_of([ratios])), figure, notes)


REPRODUCTION = Reproduction(
    "hopfield",
    "A Hopfield model of two patterns, its landscape of two dimensions",
    "900 spins, beta = .9, .95, 1, 1.05, 64 chains, 4 CPU seconds a method",
    "beta = .95, 1, 1.05, .8 CPU seconds a method",
    4,
    4,
    run,
    shown="landscape?preset=hopfield",
)

__all__ = ["REPRODUCTION", "Truth", "hopfield", "log_z", "ratio"]

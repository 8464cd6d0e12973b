"""Hazan, Maji and Jaakkola: marginals of spin glass grids from MAP perturbations, and the unbiased sampler's price."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pmpviz import exact
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.marginals.perturbation import clamped_marginals, perturbed_maxima
from pmpviz.models import Ising
from pmpviz.models.builders import lattice_model
from pmpviz.models.topologies import lattice
from pmpviz.oracles import Potentials
from pmpviz.oracles.perturbed import gumbels
from pmpviz.samplers.unbiased import MAX_LOG_STATES, Prefixes
from pmpviz.types import Target

METHODS = ("perturb-and-MAP", "ratios of expected maxima", "unbiased sampler")


@dataclass(frozen=True)
class Setting:
    """Side of the grid that marginals are compared on and of the one that prefixes are listed on; couplings from
    U[-c, c] for each c; grids a strength, and of the large ones those with ratios, which take a MAP call a clamp and
    perturbation; perturbations, which is also the number of draws."""

    side: int
    small: tuple[int, int]
    strengths: tuple[float, ...]
    grids: int
    ratios: int
    draws: int


FULL = Setting(8, (3, 4), (0.5, 1.0, 1.5, 2.0, 2.5, 3.0), 20, 4, 500)
QUICK = Setting(5, (3, 4), (0.5, 1.0, 2.0, 3.0), 4, 1, 300)


def glass(shape: tuple[int, int], strength: float, seed: int) -> Ising:
    """An open grid in the spin form, fields from U[-1, 1] and couplings from U[-strength, strength]."""
    rng = np.random.default_rng([*shape, round(1000 * strength), seed])
    shifts, present = lattice("square", shape, periodic=False)
    couplings = np.where(present, rng.uniform(-strength, strength, present.shape), 0.0)
    return lattice_model(shifts, present, couplings, rng.uniform(-1, 1, shape[0] * shape[1]))


def marginal_errors(
    shape: tuple[int, int], strength: float, seed: int, draws: int, ratios: bool = True
) -> dict[str, float]:
    """Mean |p(x_i = 1) - exact| of frequencies of argmaxes and of `ratios`; the unbiased sampler's where all states can
    be listed."""
    target = Target.of(glass(shape, strength, seed))
    potentials, _ = Potentials.of_target(target)
    noise = gumbels(np.random.default_rng([1, seed]), draws, potentials.structure)
    truth = exact.solve(target)
    assert truth.p1 is not None
    maxima = perturbed_maxima(potentials, noise)
    found = {METHODS[0]: float(np.abs(maxima.marginals(potentials).marginals[:, 1] - truth.p1).mean())}
    found["bound less log Z"] = float(maxima.value.mean()) - truth.log_z
    if ratios:
        found[METHODS[1]] = float(np.abs(clamped_marginals(potentials, noise).marginals[:, 1] - truth.p1).mean())
    if potentials.n <= MAX_LOG_STATES:
        found |= _unbiased(potentials, noise, truth.p1, seed)
    return found


def _unbiased(potentials: Potentials, noise: np.ndarray, p1: np.ndarray, seed: int) -> dict[str, float]:
    """Error of as many accepted draws, the share of attempts accepted and the one foretold, and violated bounds."""
    prefixes, rng = Prefixes.of(potentials, noise), np.random.default_rng([2, seed])
    accepted, attempts, draws = np.zeros((0,), np.int64), 0, len(noise)
    while len(accepted) < draws:
        depth, place = prefixes.attempt(rng.random((draws, potentials.n)))
        accepted, attempts = np.concatenate([accepted, place[depth == potentials.n]]), attempts + draws
    states = (accepted[:draws, None] >> np.arange(potentials.n)[::-1]) & 1
    return {
        METHODS[2]: float(np.abs(states.mean(0) - p1).mean()),
        "accepted": len(accepted) / attempts,
        "Z / exp(U(root))": prefixes.acceptance,
        "share of bounds violated before repair": prefixes.violations / prefixes.total,
    }


def _one_seed(setting: Setting, seed: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for shape in ((setting.side, setting.side), setting.small):
        for strength in setting.strengths:
            numbers = range(seed * setting.grids, (seed + 1) * setting.grids)
            most = setting.grids if shape == setting.small else setting.ratios
            grids = [marginal_errors(shape, strength, k, setting.draws, i < most) for i, k in enumerate(numbers)]
            words = f"{shape[0]} x {shape[1]}, couplings up to {strength:g}"
            for name in grids[0]:
                found[f"{_quantity(name)}, {words}"] = float(np.mean([one[name] for one in grids if name in one]))
    return found


def _quantity(name: str) -> str:
    return f"error of marginals, {name}" if name in METHODS else name


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Marginal errors and acceptance against the strength of coupling."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_one_seed(setting, seed) for seed in range(request.seeds)]
    small = f"{setting.small[0]} x {setting.small[1]}"
    series = {f"{name}, {small}": f"error of marginals, {name}, {small}" for name in METHODS}
    large = f"{setting.side} x {setting.side}"
    series |= {f"{name}, {large}": f"error of marginals, {name}, {large}" for name in METHODS[:2]}
    series |= {f"{name}, {small}": f"{name}, {small}" for name in ("accepted", "Z / exp(U(root))")}
    curves = {
        label: np.array([[one[f"{head}, couplings up to {c:g}"] for c in setting.strengths] for one in found])
        for label, head in series.items()
    }
    title = "Hazan, Maji and Jaakkola: spin glass grids"
    figure = lines(setting.strengths, curves, title, "couplings up to", "error, share", log_x=False)
    notes = (
        f"{setting.grids} grids a strength, {setting.draws} perturbations or draws; fields up to 1; marginals' errors "
        "are means of |p(x_i = 1) - exact|",
        "the poster shows its marginals and the sampler's cost as pictures only",
        f"the unbiased sampler has all states listed: on the {small} grids only; ratios ask the MAP oracle on {large}, "
        f"on {setting.ratios} of the grids",
    )
    return Outcome(rows_of(found), figure, notes)


REPRODUCTION = Reproduction(
    "hmj-spin-glass",
    "Marginals of spin glass grids from MAP perturbations",
    "8 x 8 and 3 x 4 open grids, fields from U[-1, 1], couplings from U[-c, c] with c from 0.5 to 3, 20 grids each "
    "(ratios on 4 of the large ones), 500 perturbations",
    "5 x 5 and 3 x 4 grids, 4 of each strength, 300 perturbations",
    1,
    1,
    run,
    shown="frank_wolfe?preset=ratios",
)

"""Hazan, Maji and Jaakkola: what the unbiased sampler costs as models grow, with listed states and by a MAP oracle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pmpviz import exact
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.spin_glass import glass
from pmpviz.marginals.perturbation import perturbed_maxima
from pmpviz.oracles import Potentials
from pmpviz.oracles.perturbed import gumbels
from pmpviz.samplers.unbiased import MAX_LOG_STATES, REPAIRS, Prefixes
from pmpviz.types import Target

STRENGTH = 1.0
ROOT = "acceptance by the root's bound"


@dataclass(frozen=True)
class Setting:
    """Sides of the grids; grids a size, perturbations a grid, and attempts that a MAP oracle makes on each grid of at
    most `asked` variables."""

    sides: tuple[tuple[int, int], ...]
    grids: int
    bank: int
    attempts: int
    asked: int


FULL = Setting(((2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (5, 5), (6, 6), (8, 8), (10, 10)), 10, 300, 50, 25)
QUICK = Setting(((2, 2), (2, 3), (3, 3), (3, 4), (4, 4), (5, 5), (6, 6)), 4, 200, 10, 12)


def attempt(potentials: Potentials, noise: Float[np.ndarray, "m n k"], u: Float[np.ndarray, " n"]) -> tuple[bool, int]:
    """(whether one attempt of Algorithm 1 is accepted, how many of its steps broke the bound) by MAP calls alone.

    U_hat(x_1..x_j) is the mean over the bank of max over the rest of theta(x) + sum_{i > j} gamma_i(x_i), asked from
    the exact oracle where it is needed, so that no table of states is made. A broken bound, sum_k exp U_hat(child) >
    exp U_hat(prefix), cannot be known before it is met: such a step is normalised, and the sampler is then approximate.
    """
    free, broken = noise.copy(), 0
    own, held = expected_maximum(potentials, free), potentials
    for i, states in enumerate(potentials.structure.card):
        free[:, i] = 0.0
        children = np.array([expected_maximum(clamped(held, i, k), free) for k in range(states)])
        p = np.exp(children - own)
        broken += bool(p.sum() > 1 + 1e-9)
        below = np.cumsum(p / max(p.sum(), 1.0))
        chosen = int((u[i] >= below).sum())
        if chosen == states:
            return False, broken
        own, held = children[chosen], clamped(held, i, chosen)
    return True, broken


def expected_maximum(potentials: Potentials, noise: Float[np.ndarray, "m n k"]) -> float:
    """Mean over the bank of the perturbed maxima, by the exact oracle."""
    return float(perturbed_maxima(potentials, noise).value.mean())


def clamped(potentials: Potentials, site: int, state: int) -> Potentials:
    """The same with a penalty on a site's other states that nothing outweighs."""
    s, unary = potentials.structure, potentials.unary.copy()
    own = (s.i == site) | (s.j == site)
    unary[site] -= 1.0 + 2 * float(np.abs(potentials.table[own]).sum() + np.abs(unary[site]).sum())
    unary[site, state] = potentials.unary[site, state]
    return potentials.with_values(unary)


def of_grid(shape: tuple[int, int], setting: Setting, seed: int) -> dict[str, float]:
    """Acceptances of one grid: as the root's bound says, as listed prefixes say, and by the oracle's attempts."""
    target, n = Target.of(glass(shape, STRENGTH, seed)), shape[0] * shape[1]
    potentials, _ = Potentials.of_target(target)
    noise = gumbels(np.random.default_rng([3, seed]), setting.bank, potentials.structure)
    log_z = exact.log_z_only(target)
    assert log_z is not None
    found = {ROOT: float(np.exp(log_z - expected_maximum(potentials, noise)))}
    if n <= MAX_LOG_STATES:
        found |= {f"acceptance, repair {way}": Prefixes.of(potentials, noise, way).acceptance for way in REPAIRS}
    if n <= setting.asked:
        rng = np.random.default_rng([4, seed])
        tried = [attempt(potentials, noise, rng.random(n)) for _ in range(setting.attempts)]
        found["accepted by the MAP oracle's attempts"] = float(np.mean([ok for ok, _ in tried]))
        found["steps of an attempt that break a bound"] = float(np.mean([broken for _, broken in tried]))
    return found


def growth(sizes: np.ndarray, cost: np.ndarray) -> float:
    """The power a of the fit log(1 / acceptance) = c n^a: below 1 the cost is sub-exponential."""
    return float(np.polyfit(np.log(sizes), np.log(cost), 1)[0])


def _one_seed(setting: Setting, seed: int) -> dict[str, float]:
    found: dict[str, float] = {}
    cost = []
    for shape in setting.sides:
        grids = [of_grid(shape, setting, k) for k in range(seed * setting.grids, (seed + 1) * setting.grids)]
        words = f"{shape[0]} x {shape[1]}"
        found |= {f"{name}, {words}": float(np.mean([one[name] for one in grids])) for name in grids[0]}
        cost.append(-np.mean(np.log([one[ROOT] for one in grids])))
    sizes, half = np.array([a * b for a, b in setting.sides]), len(cost) // 2
    found["power of n in log(1 / acceptance)"] = growth(sizes, np.array(cost))
    found["the same of the larger half of the sizes"] = growth(sizes[half:], np.array(cost[half:]))
    return found


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Acceptance against the number of variables."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_one_seed(setting, seed) for seed in range(request.seeds)]
    sizes = [a * b for a, b in setting.sides]
    curve = np.array([[one[f"{ROOT}, {a} x {b}"] for a, b in setting.sides] for one in found])
    figure = lines(sizes, {ROOT: curve}, "Hazan, Maji and Jaakkola: the unbiased sampler", "variables", "acceptance")
    figure.update_yaxes(type="log")
    notes = (
        f"{setting.grids} open grids a size, fields up to 1 and couplings up to {STRENGTH:g}, {setting.bank} "
        "perturbations; an attempt is accepted with probability Z / exp(U(root)), and U of repaired bounds is larger",
        "the poster says that the cost is sub-exponential, by a picture only: that is a power below 1 (one variable "
        "costs nothing, so that the power falls towards 1 as models grow where every variable costs the same share)",
        f"a MAP oracle needs no list of states, but cannot repair: {setting.attempts} attempts a grid of at most "
        f"{setting.asked} variables",
    )
    return Outcome(rows_of(found), figure, notes)


REPRODUCTION = Reproduction(
    "hmj-acceptance",
    "Acceptance of the unbiased sampler as models grow",
    "open grids from 2 x 2 to 10 x 10, ten a size, 300 perturbations; attempts by a MAP oracle up to 5 x 5",
    "up to 6 x 6, four a size, 200 perturbations; attempts by a MAP oracle up to 3 x 4",
    1,
    1,
    run,
    shown="perturbation_lab?preset=clique",
)

__all__ = ["REPRODUCTION"]

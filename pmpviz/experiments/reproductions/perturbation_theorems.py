"""Hazan, Maji and Jaakkola's two theorems: pairwise perturbations on trees, and bounds that reduce themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pmpviz import exact
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.spin_glass import glass
from pmpviz.marginals.tree_perturbation import tree_pair
from pmpviz.models import build_spec
from pmpviz.oracles import Potentials
from pmpviz.oracles.perturbed import gumbels
from pmpviz.samplers.unbiased import Prefixes
from pmpviz.types import Target

TREE = "tree:{n},couplings=gaussian,sigma=1,field=random,h=1,seed={seed}"
GRID, STRENGTH = (3, 3), 1.0
# The theorem's promise holds on every edge and state alike with this probability.
SURE = 0.95


@dataclass(frozen=True)
class Setting:
    """Variables of the trees, copies of each, draws of the perturbation; sizes of the noise bank, and grids."""

    trees: tuple[int, ...]
    copies: tuple[int, ...]
    draws: int
    banks: tuple[int, ...]
    grids: int


FULL = Setting((7, 15, 31), (1, 4, 16, 64, 256), 4000, (30, 100, 300, 1000, 3000, 10_000), 10)
QUICK = Setting((7, 15), (1, 4, 16, 64), 1000, (30, 100, 300, 1000), 3)


def tree_errors(n: int, copies: tuple[int, ...], draws: int, seed: int) -> dict[int, float]:
    """max |log P(x_r, x_s) - log p(x_r, x_s)| of the first edge, by the number of copies of every other variable."""
    target = Target.of(build_spec(TREE.format(n=n, seed=seed)))
    potentials, _ = Potentials.of_target(target)
    pairs = exact.solve(target).pair_marginals
    assert pairs is not None
    marginal = pairs(np.stack([potentials.structure.i[:1], potentials.structure.j[:1]], 1))[0]
    rng = np.random.default_rng([5, n, seed])
    return {m: tree_pair(potentials, 0, m, draws, rng).error(marginal) for m in copies}


def promised(n: int, copies: int, states: int = 2) -> float:
    """epsilon n such that all n - 2 inflated edges and states keep to it together with probability `SURE`, from
    1 - pi^2 / (6 m epsilon^2) for each."""
    return n * float(np.sqrt(np.pi**2 * (n - 2) * states / (6 * copies * (1 - SURE))))


def bounds(bank: int, seed: int) -> dict[str, float]:
    """Of one grid: the share of prefixes whose children's averages exceed their own, and by how much at most."""
    potentials, _ = Potentials.of_target(Target.of(glass(GRID, STRENGTH, seed)))
    noise = gumbels(np.random.default_rng([6, seed]), bank, potentials.structure)
    found = Prefixes.of(potentials, noise)
    return {"share of prefixes that break the bound": found.violations / found.total, "largest excess": found.margin}


def _one_seed(setting: Setting, seed: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for n in setting.trees:
        for m, error in tree_errors(n, setting.copies, setting.draws, seed).items():
            found[f"tree of {n}, {m} copies: error of log p(x_r, x_s)"] = error
            found[f"tree of {n}, {m} copies: error promised"] = promised(n, m)
    for bank in setting.banks:
        grids = [bounds(bank, seed * setting.grids + k) for k in range(setting.grids)]
        found |= {f"{name}, bank of {bank}": float(np.mean([one[name] for one in grids])) for name in grids[0]}
    return found


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Errors against the copies, and broken bounds against the bank."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_one_seed(setting, seed) for seed in range(request.seeds)]
    curves = {
        f"tree of {n}": np.array(
            [[one[f"tree of {n}, {m} copies: error of log p(x_r, x_s)"] for m in setting.copies] for one in found]
        )
        for n in setting.trees
    }
    title = "Hazan, Maji and Jaakkola: trees"
    figure = lines(setting.copies, curves, title, "copies of every variable", "error of log p")
    figure.update_yaxes(type="log")
    notes = (
        f"trees: {setting.draws} draws, couplings of variance 1; the error promised is epsilon n of the theorem with a "
        f"probability of {SURE:g} over all edges and states, with pi^2 where the poster prints pi",
        f"bounds: {setting.grids} open {GRID[0]} x {GRID[1]} grids, couplings up to {STRENGTH:g}; they hold for "
        "expectations, and are met with equality at the last variable: averages over a bank break about half of those "
        "however large it is, by less and less",
        "the poster proves both, and gives no figures",
        "the bounds of all prefixes of one grid are to be watched at /perturbation_lab?preset=prefixes",
    )
    return Outcome(rows_of(found), figure, notes)


REPRODUCTION = Reproduction(
    "hmj-theorems",
    "Pairwise perturbations on trees, and self-reducing bounds",
    "balanced trees of 7, 15 and 31 variables, 1 to 256 copies, 4000 draws; 3 x 3 grids, banks of 30 to 10,000",
    "trees of 7 and 15, 1 to 64 copies, 1000 draws; banks of 30 to 1000",
    3,
    1,
    run,
    shown="frank_wolfe?preset=tree-theorem",
)

__all__ = ["REPRODUCTION"]

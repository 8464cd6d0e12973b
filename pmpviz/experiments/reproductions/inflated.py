"""Hazan and Jaakkola's perturbed maxima on inflated graphs: which copies tighten the bound on log Z, and which end it.

Barrier Frank-Wolfe compares with "MAP estimates obtained on randomly perturbed inflated graphs". The code published
with it can inflate a graph, all copies joined with all, and makes the figures without: one copy, the bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy

from pmpviz import exact
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.instances import cliques
from pmpviz.experiments.reproductions.perturbation_theorems import TREE
from pmpviz.experiments.reproductions.spin_glass import glass
from pmpviz.marginals import make_solver, stream
from pmpviz.marginals.inflation import independent
from pmpviz.models import build_spec
from pmpviz.oracles import Potentials
from pmpviz.oracles.perturbed import gumbels, table_of
from pmpviz.types import Target

ONE_SIDE, ALL, TREES = "one side", "all", "tree"
WORDS = {ONE_SIDE: "one side copied", ALL: "all copied, all joined", TREES: "tree theorem"}
MEAN_FIELD_STARTS, MEAN_FIELD_SWEEPS = 100, 300
# Where states are listed perturbations cost little: so many times as many.
ENDLESS = 10


@dataclass(frozen=True)
class Setting:
    """Models a kind, perturbations, and the numbers of copies on graphs and on cliques, whose shares take m + 1 states
    a variable and so are few."""

    models: int
    perturbations: int
    copies: tuple[int, ...]
    few: tuple[int, ...]


FULL = Setting(5, 2000, (1, 2, 4, 8, 16), (1, 2, 3))
QUICK = Setting(2, 500, (1, 2, 4, 8), (1, 2))


def families(setting: Setting, seed: int) -> Mapping[str, list[Target]]:
    """Trees, open grids weak and strong, and the paper's cliques."""
    numbers = range(seed * setting.models, (seed + 1) * setting.models)
    grids = {f"3 x 3, couplings up to {c:g}": [Target.of(glass((3, 3), c, k)) for k in numbers] for c in (1.0, 3.0)}
    trees = {"tree of 7": [Target.of(build_spec(TREE.format(n=7, seed=k))) for k in numbers]}
    of_ten = {f"ten-node clique, theta {c:g}": [each.target for each in cliques(c, setting.models)] for c in (1.0, 4.0)}
    return trees | grids | of_ten


def product_law(potentials: Potentials, rng: np.random.Generator) -> float:
    """max over product laws of <theta, q> + sum_i H(q_i), naive mean field's bound below log Z, by coordinate ascent
    from many starts: what all copies joined tend to."""
    bias, w, constant = potentials.quadratic()
    s, n = potentials.structure, potentials.n
    weight = np.zeros((n, n))
    weight[s.i, s.j] = weight[s.j, s.i] = w
    q = rng.random((MEAN_FIELD_STARTS, n))
    for _ in range(MEAN_FIELD_SWEEPS):
        for v in range(n):
            q[:, v] = scipy.special.expit(bias[v] + q @ weight[v])
    entropy = scipy.special.entr(q).sum(1) + scipy.special.entr(1 - q).sum(1)
    return float((q @ bias + ((q @ weight) * q).sum(1) / 2 + entropy).max()) + constant


def endless(potentials: Potentials, perturbations: int, rng: np.random.Generator) -> float:
    """E max_{x_A} log sum_{x_B} exp theta + gamma_A: one side in infinitely many copies."""
    alone = independent(potentials.structure)
    noise = gumbels(rng, perturbations, potentials.structure)
    table = scipy.special.logsumexp(table_of(potentials), tuple(np.flatnonzero(alone).tolist())).ravel()
    kept = np.flatnonzero(~alone)
    states = np.array(np.unravel_index(np.arange(len(table)), (2,) * len(kept))).T
    return float((table + noise[:, kept[:, None], states.T].sum(1)).max(1).mean())


def of_model(target: Target, ways: tuple[str, ...], copies: tuple[int, ...], setting: Setting) -> dict[str, float]:
    """Mean maximum less log Z and error of the marginals by way and number of copies, and where the ways end."""
    potentials, _ = Potentials.of_target(target)
    truth, found = exact.solve(target), {}
    assert truth.p1 is not None
    for way in ways:
        for count in copies:
            solver = make_solver("inflated_maxima", inflation=way, copies=count, perturbations=setting.perturbations)
            *_, state = stream(solver, potentials)
            answer, words = solver.answer(state), f"{WORDS[way]}, {count}"
            value = answer.log_z if answer.mean_maximum is None else answer.mean_maximum
            assert value is not None
            found[f"{words}: mean maximum - log Z"] = value - truth.log_z
            found[f"{words}: L1"] = float(np.abs(answer.unary[:, 1] - truth.p1).mean())
    rng = np.random.default_rng(0)
    found[f"{WORDS[ONE_SIDE]}, without end: mean maximum - log Z"] = (
        endless(potentials, ENDLESS * setting.perturbations, rng) - truth.log_z
    )
    found[f"{WORDS[ALL]}, without end (mean field): value - log Z"] = product_law(potentials, rng) - truth.log_z
    return found


def _one_seed(setting: Setting, seed: int) -> dict[str, float]:
    found: dict[str, float] = {}
    for kind, targets in families(setting, seed).items():
        ways = (ONE_SIDE, ALL, TREES) if kind.startswith("tree") else (ONE_SIDE, ALL)
        copies = setting.few if "clique" in kind else setting.copies
        each = [of_model(target, ways, copies, setting) for target in targets]
        found |= {f"{kind}, {name}": float(np.mean([one[name] for one in each])) for name in each[0]}
    return found


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Mean maxima less log Z against the copies."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_one_seed(setting, seed) for seed in range(request.seeds)]
    curves = {
        f"{kind}, {WORDS[way]}": np.array(
            [[one[f"{kind}, {WORDS[way]}, {m}: mean maximum - log Z"] for m in setting.copies] for one in found]
        )
        for kind in ("tree of 7", "3 x 3, couplings up to 1", "3 x 3, couplings up to 3")
        for way in ((ONE_SIDE, ALL, TREES) if kind.startswith("tree") else (ONE_SIDE, ALL))
    }
    title = "Perturbed maxima on inflated graphs"
    figure = lines(setting.copies, curves, title, "copies", "mean maximum - log Z")
    notes = (
        f"{setting.models} models a kind, {setting.perturbations:,} perturbations, exact maxima; one copy is the bound "
        "that Barrier Frank-Wolfe compares with",
        f"{WORDS[ONE_SIDE]}: variables that do not interact; it stays a bound and falls with the copies",
        f"{WORDS[ALL]}: as the inflated graph of the code published with Barrier Frank-Wolfe, whose figures do not use "
        "it; it falls through log Z to naive mean field's value: beyond one copy it promises no bound",
        f"{WORDS[TREES]}: Hazan, Maji and Jaakkola's pairwise noise and copies behind each other, which end at log Z; "
        "noise on every edge starts higher than noise on every variable",
        "the paper says only that perturbed maxima do well in log Z and worse in the marginals than Frank-Wolfe",
    )
    return Outcome(rows_of(found), figure, notes)


REPRODUCTION = Reproduction(
    "hj-inflated",
    "Hazan and Jaakkola's perturbed maxima on inflated graphs",
    "five trees of 7, 3 x 3 grids of two strengths and ten-node cliques of two; 1 to 16 copies (cliques 3), 2,000 "
    "perturbations",
    "two models a kind, 1 to 8 copies (cliques 2), 500 perturbations",
    1,
    1,
    run,
    shown="frank_wolfe?preset=inflated",
)

__all__ = ["REPRODUCTION"]

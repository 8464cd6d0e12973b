"""Models of the kinds of the UAI inference competitions, and what each method says of them within a minute.

Noisy-or networks (diagnosis), linkage-like pedigrees with zeros, segmentations of 21 states, grids with and without
zeros: drawn anew by their recipes, not the competition's own files.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Int

from pmpviz import exact
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, Row
from pmpviz.experiments.reproductions.figures import bars
from pmpviz.marginals import infer, make_solver
from pmpviz.marginals.anytime import BY_HAND, Limit
from pmpviz.models.tables import Factor, TableModel
from pmpviz.types import Evidence, Exact, Refusal, Target

METHODS = {"BP": "bp", "TRBP": "trbp", "Frank-Wolfe": "barrier_frank_wolfe"}
SEGMENTS = 21


@dataclass(frozen=True)
class Setting:
    """Targets by name, and the limit of each method in seconds."""

    targets: dict[str, Callable[[], Target]]
    seconds: float


def noisy_or(diseases: int, findings: int, parents: int, seed: int) -> Target:
    """p(finding = 0 | its parents) = .99 prod q_i^{x_i}, q ~ U[.1, .9], p(disease) = .1; all findings are observed, a
    fifth of them positive."""
    rng = np.random.default_rng(seed)
    factors: list[Factor] = [((v,), np.log([0.9, 0.1])) for v in range(diseases)]
    present = np.indices((2,) * parents)
    for finding in range(diseases, diseases + findings):
        q = rng.uniform(0.1, 0.9, parents).reshape(-1, *(1,) * parents)
        none = 0.99 * np.prod(np.where(present == 1, q, 1.0), axis=0)
        scope = (*rng.choice(diseases, parents, replace=False).tolist(), finding)
        factors.append((scope, np.log(np.stack([none, 1.0 - none], -1))))
    n = diseases + findings
    positive = {v: int(rng.random() < 0.2) for v in range(diseases, n)}
    return Target.of(TableModel.of((2,) * n, factors), Evidence.of(n, positive))


def linkage(people: int, alleles: int, seed: int) -> Target:
    """A pedigree: a founder's two alleles are drawn, a child's copied from one of each parent's two, chosen by a
    selector; most people's phenotype, whether they carry allele 0, is observed."""
    rng = np.random.default_rng(seed)
    card: list[int] = []
    factors: list[Factor] = []
    x: list[int] = []
    own: list[tuple[int, int]] = []

    def add(states: int, value: int) -> int:
        card.append(states)
        x.append(value)
        return len(card) - 1

    copied = np.zeros((2, alleles, alleles, alleles))
    for a, b in np.ndindex(alleles, alleles):
        copied[0, a, b, a] = copied[1, a, b, b] = 1.0
    carries = np.zeros((alleles, alleles, 2))
    carries[..., 1] = np.add.outer(np.arange(alleles) == 0, np.arange(alleles) == 0) > 0
    carries[..., 0] = 1.0 - carries[..., 1]
    observed: dict[int, int] = {}
    for person in range(people):
        pair = []
        parents = rng.choice(person, 2, replace=False) if person >= max(people // 5, 2) else (None, None)
        for parent in parents:
            if parent is None:
                share = rng.dirichlet(np.ones(alleles))
                pair.append(add(alleles, int(rng.choice(alleles, p=share))))
                factors.append(((pair[-1],), np.log(share)))
                continue
            selector = add(2, int(rng.integers(2)))
            pair.append(add(alleles, x[own[parent][x[selector]]]))
            factors += [((selector,), np.log([0.5, 0.5])), ((selector, *own[parent], pair[-1]), _log(copied))]
        own.append((pair[0], pair[1]))
        phenotype = add(2, int(0 in (x[pair[0]], x[pair[1]])))
        factors.append(((*pair, phenotype), _log(carries)))
        if rng.random() < 0.6:
            observed[phenotype] = x[phenotype]
    return Target.of(TableModel.of(tuple(card), factors), Evidence.of(len(card), observed))


def segmentation(height: int, width: int, seed: int) -> Target:
    """Superpixels of 21 labels: N(0, 4) unaries, costs U[.5, 2] (1 + C) of different neighbours, C symmetric."""
    rng = np.random.default_rng(seed)
    cost = rng.uniform(0, 1, (SEGMENTS, SEGMENTS))
    unlike = np.where(np.eye(SEGMENTS) > 0, 0.0, 1.0 + cost + cost.T)
    factors: list[Factor] = [((v,), rng.normal(0, 2, SEGMENTS)) for v in range(height * width)]
    factors += [(edge, -rng.uniform(0.5, 2) * unlike) for edge in _edges(height, width)]
    return Target.of(TableModel.of((SEGMENTS,) * (height * width), factors))


def grid(side: int, zeros: float, seed: int) -> Target:
    """N(0, 1) fields; couplings U[-2, 2], or tables of logs of U[.1, 1] with a share of `zeros` that one configuration
    drawn beforehand avoids."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, side * side)
    factors: list[Factor] = [((v,), rng.normal(size=2)) for v in range(side * side)]
    for a, b in _edges(side, side):
        table = rng.uniform(-2, 2) * np.array([[1.0, -1.0], [-1.0, 1.0]])
        if zeros:
            held = np.where(rng.random((2, 2)) < zeros, 0.0, rng.uniform(0.1, 1, (2, 2)))
            held[x[a], x[b]] = rng.uniform(0.1, 1)
            table = _log(held)
        factors.append(((a, b), table))
    return Target.of(TableModel.of((2,) * (side * side), factors))


def _edges(height: int, width: int) -> Iterator[tuple[int, int]]:
    site: Int[np.ndarray, "h w"] = np.arange(height * width).reshape(height, width)
    for line in (*site.tolist(), *site.T.tolist()):
        yield from pairwise(line)


def _log(table: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.log(table)


FULL = Setting(
    {
        "noisy-or, 40 + 25 of 4": lambda: noisy_or(40, 25, 4, 0),
        "noisy-or, 100 + 60 of 8": lambda: noisy_or(100, 60, 8, 0),
        "linkage, 60 people": lambda: linkage(60, 3, 0),
        "linkage, 120 people": lambda: linkage(120, 4, 0),
        "segmentation, 3x20": lambda: segmentation(3, 20, 0),
        "segmentation, 12x12": lambda: segmentation(12, 12, 0),
        "grid, 10x10": lambda: grid(10, 0.0, 0),
        "grid with zeros, 10x10": lambda: grid(10, 0.08, 0),
        "grid with zeros, 30x30": lambda: grid(30, 0.08, 0),
    },
    60.0,
)
QUICK = Setting(
    {
        "noisy-or, 12 + 8 of 3": lambda: noisy_or(12, 8, 3, 0),
        "linkage, 12 people": lambda: linkage(12, 3, 0),
        "segmentation, 2x3": lambda: segmentation(2, 3, 0),
        "grid, 5x5": lambda: grid(5, 0.0, 0),
        "grid with zeros, 5x5": lambda: grid(5, 0.08, 0),
    },
    5.0,
)


def _truth(target: Target) -> Exact | None:
    try:
        return exact.solve(target)
    except Refusal:
        return None


def _rows(name: str, target: Target, seconds: float, errors: dict[str, list[float]]) -> Iterator[Row]:
    truth = _truth(target)
    yield Row(f"{name}: exact answer", None, float(truth is not None))
    for label, method in METHODS.items():
        begin = time.perf_counter()
        try:
            with Limit(seconds) as limit:
                found = infer(make_solver(method), target, limit=limit)
            if limit.reason == BY_HAND:
                raise KeyboardInterrupt
        except Refusal:
            yield Row(f"{name}: {label} answers", None, 0.0)
            continue
        yield Row(f"{name}: {label}, seconds", None, time.perf_counter() - begin)
        if truth is None:
            if found.answer.bound is not None:
                yield Row(f"{name}: {label}, bound on log Z", None, found.answer.bound)
            continue
        assert truth.marginals is not None
        pairs = zip(found.marginals, truth.marginals, strict=True)
        errors.setdefault(label, []).append(float(np.mean([np.abs(row - exactly).mean() for row, exactly in pairs])))
        yield Row(f"{name}: {label}, mean error of marginals", None, errors[label][-1])
        if found.answer.bound is not None:
            yield Row(f"{name}: {label}, bound - log Z", None, found.answer.bound - truth.log_z)


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Every method on every model, within the limit."""
    setting = setting or (QUICK if request.quick else FULL)
    rows: list[Row] = []
    errors: dict[str, list[float]] = {}
    for name, make in setting.targets.items():
        rows += _rows(name, make(), setting.seconds, errors)
    rows += [Row(f"mean error of marginals, {label}", None, float(np.mean(each))) for label, each in errors.items()]
    names = [str(k + 1) for k in range(max(map(len, errors.values()), default=0))]
    figure = bars(names, errors, "Models of the UAI kinds that have an exact answer", "mean error of marginals")
    return Outcome(tuple(rows), figure, (f"each method has {setting.seconds:g} s; one model of a size",))


REPRODUCTION = Reproduction(
    "uai-kinds",
    "Models of the UAI competitions' kinds: noisy-or, linkage, segmentation, grids with zeros",
    "nine models, 60 s a method",
    "five small models, 5 s a method",
    1,
    1,
    run,
)

__all__ = ["REPRODUCTION", "grid", "linkage", "noisy_or", "segmentation"]

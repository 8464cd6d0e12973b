"""Barrier Frank-Wolfe, Figure 1: contractions (a, b), heuristic oracles (c), an RBM (d), coupling strengths (e, f)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, Row, row
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.instances import THETAS, Instance, cliques, grids, rbm, source
from pmpviz.marginals import MarginalSolver, make_solver, stream

CALLS = 40
MARKS = (5, 10, 20, 40)
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "M, no correction": {"contraction": "none", "correction": "never"},
    "M, correction": {"contraction": "none"},
    "M_0.0001, correction": {"contraction": "fixed", "delta": 1e-4},
    "M_delta, no correction": {"correction": "never"},
    "M_delta, correction": {},
}
EXACT, BEST, LOCAL = "exact oracle", "best-of oracle, local search", "local polytope"
WITHOUT = "best-of oracle alone"
ORACLE_LANES: Mapping[str, Mapping[str, Any]] = {
    EXACT: {},
    BEST: {"oracle": "best_of", "local_search": True},
    WITHOUT: {"oracle": "best_of"},
    LOCAL: {"polytope": "local"},
}
# The curves of Fig. 1 (d) at their end, on the paper's own RBM.
PAPERS_OWN = "rbm_20"
PAPER_RBM: Mapping[str, Mapping[str, float]] = {
    EXACT: {"L1": 0.316, "bound": 5.3},
    BEST: {"L1": 0.319, "objective": 1.8},
    LOCAL: {"bound": 187.0},
}
PERTURBATIONS = 1000
# Read off the paper's figures, over all its 900 instances: rho as it starts, and after ten updates.
PAPER_FIRST = dict(zip(THETAS, (0.078, 0.119, 0.137, 0.119, 0.102, 0.082, 0.072, 0.076, 0.057), strict=True))
PAPER_BEST = dict(zip(THETAS, (0.063, 0.083, 0.057, 0.037, 0.022, 0.016, 0.010, 0.008, 0.006), strict=True))
PAPER_BOUND = dict(zip(THETAS, (1.18, 1.06, 0.53, 0.35, 0.29, 0.23, 0.16, 0.17, 0.16), strict=True))


@dataclass(frozen=True)
class Walk:
    """After each MAP call: error of the marginals, best bound minus log Z (nan without one), objective minus log Z."""

    error: Float[np.ndarray, " calls"]
    excess: Float[np.ndarray, " calls"]
    objective: Float[np.ndarray, " calls"]
    calls: int
    closed: bool

    def at(self, values: Float[np.ndarray, " calls"], call: int) -> float:
        """A value after so many calls; the last one where the walk had ended before."""
        return float(values[min(call, len(values)) - 1])


def walk(instance: Instance, algorithm: MarginalSolver) -> Walk:
    """Run an algorithm to its end on an instance."""
    error, log_z, state = [], instance.exact.log_z, None
    for state in stream(algorithm, instance.potentials):
        error.append(instance.error(algorithm.answer(state).unary))
    assert state is not None
    best = [record.get("best_bound") for record in state.trace]
    excess = np.array([np.nan if bound is None else bound - log_z for bound in best])
    objective = np.array([record["objective"] - log_z for record in state.trace if record["objective"] is not None])
    closed = state.reason.startswith("the gap is within")
    return Walk(np.array(error[1:]), excess, objective, len(state.trace), closed)


def _curve(walks: Iterable[Walk], name: str, calls: int) -> Float[np.ndarray, "instances calls"]:
    return np.array([[each.at(getattr(each, name), call) for call in range(1, calls + 1)] for each in walks])


# Figure 1 (a, b): what the contraction does.


def contractions(request: Request) -> Outcome:
    """First rho, gap 0.5: errors against MAP calls, with and without contraction and correction."""
    kinds = {
        "5x5 grids": grids(5, 2 if request.quick else 5),
        "cliques": [each for theta in THETAS for each in cliques(theta, 1 if request.quick else 5)],
    }
    rows: list[Row] = []
    curves: dict[str, np.ndarray] = {}
    for kind, instances in kinds.items():
        for name, knobs in VARIANTS.items():
            walks = [walk(each, make_solver("barrier_frank_wolfe", rho_updates=0, **knobs)) for each in instances]
            rows.append(row(f"{kind}, {name}: MAP calls to gap 0.5", (w.calls for w in walks)))
            rows.append(row(f"{kind}, {name}: share that reaches it", (float(w.closed) for w in walks)))
            for call in MARKS[:3]:
                rows.append(row(f"{kind}, {name}: L1 after {call}", (w.at(w.error, call) for w in walks)))
            rows.append(row(f"{kind}, {name}: bound - log Z after 20", (w.at(w.excess, 20) for w in walks)))
            if kind == "5x5 grids":
                curves[name] = _curve(walks, "excess", CALLS)
    figure = lines(
        range(1, CALLS + 1), curves, "Bound on log Z, 5x5 grids, first rho", "MAP calls", "bound - log Z", False
    )
    figure.update_yaxes(type="log")
    return Outcome(tuple(rows), figure, (f"instances: {source()}", "a walk is given up after 200 MAP calls at one rho"))


# Figure 1 (c): heuristic oracles.


def heuristics(request: Request) -> Outcome:
    """Exact and best-of-three oracles, and the local polytope, on grids, ten updates of rho."""
    rows: list[Row] = []
    curves: dict[str, np.ndarray] = {}
    for side, most in ((5, 2),) if request.quick else ((5, 15), (10, 3)):
        instances = grids(side, most)
        for name, knobs in ORACLE_LANES.items():
            if side > 5 and name == WITHOUT:
                continue
            walks = [walk(each, make_solver("barrier_frank_wolfe", rho_updates=10, **knobs)) for each in instances]
            words = f"{side}x{side}, {name}"
            rows.append(row(f"{words}: L1, rho optimised", (w.error[-1] for w in walks)))
            rows.append(row(f"{words}: |objective - log Z|, rho optimised", (abs(w.objective[-1]) for w in walks)))
            rows.append(row(f"{words}: MAP calls", (w.calls for w in walks)))
            if side == 5:
                curves[name] = _curve(walks, "error", 100)
    figure = lines(range(1, 101), curves, "Exact and heuristic oracles, 5x5 grids", "MAP calls", "L1 error", False)
    words = (
        "the best of QPBO, TRW-S and ICM, this from the last vertex, certifies what the relaxations bound, and no more",
        "the paper runs it with a local search between the calls, and finds it competitive with exact calls",
    )
    return Outcome(tuple(rows), figure, (f"instances: {source()}", *words))


# Figure 1 (d): an RBM.


def boltzmann(request: Request) -> Outcome:
    """Local against marginal polytope on one RBM, with updates of rho."""
    instance, updates = rbm(), 3 if request.quick else 10
    rows, curves = [], {}
    for name in (EXACT, LOCAL, BEST):
        found = walk(instance, make_solver("barrier_frank_wolfe", rho_updates=updates, **ORACLE_LANES[name]))
        paper = PAPER_RBM[name] if instance.name == PAPERS_OWN else {}
        rows.append(Row(f"{name}: L1", paper.get("L1"), float(found.error[-1])))
        if np.isfinite(found.excess).any():
            excess = float(np.nanmin(found.excess))
            rows.append(Row(f"{name}: best bound - log Z", paper.get("bound"), excess))
        objective = abs(float(found.objective[-1]))
        rows.append(Row(f"{name}: |objective - log Z|", paper.get("objective"), objective))
        rows.append(Row(f"{name}: MAP calls", None, float(found.calls)))
        curves[name] = found.excess[None]
    most = max(curve.shape[1] for curve in curves.values())
    padded = {name: np.pad(curve, ((0, 0), (0, most - curve.shape[1])), mode="edge") for name, curve in curves.items()}
    figure = lines(range(1, most + 1), padded, "Bound on log Z of an RBM", "MAP calls", "bound - log Z", False)
    figure.update_yaxes(type="log")
    words = f"{BEST} certifies what its relaxations bound; the paper shows its objective, which bounds nothing"
    return Outcome(
        tuple(rows), figure, (f"instance: {instance.name} ({source()})", words, "paper: read off Fig. 1 (d)")
    )


# Figure 1 (e, f): strengths of coupling.


def strengths(request: Request) -> Outcome:
    """Cliques at nine strengths: TRBP, local and marginal polytope, rho first and optimised, perturbed maxima."""
    thetas = THETAS[::4] if request.quick else THETAS
    rows: list[Row] = []
    errors: dict[str, list[float]] = {}
    for theta in thetas:
        found = _strength(cliques(theta, 1 if request.quick else 5), PERTURBATIONS // (5 if request.quick else 1))
        for name, values in found.items():
            rows.append(row(f"theta {theta:g}: {name}", values, _paper(theta, name)))
            if name.startswith("L1"):
                errors.setdefault(name[4:], []).append(float(np.mean(values)))
    figure = lines(
        thetas, {n: np.array([v]) for n, v in errors.items()}, "Ten-node cliques", "theta", "L1 error", False
    )
    return Outcome(
        tuple(rows), figure, (f"instances: {source()}", f"{PERTURBATIONS} shared perturbations, fewer if quick")
    )


def _paper(theta: float, name: str) -> float | None:
    tables = {"L1, marginal, first rho": PAPER_FIRST, "L1, marginal, rho optimised": PAPER_BEST}
    tables["bound - log Z, marginal"] = PAPER_BOUND
    return tables[name][theta] if name in tables else None


def _strength(instances: list[Instance], perturbations: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for each in instances:
        for polytope in ("marginal", "local"):
            first, last = (
                walk(each, make_solver("barrier_frank_wolfe", polytope=polytope, rho_updates=updates))
                for updates in (0, 10)
            )
            add(f"L1, {polytope}, first rho", float(first.error[-1]))
            add(f"L1, {polytope}, rho optimised", float(last.error[-1]))
            add(f"bound - log Z, {polytope}", float(np.nanmin(last.excess)))
            add(f"MAP calls, {polytope}", float(last.calls))
        for name, knobs in (
            ("trbp", {"sweeps": 1000}),
            ("perturb_and_map", {"perturbations": perturbations}),
            ("expected_maxima", {"perturbations": perturbations}),
        ):
            algorithm = make_solver(name, **knobs)
            *_, state = stream(algorithm, each.potentials)
            answer = algorithm.answer(state)
            add(f"L1, {algorithm.spec.label}", each.error(answer.unary))
            if answer.log_z is not None:
                add(f"estimate - log Z, {algorithm.spec.label}", answer.log_z - each.exact.log_z)
            if answer.mean_maximum is not None and name == "expected_maxima":
                add("mean perturbed maximum - log Z", answer.mean_maximum - each.exact.log_z)
    return found


CONTRACTIONS = Reproduction(
    "bfw-1",
    "Barrier Frank-Wolfe, Figure 1 (a, b): contraction and correction",
    "5x5 grids and 45 cliques, first rho, gap 0.5, exact oracle",
    "two grids, nine cliques",
    1,
    1,
    contractions,
)
HEURISTICS = Reproduction(
    "bfw-1c",
    "Barrier Frank-Wolfe, Figure 1 (c): approximate MAP oracles",
    "fifteen 5x5 and three 10x10 grids, ten updates of rho, gap 0.5",
    "two 5x5 grids",
    1,
    1,
    heuristics,
)
BOLTZMANN = Reproduction(
    "bfw-1d",
    "Barrier Frank-Wolfe, Figure 1 (d): local against marginal polytope on an RBM",
    "one RBM, ten updates of rho, gap 0.5",
    "three updates of rho",
    1,
    1,
    boltzmann,
)
STRENGTHS = Reproduction(
    "bfw-cliques",
    "Barrier Frank-Wolfe, Figure 1 (e, f): ten-node cliques against strength of coupling",
    "45 cliques, ten updates of rho, gap 0.5, 1,000 perturbations",
    "three cliques, 200 perturbations",
    1,
    1,
    strengths,
)

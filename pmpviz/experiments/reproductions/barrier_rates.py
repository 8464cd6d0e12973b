"""Barrier Frank-Wolfe's theory and Appendix J: rates of Theorems 3.4 and 3.5, and bounds from MAP calls cut short."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, Row, row
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.instances import Instance, cliques, grids, source
from pmpviz.marginals import MarginalSolver, make_solver
from pmpviz.oracles import MapOracle, make_oracle

# Plain Frank-Wolfe, as the theorems have it: no correction.
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "fixed delta .01": {"contraction": "fixed", "delta": 0.01},
    "fixed delta .0001": {"contraction": "fixed", "delta": 1e-4},
    "adaptive delta": {"contraction": "adaptive"},
    "no contraction": {"contraction": "none"},
}
# The exponents that the theorems promise at least: 1 / k down to the floor of the contraction, k^(-1/2).
PAPER = {"fixed delta .01": -1.0, "fixed delta .0001": -1.0, "adaptive delta": -0.5}
OPTIMUM_GAP = 1e-3


@dataclass(frozen=True)
class Setting:
    """MAP calls of a walk, and how many instances."""

    calls: int
    instances: int


def suboptimality(instance: Instance, calls: int) -> dict[str, Float[np.ndarray, " calls"]]:
    """max TRW - TRW(mu_k) over the marginal polytope at the first rho, after each of `calls` MAP calls.

    The maximum is where correction brings it to within a gap of .001, taken with that gap.
    """
    best = _run(make_solver("barrier_frank_wolfe", tolerance=OPTIMUM_GAP, rho_updates=0, calls_per_rho=2000), instance)
    optimum = best.best_bound
    found = {}
    for name, knobs in VARIANTS.items():
        fine = {"tolerance": OPTIMUM_GAP / 10, "rho_updates": 0, "correction": "never", "calls_per_rho": calls}
        values = [
            record["objective"] for record in _run(make_solver("barrier_frank_wolfe", **fine, **knobs), instance).trace
        ]
        found[name] = optimum - np.array([values[min(k, len(values) - 1)] for k in range(calls)])
    return found


def _run(algorithm: MarginalSolver, instance: Instance, oracle: MapOracle | None = None) -> Any:
    state = algorithm.start(instance.potentials)
    if oracle is not None:
        state = replace(state, oracle=oracle)
    while not state.reason:
        state = algorithm.step(state)
    return state


def exponent(values: Float[np.ndarray, " calls"]) -> float:
    """Slope of log h_k against log k, from a tenth of the calls on."""
    k = np.arange(1, len(values) + 1)
    late = k > len(values) // 10
    return float(np.polyfit(np.log(k[late]), np.log(np.maximum(values[late], 1e-12)), 1)[0])


def rates(request: Request, setting: Setting | None = None) -> Outcome:
    """Sub-optimality against MAP calls, on logarithmic axes."""
    setting = setting or (Setting(200, 1) if request.quick else Setting(1000, 5))
    found = [suboptimality(each, setting.calls) for each in cliques(1.0, setting.instances)]
    rows: list[Row] = []
    curves = {name: np.array([one[name] for one in found]) for name in VARIANTS}
    for name, values in curves.items():
        rows.append(row(f"{name}: exponent of k", (exponent(one) for one in values), PAPER.get(name)))
        rows.append(row(f"{name}: sub-optimality after {setting.calls}", values[:, -1]))
    calls = np.arange(1, setting.calls + 1)
    top = float(np.mean([one["adaptive delta"][0] for one in found]))
    shown = np.unique(np.geomspace(1, setting.calls, 60).round().astype(int)) - 1
    drawn = {name: values[:, shown].mean(0) for name, values in curves.items()}
    drawn |= {"1 / k": top / calls[shown], "k^(-1/2)": top / np.sqrt(calls[shown])}
    figure = lines(calls[shown], drawn, "Plain Frank-Wolfe, ten-node cliques, theta = 1", "MAP calls", "max TRW - TRW")
    figure.update_yaxes(type="log")
    notes = (
        f"instances: {source()}",
        "the paper's exponents are of upper bounds (Theorems 3.4 and 3.5): a walk may fall faster, and with a fixed "
        "delta it ends at the floor of the contraction",
    )
    return Outcome(tuple(rows), figure, notes)


def truncated(request: Request, sweeps: tuple[int, ...] = (1, 3, 10, 30, 100)) -> Outcome:
    """TRW-S stopped after so many sweeps: what its upper bounds still certify."""
    instances = grids(5, 2 if request.quick else 15)
    oracles = {f"TRW-S, {count} sweeps": make_oracle("trws", sweeps=count) for count in sweeps}
    rows: list[Row] = []
    curves = []
    for name, oracle in ({"exact": make_oracle("exact")} | oracles).items():
        algorithm = make_solver("barrier_frank_wolfe", local_search=True)
        ends = [(each, _run(algorithm, each, oracle)) for each in instances]
        excess = [end.best_bound - each.exact.log_z for each, end in ends]
        rows.append(row(f"{name}: best bound - log Z", excess))
        rows.append(row(f"{name}: L1", (each.error(algorithm.answer(end).unary) for each, end in ends)))
        rows.append(row(f"{name}: MAP calls", (end.calls for _, end in ends)))
        curves.append(excess)
    certified = {
        "certified by cut calls": np.array(curves[1:]).T,
        "by exact calls": np.array([curves[0]] * len(sweeps)).T,
    }
    figure = lines(sweeps, certified, "MAP calls cut short, 5x5 grids", "sweeps of TRW-S a call", "bound - log Z")
    words = "a cut call's upper bound certifies all the same (Appendix J); local search between the calls, ten rho"
    return Outcome(tuple(rows), figure, (f"instances: {source()}", words))


RATES = Reproduction(
    "bfw-rates",
    "Barrier Frank-Wolfe, Theorems 3.4 and 3.5: rates of convergence",
    "five ten-node cliques of strength 1, first rho, 1,000 MAP calls",
    "one clique, 200 MAP calls",
    1,
    1,
    rates,
)
TRUNCATED = Reproduction(
    "bfw-truncated",
    "Barrier Frank-Wolfe, Appendix J: MAP calls cut short",
    "fifteen 5x5 grids, ten updates of rho, TRW-S of 1 to 100 sweeps",
    "two 5x5 grids",
    1,
    1,
    truncated,
)

__all__ = ["RATES", "TRUNCATED", "exponent", "suboptimality"]

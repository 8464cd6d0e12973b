"""The most probable configuration of a model from the command line: `python -m pmpviz map`."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from pmpviz.exact.problem import Problem
from pmpviz.io.files import check_outputs, write_bytes
from pmpviz.io.uai import write_map
from pmpviz.models.tables import TableModel
from pmpviz.oracles import PROMISES, MapOracle, Potentials, Solution
from pmpviz.oracles.factors import Factors, is_pairwise
from pmpviz.oracles.mplp import TIES
from pmpviz.types import InputError, Target


def main(oracle: MapOracle, target: Target, tables: TableModel | None, out: str | None, as_json: bool) -> None:
    """Solve, print, and write the configuration; raises InputError before the work where the file cannot be written."""
    check_outputs((), (out,))
    begin = time.perf_counter()
    x, solution = solve(oracle, target, tables)
    found = as_object(oracle, x, solution) | {"seconds": time.perf_counter() - begin}
    if out is not None:
        write_bytes(Path(out), write_map(x).encode())
        found["out"] = out
    print(json.dumps(found) if as_json else _text(oracle, found))


def solve(oracle: MapOracle, target: Target, tables: TableModel | None = None) -> tuple[np.ndarray, Solution]:
    """(configuration of all variables, clamped ones included; the solution over the free ones)."""
    problem = Problem.of(target, tables)
    if is_pairwise(problem):
        potentials = Potentials.of_problem(problem)
        _insist_finite(potentials.size)
        # Some have a form for factors that takes more than theirs for pairs.
        if oracle.spec.why_not(potentials) is None or type(oracle).solve_factors is MapOracle.solve_factors:
            solution = oracle.solve(potentials)
            return problem.all_states(solution.x[None])[0], solution
    factors = Factors.of_problem(problem)
    _insist_finite(factors.constant + factors.penalty)
    solution = oracle.solve_factors(factors)
    return problem.all_states(factors.free_states(solution.x)[None])[0], solution


def _insist_finite(size: float) -> None:
    if not np.isfinite(size):
        raise InputError("the weights are too large to be summed in double precision; scale them down")


def as_object(oracle: MapOracle, x: np.ndarray, solution: Solution) -> dict[str, Any]:
    """What `--json` prints, but for the time."""
    return {
        "oracle": oracle.spec.id,
        "promise": oracle.spec.promise,
        "configuration": [int(state) for state in x],
        "value": solution.value if np.isfinite(solution.value) else None,
        "upper": solution.upper,
        "exact": solution.exact,
        "notes": dict(solution.notes),
    }


def _text(oracle: MapOracle, found: dict[str, Any]) -> str:
    words = f"{oracle.spec.label} ({oracle.spec.promise}: {PROMISES[oracle.spec.promise]})"
    if found["value"] is None:
        return f"{words}\nno state of positive probability was found; {found['seconds']:.3f} s"
    if found["exact"]:
        bound = "proved to be the maximum"
    elif found["upper"] is None:
        bound = "no bound"
    else:
        bound = f"the maximum is at most {found['upper']:.12g}"
    notes = "".join(f"; {name}: {value:.6g}" if isinstance(value, float) else f"; {name}: {value}"
                    for name, value in found["notes"].items())  # fmt: skip
    if found["notes"].get(TIES):
        notes += " (rounding says which state a tied variable takes: trust the bound, not the value)"
    wrote = f"\nwrote {found['out']}" if "out" in found else ""
    states = " ".join(map(str, found["configuration"]))
    return f"{words}\nlog weight {found['value']:.12g}, {bound}{notes}; {found['seconds']:.3f} s\n{states}{wrote}"

"""The laws of oracles, of solvers for marginals and of model builders, on small models against brute force."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pmpviz import exact
from pmpviz.contract.claims import capabilities
from pmpviz.contract.detectors import Verdict
from pmpviz.contract.oracle_models import brute_force, random_potentials
from pmpviz.marginals import infer
from pmpviz.models import build_spec
from pmpviz.types import Evidence, InputError, Refusal, Target

MODELS, LOOKED_AT = 60, 400
MOST_VARIABLES = 12
SPECS = (
    "chain:6,J=0.7,h=0.3,field=random",
    "complete:6,couplings=sk,sigma=0.8,field=random,h=0.5",
    "square:3x3,J=0.4,h=0.2",
)


def _taken(oracle: Any):
    """Up to 60 random models that the oracle takes, attractive ones among them."""
    count = 0
    for seed in range(LOOKED_AT):
        potentials = random_potentials(seed, states=2 if seed % 3 else 4, attractive=seed % 3 == 2)
        if count < MODELS and oracle.spec.why_not(potentials) is None:
            count += 1
            yield potentials


def keeps_its_promise(oracle: Any) -> Verdict:
    """Its value is that of its configuration, its bound holds, and what it calls exact is the maximum."""
    tried = 0
    for tried, potentials in enumerate(_taken(oracle), 1):
        solution, best, near = oracle.solve(potentials), brute_force(potentials)[1], 1e-8 * potentials.size
        x, card = np.asarray(solution.x), np.array(potentials.structure.card, int)
        if x.shape != (potentials.n,) or (x < 0).any() or (x >= card).any():
            return Verdict(False, found=f"model {tried}: its configuration has a state that does not exist")
        if abs(solution.value - float(potentials.value(x))) > near:
            return Verdict(False, found=f"model {tried}: its value is not that of its configuration")
        if solution.upper is not None and solution.upper < best - 1e-6:
            return Verdict(
                False, found=f"model {tried}: its bound {solution.upper:.6g} is below the maximum {best:.6g}"
            )
        if (solution.exact or oracle.spec.promise == "exact") and abs(solution.value - best) > 1e-6 + near:
            return Verdict(False, found=f"model {tried}: it calls {solution.value:.6g} the maximum {best:.6g}")
        if oracle.spec.promise == "heuristic" and solution.exact:
            return Verdict(False, found="a heuristic calls its answer exact")
    return Verdict(tried > 0, found="it takes none of the random models")


def batches_as_single_problems(oracle: Any) -> Verdict:
    """Several unaries at once have the values of one after another."""
    rng, tried = np.random.default_rng(8), 0
    for tried, potentials in enumerate(_taken(oracle), 1):
        noise = rng.logistic(0, 1, (3, *potentials.unary.shape))
        unary = np.where(potentials.structure.valid, potentials.unary + noise, 0.0)
        for one, solution in zip(unary, oracle.solve_batch(potentials, unary), strict=True):
            if abs(oracle.solve(potentials.with_values(one)).value - solution.value) > 1e-8 * potentials.size:
                return Verdict(False, found=f"model {tried}: a batch has another value than the problem alone")
        if tried == 10:
            break
    return Verdict(tried > 0, found="it takes none of the random models")


def _inferred(solver: Any):
    """(spec, truth, what the solver says) of the small models that it takes."""
    for spec in SPECS:
        target = Target.of(build_spec(spec))
        try:
            yield spec, exact.solve(target), infer(solver, target)
        except Refusal:
            continue


def gives_distributions(solver: Any) -> Verdict:
    """Every variable's marginals are at least 0 and add up to 1."""
    taken = list(_inferred(solver))
    for spec, _, found in taken:
        for row in found.marginals:
            if not np.isfinite(row).all() or (row < -1e-6).any() or abs(row.sum() - 1) > 1e-4:
                return Verdict(False, found=f"{spec}: marginals {np.round(row, 4).tolist()}")
    return Verdict(bool(taken), found="it takes none of the small models")


def keeps_its_guarantee(solver: Any) -> Verdict:
    """Exact marginals and log Z are those by enumeration; a bound is not below log Z, a lower one not above."""
    taken = list(_inferred(solver))
    for spec, truth, found in taken:
        answer, log_z = found.answer, truth.log_z
        if answer.bound is not None and answer.bound < log_z - 1e-6:
            return Verdict(False, found=f"{spec}: its bound {answer.bound:.6g} is below log Z = {log_z:.6g}")
        if answer.lower is not None and answer.lower > log_z + 1e-6:
            return Verdict(False, found=f"{spec}: its lower bound {answer.lower:.6g} is above log Z = {log_z:.6g}")
        if solver.spec.guarantee == "exact":
            off = max(float(np.abs(a - b).max()) for a, b in zip(found.marginals, truth.marginals, strict=True))
            if off > 1e-5 or answer.log_z is None or abs(answer.log_z - log_z) > 1e-5:
                return Verdict(False, found=f"{spec}: exact marginals are off by {off:.2g}")
    return Verdict(bool(taken), found="it takes none of the small models")


def model_is_consistent(builder: Any) -> Verdict:
    """log_weight, local_field, blocks and the spin form agree on all states, with and without evidence."""
    for sides in _sizes(len(builder.size)):
        try:
            model = builder.build(sides)
        except InputError:
            continue
        if model.n > MOST_VARIABLES or model.n < 2:
            continue
        for clamped in ({}, {1: 1}):
            verdict = capabilities(model, Evidence.of(model.n, clamped), 0.7)
            if not verdict.passed:
                return verdict
        return Verdict(True)
    return Verdict(False, found=f"no size of at most {MOST_VARIABLES} variables can be built")


def _sizes(axes: int):
    """Sizes of few variables, the larger ones first."""
    found = [sides for side in range(10, 0, -1) for sides in [(side,) * axes] if math.prod(sides) <= MOST_VARIABLES]
    return found if axes > 1 else [(8,), (6,), (5,), (3,)]

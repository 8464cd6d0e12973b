"""Section 5.2: log Z from maxima under the same perturbations, found by max-product and by MPLP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Float

from pmpviz import exact, keys, runs
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.models import Ising, build_spec
from pmpviz.oracles import Potentials, make_oracle
from pmpviz.oracles.mplp import TIES
from pmpviz.samplers import make_sampler
from pmpviz.samplers.perturb_and_map import noise_of
from pmpviz.types import Target

METHODS = ("PMP", "MPLP", "MPLP dual", "exact MAP")
TIED = "share of variables that tie in MPLP"


@dataclass(frozen=True)
class Setting:
    """Sides of the lattices, variables of the dense models, models a size, perturbations a model, sweeps of PMP."""

    sides: tuple[int, ...]
    sizes: tuple[int, ...]
    models: int
    draws: int
    sweeps: int


FULL = Setting((5, 10, 15), (5, 10, 15), 100, 100, 200)
QUICK = Setting((5, 10), (5, 10, 15), 10, 50, 200)


def dense(n: int, seed: int) -> Ising:
    """log p(s) = sum_ij w_ij s_i s_j + sum b_i s_i over both orders of every pair, w from U[-2, 2], b from U[-.1, .1]:
    J_ij = w_ij + w_ji lies within 4 of zero, with a triangular law."""
    rng = np.random.default_rng([n, seed])
    i, j = np.triu_indices(n, 1)
    return Ising.from_spin(rng.uniform(-0.1, 0.1, n), i, j, rng.uniform(-2, 2, (2, len(i))).sum(0), layout="dense")


def estimates(target: Target, draws: int, sweeps: int, seed: int) -> dict[str, Float[np.ndarray, " draws"]]:
    """Perturbed values by method, all under the same noise; exact MAP only where it is tractable, MPLP's dual as its
    upper bound of the maximum. `TIED`: the share of variables whose decoded state is up to rounding."""
    key = jax.random.key(seed)
    potentials, problem = Potentials.of_target(target)
    words = keys.words_of(keys.of_chains(keys.role(key, keys.NOISE), np.arange(draws)))
    noise = noise_of(words, potentials, problem, 0)
    unary = potentials.unary + noise
    sampler = make_sampler("pmp", sweeps_per_draw=sweeps)
    x = runs.sample(sampler, target, key, draws, sweeps)[:, problem.free]
    found = {"PMP": potentials.value(x) + (noise[:, :, 1] * x).sum(1)}
    solutions = make_oracle("mplp").solve_batch(potentials, unary)
    found["MPLP"] = np.array([s.value for s in solutions])
    found["MPLP dual"] = np.array([s.value if s.upper is None else s.upper for s in solutions])
    oracle = make_oracle("exact")
    if oracle.spec.why_not(potentials) is None and potentials.n <= 25:
        found["exact MAP"] = np.array([s.value for s in oracle.solve_batch(potentials, unary)])
    found[TIED] = np.array([s.notes[TIES] for s in solutions])
    return found


def errors(model: Ising, draws: int, sweeps: int, seed: int) -> dict[str, float]:
    """Mean perturbed value less log Z, by method, and the mean share of ties."""
    target = Target.of(model)
    log_z = exact.log_z_only(target)
    assert log_z is not None
    means = {name: float(values.mean()) for name, values in estimates(target, draws, sweeps, seed).items()}
    return {name: mean if name == TIED else mean - log_z for name, mean in means.items()}


def _quantity(name: str, where: str) -> str:
    return f"{TIED}, {where}" if name == TIED else f"error, {where}, {name}"


def _one_seed(setting: Setting, seed: int) -> dict[str, float]:
    """Mean error by kind of model, size and method, and of the dense ones the mean of its size."""
    found: dict[str, float] = {}
    for side in setting.sides:
        model = build_spec(f"square:{side}x{side},theta=-0.1,periodic=true")
        one = errors(model, setting.draws, setting.sweeps, seed)
        found |= {_quantity(name, f"{side} x {side} lattice"): value for name, value in one.items()}
    for n in setting.sizes:
        many = [
            errors(dense(n, seed * setting.models + k), setting.draws, setting.sweeps, seed)
            for k in range(setting.models)
        ]
        for name in (*METHODS, TIED):
            values = np.array([one[name] for one in many])
            found[_quantity(name, f"dense n = {n}")] = float(values.mean())
            if name != TIED:
                found[f"size of the error, dense n = {n}, {name}"] = float(np.abs(values).mean())
    return found


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Every size under the same perturbations for all methods."""
    setting = setting or (QUICK if request.quick else FULL)
    found = [_one_seed(setting, seed) for seed in range(request.seeds)]
    notes = (
        f"{setting.draws} perturbations a model, {setting.models} dense models a size; error: estimate of log Z less "
        "the exact one, in nats",
        "E[max] bounds log Z from above where every maximum is exact: a negative error comes of maxima that were "
        "missed, or of few perturbations; E[MPLP dual] is a bound whatever the model",
        "MPLP's value is that of the decoded configuration: where its beliefs tie, rounding decodes it, and the value "
        "changes by many nats with the sweep that it stops at, while the dual does not: compare the dual there",
        "the paper gives its errors as a picture only",
    )
    return Outcome(rows_of(found), _figure(setting, found), notes)


def _figure(setting: Setting, found: list[Mapping[str, float]]):
    curves = {
        f"{kind.format('')}{name}": np.array([[one[f"error, {kind.format(x)}{name}"] for x in sizes] for one in found])
        for kind, sizes in (("{0} x {0} lattice, ", setting.sides), ("dense n = {}, ", setting.sizes))
        for name in METHODS
        if all(f"error, {kind.format(x)}{name}" in found[0] for x in sizes)
    }
    figure = lines(
        (), {}, "Section 5.2: max-product is not broken", "side, or variables", "error of log Z", log_x=False
    )
    for name, values in curves.items():
        sizes = setting.sides if "lattice" in name else setting.sizes
        label = name.replace(" x  lattice", "lattice").replace("dense n = ", "dense")
        for trace in lines(sizes, {label: values}, "", "", "").data:
            figure.add_trace(trace)
    return figure


REPRODUCTION = Reproduction(
    "pmp-5.2",
    "PMP and MPLP under the same perturbations",
    "tori of side 5, 10, 15 with theta -0.1; 100 dense models each of n = 5, 10, 15, w from U[-2, 2]; 100 "
    "perturbations, 200 sweeps of PMP, MPLP until it converges",
    "tori of side 5 and 10; 10 dense models a size, 50 perturbations",
    1,
    1,
    run,
)

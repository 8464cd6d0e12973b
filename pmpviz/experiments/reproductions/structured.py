"""Section 5.4 and Appendix B.1: learning structured models from their samples, as dense Ising models of spins."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import jax
import numpy as np
from jaxtyping import Float, Int8

from pmpviz import runs
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.keep import Keep
from pmpviz.experiments.reproductions.work import Method, floor_note, learn, log_mmd2, samples
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.parameters import parameters_of
from pmpviz.learning.start import fresh_model
from pmpviz.metrics.mmd import Reference
from pmpviz.models import build_spec
from pmpviz.runs import training
from pmpviz.runs.training import Training
from pmpviz.samplers import make_sampler
from pmpviz.types import Target

EQUAL = {name: f"{name} at PMP's seconds" for name in ("Gibbs", "GWG")}
SAMPLES, RESET_CHAINS, CHAINS, FINAL_SWEEPS, L1 = 2000, 20, 256, 50, 0.01
# The models are of spins, and so are the zero messages of Algorithm 1; the authors' code takes those of the 0/1 form,
# which favour s = -1 where a collective mode leaves max-product a choice of fixed points.
SPIN, BINARY = {"messages": "balanced"}, {"messages": "zero"}


@dataclass(frozen=True)
class Setting:
    """The model; Gibbs sweeps for its data; sweeps and iterations without persistence; updates and iterations with it;
    the rates; and how the chains and sweeps of PMP follow from the updates of the others (`share` root(updates))."""

    model: str
    data_sweeps: int
    sweeps: tuple[int, ...]
    iterations: int
    rate: float
    updates: tuple[int, ...]
    persistent_iterations: int
    persistent_rate: float
    share: float
    pmp_sweeps: int


@dataclass(frozen=True)
class Data:
    """Samples of the model, the reference made of them, and the true W of log p(s) = s'Ws + h's."""

    x: Int8[np.ndarray, "m n"]
    reference: Reference
    weight: Float[np.ndarray, "n n"]
    settled: float


def data_of(setting: Setting, seed: int) -> Data:
    """2,000 independent colour-parallel Gibbs chains; `settled` is the unbiased MMD^2 of the chains half-way against
    the end, in standard deviations of what equal laws show."""
    model = build_spec(setting.model)
    run = runs.start(make_sampler("colour_gibbs"), Target.of(model), jax.random.key(2_000_000 + seed), SAMPLES)
    run, _ = runs.advance(run, setting.data_sweeps // 2, record=False, donate=True)
    half = runs.positions(run)
    run, _ = runs.advance(run, setting.data_sweeps - setting.data_sweeps // 2, record=False, donate=True)
    x = runs.positions(run)
    reference = Reference.of(x)
    weight = np.asarray(parameters_of(model.as_layout("dense"), "spin")["weight"])
    return Data(x, reference, weight, reference.mmd2(half) / reference.noise(SAMPLES).deviation)


def reset_methods(sweeps: int) -> list[tuple[Method, int]]:
    """(method, chains) without persistence."""
    k = {"sweeps": sweeps}
    methods = [
        Method("PMP", "pmp", k | SPIN),
        Method("PMP 0/1", "pmp", k | BINARY),
        Method("Gibbs", "gibbs_reset", k),
        Method("GWG", "gwg_reset", k),
    ]
    return [(method, RESET_CHAINS) for method in methods]


def persistent_methods(updates: int, share: float, sweeps: int) -> list[tuple[Method, int]]:
    """(method, chains) with `updates` single-site updates between two steps; PMP for no more time than GWG on the
    paper's GPU, which on a CPU is many times as much."""
    fewer = max(1, math.floor(share * math.sqrt(updates)))
    return [
        (Method("PMP", "pmp", {"sweeps": sweeps} | SPIN), fewer),
        (Method("PMP 0/1", "pmp", {"sweeps": sweeps} | BINARY), fewer),
        (Method("Gibbs", "pcd", {"updates": updates}), CHAINS),
        (Method("GWG", "gwg", {"updates": updates}), CHAINS),
        (Method("persistent PMP", "persistent_pmp", {"sweeps": sweeps} | SPIN), fewer),
    ]


@dataclass(frozen=True)
class Lane:
    """How one method is to learn and be sampled."""

    method: Method
    chains: int
    iterations: int
    rate: float
    final: int


def learn_lane(
    lane: Lane, data: Data, seed: int, keep: Keep | None = None, begun: Training | None = None
) -> tuple[Training, dict[str, float]]:
    """(training, log MMD^2 of samples and RMSE of W over all its entries), from `begun` on if given."""
    start = fresh_model("ising", data.x, 0, "zero", seed)
    optimiser = Optimiser(learning_rate=lane.rate, l1=L1)
    learner, key = lane.method.make(), jax.random.key(seed)
    first = begun or training.start(learner, start, data.x, key, optimiser, lane.chains, len(data.x), "spin")
    done = learn(first, lane.iterations, f"{lane.method.name}, seed {seed}", keep)
    (x,) = samples(lane.method.sampler, done.model, (lane.final,), SAMPLES, seed)
    error = np.asarray(done.parameters["weight"]) - data.weight
    rmse = float(np.sqrt((error**2).mean()))
    return done, {"log MMD^2": log_mmd2(data.reference, x), "RMSE of W": rmse, "training seconds": done.seconds}


def at_equal_seconds(lane: Lane, done: Training, seconds: float) -> tuple[Lane, Training | None]:
    """(a lane of as many iterations as take that many seconds at the pace of the `done` one, what it goes on from)."""
    count = max(1, round(done.iteration * seconds / done.seconds))
    method = dataclasses.replace(lane.method, name=EQUAL[lane.method.name])
    return dataclasses.replace(lane, method=method, iterations=count), done if count >= done.iteration else None


def _regimes(setting: Setting):
    """(regime, its x, lanes) of every point of the picture."""
    for sweeps in setting.sweeps:
        lanes = [
            Lane(method, chains, setting.iterations, setting.rate, sweeps) for method, chains in reset_methods(sweeps)
        ]
        yield "sweeps", sweeps, lanes
    for updates in setting.updates:
        methods = persistent_methods(updates, setting.share, setting.pmp_sweeps)
        steps, rate = setting.persistent_iterations, setting.persistent_rate
        yield "updates", updates, [Lane(method, chains, steps, rate, FINAL_SWEEPS) for method, chains in methods]


def _one_seed(setting: Setting, seed: int, keep: Keep | None) -> tuple[dict[str, float], Data]:
    data = data_of(setting, seed)
    found: dict[str, float] = {}
    for regime, x, lanes in _regimes(setting):
        seconds: dict[str, float] = {}
        for lane in lanes:
            done, numbers = learn_lane(lane, data, seed, keep)
            found |= _named(numbers, lane, f"{x} {regime}")
            seconds[lane.method.name] = done.seconds
            # At once: a training that goes on must not be used any more.
            if regime == "updates" and lane.method.name in EQUAL:
                longer, begun = at_equal_seconds(lane, done, seconds["PMP"])
                found |= _named(learn_lane(longer, data, seed, keep, begun)[1], longer, f"{x} {regime}")
    return found, data


def _named(numbers: dict[str, float], lane: Lane, where: str) -> dict[str, float]:
    return {f"{what}, {lane.method.name}, {where}": value for what, value in numbers.items()}


def _seconds_note(setting: Setting, found: list[dict[str, float]]) -> str:
    """What PMP takes here, where the paper gives it no more time than GWG."""
    ratios = []
    for x in setting.updates:
        pmp, gwg = (sum(one[f"training seconds, {name}, {x} updates"] for one in found) for name in ("PMP", "GWG"))
        ratios.append(f"{pmp / gwg:.2g} times at {x} updates")
    return (
        "with persistence the paper gives PMP no more time than GWG, on its GPU; here PMP's training took as many "
        f"seconds as GWG's {', '.join(ratios)}. {' and '.join(EQUAL.values())}: as many iterations as take PMP's time"
    )


def run(request: Request, full: Setting, quick: Setting) -> Outcome:
    """Learn in both regimes, with every method."""
    setting = quick if request.quick else full
    done = [_one_seed(setting, seed, request.keep) for seed in range(request.seeds)]
    data, found = done[0][1], [one for one, _ in done]
    notes = (
        f"data: {SAMPLES:,} chains of {setting.data_sweeps:,} Gibbs sweeps; half-way they are {data.settled:.1f} "
        "standard deviations from the end",
        floor_note(data.reference, SAMPLES),
        "without persistence samples take as many sweeps as training; with it 50; the paper gives pictures only",
        "PMP starts its messages at zero in the spins that the models are written in; PMP 0/1 in the 0/1 form, as the "
        "authors' code: this favours s = -1, and where a graph has a collective mode PMP then misses even the means",
        *([_seconds_note(setting, found)] if setting.updates else []),
    )
    return Outcome(rows_of(found), _figure(setting, found), notes)


def _figure(setting: Setting, found: list[dict[str, float]]):
    curves = {}
    for name in ("PMP", "PMP 0/1", "Gibbs", "GWG"):
        keys = [f"log MMD^2, {name}, {x} sweeps" for x in setting.sweeps]
        curves[f"{name}, sweeps"] = np.array([[each[key] for key in keys] for each in found])
    figure = lines(setting.sweeps, curves, "Section 5.4", "sweeps (reset) or updates (persistent)", "log MMD^2")
    curves = {}
    for name in ("PMP", "PMP 0/1", "Gibbs", "GWG", *EQUAL.values(), "persistent PMP"):
        keys = [f"log MMD^2, {name}, {x} updates" for x in setting.updates]
        curves[f"{name}, updates"] = np.array([[each[key] for key in keys] for each in found])
    for trace in lines(setting.updates, curves, "", "", "").data:
        figure.add_trace(trace.update(line={"dash": "dot"}))
    return figure


def structured(id: str, title: str, settings: str, quick_settings: str, full: Setting, quick: Setting) -> Reproduction:
    """A reproduction of section 5.4."""
    runner: Callable[[Request], Outcome] = partial(run, full=full, quick=quick)
    return Reproduction(id, title, settings, quick_settings, 5, 1, runner, keeps=True)


LATTICE = Setting(
    "square:25x25,theta=-0.1", 10_000, (5, 10, 25, 50), 1000, 0.001, (5, 10, 25, 50, 100), 100_000, 0.001, 4.5, 10
)
# The authors' code gives PMP more on this graph: floor(10 root(updates)) draws of 40 sweeps.
ERDOS = dataclasses.replace(LATTICE, model="erdos_renyi:200", share=10.0, pmp_sweeps=40)
# At the paper's rate: Adam's steps have the rate's length whatever the gradient, and so has the noise in every pair's
# weight. Measured on the random graph: at five times the rate PMP and Gibbs both lose about 1 of log MMD^2.
SMALLER = {"data_sweeps": 2000, "sweeps": (5,), "iterations": 500, "updates": (10,)}
SMALLER |= {"persistent_iterations": 1000}

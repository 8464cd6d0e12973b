"""Sections 5.3 and B.3, and Appendix D: perturb-and-MAP by linear programming, at sizes that HiGHS can do."""

from __future__ import annotations

import time
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Int8

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, Row, rows_of
from pmpviz.experiments.reproductions.figures import pictures
from pmpviz.experiments.reproductions.keep import Keep
from pmpviz.experiments.reproductions.work import Method, floor_note, learn, log_mmd2, samples
from pmpviz.experiments.reproductions.zeros import pooled
from pmpviz.io.datasets import parse_dataset
from pmpviz.learning import make_learner
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.parameters import visible_of
from pmpviz.learning.start import fresh_model
from pmpviz.metrics.mmd import Reference
from pmpviz.models import Ising
from pmpviz.runs import training

PMP, LP, MIXED = "PMP", "LP", "LP, sampled by PMP"
ZEROS, TWOS = "zeros", "twos"
TASKS = (ZEROS, TWOS)
# Of 900 pixels, and of 784 + 250 units.
PAPER = {f"log MMD^2, {LP}, {ZEROS}": -4.33, f"log MMD^2, {LP}, {TWOS}": -4.38, f"log MMD^2, {PMP}, {TWOS}": -5.36}
PAPER |= {f"seconds a step, {LP} over {PMP}, {kind}": 1000.0 for kind in TASKS}


@dataclass(frozen=True)
class Setting:
    """Pixels of the contours pooled to one; hidden units of the RBM of 8 x 8 pixels; steps, chains, sweeps of PMP."""

    pool: int
    hidden: int
    iterations: int
    chains: int
    sweeps: int
    rate: float = 0.02


FULL = Setting(3, 16, 60, 10, 50)
QUICK = Setting(5, 8, 100, 10, 50)


@dataclass(frozen=True)
class Task:
    """Binary images of a shape, and the kind of model that is learned from them."""

    kind: str
    x: Int8[np.ndarray, "m v"]
    shape: tuple[int, int]
    start: Ising

    @classmethod
    def of(cls, kind: str, setting: Setting, seed: int) -> Task:
        """The contours of zeros, pooled, as an Ising model of all pairs; or small twos as an RBM."""
        if kind == ZEROS:
            images = parse_dataset("contours:labels=0")
            x, side = pooled(images.images, setting.pool), images.shape[0] // setting.pool
            return cls(kind, x, (side, side), fresh_model("ising", x, 0, "zero", seed))
        images = parse_dataset("digits:labels=2")
        return cls(kind, images.x, images.shape, fresh_model("rbm", images.x, setting.hidden, "paper", seed))


def drawn_by_lp(model: Ising, count: int, seed: int) -> tuple[Int8[np.ndarray, "c v"], float]:
    """(visible sites of rounded solutions under fresh perturbations, mean share of variables that were fractional)."""
    learner, key = make_learner("perturb_lp"), jax.random.key(1_000 + seed)
    phase = learner.sample(key, model, learner.init(key, model, count))
    return np.asarray(phase.x)[:, : visible_of(model)], float(phase.rest)


def of_task(task: Task, setting: Setting, seed: int, keep: Keep | None):
    """(numbers, pictures by name): both ways learn for the same steps from the same start, and draw as many samples as
    there are images, at most 200."""
    count, found, shown = min(len(task.x), 200), {}, {"data": task.x[:25]}
    reference, pace = Reference.of(task.x), {}
    for name, learner, knobs in ((PMP, "pmp", {"sweeps": setting.sweeps}), (LP, "perturb_lp", {})):
        method = Method(name, learner, knobs)
        optimiser, key = Optimiser(learning_rate=setting.rate), jax.random.key(seed)
        first = training.start(method.make(), task.start, task.x, key, optimiser, setting.chains, len(task.x))
        done = learn(first, setting.iterations, f"{name}, {task.kind}, seed {seed}", keep)
        pace[name] = done.seconds / done.iteration
        (by_pmp,) = samples(Method(PMP, "pmp", {}).sampler, done.model, (setting.sweeps,), count, seed)
        if name == LP:
            begin = time.perf_counter()
            x, fractional = drawn_by_lp(done.model, count, seed)
            found[f"seconds a solution, {LP}, {task.kind}"] = (time.perf_counter() - begin) / count
            found[f"share of variables that are fractional, {task.kind}"] = fractional
            found[f"log MMD^2, {MIXED}, {task.kind}"] = log_mmd2(reference, by_pmp)
        else:
            x = by_pmp
        found[f"log MMD^2, {name}, {task.kind}"] = log_mmd2(reference, x)
        shown[name] = x[:25]
    found[f"seconds a step, {LP} over {PMP}, {task.kind}"] = pace[LP] / pace[PMP]
    return found, {f"{name}, {task.kind}": x for name, x in shown.items()}


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Both tasks, both ways."""
    setting = setting or (QUICK if request.quick else FULL)
    tasks = {kind: [Task.of(kind, setting, seed) for seed in range(request.seeds)] for kind in TASKS}
    rows: list[Row] = []
    notes: list[str] = []
    blocks: dict[str, np.ndarray] = {}
    for kind, each in tasks.items():
        done = [of_task(task, setting, seed, request.keep) for seed, task in enumerate(each)]
        rows += rows_of((found for found, _ in done), PAPER)
        notes.append(_met(kind, [found for found, _ in done]))
        # Pictures of both shapes side by side, each in a square of the larger one.
        blocks |= {name: _framed(x, each[0].shape) for name, x in done[0][1].items()}
        edges = each[0].start.couplings.possible_edges()
        size = f"{kind}: {len(each[0].x):,} images of {each[0].x.shape[1]} pixels, {edges:,} edges"
        notes.append(f"{size}; {floor_note(Reference.of(each[0].x), min(len(each[0].x), 200))}")
    notes += [
        f"{setting.iterations} steps of {setting.chains} chains, Adam {setting.rate:g}, PMP with {setting.sweeps} "
        "sweeps; a half in the programme's solution becomes 0",
        "the paper's figures are of 900 pixels (404,550 edges) and of 784 + 250 units (196,000 edges), 1000 steps, the "
        "second on 96 processors",
    ]
    figure = pictures(blocks, (FRAME, FRAME), "Perturb-and-LP beside PMP", 3)
    return Outcome(tuple(rows), figure, tuple(notes))


def _met(kind: str, found: list[dict[str, float]]) -> str:
    """Whether what the paper says of quality is met at this size, and why or why not."""
    pmp, lp, inside = (
        float(np.mean([one[name] for one in found]))
        for name in (
            f"log MMD^2, {PMP}, {kind}",
            f"log MMD^2, {LP}, {kind}",
            f"share of variables that are fractional, {kind}",
        )
    )
    met = "is" if lp > pmp + CLOSE else "is not"
    return (
        f"{kind}: that samples by linear programming are poorer {met} found at this size, where {inside:.1%} of the "
        "variables of a solution are a half"
    )


FRAME, CLOSE = 10, 0.3


def _framed(x: Int8[np.ndarray, "m v"], shape: tuple[int, int]) -> Int8[np.ndarray, "m frame"]:
    pad = ((0, 0), (0, FRAME - shape[0]), (0, FRAME - shape[1]))
    return np.pad(x.reshape(-1, *shape), pad).reshape(len(x), -1)


REPRODUCTION = Reproduction(
    "pmp-lp",
    "Perturb-and-MAP by linear programming, on small contours of zeros and small twos",
    "contours of zeros at 10 x 10 pixels (maxima of 3 x 3), all pairs; RBM of 64 + 16 units on scikit-learn's twos; "
    "Adam 0.02, 60 steps of 10 chains; half an hour",
    "6 x 6 pixels (maxima of 5 x 5), RBM of 64 + 8 units, 100 steps of 10 chains",
    1,
    1,
    run,
    keeps=True,
    shown="learning?preset=perturb-lp",
)

__all__ = ["REPRODUCTION"]

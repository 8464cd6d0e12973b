"""Section 5.3: a fully connected Ising model of the contours of MNIST's zeros."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Int8

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines
from pmpviz.experiments.reproductions.keep import Keep
from pmpviz.experiments.reproductions.work import Method, curve, floor_note, learn
from pmpviz.io.datasets import parse_dataset
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.start import fresh_model
from pmpviz.metrics.mmd import Reference
from pmpviz.runs import training

NAMES = {"PMP": "pmp", "Gibbs": "pcd", "GWG": "gwg", "Gibbs-reset": "gibbs_reset", "GWG-reset": "gwg_reset"}


@dataclass(frozen=True)
class Setting:
    """Pixels pooled to one (by their maximum), learning steps, rate, sweeps, and the numbers of sweeps to sample."""

    pool: int
    iterations: int
    rate: float
    sweeps: int
    chains: int
    sampled: tuple[int, ...]


FULL = Setting(1, 1000, 0.001, 50, 100, (5, 10, 25, 50, 100, 200))
QUICK = Setting(2, 200, 0.005, 10, 100, (5, 10, 25, 50))


def pooled(images: Int8[np.ndarray, "m h w"], pool: int) -> Int8[np.ndarray, "m v"]:
    """Squares of `pool` pixels as one that is on where any of them is; a row an image."""
    count, height, width = images.shape
    squares = images.reshape(count, height // pool, pool, width // pool, pool)
    return squares.max((2, 4)).reshape(count, -1)


def _one_seed(setting: Setting, data: Int8[np.ndarray, "m v"], reference: Reference, seed: int, keep: Keep | None):
    """(log MMD^2 by method [numbers of sweeps], seconds of training by method)."""
    curves, seconds = {}, {}
    for name, learner in NAMES.items():
        method = Method(name, learner, {"sweeps": setting.sweeps})
        start, optimiser = fresh_model("ising", data, 0, "zero", seed), Optimiser(learning_rate=setting.rate)
        key, chains = jax.random.key(seed), setting.chains
        first = training.start(method.make(), start, data, key, optimiser, chains, len(data))
        done = learn(first, setting.iterations, f"{name}, seed {seed}", keep)
        curves[name] = curve(method.sampler, done.model, setting.sampled, reference, len(data), seed, name)
        seconds[name] = done.seconds
    return curves, seconds


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Learn by every method, then sample for growing numbers of sweeps."""
    setting = setting or (QUICK if request.quick else FULL)
    images = parse_dataset("contours:labels=0")
    data = pooled(images.images, setting.pool)
    reference = Reference.of(data)
    done = [_one_seed(setting, data, reference, seed, request.keep) for seed in range(request.seeds)]
    curves = {name: np.stack([found[name] for found, _ in done]) for name in NAMES}
    rows = rows_of(_named(found, setting.sampled) for found, _ in done)
    rows += rows_of({f"training seconds, {name}": value for name, value in times.items()} for _, times in done)
    notes = (
        f"{len(data):,} images of {data.shape[1]} pixels: {images.name}, as many samples",
        floor_note(reference, len(data)),
        "the paper gives its curves as a picture only; Gibbs and GWG carry their chains on, -reset starts them anew",
    )
    figure = lines(setting.sampled, curves, "Section 5.3: contours of zeros", "sweeps of sampling", "log MMD^2")
    return Outcome(rows, figure, notes)


def _named(found: dict[str, np.ndarray], sampled: Sequence[int]) -> dict[str, float]:
    return {
        f"log MMD^2, {name}, {sweeps} sweeps": float(value)
        for name, values in found.items()
        for sweeps, value in zip(sampled, values, strict=True)
    }


REPRODUCTION = Reproduction(
    "pmp-5.3",
    "Ising model of the contours of zeros",
    "fully connected Ising model of 900 pixels, zero start, Adam 0.001, 1000 iterations, 100 chains, 50 sweeps; hours",
    "15 x 15 pixels (maxima of 2 x 2), Adam 0.005, 200 iterations, 10 sweeps in training, 5 to 50 after it",
    5,
    1,
    run,
    keeps=True,
)

"""Appendix B.4: RBMs learned by perturb and coordinate descent, beside one by PMP, and what annealing says of them."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np
from jaxtyping import Int8

from pmpviz import exact
from pmpviz.experiments.reproductions import digits
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import pictures
from pmpviz.experiments.reproductions.keep import Keep
from pmpviz.experiments.reproductions.work import LAYERS_NOTE, Method, floor_note, log_mmd2, sampler_of, samples
from pmpviz.io.datasets import Dataset, parse_dataset
from pmpviz.learning.ais import annealed_log_z
from pmpviz.learning.parameters import log_likelihood
from pmpviz.metrics.mmd import Reference
from pmpviz.models import Ising
from pmpviz.types import Target

SAMPLERS = {"Gibbs": "gibbs", "PMP": "pmp", "coordinate descent": "perturb_and_descend"}
AIS_CHAINS = 100


@dataclass(frozen=True)
class Setting:
    """How the machines are learned, the sweeps of their samples, and the numbers of steps of annealing."""

    learning: digits.Setting
    sampled: tuple[int, ...]
    steps: tuple[int, ...]


FULL = Setting(digits.FULL, (100, 10_000), (100, 1000, 10_000))
# Sixteen hidden units: their states can be listed, so that log Z is known.
QUICK = Setting(digits.Setting("digits", 16, 300, 0.02, 10, 1000), (100, 1000), (10, 100, 1000))


def methods_of(setting: digits.Setting) -> tuple[Method, ...]:
    """Coordinate descent of 1 and 10 sweeps and PMP, as the paper; and PCD, of which annealing is known to be right."""
    return (
        Method("descent, 1 step", "descent", {"sweeps": 1}),
        Method("descent, 10 steps", "descent", {"sweeps": 10}),
        Method("PMP", "pmp", {"sweeps": setting.sweeps}),
        Method("PCD-1", "pcd", {"sweeps": 1}),
    )


def likelihoods(model: Ising, x: Int8[np.ndarray, "m v"], steps: tuple[int, ...], seed: int) -> dict[str, float]:
    """Mean log-likelihood of images in nats by annealing, for each number of steps from the data's base rates; the
    exact one where the states can be summed out, and by how much annealing is above it."""
    rate = (x.sum(0) + 0.5) / (len(x) + 1)
    base, key = np.log(rate / (1 - rate)), jax.random.key(seed)
    annealed = {count: annealed_log_z(model, key, AIS_CHAINS, count, base).log_z for count in steps}
    found = {f"log-likelihood by annealing in {k} steps": log_likelihood(model, x, z) for k, z in annealed.items()}
    log_z = exact.log_z_only(Target.of(model))
    if log_z is not None:
        found["exact log-likelihood"] = log_likelihood(model, x, log_z)
        found |= {f"annealing in {k} steps above the exact": log_z - z for k, z in annealed.items()}
    return found


def _one_seed(setting: Setting, images: Dataset, reference: Reference, seed: int, keep: Keep | None):
    """(rows of one seed, 25 samples by method, sampler and sweeps)."""
    found, shown, x = {}, {}, images.x[: setting.learning.samples]
    for method in methods_of(setting.learning):
        model = digits.trained(setting.learning, method, images, seed, keep)
        for name, sampler in SAMPLERS.items():
            drawn = samples(sampler_of(sampler), model, setting.sampled, setting.learning.samples, seed)
            for sweeps, visible in zip(setting.sampled, drawn, strict=True):
                words = f"by {method.name}, sampled by {name}, {sweeps} sweeps"
                found[f"log MMD^2, {words}"] = log_mmd2(reference, visible)
                found[f"share of pixels on, {words}"] = float(visible.mean())
                shown[words.removeprefix("by ")] = visible[:25]
        found |= {f"{what}, by {method.name}": v for what, v in likelihoods(model, x, setting.steps, seed).items()}
    return found, shown


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Learn by every method, sample by every sampler, and ask annealing how likely the images are."""
    setting = setting or (QUICK if request.quick else FULL)
    images = parse_dataset(setting.learning.data)
    reference = Reference.of(images.x[: setting.learning.samples])
    done = [_one_seed(setting, images, reference, seed, request.keep) for seed in range(request.seeds)]
    rows = rows_of({"share of pixels on, data": float(images.x.mean())} | found for found, _ in done)
    notes = (
        f"{len(images):,} images: {images.name}; {setting.learning.samples:,} samples",
        floor_note(reference, min(setting.learning.samples, len(images))),
        LAYERS_NOTE,
        f"annealing: {AIS_CHAINS} chains; E[Z_hat] = Z, so that a log-likelihood by annealing is too good on average",
        "the paper gives pictures only: no digits by coordinate descent, digits by PMP; of coordinate descent's own "
        "samples it says that very few pixels are on, and of models by PMP that annealing scores them far too well",
        "by PCD-1 is not in the paper",
    )
    columns = len(SAMPLERS) * len(setting.sampled)
    return Outcome(rows, pictures(done[0][1], images.shape, "Appendix B.4", columns), notes)


REPRODUCTION = Reproduction(
    "pmp-b4",
    "RBM of digits by perturb and coordinate descent",
    "RBM of 500 hidden units on MNIST learned as in 5.5 by coordinate descent of 1 and 10 sweeps, by PMP and by PCD; "
    "sampled by Gibbs, PMP and coordinate descent, 100 and 10,000 sweeps; annealing in 100 to 10,000 steps; days",
    "16 hidden units, whose log Z is exact, on scikit-learn's 8 x 8 digits, SGD 0.02, 300 epochs; sampled 100 and 1000 "
    "sweeps; annealing in 10 to 1000 steps",
    1,
    1,
    run,
    keeps=True,
    shown="learning?preset=descent",
)

__all__ = ["REPRODUCTION"]

"""Section 5.5 and Appendix B.2: an RBM of all digits, learned four ways, sampled for growing numbers of sweeps."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np
from jaxtyping import Int8

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import lines, pictures
from pmpviz.experiments.reproductions.keep import Keep, version
from pmpviz.experiments.reproductions.work import LAYERS_NOTE, Method, curve, floor_note, learn, log_mmd2, samples
from pmpviz.io import load_model, save_model
from pmpviz.io.datasets import Dataset, parse_dataset
from pmpviz.io.files import cache_folder
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.start import fresh_model
from pmpviz.metrics.mmd import Reference
from pmpviz.models import Ising
from pmpviz.runs import training

SAMPLED = (5, 10, 25, 50, 100, 200, 500, 1000, 2000)
SHOWN = (50, 100, 200, 2000)
BATCH = CHAINS = 100


@dataclass(frozen=True)
class Setting:
    """The images, hidden units, passes over the data, rate of SGD, sweeps, and samples."""

    data: str
    hidden: int
    epochs: int
    rate: float
    sweeps: int
    samples: int


FULL = Setting("mnist", 500, 200, 0.01, 100, 10_000)
# A larger rate (0.1) makes every chain learner swing between the digits: the last model is then a matter of chance.
QUICK = Setting("digits", 64, 1000, 0.02, 10, 1000)


def methods_of(setting: Setting) -> tuple[Method, ...]:
    """The four ways to learn."""
    many = {"sweeps": setting.sweeps}
    return (
        Method("PMP", "pmp", many),
        Method("Gibbs-reset", "gibbs_reset", many),
        Method(f"PCD-{setting.sweeps}", "pcd", many),
        Method("PCD-1", "pcd", {"sweeps": 1}),
    )


def trained(setting: Setting, method: Method, images: Dataset, seed: int, keep: Keep | None) -> Ising:
    """The learned model; both reproductions of these trainings share it by a file in the cache."""
    path = _folder() / f"{_key(setting, method, images, seed)}.npz"
    if path.is_file():
        return load_model(path).model
    start = fresh_model("rbm", images.x, setting.hidden, "paper", seed)
    iterations = setting.epochs * -(-len(images) // BATCH)
    optimiser = Optimiser(method="sgd", learning_rate=setting.rate)
    first = training.start(method.make(), start, images.x, jax.random.key(seed), optimiser, CHAINS, BATCH)
    done = learn(first, iterations, f"{method.name}, seed {seed}", keep)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_model(path, done.model)
    return done.model


def _folder() -> Path:
    return cache_folder() / "reproductions"


def _key(setting: Setting, method: Method, images: Dataset, seed: int) -> str:
    """What a training follows from, the version of the code included."""
    words = f"{setting}{method}{seed}{version()}"
    return hashlib.sha256(words.encode() + images.x.tobytes()).hexdigest()[:16]


def _setting(request: Request) -> tuple[Setting, Dataset, Reference]:
    setting = QUICK if request.quick else FULL
    images = parse_dataset(setting.data)
    return setting, images, Reference.of(images.x[: setting.samples])


def _notes(setting: Setting, images: Dataset, reference: Reference) -> tuple[str, ...]:
    return (
        f"{len(images):,} images: {images.name}; {setting.samples:,} samples against as many images",
        floor_note(reference, min(setting.samples, len(images))),
        LAYERS_NOTE,
        f"trainings are kept in, and taken from, {_folder()}; of seed 0: "
        + ", ".join(f"{method.name} {_key(setting, method, images, 0)}" for method in methods_of(setting)),
    )


def _curves(
    setting: Setting, images: Dataset, reference: Reference, seed: int, keep: Keep | None
) -> dict[str, np.ndarray]:
    """log MMD^2 by method, after each number of sweeps."""
    return {
        method.name: curve(
            method.sampler,
            trained(setting, method, images, seed, keep),
            SAMPLED,
            reference,
            setting.samples,
            seed,
            method.name,
        )
        for method in methods_of(setting)
    }


def run(request: Request) -> Outcome:
    """MMD against sweeps of sampling: Gibbs-reset peaks where it was trained."""
    setting, images, reference = _setting(request)
    done = [_curves(setting, images, reference, seed, request.keep) for seed in range(request.seeds)]
    rows = rows_of(
        {
            f"log MMD^2, {name}, {k} sweeps": v
            for name, found in each.items()
            for k, v in zip(SAMPLED, found, strict=True)
        }
        | {"best sweeps of Gibbs-reset": SAMPLED[int(np.argmin(each["Gibbs-reset"]))]}
        for each in done
    )
    curves = {name: np.stack([each[name] for each in done]) for name in done[0]}
    figure = lines(SAMPLED, curves, "Section 5.5", "sweeps of sampling", "log MMD^2")
    figure.add_vline(x=setting.sweeps, line_dash="dot", annotation_text="sweeps in training")
    return Outcome(rows, figure, _notes(setting, images, reference))


def nearest_labels(x: Int8[np.ndarray, "m v"], images: Dataset) -> np.ndarray:
    """The label of the image nearest to each sample, by pixels that differ."""
    assert images.labels is not None
    spins = 2.0 * images.x.astype(np.float32) - 1
    return images.labels[((2.0 * x.astype(np.float32) - 1) @ spins.T).argmax(1)]


def entropy(labels: np.ndarray) -> float:
    """Entropy of the labels' histogram, in nats."""
    share = np.bincount(labels) / len(labels)
    share = share[share > 0]
    return float(-(share @ np.log(share)))


def _diversity(setting: Setting, images: Dataset, reference: Reference, seed: int, keep: Keep | None):
    """(rows of one seed, 25 samples by method and sweeps)."""
    found, shown = {}, {}
    for method in methods_of(setting):
        model = trained(setting, method, images, seed, keep)
        drawn = samples(method.sampler, model, SHOWN, min(setting.samples, 2000), seed)
        for sweeps, x in zip(SHOWN, drawn, strict=True):
            labels, words = nearest_labels(x, images), f"{method.name}, {sweeps} sweeps"
            found[f"log MMD^2, {words}"] = log_mmd2(reference, x)
            found[f"entropy of nearest digits, {words}"] = entropy(labels)
            found[f"largest share of a digit, {words}"] = float(np.bincount(labels).max() / len(labels))
            shown[words] = x[:25]
    return found, shown


def run_pictures(request: Request) -> Outcome:
    """Samples after 50 to 2000 sweeps, and how many digits are among them."""
    setting, images, reference = _setting(request)
    done = [_diversity(setting, images, reference, seed, request.keep) for seed in range(request.seeds)]
    rows = rows_of({"entropy of the data's digits": entropy(images.labels)} | found for found, _ in done)
    notes = (*_notes(setting, images, reference), "a sample counts as the digit of the image nearest to it")
    figure = pictures(done[0][1], images.shape, "Appendix B.2", len(SHOWN))
    return Outcome(rows, figure, notes)


_FULL = "RBM of 500 hidden units on MNIST, SGD 0.01, 200 epochs of minibatches of 100, 100 sweeps, 100 chains; a day"
_QUICK = "RBM of 64 hidden units on scikit-learn's 8 x 8 digits, SGD 0.02, 1000 epochs, 10 sweeps in training"
REPRODUCTION = Reproduction("pmp-5.5", "RBM of digits", _FULL, _QUICK, 1, 1, run, keeps=True)
PICTURES = Reproduction("pmp-b2", "Samples of the RBM of digits", _FULL, _QUICK, 1, 1, run_pictures, keeps=True)

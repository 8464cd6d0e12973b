"""An RBM beside one with lateral weights, both under PCD: test log-probability against seconds.

Martens and Sutskever 2010, section 5.4, compare samplers on semi-restricted machines so; the log partition function
is estimated by annealed importance sampling, with its three standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.keep import Keep
from pmpviz.experiments.reproductions.work import Method, learn
from pmpviz.io.datasets import Dataset, parse_dataset
from pmpviz.learning.ais import annealed_log_z
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.parameters import log_likelihood
from pmpviz.learning.start import fresh_model
from pmpviz.runs import training

KINDS = {"RBM": "rbm", "SRBM": "srbm"}
SWEEPS, LATERAL_RATE, TEST_SHARE = 3, 0.1, 0.2


@dataclass(frozen=True)
class Setting:
    """The images, hidden units, numbers of epochs at which to look, rate of SGD, and the size of AIS."""

    data: str
    hidden: int
    epochs: tuple[int, ...]
    rate: float
    ais_chains: int
    temperatures: int


FULL = Setting("mnist", 500, (1, 2, 5, 10, 20, 50), 0.05, 100, 10_000)
QUICK = Setting("digits", 64, (1, 3, 10, 30, 100, 300), 0.05, 100, 1000)


@dataclass(frozen=True)
class Point:
    """A look at a training: seconds so far, mean log p of the test images, and its error bar by AIS."""

    seconds: float
    log_p: float
    below: float
    above: float


def looks(
    kind: str, setting: Setting, train: Dataset, test: Dataset, seed: int, keep: Keep | None = None
) -> list[Point]:
    """The test log-probability of one machine after each number of epochs."""
    start = fresh_model(kind, train.x, setting.hidden, "base rate", seed)
    method, optimiser = (
        Method(kind, "pcd", {"sweeps": SWEEPS}),
        Optimiser("sgd", setting.rate, lateral_rate=LATERAL_RATE),
    )
    steps = [epochs * -(-len(train) // 100) for epochs in setting.epochs]
    points: list[Point] = []

    def look(done) -> None:
        found = annealed_log_z(
            done.model,
            jax.random.key(seed),
            setting.ais_chains,
            setting.temperatures,
            np.asarray(start.bias)[: train.x.shape[1]],
        )
        log_p = log_likelihood(done.model, test.x, found.log_z)
        points.append(Point(done.seconds, log_p, found.high - found.log_z, found.log_z - found.low))

    done = training.start(method.make(), start, train.x, jax.random.key(seed), optimiser)
    for count in steps:
        done = learn(done, count, f"{kind}, seed {seed}", keep)
        look(done)
    return points


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """Both machines, at every look."""
    setting = setting or (QUICK if request.quick else FULL)
    train, test = parse_dataset(setting.data).split(TEST_SHARE, 0)
    done = [
        {name: looks(kind, setting, train, test, seed, request.keep) for name, kind in KINDS.items()}
        for seed in range(request.seeds)
    ]
    rows = rows_of(
        {
            f"{what}, {name}, {epochs} epochs": value
            for name, points in found.items()
            for epochs, point in zip(setting.epochs, points, strict=True)
            for what, value in (("test log p", point.log_p), ("training seconds", point.seconds))
        }
        for found in done
    )
    widest = max(max(p.below, p.above) for found in done for points in found.values() for p in points)
    notes = (
        f"{len(train):,} images to learn from, {len(test):,} to test: {train.name}; nats an image",
        f"log Z by AIS ({setting.ais_chains} chains, {setting.temperatures:,} temperatures): three standard errors are "
        f"at most {widest:.2g}; a log p by AIS is too good on average",
    )
    return Outcome(rows, _figure(done[0]), notes)


def _figure(found: dict[str, list[Point]]):
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, points in found.items():
        error = {"array": [p.above for p in points], "arrayminus": [p.below for p in points], "type": "data"}
        x, y = [p.seconds for p in points], [p.log_p for p in points]
        figure.add_scatter(x=x, y=y, error_y=error, name=name, mode="lines+markers")
    titles = {"xaxis_title": "seconds of training", "yaxis_title": "test log-probability (nats an image)"}
    figure.update_layout(title="RBM and SRBM under PCD", template="plotly_white", **titles)
    return figure


REPRODUCTION = Reproduction(
    "srbm",
    "Restricted and semi-restricted machines under PCD",
    "500 hidden units on MNIST, base-rate start, SGD 0.05, lateral rate a tenth of it, three Gibbs sweeps a step",
    "64 hidden units on scikit-learn's 8 x 8 digits, the rest as above",
    3,
    1,
    run,
    keeps=True,
)

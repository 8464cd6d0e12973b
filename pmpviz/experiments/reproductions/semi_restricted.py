"""An RBM, one with lateral weights and its equivalent with Gaussian units, all under PCD: log-probability by seconds.

Martens and Sutskever 2010, section 5.4: the SRBM takes one sweep of sequential Gibbs sampling a step, the other two
three sweeps of block Gibbs sampling. The log partition function is estimated by annealed importance sampling, with
its three standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass

import jax
import numpy as np

from pmpviz.experiments.reproductions import machines
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.keep import Keep
from pmpviz.experiments.reproductions.machines import EQUIVALENT, LATERAL_RATE, SEMI
from pmpviz.experiments.reproductions.work import Method, learn
from pmpviz.io.datasets import Dataset, parse_dataset
from pmpviz.learning.ais import annealed_log_z
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.parameters import log_likelihood
from pmpviz.learning.start import fresh_model
from pmpviz.runs import training

PLAIN, TEST_SHARE = "RBM", 0.2
KINDS = {PLAIN: ("rbm", 3)} | machines.KINDS
COLOURS = ("#D55E00", "#0072B2", "#009E73")
# Of the training images so many are enough for their log-probability.
TRAINING_IMAGES = 5000


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
    """A look at a training: seconds so far, mean log p of the test and of the training images, error bar by AIS."""

    seconds: float
    log_p: float
    training_log_p: float
    below: float
    above: float


def looks(
    name: str, setting: Setting, train: Dataset, test: Dataset, seed: int, keep: Keep | None = None
) -> list[Point]:
    """The log-probabilities of one of `KINDS` after each number of epochs."""
    kind, sweeps = KINDS[name]
    start = fresh_model(kind, train.x, setting.hidden, "base rate", seed)
    base = np.asarray(start.bias)[: train.x.shape[1]]
    learner = Method(name, "pcd", {"sweeps": sweeps}).make()
    optimiser = Optimiser("sgd", setting.rate, lateral_rate=LATERAL_RATE)
    done, points = training.start(learner, start, train.x, jax.random.key(seed), optimiser), []
    for epochs in setting.epochs:
        done = learn(done, epochs * -(-len(train) // 100), f"{name}, seed {seed}", keep)
        found = annealed_log_z(done.model, jax.random.key(seed), setting.ais_chains, setting.temperatures, base)
        unseen, seen = (log_likelihood(done.model, x, found.log_z) for x in (test.x, train.x[:TRAINING_IMAGES]))
        points.append(Point(done.seconds, unseen, seen, found.high - found.log_z, found.log_z - found.low))
    return points


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """All three machines, at every look."""
    setting = setting or (QUICK if request.quick else FULL)
    train, test = parse_dataset(setting.data).split(TEST_SHARE, 0)
    done = [
        {name: looks(name, setting, train, test, seed, request.keep) for name in KINDS} for seed in range(request.seeds)
    ]
    rows = rows_of([_one_seed(found, setting) for found in done], {_PACE: 10.0})
    ours = {row.quantity: row.ours for row in rows}
    widest = max(max(p.below, p.above) for found in done for points in found.values() for p in points)
    notes = (
        f"{len(train):,} images to learn from, {len(test):,} to test: {train.name}; nats an image",
        f"log Z by AIS ({setting.ais_chains} chains, {setting.temperatures:,} temperatures, evenly spaced; the paper's "
        f"1,024 and 32,000, denser towards 1): three standard errors are at most {widest:.2g}; a log p by AIS is too "
        "good on average",
        "the paper prints curves: lateral weights help, the equivalent RBM is as good as the SRBM, and learns ten "
        "times as fast on a GPU, where the sites of a sequential sweep follow one another",
        _verdict(ours, setting.epochs),
    )
    return Outcome(rows, _figure(done[0]), notes)


_PACE = "training seconds, SRBM over equivalent RBM"


def _gain(one: str, other: str) -> str:
    return f"test log p, {one} less {other}, at the end"


def _one_seed(found: dict[str, list[Point]], setting: Setting) -> dict[str, float]:
    rows = {
        f"{what}, {name}, {epochs} epochs": value
        for name, points in found.items()
        for epochs, point in zip(setting.epochs, points, strict=True)
        for what, value in (
            ("test log p", point.log_p),
            ("training log p", point.training_log_p),
            ("training seconds", point.seconds),
        )
    }
    last = {name: points[-1] for name, points in found.items()}
    for one, other in ((SEMI, PLAIN), (EQUIVALENT, SEMI)):
        rows[_gain(one, other)] = last[one].log_p - last[other].log_p
    return rows | {_PACE: last[SEMI].seconds / last[EQUIVALENT].seconds}


def _verdict(ours: dict[str, float], epochs: tuple[int, ...]) -> str:
    pace, device = ours[_PACE], jax.default_backend()
    return (
        f"here the SRBM is {_ahead(ours, SEMI, PLAIN, epochs)}; the equivalent RBM is "
        f"{_ahead(ours, EQUIVALENT, SEMI, epochs)}; "
        f"the SRBM takes {pace:.2g} times as long as the equivalent RBM on this {device}, its one sweep against three"
    )


def _ahead(ours: dict[str, float], one: str, other: str, epochs: tuple[int, ...]) -> str:
    """By how much at the end, and after how many epochs the one machine has the better test images."""
    gain = ours[_gain(one, other)]
    won = [str(k) for k in epochs if ours[f"test log p, {one}, {k} epochs"] > ours[f"test log p, {other}, {k} epochs"]]
    place = "ahead of" if gain > 0 else "behind"
    return f"{abs(gain):.2g} nats {place} the {other} at the end, ahead after {', '.join(won) or 'none'} of the epochs"


def _figure(found: dict[str, list[Point]]):
    import plotly.graph_objects as go

    figure = go.Figure()
    for (name, points), colour in zip(found.items(), COLOURS, strict=True):
        error = {"array": [p.above for p in points], "arrayminus": [p.below for p in points], "type": "data"}
        x = [p.seconds for p in points]
        figure.add_scatter(x=x, y=[p.log_p for p in points], error_y=error, name=name, line_color=colour)
        seen, line = [p.training_log_p for p in points], {"dash": "dot", "color": colour}
        figure.add_scatter(x=x, y=seen, name=f"{name}, training images", mode="lines", line=line)
    titles = {"xaxis_title": "seconds of training", "yaxis_title": "log-probability (nats an image)"}
    figure.update_layout(title="RBM, SRBM and its equivalent under PCD", template="plotly_white", **titles)
    figure.update_xaxes(type="log")
    return figure


REPRODUCTION = Reproduction(
    "srbm",
    "Restricted and semi-restricted machines under PCD",
    "500 hidden units on MNIST, base-rate start, SGD 0.05, lateral rate a tenth of it; a step has one sequential sweep "
    "of the SRBM, three of the others by blocks",
    "64 hidden units on scikit-learn's 8 x 8 digits, the rest as above",
    3,
    1,
    run,
    keeps=True,
    shown="learning?preset=equivalent",
)

"""One lane of a live training: its value, the pictures and numbers that it has shown, and its metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int8

from pmpviz.capabilities.learning.likelihood import Likelihood, LikelihoodJob, is_small
from pmpviz.io.datasets import Dataset
from pmpviz.learning.parameters import visible_of
from pmpviz.live.plan import Choice
from pmpviz.live.store import FrameRing, Series
from pmpviz.metrics.mmd import Reference, mmd2
from pmpviz.metrics.noise import NoiseBand, noise_band
from pmpviz.models import Ising, LayeredModel
from pmpviz.player.filters import SentFilters, sent_filters, weights_of
from pmpviz.runs import training as running

CHUNK_SECONDS = 0.04
MOST_PICTURES = 36
METRIC_ROWS = 1000
SERIES = ("iteration", "seconds", "gradient_norm", "weight_norm")


@dataclass(frozen=True)
class LearningPoint:
    """Metrics at one iteration; nan where one does not apply.

    `mmd2` of the fantasies against held-out data with the `band` of its noise; `reconstruction`: mean
    |v - E[v | E[h | v]]| a pixel of held-out data; `free_energy_gap`: mean free energy of held-out minus training data
    (above 0 and rising: overfitting); `used`: expected number of hidden units that are on, given a held-out picture;
    `agree`: correlation of neighbouring pixels' weights within `filters`, which are kept to be looked back at; `alike`:
    what share of their squared weights all filters have in common; `spread`: over what share of its pixels one spreads.
    """

    iteration: int
    epoch: float
    seconds: float
    mmd2: float
    band: NoiseBand
    reconstruction: float
    free_energy_gap: float
    used: float
    agree: float
    alike: float
    spread: float
    filters: SentFilters

    @property
    def noise(self) -> float:
        """Where the band ends above."""
        return self.band.high


@dataclass(frozen=True)
class LearningLaneView:
    """An immutable picture of a lane for pages; `independent` is the log-likelihood of independent pixels."""

    learner: str
    label: str
    guarantee: str
    knobs: dict[str, Any]
    iteration: int
    epoch: float
    seconds: float
    rate: float
    compile_seconds: float
    done: bool
    series: Series
    points: tuple[LearningPoint, ...]
    likelihoods: tuple[Likelihood, ...]
    independent: float
    ring: FrameRing
    model: Ising
    unscored: bool = False  # Whether likelihoods that were asked for are still to come.

    @property
    def algorithm(self) -> str:
        """The learner's id, under the name that all lanes have for theirs."""
        return self.learner


def is_metric_iteration(iteration: int) -> bool:
    """0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, ...: four in every doubling, whatever the chunks are."""
    return iteration < 8 or iteration % (1 << (iteration.bit_length() - 3)) == 0


def next_metric_iteration(iteration: int) -> int:
    """First metric iteration after this one."""
    step = 1 if iteration < 7 else 1 << max(iteration.bit_length() - 3, 0)
    return (iteration // step + 1) * step


def mosaic_shape(pictures: int, shape: tuple[int, int]) -> tuple[int, int, int, int]:
    """(rows, columns of pictures, height, width in pixels) of a mosaic with a pixel between pictures."""
    columns = math.ceil(math.sqrt(pictures * shape[0] / shape[1]))
    rows = math.ceil(pictures / columns)
    return rows, columns, rows * (shape[0] + 1) + 1, columns * (shape[1] + 1) + 1


def mosaic(x: Int8[np.ndarray, "m d"], shape: tuple[int, int]) -> Bool[np.ndarray, "height width"]:
    """Pictures side by side, row after row, with a pixel of paper between them."""
    rows, columns, height, width = mosaic_shape(len(x), shape)
    canvas = np.zeros((height, width), bool)
    for k, picture in enumerate(np.asarray(x, bool).reshape(-1, *shape)):
        top, left = 1 + (k // columns) * (shape[0] + 1), 1 + (k % columns) * (shape[1] + 1)
        canvas[top : top + shape[0], left : left + shape[1]] = picture
    return canvas


class LearningLane:
    """Worker-side state of a lane; `advance` computes one chunk, `view` publishes."""

    def __init__(self, plan: Choice, value: running.Training, train: Dataset, test: Dataset, epoch: int):
        self.plan, self.training, self.shape = plan, value, train.shape
        self.train_rows, self.test_rows = train.x[:METRIC_ROWS], test.x[:METRIC_ROWS]
        self.reference = Reference.of(self.test_rows, "held-out data")
        pictures = min(value.chains, MOST_PICTURES)
        self.pictures = pictures
        _, _, self.height, self.width = mosaic_shape(pictures, train.shape)
        self.ring = FrameRing(-(-self.height * self.width // 8))
        self.series = Series(SERIES)
        self.points: list[LearningPoint] = []
        self.likelihoods = LikelihoodJob(value.key, self.train_rows, self.test_rows)
        self.chunk, self.rate, self.compile_seconds = 1, 0.0, 0.0
        self.warmed = False
        self.show(epoch)
        self._measure()

    @property
    def algorithm(self) -> str:
        """The algorithm's id: lanes of one algorithm share their programs."""
        return self.plan.algorithm

    @property
    def count(self) -> int:
        """Iterations done."""
        return self.training.iteration

    def show(self, epoch: int) -> None:
        """The fantasies of this moment, the first of an epoch."""
        self.epoch = epoch
        self._append_frame()

    def warm(self) -> None:
        """Compile the program that `advance` runs, and advance by nothing."""
        self.training, trace = running.advance(self.training, 0)
        self.compile_seconds += trace.compile_seconds
        self.warmed = True

    def advance(self, most: int) -> None:
        """One compiled chunk of about 40 ms, up to the next iteration at which metrics are taken."""
        if not self.count and not is_small(self.training.model):
            self._score()  # Where the curve of the likelihood begins.
        due = next_metric_iteration(self.count) - self.count
        count = max(1, min(self.chunk, most, due, running.MAX_CHUNK))
        self.training, trace = running.advance(self.training, count)
        self.compile_seconds += trace.compile_seconds
        self._pace(trace, count)
        self.series.append(
            {
                "iteration": trace.iterations,
                "seconds": trace.seconds,
                "gradient_norm": trace.gradient_norm,
                "weight_norm": trace.weight_norm,
            }
        )
        self._append_frame()
        if is_metric_iteration(self.count):
            self._measure()

    def _pace(self, trace: running.TrainingTrace, count: int) -> None:
        rate = count / trace.run_seconds
        self.rate = rate if self.rate == 0 else 0.7 * self.rate + 0.3 * rate
        if trace.run_seconds > 1.5 * CHUNK_SECONDS:
            self.chunk = max(self.chunk // 2, 1)
        elif trace.run_seconds < 0.5 * CHUNK_SECONDS and count >= self.chunk:
            self.chunk = min(self.chunk * 2, running.MAX_CHUNK)

    def _append_frame(self) -> None:
        visible = visible_of(self.training.structure)
        picture = mosaic(self.training.fantasies[: self.pictures, :visible], self.shape)
        self.ring.append(np.array([self.count]), np.packbits(picture.reshape(1, -1), axis=1), self.epoch)

    def _measure(self) -> None:
        model, visible = self.training.model, visible_of(self.training.structure)
        found = self.reference.histograms(np.ascontiguousarray(self.training.fantasies[:, :visible]))
        noise = noise_band(self.reference, self.training.chains)
        self.points.append(
            LearningPoint(
                self.count,
                self.training.epoch,
                self.training.seconds,
                mmd2(*found),
                noise,
                *layer_errors(model, self.train_rows, self.test_rows),
                *shapes(model, self.shape),
                sent_filters(model, self.shape),
            )
        )
        # Before Play was pressed annealing would have to be compiled for a model that knows nothing.
        if is_small(model) or self.count:
            self._score()

    def _score(self) -> None:
        value = self.training
        self.likelihoods.ask(value.model, self.count, value.seconds, running.copy(value))

    def change(self, plan: Choice, optimiser) -> None:
        """New knobs from here on."""
        self.plan = plan
        self.training = running.adjust(self.training, plan.build(), optimiser)

    def resume(self, value: running.Training) -> None:
        """Go on from a saved training; what was shown and measured before it is not known here."""
        self.training = value
        self.points.clear()
        self.show(self.epoch)
        self._measure()

    def go_on_from_best(self, before: LearningLane) -> None:
        """Go on from the best moment of another lane of the same plan, or from its last, with what it had found."""
        best = before.likelihoods.best
        self.training = before.training if best is None else running.copy(best)
        self.points = [point for point in before.points if point.iteration <= self.count]
        self.likelihoods.found = [each for each in before.likelihoods.found if each.iteration <= self.count]
        self.likelihoods.best = best
        self.show(self.epoch)

    def view(self, done: bool, name: str = "") -> LearningLaneView:
        """The picture of this moment; `name` is what the lane is called among others."""
        value, spec = self.training, self.training.learner.spec
        return LearningLaneView(
            learner=spec.id,
            label=name or spec.label,
            guarantee=spec.guarantee,
            knobs=self.plan.full_knobs,
            iteration=value.iteration,
            epoch=value.epoch,
            seconds=value.seconds,
            rate=self.rate,
            compile_seconds=self.compile_seconds,
            done=done,
            series=self.series,
            points=tuple(self.points),
            likelihoods=tuple(self.likelihoods.found),
            independent=self.likelihoods.independent,
            ring=self.ring,
            model=value.model,
            unscored=self.likelihoods.unfinished,
        )


def shapes(model: Ising, shape: tuple[int, int]) -> tuple[float, float, float]:
    """(`agreement`, `likeness`, `extent`) of the filters; nan without a hidden layer."""
    if not isinstance(model, LayeredModel):
        return math.nan, math.nan, math.nan
    weight = np.asarray(weights_of(model), np.float64)
    return agreement(weight, shape), likeness(weight), extent(weight)


def likeness(weight: Float[np.ndarray, "hidden visible"]) -> float:
    """What share of the squared weights all filters have in common: mean product of two filters over mean square of
    one, 0 of noise."""
    count, each = len(weight), max(float(np.square(weight).sum()), np.finfo(float).tiny)
    together = float(np.square(weight.sum(0)).sum())
    return (together - each) / ((count - 1) * each) if count > 1 else 0.0


def extent(weight: Float[np.ndarray, "hidden visible"]) -> float:
    """Over what share of the pixels a filter spreads: the participation ratio of its squared weights, the median over
    filters; a third of Gaussian noise, 1 / n of a single pixel."""
    square = np.square(weight)
    ratio = np.square(square.sum(1)) / np.maximum(np.square(square).sum(1), np.finfo(float).tiny)
    return float(np.median(ratio)) / weight.shape[1]


def agreement(weight: Float[np.ndarray, "hidden visible"], shape: tuple[int, int]) -> float:
    """Correlation of the weights of pixels side by side or one above the other, within filters; 0 of noise."""
    filters = np.asarray(weight, np.float64).reshape(-1, *shape)
    filters = filters - filters.mean((1, 2), keepdims=True)
    pairs = [filters[:, 1:] * filters[:, :-1], filters[:, :, 1:] * filters[:, :, :-1]]
    found = [float(each.mean()) for each in pairs if each.size]
    return float(np.mean(found) / max(np.square(filters).mean(), np.finfo(float).tiny)) if found else 0.0


def layer_errors(
    model: Ising, train: Float[np.ndarray, "m v"], test: Float[np.ndarray, "k v"]
) -> tuple[float, float, float]:
    """(reconstruction error a pixel of held-out rows, mean free energy of held-out minus training rows, mean number of
    hidden units that are on given a held-out row); nan without a hidden layer."""
    if not isinstance(model, LayeredModel):
        return math.nan, math.nan, math.nan
    error, gap, used = _layer_errors(model, train.astype(np.float32), test.astype(np.float32))
    return float(error), float(gap), float(used)


@jax.jit
def _layer_errors(model, train, test):
    hidden = model.hidden_mean(test)
    gap = model.free_energy(test).mean() - model.free_energy(train).mean()
    return abs(test - model.visible_mean(hidden, test)).mean(), gap, hidden.sum(-1).mean()

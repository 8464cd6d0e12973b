"""The log-likelihood of held-out data, worked out beside a live training at a low priority."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Int8

from pmpviz import exact, keys
from pmpviz.learning.ais import annealed_log_z
from pmpviz.learning.parameters import log_likelihood
from pmpviz.live.background import Beside
from pmpviz.live.worker import worker
from pmpviz.models import Ising, LayeredModel
from pmpviz.types import Target

# States that are summed out again and again for the exact likelihood; chains and steps of annealing elsewhere.
MOST_LOG_TERMS = 22
AIS_CHAINS, AIS_STEPS = 64, 200
# Where fewer than that share of the chains carry the weights, the annealing is done again in so many steps, of as many
# parameters times steps at most as a few seconds of a core are enough for.
FEW, SLOW_STEPS, MOST_STEPPED = 1 / 3, 5000, 130_000_000
LATER = 3
# Of models that wait; the oldest ones give way to more.
MOST_BYTES = 32 << 20
# A smaller loss, in nats a picture, is the size of the optimiser's own steps about its best.
LEAST_LOSS = 0.05


@dataclass(frozen=True)
class Likelihood:
    """Mean log-likelihood of held-out rows after an iteration, exact, or by annealing with its bar of three errors."""

    iteration: int
    seconds: float
    value: float
    low: float
    high: float
    exact: bool


def best_of(found: Sequence[Likelihood]) -> Likelihood | None:
    """The greatest likelihood that is sure: the greatest of several noisy estimates is one that came out too high."""
    return max(found, key=lambda each: each.low, default=None)


def is_past_best(found: Sequence[Likelihood], looks: int = LATER) -> bool:
    """Whether the last `looks` that were taken after the best lie clearly below it, errors and all: it gets worse."""
    best = best_of(found)
    later = sorted((each for each in found if best and each.iteration > best.iteration), key=lambda e: e.iteration)
    return (
        best is not None and len(later) >= looks and all(each.high < best.low - LEAST_LOSS for each in later[-looks:])
    )


class LikelihoodJob(Beside):
    """Asked for the likelihood of a model now and then; the last model that was asked for comes first, those that had
    to wait for it after it, so that which iterations are measured does not depend on how busy the machine is.

    `best` is what was given to `ask` with the model of the greatest likelihood so far.
    """

    def __init__(self, key: jax.Array, train: Int8[np.ndarray, "m v"], test: Int8[np.ndarray, "k v"]):
        super().__init__()
        self.key, self.test = key, test
        rate = (train.sum(0) + 0.5) / (len(train) + 1)
        self.base = np.log(rate / (1 - rate))
        # What pixels that know nothing of each other would be given.
        self.independent = float(np.mean(test @ np.log(rate) + (1 - test) @ np.log1p(-rate)))
        self.found: list[Likelihood] = []
        self.best: Any = None
        self._wanted: list[tuple[Ising, int, float, Any]] = []
        self._lock, self._queued = threading.Lock(), False

    def ask(self, model: Ising, iteration: int, seconds: float, kept: Any = None) -> None:
        """Have the likelihood of this model worked out, before any other that still waits."""
        room = max(MOST_BYTES // max(sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(model)), 1), 1)
        with self._lock:
            self._wanted = [*self._wanted, (model, iteration, seconds, kept)][-room:]
        self.touch()
        if not self._queued:
            self._queued = True
            worker("background").add(self)
        worker("background").wake()

    def close(self) -> None:
        """Give up the place in the queue."""
        worker("background").remove(self)

    @property
    def unfinished(self) -> bool:
        """Whether a model waits."""
        return bool(self._wanted)

    def work(self, seconds: float) -> None:
        """One likelihood."""
        with self._lock:
            wanted = self._wanted.pop() if self._wanted else None
        if wanted is not None:
            model, iteration, spent, kept = wanted
            values = self._bar(model, iteration)
            self.found.append(found := Likelihood(iteration, spent, *values, is_small(model)))
            if best_of(self.found) is found:
                self.best = kept
        self._worked = time.monotonic()

    def fail(self, error: Exception) -> None:
        """Leave this one out."""

    def _bar(self, model: Ising, iteration: int) -> tuple[float, float, float]:
        if is_small(model):
            value = log_likelihood(model, self.test, exact.solve(Target.of(model)).log_z)
            return value, value, value
        key = keys.fold_in(self.key, iteration)
        estimate = annealed_log_z(model, key, AIS_CHAINS, AIS_STEPS, self.base)
        slow = min(SLOW_STEPS, MOST_STEPPED // sum(np.asarray(leaf).size for leaf in jax.tree.leaves(model)))
        if estimate.effective < FEW * AIS_CHAINS and slow > AIS_STEPS:
            estimate = annealed_log_z(model, key, AIS_CHAINS, slow, self.base)
        value, low, high = (log_likelihood(model, self.test, z) for z in (estimate.log_z, estimate.high, estimate.low))
        return value, low, high


def is_small(model: Any) -> bool:
    """Whether the exact likelihood costs little enough to be taken again and again."""
    if not isinstance(model, LayeredModel):
        return model.n <= 18
    if model.couplings.lateral is not None:
        return model.visible + math.log2(model.hidden) <= MOST_LOG_TERMS
    small, large = sorted((model.visible, model.hidden))
    return small + math.log2(large) <= MOST_LOG_TERMS


__all__ = ["Likelihood", "LikelihoodJob", "best_of", "is_past_best", "is_small"]

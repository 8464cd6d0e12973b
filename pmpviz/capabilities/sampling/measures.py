"""What a lane's configurations are measured by at one sweep: against the reference, and what chance alone would do."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from math import nan
from threading import Lock
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from pmpviz.metrics.marginals import marginal_l1, marginal_l1_floor, pair_marginal_error, pair_marginal_floor
from pmpviz.metrics.mmd import Histograms, Reference, mmd2
from pmpviz.metrics.noise import NoiseBand, noise_band
from pmpviz.metrics.spectrum import spectrum
from pmpviz.models.space import Space
from pmpviz.runs.truth import Truth

SPECTRUM_ORDERS = 4


class Errors(NamedTuple):
    """What is off of some configurations: MMD^2, that by order, and the errors of sites and of pairs."""

    mmd2: float
    spectrum: tuple[float, ...]
    marginal_l1: float
    pair_error: float


# Kept for as long as the reference is.
_FLOORS: WeakKeyDictionary[Reference, dict[int, tuple[float, float]]] = WeakKeyDictionary()
# Likewise, of the configurations that were measured last: a class that watches one run measures it once.
_ERRORS: WeakKeyDictionary[Reference, OrderedDict[bytes, Errors]] = WeakKeyDictionary()
_ERRORS_KEPT = 512
_lock = Lock()


@dataclass(frozen=True)
class MetricPoint:
    """Metrics of the counted configurations at one sweep, against the truth's reference.

    `band` is where 5 to 95 % of the estimates of MMD^2 lie for as many independent samples of the reference's law;
    `marginal_floor` and `pair_floor` are the errors that such samples have on average; `energy` is the mean energy over
    the chains and its standard error, where they are known.
    """

    sweep: int
    seconds: float
    updates: float
    mmd2: float
    band: NoiseBand
    spectrum: tuple[float, ...]
    marginal_l1: float
    pair_error: float
    marginal_floor: float = nan
    pair_floor: float = nan
    energy: tuple[float, float] = (nan, nan)

    @property
    def noise(self) -> float:
        """Where the band ends above."""
        return self.band.high

    @property
    def within(self) -> bool:
        """Whether MMD^2 is no larger than as many samples of the reference's law have it."""
        return self.mmd2 <= self.band.high


@dataclass(frozen=True)
class Counted:
    """The configurations, packed, that count at a moment (sweep, seconds, updates), and their energy."""

    moment: tuple[int, float, float]
    energy: tuple[float, float]
    bits: np.ndarray


def measured(counted: Counted, truth: Truth, space: Space) -> MetricPoint | None:
    """The metrics of the configurations of a moment; None of fewer than two."""
    count = len(counted.bits)
    if count < 2:
        return None
    errors = _errors(counted.bits, truth, space)
    band, floors = noise_band(truth.reference, count), _floors(truth, count)
    return MetricPoint(*counted.moment, errors.mmd2, band, *errors[1:], *floors, counted.energy)


def _errors(bits: np.ndarray, truth: Truth, space: Space) -> Errors:
    key = blake2b(bits.tobytes(), digest_size=16).digest()
    with _lock:
        kept = _ERRORS.setdefault(truth.reference, OrderedDict())
        if key in kept:
            kept.move_to_end(key)
            return kept[key]
    x = space.unpack(bits)
    found = truth.reference.histograms(x)
    pair = _pair_error(x, truth)
    errors = Errors(mmd2(*found), _spectrum(found, space), float(marginal_l1(x, truth.marginals)), pair)
    with _lock:
        kept[key] = errors
        if len(kept) > _ERRORS_KEPT:
            kept.popitem(last=False)
    return errors


def _floors(truth: Truth, count: int) -> tuple[float, float]:
    """Mean errors of sites and pairs of so many samples of the truth's own law.

    A long run, where its frequencies stand for the law's, is off by chance, too.
    """
    floors = _FLOORS.setdefault(truth.reference, {})
    if count not in floors:
        compared = max(round(1 / (1 / count + 1 / len(truth.reference.y))), 1)
        sites = count if truth.exact_marginals else compared
        pairs = nan
        if truth.pair_tables is not None:
            pairs = pair_marginal_floor(truth.pair_tables, count if truth.exact else compared)
        floors[count] = marginal_l1_floor(truth.marginals, sites), pairs
    return floors[count]


def _spectrum(found: Histograms, space: Space) -> tuple[float, ...]:
    """MMD^2 by order; none where cardinalities differ: the kernel then has no common orders."""
    if space.own is not None:
        return ()
    return tuple(float(v) for v in spectrum(*found, orders=SPECTRUM_ORDERS, cardinality=space.states))


def _pair_error(x: np.ndarray, truth: Truth) -> float:
    if truth.pairs is None or truth.pair_tables is None:
        return nan
    return float(pair_marginal_error(x, truth.pairs, truth.pair_tables))

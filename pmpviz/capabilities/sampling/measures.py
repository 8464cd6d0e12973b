"""What a lane's configurations are measured by at one sweep: against the reference, and what chance alone would do."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan
from weakref import WeakKeyDictionary

import numpy as np

from pmpviz.metrics.marginals import marginal_l1, marginal_l1_floor, pair_marginal_error, pair_marginal_floor
from pmpviz.metrics.mmd import Histograms, Reference, mmd2
from pmpviz.metrics.noise import NoiseBand, noise_band
from pmpviz.metrics.spectrum import spectrum
from pmpviz.models.space import Space
from pmpviz.runs.truth import Truth

SPECTRUM_ORDERS = 4
# Kept for as long as the reference is.
_FLOORS: WeakKeyDictionary[Reference, dict[int, tuple[float, float]]] = WeakKeyDictionary()


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


def measured(x: np.ndarray, truth: Truth, space: Space, counted: Counted) -> MetricPoint:
    """The metrics of the configurations of a moment."""
    found, band = truth.reference.histograms(x), noise_band(truth.reference, len(x))
    errors = float(marginal_l1(x, truth.marginals)), _pair_error(x, truth)
    floors = _floors(truth, len(x))
    return MetricPoint(*counted.moment, mmd2(*found), band, _spectrum(found, space), *errors, *floors, counted.energy)


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

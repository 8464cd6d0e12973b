"""Maximum mean discrepancy with the Hamming kernel k(x, y) = exp(-d(x, y) / n).

The kernel takes n + 1 values, so the estimate is a dot product with integer histograms of distances: exact counts,
float64 sums, no loss where MMD^2 is 1e-4 of its terms. Kernel: Perturb-and-max-product, section 5 (where the
formula repeats one argument: the second term is k(x', x')); estimators: Gretton et al. 2012, Lemma 6 and eq. (5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, Int8

from pmpviz.metrics.hamming import (
    Packed,
    check_states,
    cross_histogram,
    hamming_histogram,
    pack,
    planes_of,
    self_histogram,
    tiles,
)
from pmpviz.types import InputError

__all__ = [
    "Histograms",
    "NoiseFloor",
    "Reference",
    "balance",
    "hamming_histogram",
    "kernel",
    "kernel_moments",
    "mmd",
    "mmd2",
    "noise_floor",
]


class Histograms(NamedTuple):
    """Distances within x, within y (self pairs included) and between them: `mmd2(*h)`, `spectrum(*h)`."""

    xx: Int[np.ndarray, " n_plus_1"]
    yy: Int[np.ndarray, " n_plus_1"]
    xy: Int[np.ndarray, " n_plus_1"]
    x_count: int
    y_count: int
    n: int


class NoiseFloor(NamedTuple):
    """What two sets of independent draws of one law show: the V-statistic's mean, the unbiased one's deviation."""

    mean: float
    deviation: float


def kernel(n: int) -> Float[np.ndarray, " n_plus_1"]:
    """exp(-d / n) for d = 0..n."""
    return np.exp(-np.arange(n + 1) / n)


def _within(histogram: np.ndarray, count: int, unbiased: bool) -> np.ndarray:
    if not unbiased:
        return histogram / count**2
    if count < 2:
        raise InputError("the unbiased MMD needs at least two configurations in each set; add chains")
    pairs = histogram.astype(np.float64)
    pairs[0] -= count
    return pairs / (count * (count - 1))


def balance(
    hist_xx: Int[np.ndarray, " n_plus_1"],
    hist_yy: Int[np.ndarray, " n_plus_1"],
    hist_xy: Int[np.ndarray, " n_plus_1"],
    x_count: int,
    y_count: int,
    unbiased: bool = True,
) -> Float[np.ndarray, " n_plus_1"]:
    """Signed share of each distance, f_xx + f_yy - 2 f_xy: any MMD^2 is its dot product with a kernel's values."""
    within = _within(hist_xx, x_count, unbiased) + _within(hist_yy, y_count, unbiased)
    return within - 2.0 * hist_xy / (x_count * y_count)


def mmd2(
    hist_xx: Int[np.ndarray, " n_plus_1"],
    hist_yy: Int[np.ndarray, " n_plus_1"],
    hist_xy: Int[np.ndarray, " n_plus_1"],
    x_count: int,
    y_count: int,
    n: int,
    unbiased: bool = True,
) -> float:
    """MMD^2 = mean k(x, x') + mean k(y, y') - 2 mean k(x, y) from the histograms of distances.

    Unbiased (self pairs left out, may be negative) or the papers' V-statistic (never negative, biased upwards by
    `noise_floor(...).mean`). Reference: the set y. n/a (InputError) with fewer than two rows in a set if unbiased.
    """
    return float(balance(hist_xx, hist_yy, hist_xy, x_count, y_count, unbiased) @ kernel(n))


def mmd(x: Int8[np.ndarray, "x_rows n"], y: Int8[np.ndarray, "y_rows n"], unbiased: bool = True) -> float:
    """MMD, the root of MMD^2 (zero where the unbiased estimate of the square is negative), of x against y.

    Reference: the set y. For the square, or for many x against one y, use `Reference`.
    """
    return math.sqrt(max(0.0, Reference.of(y).mmd2(x, unbiased)))


def _row_sums(packed: Packed, values: np.ndarray) -> Float[np.ndarray, " rows"]:
    sums = np.zeros(packed.shape[3])
    for i, _, block in tiles(packed, packed):
        sums[i : i + block.shape[0]] += values[block].sum(1)
    return sums


def kernel_moments(packed: Packed, hist_yy: Int[np.ndarray, " n_plus_1"]) -> tuple[float, float]:
    """(E k, E k~^2) of the law behind the rows, k~ the kernel centred under it; both estimates are unbiased.

    E k~^2 is the squared norm of the U-centred kernel matrix over M (M - 3) (Szekely and Rizzo 2014).
    nan where there are fewer than 2, or 4, rows.
    """
    count, values = packed.shape[3], kernel(len(hist_yy) - 1)
    if count < 2:
        return math.nan, math.nan
    pairs = hist_yy.astype(np.float64)
    pairs[0] -= count
    total = float(pairs @ values)
    mean = total / (count * (count - 1))
    if count < 4:
        return mean, math.nan
    rows = _row_sums(packed, values) - 1.0
    square = float(pairs @ values**2)
    spread = square - 2 * float(rows @ rows) / (count - 2) + total**2 / ((count - 1) * (count - 2))
    return mean, max(0.0, spread) / (count * (count - 3))


def noise_floor(mean_kernel: float, kernel_variance: float, x_count: int, y_count: int) -> NoiseFloor:
    """Mean of the V-statistic, and standard deviation of the unbiased MMD^2, when both laws are equal.

    mean = (1 - E k)(1/N + 1/M); deviation^2 = 2 E k~^2 (1/(N(N-1)) + 1/(M(M-1)) + 2/(NM)), both exact for
    independent rows. The law is a skewed sum of centred chi-squares, not a normal: its share beyond two deviations
    is at most about 5 %, all above. Reference: the moments of y; n/a (nan) with fewer than two rows in a set.
    """
    if min(x_count, y_count) < 2:
        return NoiseFloor((1 - mean_kernel) * (1 / x_count + 1 / y_count), math.nan)
    spread = 1 / (x_count * (x_count - 1)) + 1 / (y_count * (y_count - 1)) + 2 / (x_count * y_count)
    mean = (1 - mean_kernel) * (1 / x_count + 1 / y_count)
    return NoiseFloor(mean, math.sqrt(2 * kernel_variance * spread))


@dataclass(frozen=True, eq=False)
class Reference:
    """A fixed set y, packed and with its own histogram, for many comparisons; `source` says what it is."""

    y: Int8[np.ndarray, "rows n"]
    packed: Packed
    hist_yy: Int[np.ndarray, " n_plus_1"]
    mean_kernel: float
    kernel_variance: float
    source: str

    @classmethod
    def of(cls, y: Int8[np.ndarray, "rows n"], source: str = "the given samples") -> Reference:
        """Reference made of the rows of y; raises InputError where they are no configurations."""
        y = check_states(y, "the reference samples")
        packed = pack(y, planes_of(y))
        hist_yy = self_histogram(packed, y.shape[1])
        return cls(y, packed, hist_yy, *kernel_moments(packed, hist_yy), source)

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.y.shape[1]

    def histograms(self, x: Int8[np.ndarray, "rows n"]) -> Histograms:
        """Histograms of x against this reference; raises InputError where x has other variables."""
        x = check_states(x)
        if x.shape[1] != self.n:
            raise InputError(f"the samples have {x.shape[1]} variables and the reference {self.n}; use one model")
        planes = max(planes_of(x), self.packed.shape[2])
        packed_y = self.packed if planes == self.packed.shape[2] else pack(self.y, planes)
        packed = pack(x, planes)
        cross = cross_histogram(packed, packed_y, self.n)
        return Histograms(self_histogram(packed, self.n), self.hist_yy, cross, len(x), len(self.y), self.n)

    def mmd2(self, x: Int8[np.ndarray, "rows n"], unbiased: bool = True) -> float:
        """MMD^2 of x against this reference."""
        return mmd2(*self.histograms(x), unbiased=unbiased)

    def noise(self, x_count: int) -> NoiseFloor:
        """What `x_count` independent draws of the reference's own law would show against it."""
        return noise_floor(self.mean_kernel, self.kernel_variance, x_count, len(self.y))

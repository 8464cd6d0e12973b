"""The noise band of MMD^2: where 5 to 95 % of the estimates lie when both sets of samples are of one law."""

from __future__ import annotations

import math
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float

from pmpviz.metrics.hamming import tiles
from pmpviz.metrics.mmd import Reference, kernel, noise_floor

SPLITS = 1000
LEAST_ROWS = 8
# Rows that are not the commonest one: with fewer it is as good as one state, and no split says how it varies.
LEAST_OTHERS = 8


class NoiseBand(NamedTuple):
    """5 % and 95 % quantiles of the unbiased MMD^2 between independent sets of one law, and the largest of SPLITS such;
    nan where n/a."""

    low: float
    high: float
    most: float

    @property
    def known(self) -> bool:
        """Whether there is one."""
        return math.isfinite(self.high)


# Kept for as long as the reference is.
_BANDS: WeakKeyDictionary[Reference, dict[int, NoiseBand]] = WeakKeyDictionary()


def noise_band(reference: Reference, x_count: int) -> NoiseBand:
    """Band of the unbiased MMD^2 of `x_count` independent draws of the reference's own law against the reference.

    Its quantiles are those of 1,000 random splits of the reference into two disjoint sets (their rows are independent
    draws of the law, whatever its shape: one hill or two), times the ratio of the exact standard deviations for the
    two pairs of sizes (`noise_floor`). n/a with fewer than two draws or eight rows.
    """
    bands = _BANDS.setdefault(reference, {})
    if x_count not in bands:
        bands[x_count] = _band(reference, x_count)
    return bands[x_count]


def _band(reference: Reference, x_count: int) -> NoiseBand:
    rows = len(reference.y)
    if x_count < 2 or rows < LEAST_ROWS or _others(reference) < LEAST_OTHERS:
        return NoiseBand(math.nan, math.nan, math.nan)
    size = min(x_count, rows // 2)
    one, other = (noise_floor(0.0, 1.0, *sizes).deviation for sizes in ((x_count, rows), (size, rows - size)))
    found = np.quantile(_split_estimates(_gram(reference), size), (0.05, 0.95, 1.0)) * (one / other)
    return NoiseBand(*found.tolist())


def _others(reference: Reference) -> int:
    """Rows that are not the commonest one."""
    return len(reference.y) - int(np.unique(reference.y, axis=0, return_counts=True)[1].max())


def _gram(reference: Reference) -> Float[np.ndarray, "rows rows"]:
    values, rows = kernel(reference.n), len(reference.y)
    gram = np.zeros((rows, rows))
    for i, j, block in tiles(reference.packed, reference.packed):
        gram[i : i + block.shape[0], j : j + block.shape[1]] = values[block]
    return gram


def _split_estimates(gram: Float[np.ndarray, "rows rows"], size: int) -> Float[np.ndarray, " splits"]:
    """Unbiased MMD^2 between `size` random rows and all others, for each of 1,000 choices that are always the same."""
    rows = len(gram)
    # A constant added to all pairs cancels: around the mean, single precision is enough.
    gram = (gram - gram.mean()).astype(np.float32)
    np.fill_diagonal(gram, 0.0)
    chosen = np.zeros((SPLITS, rows), np.float32)
    places = np.random.default_rng(0).random((SPLITS, rows), np.float32).argpartition(size - 1, axis=1)[:, :size]
    np.put_along_axis(chosen, places, 1.0, axis=1)
    sums = chosen @ gram  # Of each row, over the chosen ones.
    within = (sums * chosen).sum(1, dtype=np.float64)
    across = sums.sum(1, dtype=np.float64) - within
    others = gram.sum(dtype=np.float64) - within - 2 * across
    left = rows - size
    return within / (size * (size - 1)) + others / (left * (left - 1)) - 2 * across / (size * left)

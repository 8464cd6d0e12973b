"""Statistics over the chains: bands, magnetisation, and the distance of a mean from its exact value."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int8, Shaped

from pmpviz.metrics.reading import Reading


class Band(NamedTuple):
    """Mean over the chains, and the quantiles that the band is drawn between."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray


def band(values: Shaped[np.ndarray, "*times chains"], low: float = 0.1, high: float = 0.9) -> Band:
    """Mean and the `low` and `high` quantiles over the chains (last axis). No reference."""
    values = np.asarray(values, np.float64)
    below, above = np.quantile(values, [low, high], axis=-1)
    return Band(values.mean(-1), below, above)


def magnetisation(x: Int8[np.ndarray, "*times n"]) -> Float[np.ndarray, "*times"]:
    """Mean spin m = 1/n sum_i (2 x_i - 1) of each configuration, in [-1, 1]. Binary models; no reference."""
    return 2.0 * np.asarray(x).mean(-1, dtype=np.float64) - 1.0


def standard_error(values: Shaped[np.ndarray, " chains"]) -> float:
    """Standard error of the mean of independent values; nan for fewer than two."""
    values = np.asarray(values, np.float64)
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def z_score(values: Shaped[np.ndarray, " chains"], exact: float) -> Reading:
    """(mean - exact) / standard error, for independent chains; about normal where `exact` is the true mean.

    Reference: the exact mean (of the energy, say). n/a with fewer than two chains or where they are all alike.
    """
    error = standard_error(values)
    if not error > 0:
        return Reading.none("the deviation from the exact mean needs two chains or more with different values")
    return Reading((float(np.mean(values)) - exact) / error)

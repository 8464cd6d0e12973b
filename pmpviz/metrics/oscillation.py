"""Does a message-passing run oscillate? Found by comparison with its own last sweeps."""

from __future__ import annotations

import numpy as np
from jaxtyping import Shaped

from pmpviz.types import InputError

HISTORY = 64
CONFIRM = 8
"""Sweeps that must repeat where the history holds them: a shorter repeat of a few bits is often chance."""


def find_period(history: Shaped[np.ndarray, "sweeps m"], tolerance: float, residual: float | None = None) -> int | None:
    """Smallest period p >= 2 with which the last sweeps repeat, or None.

    `history`: a summary of each of the last sweeps (at most 64 count), latest last: messages, total fields, or
    packed decoded bits, but not the residual alone, which is constant where an oscillation travels round a cycle.
    Row t and row t - p must agree to `tolerance` in every entry, for the last p rows and the last 8, or for as
    many as there are if no fewer than the smaller of p and 8. None where the run has converged (the last two rows
    agree, or `residual`, the largest message change, is within `tolerance`), repeats nothing, or there are fewer
    than 4 rows. Needs no reference; n/a for samplers. Raises InputError where `history` is not a matrix.
    On a frustrated cycle of L variables undamped max-product has period 2 L.
    """
    rows = np.asarray(history, np.float64)
    if rows.ndim != 2:
        raise InputError(f"the history has shape {rows.shape}; give one row a sweep")
    rows = rows[-HISTORY:]
    sweeps = len(rows)
    if sweeps < 4 or (residual is not None and residual <= tolerance) or _repeats(rows, 1, 1, tolerance):
        return None
    for period in range(2, sweeps):
        known = sweeps - period
        enough = known >= min(period, CONFIRM)
        if enough and _repeats(rows, period, min(known, max(period, CONFIRM)), tolerance):
            return period
    return None


def _repeats(rows: np.ndarray, period: int, count: int, tolerance: float) -> bool:
    stop = len(rows)
    now, before = rows[stop - count :], rows[stop - count - period : stop - period]
    return bool((np.abs(now - before) <= tolerance).all())

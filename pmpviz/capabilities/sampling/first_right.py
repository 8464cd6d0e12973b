"""When the mean energy of a lane's chains first was right, and what a mean of few chains may be off by chance."""

from __future__ import annotations

import functools
import math

import numpy as np
from jaxtyping import Bool
from scipy.stats import norm as normal
from scipy.stats import t as student

from pmpviz.live.store import Bins, Series

CHANCE = 3
"""Standard deviations of the normal law up to which two means are not told apart; `rare` puts them for few chains."""
FAR = 4
"""The same from which on a verdict speaks of the energy, too. It looks many times a minute: by chance alone one look
in 16,000 is as far off."""
DOUBT = 2
"""The same from which on it is said by how many: whoever sees number and error side by side asks."""
STAYS = 1
"""The same that the energy may be off on average over as many sweeps again, once it is right: one that still falls is
off by more, to one side, for long."""
FEW_CHAINS = 8
"""Fewer chains know too little of their own error for it to be told when they first were right."""


@functools.lru_cache(maxsize=64)
def rare(deviations: float, chains: int) -> float:
    """Standard errors that a mean of so many chains is off as rarely as one of the normal law is off by `deviations`.

    The standard error is one of the same few chains: the ratio has Student's t law, with chains - 1 degrees of freedom.
    Infinite of a single chain, of whose error nothing is known.
    """
    return float(student.isf(normal.sf(deviations), chains - 1)) if chains > 1 else math.inf


def right_since(
    series: Series, since: int, sweep: int, law: tuple[float, float], chains: int
) -> tuple[int, int] | None:
    """The stretch of sweeps from `since` on after which the mean energy of so many chains first was no further off than
    chance mostly puts it, and stayed for as many sweeps again: one that falls slowly touches it before.

    It is known once these are made, and then says the same however long the run goes on. `law` is the right energy with
    its error. None where it is not known yet, and of few chains, of which chance allows nearly everything.
    """
    bins = series.bins(since + 1, sweep)
    if not len(bins) or chains < FEW_CHAINS:
        return None
    far = rare(DOUBT, chains) * np.hypot(bins.most["energy:error"], law[1])
    reached = (bins.least["energy:mean"] <= law[0] + far) & (bins.most["energy:mean"] >= law[0] - far)
    known = 2 * (bins.most["sweep"] - since) <= sweep - since
    right = np.flatnonzero(known & reached & _stays(bins, since, law, chains))
    if not len(right):
        return None
    begin, end = (int(ends["sweep"][right[0]]) - since for ends in (bins.least, bins.most))
    return begin, end


def _stays(bins: Bins, since: int, law: tuple[float, float], chains: int) -> Bool[np.ndarray, " bins"]:
    """Whether, after each bin, the mean energy is on average off by no more than one that is right mostly is, over as
    many sweeps again as were made by then, as far as these are made."""
    columns = bins.mean["energy:mean"] - law[0], np.hypot(bins.mean["energy:error"], law[1])
    off, error = (np.concatenate([[0.0], np.cumsum(each)]) for each in columns)
    ends = bins.most["sweep"] - since
    begin, until = 1 + np.arange(len(bins)), np.searchsorted(ends, 2 * ends, side="right")
    return np.abs(off[until] - off[begin]) <= rare(STAYS, chains) * (error[until] - error[begin])


__all__ = ["CHANCE", "DOUBT", "FAR", "FEW_CHAINS", "rare", "right_since"]

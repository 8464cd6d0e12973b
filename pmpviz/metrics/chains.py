"""How well chains mix: rank-normalised split R-hat, bulk effective sample size, autocorrelation.

Vehtari, Gelman, Simpson, Carpenter, Buerkner 2021, "Rank-normalization, folding, and localization". All need the
successive states of Markov chains and no reference; for a sampler whose draws are independent, or for the
iterations of a solver, they are n/a and are not to be called. Values are `[chains, draws]` (energies, say) or
`[chains, draws, n]` for sites.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np
from jaxtyping import Float, Shaped

from pmpviz.metrics.reading import Reading

MIN_DRAWS = 8
"""Fewer draws a chain leave halves of three or less: no variance within them worth the name."""
MIN_CHAINS, KEPT = 5, 3.0
BLOCK = 1 << 22


def _refusal(values: np.ndarray) -> str | None:
    if values.shape[1] < MIN_DRAWS:
        return f"needs at least {MIN_DRAWS} recorded draws a chain; there are {values.shape[1]}"
    if not np.isfinite(values).all():
        return "needs finite values; some are infinite or not a number"
    return None


def _still(values: np.ndarray) -> str | None:
    return "needs values that change; all draws are alike" if (values == values[:1, :1]).all() else None


@lru_cache(maxsize=1)
def _quantile_knots() -> tuple[np.ndarray, np.ndarray]:
    """Log-odds and normal quantiles for interpolation: error below 1e-7 for probabilities down to 2e-9."""
    logit = np.linspace(-20.0, 0.0, 8193)
    left = np.array([NormalDist().inv_cdf(p) for p in 1 / (1 + np.exp(-logit))])
    return np.concatenate([logit, -logit[-2::-1]]), np.concatenate([left, -left[-2::-1]])


def rank_normalise(values: Shaped[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """Normal scores Phi^-1((rank - 3/8) / (S + 1/4)) of the pooled values, ties at their average rank (eq. (14))."""
    _, back, counts = np.unique(values, return_inverse=True, return_counts=True)
    rank = np.cumsum(counts) - (counts - 1) / 2
    chance = (rank - 0.375) / (values.size + 0.25)
    logit, quantile = _quantile_knots()
    return np.interp(np.log(chance) - np.log1p(-chance), logit, quantile)[back].reshape(values.shape)


def _split(values: np.ndarray) -> np.ndarray:
    """Each chain as two, its first and its last half; an odd draw in the middle is left out."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


def _split_rhat(halves: np.ndarray) -> np.ndarray:
    """sqrt(var_plus / W) over chains and draws; infinite where the chains only differ from each other."""
    draws = halves.shape[1]
    within = (halves - halves[:, :1]).var(1, ddof=1).mean(0)  # exactly zero for chains that stand still
    between = halves.mean(1).var(0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((draws - 1) / draws + between / within)


def rhat(values: Shaped[np.ndarray, "chains draws"]) -> Reading:
    """Rank-normalised split R-hat, the larger of the bulk's and the folded one (which sees different spreads).

    Near 1 when the chains agree; above 1.01 they don't yet. No reference. n/a with fewer than `MIN_DRAWS` draws,
    or for a constant. One chain is split in two.
    """
    values = np.asarray(values)
    halves = _split(values.astype(np.float64))
    if reason := _refusal(values) or _still(halves):
        return Reading.none("R-hat " + reason)
    bulk = _split_rhat(rank_normalise(halves))
    folded = np.abs(halves - np.median(halves))
    if _still(folded):
        return Reading(float(bulk))
    return Reading(float(max(bulk, _split_rhat(rank_normalise(folded)))))


def keep_apart(values: Shaped[np.ndarray, "chains draws"]) -> bool:
    """Whether chains keep to what they differ by: Fisher's z of the correlation r, across chains, of the mean over the
    first quarter of the draws with that over the last, sqrt(chains - 3) atanh(r), is above 3.

    Of a stationary law that is forgotten within half of the draws r is 0 but for chance, however large R-hat is of
    windows of a few autocorrelation times: R-hat^2 is about 1 / (1 - tau / draws of a half). True of fewer than
    `MIN_CHAINS` chains, of which nothing can be told, and of chains that stand still.
    """
    quarter = values.shape[1] // 4
    if len(values) < MIN_CHAINS or not quarter:
        return True
    first, last = (part.astype(np.float64).mean(1) for part in (values[:, :quarter], values[:, -quarter:]))
    spread = first.std() * last.std()
    if not spread > 0:
        return True
    r = float(((first - first.mean()) * (last - last.mean())).mean() / spread)
    return math.sqrt(len(values) - 3) * math.atanh(max(0.0, min(r, 1 - 1e-12))) > KEPT


def _autocovariance(values: np.ndarray) -> np.ndarray:
    """Biased autocovariance at lags 0..draws-1, averaged over the chains (axis 0)."""
    draws = values.shape[1]
    centred = values - values.mean(1, keepdims=True)
    size = 1 << (2 * draws - 1).bit_length()
    most = max(1, BLOCK // (size * math.prod(values.shape[2:])))  # As many chains at once as have room.
    power = np.zeros(())
    for first in range(0, len(values), most):
        parts = np.fft.rfft(centred[first : first + most], size, axis=1)
        power = power + (parts.real**2 + parts.imag**2).sum(0)
    return np.fft.irfft(power, size, axis=0)[:draws] / (draws * len(values))


def _correlation(values: np.ndarray) -> np.ndarray:
    """rho_t = 1 - (W - mean autocovariance_t) / var_plus (eq. (10)): chains that disagree stay correlated."""
    draws = values.shape[1]
    covariance = _autocovariance(values)
    within = covariance[0] * draws / (draws - 1)
    between = values.mean(1).var(0, ddof=1) if len(values) > 1 else 0.0
    rho = 1.0 - (within - covariance) / (covariance[0] + between)
    rho[0] = 1.0
    return rho


def _integrated(rho: np.ndarray) -> np.ndarray:
    """tau = -1 + 2 sum of Geyer's initial monotone sequence of sums of two neighbours, plus the last even lag."""
    even = rho[: len(rho) // 2 * 2 : 2]
    pairs = even + rho[1 : 2 * len(even) : 2]
    kept = np.cumprod(pairs > 0, axis=0).astype(bool)
    falling = np.minimum.accumulate(pairs, axis=0)
    last = kept.sum(0)
    padded = np.concatenate([even, np.zeros_like(even[:1])])
    tail = np.take_along_axis(padded, last[None], axis=0)[0]
    return -1.0 + 2.0 * np.where(kept, falling, 0.0).sum(0) + np.maximum(tail, 0.0)


def _split_ess(halves: np.ndarray) -> np.ndarray:
    """Draws over integrated time; antithetic chains count at most log10(draws) times over, as in the paper."""
    total = halves.shape[0] * halves.shape[1]
    return total / np.maximum(_integrated(_correlation(halves)), 1.0 / math.log10(total))


def bulk_ess(values: Shaped[np.ndarray, "chains draws"]) -> Reading:
    """Bulk effective sample size: of the rank-normalised split chains, all together.

    No reference. n/a with fewer than `MIN_DRAWS` draws, or for a constant. For independent draws it is their
    number, and needs no estimate.
    """
    values = np.asarray(values)
    halves = _split(values.astype(np.float64))
    if reason := _refusal(values) or _still(halves):
        return Reading.none("ESS " + reason)
    return Reading(float(_split_ess(rank_normalise(halves))))


def _sites(x: np.ndarray, limit: int | None) -> np.ndarray:
    """Columns of the sites that change, at most `limit` of them, evenly spaced."""
    moving = np.flatnonzero((x != x[:1, :1]).any((0, 1)))
    if limit is not None and len(moving) > limit:
        moving = moving[np.linspace(0, len(moving) - 1, limit).round().astype(int)]
    return moving


def _over_sites(x: np.ndarray, of, limit: int | None, name: str) -> Reading:
    if reason := _refusal(x):
        return Reading.none(f"{name} {reason}")
    sites = _sites(_split(x), limit)
    if not len(sites):
        return Reading.none(f"{name} needs sites that change; all of them are constant")
    size = max(1, BLOCK // (x.shape[0] * x.shape[1]))
    blocks = [sites[i : i + size] for i in range(0, len(sites), size)]
    return Reading(float(np.median(np.concatenate([of(_split(x[..., b].astype(np.float64))) for b in blocks]))))


def site_ess(x: Shaped[np.ndarray, "chains draws n"], limit: int | None = 256) -> Reading:
    """Median over the sites that change of their effective sample size; constant sites are left out.

    For two states rank normalisation is affine and changes nothing; more states count by their number. At most
    `limit` evenly spaced sites are looked at (None: all). No reference. n/a with fewer than `MIN_DRAWS` draws or
    where no site changes.
    """
    return _over_sites(np.asarray(x), _split_ess, limit, "ESS")


def site_rhat(x: Shaped[np.ndarray, "chains draws n"], limit: int | None = 256) -> Reading:
    """Median over the sites that change of their split R-hat; constant sites are left out (see `site_ess`)."""
    return _over_sites(np.asarray(x), _split_rhat, limit, "R-hat")


def autocorrelation(
    values: Shaped[np.ndarray, "chains draws"], lags: int | None = None
) -> Float[np.ndarray, " lags"] | None:
    """rho_t at lags 0, 1, ..., by FFT, all chains together and about their common mean.

    No reference. None with fewer than `MIN_DRAWS` draws or for a constant (`integrated_time` gives the reason).
    """
    values = np.asarray(values)
    return None if _refusal(values) or _still(values) else _correlation(values.astype(np.float64))[:lags]


def integrated_time(values: Shaped[np.ndarray, "chains draws"]) -> Reading:
    """Integrated autocorrelation time tau = 1 + 2 sum_t rho_t, in draws, of the split chains (not rank-normalised).

    No reference. n/a with fewer than `MIN_DRAWS` draws, or for a constant.
    """
    values = np.asarray(values)
    halves = _split(values.astype(np.float64))
    if reason := _refusal(values) or _still(halves):
        return Reading.none("the autocorrelation time " + reason)
    return Reading(float(halves.shape[0] * halves.shape[1] / _split_ess(halves)))


def of_all_chains(ess: Reading, recorded: int, chains: int) -> Reading:
    """Effective draws of all `chains` in the sweeps of which `recorded` ones have this ESS; n/a as the ESS is.

    ESS of all = ESS of the recorded * chains / recorded: chains are independent and of one law.
    """
    return ess if ess.value is None else Reading(ess.value * chains / recorded)


def ess_per_second(ess: Reading, seconds: float) -> Reading:
    """Effective draws a second of sampling time (compilation and metrics excluded); n/a as the ESS is.

    Both of the same chains and the same sweeps, or the figure depends on how much of a run was recorded.
    """
    if ess.value is None:
        return ess
    if not seconds > 0:
        return Reading.none("ESS per second needs a measured time; none has passed")
    return Reading(ess.value / seconds)

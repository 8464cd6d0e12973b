"""log Z from draws of a Gaussian relaxation, each estimate with a standard error by batch means; host, float64.

p*(z) = exp(-z'z / 2 + sum_i softplus((B z)_i + c_i)) integrates to (2 pi)^(m/2) Z. The estimators compare it with a
Gaussian q that is fitted to draws of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

BATCHES = 25
# A fitted Gaussian wider than this multiple of the relaxation's own gives weights of infinite variance at 2.
WIDEST = 1.8
BRIDGE_STEPS, BRIDGE_TOLERANCE = 200, 1e-10

Log = Callable[[Float[np.ndarray, "k m"]], Float[np.ndarray, " k"]]


@dataclass(frozen=True)
class Estimate:
    """log of an integral, and the standard error of that logarithm."""

    log: float
    error: float


@dataclass(frozen=True, eq=False)
class Gaussian:
    """A normal law, by its mean, the covariance's eigenvectors and eigenvalues."""

    mean: Float[np.ndarray, " m"]
    vectors: Float[np.ndarray, "m m"]
    values: Float[np.ndarray, " m"]

    @classmethod
    def fitted(cls, z: Float[np.ndarray, "k m"], widest: float = np.inf) -> Gaussian:
        """Mean and covariance of draws, this shrunk towards the unit matrix as by m draws of it, eigenvalues cut."""
        count, m = z.shape
        mean = z.mean(0)
        covariance = ((z - mean).T @ (z - mean) + m * np.eye(m)) / (count + m)
        values, vectors = np.linalg.eigh(covariance)
        return cls(mean, vectors, np.minimum(values, widest))

    def log_density(self, z: Float[np.ndarray, "k m"]) -> Float[np.ndarray, " k"]:
        """log q(z)."""
        away = (z - self.mean) @ self.vectors
        return -0.5 * ((away**2 / self.values).sum(1) + np.log(2 * np.pi * self.values).sum())

    def draws(self, rng: np.random.Generator, count: int) -> Float[np.ndarray, "k m"]:
        """Independent draws."""
        return self.mean + (rng.normal(size=(count, len(self.mean))) * np.sqrt(self.values)) @ self.vectors.T


def log_mean(log_weight: Float[np.ndarray, " k"]) -> Estimate:
    """log of the mean of weights that follow one another in time, its error by 25 batches."""
    log = float(_log_sum(log_weight) - np.log(len(log_weight)))
    batches = np.array([_log_sum(part) - np.log(len(part)) for part in np.array_split(log_weight, BATCHES)])
    return Estimate(log, float(np.exp(batches - log).std(ddof=1) / np.sqrt(BATCHES)))


def _log_sum(values: Float[np.ndarray, " k"]) -> float:
    """log of the sum of exponentials; scipy's takes a hundred times as long on the short arrays of a bridge's steps."""
    top = values.max(initial=-np.inf)
    return float(top + np.log(np.exp(values - top).sum())) if np.isfinite(top) else float(top)


def _inverse(estimate: Estimate) -> Estimate:
    return Estimate(-estimate.log, estimate.error)


def mirrored(z: Float[np.ndarray, "k m"], log_p: Log) -> Estimate:
    """1 / mean of q(z) / p*(z) over the draws that q was fitted on: biased by the fit (Zhang and others 2012, 3.4)."""
    return _inverse(log_mean(Gaussian.fitted(z).log_density(z) - log_p(z)))


def mirrored_split(z: Float[np.ndarray, "k m"], log_p: Log) -> Estimate:
    """The same with q fitted on the first half, no wider than gives a finite variance, and averaged over the other."""
    half = len(z) // 2
    return _inverse(log_mean(Gaussian.fitted(z[:half], WIDEST).log_density(z[half:]) - log_p(z[half:])))


def forward(z: Float[np.ndarray, "k m"], log_p: Log, rng: np.random.Generator) -> Estimate:
    """Mean of p*(y) / q(y) over as many fresh draws y of q: unbiased, as long as q covers p."""
    q = Gaussian.fitted(z)
    y = q.draws(rng, len(z))
    return log_mean(log_p(y) - q.log_density(y))


def bridge(z: Float[np.ndarray, "k m"], log_p: Log, rng: np.random.Generator) -> Estimate:
    """Bridge sampling by the optimal function (Meng and Wong 1996): q of either half, with the draws of the other.

    The two answers share all draws: the error is the root mean square of theirs.
    """
    half = len(z) // 2
    parts = [_bridge(a, b, log_p, rng) for a, b in ((z[:half], z[half:]), (z[half:], z[:half]))]
    errors = np.array([part.error for part in parts])
    return Estimate(float(np.mean([part.log for part in parts])), float(np.sqrt((errors**2).mean())))


def _bridge(fit: Float[np.ndarray, "k m"], z: Float[np.ndarray, "k m"], log_p: Log, rng) -> Estimate:
    q = Gaussian.fitted(fit)
    y = q.draws(rng, len(z))
    of_q, of_p = log_p(y) - q.log_density(y), log_p(z) - q.log_density(z)
    log_r = float(np.median(of_p))
    for _ in range(BRIDGE_STEPS):
        # With as many draws of either, weights 1 / (p* + r q): numerator over draws of q, denominator over those of p.
        fresh = _log_sum(_share(of_q, log_r)) - _log_sum(_share(-of_p, -log_r) - log_r)
        log_r, before = fresh, log_r
        if abs(log_r - before) < BRIDGE_TOLERANCE:
            break
    errors = log_mean(_share(of_q, log_r)).error, log_mean(_share(-of_p, -log_r)).error
    return Estimate(log_r, float(np.hypot(*errors)))


def _share(log_ratio: Float[np.ndarray, " k"], log_r: float) -> Float[np.ndarray, " k"]:
    """log of w / (w + r) at log w = `log_ratio`."""
    return -np.logaddexp(0.0, log_r - log_ratio)


def of_state(log_probability: Float[np.ndarray, " k"], log_weight: float) -> Estimate:
    """weight(s) / mean of p(s | z) over the draws: Z = weight(s) / p(s), by one state s."""
    found = _inverse(log_mean(log_probability))
    return Estimate(log_weight + found.log, found.error)


__all__ = [
    "BATCHES",
    "Estimate",
    "Gaussian",
    "bridge",
    "forward",
    "log_mean",
    "mirrored",
    "mirrored_split",
    "of_state",
]

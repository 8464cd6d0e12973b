"""Effective sample size by the spectrum of an autoregressive model at frequency 0, as the CODA package has it.

Cowles, Best, Vines, Plummer 2006: n var(x) / S(0), S(0) = sigma^2 / (1 - sum_k a_k)^2 of the model x_t = sum_k a_k
x_{t-k} + noise that Akaike's criterion prefers, up to 10 log10(n) terms, fitted to each chain by Yule and Walker's
equations. A chain that is far from its law reads high, since no other chain is looked at.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Shaped

from pmpviz.metrics.chains import MIN_DRAWS
from pmpviz.metrics.reading import Reading


def autoregressive_ess(x: Shaped[np.ndarray, "draws n"]) -> Float[np.ndarray, " n"]:
    """Effective draws of each column of one chain; columns must change."""
    draws = len(x)
    centred = np.asarray(x, np.float64) - np.mean(x, 0)
    most = min(draws - 1, int(10 * np.log10(draws)))
    covariance = np.stack([(centred[: draws - lag] * centred[lag:]).sum(0) for lag in range(most + 1)]) / draws
    noise, gain, orders = _fits(covariance)
    best = (draws * np.log(noise) + 2 * orders[:, None]).argmin(0)
    column = np.arange(x.shape[1])
    # As R's `ar` does: the noise of k terms and a mean is divided by n - k - 1.
    spectrum = noise[best, column] * draws / (draws - best - 1) / gain[best, column] ** 2
    return draws * centred.var(0, ddof=1) / spectrum


def _fits(covariance: Float[np.ndarray, "lags n"]):
    """(sigma^2, 1 - sum_k a_k, number of terms) of every order, by Levinson and Durbin's recursion."""
    noise, terms = [covariance[0]], np.zeros((0, covariance.shape[1]))
    gain = [np.ones_like(covariance[0])]
    for order in range(1, len(covariance)):
        last = (covariance[order] - (terms * covariance[order - 1 : 0 : -1]).sum(0)) / noise[-1]
        terms = np.concatenate([terms - last * terms[::-1], last[None]])
        noise.append(noise[-1] * (1 - last**2))
        gain.append(1 - terms.sum(0))
    return np.stack(noise), np.stack(gain), np.arange(len(covariance))


def site_autoregressive_ess(x: Shaped[np.ndarray, "chains draws n"]) -> Reading:
    """Effective draws of a chain: the median over the sites that change in it, and of that over the chains.

    n/a with fewer than `MIN_DRAWS` draws, or where no site changes.
    """
    if x.shape[1] < MIN_DRAWS:
        return Reading.none(f"ESS needs at least {MIN_DRAWS} recorded draws a chain; there are {x.shape[1]}")
    each = [
        np.median(autoregressive_ess(chain[:, moving])) for chain in x if (moving := (chain != chain[0]).any(0)).any()
    ]
    return Reading(float(np.median(each))) if each else Reading.none("ESS needs sites that change; all are constant")


__all__ = ["autoregressive_ess", "site_autoregressive_ess"]

"""The MMD spectrum: how much of MMD^2 comes from means, from pairs, from triples.

In spins, exp(-d(x, y) / n) = sum_S lambda_|S| chi_S(x) chi_S(y) with chi_S the product of the spins in S, so
MMD^2 = sum_k lambda_k sum_{|S| = k} (E_p chi_S - E_q chi_S)^2, and sum_{|S| = k} chi_S(x) chi_S(y) is the
Krawtchouk polynomial K_k(d(x, y)): every order follows from the same histograms of distances.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from pmpviz.metrics.mmd import balance, kernel
from pmpviz.types import InputError


def order_weights(n: int, orders: int, cardinality: int = 2) -> Float[np.ndarray, " orders_plus_1"]:
    """Weight of order k = 0..orders in k(x, x) = 1: a binomial law with n trials of (K - 1)(1 - r) / K, r = e^(-1/n).

    For two states that is C(n, k) lambda_k, lambda_k = ((1 + r)/2)^(n - k) ((1 - r)/2)^k: .303, .076, .013 for
    k = 1, 2, 3 and large n, so that this MMD mostly sees means.
    """
    chance = (cardinality - 1) * -math.expm1(-1 / n) / cardinality
    top = min(orders, n)
    logs = [_log_choose(n, k) + k * math.log(chance) + (n - k) * math.log1p(-chance) for k in range(top + 1)]
    return np.concatenate([np.exp(logs), np.zeros(orders - top)])


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def krawtchouk(n: int, orders: int, cardinality: int = 2) -> Float[np.ndarray, "orders_plus_1 n_plus_1"]:
    """Krawtchouk polynomials over their value at zero, K_k(d) / K_k(0), for k = 0..orders and d = 0..n.

    Three-term recurrence in k, (n - k)(K - 1) q_(k+1) = ((n - k)(K - 1) + k - K d) q_k - k q_(k-1), whose terms
    stay within [-1, 1]; rows with k > n are zero.
    """
    distance, others = np.arange(n + 1), cardinality - 1
    rows = np.zeros((orders + 1, n + 1))
    rows[0] = 1.0
    for k in range(min(orders, n)):
        before = rows[k - 1] if k else 0.0
        rows[k + 1] = ((n - k) * others + k - cardinality * distance) * rows[k] - k * before
        rows[k + 1] /= (n - k) * others
    return rows


def spectrum(
    hist_xx: Int[np.ndarray, " n_plus_1"],
    hist_yy: Int[np.ndarray, " n_plus_1"],
    hist_xy: Int[np.ndarray, " n_plus_1"],
    x_count: int,
    y_count: int,
    n: int,
    orders: int = 8,
    unbiased: bool = True,
    cardinality: int = 2,
) -> Float[np.ndarray, " orders_plus_1"]:
    """Parts of MMD^2 from order 1, 2, ..., `orders`, and last the rest: together `mmd2` of the same histograms.

    Each part of the V-statistic is a sum of squares; unbiased parts may be negative. Reference: the set y. n/a for
    variables of different cardinality (the mismatch kernel then has no common orders); `cardinality` is that of
    all. Raises InputError for fewer than one order.
    """
    if orders < 1:
        raise InputError(f"the spectrum has {orders} orders; give at least 1")
    share = balance(hist_xx, hist_yy, hist_xy, x_count, y_count, unbiased)
    parts = order_weights(n, orders, cardinality)[:, None] * krawtchouk(n, orders, cardinality)
    rest = kernel(n) - parts.sum(0)
    return np.concatenate([parts[1:] @ share, [rest @ share]])


def spectrum_floor(
    hist_yy: Int[np.ndarray, " n_plus_1"],
    x_count: int,
    y_count: int,
    orders: int = 8,
    cardinality: int = 2,
) -> Float[np.ndarray, " orders_plus_1"]:
    """Mean of each part of the V-statistic's `spectrum` when both laws are equal; last the rest.

    lambda_k sum_{|S| = k} (1 - (E chi_S)^2) (1/N + 1/M), the law's moments taken from the histogram of a reference
    (self pairs included). n/a (InputError) where that reference has fewer than two rows.
    """
    n, rows = len(hist_yy) - 1, math.isqrt(int(hist_yy.sum()))
    if rows < 2:
        raise InputError("the noise floor needs at least two reference configurations; add some")
    pairs = hist_yy.astype(np.float64)
    pairs[0] -= rows
    parts = order_weights(n, orders, cardinality)[:, None] * krawtchouk(n, orders, cardinality)
    parts = np.concatenate([parts[1:], [kernel(n) - parts.sum(0)]])
    return (parts[:, 0] - parts @ pairs / pairs.sum()) * (1 / x_count + 1 / y_count)

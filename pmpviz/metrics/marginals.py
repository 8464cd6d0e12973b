"""Errors of sampled marginals against true ones, and what independent draws of the truth would show.

Every function here needs the true marginals (`Exact.marginals`, or those of a labelled long run) and is n/a where
there are none. Marginals are `p1[n]` = p(x_i = 1) of binary variables or one array of probabilities a variable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Float, Int, Int8

from pmpviz.metrics.hamming import check_states
from pmpviz.types import InputError

Marginals = Float[np.ndarray, " n"] | Sequence[Float[np.ndarray, " states"]]
BLOCK = 1 << 22


def marginal_table(marginals: Marginals) -> Float[np.ndarray, "n states"]:
    """One row of probabilities a variable, padded with zeros to the largest cardinality."""
    if isinstance(marginals, np.ndarray) and marginals.ndim == 1:
        p1 = marginals.astype(np.float64)
        return np.stack([1 - p1, p1], axis=1)
    rows = [np.asarray(row, np.float64) for row in marginals]
    table = np.zeros((len(rows), max(map(len, rows))))
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table


def frequencies(x: Int8[np.ndarray, "rows n"], states: int) -> Float[np.ndarray, "n states"]:
    """Share of the rows in each state of each variable; raises InputError for a state beyond `states`."""
    x = check_states(x)
    if x.max() >= states:
        raise InputError(f"the samples hold state {x.max()}, but the reference has {states} states; use one model")
    return np.stack([_counted(x == state) for state in range(states)], axis=1) / len(x)


def _counted(found: Bool[np.ndarray, "rows columns"]) -> Int[np.ndarray, " columns"]:
    return np.add.reduce(found.view(np.uint8), axis=0, dtype=np.uint32)  # Several times as fast as a mean of booleans.


def _compare(x, marginals: Marginals) -> tuple[np.ndarray, np.ndarray]:
    truth = marginal_table(marginals)
    found = frequencies(x, truth.shape[1])
    if len(found) != len(truth):
        raise InputError(f"the samples have {len(found)} variables and the reference {len(truth)}; use one model")
    return found, truth


def _mean_over(values: np.ndarray, free: np.ndarray | None) -> float:
    if free is not None:
        values = values[np.asarray(free, bool)]
    return float(values.mean()) if values.size else math.nan


def marginal_l1(
    x: Int8[np.ndarray, "rows n"], marginals: Marginals, free: Bool[np.ndarray, " n"] | None = None
) -> float:
    """Mean over the variables of 1/2 sum_k |p_hat_i(k) - p_i(k)|; for two states the mean of |p_hat_i(1) - p_i(1)|.

    Barrier Frank-Wolfe, section 5 (zeta_mu). `free` leaves clamped variables out; nan where none is free.
    Reference: true marginals.
    """
    found, truth = _compare(x, marginals)
    return _mean_over(np.abs(found - truth).sum(1) / 2, free)


def hellinger(x: Int8[np.ndarray, "rows n"], marginals: Marginals, free: Bool[np.ndarray, " n"] | None = None) -> float:
    """Mean over the variables of sqrt(1 - sum_k sqrt(p_hat_i(k) p_i(k))), which minds rare states more than L1.

    `free` leaves clamped variables out; nan where none is free. Reference: true marginals.
    """
    found, truth = _compare(x, marginals)
    return _mean_over(_hellinger(np.sqrt(found * truth).sum(1)), free)


def _hellinger(affinity: np.ndarray) -> np.ndarray:
    return np.sqrt(np.clip(1.0 - affinity, 0.0, None))


def pair_marginal_error(
    x: Int8[np.ndarray, "rows n"],
    pairs: Int[np.ndarray, "pairs 2"],
    tables: Float[np.ndarray, "pairs states states"],
) -> float:
    """Mean over the pairs (i, j) of 1/2 sum_ab |p_hat(x_i = a, x_j = b) - p_ij(a, b)|; nan where there are none.

    Reference: true pair marginals, as `Exact.pair_marginals(pairs)` gives them. Raises InputError where pairs and
    tables don't match, or the samples hold states that the tables lack.
    """
    x, pairs = check_states(x), np.asarray(pairs)
    tables = np.asarray(tables, np.float64)
    states = tables.shape[-1] if tables.ndim == 3 else 0
    if tables.shape != (len(pairs), states, states):
        raise InputError(f"{len(pairs)} pairs have tables of shape {tables.shape}; give one square table a pair")
    if x.max() >= max(states, 1):
        raise InputError(f"the samples hold state {x.max()}, but the tables have {states} states; use one model")
    if not len(pairs):
        return math.nan
    size = max(1, BLOCK // len(x))
    parts = [_pair_errors(x, pairs[i : i + size], tables[i : i + size]) for i in range(0, len(pairs), size)]
    return float(np.concatenate(parts).mean())


def _pair_errors(x: np.ndarray, pairs: np.ndarray, tables: np.ndarray) -> np.ndarray:
    states = tables.shape[-1]
    joint = np.take(x, pairs[:, 0], axis=1).astype(np.int16) * states + np.take(x, pairs[:, 1], axis=1)
    found = np.stack([_counted(joint == cell) for cell in range(states**2)], axis=1) / len(x)
    return np.abs(found - tables.reshape(len(tables), -1)).sum(1) / 2


def _mean_absolute_deviation(p: np.ndarray, count: int) -> np.ndarray:
    """E |p_hat - p| of `count` draws, exactly: 2 v C(N, v) p^v (1 - p)^(N - v + 1) / N, v = floor(N p) + 1."""
    flat, back = np.unique(p, return_inverse=True)
    inside = (flat > 0) & (flat < 1)
    q = np.where(inside, flat, 0.5)
    v = np.minimum(np.floor(count * q) + 1, count)
    choose = np.array([math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) for k in v])
    log = np.log(2 * v / count) + choose + v * np.log(q) + (count - v + 1) * np.log1p(-q)
    return np.where(inside, np.exp(log), 0.0)[back].reshape(p.shape)


def marginal_l1_floor(marginals: Marginals, count: int, free: Bool[np.ndarray, " n"] | None = None) -> float:
    """Mean of `marginal_l1` over `count` independent draws of the truth itself (exact, by De Moivre's formula)."""
    return _mean_over(_mean_absolute_deviation(marginal_table(marginals), count).sum(1) / 2, free)


def total_variation_floor(law: Float[np.ndarray, " states"], count: int) -> float:
    """Mean of the total variation between a law and the shares of `count` independent draws of it (exact)."""
    return float(_mean_absolute_deviation(np.asarray(law, np.float64), count).sum() / 2)


def pair_marginal_floor(tables: Float[np.ndarray, "pairs states states"], count: int) -> float:
    """Mean of `pair_marginal_error` over `count` independent draws of the truth itself (exact)."""
    return float(_mean_absolute_deviation(np.asarray(tables, np.float64), count).sum((1, 2)).mean() / 2)


def hellinger_floor(p1: Float[np.ndarray, " n"], count: int, free: Bool[np.ndarray, " n"] | None = None) -> float:
    """Mean of `hellinger` over `count` independent draws of the truth itself: exact binomial sums, two states only.

    About 1 / (2 sqrt(pi N)) wherever N p (1 - p) is large.
    """
    share = np.arange(count + 1) / count

    def distance(p):
        return _hellinger(np.sqrt(share * p[:, None]) + np.sqrt((1 - share) * (1 - p[:, None])))

    return _mean_over(_binomial_mean(np.asarray(p1, np.float64), count, distance), free)


def _binomial_mean(p: np.ndarray, count: int, of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """sum_k Binomial(k; count, p) of(p)[k], in blocks of distinct p."""
    flat, back = np.unique(p, return_inverse=True)
    k = np.arange(count + 1)
    factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    choose = factorial[-1] - factorial - factorial[::-1]
    means = np.empty(len(flat))
    size = max(1, BLOCK // (count + 1))
    for i in range(0, len(flat), size):
        q = np.clip(flat[i : i + size], 1e-300, 1 - 1e-16)[:, None]
        weight = np.exp(choose + k * np.log(q) + (count - k) * np.log1p(-q))
        means[i : i + size] = (weight * of(flat[i : i + size])).sum(1)
    return means[back]

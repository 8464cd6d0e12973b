"""What the spectrum of W + D says: whether the landscape has one hill, and how fast Gibbs sampling mixes.

lambda_1(W + D) <= 4 for some D >= 0 with W + D >= 0 makes p(z) log-concave (Zhang and others 2012, proposition 1), and
the spectral gap of Gibbs sampling with a random scan at least (1 - lambda_1 / 4) / n (Eldan, Koehler, Zeitouni 2022).
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from pmpviz.types import Refusal, Target

ONE_HILL = 4.0
MOST_STATES = 1 << 12


def largest_eigenvalue(matrix: Float[np.ndarray, "n n"], d: Float[np.ndarray, " n"]) -> float:
    """lambda_1(W + D)."""
    return float(np.linalg.eigvalsh(np.asarray(matrix, np.float64) + np.diag(d))[-1])


def has_one_hill(largest: float) -> bool:
    """Whether log p(z) is sure to be concave: beyond the mark it may split, sooner or later by the fields."""
    return largest < ONE_HILL


def gap_bound(largest: float, n: int) -> float:
    """(1 - lambda_1 / 4) / n, the least gap of random-scan Gibbs sampling; 0 where the theorem says nothing."""
    return max(1.0 - largest / ONE_HILL, 0.0) / n


def gibbs_gap(target: Target) -> float:
    """1 - the second eigenvalue of random-scan Gibbs sampling of the free variables, by enumeration in float64.

    Raises Refusal above 2^12 states.
    """
    bias, i, j, w = target.model.pairwise()
    mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
    free = np.flatnonzero(~mask)
    if 1 << len(free) > MOST_STATES or not len(free):
        raise Refusal(f"the exact gap needs 1 to 12 free variables; this model has {len(free):,}")
    states = np.repeat(np.where(mask, value, 0).astype(np.float64)[None], 1 << len(free), 0)
    states[:, free] = (np.arange(len(states))[:, None] >> np.arange(len(free))) & 1
    energy = float(target.beta) * (states @ bias + (states[:, i] * states[:, j]) @ w)
    # In the form sqrt(p) K / sqrt(p), which is symmetric: a flip has sqrt(p(x) p(x')) / (p(x) + p(x')).
    kernel, number = np.zeros((len(states),) * 2), np.arange(len(states))
    for k in range(len(free)):
        half = 0.5 * (energy - energy[number ^ (1 << k)])
        kernel[number, number ^ (1 << k)] += 0.5 / np.cosh(half)
        kernel[number, number] += 0.5 * (1.0 + np.tanh(half))
    return float(1.0 - np.linalg.eigvalsh(kernel / len(free))[-2])


__all__ = ["ONE_HILL", "gap_bound", "gibbs_gap", "has_one_hill", "largest_eigenvalue"]

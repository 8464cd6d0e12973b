"""Diagonal shifts D that make W + D positive semidefinite, on the host in float64.

Adding d_i s_i^2 / 2 and taking away d_i s_i / 2 changes nothing, since s_i^2 = s_i. The smaller D is, the nearer to
each other are the 2^n Gaussians that the relaxation is a mixture of.
"""

from __future__ import annotations

import numpy as np
import scipy
from jaxtyping import Float

from pmpviz.types import InputError

# Newton's steps, and by how much the barrier's weight falls with each centre, in `least_trace_shift`.
NEWTON_STEPS, BARRIER_FACTOR, RELATIVE_GAP = 60, 0.2, 1e-6
SMALL = 300


def least_eigenvalue(matrix) -> float:
    """The least eigenvalue of a symmetric matrix, dense or sparse."""
    n = matrix.shape[0]
    if n == 0:
        return 0.0
    if n <= SMALL:
        dense = matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
        return float(np.linalg.eigvalsh(dense)[0])
    start = np.random.default_rng(0).normal(size=n)
    return float(scipy.sparse.linalg.eigsh(matrix, k=1, which="SA", v0=start, return_eigenvectors=False)[0])


def uniform_shift(matrix, eps: float = 0.0) -> Float[np.ndarray, " n"]:
    """(1 + eps) alpha_min for every variable: alpha_min = max(-lambda_n(W), 0) (Martens and Sutskever 2010, 3.3)."""
    return np.full(matrix.shape[0], (1.0 + eps) * max(-least_eigenvalue(matrix), 0.0))


def row_shift(matrix) -> Float[np.ndarray, " n"]:
    """D_ii = sum_j |w_ij|: that of the edge form; W + D is diagonally dominant."""
    return np.asarray(np.abs(matrix).sum(1), np.float64).reshape(-1)


def least_trace_shift(matrix: Float[np.ndarray, "n n"], eps: float = 0.0) -> Float[np.ndarray, " n"]:
    """(1 + eps) times the D of least trace with W + D >= 0, to a millionth.

    Newton's method on t tr D - log det(W + D) for a growing t: gradient t - S_ii, Hessian S_ij^2 with S the inverse of
    W + D (Vandenberghe and Boyd 1996). O(n^3) a step.
    """
    matrix = np.asarray(matrix, np.float64)
    n = len(matrix)
    scale = np.abs(matrix).sum(1).max(initial=0.0)
    if scale == 0:
        return np.zeros(n)
    d, t = row_shift(matrix) + 0.01 * scale, 1.0 / scale
    # At the centre of weight t the trace is within n / t of the least.
    while n / t > RELATIVE_GAP * d.sum():
        d = _centre(matrix, d, t)
        t /= BARRIER_FACTOR
    return (1.0 + eps) * d


def _centre(matrix: Float[np.ndarray, "n n"], d: Float[np.ndarray, " n"], t: float) -> Float[np.ndarray, " n"]:
    """Newton's steps, each cut by the decrement so that the matrix stays positive definite."""
    for _ in range(NEWTON_STEPS):
        inverse = np.linalg.inv(matrix + np.diag(d))
        gradient = t - np.diag(inverse)
        step = np.linalg.solve(inverse**2, gradient)
        decrement = np.sqrt(max(float(gradient @ step), 0.0))
        d = d - step / (1.0 + decrement if decrement > 0.25 else 1.0)
        if decrement < 1e-3:
            break
    return d


def shift_by_hand(matrix, d: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """The shift itself where W + D >= 0; raises InputError with its least eigenvalue elsewhere."""
    d = np.broadcast_to(np.asarray(d, np.float64), (matrix.shape[0],)).copy()
    shifted = matrix + (scipy.sparse.diags_array(d) if scipy.sparse.issparse(matrix) else np.diag(d))
    least = least_eigenvalue(shifted)
    if least < -1e-9 * max(float(np.abs(d).max(initial=0.0)), 1.0):
        raise InputError(
            f"W + D has the eigenvalue {least:.4g} with this shift, so that no Gaussian has it as its covariance; "
            f"give a uniform shift of at least {-least_eigenvalue(matrix):.4g}"
        )
    return d


__all__ = ["least_eigenvalue", "least_trace_shift", "row_shift", "shift_by_hand", "uniform_shift"]

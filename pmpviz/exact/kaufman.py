"""Kaufman's closed form of log Z: the square lattice of any size, periodic both ways, without a field."""

from __future__ import annotations

import math

import numpy as np

from pmpviz.models.couplings import ShiftCouplings
from pmpviz.models.ising import Ising
from pmpviz.types import Refusal, Target

# Below this |J| the series of high temperature is exact in float64, and the closed form loses digits.
WEAK = 1e-6
# Share of the larger term that must be left of a difference, so that about eight digits of Z are.
LEAST_LEFT = 1e-6

LOG2 = math.log(2)


def kaufman_log_z(height: int, width: int, J: float) -> float:
    """log sum over s of exp(J sum_{edges} s_i s_j) on the height x width torus of spins -1, 1 (sides of 3 and more).

    Z = (2 sinh 2|J|)^(N/2) / 2 * (A + B + C + D) for J > 0, with A, B = prod over odd k of 2 cosh, 2 sinh (H g_k / 2)
    and C, D the same over even k, k = 0..2W-1, cosh g_k = cosh 2J coth 2J - cos(pi k / W), g_0 = 2J + log tanh J with
    its sign, H = height, W = width (Kaufman 1949, Eq. 49). For J < 0 turn every other spin: each odd side becomes a row
    of J > 0 with an antiperiodic seam, which makes the bracket A - B + C - D for an odd W, C - D - A + B for two odd
    sides. The differences A - B and C - D are taken without cancellation. Raises Refusal where what is left of the last
    one has lost its digits (two odd sides at low temperature).
    """
    sites, strength = height * width, abs(J)
    if strength < WEAK:
        return sites * (LOG2 + 2 * math.log(math.cosh(J)))
    odd_sides = (height % 2) + (width % 2) if J < 0 else 0
    if odd_sides == 1 and height % 2:
        height, width = width, height
    odd, even = _gammas(width, strength)
    if odd_sides == 0:
        bracket = np.logaddexp(_log_bracket(height, odd, 1), _log_bracket(height, even, 1))
    else:
        bracket = _joined(_log_bracket(height, odd, -1), _log_bracket(height, even, -1), odd_sides)
    return float(sites / 2 * np.log(2 * math.sinh(2 * strength)) - LOG2 + bracket)


def _joined(odd: float, even: float, odd_sides: int) -> float:
    if odd_sides == 1:
        return float(np.logaddexp(odd, even))
    left = -math.expm1(odd - even) if odd < even else 0.0
    if left < LEAST_LEFT:
        raise Refusal("Kaufman's form loses its digits on two odd sides with J this far below 0; use a smaller beta")
    return even + math.log(left)


def _gammas(width: int, J: float) -> tuple[np.ndarray, np.ndarray]:
    """g_k of odd k and of even k; g_0, the first even one, may be negative."""
    k = np.arange(2 * width)
    excess = math.cosh(2 * J) / math.tanh(2 * J) - 1 - np.cos(np.pi * k / width)
    gamma = np.log1p(excess + np.sqrt(np.maximum(excess * (excess + 2), 0.0)))
    gamma[0] = 2 * J + math.log(math.tanh(J))
    return gamma[1::2], gamma[0::2]


def _log_cosh(height: int, gamma: np.ndarray) -> float:
    x = height * np.abs(gamma)
    return float(np.sum(x / 2 + np.log1p(np.exp(-x))))


def _log_ratio(height: int, gamma: np.ndarray) -> float:
    """log of sum_k log coth(H |g_k| / 2), so that prod sinh = prod cosh * exp(-that sum)."""
    x = height * np.abs(gamma)
    with np.errstate(divide="ignore", over="ignore"):
        terms = np.where(x > 30, LOG2 - x, np.log(np.log1p(2 / np.expm1(x))))
        return float(np.logaddexp.reduce(terms))


def _log_bracket(height: int, gamma: np.ndarray, sign: int) -> float:
    """log(prod 2 cosh (H g_k / 2) + sign * prod 2 sinh (H g_k / 2)); only the first g_k may be negative."""
    log_ratio = _log_ratio(height, gamma)
    if sign * gamma[0] > 0:
        return _log_cosh(height, gamma) + math.log1p(math.exp(-_exp(log_ratio)))
    left = log_ratio if log_ratio < -30 else math.log(-math.expm1(-_exp(log_ratio)))
    return _log_cosh(height, gamma) + left


def _exp(log: float) -> float:
    return math.exp(min(log, 700.0))


def kaufman_energy(height: int, width: int, J: float) -> float:
    """E sum_{edges} s_i s_j = d log Z / dJ, by the five-point difference (relative error about 1e-9)."""
    step = 1e-4
    values = [kaufman_log_z(height, width, J + k * step) for k in (-2, -1, 1, 2)]
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)


def lattice_of(target: Target) -> tuple[int, int, float, float] | None:
    """(height, width, J, constant), beta multiplied in, where Kaufman's form applies to the target, otherwise None.

    It needs a periodic square lattice, one coupling for all edges, no field (to 1e-6 of the couplings' sum) and no
    clamped site.
    """
    model = target.model
    if not isinstance(model, Ising) or not isinstance(model.couplings, ShiftCouplings):
        return None
    lattice = model.couplings
    if set(lattice.shifts) != {(0, 1), (1, 0)} or min(lattice.shape) < 3 or np.asarray(target.evidence.mask).any():
        return None
    w = np.asarray(lattice.weight, np.float64)
    J = float(w.flat[0]) / 4
    field = np.asarray(model.bias, np.float64) / 2 + 4 * J
    if (w != w.flat[0]).any() or np.abs(field).max() > 1e-6 * 4 * abs(J):
        return None
    constant = float(model.constant) + float(np.asarray(model.bias, np.float64).sum()) / 2 + w.sum() / 4
    beta = float(target.beta)
    height, width = lattice.shape
    return height, width, beta * J, beta * constant


def target_log_z(target: Target) -> float | None:
    """log Z of a target that Kaufman's form applies to with enough digits, otherwise None."""
    found = lattice_of(target)
    if found is None:
        return None
    height, width, J, constant = found
    try:
        return kaufman_log_z(height, width, J) + constant
    except Refusal:
        return None

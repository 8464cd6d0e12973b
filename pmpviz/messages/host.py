"""Messages of factors in float64 on the host: short and slow, what tiny graphs are watched with and tests compare to.

Every message is a row of log numbers, one a state, shifted to a largest one of 0. States that are impossible have
`IMPOSSIBLE`. The message temperature t (perturb-and-max-product, section 2.3: t = 1 / beta) turns sums into

    t log sum_k exp(a_k / t),   max_k a_k at t = 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from pmpviz.messages.certainty import CERTAIN, IMPOSSIBLE
from pmpviz.models.factors import Cardinality, Group, Tables
from pmpviz.types import Evidence, InputError

Rows = Float[np.ndarray, "... k"]
Combine = np.ufunc


def normalised(rows: Rows) -> Rows:
    """Shifted to a largest entry of 0, impossible states at IMPOSSIBLE."""
    shifted = rows - rows.max(-1, keepdims=True)
    return np.where(shifted <= CERTAIN, IMPOSSIBLE, shifted)


def check_evidence(card: Sequence[int], evidence: Evidence) -> None:
    """Raise InputError where evidence names a state that does not exist."""
    mask, value = np.asarray(evidence.mask, bool), np.asarray(evidence.value, np.int64)
    wrong = np.flatnonzero(mask & ((value < 0) | (value >= np.array(card, np.int64))))
    if len(wrong):
        v = wrong[0]
        raise InputError(f"evidence gives variable {v} the value {value[v]}; give a state from 0 to {card[v] - 1}")


def soft_maximum(values: np.ndarray, axis: int | tuple[int, ...], temperature: float) -> np.ndarray:
    """t log sum exp(values / t) along the axes; the maximum at t = 0."""
    top = values.max(axis, keepdims=True)
    if temperature > 0:
        mass = np.exp((values - top) / temperature).sum(axis, keepdims=True)
        top = top + temperature * np.log(mass)
    return np.squeeze(top, axis)


class Kernel:
    """Factors of one kind and arity k: messages [..., f, k, K] into them give those out of them."""

    def __init__(self, group: Group, states: int, beta: float):
        self.kind, self.arity, self.states = group.kind, group.scope.shape[1], states
        if isinstance(group, Tables):
            self.table = scaled(np.asarray(group.log_table), beta)
        if isinstance(group, Cardinality):
            self.low, self.high = np.asarray(group.low), np.asarray(group.high)

    def outgoing(self, rows: Int[np.ndarray, " b"], incoming: Float[np.ndarray, "b k s"], temperature: float):
        """m_f(x_i) = softmax over the others of log psi_f + sum_j m_j, of the factors `rows`, normalised [b, k, K]."""
        if self.kind == "table":
            return self._from_tables(rows, incoming, temperature)
        ratio = incoming[..., 1] - incoming[..., 0]
        if self.kind == "cardinality":
            found = _counted(self._windows(rows), ratio, temperature)
        else:
            sign = 1.0 if self.kind == "or" else -1.0
            found = sign * _disjunction(sign * ratio, temperature)
        pair = np.full((*found.shape, self.states), IMPOSSIBLE)
        pair[..., 0], pair[..., 1] = np.minimum(-found, 0.0), np.minimum(found, 0.0)
        return normalised(pair)

    def log_partition(self, rows: Int[np.ndarray, " b"], incoming: Float[np.ndarray, "b k s"]) -> np.ndarray:
        """log sum_x psi_f(x) exp(sum_j m_j(x_j)) [b]."""
        if self.kind == "table":
            total = self._with_messages(rows, incoming, range(self.arity))
            return soft_maximum(total.reshape(len(total), -1), 1, 1.0)
        zero, one = incoming[..., 0], incoming[..., 1]
        if self.kind == "cardinality":
            return _counted_mass(self._windows(rows), zero, one)
        return _disjunction_mass(zero, one) if self.kind == "or" else _disjunction_mass(one, zero)

    def _from_tables(self, rows, incoming, temperature):
        found = np.empty_like(incoming)
        for slot in range(self.arity):
            others = [j for j in range(self.arity) if j != slot]
            total = self._with_messages(rows, incoming, others)
            found[:, slot] = soft_maximum(total, tuple(j + 1 for j in others), temperature) if others else total
        return normalised(found)

    def _with_messages(self, rows, incoming, slots):
        total = self.table[rows]
        for j in slots:
            total = total + incoming[:, j].reshape(-1, *[self.states if a == j else 1 for a in range(self.arity)])
        return total

    def _windows(self, rows) -> np.ndarray:
        """0 where the number of ones is allowed, else -inf [b, k + 1]."""
        count = np.arange(self.arity + 1)
        allowed = (count >= self.low[rows, None]) & (count <= self.high[rows, None])
        return np.where(allowed, 0.0, -np.inf)


def scaled(table: np.ndarray, beta: float) -> np.ndarray:
    """beta * table with forbidden states at IMPOSSIBLE, whatever beta."""
    forbidden = np.isneginf(table)
    return np.maximum(np.where(forbidden, IMPOSSIBLE, beta * np.where(forbidden, 0.0, table)), IMPOSSIBLE)


def _combine(temperature: float) -> Combine:
    return np.logaddexp if temperature > 0 else np.maximum


def _disjunction(ratio: Float[np.ndarray, "b k"], temperature: float) -> Float[np.ndarray, "b k"]:
    """Log-ratios from OR factors whose bottom comes last, from those into them.

    With T the log weight of all states of some tops over that of none on, and q the log share of those with one on or
    more, a top hears -(-P + q) of the others, P = n_bottom + T, and the bottom T + q of all, where + between messages
    is `_combine`: no difference of large numbers is ever taken.
    """
    plus, scale = _combine(temperature), temperature if temperature > 0 else 1.0
    u = ratio / scale
    tops, bottom = u[:, :-1].T, u[:, -1]
    total, share = plus(tops, 0.0), -plus(-tops, 0.0)
    before = _joined(plus, total, share)
    after = _joined(plus, total[::-1], share[::-1])
    found = np.empty_like(u)
    for top in range(len(tops)):
        total_others, share_others = _union(plus, before[top], after[len(tops) - 1 - top])
        found[:, top] = -plus(-(bottom + total_others), share_others)
    found[:, -1] = before[-1][0] + before[-1][1]
    return scale * found


def _joined(plus: Combine, total: np.ndarray, share: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """(T, q) of the first 0, 1, ..., k tops."""
    found = [(np.zeros(total.shape[1]), np.full(total.shape[1], -np.inf))]
    for one in zip(total, share, strict=True):
        found.append(_union(plus, found[-1], one))
    return found


def _union(plus: Combine, a, b):
    return a[0] + b[0], plus(a[1], b[1] - a[0])


def _disjunction_mass(zero: Float[np.ndarray, "b k"], one: Float[np.ndarray, "b k"]) -> Float[np.ndarray, " b"]:
    tops = (one - zero)[:, :-1].T
    total, share = _joined(np.logaddexp, np.logaddexp(tops, 0.0), -np.logaddexp(-tops, 0.0))[-1]
    free = np.logaddexp(zero, one)[:, :-1].sum(1)
    return free + np.logaddexp(zero[:, -1] - total, one[:, -1] + share)


def _counted(window: Float[np.ndarray, "b c"], ratio: Float[np.ndarray, "b k"], temperature: float):
    """Log-ratios from factors that allow the numbers of ones in `window`, by a forward and a backward recursion.

    In the recursions each variable's two weights are shifted so that they combine to 0: they stay shares, and small.
    """
    plus, scale = _combine(temperature), temperature if temperature > 0 else 1.0
    u = (ratio / scale).T
    zero, one = -plus(u, 0.0), -plus(-u, 0.0)
    ahead = [window]
    for off, on in zip(zero[::-1], one[::-1], strict=True):
        ahead.append(plus(off[:, None] + ahead[-1], on[:, None] + _shifted(ahead[-1], -1)))
    ahead = ahead[::-1]
    so_far = np.full_like(window, -np.inf)
    so_far[:, 0] = 0.0
    found = np.empty_like(ratio)
    for i, (off, on) in enumerate(zip(zero, one, strict=True)):
        weight = [plus.reduce(so_far + later, axis=1) for later in (ahead[i + 1], _shifted(ahead[i + 1], -1))]
        found[:, i] = np.clip(weight[1], IMPOSSIBLE / scale, None) - np.clip(weight[0], IMPOSSIBLE / scale, None)
        so_far = plus(off[:, None] + so_far, on[:, None] + _shifted(so_far, 1))
    return scale * found


def _shifted(rows: Float[np.ndarray, "b c"], by: int) -> Float[np.ndarray, "b c"]:
    """Entry c - by at c, -inf where there is none."""
    found = np.full_like(rows, -np.inf)
    if by > 0:
        found[:, by:] = rows[:, :-by]
    else:
        found[:, :by] = rows[:, -by:]
    return found


def _counted_mass(window, zero, one) -> Float[np.ndarray, " b"]:
    so_far = np.full_like(window, -np.inf)
    so_far[:, 0] = 0.0
    for off, on in zip(zero.T, one.T, strict=True):
        so_far = np.logaddexp(off[:, None] + so_far, on[:, None] + _shifted(so_far, 1))
    return np.logaddexp.reduce(so_far + window, axis=1)


__all__ = ["Kernel", "normalised", "scaled", "soft_maximum"]

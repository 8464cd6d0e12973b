"""Messages out of factors from those into them, groups of like factors, in single precision.

A message is a row of log numbers, one a state, shifted to a largest one of 0; `IMPOSSIBLE` stands for log 0, so that
nothing is ever infinite. At a message temperature t (perturb-and-max-product, section 2.3: t = 1 / beta)

    m_f->i(x_i) = t log sum_{x_f: x_i} exp((log psi_f(x_f) + sum_{j != i} m_j->f(x_j)) / t),   the maximum at t = 0.

Temperatures are traced; those above 0 and below 1e-6 count as 1e-6.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax.scipy.special import logsumexp
from jaxtyping import Array, Bool, Float

from pmpviz.messages.certainty import CERTAIN, IMPOSSIBLE
from pmpviz.models.factors import And, Cardinality, Group, Or, Tables

COLDEST = 1e-6


def normalised(rows: Float[Array, "... k"]) -> Float[Array, "... k"]:
    """Shifted to a largest entry of 0, impossible states at IMPOSSIBLE."""
    shifted = rows - rows.max(-1, keepdims=True)
    return jnp.where(shifted <= CERTAIN, IMPOSSIBLE, shifted)


def scaled(table: Float[Array, "..."], beta: Float[Array, ""]) -> Float[Array, "..."]:
    """beta * table with forbidden states at IMPOSSIBLE, whatever beta."""
    table = jnp.asarray(table, jnp.float32)
    forbidden = jnp.isneginf(table)
    return jnp.where(forbidden, IMPOSSIBLE, jnp.maximum(beta * jnp.where(forbidden, 0.0, table), IMPOSSIBLE))


def at_beta(group: Group, beta: Float[Array, ""]) -> Group:
    """The group with its tables times beta, finite; logical factors are the same at every beta."""
    if isinstance(group, Tables):
        return Tables(group.scope, scaled(group.log_table, beta), group.position)
    return group


def outgoing(
    groups: tuple[Group, ...], incoming: tuple[Float[Array, "f k s"], ...], temperature: Float[Array, ""]
) -> Float[Array, "e s"]:
    """Normalised messages out of groups that `at_beta` gave, from the messages into them, one row after another."""
    temperature = jnp.asarray(temperature, jnp.float32)
    scale = jnp.maximum(temperature, COLDEST)

    def rows(found):
        return jnp.concatenate([part.reshape(-1, part.shape[-1]) for part in found])

    def hot(into):
        return rows([_KERNELS[type(group)][0](group, part, scale) for group, part in zip(groups, into, strict=True)])

    def cold(into):
        return rows([_KERNELS[type(group)][1](group, part) for group, part in zip(groups, into, strict=True)])

    return normalised(jax.lax.cond(temperature > 0, hot, cold, incoming))


def log_partition(group: Group, incoming: Float[Array, "f k s"]) -> Float[Array, " f"]:
    """log sum_x psi_f(x) exp(sum_j m_j(x_j)) of every factor."""
    if isinstance(group, Tables):
        total = _with_messages(group, incoming, range(group.scope.shape[1]))
        return logsumexp(total.reshape(total.shape[0], -1), axis=1)
    zero, one = incoming[..., 0], incoming[..., 1]
    if isinstance(group, Cardinality):
        return _counted_mass(group, zero, one)
    return _disjunction_mass(zero, one) if isinstance(group, Or) else _disjunction_mass(one, zero)


def _pairs(ratio: Float[Array, "f k"], states: int) -> Float[Array, "f k s"]:
    """Messages of these log-ratios; a state beyond the two is impossible."""
    pair = jnp.stack([jnp.minimum(-ratio, 0.0), jnp.minimum(ratio, 0.0)], -1)
    return jnp.pad(pair, ((0, 0), (0, 0), (0, states - 2)), constant_values=IMPOSSIBLE)


def _with_messages(group: Tables, incoming, slots) -> Float[Array, "f ..."]:
    arity, states = group.scope.shape[1], incoming.shape[-1]
    total = group.log_table
    for j in slots:
        total = total + incoming[:, j].reshape(-1, *[states if axis == j else 1 for axis in range(arity)])
    return total


def _from_tables(group: Tables, incoming, reduce) -> Float[Array, "f k s"]:
    arity, found = group.scope.shape[1], []
    for slot in range(arity):
        others = [j for j in range(arity) if j != slot]
        found.append(reduce(_with_messages(group, incoming, others), tuple(j + 1 for j in others)))
    return jnp.stack(found, 1)


def _tables_sum(group: Tables, incoming, scale):
    return _from_tables(group, incoming, lambda total, axes: scale * logsumexp(total / scale, axis=axes))


def _tables_max(group: Tables, incoming):
    return _from_tables(group, incoming, lambda total, axes: total.max(axes))


def _ratio(incoming: Float[Array, "f k s"]) -> Float[Array, "f k"]:
    return incoming[..., 1] - incoming[..., 0]


def _or_sum(group: Or, incoming, scale):
    return _pairs(scale * _disjunction_sum(_ratio(incoming) / scale), incoming.shape[-1])


def _or_max(group: Or, incoming):
    return _pairs(_disjunction_max(_ratio(incoming)), incoming.shape[-1])


def _and_sum(group: And, incoming, scale):
    return _pairs(-scale * _disjunction_sum(-_ratio(incoming) / scale), incoming.shape[-1])


def _and_max(group: And, incoming):
    return _pairs(-_disjunction_max(-_ratio(incoming)), incoming.shape[-1])


def _disjunction_max(u: Float[Array, "f k"]) -> Float[Array, "f k"]:
    """Log-ratios from OR factors whose bottom comes last, from those into them, in linear time (Appendix C.3).

    to the bottom   sum_j max(0, n_j) + min(0, max_j n_j)
    to top i        min(n_bottom + sum_{j != i} max(0, n_j), max(0, -max_{j != i} n_j))

    """
    tops, bottom = u[:, :-1], u[:, -1:]
    largest = _is_largest(tops)
    others = jnp.where(largest, _without(tops, largest, -jnp.inf).max(1, keepdims=True), tops.max(1, keepdims=True))
    positive = jnp.maximum(tops, 0.0)
    to_tops = jnp.minimum(bottom + _sum_of_others(positive, largest), jnp.maximum(-others, 0.0))
    to_bottom = positive.sum(1, keepdims=True) + jnp.minimum(tops.max(1, keepdims=True), 0.0)
    return jnp.concatenate([to_tops, to_bottom], 1)


def _disjunction_sum(u: Float[Array, "f k"]) -> Float[Array, "f k"]:
    """As `_disjunction_max` with sums for maxima, at temperature 1.

    With T = sum_j log(1 + e^{n_j}) over some tops, all their states have e^T times the weight of none on, and those
    with one on or more the share e^q = 1 - e^-T: the bottom hears T + q of all tops, and a top, of the others,
    -log(e^-(n_bottom + T) + e^q). No difference of large numbers is ever taken.
    """
    tops, bottom = u[:, :-1], u[:, -1:]
    largest, (soft, log_soft) = _is_largest(tops), _softplus(tops)
    top = log_soft.max(1, keepdims=True)
    weight = jnp.exp(log_soft - top)
    most = top + jnp.log(jnp.maximum(weight.sum(1, keepdims=True) - weight, jnp.finfo(u.dtype).tiny))
    log_others = jnp.where(largest, logsumexp(_without(log_soft, largest, -jnp.inf), axis=1, keepdims=True), most)
    others = _sum_of_others(soft, largest)
    to_tops = -jnp.logaddexp(-(bottom + others), _log_share(others, log_others))
    total = soft.sum(1, keepdims=True)
    to_bottom = total + _log_share(total, logsumexp(log_soft, axis=1, keepdims=True))
    return jnp.concatenate([to_tops, to_bottom], 1)


def _softplus(u: Float[Array, "f k"]) -> tuple[Float[Array, "f k"], Float[Array, "f k"]]:
    """log(1 + e^u) and its logarithm, which is finite where the number itself is too small to be told from 0."""
    return jax.nn.softplus(u), jnp.where(u < -15.0, u, jnp.log(jax.nn.softplus(jnp.maximum(u, -15.0))))


def _log_share(total: Float[Array, "..."], log_total: Float[Array, "..."]) -> Float[Array, "..."]:
    """log(1 - e^-T), from log T where T is small."""
    small = total < 1e-3
    return jnp.where(small, log_total - 0.5 * total, jnp.log(-jnp.expm1(-jnp.where(small, 1.0, total))))


def _is_largest(tops: Float[Array, "f k"]) -> Bool[Array, "f k"]:
    """Which top has the largest number, the first of several."""
    return jnp.arange(tops.shape[1]) == tops.argmax(1)[:, None]


def _without(tops: Float[Array, "f k"], out: Bool[Array, "f k"], empty: float) -> Float[Array, "f k"]:
    return jnp.where(out, empty, tops)


def _sum_of_others(parts: Float[Array, "f k"], largest: Bool[Array, "f k"]) -> Float[Array, "f k"]:
    """Sum of the other tops' parts, none negative: all but the largest are at most half of what they are taken from."""
    rest = _without(parts, largest, 0.0).sum(1, keepdims=True)
    return jnp.where(largest, rest, parts.sum(1, keepdims=True) - parts)


def _disjunction_mass(zero: Float[Array, "f k"], one: Float[Array, "f k"]) -> Float[Array, " f"]:
    soft, log_soft = _softplus((one - zero)[:, :-1])
    free, total = jnp.logaddexp(zero, one)[:, :-1].sum(1), soft.sum(1)
    share = _log_share(total, logsumexp(log_soft, axis=1))
    return free + jnp.logaddexp(zero[:, -1] - total, one[:, -1] + share)


def _cardinality_max(group: Cardinality, incoming):
    """-max(u_(high), 0) - min(u_(low), 0), u_(c) the c-th largest log-ratio of the others: a choice, no arithmetic.

    u_(0) = inf and u_(c) = -inf where there are fewer than c others. By sorting, in k log k.
    """
    u = _ratio(incoming)
    order = jnp.argsort(-u, axis=1, stable=True)
    rank = jnp.argsort(order, axis=1, stable=True)
    largest = jnp.pad(jnp.take_along_axis(u, order, 1), ((0, 0), (0, 1)), constant_values=-jnp.inf)

    def of_others(c):
        c = c[:, None]
        found = jnp.take_along_axis(largest, jnp.where(c - 1 < rank, c - 1, c), 1, mode="clip")
        return jnp.where(c == 0, jnp.inf, found)

    ratio = -jnp.maximum(of_others(group.high), 0.0) - jnp.minimum(of_others(group.low), 0.0)
    return _pairs(jnp.clip(ratio, IMPOSSIBLE, -IMPOSSIBLE), incoming.shape[-1])


def _cardinality_sum(group: Cardinality, incoming, scale):
    """By a forward and a backward recursion over the number of ones, in k^2: shares of each variable's two weights are
    passed on, so that the log numbers stay small."""
    u = _ratio(incoming) / scale
    shares = -jnp.logaddexp(u.T, 0.0), -jnp.logaddexp(-u.T, 0.0)
    window = _window(group)

    def backward(later, share):
        return _counted(later, share, -1), later

    def forward(so_far, part):
        share, later = part
        weight = [logsumexp(so_far + rows, axis=1) for rows in (later, _shifted(later, -1))]
        zero, one = (jnp.maximum(row, IMPOSSIBLE / scale) for row in weight)
        return _counted(so_far, share, 1), one - zero

    _, later = jax.lax.scan(backward, window, shares, reverse=True)
    _, ratio = jax.lax.scan(forward, _nothing(window), (shares, later))
    return _pairs(scale * ratio.T, incoming.shape[-1])


def _window(group: Cardinality) -> Float[Array, "f c"]:
    """0 where the number of ones is allowed, else -inf."""
    count = jnp.arange(group.scope.shape[1] + 1)
    allowed = (count >= group.low[:, None]) & (count <= group.high[:, None])
    return jnp.where(allowed, 0.0, -jnp.inf)


def _nothing(window: Float[Array, "f c"]) -> Float[Array, "f c"]:
    """No variable counted yet: no ones."""
    return jnp.where(jnp.arange(window.shape[1]) == 0, 0.0, -jnp.inf) + jnp.zeros_like(window)


def _counted(rows: Float[Array, "f c"], share, by: int) -> Float[Array, "f c"]:
    off, on = share
    return jnp.logaddexp(off[:, None] + rows, on[:, None] + _shifted(rows, by))


def _shifted(rows: Float[Array, "f c"], by: int) -> Float[Array, "f c"]:
    """Entry c - by at c, -inf where there is none."""
    kept = rows[:, :-1] if by > 0 else rows[:, 1:]
    return jnp.pad(kept, ((0, 0), (1, 0) if by > 0 else (0, 1)), constant_values=-jnp.inf)


def _counted_mass(group: Cardinality, zero, one) -> Float[Array, " f"]:
    window = _window(group)
    so_far, _ = jax.lax.scan(lambda rows, share: (_counted(rows, share, 1), None), _nothing(window), (zero.T, one.T))
    return logsumexp(so_far + window, axis=1)


_KERNELS: dict[type, tuple[Any, Any]] = {
    Tables: (_tables_sum, _tables_max),
    Or: (_or_sum, _or_max),
    And: (_and_sum, _and_max),
    Cardinality: (_cardinality_sum, _cardinality_max),
}

__all__ = ["at_beta", "log_partition", "normalised", "outgoing", "scaled"]

"""Messages out of every kind of factor against the sum, or the maximum, over all states of its variables."""

import dataclasses
import itertools

import jax
import numpy as np
import pytest

from pmpviz.messages import kernels
from pmpviz.messages.certainty import IMPOSSIBLE
from pmpviz.messages.host import Kernel
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor

pytestmark = pytest.mark.brief

log_partition, at_beta = jax.jit(kernels.log_partition), jax.jit(kernels.at_beta)

TEMPERATURES = (0.0, 0.3, 1.0)
# Log-ratios of the messages into binary factors; the infinite ones are hard evidence.
RATIOS = (-np.inf, -2.3, -0.0, 0.7, np.inf)


@jax.jit
def outgoing(group, incoming, temperature):
    """Messages [f, k, K] out of one group."""
    return kernels.outgoing((group,), (incoming,), temperature).reshape(incoming.shape)


def messages_of(ratio):
    """Messages [..., 2] of these log-ratios, with true infinities."""
    with np.errstate(invalid="ignore"):
        return np.stack([np.minimum(-ratio, 0.0), np.minimum(ratio, 0.0)], -1)


def along(rows, axis, arity):
    """Rows [b, K] as tables of `arity` axes that vary along one of them."""
    return rows.reshape(len(rows), *[rows.shape[1] if a == axis else 1 for a in range(arity)])


def brute_force(table, incoming, temperature):
    """Messages out of one table [K]^k from those into it [b, k, K], by all states; nan where none is possible."""
    arity, found = incoming.shape[1], np.empty_like(incoming)
    for slot in range(arity):
        total = np.broadcast_to(table, (len(incoming), *table.shape))
        for j in set(range(arity)) - {slot}:
            total = total + along(incoming[:, j], j, arity)
        total = np.moveaxis(total, slot + 1, 1).reshape(len(incoming), table.shape[slot], -1)
        if temperature:
            out = temperature * np.logaddexp.reduce(total / temperature, -1)
        else:
            out = total.max(-1)
        with np.errstate(invalid="ignore"):
            found[:, slot] = out - out.max(-1, keepdims=True)
    return found


def assert_equal(found, expected, precision):
    """Where some state is possible the messages agree, the impossible ones in being so; all others are finite."""
    assert np.isfinite(found).all() and (found <= 0).all() and (found >= IMPOSSIBLE).all()
    known = ~np.isnan(expected).any(-1)
    assert known.any()
    found, expected = found[known], expected[known]
    impossible = np.isneginf(expected)
    assert (found[impossible] == IMPOSSIBLE).all()
    np.testing.assert_allclose(found[~impossible], expected[~impossible], atol=precision)


def check(graph, incoming):
    """Both kernels on the first factor of a graph for all incoming messages [b, k, K] and temperatures."""
    factor, group = graph.factors()[0], graph.groups[0]
    states = graph.states
    padded = np.full([states] * len(factor.scope), -np.inf)
    padded[tuple(slice(0, side) for side in factor.expanded().shape)] = factor.expanded()
    finite = np.maximum(incoming, IMPOSSIBLE)
    rows = np.zeros(len(incoming), np.int64)
    repeated = type(group)(*(np.repeat(leaf, len(incoming), 0) for leaf in fields(group)))
    for temperature in TEMPERATURES:
        expected = brute_force(padded, incoming, temperature)
        assert_equal(Kernel(group, states, 1.0).outgoing(rows, finite, temperature), expected, 1e-12)
        ready = at_beta(repeated, np.float32(1.0)) if factor.kind == "table" else repeated
        found = np.asarray(outgoing(ready, np.asarray(finite, np.float32), np.float32(temperature)))
        assert_equal(found, expected, 1e-5)
    mass = np.logaddexp.reduce(with_all(padded, incoming), 1)
    mine = Kernel(group, states, 1.0).log_partition(rows, finite)
    possible = np.isfinite(mass)
    np.testing.assert_allclose(mine[possible], mass[possible], atol=1e-12)
    if len(factor.scope) == 3:
        theirs = log_partition(ready, np.asarray(finite, np.float32))
        np.testing.assert_allclose(theirs[possible], mass[possible], atol=1e-5)


def fields(group):
    return [getattr(group, field.name) for field in dataclasses.fields(group)]


def with_all(table, incoming):
    total = np.broadcast_to(table, (len(incoming), *table.shape))
    for j in range(incoming.shape[1]):
        total = total + along(incoming[:, j], j, incoming.shape[1])
    return total.reshape(len(incoming), -1)


@pytest.mark.parametrize("kind", [OrFactor, AndFactor])
@pytest.mark.parametrize("tops", [1, 2, 3, 4])
def test_or_and_and_with_every_mix_of_soft_and_infinite_messages(kind, tops):
    graph = FactorGraph.of((2,) * (tops + 1), None, [kind(tuple(range(tops)), tops)])
    check(graph, messages_of(np.array(list(itertools.product(RATIOS, repeat=tops + 1)))))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_all_cardinality_factors_with_every_mix_of_soft_and_infinite_messages(size):
    ratios = RATIOS if size < 4 else (-np.inf, -0.4, np.inf)
    incoming = messages_of(np.array(list(itertools.product(ratios, repeat=size))))
    for low in range(size + 1):
        for high in range(low, size + 1):
            check(FactorGraph.of((2,) * size, None, [CardinalityFactor(tuple(range(size)), low, high)]), incoming)


@pytest.mark.parametrize("shape", [(2, 3), (3, 1, 2), (2, 2, 2, 3, 2)])
def test_tables_of_any_shape_with_forbidden_entries_and_impossible_states(shape):
    rng = np.random.default_rng(len(shape))
    for zeros in (0.0, 0.3):
        table = rng.normal(0, 2, shape)
        table[rng.random(shape) < zeros] = -np.inf
        graph = FactorGraph.of(shape, None, [TableFactor(tuple(range(len(shape))), table)])
        incoming = rng.normal(0, 2, (300, len(shape), max(shape)))
        incoming[rng.random(incoming.shape) < 0.2] = -np.inf
        for slot, side in enumerate(shape):
            incoming[:, slot, side:] = -np.inf
        incoming[..., 0] = np.where(np.isfinite(incoming).any(-1), incoming[..., 0], 0.0)
        check(graph, incoming - incoming.max(-1, keepdims=True))


def test_large_numbers_beside_certain_ones_lose_nothing():
    """One top is certainly on, the bottom is only likely: the other top hears nothing, the certain one what it adds."""
    graph = FactorGraph.of((2,) * 3, None, [OrFactor((0, 1), 2)])
    ratio = np.array([[np.inf, 0.5, 0.25], [-np.inf, 0.5, 0.25], [200.0, 0.5, 0.25]])
    # As many rows as in the test of all mixes, which share a compiled program.
    incoming = messages_of(np.resize(ratio, (len(RATIOS) ** 3, 3)))
    check(graph, incoming)
    group = type(graph.groups[0])(*(np.repeat(leaf, len(incoming), 0) for leaf in fields(graph.groups[0])))
    sure = np.asarray(outgoing(group, np.maximum(incoming, IMPOSSIBLE).astype(np.float32), np.float32(0.0)))
    np.testing.assert_array_equal(sure[0, 1], [0.0, 0.0])
    np.testing.assert_array_equal(sure[1, 1], [-0.25, 0.0])


@pytest.mark.parametrize("kind", [OrFactor, AndFactor])
def test_long_logical_factors_agree_in_both_precisions(kind, tops=200):
    """Beyond enumeration: the bottom's message in closed form, and the two independent ways of working the rest out."""
    rng = np.random.default_rng(tops)
    sign = 1.0 if kind is OrFactor else -1.0
    graph = FactorGraph.of((2,) * (tops + 1), None, [kind(tuple(range(tops)), tops)])
    for shift in (-200.0, -3.0, 1.0):
        ratio = sign * rng.normal(shift, 3, tops + 1)
        incoming = messages_of(ratio)[None]
        u = sign * ratio[:-1]
        for temperature in TEMPERATURES:
            host = Kernel(graph.groups[0], 2, 1.0).outgoing(np.zeros(1, int), incoming, temperature)[0]
            found = np.asarray(outgoing(graph.groups[0], incoming.astype(np.float32), np.float32(temperature)))[0]
            np.testing.assert_allclose(found, host, atol=2e-6 * np.abs(ratio).sum())
            if temperature != 0.3 and shift > -100:
                expected = np.log(np.expm1(np.logaddexp(u, 0).sum())) if temperature else np.maximum(u, 0).sum()
                expected += 0.0 if temperature else min(0.0, u.max())
                np.testing.assert_allclose(sign * (host[-1, 1] - host[-1, 0]), expected, rtol=1e-12)

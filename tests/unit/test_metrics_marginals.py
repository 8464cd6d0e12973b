"""Marginal errors against their definitions, and their floors against draws of the truth."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from pmpviz.metrics.energy import band, magnetisation, standard_error, z_score
from pmpviz.metrics.marginals import (
    hellinger,
    hellinger_floor,
    marginal_l1,
    marginal_l1_floor,
    pair_marginal_error,
    pair_marginal_floor,
)
from pmpviz.types import InputError

Z_ONE_IN_A_MILLION = 4.9


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 12), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_binary_errors_equal_their_definitions(n, rows, seed):
    rng = np.random.default_rng(seed)
    x, p = rng.integers(0, 2, (rows, n)).astype(np.int8), rng.random(n)
    found = [sum(int(v) for v in x[:, i]) / rows for i in range(n)]
    l1 = sum(abs(found[i] - p[i]) for i in range(n)) / n
    assert marginal_l1(x, p) == pytest.approx(l1, abs=1e-12)
    assert marginal_l1(x, tuple(np.array([1 - q, q]) for q in p)) == pytest.approx(l1, abs=1e-12)
    overlap = [math.sqrt(f * q) + math.sqrt((1 - f) * (1 - q)) for f, q in zip(found, p, strict=True)]
    expected = sum(math.sqrt(max(0, 1 - o)) for o in overlap) / n
    assert hellinger(x, p) == pytest.approx(expected, abs=1e-7)
    assert 0 <= hellinger(x, p) <= 1
    assert marginal_l1(x, x.mean(0)) == pytest.approx(0, abs=1e-15)


def test_mixed_cardinalities_and_free_sites():
    x = np.array([[0, 2], [1, 0], [1, 0], [0, 2]], np.int8)
    truth = (np.array([0.5, 0.5]), np.array([0.25, 0.25, 0.5]))
    assert marginal_l1(x, truth) == pytest.approx(0.25 / 2)
    assert marginal_l1(x, truth, free=np.array([False, True])) == pytest.approx(0.25)
    assert math.isnan(marginal_l1(x, truth, free=np.zeros(2, bool)))


def test_pair_error_equals_its_definition():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, (40, 5)).astype(np.int8)
    pairs = np.array([[0, 1], [3, 2], [4, 0]])
    tables = rng.dirichlet(np.ones(9), 3).reshape(3, 3, 3)
    total = 0.0
    for (i, j), table in zip(pairs, tables, strict=True):
        for a in range(3):
            for b in range(3):
                share = sum(row[i] == a and row[j] == b for row in x) / 40
                total += abs(share - table[a, b]) / 2 / 3
    assert pair_marginal_error(x, pairs, tables) == pytest.approx(total, abs=1e-12)
    assert math.isnan(pair_marginal_error(x, np.zeros((0, 2), int), np.zeros((0, 3, 3))))


def test_floors_are_the_exact_binomial_means():
    for count in (1, 7, 300):
        p = np.array([0.0, 1e-3, 0.3, 0.5, 0.9, 1.0])
        k = np.arange(count + 1)
        weight = binom.pmf(k, count, p[:, None])
        expected = (weight * np.abs(k / count - p[:, None])).sum(1).mean()
        assert marginal_l1_floor(p, count) == pytest.approx(expected, rel=1e-9)
        overlap = np.sqrt(k / count * p[:, None]) + np.sqrt((1 - k / count) * (1 - p[:, None]))
        expected = (weight * np.sqrt(np.clip(1 - overlap, 0, None))).sum(1).mean()
        assert hellinger_floor(p, count) == pytest.approx(expected, rel=1e-6)
    assert hellinger_floor(np.full(3, 0.4), 5000) == pytest.approx(0.5 / math.sqrt(math.pi * 5000), rel=1e-3)
    assert marginal_l1_floor(np.full(3, 0.4), 5000) == pytest.approx(math.sqrt(2 * 0.24 / (math.pi * 5000)), rel=1e-3)


def test_draws_of_the_truth_stand_on_the_floors():
    rng = np.random.default_rng(2)
    table = rng.dirichlet(np.ones(4), 1).reshape(1, 2, 2)
    pairs = np.array([[0, 1]])
    p1 = np.array([table[0, 1].sum(), table[0, :, 1].sum()])
    l1, pair = [], []
    for _ in range(400):
        code = rng.choice(4, 50, p=table.ravel())
        x = np.stack([code // 2, code % 2], axis=1).astype(np.int8)
        l1.append(marginal_l1(x, p1))
        pair.append(pair_marginal_error(x, pairs, table))
    for found, floor in ((l1, marginal_l1_floor(p1, 50)), (pair, pair_marginal_floor(table, 50))):
        assert abs(np.mean(found) - floor) < Z_ONE_IN_A_MILLION * np.std(found) / math.sqrt(400)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: marginal_l1(x, np.zeros(4)),
        lambda x: marginal_l1(x + 1, np.zeros(3)),
        lambda x: pair_marginal_error(x, np.zeros((2, 2), int), np.zeros((1, 2, 2))),
        lambda x: pair_marginal_error(x + 1, np.zeros((1, 2), int), np.zeros((1, 2, 2))),
    ],
)
def test_a_reference_of_another_model_is_refused(call):
    with pytest.raises(InputError):
        call(np.ones((2, 3), np.int8))


def test_energy_helpers():
    values = np.arange(11.0)[None] + np.array([[0.0], [5.0]])
    found = band(values)
    np.testing.assert_allclose([found.mean, found.low, found.high], [[5, 10], [1, 6], [9, 14]])
    np.testing.assert_allclose(magnetisation(np.array([[0, 0], [0, 1], [1, 1]])), [-1, 0, 1])
    assert standard_error([1.0, 3.0]) == pytest.approx(1.0)
    assert z_score([1.0, 3.0], 0.0).value == pytest.approx(2.0)
    assert z_score([1.0], 0.0).value is None
    assert z_score([1.0, 1.0], 0.0).value is None

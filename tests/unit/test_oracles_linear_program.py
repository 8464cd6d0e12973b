"""The reduced linear program: an upper bound of the maximum, tight without frustration, the same as all constraints."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from pmpviz.models import RBM, SRBM, Ising, build_spec
from pmpviz.models.couplings import DenseCouplings
from pmpviz.oracles.linear_program import MOST_EDGES, LinearProgram, why_not
from pmpviz.types import Refusal


def maximum(bias, i, j, w):
    x = np.array(list(itertools.product((0, 1), repeat=len(bias))))
    return (x @ bias + (x[:, i] * x[:, j]) @ w).max()


def value(x, bias, i, j, w):
    return x @ bias + (x[i] * x[j]) @ w


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < 0.7
    return rng.normal(0, 2, n), i[kept], j[kept], rng.normal(0, 2, kept.sum())


def all_constraints(bias, i, j, w):
    """Value of the program with all four constraints of every edge, densely."""
    n, rows, limits = len(bias), [], []
    for e, (a, b) in enumerate(zip(i, j, strict=True)):
        for at_a, at_b, at_z, limit in ((-1, 0, 1, 0), (0, -1, 1, 0), (1, 1, -1, 1)):
            row = np.zeros(n + len(w))
            row[[a, b]] += at_a, at_b
            row[n + e] = at_z
            rows.append(row)
            limits.append(limit)
    rows = np.array(rows) if rows else None
    return -linprog(-np.concatenate([bias, w]), rows, limits or None, bounds=(0, 1)).fun


@pytest.mark.parametrize("seed", range(40))
def test_relaxation_maximum_decoded(seed):
    bias, i, j, w = random_problem(seed)
    found = LinearProgram.of(len(bias), i, j, w).solve(bias)
    best, decoded = maximum(bias, i, j, w), value(found.rounded, bias, i, j, w)
    assert found.value >= best - 1e-6 and best >= decoded - 1e-9
    assert found.value == pytest.approx(all_constraints(bias, i, j, w), abs=1e-6)
    np.testing.assert_allclose(2 * found.x, np.round(2 * found.x), atol=1e-4)
    assert found.fractional == np.mean(np.abs(found.x - 0.5) < 0.1)
    if found.fractional == 0:
        assert decoded == pytest.approx(best, abs=1e-6) and found.value == pytest.approx(best, abs=1e-6)


def test_tight_without_frustration_and_on_trees():
    for spec in ("square:3x3,J=1.2", "tree:8,J=-0.9,h=0.3", "chain:7,J=-2"):
        model = build_spec(spec)
        unary = np.asarray(model.bias, np.float64) + np.random.default_rng(0).logistic(size=model.n)
        found = LinearProgram.of_model(model).solve(unary)
        assert found.fractional == 0
        assert found.value == pytest.approx(maximum(unary, *model.pairwise()[1:]), abs=1e-6)


def test_a_frustrated_triangle_is_fractional():
    i, j = np.triu_indices(3, 1)
    found = LinearProgram.of(3, i, j, np.full(3, -2.0)).solve(np.ones(3))
    np.testing.assert_allclose(found.x, 0.5, atol=1e-7)
    assert found.value == pytest.approx(1.5) and found.fractional == 1 and not found.rounded.any()


def test_edges_of_weight_zero_and_none_at_all():
    found = LinearProgram.of(3, np.array([0, 1]), np.array([1, 2]), np.zeros(2)).solve(np.array([1.0, -2.0, 0.5]))
    assert found.rounded.tolist() == [1, 0, 1] and found.value == pytest.approx(1.5)


def test_too_many_edges_are_refused_with_their_number():
    big = Ising.of(np.zeros(201), DenseCouplings(np.zeros((201, 201), np.float32)), colour=np.arange(201))
    assert why_not(big) == "the linear program would have 20,100 edges; it is solved for at most 20,000"
    assert why_not(RBM.of_layers(np.zeros((101, 200)))).startswith("the linear program would have 20,200 edges")
    assert why_not(RBM.of_layers(np.zeros((100, 200)))) is None
    assert "20,100" in why_not(SRBM.of_layers(np.zeros((1, 200)), np.zeros((200, 200))))
    many = np.zeros(MOST_EDGES + 1, int)
    with pytest.raises(Refusal, match="20,001 edges"):
        LinearProgram.of(2, many, many + 1, many)

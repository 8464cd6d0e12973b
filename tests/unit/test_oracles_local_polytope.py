"""The LP oracle: its optimum is a point of the local polytope, its bound holds, its kept basis changes nothing."""

import threading

import numpy as np
import pytest
from scipy.optimize import linprog

from pmpviz.contract.oracle_models import brute_force, of_spec, random_potentials
from pmpviz.oracles import Potentials, make_oracle
from pmpviz.oracles import local_polytope as module
from pmpviz.oracles.linear_program import LinearProgram
from pmpviz.types import Refusal

LP = make_oracle("linear_program")


def inner(potentials: Potentials, one, two) -> float:
    """theta . mu."""
    return float((potentials.unary * one).sum() + (potentials.table * two).sum()) + potentials.constant


def full_program(potentials: Potentials) -> float:
    """The local polytope's optimum written out row by row, densely."""
    s, rows, limits = potentials.structure, [], []
    site = np.cumsum([0, *s.card])
    sizes = [s.card[a] * s.card[b] for a, b in zip(s.i, s.j, strict=True)]
    pair = site[-1] + np.cumsum([0, *sizes])
    gain = np.concatenate([
        *(potentials.unary[v, :states] for v, states in enumerate(s.card)),
        *(potentials.table[e, : s.card[a], : s.card[b]].ravel() for e, (a, b) in enumerate(zip(s.i, s.j, strict=True))),
        np.zeros(0),
    ])  # fmt: skip
    for v, states in enumerate(s.card):
        row = np.zeros(pair[-1])
        row[site[v] : site[v] + states] = 1
        rows.append(row)
        limits.append(1.0)
    for e, (a, b) in enumerate(zip(s.i, s.j, strict=True)):
        place = pair[e] + np.arange(sizes[e]).reshape(s.card[a], s.card[b])
        for v, lines in ((a, place), (b, place.T)):
            for state, line in enumerate(lines):
                row = np.zeros(pair[-1])
                row[line], row[site[v] + state] = 1, -1
                rows.append(row)
                limits.append(0.0)
    return potentials.constant - linprog(-gain, A_eq=np.array(rows), b_eq=limits, bounds=(0, None)).fun


@pytest.mark.parametrize("solver", ["_Highs", "_Scipy"])
@pytest.mark.parametrize("seed", range(1, 40))
def test_a_point_of_the_polytope_whose_value_is_the_optimum(seed, solver, monkeypatch):
    monkeypatch.setattr(module, "_solver", getattr(module, solver))
    potentials = random_potentials(seed, states=2 if seed % 2 else 4)
    s, solution = potentials.structure, LP.solve(potentials)
    one, two = solution.relaxed
    assert one.shape == potentials.unary.shape and two.shape == potentials.table.shape
    assert (
        one.min() >= -1e-7 and (two >= -1e-7).all() and (one[~s.valid] == 0).all() and (two[~s.valid_pairs] == 0).all()
    )
    np.testing.assert_allclose(one.sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(two.sum(2), one[s.i], atol=1e-6)
    np.testing.assert_allclose(two.sum(1), one[s.j], atol=1e-6)
    truth = full_program(potentials)
    near = 1e-6 * potentials.size
    assert inner(potentials, one, two) == pytest.approx(truth, abs=near)
    assert solution.upper == pytest.approx(truth, abs=near) and solution.upper >= brute_force(potentials)[1] - 1e-9
    assert solution.notes["fractional"] == pytest.approx(np.mean(np.minimum(one, 1 - one).max(1) > 1e-5))
    assert solution.exact or solution.notes["fractional"] > 0


def test_the_kept_basis_changes_no_value():
    """Weights that change their sign from call to call, against programs made anew."""
    rng, start = np.random.default_rng(0), of_spec("complete:8,J=0.3")
    s = start.structure
    for _ in range(40):
        bias, w = rng.normal(size=8), 2 * rng.normal(size=len(s.i))
        unary = np.stack([np.zeros(8), bias], 1)
        table = np.zeros((len(w), 2, 2))
        table[:, 1, 1] = w
        solution = LP.solve(start.with_values(unary, table))
        fresh = LinearProgram.of(8, s.i, s.j, w).solve(bias)
        assert solution.upper - start.constant == pytest.approx(fresh.value, abs=1e-6)
        assert solution.notes["fractional"] == fresh.fractional


def test_a_frustrated_triangle_is_half_everywhere():
    i, j = np.triu_indices(3, 1)
    solution = LP.solve(Potentials.of_quadratic(np.ones(3), i, j, np.full(3, -2.0)))
    one, two = solution.relaxed
    assert (one == 0.5).all() and not solution.x.any() and not solution.exact
    np.testing.assert_array_equal(two, np.broadcast_to([[0, 0.5], [0.5, 0]], (3, 2, 2)))
    assert solution.upper == pytest.approx(1.5) and solution.notes["fractional"] == 1


def test_threads_share_one_program():
    start, found = of_spec("square:4x4,J=0.2,periodic=false"), {}
    unary = start.unary + np.random.default_rng(0).normal(size=(60, *start.unary.shape))
    truth = [s.upper for s in LP.solve_batch(start, unary)]

    def work(part):
        for k in part:
            found[k] = LP.solve(start.with_values(unary[k])).upper

    threads = [threading.Thread(target=work, args=(range(k, 60, 3),)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[k] for k in range(60)] == pytest.approx(truth, abs=1e-7)


def test_nothing_is_printed_beside_an_answer(capfd):
    """Standard output may be one JSON object: HiGHS is not to say its name there."""
    LP.solve(of_spec("clique:4,theta=1"))
    assert capfd.readouterr() == ("", "")


def test_too_large_is_refused_with_the_number(monkeypatch):
    potentials = of_spec("square:4x4,J=0.2,periodic=false")
    monkeypatch.setattr(module, "MOST_COLUMNS", 39)
    with pytest.raises(Refusal, match="would have 40 columns; it is solved for at most 39"):
        LP.solve(potentials)

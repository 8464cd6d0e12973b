"""Inflated graphs: their maxima by definition, what they bound, what they refuse."""

from itertools import product

import numpy as np
import pytest
from pairwise import random_pairwise

from pmpviz import exact
from pmpviz.marginals import make_solver, stream
from pmpviz.marginals.inflation import Apart, Joined, Nested, independent
from pmpviz.marginals.perturbation import perturbed_maxima
from pmpviz.models import build_spec
from pmpviz.oracles import Potentials, make_oracle
from pmpviz.oracles.perturbed import gumbels, table_of
from pmpviz.oracles.potentials import Structure
from pmpviz.types import Refusal, Target

ORACLE = make_oracle("exact")


def run(potentials, **knobs):
    solver = make_solver("inflated_maxima", **knobs)
    *_, state = stream(solver, potentials)
    return solver.answer(state)


def grid():
    target = Target.of(build_spec("square:3x3,periodic=false,couplings=gaussian,sigma=1,field=random,h=1,seed=3"))
    return target, Potentials.of_target(target)[0]


@pytest.mark.parametrize("seed", range(4))
def test_chosen_variables_do_not_interact_and_no_more_can_be_chosen(seed):
    s = random_pairwise(seed, n=9, states=2, strength=1.0).structure
    alone = independent(s)
    assert not (alone[s.i] & alone[s.j]).any()
    near = np.zeros(s.n, bool)
    np.logical_or.at(near, s.i, alone[s.j])
    np.logical_or.at(near, s.j, alone[s.i])
    assert (alone | near).all()


def test_one_copy_is_the_perturbed_maximum():
    potentials = random_pairwise(1, n=5, states=3, strength=1.0)
    found = Apart.of(potentials, 1, 5).found(np.random.default_rng(7), 20, ORACLE)
    plain = perturbed_maxima(potentials, gumbels(np.random.default_rng(7), 20, potentials.structure))
    np.testing.assert_allclose(found.value, plain.value)
    np.testing.assert_allclose(found.unary, plain.marginals(potentials).marginals)


@pytest.mark.parametrize("seed", range(3))
def test_copies_of_one_side_are_maximised_one_by_one(seed):
    """max over A of theta + gamma_A + the mean over copies of their own maxima, by a list of all states."""
    potentials, copies = random_pairwise(seed, n=5, states=3, strength=1.0), 3
    s, inflation = potentials.structure, Apart.of(potentials, copies, 5)
    found = inflation.found(np.random.default_rng(seed), 10, ORACLE)
    noise = gumbels(np.random.default_rng(seed), 10, inflation.inflated.structure)
    table, alone = table_of(potentials), independent(s)
    states = list(product(*map(range, s.card)))
    for draw, value in zip(noise, found.value, strict=True):
        best: dict[tuple, np.ndarray] = {}
        for x in states:
            key = tuple(np.array(x)[~alone])
            own = sum(draw[v, x[v]] for v in range(s.n) if not alone[v])
            held = best.setdefault(key, np.full(copies, -np.inf))
            for c, row in enumerate(inflation.member):
                held[c] = max(held[c], table[x] + own + sum(draw[row[v], x[v]] for v in range(s.n) if alone[v]))
        assert value == pytest.approx(max(held.mean() for held in best.values()))


def test_shares_of_copies_are_the_graph_with_all_copies_joined():
    """The maximum over n variables of m + 1 states is that over n m variables of two."""
    potentials, m = random_pairwise(2, n=4, states=2, strength=1.5), 3
    s = potentials.structure
    found = Joined.of(potentials, m, 4).found(np.random.default_rng(5), 8, ORACLE)
    noise = np.random.default_rng(5).gumbel(-np.euler_gamma, 1.0, (8, s.n, m, 2))
    edges = [
        (a * m + k, b * m + l, e)
        for e, (a, b) in enumerate(zip(s.i, s.j, strict=True))
        for k in range(m)
        for l in range(m)
    ]
    i, j, e = np.array(edges).T
    literal = Potentials(
        Structure((2,) * (s.n * m), i, j), np.zeros((s.n * m, 2)), potentials.table[e] / m**2, potentials.constant
    )
    unary = ((potentials.unary[:, None] + noise) / m).reshape(8, s.n * m, 2)
    whole = ORACLE.solve_batch(literal, unary)
    np.testing.assert_allclose(found.value, [each.value for each in whole])
    shares = np.mean([each.x.reshape(s.n, m).mean(1) for each in whole], 0)
    np.testing.assert_allclose(found.unary[:, 1], shares)


def test_what_is_bounded_and_where_it_ends():
    target, potentials = grid()
    log_z = exact.solve(target).log_z
    one, many = (run(potentials, copies=m, perturbations=2000) for m in (1, 16))
    for answer in (one, many):
        assert answer.log_z is None and answer.mean_maximum > log_z - 4.9 * answer.standard_error
    assert many.mean_maximum < one.mean_maximum and many.standard_error < one.standard_error
    joined = run(potentials, inflation="all", copies=12, perturbations=400)
    assert joined.mean_maximum is None and joined.log_z < log_z - 4.9 * joined.standard_error


def test_trees_end_at_log_z_and_at_the_marginals():
    target = Target.of(build_spec("tree:7,couplings=gaussian,sigma=1,field=random,h=1"))
    potentials, truth = Potentials.of_target(target)[0], exact.solve(target)
    errors = []
    for copies in (1, 64):
        answer = run(potentials, inflation="tree", copies=copies, perturbations=2000)
        over = answer.mean_maximum - truth.log_z
        assert over > -4.9 * answer.standard_error
        errors.append((over, np.abs(answer.unary[:, 1] - truth.p1).mean()))
    assert errors[1][0] < errors[0][0] / 4 and errors[1][1] < errors[0][1] / 4


def test_forests_and_what_stands_alone():
    """Variables without an edge count with their own sum, and every component once."""
    potentials = random_pairwise(0, n=2, states=2, strength=1.0)
    s = Structure((2,) * 5, np.array([0, 3]), np.array([1, 4]))
    unary, table = np.random.default_rng(1).normal(size=(5, 2)), np.random.default_rng(2).normal(size=(2, 2, 2))
    potentials = Potentials(s, unary, table, 0.3)
    found = Nested.of(potentials, 4, 5).found(np.random.default_rng(0), 30, ORACLE)
    np.testing.assert_allclose(found.value, np.logaddexp.reduce(table_of(potentials), None))


def test_what_does_not_fit_is_refused():
    with pytest.raises(Refusal, match="cycle"):
        run(grid()[1], inflation="tree")
    with pytest.raises(Refusal, match="two states"):
        run(random_pairwise(0, n=4, states=3, strength=1.0), inflation="all")

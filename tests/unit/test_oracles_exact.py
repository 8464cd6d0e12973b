"""Exact oracles on models too large for a list, and what they say of them."""

import numpy as np
import pytest

from pmpviz.contract.oracle_models import brute_force, of_spec
from pmpviz.models import build_spec
from pmpviz.oracles import Potentials, Structure, make_oracle
from pmpviz.oracles import exact as module
from pmpviz.types import Evidence, Refusal, Target
from tests.contract.oracle_files import of_file


def glass(rows: int, columns: int, seed: int, states: int = 2) -> Potentials:
    """A grid with random tables of `states` states."""
    rng, site = np.random.default_rng(seed), np.arange(rows * columns).reshape(rows, columns)
    pairs = [(a[:, :-1].ravel(), a[:, 1:].ravel()) for a in (site, site.T)]
    i, j = (np.concatenate(side) for side in zip(*pairs, strict=True))
    structure = Structure((states,) * site.size, i, j)
    return Potentials(structure, rng.normal(size=(site.size, states)), 2 * rng.normal(size=(len(i), states, states)))


def by_rows(potentials: Potentials, rows: int, columns: int) -> float:
    """The maximum over a grid, row after row: a table of all states of a row, added up term by term."""
    s, k = potentials.structure, potentials.structure.states
    states = np.stack(np.unravel_index(np.arange(k**columns), (k,) * columns), -1)
    table = {(a, b): t for a, b, t in zip(s.i.tolist(), s.j.tolist(), potentials.table, strict=True)}
    best = None
    for row in range(rows):
        at = np.arange(columns) + row * columns
        own = potentials.unary[at, states].sum(1)
        own = own + sum(table[a, a + 1][states[:, c], states[:, c + 1]] for c, a in enumerate(at[:-1].tolist()))
        if best is not None:
            step = best[:, None]
            for c, a in enumerate(at.tolist()):
                step = step + table[a - columns, a][states[:, None, c], states[None, :, c]]
            own = own + step.max(0)
        best = own
    return float(best.max()) + potentials.constant


@pytest.mark.parametrize("shape", [(7, 7, 2), (9, 3, 3), (3, 5, 3), (30, 1, 4), (12, 5, 2)])
def test_elimination_on_grids_against_rows(shape):
    rows, columns, states = shape
    potentials = glass(rows, columns, sum(shape), states)
    solution = make_oracle("elimination").solve(potentials)
    assert solution.exact and solution.value == pytest.approx(by_rows(potentials, rows, columns), abs=1e-9)
    unary = potentials.unary + np.random.default_rng(0).normal(size=(20, *potentials.unary.shape))
    for one, found in zip(unary, make_oracle("elimination").solve_batch(potentials, unary), strict=True):
        changed = potentials.with_values(one)
        assert found.value == pytest.approx(by_rows(changed, rows, columns), abs=1e-9)


def test_bipartite_against_elimination_and_against_itself_with_few_cells_at_once(monkeypatch):
    rng = np.random.default_rng(4)
    for visible, hidden in ((7, 12), (12, 7), (1, 9), (11, 11)):
        i, j = (part.ravel() for part in np.meshgrid(np.arange(visible), visible + np.arange(hidden), indexing="ij"))
        bias, w = rng.normal(size=visible + hidden), 3 * rng.normal(size=len(i))
        potentials = Potentials.of_quadratic(bias, i, j, w, 2.0)
        truth = make_oracle("elimination").solve(potentials)
        found = make_oracle("bipartite").solve(potentials)
        assert found.value == pytest.approx(truth.value, abs=1e-9)
        monkeypatch.setattr(module, "BLOCK", 1)
        np.testing.assert_array_equal(make_oracle("bipartite").solve(potentials).x, found.x)
        monkeypatch.undo()


def test_what_single_precision_cannot_tell_apart_is_told_apart():
    """Two configurations whose values differ in the tenth digit, among many that come near them."""
    rng = np.random.default_rng(1)
    i, j = (part.ravel() for part in np.meshgrid(np.arange(6), 6 + np.arange(6), indexing="ij"))
    for _ in range(20):
        potentials = Potentials.of_quadratic(1e-9 * rng.normal(size=12), i, j, rng.choice([-1.0, 1.0], len(i)))
        found = make_oracle("bipartite").solve(potentials)
        assert found.value == pytest.approx(brute_force(potentials)[1], abs=1e-12) and found.exact


@pytest.mark.parametrize("name", ["grid10x10_1.uai", "rbm_20.uai", "clique_445.uai"])
def test_two_ways_agree_on_real_files(name):
    potentials = of_file(name)
    if potentials is None:
        potentials = of_spec("square:4x6,J=0.7,h=0.1,periodic=false")
    solution = make_oracle("exact").solve(potentials)
    assert solution.exact and solution.upper == solution.value
    relaxed = make_oracle("linear_program").solve(potentials)
    assert relaxed.upper >= solution.value - 1e-6 and relaxed.value <= solution.value + 1e-9
    flips = np.array([np.where(np.arange(potentials.n) == v, 1 - solution.x, solution.x) for v in range(potentials.n)])
    assert (potentials.value(flips) <= solution.value + 1e-9).all()


def test_too_large_for_all_three():
    potentials = of_spec("complete:40,J=0.1")
    with pytest.raises(Refusal, match="elimination needs tables of"):
        make_oracle("exact").solve(potentials)
    assert "would list 2^40 states" in make_oracle("enumeration").spec.why_not(potentials)
    with pytest.raises(Refusal, match="odd cycle"):
        make_oracle("bipartite").solve(potentials)


def test_evidence_and_beta_are_in_the_potentials():
    model = build_spec("square:3x3,J=0.5,h=0.2,periodic=false")
    target = Target.of(model, Evidence.of(9, {0: 0, 4: 0}), beta=1.5)
    potentials, problem = Potentials.of_target(target)
    solution = make_oracle("exact").solve(potentials)
    x = problem.all_states(solution.x[None])[0]
    assert x[0] == x[4] == 0 and solution.exact
    assert solution.value == pytest.approx(float(target.log_weight(x)), rel=1e-5)

"""ICM: it climbs, it ends where no single change helps, and it is what site after site says."""

import numpy as np
import pytest

from pmpviz.contract.oracle_models import brute_force, of_spec, random_potentials
from pmpviz.oracles import icm, make_oracle
from pmpviz.oracles.icm import descend, fields, random_states, unary_argmax


def by_hand(potentials, x):
    """The same rule from the value function alone."""
    x, moved = np.array(x), True
    while moved:
        moved = False
        for v, states in enumerate(potentials.structure.card):
            rivals = np.repeat(x[None], states, 0)
            rivals[:, v] = np.arange(states)
            values = potentials.value(rivals)
            if values.max() > values[x[v]] + 1e-9:
                x[v], moved = values.argmax(), True
    return x


@pytest.mark.parametrize("seed", range(120))
def test_descend_is_site_after_site(seed):
    potentials = random_potentials(seed, states=2 if seed % 2 else 4)
    for x in random_states(potentials, np.random.default_rng(seed), 3):
        before, given = float(potentials.value(x)), x.copy()
        found = descend(potentials, x)
        np.testing.assert_array_equal(x, given)
        assert found.dtype == np.int8 and potentials.value(found) >= before - 1e-9
        np.testing.assert_array_equal(descend(potentials, found), found)
        np.testing.assert_array_equal(found, by_hand(potentials, x))


@pytest.mark.parametrize("seed", range(60))
def test_many_variables_of_two_states_settle_as_few_do(seed, monkeypatch):
    """Other arithmetic, the same moves in the same order."""
    potentials = random_potentials(seed, states=2)
    for x in random_states(potentials, np.random.default_rng(seed), 3):
        expected = descend(potentials, x)
        with monkeypatch.context() as patched:
            patched.setattr(icm, "MANY", 0)
            np.testing.assert_array_equal(descend(potentials, x), expected)


def test_fields_are_differences_of_the_value():
    potentials = random_potentials(6)
    (x,) = random_states(potentials, np.random.default_rng(0), 1)
    for v, (row, states) in enumerate(zip(fields(potentials, x), potentials.structure.card, strict=True)):
        rivals = np.repeat(x[None], states, 0)
        rivals[:, v] = np.arange(states)
        values = potentials.value(rivals)
        np.testing.assert_allclose(row[:states] - row[0], values - values[0], atol=1e-9)
        assert np.isneginf(row[states:]).all()


def test_more_starts_never_do_worse_and_find_the_maximum_of_a_small_glass():
    potentials = of_spec("square:4x4,theta=-0.4,periodic=false")
    rng = np.random.default_rng(3)
    potentials = potentials.with_values(potentials.unary + 0.3 * rng.normal(size=potentials.unary.shape))
    values = [make_oracle("multi_start", starts=count, seed=5).solve(potentials).value for count in (1, 4, 16, 64)]
    assert values == sorted(values) and values[0] == make_oracle("icm").solve(potentials).value
    assert values[-1] == pytest.approx(brute_force(potentials)[1])


def test_the_start_does_not_depend_on_how_potentials_are_split():
    """Any part of a unary may stand in the tables of the variable's edges."""
    rng = np.random.default_rng(0)
    for seed in range(1, 40):
        potentials = random_potentials(seed)
        s = potentials.structure
        moved = rng.normal(size=(len(s.i), s.states))
        unary, table = potentials.unary.copy(), potentials.table + moved[:, :, None]
        np.add.at(unary, s.i, -moved)
        other = potentials.with_values(unary * s.valid, table * s.valid_pairs)
        np.testing.assert_allclose(other.value(unary_argmax(other)), potentials.value(unary_argmax(other)), atol=1e-9)
        if not potentials.table.size or np.abs(potentials.table % 1).max() > 0:
            np.testing.assert_array_equal(unary_argmax(other), unary_argmax(potentials))
    field = of_spec("square:4x4,J=-1.3,h=0.2")
    assert unary_argmax(field).all() and not unary_argmax(of_spec("square:4x4,J=2,h=-0.2")).any()

"""ICM: it climbs, it ends where no single change helps, and it is what site after site says."""

import numpy as np
import pytest

from pmpviz.oracles import make_oracle
from pmpviz.oracles.icm import descend, fields, random_states
from tests.contract.oracle_models import brute_force, of_spec, random_potentials


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

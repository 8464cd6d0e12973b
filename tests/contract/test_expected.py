"""What is expected of every variable given the rest of a state: right on average, and averaged over a run."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz.contract import forms
from pmpviz.contract.fixtures import BY_NAME
from pmpviz.runs import advance, retarget, start
from pmpviz.samplers import SAMPLERS, make_sampler
from pmpviz.samplers.gibbs import Gibbs, conditional_means
from pmpviz.types import brings, pytree
from tests.thorough import case

pytestmark = pytest.mark.brief
BRING = [cls for cls in SAMPLERS if brings(cls, "expected")]


def test_those_who_know_conditional_means_bring_them():
    assert {cls.spec.id for cls in BRING} >= {
        "gibbs",
        "colour_gibbs",
        "gaussian_gibbs",
        "gaussian_hmc",
        "gaussian_chain",
    }


# Every algorithm with one of them every day, the next one with the other.
MEANS = [
    case(cls, name, name=f"{cls.spec.id}-{name}", everyday=(place + other) % 2 == 0)
    for place, cls in enumerate(BRING)
    for other, name in enumerate(("six_lattice_clamped", "srbm_clamped"))
]


@pytest.mark.parametrize("cls, name", MEANS)
def test_means_are_the_marginals(cls, name):
    verdict = forms.expected_means(cls(), BY_NAME[name], jax.random.key(8))
    assert verdict.passed, verdict.found


@pytree
class Undamped(Gibbs):
    """Planted: conditionals at beta 1."""

    def expected_tile(self, target, state):
        return super().expected_tile(dataclasses.replace(target, beta=jnp.float32(1.0)), state)


def test_means_at_another_beta_are_caught():
    assert not forms.expected_means(Undamped(), BY_NAME["six_lattice_clamped"], jax.random.key(8)).passed


@pytest.mark.parametrize("name", ["gibbs", "pmp", "gwg", "exact", "gaussian_hmc"])
def test_a_run_averages_its_chains_and_sweeps_alone(name):
    """In any chunks the same, of as many chains as there are; without conditional means of the configurations."""
    target, algorithm = BY_NAME["six_sparse"].target, make_sampler(name)
    expect = type(algorithm).expected_tile
    expect = jax.jit(expect) if algorithm.spec.jit else expect
    run = start(algorithm, target, jax.random.key(2), 70)
    whole, _ = advance(run, 12 * run.quanta, mean=True)
    parts, rows = run, []
    for _ in range(12):
        parts, _ = advance(parts, parts.quanta, record=False, mean=True)
        count = len(jax.tree.leaves(parts.state)[0])
        tiles = [jax.tree.map(lambda leaf, t=t: leaf[t], parts.state) for t in range(count)]
        expected = [np.asarray(expect(algorithm, parts.target, tile)) for tile in tiles]
        rows.append(np.concatenate(expected)[:70].mean(0))
    np.testing.assert_allclose(whole.time_average, np.mean(rows, 0), atol=2e-5)
    np.testing.assert_allclose(parts.time_average, whole.time_average, atol=2e-5)
    assert whole.averaged == parts.averaged == 12 and whole.time_average.dtype == np.float64
    assert retarget(whole).time_average is None and run.time_average is None
    plain, _ = advance(run, 12 * run.quanta)
    for a, b in zip(jax.tree.leaves(plain.state), jax.tree.leaves(whole.state), strict=True):
        if not jax.dtypes.issubdtype(jnp.asarray(a).dtype, jax.dtypes.prng_key):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("name", ["three_clamped", "mixed_clamped", "six_dense_clamped"])
def test_conditional_means_average_to_the_marginals_over_the_whole_law(name):
    fixture = BY_NAME[name]
    expected = np.asarray(jax.jit(conditional_means)(fixture.target, fixture.law.states), np.float64)
    average = np.tensordot(fixture.law.p, expected, 1)
    marginals = np.tensordot(fixture.law.p, fixture.target.model.space.indicator(fixture.law.states), 1)
    np.testing.assert_allclose(average, marginals, atol=1e-5)


def test_states_are_averaged_one_by_one():
    run = start(make_sampler("exact"), BY_NAME["mixed"].target, jax.random.key(2), 500)
    run, _ = advance(run, 4, record=False, mean=True)
    assert run.time_average.shape == (5, 4)
    np.testing.assert_allclose(run.time_average.sum(1), 1, atol=1e-9)

"""Gaussian samplers: every map, shift and coordinate has the law; the step holds everywhere; what is refused."""

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz import keys
from pmpviz.contract import detectors
from pmpviz.contract.fixtures import BY_NAME
from pmpviz.models import Ising, build_spec
from pmpviz.runs import advance, start
from pmpviz.samplers import gaussian_hmc, make_sampler
from pmpviz.types import InputError, Target
from tests.contract.gaussian_mutants import second_moments

KNOBS = [
    ("gaussian_gibbs", {"map": "cholesky", "shift": "least_trace"}),
    ("gaussian_gibbs", {"map": "banded", "eps": 0.5}),
    ("gaussian_gibbs", {"map": "eigen", "shift": "rows"}),
    ("gaussian_hmc", {"map": "cholesky", "leapfrog_steps": 2}),
    ("gaussian_hmc", {"map": "banded", "shift": "least_trace", "eps": 0.01}),
    ("gaussian_hmc", {"coordinates": "A = I"}),
    ("gaussian_hmc", {"coordinates": "A = I", "warm_up": 50, "leapfrog_steps": 9}),
]


@pytest.mark.parametrize(("name", "knobs"), KNOBS, ids=str)
def test_the_law_holds_under_every_map_shift_and_coordinate(name, knobs):
    algorithm, key = make_sampler(name, **knobs), jax.random.key(7)
    for check in (detectors.exact_start, detectors.symmetry):
        verdict = check(algorithm, BY_NAME["six_lattice_clamped"], key)
        assert verdict.passed, (check.__name__, verdict.found)


@pytest.mark.brief
@pytest.mark.parametrize(
    "spec",
    ["complete:6,couplings=sk,sigma=1", "complete:100,couplings=sk,sigma=10", "square:8x8,J=2", "square:5x5,J=-0.1"],
)
def test_the_default_step_is_accepted_on_every_model(spec):
    run = start(make_sampler("gaussian_hmc"), Target.of(build_spec(spec)), jax.random.key(1), 64)
    run, _ = advance(run, 20)
    _, trace = advance(run, 40)
    assert trace.info["acceptance"].mean() >= 0.85, trace.info["acceptance"].mean()
    assert (trace.info["energy_error"] >= 0).all()


@pytest.mark.brief
def test_lengths_are_uniform_from_one_to_twice_the_steps_less_one():
    lengths = jax.vmap(gaussian_hmc._length, (None, 0))(jnp.int32(4), jnp.arange(7000))
    counts = np.bincount(np.asarray(lengths), minlength=9)
    assert counts[0] == 0 and counts[8:].sum() == 0
    assert ((counts[1:8] - 1000) ** 2 / 1000).sum() < 45


@pytest.mark.brief
def test_a_warm_up_finds_a_step_that_is_accepted_as_often_as_asked_and_freezes_it():
    target = Target.of(build_spec("complete:30,couplings=sk,sigma=1"))
    tuned = make_sampler("gaussian_hmc", warm_up=400)
    units = [np.asarray(tuned.prepare(target).unit) for _ in range(2)]
    np.testing.assert_array_equal(*units)
    assert units[0][0] > 1.2 * make_sampler("gaussian_hmc").prepare(target).unit[0]
    run = start(tuned, target, jax.random.key(2), 128)
    run, _ = advance(run, 20)
    _, trace = advance(run, 60)
    assert abs(trace.info["acceptance"].mean() - gaussian_hmc.GOAL) < 0.06


@pytest.mark.brief
def test_trajectories_forget_second_moments():
    assert second_moments(make_sampler("gaussian_hmc"), BY_NAME["edgeless_dense"], jax.random.key(3)).passed


def test_a_low_rank_model_has_as_few_gaussians_as_patterns_and_its_law():
    rng = np.random.default_rng(2)
    pattern = rng.choice([-1.0, 1.0], 10)
    i, j = np.triu_indices(10, 1)
    model = Ising.from_spin(0.1 * pattern, i, j, 0.09 * pattern[i] * pattern[j], layout="dense")
    fixture = dataclasses.replace(BY_NAME["six_dense"], name="hopfield", target=Target.of(model))
    BY_NAME["hopfield"] = fixture
    try:
        for name in ("gaussian_gibbs", "gaussian_hmc"):
            algorithm = make_sampler(name, map="low_rank", eps=0.0)
            verdict = detectors.exact_start(algorithm, fixture, jax.random.key(4))
            assert verdict.passed, verdict.found
            assert start(algorithm, fixture.target, jax.random.key(0), 1).state.z.shape[1] == 1
    finally:
        del BY_NAME["hopfield"]


@pytest.mark.parametrize(
    ("name", "knobs", "words"),
    [
        ("gaussian_gibbs", {}, "1,100 variables"),
        ("gaussian_hmc", {}, "1,100 variables"),
        ("gaussian_hmc", {"map": "edges", "coordinates": "A = I"}, "A = I moves along the eigenvectors"),
        ("gaussian_gibbs", {"map": "layers"}, "three layers need"),
        ("gaussian_hmc", {"map": "banded"}, "few sites interact"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(name, knobs, words):
    model = Ising.from_edges(np.zeros(1100), [0], [1], [0.5], layout="dense")
    with pytest.raises(InputError, match=words) as refused:
        start(make_sampler(name, **knobs), Target.of(model), jax.random.key(0), 1)
    assert "\n" not in str(refused.value)


@pytest.mark.brief
def test_an_overlay_is_the_field_that_the_variables_are_drawn_with():
    target = BY_NAME["srbm_clamped"].target
    for name in ("gaussian_gibbs", "gaussian_hmc"):
        run = start(make_sampler(name), target, jax.random.key(0), 4)
        run, _ = advance(run, 3)
        state = jax.tree.map(lambda leaf: leaf[0], run.state)
        field = np.asarray(run.algorithm.overlay(run.target, state, "Gaussian field"))
        assert field.shape == (7,) and np.isfinite(field).all() and np.ptp(field) > 0


@partial(jax.jit, static_argnums=4)
def told_and_made(algorithm, chain_keys, target, state, longest):
    """(trajectory as it is told, state and numbers of the step that is made)."""
    told = gaussian_hmc.traced(algorithm, chain_keys, target, state, longest)
    return told, *algorithm.step_tile(chain_keys, target, state)


@pytest.mark.brief
@pytest.mark.parametrize("knobs", [{}, {"coordinates": "A = I", "leapfrog_steps": 9}, {"step_size": 2.0}], ids=str)
def test_a_traced_trajectory_is_the_one_that_the_step_makes(knobs):
    algorithm = make_sampler("gaussian_hmc", **knobs)
    target = Target.of(build_spec("complete:6,couplings=sk,sigma=2"))
    target = dataclasses.replace(target, prepared=algorithm.prepare(target))
    words = keys.fold_words(np.array([3, 4], np.uint32), np.arange(64))
    state = algorithm.init_tile(jax.random.wrap_key_data(words), target, np.zeros((64, 6), np.int8))
    for quantum in range(1, 6):
        own = keys.fold_in(jax.random.wrap_key_data(words), quantum)
        told, after, info = told_and_made(algorithm, own, target, state, 2 * 9 - 1)
        steps = int(told.steps)
        change = np.asarray(told.energy[steps] - told.energy[0])
        accepted = change < np.asarray(told.line)
        np.testing.assert_allclose(np.abs(change), info["energy_error"], atol=2e-4)
        ends = np.where(accepted, told.z[steps], told.z[0])
        # Where the change is the line to the last digits either answer is right.
        sure = np.abs(change - np.asarray(told.line)) > 1e-3
        np.testing.assert_allclose(ends[:, sure], np.asarray(after.z)[:, sure], atol=2e-4)
        state = after
    assert 0 < accepted.sum()

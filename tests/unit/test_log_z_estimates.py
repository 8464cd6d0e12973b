"""log Z from draws of Gaussians and from Gibbs sampling: near the truth by their own error bars."""

import dataclasses

import numpy as np
import pytest
from scipy.special import logsumexp

from pmpviz import exact
from pmpviz.marginals import infer, log_z_estimates, make_solver
from pmpviz.marginals.chib import Chib, Sites
from pmpviz.marginals.gaussian_log_z import ESTIMATORS, GaussianLogZ
from pmpviz.models import build_spec
from pmpviz.models.tables import TableModel
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import Evidence, Refusal, Target

MODEL = build_spec("complete:8,couplings=sk,sigma=0.7,field=random,h=0.5")
TARGET = Target.of(MODEL, Evidence.of(8, {2: 1, 5: 0}), 1.2)
TRUTH = exact.solve(TARGET)


def ended(solver, target=TARGET):
    potentials, _ = Potentials.of_target(target)
    state = solver.start(potentials)
    while not state.reason:
        state = solver.step(state)
    return state


@pytest.mark.parametrize("sampler", ["gaussian_hmc", "gaussian_gibbs"])
def test_every_estimator_is_within_its_errors(sampler):
    solver = make_solver("gaussian_log_z", sampler=sampler, draws=8000)
    state = ended(solver)
    for name in ESTIMATORS:
        found = solver.estimate(state, name)
        # The paper's own is biased by the fit: by less than a tenth here.
        room = 0.1 if name == "mirrored" else 5 * found.error
        assert 0 < found.error < 0.2 and abs(found.log - TRUTH.log_z) < room, (name, found, TRUTH.log_z)
    assert solver.estimate(state, "bridge").error < 0.03


def test_an_estimate_comes_whenever_the_draws_have_doubled():
    trace = ended(make_solver("gaussian_log_z", draws=4000)).trace
    known = [record for record in trace if record["objective"] is not None]
    assert [record["call"] for record in trace] == list(range(25, 275, 25))
    assert [record["call"] for record in known] == [50, 100, 200, 250]
    assert all(abs(r["objective"] - TRUTH.log_z) < 5 * r["standard_error"] for r in known)


def test_marginals_are_those_of_the_target_with_deltas_where_clamped():
    found = infer(make_solver("gaussian_log_z", draws=8000), TARGET)
    for row, truth in zip(found.marginals, TRUTH.marginals, strict=True):
        np.testing.assert_allclose(row, truth, atol=0.03)
    assert found.answer.standard_error > 0 and found.answer.bound is None
    np.testing.assert_allclose(found.answer.table.sum((1, 2)), 1)


@pytest.mark.parametrize("estimator", ["chib", "unbiased"])
@pytest.mark.parametrize("state", ["icm", "zero"])
def test_gibbs_reaches_a_configuration_as_often_as_it_should(estimator, state):
    solver = make_solver("chib", estimator=estimator, state=state, sweeps=400)
    answer = solver.answer(ended(solver))
    assert abs(answer.log_z - TRUTH.log_z) < 5 * answer.standard_error + 0.01
    assert answer.standard_error < 0.2


def test_murray_and_salakhutdinovs_estimate_has_no_bias():
    """Z is the mean of what single chains say of it, however short: on a model that mixes badly."""
    target = Target.of(build_spec("chain:4,J=1.2,periodic=false"))
    truth, logs = exact.solve(target).log_z, []
    potentials, _ = Potentials.of_target(target)
    for seed in range(40):
        solver = dataclasses.replace(Chib(estimator="unbiased", seed=seed), sweeps=3)
        state = solver.step(solver.start(potentials))
        reach = np.stack(state.reach)
        logs.append(float(potentials.value(state.goal)) - (logsumexp(reach, axis=0) - np.log(3)))
    ratios = np.exp(np.concatenate(logs) - truth)
    assert abs(ratios.mean() - 1) < 5 * ratios.std() / np.sqrt(len(ratios))
    # A chain in equilibrium has the bias that this one lacks: E 1/x > 1 / E x.
    wrong = [Chib(seed=seed, burn_in=20) for seed in range(40)]
    biased = []
    for solver in wrong:
        state = solver.start(potentials)
        reach = np.stack([state.sites.log_reach(state.x, state.goal)])
        biased.append(np.exp(float(potentials.value(state.goal)) - reach[0] - truth))
    biased = np.concatenate(biased)
    assert biased.mean() - 1 > 5 * biased.std() / np.sqrt(len(biased))


@pytest.mark.parametrize("name", ["chib", "gaussian_log_z"])
def test_more_states_than_two(name):
    rng = np.random.default_rng(0)
    tables = [((0, 1), rng.normal(size=(2, 3))), ((1, 2), rng.normal(size=(3, 4))), ((0,), rng.normal(size=2))]
    target = Target.of(TableModel.of((2, 3, 4), tables))
    solver = make_solver(name, **({"sweeps": 800} if name == "chib" else {"draws": 12800}))
    found, truth = infer(solver, target), exact.solve(target)
    assert abs(found.answer.log_z - truth.log_z) < 5 * found.answer.standard_error
    for row, wanted in zip(found.marginals, truth.marginals, strict=True):
        np.testing.assert_allclose(row, wanted, atol=0.03)


def test_one_sweep_s_probabilities_sum_to_one():
    potentials, _ = Potentials.of_target(Target.of(build_spec("complete:4,J=0.6,h=0.2")))
    sites, x = Sites.of(potentials), np.array([[0, 1, 1, 0], [1, 1, 1, 1]])
    every = (np.arange(16)[:, None] >> np.arange(4)) & 1
    total = sum(np.exp(sites.log_reach(x, goal)) for goal in every)
    np.testing.assert_allclose(total, 1, rtol=1e-12)


def test_an_error_bar_is_the_spread_of_batches():
    rng = np.random.default_rng(1)
    logs = rng.normal(0, 0.3, (400, 5000))
    found = [log_z_estimates.log_mean(row) for row in logs]
    spread = np.std([f.log for f in found])
    assert abs(np.mean([f.error for f in found]) / spread - 1) < 0.15
    assert abs(np.mean([f.log for f in found]) - 0.045) < 5 * spread / 20


def test_what_does_not_fit_is_refused():
    many = Target.of(build_spec("square:33x33,J=0.1"))
    with pytest.raises(Refusal, match="1,089 dimensions"):
        infer(GaussianLogZ(), many)
    three = Target.of(TableModel.of((3,) * 400, [((v,), np.zeros(3)) for v in range(400)]))
    with pytest.raises(Refusal, match="1,200 dimensions"):
        infer(GaussianLogZ(), three)

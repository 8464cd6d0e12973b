"""Perturb-and-MAP learners beyond the contract of all: their samples, perturbations and walks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest, norm

from pmpviz.contract import learning_detectors as detectors
from pmpviz.contract.detectors import draw_noise
from pmpviz.contract.laws import ALPHA, chi_square, table
from pmpviz.contract.learning_fixtures import BY_NAME
from pmpviz.learning import make_learner
from pmpviz.learning.pmp import gumbel_score
from pmpviz.oracles.linear_program import LinearProgram
from pmpviz.oracles.max_product import STARTS, first_messages
from pmpviz.runs import sample
from pmpviz.samplers.pmp import PerturbAndMaxProduct
from pmpviz.types import Target

KEY = jax.random.key(20_240_603)
CHAINS = 1 << 14


def own_key(key):
    """The key of the samples of the first iteration."""
    return jax.random.split(jax.random.fold_in(key, 0))[0]


@pytest.mark.as_shipped
@pytest.mark.parametrize("name", ["six_sparse", "srbm"])
@pytest.mark.parametrize("start", [0, 1])
def test_pmp_learns_from_the_samples_of_the_sampler(name, start):
    fixture, learner = BY_NAME[name], make_learner("pmp", sweeps=3, damping=0.3, messages=STARTS[start])
    _, phase = detectors.frozen(learner, fixture, KEY)
    sampler = PerturbAndMaxProduct(0.3, 1 << 20, start)
    wanted = sample(sampler, Target.of(fixture.model), own_key(KEY), detectors.CHAINS, 3)
    np.testing.assert_array_equal(phase.x, wanted)


@pytest.mark.parametrize("name", ["six_sparse", "rbm"])
def test_perturb_lp_solves_the_perturbations_of_pmp(name):
    fixture, learner = BY_NAME[name], make_learner("perturb_lp")
    _, phase = detectors.frozen(learner, fixture, KEY)
    noise = draw_noise(own_key(KEY), detectors.CHAINS_ON_HOST, fixture.model.n)
    unary = np.asarray(fixture.model.bias, np.float64) + noise
    solved = [LinearProgram.of_model(fixture.model).solve(row) for row in unary]
    whole = np.array([one.fractional == 0 for one in solved])
    assert whole.mean() > 0.5 and float(phase.rest) == pytest.approx(np.mean([one.fractional for one in solved]))
    score = fixture.law.log_weight + noise @ fixture.law.states.T
    np.testing.assert_array_equal(np.asarray(phase.x)[whole], fixture.law.states[score.argmax(1)][whole])


@jax.jit
def _walk(learner, model, phase, key):
    return learner.sample(key, model, phase)


def walk(name, steps, chains=CHAINS, **knobs):
    """Phases of the persistent learner at a frozen model, the first one included."""
    learner, model = make_learner("persistent_pmp", **knobs), BY_NAME[name].model
    phases = [jax.jit(learner.init, static_argnums=2)(jax.random.fold_in(KEY, 99), model, chains)]
    for t in range(steps):
        phases.append(_walk(learner, jax.tree.map(jnp.asarray, model), phases[-1], jax.random.fold_in(KEY, t)))
    return phases


def test_the_perturbation_is_logistic_at_every_iteration():
    for phase in walk("edgeless_sparse", 6, correlation=0.7):
        gamma = np.asarray(phase.rest[0])
        one, other = (np.asarray(gumbel_score(part), np.float64).ravel() for part in gamma)
        assert kstest(one, "gumbel_r", args=(-np.euler_gamma, 1)).pvalue > ALPHA
        assert kstest(other - one, "logistic").pvalue > ALPHA


def test_the_score_is_a_gumbel_number_of_the_same_rank():
    gamma = np.array([-12.0, -4.0, 0.0, 1.0, 5.0], np.float32)
    wanted = -np.log(-norm.logcdf(gamma.astype(float))) - np.euler_gamma
    np.testing.assert_allclose(gumbel_score(gamma), wanted, rtol=1e-4)


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.9, 0.99])
def test_the_lag_one_correlation_is_the_root_of_rho(rho):
    first, second, third = (np.asarray(phase.rest[0]).ravel() for phase in walk("edgeless_sparse", 2, correlation=rho))
    for past, now, wanted in ((first, second, np.sqrt(rho)), (second, third, np.sqrt(rho)), (first, third, rho)):
        # Fisher's z is normal with variance 1 / (N - 3).
        z = (np.arctanh(np.corrcoef(past, now)[0, 1]) - np.arctanh(wanted)) * np.sqrt(len(now) - 3)
        assert 2 * norm.sf(abs(z)) > ALPHA


@pytest.mark.parametrize("name", ["edgeless_sparse", "edgeless_srbm"])
def test_its_samples_are_exact_without_edges_at_every_iteration(name):
    law = BY_NAME[name].law
    for phase in walk(name, 4, sweeps=1)[1:]:
        assert chi_square(np.bincount(law.index(np.asarray(phase.x)), minlength=len(law.p)), law.p) > ALPHA


def test_uncorrelated_after_many_sweeps_its_law_is_that_of_pmp():
    fixture, size = BY_NAME["six_sparse"], 64
    ours = walk("six_sparse", 1, correlation=0.0, sweeps=100)[-1].x
    theirs = sample(PerturbAndMaxProduct(0.5, 1 << 20), Target.of(fixture.model), KEY, CHAINS, 100)
    index = [fixture.law.index(np.asarray(x)) for x in (ours, theirs)]
    counts = np.stack([np.bincount(i, minlength=size) for i in index]).astype(float)
    assert two_samples(counts) > ALPHA
    # The test sees that the exact law is another.
    assert chi_square(counts[0].astype(int), fixture.law.p) < ALPHA


@pytest.mark.parametrize("start", [0, 1])
def test_it_starts_from_the_first_messages_that_it_is_told(start):
    """Of six sites of which some weights are not 0, the two differ."""
    model = BY_NAME["six_sparse"].model
    (phase,) = walk("six_sparse", 0, chains=2, messages=STARTS[start])
    np.testing.assert_array_equal(phase.rest[1], first_messages(model.couplings, 2, start))
    assert np.any(np.asarray(phase.rest[1])) == bool(start)


def two_samples(counts):
    """p-value of the chi-square test that two rows of counts, of equal totals, have one law."""
    from scipy.stats import chi2

    both = counts.sum(0)
    kept = both >= 20
    one, other = (np.append(row[kept], row[~kept].sum()) for row in counts)
    seen = one + other > 0
    return chi2.sf(((one - other)[seen] ** 2 / (one + other)[seen]).sum(), seen.sum() - 1)


def test_independent_iterations_at_rho_zero():
    fixture = BY_NAME["edgeless_sparse"]
    phases = walk("edgeless_sparse", 2, correlation=0.0)[1:]
    pairs = table(*(fixture.law.index(np.asarray(phase.x)) for phase in phases), len(fixture.law.p))
    assert chi_square(pairs.ravel(), np.outer(fixture.law.p, fixture.law.p).ravel()) > ALPHA

"""RBM with Gaussian hidden units: its law with these summed out, its gradient, and chains that are drawn in blocks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz import exact
from pmpviz.learning import make_learner
from pmpviz.learning.learner import Phase
from pmpviz.learning.parameters import log_likelihood, parameters_of, with_parameters
from pmpviz.models import SRBM, GaussianRBM
from pmpviz.models.gaussian import own_layers
from pmpviz.types import InputError, Target

RNG = np.random.default_rng(4)
WEIGHT, FACTOR = RNG.normal(0, 1, (2, 4)), RNG.normal(0, 0.8, (3, 4))
OWN, HIDDEN = RNG.normal(size=4), RNG.normal(size=2)
MODEL = GaussianRBM.of_factor(WEIGHT, FACTOR, OWN, HIDDEN)
DATA = (RNG.random((30, 4)) < [0.2, 0.4, 0.6, 0.8]).astype(np.int8)


def test_with_the_gaussians_summed_out_it_is_an_srbm():
    """log integral of exp(c.v + h'Wv + b.h + y'Fv - y'y / 2) over y, by quadrature, up to the Gaussians' own."""
    node, weight = np.polynomial.hermite_e.hermegauss(60)
    for x in ((np.arange(64)[:, None] >> np.arange(6)) & 1).astype(np.int8):
        v, h = x[:4].astype(float), x[4:].astype(float)
        over_y = sum(np.log(weight @ np.exp(node * mean) / weight.sum()) for mean in FACTOR @ v)
        whole = OWN @ v + HIDDEN @ h + h @ WEIGHT @ v + over_y
        assert float(MODEL.log_weight(x)) == pytest.approx(whole, abs=2e-5)
    squares = FACTOR.T @ FACTOR
    same = SRBM.of_layers(WEIGHT, MODEL.lateral, OWN + np.diag(squares) / 2, HIDDEN)
    assert exact.solve(Target.of(MODEL)).log_z == pytest.approx(exact.solve(Target.of(same)).log_z, abs=1e-5)


def test_its_parameters_are_those_that_it_was_made_of():
    parameters = parameters_of(MODEL)
    for name, value in (("factor", FACTOR), ("visible_bias", OWN), ("hidden_bias", HIDDEN), ("weight", WEIGHT)):
        np.testing.assert_allclose(parameters[name], value, atol=1e-6)
    again = with_parameters(MODEL, parameters)
    np.testing.assert_allclose(again.bias, MODEL.bias, atol=1e-6)
    np.testing.assert_allclose(again.summed().lateral, MODEL.lateral, atol=1e-6)


def test_the_exact_gradient_is_the_slope_of_the_log_likelihood():
    learner, key = make_learner("exact"), jax.random.key(0)
    phase = learner.init(key, MODEL, 8)
    found, _ = learner.gradient(key, MODEL, DATA, None, phase, "binary")
    parameters = {name: np.asarray(value, np.float64) for name, value in parameters_of(MODEL).items()}
    assert found.keys() == parameters.keys()

    def value(name, entry, step):
        moved = {k: v.copy() for k, v in parameters.items()}
        moved[name][entry] += step
        model = GaussianRBM.of_factor(*(moved[k] for k in ("weight", "factor", "visible_bias", "hidden_bias")))
        return log_likelihood(model, DATA, exact.solve(Target.of(model)).log_z)

    for name, gradient in found.items():
        for entry in np.ndindex(gradient.shape):
            slope = (value(name, entry, 0.01) - value(name, entry, -0.01)) / 0.02
            assert float(gradient[entry]) == pytest.approx(slope, abs=2e-3), (name, entry)


@pytest.mark.parametrize("updates", [0, 6])
def test_persistent_chains_have_its_law(updates):
    """65,536 chains after thirty iterations of a frozen model, in blocks or site by site."""
    learner, chains = make_learner("pcd", sweeps=3, updates=updates), 1 << 16
    model = jax.tree.map(jnp.asarray, MODEL)

    @jax.jit
    def gone_on(key):
        def one(t, phase):
            return learner.sample(jax.random.fold_in(key, t), model, phase)

        return jax.lax.fori_loop(0, 30, one, learner.init(key, model, chains))

    phase = gone_on(jax.random.key(1))
    assert isinstance(phase, Phase)
    truth = exact.solve(Target.of(MODEL)).p1
    error = np.abs(np.asarray(phase.x, np.float64).mean(0) - truth)
    assert (error < 5 * np.sqrt(truth * (1 - truth) / chains)).all()


def test_blocks_of_its_own_and_of_other_shapes():
    layers = own_layers(MODEL)
    squares = np.asarray(layers.visible.map.weight @ layers.visible.map.weight.T)
    np.testing.assert_allclose(squares - np.diag(np.diag(squares)), MODEL.lateral, atol=1e-5)
    np.testing.assert_allclose(layers.visible.bias, np.asarray(MODEL.visible_bias) - np.diag(squares) / 2, atol=1e-5)
    with pytest.raises(InputError, match=r"factor has shape \(3, 5\); give m x 4 numbers"):
        GaussianRBM.of_factor(WEIGHT, np.zeros((3, 5)))

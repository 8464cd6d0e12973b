"""RBM and SRBM: free energy and conditionals against sums over the hidden layer; errors in one sentence."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz.models import RBM, SRBM
from pmpviz.types import InputError


def machines():
    rng = np.random.default_rng(1)
    weight, c, b = rng.normal(0, 2, (3, 5)), rng.normal(size=5), rng.normal(size=3)
    within = np.triu(rng.normal(size=(5, 5)), 1)
    yield RBM.of_layers(weight, c, b, constant=0.3)
    yield SRBM.of_layers(weight, within + within.T, c, b, constant=-0.7)


def states(count):
    return np.array(list(itertools.product((0, 1), repeat=count)), np.int8)


@pytest.mark.parametrize("model", machines(), ids=["rbm", "srbm"])
def test_free_energy_and_conditionals_by_enumeration(model):
    v, h = states(model.visible), states(model.hidden)
    joint = np.concatenate([np.repeat(v, len(h), 0), np.tile(h, (len(v), 1))], 1)
    log = np.asarray(jax.vmap(model.log_weight)(joint), np.float64).reshape(len(v), len(h))
    np.testing.assert_allclose(model.free_energy(v), -np.logaddexp.reduce(log, axis=1), rtol=1e-5, atol=1e-5)
    given_v = np.exp(log - np.logaddexp.reduce(log, 1, keepdims=True))
    np.testing.assert_allclose(model.hidden_mean(v), given_v @ h, atol=1e-5)
    field = np.asarray(jax.vmap(model.local_field)(joint))[:, : model.visible]
    np.testing.assert_allclose(
        model.visible_mean(joint[:, model.visible :], joint[:, : model.visible]), 1 / (1 + np.exp(-field)), atol=1e-5
    )


def test_free_energy_of_one_row_and_of_many():
    for model in machines():
        v = states(model.visible)
        np.testing.assert_allclose(model.free_energy(v[5]), model.free_energy(v)[5], rtol=1e-6)
        assert model.free_energy(v.reshape(4, 8, -1)).shape == (4, 8)
        assert np.isfinite(RBM.of_layers(np.full((2, 2), 1e4)).free_energy(np.ones(2, np.int8)))


def test_layers_are_where_they_are_said_to_be():
    rbm, srbm = machines()
    assert (rbm.visible, rbm.hidden, rbm.n) == (5, 3, 8)
    np.testing.assert_array_equal(np.concatenate([rbm.visible_bias, rbm.hidden_bias]), rbm.bias)
    assert rbm.n_colours == 2 and srbm.n_colours == 6
    assert jnp.array_equal(srbm.lateral, srbm.lateral.T) and rbm.couplings.lateral is None
    zero = RBM.of_layers(np.zeros((2, 3)))
    assert not zero.bias.any() and zero.bias.shape == (5,)


ODD = np.array([[0.0, 1.0], [2.0, 0.0]])


@pytest.mark.parametrize(
    "build, message",
    [
        (lambda: RBM.of_layers(np.zeros(3)), r"weight has shape \(3,\); give hidden x visible numbers"),
        (lambda: RBM.of_layers(np.zeros((0, 3))), r"weight has shape \(0, 3\)"),
        (lambda: RBM.of_layers(np.zeros((2, 3)), np.zeros(2)), r"visible_bias has shape \(2,\); give 3 numbers"),
        (lambda: RBM.of_layers(np.zeros((2, 3)), None, np.zeros(3)), r"hidden_bias has shape \(3,\); give 2 numbers"),
        (lambda: SRBM.of_layers(np.zeros((1, 2)), np.zeros((3, 3))), r"lateral has shape \(3, 3\); 2 visible sites"),
        (lambda: SRBM.of_layers(np.zeros((1, 2)), ODD), "symmetric with a zero diagonal"),
        (lambda: SRBM.of_layers(np.zeros((1, 2)), np.eye(2)), "symmetric with a zero diagonal"),
    ],
)
def test_errors_are_one_sentence(build, message):
    with pytest.raises(InputError, match=message) as error:
        build()
    assert "\n" not in str(error.value)

"""Steps against optax's own on a quadratic, penalties and rates; the models that learning starts from."""

import jax
import numpy as np
import optax
import pytest

from pmpviz.learning.optimiser import OPTIMISER_PARAMS, Optimiser, gradient_norm
from pmpviz.learning.start import MOST_PARAMETERS, STARTS, fresh_model
from pmpviz.models import RBM, SRBM
from pmpviz.types import InputError

pytestmark = pytest.mark.brief

GOAL = {"bias": np.array([1.0, -2.0, 0.5], np.float32), "weight": np.array([[0.0, 3.0], [-1.0, 0.2]], np.float32)}
ALL = {name: np.ones(value.shape, bool) for name, value in GOAL.items()}
THEIRS = {
    "adam": lambda rate: optax.adam(rate),
    "momentum": lambda rate: optax.sgd(rate, momentum=0.8),
    "sgd": lambda rate: optax.sgd(rate),
}


@pytest.mark.parametrize("method", THEIRS)
def test_steps_are_those_of_optax(method):
    ours, theirs = Optimiser(method, 0.07, 0.8), THEIRS[method](0.07)
    values = others = {name: np.zeros_like(value) for name, value in GOAL.items()}
    state, other_state = ours.init(values), theirs.init(others)
    step = jax.jit(ours.step)
    for _ in range(30):
        values, state = step(jax.tree.map(np.subtract, GOAL, jax.device_get(values)), values, state, ALL)
        downhill = jax.tree.map(np.subtract, jax.device_get(others), GOAL)
        moves, other_state = theirs.update(downhill, other_state, others)
        others = optax.apply_updates(others, moves)
    for name in GOAL:
        np.testing.assert_allclose(values[name], others[name], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("method", THEIRS)
def test_it_climbs_to_the_top(method):
    ours = Optimiser(method, 0.05, 0.5)
    values, step = {name: np.zeros_like(value) for name, value in GOAL.items()}, jax.jit(ours.step)
    state = ours.init(values)
    for _ in range(400):
        values, state = step(jax.tree.map(np.subtract, GOAL, jax.device_get(values)), values, state, ALL)
    for name in GOAL:
        np.testing.assert_allclose(values[name], GOAL[name], atol=1e-2)


@pytest.mark.parametrize("name, pulled", [("weight", True), ("lateral", True), ("bias", False), ("hidden_bias", False)])
def test_penalties_pull_weights_and_no_biases(name, pulled):
    value, zero = np.array([2.0, -0.5, 0.0], np.float32), np.zeros(3, np.float32)
    ours = Optimiser("sgd", 0.1, l1=0.3, l2=0.2, lateral_rate=1.0)
    moved, _ = ours.step({name: zero}, {name: value}, ours.init({name: value}), {name: np.ones(3, bool)})
    wanted = value - 0.1 * (0.3 * np.sign(value) + 0.2 * value) * pulled
    np.testing.assert_allclose(moved[name], wanted, rtol=1e-6)


@pytest.mark.parametrize("method", THEIRS)
def test_the_mask_holds_whatever_the_gradient_says(method):
    ours, mask = Optimiser(method, 0.1, l1=0.1, l2=0.1), {"weight": np.array([True, False])}
    values = {"weight": np.array([1.0, 0.25], np.float32)}
    state = ours.init(values)
    for _ in range(3):
        values, state = ours.step({"weight": np.array([1.0, 1e6], np.float32)}, values, state, mask)
    assert float(values["weight"][1]) == 0.25 and float(values["weight"][0]) != 1.0


def test_lateral_weights_have_a_rate_of_their_own():
    values = {name: np.zeros(2, np.float32) for name in ("weight", "lateral")}
    ours = Optimiser("sgd", 0.5, lateral_rate=0.1)
    ones = {name: np.ones(2, np.float32) for name in values}
    moved, _ = ours.step(ones, values, ours.init(values), {name: np.ones(2, bool) for name in values})
    np.testing.assert_allclose(moved["weight"], 0.5)
    np.testing.assert_allclose(moved["lateral"], 0.05, rtol=1e-6)


def test_rates_are_traced_and_the_defaults_are_the_params():
    default = Optimiser()
    leaves, names = jax.tree.leaves(default), [param.name for param in OPTIMISER_PARAMS]
    assert len(leaves) == len(names) - 1 and all(leaf.dtype == np.float32 for leaf in leaves)
    for param in OPTIMISER_PARAMS:
        value = getattr(default, param.name)
        assert value == param.default if param.scale == "choice" else np.float32(param.default) == value


def test_gradient_norm_is_of_what_may_change():
    mask = {"weight": np.array([True, False, True])}
    assert float(gradient_norm({"weight": np.array([3.0, 100.0, 4.0])}, mask)) == pytest.approx(np.sqrt(12.5))
    assert float(gradient_norm({"weight": np.ones(3)}, {"weight": np.zeros(3, bool)})) == 0.0


DATA = (np.random.default_rng(0).random((40, 6)) < [0.0, 1.0, 0.1, 0.5, 0.7, 0.9]).astype(np.int8)


@pytest.mark.parametrize("kind", ["rbm", "srbm", "gaussian_rbm", "ising"])
@pytest.mark.parametrize("start", STARTS)
def test_starts(kind, start):
    model = fresh_model(kind, DATA, 4, start, 3)
    bias = np.asarray(model.bias)[:6]
    if start == "base rate":
        share = (DATA.sum(0) + 0.5) / (len(DATA) + 1)
        np.testing.assert_allclose(1 / (1 + np.exp(-bias.astype(float))), share, rtol=1e-5)
    else:
        assert bias.any() == (start == "paper" and kind != "ising")
    if kind == "ising":
        assert model.n == 6 and not np.asarray(model.couplings.weight).any()
        return
    assert isinstance(model, RBM if kind == "rbm" else SRBM) and (model.visible, model.hidden) == (6, 4)
    weight = np.asarray(model.weight)
    assert len(np.unique(weight)) == weight.size and 0.005 < weight.std() < 0.02
    assert np.asarray(model.hidden_bias).any() == (start == "paper")
    assert kind == "rbm" or not np.asarray(model.lateral).any()
    again, other = (fresh_model(kind, DATA, 4, start, seed) for seed in (3, 4))
    assert (np.asarray(again.weight) == weight).all() and (np.asarray(other.weight) != weight).all()


@pytest.mark.parametrize(
    "kind, data, hidden, start, message",
    [
        ("dbm", DATA, 4, "zero", "no model 'dbm' to learn; choose one of rbm, srbm, gaussian_rbm, ising"),
        ("rbm", DATA, 4, "far", "no start 'far'; choose one of base rate, paper, zero"),
        ("rbm", DATA, MOST_PARAMETERS, "zero", "this model has 25,165,824 weights"),
        ("ising", np.zeros((2, 2049), np.int8), 1, "zero", "this model has 4,198,401 weights"),
    ],
)
def test_refusals(kind, data, hidden, start, message):
    with pytest.raises(InputError, match=message):
        fresh_model(kind, data, hidden, start, 0)

"""Annealed importance sampling: exact where nothing is annealed, and its bar at the rate that it keeps."""

import secrets

import jax
import numpy as np
import pytest
from scipy.stats import binom

from pmpviz import exact
from pmpviz.learning.ais import annealed_log_z
from pmpviz.models import RBM, SRBM, build_spec
from pmpviz.types import InputError, Target

pytestmark = pytest.mark.brief


def _layered():
    rng = np.random.default_rng(2)
    weight, c, b = rng.normal(0, 1.2, (3, 5)), rng.normal(size=5), rng.normal(size=3)
    within = np.triu(rng.normal(0, 0.8, (5, 5)), 1)
    return RBM.of_layers(weight, c, b, constant=0.6), SRBM.of_layers(weight, within + within.T, c, b)


RBM_MODEL, SRBM_MODEL = _layered()
MODELS = {
    "rbm": RBM_MODEL,
    "srbm": SRBM_MODEL,
    "lattice": build_spec("square:3x3,J=-0.4,h=0.3"),
    "dense": build_spec("complete:6"),
}
SEEDS, CHAINS, TEMPERATURES = 30, 64, 60
# Three standard errors cover 99.7 % of a normal law; with weights this skewed and 64 chains at least this share.
PROMISE = 0.97


def test_the_bar_covers_log_z_as_often_as_promised():
    seed, covered, errors = secrets.randbits(31), 0, []
    for model in MODELS.values():
        log_z = exact.solve(Target.of(model)).log_z
        for number in range(SEEDS):
            key = jax.random.fold_in(jax.random.key(seed), number)
            found = annealed_log_z(model, key, CHAINS, TEMPERATURES)
            assert found.low <= found.log_z <= found.high and 1 <= found.effective <= CHAINS + 1e-6
            covered += found.low <= log_z <= found.high
            errors.append(found.log_z - log_z)
    total = SEEDS * len(MODELS)
    # A false alarm is rarer than one in a million.
    assert binom.cdf(covered, total, PROMISE) > 1e-6, f"{covered} of {total} bars hold log Z (seed {seed})"
    assert np.median(np.abs(errors)) < 0.3


def _two_hills():
    """All sites on or all off, on 4 + 4 sites: hidden sites of an earlier law mislead the visible ones most here."""
    weight, bias = np.full((4, 4), 2.0), np.full(4, -4.0)
    within = np.triu(np.random.default_rng(7).normal(0, 0.5, (4, 4)), 1)
    return {
        "rbm": RBM.of_layers(weight, bias, bias),
        "srbm": SRBM.of_layers(weight, within + within.T, bias, bias),
        "lattice": MODELS["lattice"],
    }


MANY, DEVIATIONS = 1 << 16, 5.5


@pytest.mark.parametrize("temperatures", [2, 5, 10])
@pytest.mark.parametrize("name", _two_hills())
def test_the_weights_mean_is_z_however_few_the_temperatures(name, temperatures):
    """E[Z_hat] = Z at every T: a fault of the sweeps fades as T grows, so that many temperatures would not show it.

    Visible sites first, with the hidden ones of the law before, gave .76, .82 and .89 of Z: over 30 deviations. A
    right sampler fails once in 26 million times, as 65,536 weights make their mean normal.
    """
    model, seed = _two_hills()[name], secrets.randbits(31)
    log_z = exact.solve(Target.of(model)).log_z
    found = annealed_log_z(model, jax.random.key(seed), MANY, temperatures)
    ratio, high = np.exp(found.log_z - log_z), np.exp(found.high - log_z)
    deviations = (ratio - 1) / ((high - ratio) / 3)
    assert abs(deviations) < DEVIATIONS, f"E[Z_hat] / Z is {ratio:.4f}, {deviations:+.1f} deviations off (seed {seed})"


@pytest.mark.parametrize("name", MODELS)
def test_exact_without_couplings_from_the_own_biases(name):
    model = MODELS[name]
    edgeless = jax.tree.map(np.asarray, model)
    edgeless = type(model)(**{**vars(edgeless), "couplings": edgeless.couplings.scaled(np.float32(0))})
    visible = getattr(model, "visible", model.n)
    found = annealed_log_z(edgeless, jax.random.key(0), 16, 20, base=np.asarray(model.bias)[:visible])
    log_z = float(model.constant) + np.logaddexp(0, np.asarray(model.bias, np.float64)).sum()
    for value in (found.log_z, found.low, found.high):
        assert value == pytest.approx(log_z, abs=1e-4)
    assert found.effective == pytest.approx(16, rel=1e-4) and (found.chains, found.temperatures) == (16, 20)


def test_a_base_of_the_datas_frequencies_changes_the_way_not_the_goal():
    log_z = exact.solve(Target.of(RBM_MODEL)).log_z
    found = annealed_log_z(RBM_MODEL, jax.random.key(1), 256, 300, base=np.array([2.0, -1.0, 0.5, 0.0, 1.0]))
    assert abs(found.log_z - log_z) < 0.5


def test_the_number_of_steps_is_traced():
    from pmpviz.runs import compile_clock

    annealed_log_z(RBM_MODEL, jax.random.key(3), 64, 10)
    before = compile_clock.compilations()
    annealed_log_z(RBM_MODEL, jax.random.key(4), 64, 17)
    assert compile_clock.compilations() == before


@pytest.mark.parametrize("chains, temperatures", [(1, 10), (10, 0)])
def test_refusals(chains, temperatures):
    with pytest.raises(InputError, match="give at least 2 chains and 1 step"):
        annealed_log_z(RBM_MODEL, jax.random.key(0), chains, temperatures)

"""Reproductions of the continuous papers: expectations by other means, equal budgets, and a tiny run of each."""

import dataclasses

import jax
import numpy as np
import pytest
from test_reproductions import check

from pmpviz import exact
from pmpviz.experiments.reproductions import coverage, failure_mode, grids, hopfield, potts, walks
from pmpviz.experiments.reproductions import semi_restricted_samplers as machines
from pmpviz.experiments.reproductions.base import Request
from pmpviz.models import build_spec
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Target


def test_leaving_the_failure_mode_is_as_often_as_expected():
    rows = check(failure_mode.run(Request(True, 1), dataclasses.replace(failure_mode.QUICK, most=40_000)))
    for t, p in ((2, 0.1596), (3, 0.0295), (4, 0.00371)):
        ours = rows[f"leaves (1, 0), t = {t}, {failure_mode.PAPERS}"].ours
        assert abs(ours - p) < 5 * np.sqrt(p * (1 - p) / failure_mode.QUICK.trials)
    for t, p in ((2, 0.249), (3, 0.0997), (4, 0.0343)):
        assert failure_mode.expected(t, failure_mode.shifts(t)[failure_mode.UNIFORM]) == pytest.approx(p, rel=3e-3)
        assert abs(rows[f"away from it in standard errors, t = {t}, {failure_mode.UNIFORM}"].ours) < 5


def test_a_walk_averages_over_all_its_sweeps():
    target = Target.of(build_spec("chain:6,J=0.3"))
    walk = walks.Chains.begun(Gibbs(), target, 0, 40, 60, ("x",)).walk(1000)
    assert walk.sweeps == 1000 and walk.x.shape == (1000, 40, 6) and walk.z is None and walk.seconds > 0
    np.testing.assert_allclose(walk.counted.mean(0), walk.x.mean(0), atol=1e-6)
    for p in (walk.counted, walk.expected):
        np.testing.assert_allclose(p.mean((0, 1)), exact.solve(target).p1, atol=0.02)


def test_truth_of_a_small_hopfield_model_is_that_of_enumeration():
    target = Target.of(hopfield.hopfield(12, 1.0, 3))
    truth, known = hopfield.Truth.of(target), exact.solve(target)
    assert truth.log_z == pytest.approx(known.log_z, abs=1e-4) and truth.largest == pytest.approx(4.0, rel=1e-4)
    np.testing.assert_allclose(truth.p1, known.p1, atol=1e-5)


def test_a_tiny_run_of_the_hopfield_model():
    rows = check(hopfield.run(Request(True, 2), hopfield.Setting(40, (1.0,), 16, 50, 0.01)))
    for name in hopfield.METHODS:
        assert rows[f"RMSE of marginals, {name}, beta = 1"].ours < 0.2
    assert rows["error of log Z, HMC, beta = 1"].ours < 0.2


def test_chib_over_all_states_is_the_partition_function():
    """E_p T(s* <- x) = p(s*), with every state as often as it is probable."""
    target = Target.of(grids.grid(grids.STANDARD, 3, 1.0, 1.0, 0))
    known = exact.solve(target)
    states = (np.arange(512)[:, None] >> np.arange(9)) & 1
    bias, i, j, w = target.model.pairwise()
    p = np.exp(states @ bias + (states[:, i] * states[:, j]) @ w - known.log_z)
    for goal in (states[0], states[77]):
        reached = p @ np.exp(grids.log_reach(target, states, goal))
        assert reached == pytest.approx(p[int(goal @ (1 << np.arange(9)))], rel=1e-6)


def test_laws_of_the_grids():
    """As printed the fields go with the couplings; without a field the spins' own are those of the noise."""
    models = {law: grids.grid(law, 10, 1.0, 1.0, 0) for law in (grids.STANDARD, grids.PRINTED, grids.NO_FIELD)}
    noise, model = np.asarray(models[grids.STANDARD].bias), models[grids.PRINTED]
    np.testing.assert_allclose(models[grids.NO_FIELD].to_spin()[0], noise / 2, atol=1e-5)
    sums = np.asarray(model.couplings.matrix()).sum(1)
    np.testing.assert_allclose(np.asarray(model.bias) - noise, sums, atol=1e-4)


def test_a_tiny_run_of_the_grids():
    setting = grids.Setting((1.0,), (0.5,), 4, 1000, 100, 1, 4)
    rows = check(grids.run((grids.STANDARD, grids.NO_FIELD), Request(True, 1), setting))
    for law in (grids.STANDARD, grids.NO_FIELD):
        assert rows[f"median MSE, {grids.WHITENED}, {law}"].ours < 1e-2
        assert rows[f"log Z, median RMSE: {grids.BRIDGE}, {law}"].ours < 0.2
        assert rows[f"log Z, median RMSE: {grids.CHIB}, {law}"].ours < 0.2


def test_error_bars_of_log_z(monkeypatch):
    monkeypatch.setattr(coverage, "DRAWS", 800)
    rows = check(coverage.run(Request(True, 1), coverage.Setting((0.5,), 3)))
    for name in (*coverage.GAUSSIAN, coverage.CHIBS):
        assert rows[f"RMSE of log Z, {name}, J = 0.5"].ours < 0.3
        assert 0 <= rows[f"coverage of 95 %, {name}, J = 0.5"].ours <= 1


def test_energy_of_a_strip_is_that_of_enumeration():
    target = Target.of(build_spec("potts:3x4,q=2,couplings=uniform,J=0.7"))
    states = ((np.arange(1 << 12)[:, None] >> np.arange(12)) & 1).astype(np.int8)
    log = np.array([float(v) for v in jax.vmap(target.model.log_weight)(states)])
    p = np.exp(log - log.max())
    assert potts.strip_energy(3, 4, 2, 0.7) == pytest.approx(-(p @ log) / p.sum() / 0.7 / 12, rel=1e-4)


def test_a_tiny_run_of_potts_lattices():
    rows = check(potts.run(Request(True, 1), potts.Setting(6, (3, 6), 64, 128, 32, 20)))
    for q in (2, 3):
        words = f"energy, q = {q}, torus of 3 x 6, Swendsen-Wang: standard errors from exact"
        assert abs(rows[words].ours) < 5
    ising, two = (rows[f"energy, {name}, 6x6, Swendsen-Wang"].ours for name in ("Ising", "q = 2"))
    assert ising == pytest.approx(two, abs=0.05)


def test_digits_shrink_to_means_of_their_areas():
    images = np.zeros((1, 28, 28), np.uint8)
    images[0, :14] = 255
    np.testing.assert_array_equal(machines.shrunk(images)[0].reshape(16, 16), np.repeat([[1], [0]], 8, 0).repeat(16, 1))


def test_a_machine_learns_what_its_images_share(monkeypatch):
    """Pixels 0 and 1 are alike, 2 is their opposite: the machine's samples come to be so."""
    bits = np.random.default_rng(0).integers(0, 2, 400)
    x = np.stack([bits, bits, 1 - bits, np.ones(400, int)], 1).astype(np.int8)
    setting = machines.Setting(0, 2, 3000, 0.1, 16, 500, 100, (0.1, 4.0))
    model = machines.learned(x, setting, 0)
    ess, walk = machines.effective(model, machines.GaussianGibbs(eps=0.01), setting, 0)
    v = walk.x[..., :4].reshape(-1, 4)
    assert ess > 1 and (v[:, 0] == v[:, 1]).mean() > 0.75 and (v[:, 0] != v[:, 2]).mean() > 0.75
    monkeypatch.setattr(machines, "machine", lambda setting, seed: model)
    assert check(machines.run_ess(Request(True, 1), setting))["effective draws of a chain, sequential Gibbs"].ours > 1
    assert check(machines.run_epsilon(Request(True, 1), setting))["effective draws, eps = 0.1 over eps = 4"].ours > 0

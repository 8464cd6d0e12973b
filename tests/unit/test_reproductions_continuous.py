"""Reproductions of the continuous papers: expectations by other means, equal budgets, and a tiny run of each."""

import dataclasses

import jax
import numpy as np
import pytest
from test_reproductions import check

from pmpviz import exact
from pmpviz.exact.kaufman import kaufman_log_z
from pmpviz.experiments.reproductions import (
    clusters,
    coverage,
    failure_mode,
    grids,
    hopfield,
    hx_statistic,
    machines,
    potts,
    semi_restricted_samplers,
    walks,
)
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


@pytest.mark.brief
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


def test_a_sample_of_one_update_is_one_before_the_first_that_counts_too():
    """Of 500 samples after 200 on a hundred sites five sweeps count, after two."""
    target = Target.of(grids.grid(grids.STANDARD, 10, 1.0, 1.0, 0))
    found = grids.few_updates(target, grids.Setting((1.0,), (1.0,), 3, 500, 200, 1), 0)
    x = walks.Chains.begun(Gibbs(), target, 0, 3, 0, ("x",)).walk(50).x
    np.testing.assert_allclose(found, x[2:7].mean(0))


@pytest.mark.brief
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
    for name in (*coverage.GAUSSIAN, *coverage.CHIBS):
        assert rows[f"RMSE of log Z, {name}, J = 0.5"].ours < (1 if name == "one state" else 0.3)
        assert 0 <= rows[f"coverage of 95 %, {name}, J = 0.5"].ours <= 1


def test_energy_of_a_strip_is_that_of_enumeration():
    target = Target.of(build_spec("potts:3x4,q=2,couplings=uniform,J=0.7"))
    states = ((np.arange(1 << 12)[:, None] >> np.arange(12)) & 1).astype(np.int8)
    log = np.array([float(v) for v in jax.vmap(target.model.log_weight)(states)])
    p = np.exp(log - log.max())
    assert potts.strip_energy(3, 4, 2, 0.7) == pytest.approx(-(p @ log) / p.sum() / 0.7 / 12, rel=1e-4)


def test_energy_of_a_critical_square_is_that_of_others_solved_otherwise():
    """Of q = 2 Kaufman's; of q = 3 the transfer matrix's, of side 5."""
    K, step = potts.critical_potts(2) / 2, 1e-4
    pairs = (kaufman_log_z(64, 64, K + step) - kaufman_log_z(64, 64, K - step)) / (2 * step) / 64**2
    assert potts.square_energy(64, 2) == pytest.approx(-(pairs + 2) / 2, abs=1e-4)
    assert potts.square_energy(5, 3) == pytest.approx(potts.strip_energy(5, 5, 3, potts.critical_potts(3)), abs=1e-4)


@pytest.mark.brief
def test_a_tiny_run_of_potts_lattices():
    rows = check(potts.run(Request(True, 1), potts.Setting(6, (3, 6), 64, 128, 32, 20)))
    for words in ("q = 2, torus of 3 x 6", "q = 3, torus of 3 x 6", "q = 2, 6x6", "q = 3, 6x6", "Ising, 6x6"):
        assert abs(rows[f"energy, {words}, Swendsen-Wang: standard errors from exact"].ours) < 5
    ising, two = (rows[f"energy, {name}, 6x6, Swendsen-Wang"].ours for name in ("Ising", "q = 2"))
    assert ising == pytest.approx(two, abs=0.05)


def test_digits_shrink_to_means_of_their_areas():
    """Three pixels go into two: of the last row of each three the second one's mean is .67, of the middle one .33 in
    both. The margin is left out."""
    images = np.zeros((4, 28, 28), np.uint8)
    images[0, :14] = images[1, 4:26:3] = images[2, 3:26:3] = 255
    images[3] = 255 * (np.pad(np.zeros((24, 24)), 2, constant_values=1))
    half, last, middle, margin = machines.shrunk(images).reshape(4, 16, 16)
    np.testing.assert_array_equal(half, np.repeat([[1], [0]], 8, 0).repeat(16, 1))
    np.testing.assert_array_equal(last, np.tile([[0], [1]], (8, 16)))
    assert not middle.any() and not margin.any()


BITS = np.random.default_rng(0).integers(0, 2, 400)
ALIKE = np.stack([BITS, BITS, 1 - BITS, np.ones(400, int)], 1).astype(np.int8)
LEARNING = machines.Learning(0, 2, 1000, 0.1)
STATISTIC = hx_statistic.Statistic(64, 50, 500, 50, 2)
SMALL = semi_restricted_samplers.Setting(LEARNING, 16, 500, 100, (0.001, 0.1, 4.0), STATISTIC)


@pytest.fixture(scope="module")
def small():
    """Machines of images whose pixels 0 and 1 are alike, 2 is their opposite, and 3 is on."""
    return {kind: machines.learned(kind, ALIKE, LEARNING, 0) for kind in machines.KINDS}


@pytest.fixture
def of_small(small, monkeypatch):
    monkeypatch.setattr(machines, "machine", lambda kind, how, seed, keep=None: small[kind])


@pytest.mark.parametrize("kind", machines.KINDS)
def test_a_machine_learns_what_its_images_share(small, kind):
    for algorithm in machines.samplers(small[kind]).values():
        ess, walk = semi_restricted_samplers.effective(small[kind], algorithm, SMALL, 0)
        v = walk.x[..., :4].reshape(-1, 4)
        assert ess > 1 and (v[:, 0] == v[:, 1]).mean() > 0.75 and (v[:, 0] != v[:, 2]).mean() > 0.75


@pytest.mark.brief
def test_a_tiny_run_of_effective_draws(of_small):
    rows = check(semi_restricted_samplers.run_ess(Request(True, 1), SMALL))
    for kind in machines.KINDS:
        draws = [rows[f"effective draws, {kind}, {name}"].ours for name in (machines.SEQUENTIAL, machines.BLOCKS)]
        assert rows[f"effective draws, sequential over blocks, {kind}"].ours == pytest.approx(draws[0] / draws[1])
        assert min(draws) > 1
    rows = check(semi_restricted_samplers.run_epsilon(Request(True, 1), SMALL))
    assert rows["effective draws, eps = 0.1 over 4"].ours > 1


@pytest.mark.parametrize("kind", machines.KINDS)
def test_covariances_come_to_those_of_enumeration(small, kind):
    """Both samplers, by 256 chains of 2,000 steps."""
    model = small[kind]
    known = exact.solve(Target.of(model))
    states = (np.arange(64)[:, None] >> np.arange(6)) & 1
    bias, i, j, w = model.pairwise()
    p = np.exp(states @ bias + (states[:, i] * states[:, j]) @ w - known.log_z)
    x, h = states[:, :4], states[:, 4:]
    truth = (h * p[:, None]).T @ x - np.outer(p @ h, p @ x)
    for algorithm in machines.samplers(model).values():
        (early, late), _ = hx_statistic.statistics(model, algorithm, (256, 50), (1, 2000), 3, 2)
        assert np.abs(late - truth).max() < 0.02
        assert hx_statistic.relative(late, truth) < hx_statistic.relative(early, truth)


def test_a_tiny_run_of_the_covariances(of_small):
    rows = check(hx_statistic.run(Request(True, 1), (LEARNING, STATISTIC)))
    for kind in machines.KINDS:
        assert rows[f"difference of the two truths, {kind}"].paper == 0.03
        for name in (machines.BLOCKS, machines.SEQUENTIAL):
            assert rows[f"error, {kind}, {name}, step 300"].ours < rows[f"error, {kind}, {name}, step 1"].ours


def test_clusters_given_the_hidden_units_leave_the_law_as_it_is(small):
    """8,192 chains after forty steps from random starts, against enumeration."""
    model = small[machines.SEMI]
    v, largest, seconds = clusters.walked(model, clusters.GivenHidden(), (20, 40), 8192, 0)
    p = exact.solve(Target.of(model)).p1[:4]
    assert (np.abs(v[-1].mean(0) - p) < 5 * np.sqrt(p * (1 - p) / 8192)).all()
    assert v.shape == (2, 8192, 4) and 0.25 <= largest <= 1 and seconds > 0


@pytest.mark.brief
def test_a_tiny_run_of_clusters(of_small):
    rows = check(clusters.run(Request(True, 1), clusters.Setting(LEARNING, (1, 10, 100), 200)))
    for name in (clusters.CLUSTERS, machines.BLOCKS, machines.SEQUENTIAL):
        assert abs(rows[f"below the model's in its deviations, {name}, step 100"].ours) < 10
    assert 0.25 <= rows["largest cluster, share of the sites"].ours <= 1

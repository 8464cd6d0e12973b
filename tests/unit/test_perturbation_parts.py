"""What the perturbation lab computes: against brute force, against the samplers, and its pictures."""

import time
from dataclasses import replace
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from pmpviz import exact
from pmpviz.app.presets import preset_of
from pmpviz.capabilities.perturbation import parts
from pmpviz.capabilities.perturbation.atlas import AtlasMaker, Watch, centred
from pmpviz.capabilities.perturbation.live import LabView, LivePerturbation, bench_of
from pmpviz.capabilities.perturbation.parts import (
    Tally,
    attempt_tree,
    show,
    state_law,
    total_variation,
    walking,
)
from pmpviz.capabilities.perturbation.plan import LabPlan
from pmpviz.capabilities.perturbation.presets import PERTURBATION
from pmpviz.capabilities.perturbation.scenes import SCENES, scene_of
from pmpviz.live.link import from_query, to_query
from pmpviz.oracles.perturbed import table_of
from pmpviz.runs import sample
from pmpviz.samplers import make_sampler
from pmpviz.types import InputError
from tests.unit.labs import CLIQUE, worked_off


def brute(bench, unary) -> np.ndarray:
    """The largest perturbed theta, by listing."""
    return np.array([table_of(bench.potentials.with_values(one)).max() for one in unary])


@pytest.mark.parametrize(
    ("seconds", "told"),
    [((0.015, 0.002, 0.004), 0.002), ((0.1, 0.05, 0.2), 0.05), ((0.9, 0.3), 0.3), ((0.9, 0.1, 0.03, 0.04), 0.03)],
)
def test_a_short_time_to_solve_is_the_least_of_three_and_none_has_compiling_in_it(bench, monkeypatch, seconds, told):
    clock, left, shown = [0.0], list(seconds), show(bench, 0)

    def solve(perturbed):
        clock[0] += left.pop(0)
        return bench.solvers[2].solve(perturbed)

    monkeypatch.setattr(parts.time, "perf_counter", lambda: clock[0])
    timed = replace(bench, solvers=(SimpleNamespace(spec=bench.solvers[2].spec, solve=solve),), refusals=("",))
    empty = replace(shown, solutions=(None,), pictures=(None,), seconds=(0.0,), pending=(True,))
    assert parts._with(timed, bench.potentials, empty, 0).seconds == (pytest.approx(told),) and not left


def test_perturbation_number_k_is_the_draw_0_of_chain_k(bench):
    x = sample(make_sampler("perturb_and_map"), bench.target, jax.random.key(CLIQUE.seed), 20, 0)
    best = np.stack([show(bench, k).solutions[2].x for k in range(20)])
    np.testing.assert_array_equal(best, x)


def test_the_walk_ends_with_marginals_near_the_exact_ones():
    """Of a scene with clamped pixels too: those keep their values."""
    for plan in (CLIQUE, preset_of(PERTURBATION, "complete").plan):
        own = bench_of(plan)
        *_, walked = walking(own)
        assert walked.calls <= 120 and walked.oracle == "Exact" and walked.gap <= 0.5
        clamped = np.array(own.target.evidence.mask)
        np.testing.assert_array_equal(walked.p1[clamped], np.array(own.target.evidence.value)[clamped])
        truth = exact.solve(own.target).p1 if exact.why_not(own.target) is None else None
        assert truth is None or np.abs(walked.p1 - truth).mean() < 0.2


def test_a_tally_knows_what_each_solver_lost(bench):
    tally = Tally.of(bench)
    tally.add(bench, 24)
    tally.add(bench, 16)
    maxima = brute(bench, bench.potentials.unary + bench.noise(0, 40))
    np.testing.assert_allclose(tally.maxima, maxima)
    assert max(tally.lost[2]) == 0 and min(tally.lost[0]) >= 0 and max(tally.lost[0]) > 0
    assert (np.array(tally.uppers[1]) >= maxima - 1e-7).all()
    assert tally.counts.sum() == 40 and tally.draws == 40
    means = tally.totals[2] / 40
    states = (np.arange(64)[:, None] >> np.arange(6)[::-1]) & 1
    np.testing.assert_allclose(tally.counts @ states / 40, means)


def test_the_atlas_is_a_map_a_pixel(bench):
    maker = AtlasMaker(bench, 3, (1, 4), side=5)
    for _ in maker.drawing():
        pass
    atlas, noise = maker.atlas(), bench.noise(3, 1)[0]
    assert atlas.sites == (1, 4) and atlas.centre == pytest.approx((noise[1, 1], noise[4, 1]))
    assert not np.isnan(atlas.code).any() and (atlas.lost[2] == 0).all()
    for row, up in enumerate(atlas.axis):
        for column, across in enumerate(atlas.axis):
            own = noise.copy()
            own[1, 1], own[4, 1] = across, up
            table = table_of(bench.potentials.with_values(bench.potentials.unary + own))
            best = "".join(map(str, np.unravel_index(table.argmax(), table.shape)))
            assert atlas.states[int(atlas.code[row, column])] == best
            assert atlas.best[row, column] == pytest.approx(table.max())
            exact = atlas.pictures[atlas.shows[2][row, column]]
            assert "".join(map(str, exact // 254)) == best
    assert set(np.unique(atlas.code)) == set(range(len(atlas.states)))


def test_a_rough_map_of_the_whole_plane_comes_before_the_rows_and_stays_in_them(bench):
    maker = AtlasMaker(bench, 3, (1, 4))
    pieces = maker.drawing()
    steps = next(k for k, more in enumerate(pieces, 1) if more)
    rough = maker.atlas()
    rows, columns = np.nonzero(~np.isnan(rough.code))
    assert steps == 8 and rough.rows == 0 and rough.stride == 4 and set(rows) == set(columns) == set(range(2, 32, 4))
    assert next(more for more in pieces if more) and (~np.isnan(maker.atlas().period)).sum() == 64
    for _ in pieces:
        pass
    whole = maker.atlas()
    assert whole.done and not np.isnan(whole.code).any()
    known = ~np.isnan(rough.code)
    before = [rough.states[int(code)] for code in rough.code[known]]
    assert before == [whole.states[int(code)] for code in whole.code[known]]


def test_periods_of_a_ring():
    """An antiferromagnetic triangle never rests without a field, and does under a strong one; a chain always does."""
    ring = bench_of(LabPlan("chain:3,J=-1,periodic=true", solvers=("exact",)))
    unary = np.zeros((2, 3, 2)) + ring.potentials.unary
    unary[1, :, 1] += [30, -30, 30]
    free, strong = Watch(ring).periods(unary)
    assert free >= 2 and strong == 1
    line = bench_of(LabPlan("chain:5,J=-1,periodic=false", solvers=("exact",)))
    assert (Watch(line).periods(line.potentials.unary + line.noise(0, 8)) == 1).all()


def test_attempts_are_counted_by_prefix(bench):
    tree = attempt_tree(bench, 0)
    assert tree.passed[0].sum() == tree.attempts and tree.total == 63
    for j in range(len(tree.passed) - 1):
        went_on = tree.passed[j + 1].reshape(-1, 2).sum(1)
        np.testing.assert_array_equal(tree.passed[j], tree.rejected[j] + went_on)
    assert abs(tree.accepted / tree.attempts - tree.acceptance) < 4.9 * tree.error
    assert tree.bound > tree.log_z
    assert attempt_tree(bench_of(LabPlan("chain:13", solvers=("exact",))), 0) is None


@pytest.mark.parametrize("draws", [1, 4, 30, 4000])
def test_total_variation_of_exact_draws_is_its_noise_floor(bench, draws):
    """Within four standard errors of a simulation, and never above 1, however few the draws."""
    law = state_law(bench)
    assert law.sum() == pytest.approx(1)
    for p in (law, np.full(1024, 1 / 1024)):
        counts = np.random.default_rng(draws).multinomial(draws, p, 2000)
        found = np.array([total_variation(row, p) for row in counts])
        error = found[:, 0].std() / np.sqrt(len(found))
        assert abs(found[:, 0].mean() - found[0, 1]) <= 4 * error + 1e-9 and found[0, 1] <= 1


def test_noise_floor_of_states_that_are_certain():
    """Nothing deviates; 4 draws of a fair coin, where N p is a whole number, are off by 3/4 in the mean."""
    assert total_variation(np.array([0, 7]), np.array([0.0, 1.0])) == (0.0, 0.0)
    coin = np.array([0.5, 0.5])
    assert total_variation(np.array([2, 2]), coin)[1] == pytest.approx(3 / 16)


@pytest.mark.parametrize("name", SCENES)
def test_scenes_keep_what_is_seen(name):
    scene = scene_of(f"scene:{name}")
    mask = np.asarray(scene.evidence.mask)
    np.testing.assert_array_equal(mask, ~np.isnan(scene.seen.ravel()) & (name == "complete"))
    assert (np.asarray(scene.evidence.value)[mask] == scene.drawn.ravel()[mask]).all()
    assert scene.model.n == scene.drawn.size
    with pytest.raises(InputError, match="denoise"):
        scene_of("scene:nothing")


def test_the_average_restores_more_of_the_picture_than_a_flip_leaves():
    bench = bench_of(LabPlan("scene:denoise", solvers=("linear_program",)))
    tally = Tally.of(bench)
    tally.add(bench, 48)
    drawn, seen = bench.scene.drawn, bench.scene.seen
    restored = tally.totals[0].reshape(drawn.shape) / 48 > 0.5
    assert (restored != drawn).sum() < (seen != drawn).sum()


def test_another_perturbation_keeps_the_statistics():
    live, until = LivePerturbation(CLIQUE), time.monotonic() + 180
    while live.busy and time.monotonic() < until:
        live.touch()
        time.sleep(0.02)
    before = live.view
    live.set_plan(CLIQUE.replace(draw=7))
    assert not live.waits
    while live.busy and time.monotonic() < until:
        live.touch()
        time.sleep(0.02)
    live.close()
    # What there is of one model is no answer for another one.
    live.set_plan(CLIQUE.replace(seed=7))
    assert live.waits
    assert live.view.tally.draws == 512 and live.view.bench is before.bench
    assert (live.view.shown.noise != before.shown.noise).any()


def finished(live: LivePerturbation) -> LabView:
    until = time.monotonic() + 180
    while live.busy and time.monotonic() < until:
        live.touch()
        time.sleep(0.02)
    return live.view


def test_a_cross_put_by_hand_keeps_the_atlas_and_answers_as_its_pixel():
    live = LivePerturbation(CLIQUE)
    before = finished(live)
    row, column = 3, 20
    cross = float(before.atlas.axis[column]), float(before.atlas.axis[row])
    live.set_plan(CLIQUE.replace(cross=cross))
    after = finished(live)
    live.close()
    assert after.atlas is before.atlas and after.tally.draws == 512
    assert after.shown.noise[:2].tolist() == list(cross) and (after.shown.noise[2:] == before.shown.noise[2:]).all()
    assert "".join(map(str, after.shown.solutions[2].x)) == before.atlas.states[int(before.atlas.code[row, column])]
    assert after.shown.best == pytest.approx(before.atlas.best[row, column])


def test_where_the_plane_is_all_the_noise_there_is_another_perturbation_moves_on_it():
    plan = preset_of(PERTURBATION, "two-spins").plan
    live = LivePerturbation(plan)
    before = finished(live)
    live.set_plan(plan.replace(draw=7))
    while not (now := live.view).shown or now.shown.draw != 7:
        assert now.atlas is None or now.atlas.done, "the map was drawn anew"
        live.touch()
        time.sleep(0.01)
    after = finished(live)
    live.close()
    made = AtlasMaker(after.bench, 7, (plan.first, plan.second)).atlas()
    assert after.atlas.code is before.atlas.code and after.atlas.centre == made.centre != before.atlas.centre
    assert centred(AtlasMaker(bench_of(CLIQUE), 0, (0, 1)).atlas(), bench_of(CLIQUE), 7) is None


def test_labs_take_turns():
    """A second lab is answered although the first has much to do."""
    busy, late = LivePerturbation(LabPlan("square:8x8", solvers=("exact",))), LivePerturbation(CLIQUE)
    until = time.monotonic() + 180
    while late.view.shown is None and time.monotonic() < until:
        for live in (busy, late):
            live.touch()
        time.sleep(0.02)
    assert late.view.shown is not None and busy.busy
    busy.close()
    late.close()


@pytest.mark.parametrize("plan, word", [(LabPlan("square:40x40"), "1,024"), (LabPlan("nothing"), "no model")])
def test_models_that_do_not_fit_are_said(plan, word):
    view = worked_off(plan)
    assert view.done and word in view.trouble


def test_links_come_back_and_bad_ones_are_mended():
    for preset in PERTURBATION:
        assert preset_of(PERTURBATION, preset.id) is preset
        crossed = preset.plan.replace(cross=(1 / 3, -0.1))
        for plan in (preset.plan, crossed):
            assert from_query(to_query(plan), LabPlan()) == (plan, [])
    bad = {"model": "scene:no", "solvers": "magic,icm", "draw": "99999", "colour": "red"}
    plan, notices = from_query(bad, CLIQUE)
    assert plan == CLIQUE.replace(solvers=("icm",), draw=511) and len(notices) == 4

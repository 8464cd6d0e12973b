"""ESS/s whatever was looked at and for how long; statistics of one setting alone."""

import dataclasses
import re
import time
from types import SimpleNamespace

import jax
import numpy as np
import pytest

from pmpviz import runs
from pmpviz.capabilities.sampling import lane as lanes
from pmpviz.capabilities.sampling import table
from pmpviz.capabilities.sampling.lane import Lane
from pmpviz.capabilities.sampling.layers import layer
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.measures import Counted, measured
from pmpviz.capabilities.sampling.picture import update
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.models import build_spec
from pmpviz.player.numbers import significant
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from pmpviz.runs import truth as truths
from pmpviz.runs.schedule import Budget
from pmpviz.runs.truth import _from_long_run, _LongRun, build, finish
from pmpviz.samplers import make_sampler
from pmpviz.types import Evidence, Target

MODEL = build_spec("square:4x4,J=0.1")
SECONDS = 1e-6
"""Of a sweep of one chain, in place of measured ones."""


@pytest.fixture
def clockwork(monkeypatch):
    """A computer that takes the same time for every sweep of every chain, in chunks of 64 sweeps."""
    advance = lanes.running.advance

    def timed(run, count, record=True, donate=False):
        ahead, trace = advance(run, count, record, donate)
        cost = SECONDS * run.chains
        trace = dataclasses.replace(trace, seconds=trace.sweeps * cost, run_seconds=cost)
        return dataclasses.replace(ahead, seconds=ahead.quantum / ahead.quanta * cost), trace

    monkeypatch.setattr(lanes.running, "advance", timed)
    monkeypatch.setattr(lanes, "LIVE_CHUNK_SECONDS", 1e9)


def begin(algorithm, chains, beta=1.0, **knobs) -> Lane:
    target = Target.of(MODEL, beta=beta)
    run = runs.start(make_sampler(algorithm, **knobs), target, jax.random.key(5), chains)
    return Lane(sampler(algorithm, **knobs), run)


def advanced(lane: Lane, sweeps: int) -> Lane:
    until = Budget("sweeps", lane.count + sweeps)
    while not until.spent(lane.run):
        lane.advance(until, 64)
    return lane


def cells(lane: Lane) -> dict[str, str]:
    """The lane's row of the race's table."""
    (row,) = table.rows(SimpleNamespace(lanes=[lane.view(False, None, True)]))
    return dict(zip(table.COLUMNS, row, strict=True))


def test_of_chains_that_stay_apart_the_table_says_so_and_not_what_they_are_worth(clockwork):
    view = advanced(begin("colour_gibbs", 8), 128).view(False, None, True)
    for keeps in (True, False):
        summary = dataclasses.replace(view.summary, rhat=1.4, keeps=keeps)
        (row,) = table.rows(SimpleNamespace(lanes=[dataclasses.replace(view, summary=summary)]))
        found = dict(zip(table.COLUMNS, row, strict=True))
        assert [found[name] == "apart" for name in ("ESS", "ESS/s", "τ")] == [keeps] * 3


def number(cell: str) -> float:
    return float(cell.replace("\u202f", "").strip("()"))


def ess_rate(algorithm, chains, sweeps, **knobs) -> float:
    return number(cells(advanced(begin(algorithm, chains, **knobs), sweeps))["ESS/s"])


def test_ess_a_second_is_the_same_however_long_one_looks_and_however_many_chains_there_are(clockwork):
    """Of a fast chain: of 64 chains and 512 sweeps, its standard error is below 3 %."""
    short, long = (ess_rate("colour_gibbs", 64, sweeps) for sweeps in (1024, 16384))
    many = ess_rate("colour_gibbs", 4096, 1024)
    assert max(short, long, many) < 1.15 * min(short, long, many)
    # Nearly every sweep is an effective draw here.
    assert 0.8 < short * SECONDS < 1.2


def test_independent_draws_count_as_they_are_made(clockwork):
    """One effective draw a chain for every sixteen sweeps."""
    found = {ess_rate("pmp", *size, sweeps_per_draw=16) for size in ((8, 256), (8, 1024), (64, 256))}
    assert found == {1 / (16 * SECONDS)}


def test_the_ess_is_of_all_chains(clockwork):
    few, many = (number(cells(advanced(begin("colour_gibbs", n), 64))["ESS"]) for n in (128, 512))
    assert many == pytest.approx(4 * few, rel=1e-3)


OTHERS = {
    "beta": lambda: Target.of(MODEL, beta=0.2),
    "field": lambda: Target.of(dataclasses.replace(MODEL, bias=MODEL.bias + 0.5)),
    "clamp": lambda: Target.of(MODEL, Evidence.of(MODEL.n, {3: 1})),
}


@pytest.mark.parametrize("what", OTHERS)
def test_statistics_begin_anew_when_a_setting_changes(clockwork, what):
    """They are those of a lane that begins at that moment."""
    lane = advanced(begin("gwg", 8), 40)
    assert number(cells(lane)["R-hat"].strip("()")) > 0
    lane.change(lane.plan, OTHERS[what]())
    fresh = Lane(lane.plan, runs.run.copied(lane.run))
    columns = ("ESS", "ESS/s", "R-hat", "τ")
    assert [cells(lane)[name] for name in columns] == ["n/a"] * 4
    ours, theirs = (cells(advanced(each, 24)) for each in (lane, fresh))
    assert [ours[name] for name in columns] == [theirs[name] for name in columns]
    assert number(ours["ESS"]) > 0 and ours["at sweep"] == "64"


def test_before_a_draw_is_done_nothing_effective_is_counted(clockwork):
    row = cells(advanced(begin("pmp", 3, sweeps_per_draw=16), 15))
    assert (row["ESS"], row["ESS/s"], row["compared at"]) == ("n/a",) * 3
    assert number(cells(advanced(begin("pmp", 3, sweeps_per_draw=16), 16))["ESS"]) == 3


def test_what_is_not_known_of_a_lane_is_not_said_as_a_zero():
    lane = begin("gibbs", 3).view(False, None, True)
    row = dict(zip(table.COLUMNS, table.rows(SimpleNamespace(lanes=[lane]))[0], strict=True))
    assert (row["time"], row["sweeps/s on average"], row["compiled in"]) == ("n/a",) * 3
    (found,) = table.rows(SimpleNamespace(lanes=[dataclasses.replace(lane, cold=None)]))
    assert found[-1] == "before"


def test_draws_are_counted_as_they_were_made(clockwork):
    lane = advanced(begin("pmp", 3, sweeps_per_draw=64), 600)
    assert lane.view(False, None, True).completed_draws == 9
    lane.change(sampler("pmp", sweeps_per_draw=1), lane.run.target)
    assert lane.view(False, None, True).completed_draws == 0
    advanced(lane, 5)
    assert lane.view(False, None, True).completed_draws == 5 and number(cells(lane)["ESS"]) == 15


def test_a_draw_in_the_making_is_none_of_the_settings_after_it(clockwork):
    lane = advanced(begin("pmp", 3, sweeps_per_draw=16), 40)
    lane.change(lane.plan, OTHERS["beta"]())
    found = [advanced(lane, sweeps).view(False, None, True).completed_draws for sweeps in (8, 15, 1)]
    assert found == [0, 0, 1]


@pytest.mark.parametrize(("algorithm", "stop"), [("colour_gibbs", "rhat"), ("pmp", "residual")])
def test_what_has_stopped_goes_on_under_other_settings(clockwork, algorithm, stop):
    lane = advanced(begin(algorithm, 4), 64)
    lane.view(False, None, True)
    lane.check_stop(stop, 1e6)
    assert lane.stopped
    lane.change(lane.plan, OTHERS["beta"]())
    assert not lane.stopped
    lane.check_stop(stop, 1e6)
    assert not lane.stopped
    advanced(lane, 64).view(False, None, True)
    lane.check_stop(stop, 1e6)
    assert lane.stopped


@pytest.mark.parametrize(
    ("algorithm", "more", "marked"),
    [("pmp", {}, True), ("colour_gibbs", {}, False), ("colour_gibbs", {"rhat": 1.02}, True), ("exact", {}, False)],
)
def test_effective_draws_of_another_law_stand_in_brackets(clockwork, algorithm, more, marked):
    lane = advanced(begin(algorithm, 32), 128).view(False, None, True)
    lane = dataclasses.replace(lane, summary=dataclasses.replace(lane.summary, **{"rhat": 1.0, **more}))
    row = dict(zip(table.COLUMNS, table.rows(SimpleNamespace(lanes=[lane]))[0], strict=True))
    assert [row[name].startswith("(") for name in ("ESS", "ESS/s")] == [marked] * 2
    past = dict(zip(table.COLUMNS, table.rows(SimpleNamespace(lanes=[lane.at(64)]))[0], strict=True))
    assert past["ESS"] == past["ESS/s"] == "–" and (past["τ"] == "–") == (algorithm == "colour_gibbs")


@pytest.mark.parametrize(
    ("counted", "time", "marked"), [(63, 1.0, ["R-hat"]), (64, 1.0, []), (500, 10.1, ["τ"]), (63, 2.0, ["R-hat", "τ"])]
)
def test_of_few_sweeps_rhat_and_tau_stand_in_brackets(clockwork, counted, time, marked):
    lane = advanced(begin("colour_gibbs", 32), 128).view(False, None, True)
    assert lane.summary.counted == 64
    summary = dataclasses.replace(lane.summary, rhat=1.05, counted=counted, time=time)
    (cells,) = table.rows(SimpleNamespace(lanes=[dataclasses.replace(lane, summary=summary)]))
    row = dict(zip(table.COLUMNS, cells, strict=True))
    assert [name for name in ("R-hat", "τ") if row[name].startswith("(")] == marked


def look_at(x, truth):
    return measured(Counted((0, 0.0, 0.0), (0.0, 1.0), MODEL.space.pack(x)), truth, MODEL.space)


def test_the_errors_of_sites_and_pairs_stand_beside_those_of_exact_samples():
    truth = finish(build(Target.of(MODEL)))
    rng = np.random.default_rng(2)
    looks = [look_at(truth.reference.y[rng.permutation(1000)[:64]], truth) for _ in range(60)]
    for error, floor in (("marginal_l1", "marginal_floor"), ("pair_error", "pair_floor")):
        found = [getattr(look, error) for look in looks]
        # Of sets drawn from one reference of 1,000, whose own chance is a quarter of theirs.
        assert np.mean(found) == pytest.approx(getattr(looks[0], floor), rel=0.15)
    lane = dataclasses.replace(begin("gibbs", 64).view(False, None, True), points=tuple(looks[:1]))
    row = dict(zip(table.COLUMNS, table.rows(SimpleNamespace(lanes=[lane]))[0], strict=True))
    assert row["marginal L1"].endswith(f" ({significant(looks[0].marginal_floor)})")


def at_rest(x):
    return _LongRun(x, 96, (0.0, 1.0))


def hurried(steps):
    """The result of steps that are told at each that there is no time for as much again."""
    next(steps)
    try:
        while True:
            steps.send(False)
    except StopIteration as stop:
        return stop.value


def test_a_long_run_goes_on_while_its_mean_energy_moves_and_says_where_it_still_does(monkeypatch, tmp_path):
    """That of Potts models of ten states had stopped on its way, and their samplers were called wrong by it."""
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path))
    monkeypatch.setattr(truths, "GIBBS_SWEEPS", 4)
    target = Target.of(build_spec("square:24x24,couplings=glass,J=1"), None, 0.6)
    long = finish(build(target))
    sweeps = int(re.search(r"chains of ([0-9,]+) sweeps", long.label)[1].replace(",", ""))
    assert 4 < sweeps <= 4 * truths.MOST_TIMES
    monkeypatch.setattr(truths, "MOST_TIMES", 1)
    assert finish(build(target)).label == long.label  # Kept, with how far it went.
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path / "other"))
    short = finish(build(target))
    assert "chains of 4 sweeps" in short.label and "its mean energy still fell by" in short.check
    assert long.settled and not short.settled
    # So it is where there is no time for more.
    monkeypatch.setenv("PMPVIZ_CACHE", str(tmp_path / "third"))
    monkeypatch.setattr(truths, "MOST_TIMES", 16)
    assert hurried(build(target)).label == short.label
    # How far it may still move is in its error: it calls nobody wrong who is further on.
    (mean, error), (later, _) = short.sampled_energy, long.sampled_energy
    assert later < mean and error > 10


def test_where_marginals_are_known_chance_in_the_reference_is_no_excuse_for_them():
    """On a torus without field they are 1/2, whatever 1,000 chains of a long run say of them."""
    rng = np.random.default_rng(3)
    half, coins = np.full(MODEL.n, 0.5), rng.integers(0, 2, (1000, MODEL.n)).astype(np.int8)
    known, counted = (_from_long_run(Target.of(MODEL), at_rest(coins), "swendsen_wang", p1) for p1 in (half, None))
    fair = [rng.integers(0, 2, (512, MODEL.n)).astype(np.int8) for _ in range(100)]
    for truth in (known, counted):
        looks = [look_at(x, truth) for x in fair]
        assert np.mean([look.marginal_l1 for look in looks]) == pytest.approx(looks[0].marginal_floor, rel=0.1)
    assert look_at(fair[0], known).marginal_floor < 0.9 * looks[0].marginal_floor
    assert not known.exact and known.exact_marginals and not counted.exact_marginals


def test_of_three_states_the_error_against_a_long_run_is_half_the_sum_over_them():
    target = Target.of(build_spec("potts:3x4,q=3,J=0.4"))
    run = runs.start(make_sampler("colour_gibbs"), target, jax.random.key(1), 16)
    x = np.random.default_rng(4).integers(0, 3, (1000, target.n)).astype(np.int8)
    truth = _from_long_run(target, at_rest(x), "colour_gibbs", None)
    shares = [(runs.positions(run) == state).mean(0) - (x == state).mean(0) for state in range(3)]
    assert truth.p1 is None
    np.testing.assert_allclose(layer("marginal error", run, truth), np.abs(shares).sum(0) / 2, atol=1e-6)


def settle(live: LiveRun) -> None:
    """Wait until all that was asked for is in the view."""
    until = time.monotonic() + 180
    while (live.busy or not live.view.lanes) and time.monotonic() < until:
        live.touch()
        time.sleep(0.02)
    assert not live.busy


def test_the_page_says_since_when_statistics_count():
    live = LiveRun(Plan(model="square:6x6", chains=4, lanes=(sampler("gibbs"), sampler("pmp"))))
    try:
        for _ in range(2):
            live.step()
            settle(live)
        assert not any("since" in lane["sub"] for lane in shown(live))
        live.set_plan(live.plan.replace(beta=0.5))
        settle(live)
        assert all("statistics since sweep 2" in lane["sub"] for lane in shown(live))
        since = [dict(zip(table.COLUMNS, row, strict=True))["statistics since"] for row in table.rows(live.view)]
        length = live.view.lanes[1].draws.length
        assert since == ["sweep 2", f"sweep {length}"], "a draw that was begun before is not counted"
    finally:
        live.close()


def shown(live: LiveRun) -> list[dict]:
    """The lanes as the player is told of them."""
    return decode(update(live.view, Cursors(), Desk(), tool="none"))[0]["lanes"]

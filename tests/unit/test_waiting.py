"""What the page says while nothing has come yet: what it is waiting for, never that a person should press Play."""

import dataclasses
import threading

import pytest

from pmpviz.app.presets import preset_of
from pmpviz.app.share import changed
from pmpviz.capabilities.sampling import lane as lanes
from pmpviz.capabilities.sampling import picture, standings, table, words
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.capabilities.sampling.presets import RACE
from pmpviz.live.plan import resolve_model
from pmpviz.metrics.noise import noise_band
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from pmpviz.runs import run as running
from pmpviz.runs.truth import build, finish
from tests.unit.races import WAIT_SECONDS, wait

PLAN = Plan(model="square:4x4,J=0.2", chains=16, lanes=(sampler("gibbs"), sampler("pmp")))


def shown(view) -> dict:
    return decode(picture.update(view, Cursors(), Desk(), "none"))[0]


def card(view, id: str) -> dict:
    return next(each for each in shown(view)["traces"] if each["id"] == id)


def test_while_lanes_are_compiled_play_is_taken_up_at_once_and_the_page_says_what_it_waits_for(begin, monkeypatch):
    begun, go_on, compiled = threading.Event(), threading.Event(), lanes.Lane.warm
    monkeypatch.setattr(lanes.Lane, "warm", lambda lane: (begun.set(), go_on.wait(WAIT_SECONDS), compiled(lane)))
    live = begin(PLAN)
    try:
        wait(live, lambda view: view.lanes and begun.is_set())
        live.play(wait=0.0)
        assert live.seen.playing and not live.view.playing
        said = "Compiling Gibbs and Perturb-and-max-product: sweeps begin as soon as that is done."
        assert shown(live.seen)["said"][0] == card(live.seen, "mmd-sweeps")["empty"] == said
        assert all(lane["status"].startswith("compiling … ") and not lane["sub"] for lane in shown(live.seen)["lanes"])
    finally:
        go_on.set()
    view = wait(live, lambda view: all(lane.sweep for lane in view.lanes))
    assert view.playing and "ompiling" not in standings.verdict(view)


def test_a_pause_takes_a_play_back_that_was_not_taken_up_yet(begin, monkeypatch):
    begun, go_on = threading.Event(), threading.Event()
    monkeypatch.setattr(lanes.Lane, "warm", lambda lane: (begun.set(), go_on.wait(WAIT_SECONDS)))
    live = begin(PLAN)
    try:
        wait(live, lambda view: view.lanes and begun.is_set())
        live.play(wait=0.0)
        live.pause()
        assert not live.seen.playing
    finally:
        live.close()
        go_on.set()


def test_before_there_are_lanes_it_says_what_is_prepared(begin, monkeypatch):
    go_on, begun = threading.Event(), Plan.begin_lane
    monkeypatch.setattr(Plan, "begin_lane", lambda *a: (go_on.wait(WAIT_SECONDS), begun(*a))[1])
    live = begin(PLAN)
    try:
        view = wait(live, lambda view: "Gibbs" in view.status)
        assert shown(view)["said"] == ["Compiling the start of Gibbs …", ""]
    finally:
        go_on.set()
    assert wait(live, lambda view: view.lanes).status == "paused"


@pytest.fixture
def ran(begin):
    live = begin(PLAN.replace(budget=20.0))
    wait(live, lambda view: view.lanes)
    live.play()
    return wait(live, lambda view: view.status == "done" and view.truth is not None)


def test_without_a_reference_charts_and_layers_say_how_much_of_it_there_is(ran):
    bare = tuple(dataclasses.replace(lane, points=()) for lane in ran.lanes)
    plan = ran.plan.replace(beta=1 / 3.35)
    view = dataclasses.replace(ran, lanes=bare, truth=None, truth_share=0.04, plan=plan, layer="marginal error")
    chart = card(view, "mmd-sweeps")
    assert chart["empty"] == "waiting for the reference samples at T = 3.35 (β = 0.299): 4\N{NO-BREAK SPACE}% made"
    assert "samples of that law" in chart["help"]
    assert "the reference samples at T = 3.35" in standings.verdict(view)
    missing = {lane["missing"] for lane in shown(view)["lanes"]}
    assert missing == {"marginal error: waiting for the reference, 4\N{NO-BREAK SPACE}% made"}
    assert {lane["missing"] for lane in shown(dataclasses.replace(view, layer="none"))["lanes"]} == {""}


def test_the_exact_energy_of_a_formula_needs_no_reference(ran):
    assert ran.energy == pytest.approx(ran.truth.energy, abs=1e-4)
    view = dataclasses.replace(ran, truth=None)
    assert card(view, "energy")["exact"]["y"] == ran.energy


def test_a_row_of_the_table_is_of_the_moment_of_its_statistics(ran):
    lane = ran.lanes[0]
    early = dataclasses.replace(lane.summary, sweep=11, seconds=0.5)
    row = dict(
        zip(
            table.COLUMNS,
            table.rows(dataclasses.replace(ran, lanes=(dataclasses.replace(lane, summary=early),)))[0],
            strict=True,
        )
    )
    assert (row["at sweep"], row["time"], row["sweeps/s on average"]) == ("11", "500 ms", "22.0")
    assert lane.summary.sweep == 20


def test_the_table_has_no_metrics_of_a_later_sweep_than_its_row(ran):
    lane = ran.lanes[0]
    early = dataclasses.replace(lane, summary=dataclasses.replace(lane.summary, sweep=11))
    row = table.rows(dataclasses.replace(ran, lanes=(early,)))[0]
    assert lane.points[-1].sweep == 20
    assert dict(zip(table.COLUMNS, row, strict=True))["compared at"] == "sweep 8"


def test_what_belongs_to_other_settings_is_gone_before_a_change_is_taken_up(begin, monkeypatch):
    live = begin(PLAN.replace(budget=20.0))
    wait(live, lambda view: view.lanes)
    live.play()
    wait(live, lambda view: view.status == "done" and view.truth is not None and view.lanes[0].points)
    go_on, adopt = threading.Event(), LiveRun._adopt
    monkeypatch.setattr(LiveRun, "_adopt", lambda *a: (go_on.wait(WAIT_SECONDS), adopt(*a)))
    try:
        live.set_plan(live.plan.replace(beta=0.5))
        assert card(live.view, "mmd-sweeps")["band"] and card(live.view, "energy")["exact"]
        late = live.seen
        assert card(late, "mmd-sweeps")["band"] is None and card(late, "energy")["exact"] is None
        said = "Taking up T 1 → 2 as soon as the sweep in hand is done."
        assert standings.verdict(late) == words.nothing_yet(late) == words.found(late) == said
        assert all(row[3:11] == ("n/a",) * 8 for row in table.rows(late))
    finally:
        go_on.set()
    view = wait(live, lambda view: view.plan.beta == 0.5)
    assert live.seen is live.view and not view.coming
    live.set_plan(view.plan.replace(budget=40.0))
    assert not live.seen.coming


def test_a_reference_in_the_making_says_how_long_it_may_take(ran):
    bare = tuple(dataclasses.replace(lane, points=()) for lane in ran.lanes)
    view = dataclasses.replace(ran, lanes=bare, truth=None, truth_share=0.25)
    for left, said in (
        (None, ""),
        (0.2, ", about 1 s to go"),
        (42.4, ", about 42 s to go"),
        (300.0, ", about 5 minutes"),
    ):
        late = dataclasses.replace(view, truth_left=left)
        assert f"25\N{NO-BREAK SPACE}% made{said}" in words.nothing_yet(late)
        assert f"made{said}" in words.reference_words(late)
        exact = words.reference_words(dataclasses.replace(late, energy=-1.0))
        assert f"made{said}" in exact and exact.endswith(". The energy is exact and needs none.")
        # A verdict is read a moment later than it was made: it has no second number beside theirs.
        alone = dataclasses.replace(late, lanes=late.lanes[:1], energy=None)
        for verdict in (standings.verdict(late), words.found(alone)):
            assert verdict.endswith("still being made.")


def test_a_link_to_a_run_that_was_changed_on_its_way_says_that_it_is_another_run():
    assert changed(()) == changed(((0, "β 1 → 0.5"),)) == []
    [said] = changed(((0, "β 1 → 0.5"), (14, "β 0.5 → 0.299")))
    assert ": β 0.5 → 0.299." in said and "changed on its way" in said
    assert changed(((0, "site 3 of chain 0 flipped by hand"),))


def test_the_clique_race_ends_where_its_words_say():
    race = preset_of(RACE, "clique")
    model = resolve_model(race.plan.model)
    runs = dict(zip([lane.algorithm for lane in race.plan.lanes], race.plan.begin(model), strict=True))
    truth = finish(build(race.plan.target(model)))
    noise = noise_band(truth.reference, race.plan.chains).high
    off = {}
    for name in ("gibbs", "gwg", "pmp"):
        run = runs[name]
        while run.sweep < race.plan.budget:
            run, _ = running.advance(run, 32 * run.quanta, record=False, donate=True)
        off[name] = truth.reference.mmd2(running.counted(run))
    # Twice the noise's end: a look in twenty of exact draws is above it, hardly one above this.
    assert max(off["gibbs"], off["gwg"]) < 2 * noise and off["pmp"] > 20 * noise

"""What the curves and the words beside them say stays true: first passages, noise, draws, marks, moments."""

import csv
import dataclasses
import json

import numpy as np
import pytest

from pmpviz.app.export import traces_csv
from pmpviz.capabilities.sampling import evidence, outlets, picture, words
from pmpviz.capabilities.sampling import kept as keeping
from pmpviz.capabilities.sampling.manifest import plan_files
from pmpviz.capabilities.sampling.plan import sampler
from pmpviz.live import job
from pmpviz.live.plan import all_merged, merged_words
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from tests.unit.races import PLAN, energies, race, wait


def test_a_chart_says_why_a_curve_of_draws_begins_late(begin):
    plan = PLAN.replace(lanes=(*PLAN.lanes, sampler("gibbs")))
    view = wait(begin(plan), lambda view: len(view.lanes) == 2)

    def unit(view):
        cards = {card["id"]: card for card in decode(picture.update(view, Cursors(), Desk(), "none"))[0]["traces"]}
        return cards["mmd-sweeps"]["unit"], cards["mmd-sweeps"]["help"]

    said, told = unit(view)
    assert "PMP from its first draw on" in said and words.FROM_DRAWS.strip() in told
    said, told = unit(dataclasses.replace(view, lanes=view.lanes[1:] * 2))
    assert "draw" not in said and words.FROM_DRAWS.strip() not in told


def test_an_energy_has_arrived_where_it_is_drawn_within_the_band_of_chance(begin):
    view = wait(begin(PLAN), lambda view: view.lanes and view.truth is not None)
    samples = view.truth.reference.y
    weights = [float(view.model.log_weight(x)) for x in samples]
    assert view.truth.energy_deviation == pytest.approx(np.std(weights, ddof=1), rel=1e-3)

    def drawn(view):
        cards = decode(picture.update(view, Cursors(), Desk(), "none"))[0]["traces"]
        return next(card for card in cards if card["id"] == "energy")["exact"]

    for off, came in ((2.9, True), (-2.9, True), (3.1, False), (-3.1, False)):
        seen = energies(race(view, *[[0.5, 0.009, 0.009]] * 2), 50, 20, off)
        exact, (mean, _) = drawn(seen), seen.lanes[0].points[-1].energy
        assert exact["chance"] == pytest.approx(3 * 0.1) and exact["label"].endswith("; band: ± 3 standard errors")
        assert (abs(mean - exact["y"]) <= exact["chance"]) is came
        assert (evidence.arrival(seen, seen.lanes[0]) is not None) is came
    alone = drawn(race(view, [0.5, 0.009, 0.009]))
    assert not alone["chance"] and "chance" not in alone["label"], "a single walk's verdict has its own error beside it"


@pytest.mark.parametrize(
    ("lanes", "starts"),
    [
        (("gibbs", "gwg"), "All lanes start alike."),
        (("gibbs", "gwg", "pmp", "exact"), "Gibbs and GWG start alike, PMP and Exact sampler make each draw anew."),
        (("pmp", "gibbs"), "Gibbs has a start to forget, PMP makes each draw anew."),
        (("pmp", "exact"), "All lanes make each draw anew."),
    ],
)
def test_a_race_says_of_which_lanes_the_start_is_one(lanes, starts):
    said = words.race_lead(PLAN.replace(lanes=tuple(map(sampler, lanes))))
    assert said.startswith(f"{starts} MMD²") and said.endswith("in the fewest sweeps, with the right energy, wins.")


def test_the_axis_of_mmd_begins_where_something_can_be_drawn(begin):
    live = begin(PLAN.replace(lanes=(sampler("gibbs"), sampler("gwg")), budget=8.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done" and all(lane.points for lane in view.lanes))
    meta, blobs = decode(picture.update(view, Cursors(), Desk(), "none"))
    card = next(card for card in meta["traces"] if card["id"] == "mmd-sweeps")
    bottom, noise = card["band"]["low"], view.lanes[0].points[-1].band.high
    assert np.log10(bottom) == pytest.approx(round(np.log10(bottom))) and 3 <= noise / bottom < 30
    line = {name: np.frombuffer(blobs[card["lines"][0][name]], "<f4") for name in "xy"}
    assert line["x"][0] == 0 and min(line["y"]) >= np.float32(bottom)
    # Over seconds, too, the browser knows which sweeps were measured: those that the verdict speaks of.
    timed = next(card for card in meta["traces"] if card["id"] == "mmd-seconds")
    assert np.frombuffer(blobs[timed["lines"][0]["at"]], "<f4").tolist() == line["x"].tolist()
    assert [lane["measured"] for lane in meta["lanes"]] == [8, 8]
    # What one in a thousand is above is a level that decides nothing, and is not drawn, however far off a lane begins,
    # unless one that was within the noise is beyond it again: how far chance goes is what one asks then.
    first, *_ = view.lanes[0].points
    assert card["span"] == [0, 8]

    def band(*shares: float) -> dict:
        course = [dataclasses.replace(first, sweep=k, mmd2=share * first.band.high) for k, share in enumerate(shares)]
        lanes = tuple(dataclasses.replace(lane, points=tuple(course)) for lane in view.lanes)
        sent = picture.update(dataclasses.replace(view, lanes=lanes), Cursors(), Desk(), "none")
        return next(card for card in decode(sent)[0]["traces"] if card["id"] == "mmd-sweeps")["band"]

    assert "most" not in band(90, 1.1, 0.5) and "most" not in band(0.5)
    assert band(90, 0.5, 1.1)["most"] == pytest.approx(first.band.most)


def test_what_mmd_was_under_earlier_settings_stays_in_its_curve_apart_from_what_it_is_now(begin):
    live = begin(PLAN.replace(lanes=(sampler("gibbs"), sampler("gwg")), budget=8.0))

    def sent(view) -> tuple[dict, list[list[np.ndarray]]]:
        head, blobs = decode(picture.update(view, Cursors(), Desk(), "none"))
        card = next(each for each in head["traces"] if each["id"] == "mmd-sweeps")
        return card, [[np.frombuffer(blobs[line[name]], "<f4") for name in ("x", "y")] for line in card["lines"]]

    def drawn(sweep: int) -> tuple[dict, list[list[np.ndarray]]]:
        live.play()
        return sent(wait(live, lambda v: v.status == "done" and all(a.sweep == sweep and a.judged for a in v.lanes)))

    def after_change(**law) -> None:
        """A change, and what is drawn while it is taken up: as before."""
        settled = sent(live.view)[1]
        live.set_plan(live.plan.replace(**law))
        for (x, y), (then, was) in zip(settled, sent(live.view.before_change("hotter"))[1], strict=True):
            assert np.array_equal(x, then[: len(x)]) and np.isfinite(was[-1]) and len(was) == len(y)

    wait(live, lambda view: view.lanes)
    before, curves = drawn(8)
    live.set_plan(live.plan.replace(beta=1.5))  # As a knob is dragged.
    after_change(beta=2.0)
    after, later = drawn(16)
    assert "since" not in before["band"] and after["band"]["since"] == 8 and after["span"] == [0, 16]
    for (x, y), (more, now) in zip(curves, later, strict=True):
        count, floor = len(x), after["band"]["low"]
        assert np.array_equal(more[:count], x) and np.array_equal(now[:count], np.maximum(y, np.float32(floor)))
        assert np.isnan(now[count]) and more[count] == 8 and np.isfinite(now[count + 1 :]).all() and more[-1] == 16
    # A stretch of one look stays, too, and no line leads from one law to another.
    after_change(beta=3.0, budget=1.0)
    last, _ = drawn(17)
    after_change(beta=4.0, budget=4.0)
    _, latest = drawn(21)
    assert last["band"]["since"] == 16
    for (x, _), (more, now) in zip(later, latest, strict=True):
        assert np.array_equal(more[: len(x)], x) and more[len(x) + 1] == 17
        assert np.flatnonzero(np.isnan(now)).tolist() == [np.isnan(now[: len(x)]).argmax(), len(x), len(x) + 2]


def test_a_race_shows_what_decides_it_first_and_the_energy_that_it_is_held_to(begin):
    """Where no exact energy is known it is that of the reference's samples; what dots are is said where there are
    some."""
    live = begin(PLAN.replace(lanes=(sampler("gibbs"), sampler("pmp", sweeps_per_draw=8)), budget=24.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done" and all(lane.points for lane in view.lanes))
    sampled = dataclasses.replace(view.truth, energy=None, sampled_energy=(-3.25, 0.01))
    for truth, label in ((view.truth, "exact "), (sampled, "reference -3.25")):
        found = dataclasses.replace(view, truth=truth, energy=None)
        mmd, energy, *_ = decode(picture.update(found, Cursors(), Desk(), "none"))[0]["traces"]
        assert (mmd["id"], energy["id"]) == ("mmd-sweeps", "energy")
        assert energy["exact"]["label"].replace("−", "-").startswith(label)
        assert energy["unit"] == "dots: finished draws, faint: every sweep, cut at the frame"
        # The axis is of finished draws: how one begins is far off.
        assert [line.get("cut", False) for line in energy["lines"]] == [False, True, False]
    # How it begins is no excursion of a sampler: before a class there are finished draws alone, and no word on it.
    large = decode(picture.update(view, Cursors(), Desk(large=True), "none"))[0]
    energy = next(card for card in large["traces"] if card["id"] == "energy")
    assert energy["unit"] == "dots: finished draws"
    assert [line.get("dots", False) for line in energy["lines"]] == [False, True]


def test_what_is_found_is_what_is_spoken(begin):
    for lanes in ((sampler("gibbs"),), (sampler("gibbs"), sampler("gwg"))):
        live = begin(PLAN.replace(lanes=lanes, budget=8.0))
        wait(live, lambda view: view.lanes)
        live.play()
        view = wait(live, lambda view: view.status == "done" and all(lane.points for lane in view.lanes))
        meta = decode(picture.update(view, Cursors(), Desk(), "none"))[0]
        assert meta["announce"] == meta["said"][0]
        assert all(lane.spec.label in meta["announce"] for lane in lanes) if lanes[1:] else "energy" in meta["announce"]
        back = decode(picture.update(view, Cursors(), Desk(at=2), "none"))[0]
        assert back["announce"].startswith("Looking back at sweep 2: ")


def test_a_class_reads_the_same_short_names_at_pictures_and_in_the_verdict(begin):
    live = begin(PLAN.replace(lanes=(sampler("gwg"), sampler("gibbs"), sampler("pmp", sweeps_per_draw=4)), budget=8.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done" and all(lane.points for lane in view.lanes))
    for large, name in ((True, "GWG"), (False, "Gibbs-with-gradients")):
        meta = decode(picture.update(view, Cursors(), Desk(large=large), "none"))[0]
        assert meta["lanes"][0]["label"] == name and name in meta["said"][0]
        # What they are short for stands there, too, and of how many chains a picture is one.
        full = ["GWG: Gibbs-with-gradients", "PMP: Perturb-and-max-product"]
        assert meta["written"] == (full if large else [])
        assert {lane["chains"] for lane in meta["lanes"]} == {view.plan.chains}
    few = dataclasses.replace(view, lanes=view.lanes[:2])
    told = decode(picture.update(few, Cursors(), Desk(large=True), "none"))[0]
    assert told["lanes"][0]["label"] == name and told["written"] == []


def test_a_page_says_what_a_draw_is_where_there_are_draws_by_noise():
    pmp, gibbs = (PLAN.replace(lanes=(sampler(name),)) for name in ("pmp", "gibbs"))
    assert words.lead("playground", pmp) == words.NOISY_DRAWS and words.lead("playground", gibbs) == ""
    assert words.lead("home", pmp) == "" and "MMD²" in words.lead("race", pmp)


def test_bars_of_nothing_but_noise_are_short(begin):
    live = begin(PLAN.replace(lanes=(sampler("exact"),), budget=64.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done" and view.lanes[0].points)
    card = next(c for c in decode(picture.update(view, Cursors(), Desk(), "none"))[0]["traces"] if "bars" in c)
    noise = view.lanes[0].points[-1].band.high
    values = card["bars"]["rows"][0]["values"]
    assert sum(values) == pytest.approx(view.lanes[0].points[-1].mmd2, abs=1e-6)  # Negative parts are among them.
    assert card["bars"]["low"] == pytest.approx(sum(max(-value, 0) for value in values))
    assert card["bars"]["full"] >= 4 * noise and card["bars"]["noise"] == pytest.approx(noise)


def test_a_knob_begins_the_curve_of_mmd_anew(begin):
    live = begin(PLAN)
    live.play()
    wait(live, lambda view: view.lanes and view.lanes[0].points and view.lanes[0].sweep > 200)
    live.set_plan(PLAN.replace(lanes=(sampler("pmp", sweeps_per_draw=8, damping=0.1),)))
    view = wait(live, lambda view: view.lanes[0].since > 0 and view.lanes[0].points)
    assert all(each.sweep > view.lanes[0].since for each in view.lanes[0].points)


def test_an_added_lane_neither_resets_nor_holds_up_the_others(begin):
    live = begin(PLAN, speed=100.0)
    live.play()
    before = wait(live, lambda view: view.lanes and view.lanes[0].sweep > 60)
    live.set_plan(PLAN.replace(lanes=(*PLAN.lanes, sampler("gibbs"))))
    after = wait(live, lambda view: len(view.lanes) == 2 and view.lanes[1].sweep > 20)
    assert after.begun == before.begun and after.playing
    # Both keep the pace, a batch apart: the first has gone on beside the second, which did not have to catch up.
    first, second = after.lanes[0].sweep - before.lanes[0].sweep, after.lanes[1].sweep
    assert 2 * first >= second and after.lanes[0].sweep > second
    live.set_plan(PLAN)
    alone = wait(live, lambda view: len(view.lanes) == 1)
    assert alone.begun == before.begun and alone.lanes[0].sweep >= after.lanes[0].sweep


def test_an_added_lane_is_the_one_that_would_have_run_from_the_start(begin):
    both = PLAN.replace(lanes=(*PLAN.lanes, sampler("gibbs")), budget=40.0)
    added, whole = begin(PLAN.replace(budget=40.0)), begin(both)
    for live in (added, whole):
        wait(live, lambda view: view.lanes)
    added.set_plan(both)
    for live in (added, whole):
        live.play()
        wait(live, lambda view: len(view.lanes) == 2 and view.status == "done")
    np.testing.assert_array_equal(*(live.view.lanes[1].ring.last(30) for live in (added, whole)))


def test_words_of_one_gesture_are_one():
    assert merged_words("β 1 → 0.9", "β 0.9 → 0.5") == "β 1 → 0.5"
    assert merged_words("β 1 → 0.9", "β 0.9 → 1") == ""
    assert merged_words("β 1 → 0.9", "damping 0.5 → 0.6") is None
    assert merged_words("field painted", "field painted") == "field painted"
    assert all_merged(["β 1 → 0.9", "field painted", "β 0.9 → 0.5"]) == "β 1 → 0.5, field painted"


def test_a_gesture_is_one_mark_and_what_it_did_is_marked_after_a_reset(begin, monkeypatch):
    live = begin(PLAN)
    wait(live, lambda view: view.lanes)
    for beta in (0.9, 0.8, 0.7):
        live.set_plan(PLAN.replace(beta=beta))
        wait(live, lambda view, beta=beta: view.plan.beta == beta)
    assert [text for _, text in live.view.marks] == ["T 1 → 1.43"]
    monkeypatch.setattr(job, "GESTURE_SECONDS", 0.0)
    painted = PLAN.replace(beta=0.7, field=((3, 1.0),))
    live.set_plan(painted)
    live.flip([2])
    live.set_plan(painted.replace(beta=0.5))
    marks = wait(live, lambda view: view.plan.beta == 0.5).marks
    assert [text for _, text in marks] == ["T 1 → 1.43", "field painted", "T 1.43 → 2"]  # PMP has nothing to flip.
    live.reset()
    assert wait(live, lambda view: len(view.marks) == 1).marks == ((0, "T 2, field painted"),)
    live.set_plan(PLAN)
    live.reset()
    assert wait(live, lambda view: not view.marks).marks == ()


def test_a_kept_curve_stays_behind_the_next_run(begin):
    live = begin(PLAN.replace(budget=30.0))
    wait(live, lambda view: view.lanes)
    assert keeping.keep((), live.view, 0, picture.styles(live.view)[0]) == ()
    live.play()
    view = wait(live, lambda view: view.status == "done")
    kept = ()
    for _ in range(keeping.MOST + 2):
        kept = keeping.keep(kept, view, 0, picture.styles(view)[0])
    assert len(kept) == keeping.MOST
    live.reset()
    fresh = wait(live, lambda view: view.begun > 1 and view.lanes)
    meta, blobs = decode(picture.update(fresh, Cursors(), Desk(), "none", kept=kept[:1]))
    energy = next(card for card in meta["traces"] if card["id"] == "energy")
    ghosts = [line for line in energy["lines"] if line.get("ghost")]
    assert {line["name"] for line in ghosts} == {"Perturb-and-max-product, kept at sweep 30"}
    assert np.frombuffer(blobs[ghosts[0]["x"]], "<f4").tolist() == list(range(1, 31))
    assert meta["kept"][0]["name"] == ghosts[0]["name"]
    colder = fresh.plan.replace(beta=4.0, lanes=(sampler("pmp", sweeps_per_draw=8, damping=0.9),))
    past = "Perturb-and-max-product at T = 1.00 (β = 1.00), damping 0.5, kept at sweep 30"
    assert kept[0].name(colder) == past
    other = dataclasses.replace(fresh, plan=fresh.plan.replace(model="square:8x8"))
    assert decode(picture.update(other, Cursors(), Desk(), "none", kept=kept[:1]))[0]["kept"] == []


def test_every_row_of_the_traces_says_its_temperature_and_the_manifest_that_of_kept_curves(begin):
    live = begin(PLAN.replace(budget=16.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    kept = keeping.keep((), view, 0, picture.styles(view)[0])
    live.set_plan(PLAN.replace(budget=8.0, beta=0.5))
    live.play()
    wait(live, lambda view: view.status == "done" and view.lanes[0].sweep == 24)
    noted = live.ask(lambda live: outlets.note(live, kept), wait=20.0)
    rows = list(csv.DictReader(traces_csv(noted.tables).decode().splitlines()))
    betas = {(row["lane"], float(row["beta"])) for row in rows}
    assert betas == {("lane1", 1.0), ("lane1", 0.5), ("kept1", 1.0)}
    assert {float(row["beta"]) for row in rows if row["lane"] == "lane1" and int(row["sweep"]) > 16} == {0.5}
    (file,) = [file for file in plan_files(live.view.plan, 24, kept=kept) if file.name == "manifest.json"]
    assert json.loads(file.make())["kept"]["kept1"]["settings"]["beta"] == "1.0"


def test_a_past_moment_has_the_settings_of_then_and_the_exact_line_begins_with_its_own(begin):
    live = begin(PLAN.replace(budget=20.0))
    wait(live, lambda view: view.lanes)
    live.play()
    before = wait(live, lambda view: view.status == "done" and view.truth is not None).truth.energy
    live.set_plan(PLAN.replace(budget=20.0, beta=0.5))
    view = wait(live, lambda view: view.plan.beta == 0.5 and view.truth is not None)
    assert view.at(20).plan.beta == PLAN.beta and view.at(21).plan.beta == 0.5
    energy = next(
        card for card in decode(picture.update(view, Cursors(), Desk(), "none"))[0]["traces"] if card["id"] == "energy"
    )
    assert energy["exact"]["since"] == 20 and energy["exact"]["y"] == view.truth.energy != before
    assert energy["exact"]["earlier"] == [{"y": before, "since": 0, "until": 20}]
    live.reset()
    assert wait(live, lambda view: not view.lanes[0].sweep and not view.before).at(0).plan.beta == 0.5


def test_a_moment_has_the_seconds_of_its_own_sweep(begin):
    """Not those of the last look at MMD^2 before it."""
    live = begin(PLAN)
    live.play()
    lane = wait(live, lambda view: view.lanes and view.lanes[0].sweep > 30).lanes[0]
    for sweep in (1, 5, 23, 30):
        assert lane.at(sweep).seconds == pytest.approx(lane.series.bins(sweep, sweep).mean["seconds"][0], rel=1e-5)
    assert lane.at(0).seconds == 0.0

"""What the curves and the words beside them say stays true: first passages, noise, draws, marks, moments."""

import csv
import dataclasses
import json
import math
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

from pmpviz.app.export import traces_csv
from pmpviz.capabilities.sampling import evidence, outlets, picture, standings, table, then, words
from pmpviz.capabilities.sampling import kept as keeping
from pmpviz.capabilities.sampling.draws import DrawsView
from pmpviz.capabilities.sampling.equations import model_equation
from pmpviz.capabilities.sampling.lane import Lane
from pmpviz.capabilities.sampling.live import LiveRun, Stretch
from pmpviz.capabilities.sampling.manifest import plan_files
from pmpviz.capabilities.sampling.measures import MetricPoint
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.capabilities.sampling.statistics import Summary
from pmpviz.live import job
from pmpviz.live.plan import all_merged, merged_words
from pmpviz.live.store import Series
from pmpviz.metrics.mmd import Reference
from pmpviz.metrics.noise import NoiseBand, noise_band
from pmpviz.models import build_spec
from pmpviz.models.tables import TableModel
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from pmpviz.runs import run as running
from pmpviz.runs.schedule import Budget

WAIT_SECONDS = 60
PLAN = Plan(model="square:4x4,J=0.2", chains=16, lanes=(sampler("pmp", sweeps_per_draw=8),))


@pytest.fixture
def begin():
    """Jobs that end with the test."""
    jobs: list[LiveRun] = []

    def start(plan: Plan, speed: float = 0.0) -> LiveRun:
        jobs.append(LiveRun(plan, speed=speed))
        return jobs[-1]

    yield start
    for each in jobs:
        each.close()


def wait(live: LiveRun, condition, seconds: float = WAIT_SECONDS):
    until = time.monotonic() + seconds
    while not condition(live.view) and time.monotonic() < until:
        live.touch()
        time.sleep(0.02)
    assert condition(live.view)
    return live.view


def advanced(plan: Plan, sweeps: int, chunk: int = 64) -> Lane:
    model = build_spec(plan.model)
    lane = Lane(plan.lanes[0], plan.begin_lane(model, 0))
    lane.warm()
    while lane.count < sweeps:
        lane.advance(Budget(), min(chunk, sweeps - lane.count))
    return lane


# Draws.


@pytest.mark.parametrize("chunk", [1, 5, 64])
def test_finished_draws_are_what_the_algorithm_counts_and_end_where_a_new_noise_begins(chunk):
    lane = advanced(PLAN, 101, chunk)
    view = lane.view(False, None, False)
    assert view.draws.done == view.completed_draws == 12 and view.draws.age == 5
    assert lane.draws.series.bins().mean["sweep"].tolist() == list(range(8, 97, 8))
    energies = lane.series.bins().mean["energy:mean"]
    np.testing.assert_array_equal(lane.draws.series.bins().mean["energy:mean"], energies[7:96:8])


def test_a_draw_begun_under_other_settings_is_not_shown_as_finished():
    lane = advanced(PLAN, 13)
    lane.change(sampler("pmp", sweeps_per_draw=8, damping=0.1), lane.run.target)
    while lane.count < 40:
        lane.advance(Budget(), 40 - lane.count)
    assert lane.draws.series.bins().mean["sweep"].tolist() == [8, 24, 32, 40]
    assert lane.view(False, None, False).completed_draws == 3


def test_the_energy_of_draws_has_a_second_axis_and_the_draw_in_the_making_a_card_of_its_own(begin):
    live = begin(PLAN.replace(budget=101.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    meta, blobs = decode(picture.update(view, Cursors(), Desk(), "none"))
    cards = {card["id"]: card for card in meta["traces"]}
    faint, draws = cards["energy"]["lines"]
    assert faint["faint"] and draws["dots"] and "12 finished draws" in cards["energy"]["unit"]
    read = lambda index: np.frombuffer(blobs[index], "<f4")  # noqa: E731
    assert read(cards["energy"]["upper"]["y"]).tolist() == list(range(1, 13))
    making = cards["making"]
    assert making["title"] == "Draw 13 in the making: energy" and making["span"] == [0, 8]
    assert read(making["lines"][0]["x"]).tolist() == [1, 2, 3, 4, 5]
    meta, blobs = decode(picture.update(view, Cursors(), Desk(at=28), "none"))
    making = next(card for card in meta["traces"] if card["id"] == "making")
    assert making["title"] == "Draw 4 in the making: energy"
    assert np.frombuffer(blobs[making["lines"][0]["x"]], "<f4").tolist() == [1, 2, 3, 4]
    assert meta["lanes"][0]["sub"] == "looking back at sweep 28"


# Noise.


def two_hills(rng, rows):
    return (rng.random((rows, 24)) < np.where(rng.random((rows, 1)) < 0.5, 0.95, 0.05)).astype(np.int8)


@pytest.mark.parametrize("rows", [64, 800])  # Fewer and more than the reference has.
def test_the_noise_band_holds_nine_of_ten_independent_samples_of_a_law_with_two_hills(rows):
    """Its share outside is 10 % within 4.5 standard errors, and of the uncertainty of the reference's own quantiles."""
    rng = np.random.default_rng(5)
    counts, beyond = [], []
    for _ in range(40):
        reference = Reference.of(two_hills(rng, 400))
        band = noise_band(reference, rows)
        found = [reference.mmd2(two_hills(rng, rows)) for _ in range(10)]
        counts.append(np.mean([band.low <= each <= band.high for each in found]))
        beyond.append(np.mean([each > band.most for each in found]))
    error = np.std(counts, ddof=1) / np.sqrt(len(counts))
    assert abs(np.mean(counts) - 0.9) < 4.5 * error + 0.01
    # One in a thousand is expected; of 400 more than five would come once in ten thousand times.
    assert sum(beyond) * 10 <= 5 and band.most > 1.5 * band.high


def test_there_is_no_band_of_one_draw():
    assert not noise_band(Reference.of(two_hills(np.random.default_rng(0), 50)), 1).known


# Verdicts.


def point(sweep, mmd2, high=0.01):
    return MetricPoint(sweep, sweep / 100, 0.0, mmd2, NoiseBand(-high, high, high), (), 0.0, 0.0)


def race(view, *curves, since=0, high=0.01):
    """The view's lane once for each curve of MMD^2 at sweeps 0, 1, 2, 4, 8, ..."""
    sweeps = [0, *(2**k for k in range(20))]
    lanes = []
    for place, curve in enumerate(curves):
        points = tuple(point(sweep, value, high) for sweep, value in zip(sweeps, curve, strict=False) if sweep >= since)
        more = {"points": points, "sweep": points[-1].sweep, "since": since, "since_seconds": since / 100}
        lanes.append(dataclasses.replace(view.lanes[0], label=f"lane {place + 1}", **more))
    return dataclasses.replace(view, lanes=tuple(lanes))


@pytest.fixture
def idle(begin):
    return wait(begin(PLAN), lambda view: view.lanes and all(lane.cold is None for lane in view.lanes))


def test_nothing_is_said_before_anything_ran(idle):
    still = race(idle, [0.001], [0.5])
    assert standings.verdict(still) == "Nothing has run yet under these settings: press Play."
    # Lanes that ran under others go on from there, unlike those that begin anew.
    ran = tuple(dataclasses.replace(lane, sweep=9, since=9, points=()) for lane in still.lanes)
    assert standings.verdict(dataclasses.replace(still, lanes=ran)) == (
        "Nothing has run yet under these settings: press Play to go on from here, Reset to begin anew."
    )


def test_nobody_wins_by_a_reference_that_has_not_come_to_rest(idle):
    gone = race(idle, [0.5, 0.2, 0.004], [0.5, 0.2, 0.3])
    truth = SimpleNamespace(settled=False, check="its mean energy still fell by 62", exact=False, energy=None)
    said = standings.verdict(dataclasses.replace(gone, truth=truth))
    assert said == "No winner: the reference is a long run, and its mean energy still fell by 62."
    assert "lane 1" in standings.verdict(gone)


def test_the_first_passage_stays_the_first_however_long_the_race_goes_on(idle):
    quick, slow = [0.5, 0.2, 0.1, 0.05, 0.02, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    first = standings.verdict(race(idle, slow, quick))
    came = "lane 2 first came within the noise after 8–16 sweeps"
    assert first == f"{came}; lane 1 had not after 16 sweeps (when last compared)."
    spikes = [0.02, 0.001, 0.03, 0.001]
    later = standings.verdict(race(idle, [*slow, 0.04, 0.03, 0.02, 0.005], [*quick, *spikes]))
    assert later == f"{came}, then lane 1 after 128–256; by seconds lane 2 was first, too."
    # Who has left the noise again is said to have.
    out = standings.verdict(race(idle, slow, [*quick, 0.03]))
    assert out.startswith(f"{came}, though its MMD² is above it now; lane 1 had not after 16")
    at_once = standings.verdict(race(idle, slow, [0.5, 0.2, 0.009]))
    assert "lane 2 first came within the noise after 2 sweeps; lane 1 had" in at_once
    assert "None is within the noise. lane 2 is nearest" in standings.verdict(race(idle, slow, quick[:5]))


def test_a_passage_is_counted_from_the_change_of_the_settings(idle):
    said = standings.verdict(race(idle, *[[0.5, 0.2, 0.1, 0.05, 0.02, 0.02, 0.001]] * 2, since=8))
    assert "lane 1 and lane 2 both came within the noise after 8–24 sweeps." in said
    assert "since the change at sweep 8" in said
    # A chain that is first looked at 64 sweeps after a change may have been there before.
    late = race(idle, *[[0.5] * 7 + [0.02, 0.001]] * 2, since=64)
    chains = [dataclasses.replace(lane, draws=None, points=lane.points[-1:]) for lane in late.lanes]
    said = standings.verdict(dataclasses.replace(late, lanes=tuple(chains)))
    assert said.startswith("lane 1 and lane 2 both came within the noise after up to 64 sweeps.")


def test_between_the_same_looks_nobody_is_first_and_seconds_may_say_another_one(idle):
    """Of two looks that are the same ones nobody knows whose passage was earlier."""
    view = race(idle, *[[0.5, 0.2, 0.1, 0.009]] * 2, [0.5, 0.2, 0.1, 0.05, 0.009])
    lanes = [dataclasses.replace(lane, since_seconds=-1.0 * (place > 0)) for place, lane in enumerate(view.lanes)]
    said = standings.verdict(dataclasses.replace(view, lanes=tuple(lanes)))
    together = "lane 1 and lane 2 both came within the noise after 2–4 sweeps, then lane 3 after 4–8"
    assert said.startswith(together)
    assert said.endswith("; by seconds lane 1 was first.") and "first came" not in said
    # Some 100 ms are what else the machine does: of them nobody is the quicker one.
    assert "by seconds" not in standings.verdict(view)
    alone = dataclasses.replace(view, lanes=(lanes[0], lanes[2]))
    said = standings.verdict(alone)
    assert said.endswith(" first came within the noise after 2–4 sweeps, then lane 3 after 4–8; by seconds lane 1 was "
                         "first, too.")  # fmt: skip


def test_a_race_by_seconds_says_them(idle):
    view = race(idle, [0.5, 0.2, 0.1, 0.009], [0.5, 0.2, 0.1, 0.05, 0.009])
    said = standings.verdict(dataclasses.replace(view, plan=view.plan.replace(unit="seconds")))
    assert said == "lane 1 first came within the noise after 40.0 ms, then lane 2 after 80.0 ms."


def energies(view, *off):
    """The view's lanes with a mean energy so many standard errors off the exact one at each of their metrics."""
    lanes, truth = [], dataclasses.replace(view.truth, energy_deviation=0.1 * view.plan.chains**0.5)
    for lane in view.lanes:
        means = [view.truth.energy + 0.1 * each for each in off]
        series = Series(("sweep", "energy:error", *(names := [f"energy:{kind}" for kind in ("mean", "low", "high")])))
        points = [dataclasses.replace(p, energy=(mean, 0.1)) for p, mean in zip(lane.points, means, strict=True)]
        sweeps = np.array([point.sweep for point in points])
        series.append(
            {"sweep": sweeps, "energy:error": np.full(len(means), 0.1), **dict.fromkeys(names, np.array(means))}
        )
        more = {"series": series, "points": tuple(points), "draws": None, "guarantee": "invariant"}
        lanes.append(dataclasses.replace(lane, **more))
    return dataclasses.replace(view, lanes=tuple(lanes), truth=truth)


def test_a_lane_is_not_there_while_its_energy_is_far_off(begin):
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    view = race(view, [0.5, 0.2, 0.1, 0.009, 0.009], [0.5, 0.2, 0.1, 0.05, 0.05])
    said = standings.verdict(energies(view, 50, 20, 10, 8.3, 7.5))
    assert said.startswith("lane 1 came within the noise by MMD² after 2–4 sweeps, but its energy")
    assert "energy is still 7.5 standard errors too high. lane 2 has not come within it (MMD² 0.0500 after" in said
    # Where the curve has come to the exact line since both were compared, it is said when that was.
    far = energies(view, 50, 20, 10, 8.3, 7.5)
    for lane in far.lanes:
        then = lane.points[-1].sweep + 1
        row = {"sweep": then, "energy:error": 0.1}
        row |= {f"energy:{kind}": view.truth.energy for kind in ("mean", "low", "high")}
        lane.series.append({name: np.array([value]) for name, value in row.items()})
    now = [dataclasses.replace(lane, sweep=lane.points[-1].sweep + 1) for lane in far.lanes]
    said = standings.verdict(dataclasses.replace(far, lanes=tuple(now)))
    compared = now[0].points[-1].sweep - now[0].since
    came = "lane 1 came within the noise by MMD² after 2–4 sweeps"
    assert said.startswith(f"{came}, its energy not yet after {compared}. ")
    met = standings.verdict(energies(view, 50, 20, 10, 7.5, -2))
    by = "within the noise (by MMD² and energy)"
    assert met.startswith(f"lane 1 first came {by} after 4–8 sweeps (by MMD² alone after 2–4); ")
    assert "off" not in met
    both = energies(race(view, *[[0.5, 0.2, 0.1, 0.009, 0.009]] * 2), 50, 20, 10, 8.3, 7.5)
    assert standings.verdict(both) == (
        "lane 1 and lane 2 cannot be told apart: all came within the noise by MMD² after 2–4 sweeps, and their "
        "energies are 7.5 standard errors off."
    )
    quick, slow = (energies(both, 50, 20, 10, *last).lanes[k] for k, last in enumerate(((1, 1), (9, 1))))
    said = standings.verdict(dataclasses.replace(both, lanes=(quick, slow)))
    assert said == f"lane 1 first came {by} after 2–4 sweeps, then lane 2 after 4–8 (by MMD² alone after 2–4)."
    apart = energies(both, 50, 20, 10, 8.3, 18).lanes[0]
    said = standings.verdict(dataclasses.replace(both, lanes=(apart, both.lanes[1])))
    # In one sentence: a class reads so many letters, and of all lanes.
    came = "lane 1 and lane 2 came within the noise by MMD² after 2–4 sweeps, and their energies are"
    assert said == f"{came} 18 and 7.5 standard errors off."
    begun = energies(race(view, *[[0.001] * 3] * 3), 50, 20, 10)
    assert standings.verdict(begun) == (
        "lane 1, lane 2 and lane 3 are within the noise by MMD² from the start, and their energies are 10.0, 10.0 and "
        "10.0 standard errors off."
    )
    from_start = race(view, [0.001] * 5, [0.5, 0.2, 0.1, 0.05, 0.05])
    said = standings.verdict(energies(from_start, 50, 20, 10, 8, 6))
    assert said.startswith("lane 1 is within the noise by MMD² from the start, but its energy is still")
    said = standings.verdict(energies(from_start, 50, 20, 10, 2, 2))
    # By MMD² alone the random start is nearly the law already: what was won is the energy.
    came = "lane 1 first came within the noise by energy after 2–4 sweeps, by MMD² its start already was; "
    assert said.startswith(came)
    said = standings.verdict(energies(from_start, 2, 2, 2, 2, 2))
    assert said.startswith("lane 1 is within the noise from the start: MMD²")
    gone = standings.verdict(energies(view, 50, 20, 10, 1, 9))
    assert "after 2–4 sweeps, but its energy is now 9.0 standard errors too high; " in gone
    # What dipped below the noise by chance and rose again has come when both are there at one look.
    dipped = standings.verdict(energies(race(view, [0.5, 0.009, 0.05, 0.05, 0.009]), 50, 20, 2, 2, 2))
    assert dipped == f"lane 1 first came {by} after 4–8 sweeps (by MMD² alone after 1)."


def disagreeing(view, rhat, counted=64, keeps=True):
    """The view's lanes as chains whose R-hat is of so many sweeps, at the end of which they still differ or not."""
    summary = dataclasses.replace(view.lanes[0].summary, rhat=rhat, counted=counted, keeps=keeps)
    lanes = [dataclasses.replace(lane, kind="chain", draws=None, summary=summary) for lane in view.lanes]
    return dataclasses.replace(view, lanes=tuple(lanes))


def test_chains_that_disagree_within_the_noise_are_said_to(idle):
    """All together have the law's marginals; each of them is still where it began."""
    came, still = [0.5, 0.2, 0.1, 0.05, 0.02, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05]
    view = race(idle, came, still)
    said = standings.verdict(disagreeing(view, 1.4))
    assert said.startswith(
        "lane 1 first came within the noise after 8–16 sweeps, though its chains still differ on average "
        "(R-hat of the energy 1.4"
    )
    assert said.count("still differ") == 1, "of what is not within the noise nobody says that it has mixed"
    assert "still differ" not in standings.verdict(disagreeing(view, 1.4, keeps=False)), "few sweeps, not few states"
    both = standings.verdict(disagreeing(race(idle, came, came), 1.4))
    assert (
        ", though the chains of lane 1 and lane 2 still differ on average (R-hat of the energy 1.40 and 1.40)." in both
    )
    home = standings.verdict(disagreeing(race(idle, [0.001] * 6, came), 1.4))
    assert (
        "sees nothing wrong with the start itself, though its chains still differ on average (R-hat of the energy 1.4"
        in home
    )
    for agrees in (disagreeing(view, 1.05), disagreeing(view, 1.4, counted=63), view):
        assert "differ" not in standings.verdict(agrees)


def test_of_several_above_the_noise_the_nearest_is_named_where_the_noise_can_tell(idle):
    first = [0.5, 0.2, 0.009]
    said = standings.verdict(race(idle, first, [0.5, 0.4, 0.3], [0.5, 0.3, 0.1], [0.5, 0.3, 0.304]))
    assert said.endswith(
        "; the others had not after 2 sweeps (when last compared), nearest lane 3, then lane 2 and lane 4 level "
        "(MMD² 0.10, 0.30 and 0.30)."
    )
    assert "nearest" not in standings.verdict(race(idle, first, [0.5, 0.4, 0.3], [0.5, 0.3, 0.304]))


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


def test_an_energy_that_stays_wrong_decides_and_is_said_first(begin):
    """MMD² has all four within the noise from the start; class mode's one chart is that of the energy."""
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    view = race(view, *[[0.001] * 4] * 4)
    wrong, *right = [energies(view, *off).lanes[k] for k, off in enumerate([[109] * 4, *[[50, 20, 2, 2]] * 3])]
    view = dataclasses.replace(
        energies(view, *[2] * 4), lanes=(dataclasses.replace(wrong, guarantee="approximate"), *right)
    )
    assert standings.verdict(view) == (
        "lane 1: energy 109 standard errors too high, MMD² within the noise; the others came within it by energy after "
        "2 sweeps, by MMD² their start already was."
    )

    def first(view, large, what="id", energy=None):
        view = dataclasses.replace(view, energy=energy)
        return decode(picture.update(view, Cursors(), Desk(large=large), "none"))[0]["traces"][0][what]

    assert [first(view, large) for large in (False, True)] == ["mmd-sweeps", "energy"]
    # So it is where MMD² alone was there first, and remains so; where both were there at once MMD² is seen.
    assert first(dataclasses.replace(view, lanes=tuple(right)), True) == "energy"
    both = energies(race(view, [0.5, 0.2, 0.009, 0.009], [0.5, 0.2, 0.1, 0.009]), 50, 20, 2, 2)
    assert first(both, True) == "mmd-sweeps"
    # Nothing beneath the pictures is told before a class: there the chart says of how many chains it is.
    assert first(both, True, "title") == f"MMD² to the law, {PLAN.chains} chains"
    # Where a formula gives the energy a class sees it from the start on, and nothing changes in mid-race.
    unbegun = dataclasses.replace(view, lanes=tuple(dataclasses.replace(each, points=()) for each in view.lanes))
    for seen in (unbegun, both, view):
        assert [first(seen, True, what, energy=-3.0) for what in ("id", "title")] == ["energy", "Energy"]
        assert first(seen, False, energy=-3.0) == "mmd-sweeps"
    later = energies(race(view, [0.5, 0.2, 0.009, 0.009, 0.009], [0.5, 0.2, 0.1, 0.09, 0.08]), 50, 20, 9, 2, 2)
    for lanes in (later.lanes, [dataclasses.replace(lane, points=lane.points[:3], sweep=2) for lane in later.lanes]):
        assert first(dataclasses.replace(later, lanes=tuple(lanes)), True) == "energy"


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


def test_what_an_approximate_lane_that_has_not_come_gets_wrong_is_said(begin):
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    view = race(view, [0.5, 0.2, 0.1, 0.05], [0.5, 0.2, 0.009, 0.009])
    wrong, view = energies(view, -12, -12, -12, -12).lanes[0], energies(view, 1, 1, 1, 1)
    right, said = view.lanes[1], {}
    for guarantee in ("approximate", "invariant"):
        lanes = (dataclasses.replace(wrong, guarantee=guarantee), right)
        said[guarantee] = standings.verdict(dataclasses.replace(view, lanes=lanes))
    assert "lane 1 had not after " in said["approximate"]
    assert said["approximate"].endswith(", its energy is 12 standard errors too low.")
    assert said["invariant"].endswith("(when last compared)."), "time will mend it"


def test_those_that_have_not_come_are_named_together(idle):
    quick, slow = [0.5, 0.2, 0.009, 0.009, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1]
    said = standings.verdict(race(idle, quick, slow, slow))
    assert said.endswith("after 2 sweeps; the others had not after 8 sweeps (when last compared).")
    assert standings.verdict(race(idle, quick, quick, slow, slow[:4])).endswith(
        "lane 3 and lane 4 had not after 4–8 sweeps (when last compared)."
    )


def test_metrics_know_the_energy_that_the_lane_had_then(begin):
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.lanes[0].judged)
    lane = view.lanes[0]
    held = [(point, lane.series.bins(point.sweep, point.sweep)) for point in lane.points[1:]]
    # Of a run that went on for long, sweeps of its middle are held in means of several.
    known = [(point, bins.mean) for point, bins in held if bins.width == 1]
    assert known
    for point, row in known:
        np.testing.assert_allclose(point.energy, (row["energy:mean"][0], row["energy:error"][0]), rtol=1e-6)


def test_where_the_reference_is_one_state_there_is_no_noise_to_be_judged_by(idle):
    rows = np.zeros((400, 5), np.int8)
    rows[:3, 0] = 1
    assert not noise_band(Reference.of(rows), 64).known
    said = standings.verdict(race(idle, [0.5, 0.2], [0.5, 0.0], high=float("nan")))
    assert said == f"{words.NO_NOISE} MMD²: lane 2 0.00 and lane 1 0.200."


def test_lanes_that_the_noise_cannot_tell_apart_are_level(idle):
    said = standings.verdict(race(idle, [0.5, 0.2, 0.045], [0.5, 0.2, 0.0451], [0.5, 0.4, 0.3]))
    assert "lane 1 and lane 2 are level: MMD² 0.0450 and 0.0451 after 2 sweeps; " in said and "nearest" not in said
    assert said.endswith("; lane 3 0.300.")  # Nobody is left out.


def test_of_three_none_is_left_out_where_none_is_within_the_noise(idle):
    said = standings.verdict(race(idle, [0.5, 0.2, 0.1], [0.5, 0.3, 0.2], [0.5, 0.4, 0.3]))
    assert said.endswith(
        "lane 1 is nearest: MMD² 0.100 after 2 sweeps and 20.0 ms; lane 2 0.200 (20.0 ms) and lane 3 0.300 (20.0 ms)."
    )


def test_a_row_of_before_a_change_is_not_of_statistics_since_it(idle):
    view = race(idle, [0.5, 0.2, 0.1, 0.05, 0.02, 0.02, 0.001], since=8)
    rows = [dict(zip(table.COLUMNS, *table.rows(each), strict=True)) for each in (view.at(4), view.at(16))]
    assert [row["statistics since"] for row in rows] == ["n/a", "sweep 8"]


def test_a_moment_under_other_settings_is_no_verdict_of_the_present_ones(idle):
    view = race(idle, *[[0.5, 0.2, 0.1, 0.05, 0.02, 0.02, 0.001]] * 2, since=8)
    assert standings.verdict(view.at(4)).startswith("The settings were others then: they changed at sweep 8")


def changed(view, since, **now):
    """The view's two lanes with a change at sweeps of their own, `before` which its plan held, at a later moment."""
    plan, last = view.plan.replace(**now), max(since)
    lanes = [dataclasses.replace(view.lanes[0], past=False, since=at, sweep=99, points=()) for at in since]
    more = {"before": ((last, view.plan),), "marks": ((last, "T 1 → 2"),), "changed_at": {last: tuple(since)}}
    return dataclasses.replace(view, plan=plan, lanes=tuple(lanes), law_since=min(since), **more)


def test_of_a_moment_before_a_change_it_is_said_what_the_settings_were(idle):
    view = changed(idle, (80, 83), beta=0.5)
    told = "T was 1 then: the settings changed at sweeps 80 to 83, where the verdict begins anew."
    assert standings.verdict(view.at(24)) == standings.verdict(view.at(80)) == told
    assert standings.verdict(view.at(82)) == (
        "Only some lanes had changed then: T was 1 until sweeps 80 to 83, where the verdict begins anew."
    )
    assert "T was" not in standings.verdict(view.at(84))
    one = changed(idle, (80,), beta=0.5, lanes=(sampler("pmp", sweeps_per_draw=8, damping=0.1),), field=((0, 1.0),))
    assert words.found(one.at(80)) == (
        "T was 1, damping was 0.5 and no field was painted then: the settings changed at sweep 80, where the verdict "
        "begins anew."
    )


def test_of_a_moment_before_a_change_the_energy_is_judged_by_the_exact_one_of_then(begin):
    live = begin(PLAN)
    live.play()
    view = wait(live, lambda view: view.lanes and view.truth is not None)
    right, wrong = (energies(race(view, [0.5] * 4), *[off] * 4).lanes[0] for off in (1, 8.3))
    law = Stretch(0, 83, view.truth.energy)

    def said(law, *lanes):
        lanes = [dataclasses.replace(lane, label=f"lane {k + 1}", sweep=4) for k, lane in enumerate(lanes)]
        now = changed(view, (80,) * len(lanes), beta=0.5)
        lanes = tuple(dataclasses.replace(lane, since=80, points=(), past=True) for lane in lanes)
        return then.under_others(dataclasses.replace(now, lanes=lanes, earlier=(law,), present=now.plan))

    assert said(law, wrong).endswith(" begins anew. Mean energy then: 8.3 standard errors too high.")
    both = "Mean energy then: lane 1 and lane 3 right within chance, lane 2 8.3 standard errors too high."
    assert said(law, right, wrong, right).endswith(both)
    assert "energy" not in said(dataclasses.replace(law, exact=False), wrong)


def test_a_mark_and_the_exact_line_stand_at_the_sweep_of_each_lane(idle):
    view = dataclasses.replace(changed(idle, (80, 83), beta=0.5), energy=-3.0)
    meta, _ = decode(picture.update(view, Cursors(), Desk(), "none"))
    assert meta["marks"] == [[80, "T 1 → 2"], [83, "T 1 → 2"]]
    assert next(card for card in meta["traces"] if card["id"] == "energy")["exact"]["since"] == 80


def test_a_run_knows_at_which_sweep_each_lane_took_a_change_up(begin):
    lanes = (sampler("gibbs"), sampler("gibbs"))
    live = begin(PLAN.replace(lanes=lanes))
    wait(live, lambda view: len(view.lanes) == 2 and all(lane.cold is None for lane in view.lanes))

    def apart(live):
        for lane, sweeps in zip(live.lanes, (3, 5), strict=True):
            while lane.count < sweeps:
                lane.advance(Budget(), 1)

    live.ask(apart, wait=20.0)
    live.set_plan(PLAN.replace(lanes=lanes, beta=0.5))
    view = wait(live, lambda view: view.changed_at)
    assert view.law_since == 3 and view.changed_at == {5: (3, 5)} and [lane.since for lane in view.lanes] == [3, 5]
    assert [(each.since, each.until) for each in view.earlier] in ([], [(0, 5)])


def test_of_a_moment_before_a_change_what_was_compared_is_not_kept(idle):
    view = changed(idle, (80, 83), beta=0.5)
    cells = {name: row for name, *row in zip(table.COLUMNS, *table.rows(view.at(24)), strict=True)}
    assert all(cells[name] == ["–", "–"] for name in ("MMD²", "noise", "compared at", "marginal L1", "pair error"))
    cells = {name: row for name, *row in zip(table.COLUMNS, *table.rows(view.at(90)), strict=True)}
    assert cells["MMD²"] == ["n/a", "n/a"]


def test_finished_draws_are_counted_at_the_moment_that_is_looked_back_at(begin):
    live = begin(PLAN.replace(budget=21.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    said = []
    for at in (7, 8, 15, 16, None):
        cards = decode(picture.update(view, Cursors(), Desk(at=at), "none"))[0]["traces"]
        said.append(next(card for card in cards if card["id"] == "energy")["unit"].split(" a chain")[0])
    one, two = "1 finished draw", "2 finished draws"
    assert said == ["0 finished draws", one, one, two, two]


def test_looking_back_says_what_was_known_then(idle):
    view = race(idle, [0.5, 0.2, 0.1, 0.05, 0.02, 0.009], [0.5, 0.4, 0.3, 0.2, 0.1, 0.05])
    assert "first came" in standings.verdict(view) and "None is within" in standings.verdict(view.at(8))
    assert view.at(8).lanes[0].sweep == 8 and view.at(8).lanes[0].point.sweep == 8
    assert view.at(8).lanes[0].summary.ess is None


def test_a_lane_has_not_come_within_the_noise_in_the_sweeps_that_were_measured(idle):
    """Not in those since, of which nobody knows."""
    quick, slow = ([0.5, 0.2, 0.1, 0.05, 0.02, last] for last in (0.009, 0.05))
    view = race(idle, quick, slow)
    late = dataclasses.replace(view, lanes=tuple(dataclasses.replace(lane, sweep=23) for lane in view.lanes))
    assert standings.verdict(late).endswith("; lane 2 had not after 16 sweeps (when last compared).")


def test_who_begins_within_the_noise_has_not_won(idle):
    said = standings.verdict(race(idle, [0.5, 0.2, 0.1, 0.009], [0.001] * 4))
    assert said.startswith("lane 1 came within the noise after 2–4 sweeps; ")
    assert said.endswith("lane 2 is within the noise from the start.")
    said = standings.verdict(race(idle, [0.5, 0.2, 0.1, 0.05], [0.001] * 4))
    assert said.startswith("lane 2 is within the noise from the start. lane 1 has not come within it (MMD² 0.0500")


def test_a_lane_that_has_not_moved_is_not_compared(idle):
    view = dataclasses.replace(race(idle, [0.0113], [0.5, 0.0113], [0.5, 0.2]), playing=True)
    said = standings.verdict(view)
    assert "lane 2 is nearest: MMD² 0.0113 after 1 sweep" in said and said.count("lane 1") == 1
    # Before who is nearest: a class, which reads the first sentences alone, sees why a lane has no curve.
    assert said.startswith("None is within the noise. lane 1 is still computing its first sweep. lane 2 is nearest")
    assert "lane 1 has made no sweep yet" in standings.verdict(dataclasses.replace(view, playing=False))


def test_lanes_are_compared_after_as_many_sweeps_also_where_one_was_measured_later(idle):
    """As the fewest sweeps decide; where seconds do, each by its last metrics, with its sweeps."""
    ahead = race(idle, [0.5, 0.2, 0.045], [0.5, 0.2, 0.0451, 0.02])
    assert standings.verdict(ahead).endswith("lane 1 and lane 2 are level: MMD² 0.0450 and 0.0451 after 2 sweeps.")
    far = standings.verdict(race(idle, [0.5, 0.05], [0.5, 5.0, 5.0, 5.0]))
    assert "100 times below lane 2 after as many sweeps (" in far
    by_time = dataclasses.replace(ahead, plan=ahead.plan.replace(unit="seconds"))
    assert " after 2 sweeps" in standings.verdict(by_time) and " after 4 sweeps" in standings.verdict(by_time)


def test_the_order_behind_the_first_is_of_one_sweep_which_is_said_where_one_is_ahead(idle):
    came = [0.5, 0.001, 0.001]
    said = standings.verdict(race(idle, came, [0.5, 0.2, 0.1], [0.5, 0.4, 0.3, 0.02]))
    assert said.endswith("nearest lane 2, then lane 3 (MMD² 0.10 and 0.30 after 2 sweeps).")


@pytest.mark.parametrize(("algorithm", "length"), [("pmp", 20), ("perturb_and_descend", 10)])
def test_only_finished_draws_are_compared_with_the_reference(begin, algorithm, length):
    lanes = (sampler(algorithm, sweeps_per_draw=length), sampler("gibbs"))
    live = begin(PLAN.replace(lanes=lanes, budget=9.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done" and view.lanes[1].points)
    assert not view.lanes[0].points and view.lanes[0].making == (9, length)
    assert f"its first draw, of {length} sweeps, is not done" in standings.verdict(view)
    assert decode(picture.update(view, Cursors(), Desk(), "none"))[0]["lanes"][0]["sub"].startswith(
        f"first draw: sweep 9 of {length}"
    )
    # Beside samples of the other lane what it makes is drawn as none, and said to be none at the chart.
    cards = {card["id"]: card for card in decode(picture.update(view, Cursors(), Desk(), "none"))[0]["traces"]}
    assert [line.get("faint", False) for line in cards["energy"]["lines"]] == [True, False]
    assert cards["energy"]["unit"].startswith("faint: ") and cards["energy"]["unit"].endswith(", first draw not done")
    live.set_plan(live.plan.replace(budget=66.0))
    live.play()
    view = wait(live, lambda view: view.lanes[0].sweep == 66 and view.status == "done" and view.lanes[0].points)
    assert [point.sweep for point in view.lanes[0].points] == [s for s in (16, 32, 64, 66) if s >= length]
    assert not view.lanes[0].making and "first draw" not in standings.verdict(view)


def test_a_draw_begun_before_a_change_is_not_the_first_that_counts():
    lane = advanced(PLAN, 13)
    lane.change(sampler("pmp", sweeps_per_draw=8, damping=0.1), lane.run.target)
    lane.advance(Budget(), 1)
    view = lane.view(False, None, False)
    assert view.making == (0, 8)
    assert words.first_draw(view) == "its first draw under the new settings begins in 2 sweeps"
    while lane.count < 20:
        lane.advance(Budget(), 1)
    view = lane.view(False, None, False)
    assert words.first_draw(view) == "its first draw, of 8 sweeps, is not done" and not lane.waiting
    # A draw that was older than the new ones will be has no sweep left.
    assert DrawsView(view.draws.series, 0, 50, 20, whole=False).before == 0
    while lane.count < 24:
        lane.advance(Budget(), 1)
    assert lane.view(False, None, False).making is None


@pytest.mark.parametrize(
    ("lanes", "starts"),
    [
        (("gibbs", "gwg"), "All lanes start alike."),
        (("gibbs", "gwg", "pmp", "exact"), "Gibbs and GWG start alike, the others make their own draws."),
        (("pmp", "gibbs"), "Gibbs has a start to forget, the other makes its own draws."),
        (("pmp", "exact"), "All lanes make their own draws."),
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
    # What one in a thousand is above is drawn where a start lies above it, and tells nothing of samples so few that
    # none does.
    starts, most = [lane.points[0].mmd2 for lane in view.lanes], view.lanes[0].points[-1].band.most
    assert ("most" in card["band"]) == (max(starts) > most)
    points = (dataclasses.replace(view.lanes[0].points[0], mmd2=2 * most), *view.lanes[0].points[1:])
    above = dataclasses.replace(view, lanes=(dataclasses.replace(view.lanes[0], points=points), view.lanes[1]))
    far = decode(picture.update(above, Cursors(), Desk(), "none"))[0]["traces"]
    assert next(card for card in far if card["id"] == "mmd-sweeps")["band"]["most"] == pytest.approx(most)
    low = tuple(
        dataclasses.replace(lane, points=(dataclasses.replace(lane.points[0], mmd2=most / 2), *lane.points[1:]))
        for lane in view.lanes
    )
    few = decode(picture.update(dataclasses.replace(view, lanes=low), Cursors(), Desk(), "none"))[0]["traces"]
    assert "most" not in next(card for card in few if card["id"] == "mmd-sweeps")["band"]


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


# Of one lane.


def test_a_single_lane_s_mean_energy_stands_beside_the_exact_one(begin):
    live = begin(Plan(model="square:8x8,J=0.3", chains=256, budget=1.0, lanes=(sampler("gibbs"),)))
    view = wait(live, lambda view: view.lanes and view.lanes[0].cold is None)
    assert words.found(view) == words.NOTHING_YET
    live.play()
    view = wait(live, lambda view: view.status == "done" and view.truth is not None)
    row = view.lanes[0].series.last
    x = np.asarray(live.ask(lambda live: running.positions(live.lanes[0].run), wait=20.0))
    energies = -np.array([view.model.log_weight(each) for each in x])
    assert row["energy:mean"] == pytest.approx(energies.mean(), rel=1e-4)
    assert row["energy:error"] == pytest.approx(energies.std(ddof=1) / 16, rel=1e-4)
    off = (energies.mean() - view.truth.energy) / row["energy:error"]
    said = words.found(view)
    assert off > 3 and said.startswith("Not yet right: mean energy") and "after 1 sweep, " in said
    far, deviations = said.split("after 1 sweep, ")[1].split(" standard errors) above the exact ")[0].split(" (")
    assert float(deviations) == pytest.approx(off, rel=0.06)
    assert float(far) == pytest.approx(energies.mean() - view.truth.energy, abs=row["energy:error"])
    # Where no exact one is known it stands beside the reference's, within both errors.
    for energy, begins in (((-3000.0, 0.5), "Not yet right: "), ((energies.mean(), 0.5), "Right within chance: ")):
        other = dataclasses.replace(view, truth=dataclasses.replace(view.truth, energy=None, sampled_energy=energy))
        assert words.found(other).startswith(begins) and " the reference's " in words.found(other)
    live.set_plan(live.plan.replace(budget=300.0))
    live.play()
    view = wait(live, lambda view: view.lanes[0].sweep == 300 and view.status == "done")
    last = view.lanes[0].series.last
    met = abs(last["energy:mean"] - view.truth.energy) <= evidence.rare(evidence.FAR, 256) * last["energy:error"]
    assert words.found(view).startswith("Right within chance, first after ") == met
    assert words.found(view.at(1)) == said
    # What was right once is not taken back where chance goes a little further.
    first = ", first after 9 sweeps"
    told = {since: words._apart(view.lanes[0], 3.5, 1.0, since, 256)[0] for since in ("", first)}
    assert told[""] == "Not yet right" and told[first].startswith(f"Right within chance{first}")
    # How far it is off is said all the same, and is nothing right where the chains disagree.
    assert words._apart(view.lanes[0], 3.5, 1.0, first, 256)[1] == "3.5 (3.5 standard errors) above"
    apart = disagreeing(view, 1.37).lanes[0]
    assert words._apart(apart, 3.5, 1.0, first, 256)[0] == (
        "Not settled: was within chance first after 9 sweeps, is now 3.5 standard errors above, and its chains still "
        "differ on average (R-hat of the energy 1.37)"
    )
    assert words._apart(apart, 1.5, 1.0, first, 256)[0].startswith(f"Right within chance{first}, though its chains")
    # Few chains know their own error badly: what is far of many is chance of four.
    assert words._apart(view.lanes[0], 7.4, 1.0, "", 4)[0] == "Right within chance"
    # Whoever subtracts what is printed gets what is told.
    for one, two, apart in (
        ("−2\u202f407.3", "−2\u202f570.3", "163.0"),
        ("−1\u202f000", "210.25", "1\u202f210"),
        ("1.0", "1.00", ""),
        ("2·10⁻⁵", "1", ""),
    ):
        assert words._between(one, two) == apart
    mean, exact = (float(each) for each in re.findall(r"−(\d+\.\d+)", said))
    decimals = len(far.partition(".")[2])
    assert far == f"{abs(mean - exact):.{decimals}f}"
    # The start is no wait for Play, nor a first sweep in the making.
    for playing in (False, True):
        then = dataclasses.replace(view, playing=playing).at(0)
        assert words.found(then) == standings.verdict(then) == words.AT_START


@pytest.mark.parametrize("chains", (2, 4, 16))
def test_a_mean_of_few_chains_is_beyond_chance_as_seldom_as_one_of_many(chains):
    """Within 4.5 standard errors of the share of the normal law beyond two standard deviations."""
    values, share = np.random.default_rng(0).normal(size=(40_000, chains)), math.erfc(math.sqrt(2.0))
    off = np.abs(values.mean(1)) / (values.std(1, ddof=1) / math.sqrt(chains))
    assert abs((off > evidence.rare(2, chains)).mean() - share) < 4.5 * math.sqrt(share * (1 - share) / len(values))


def test_a_single_lane_says_after_how_many_sweeps_its_energy_was_right(begin):
    """The present says nothing of how soon; however long one looks, the first passage stays the first."""
    live = begin(Plan(model="square:8x8,J=0.3", chains=256, lanes=(sampler("gibbs"),)))
    view = wait(live, lambda view: view.lanes and view.lanes[0].cold is None)
    law = (0.0, 0.0)

    def lane(sweeps, right):
        series = Series(("sweep", "energy:mean", "energy:error"))
        means = np.where(np.arange(1, sweeps + 1) < right, 9.0, 1.0)
        series.append({"sweep": np.arange(1.0, sweeps + 1), "energy:mean": means, "energy:error": np.ones(sweeps)})
        return dataclasses.replace(view.lanes[0], series=series, sweep=sweeps)

    assert evidence.first_right(lane(300, 40), law, 256) == ", first after 40 sweeps"
    assert evidence.first_right(lane(300, 1), law, 256) == ", first after 1 sweep"
    assert evidence.first_right(lane(40, 40), law, 256) == evidence.first_right(lane(40, 99), law, 256) == ""
    assert evidence.first_right(lane(300, 40), law, 4) == "", "of four chains chance allows nearly everything"
    begins, ends = evidence.first_right(lane(20_000, 40), law, 256).split(" ")[3].split("–")
    assert int(begins) <= 40 <= int(ends) < 100


def test_where_no_law_is_known_a_single_lane_says_whether_its_energy_is_at_rest(begin):
    live = begin(Plan(model="square:8x8,J=0.3", chains=256, lanes=(sampler("gibbs"),)))
    view = wait(live, lambda view: view.lanes and view.lanes[0].cold is None)

    def said(sweeps, slope):
        series = Series(("sweep", "energy:mean", "energy:error"))
        sweep = np.arange(1.0, sweeps + 1)
        series.append({"sweep": sweep, "energy:mean": slope * sweep, "energy:error": np.ones(sweeps)})
        lane = dataclasses.replace(view.lanes[0], series=series, sweep=sweeps, points=())
        return words.found(dataclasses.replace(view, lanes=(lane,), truth=None, energy=None))

    assert "; in the last 100 sweeps it has fallen by 50; the reference to compare it with is still" in said(200, -0.5)
    assert "; in the last 100 sweeps it has risen by 50; the" in said(200, 0.5)
    assert "; in the last 100 sweeps it has moved by chance alone; the" in said(200, 0.01)
    assert "since" not in said(100, -9.0), "of few sweeps nobody knows"


def test_where_a_clamp_has_taken_the_exact_value_it_is_said(begin):
    live = begin(Plan(model="square:8x8,J=0.3", chains=256, budget=3.0, lanes=(sampler("gibbs"),)))
    wait(live, lambda view: view.lanes and view.lanes[0].cold is None)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    clamped = dataclasses.replace(view, plan=view.plan.replace(clamp=((0, 1),)), truth=None, energy=None)
    clamped = dataclasses.replace(clamped, lanes=(dataclasses.replace(view.lanes[0], points=()),))
    assert "; with clamped sites no exact value is known, and the reference to" in words.found(clamped)
    # While a reference is made the exact energy answers a race.
    waits = dataclasses.replace(clamped, plan=view.plan, energy=-1e4, lanes=clamped.lanes * 2)
    said = standings.verdict(waits)
    assert said.startswith("By energy alone: Gibbs and Gibbs have energies ")
    assert " standard errors off the exact one. For MMD² the reference " in said and said.endswith("being made.")
    # In the cold all chains are in one state: their own error is that of rounding, and tells nothing.
    for off, told in ((0.05, "Gibbs and Gibbs are right within chance"), (5.0, "Gibbs and Gibbs have energies ")):
        series = Series(("sweep", "energy:mean", "energy:error"))
        series.append({"sweep": np.arange(1.0, 3), "energy:mean": np.full(2, off - 3610), "energy:error": [1e-4, 1e-4]})
        lane = dataclasses.replace(waits.lanes[0], series=series, sweep=2)
        cold = dataclasses.replace(waits, energy=-3610.0, lanes=(lane, lane))
        assert standings.verdict(cold).startswith(f"By energy alone: {told}")


def test_no_speed_is_told_before_a_sweep_is_done(idle):
    lane = dataclasses.replace(idle.lanes[0], sweep=0, rate=0.141)
    assert "sweeps/s" not in picture._sub(lane, 60.0)
    assert picture._sub(dataclasses.replace(lane, sweep=1), 60.0).endswith(" · now computes 0.141 sweeps/s")


def test_statistics_of_draws_count_since_the_first_one_that_was_begun_under_the_settings(idle):
    series = Series(("sweep", "draw"))
    lane = dataclasses.replace(idle.lanes[0], since=5, sweep=12, points=(), completed_draws=0, summary=Summary())
    late = dataclasses.replace(lane, draws=DrawsView(series, 0, 4, 8, whole=False))
    assert dict(zip(table.COLUMNS, table._row(late), strict=True))["statistics since"] == "sweep 16"
    begun = dataclasses.replace(lane, sweep=18, draws=DrawsView(series, 0, 2, 8))
    assert dict(zip(table.COLUMNS, table._row(begun), strict=True))["statistics since"] == "sweep 16"


def test_the_equation_has_the_constant_that_the_energies_of_the_charts_have(idle):
    model = build_spec("square:4x4,J=0.2")
    constant = float(model.log_weight(np.zeros(16, np.int8)))
    assert constant and rf"E(x) = -\sum_i b_i x_i - \sum_{{i<j}} w_{{ij}} x_i x_j - {constant:.2f}" in model_equation(
        idle
    )


def test_a_single_lane_of_draws_speaks_of_finished_ones(begin):
    live = begin(PLAN.replace(budget=7.0))
    wait(live, lambda view: view.lanes)
    live.play()
    view = wait(live, lambda view: view.status == "done")
    assert words.found(view) == "Perturb-and-max-product: its first draw, of 8 sweeps, is not done."
    live.set_plan(PLAN.replace(budget=21.0))
    live.play()
    view = wait(live, lambda view: view.status == "done" and view.lanes[0].sweep == 21)
    assert "in draw 2 of each chain, " in words.found(view) and " the exact " in words.found(view)


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


# Lanes.


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


# Marks.


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
    live.flip(2)
    live.set_plan(painted.replace(beta=0.5))
    marks = wait(live, lambda view: view.plan.beta == 0.5).marks
    assert [text for _, text in marks] == ["T 1 → 1.43", "field painted", "T 1.43 → 2"]  # PMP has nothing to flip.
    live.reset()
    assert wait(live, lambda view: len(view.marks) == 1).marks == ((0, "T 2, field painted"),)
    live.set_plan(PLAN)
    live.reset()
    assert wait(live, lambda view: not view.marks).marks == ()


# Kept curves.


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


def test_zeros_that_may_part_the_states_are_told_of_chains(begin):
    view = wait(begin(PLAN), lambda view: view.lanes and view.truth is not None)

    def told(kind: str, table: list) -> bool:
        lanes = tuple(dataclasses.replace(lane, kind=kind) for lane in view.lanes)
        model = TableModel.of((2, 2), [((0, 1), np.array(table))])
        return "may part" in words.reference_words(dataclasses.replace(view, model=model, lanes=lanes))

    zeros = [[0.0, -np.inf], [-np.inf, 0.0]]
    assert told("chain", zeros) and not told("draw", zeros) and not told("chain", [[0.0, 1.0], [1.0, 0.0]])

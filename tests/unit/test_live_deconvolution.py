"""A live deconvolution: glyphs are found, time is shared equally, frames stay few, and the stage is told all of it."""

import csv
import dataclasses
import io
import json
import re
import time
from types import SimpleNamespace

import numpy as np
import pytest

from pmpviz.capabilities.deconvolution import lane as deconvolution_lane
from pmpviz.capabilities.deconvolution import live as deconvolution_live
from pmpviz.capabilities.deconvolution import picture as deconvolution
from pmpviz.capabilities.deconvolution import posterior, words
from pmpviz.capabilities.deconvolution.lane import (
    DeconvolutionLane,
    Found,
    Frame,
    found_in,
    grey_levels,
    measures,
    orders,
    superfluous,
    under,
)
from pmpviz.capabilities.deconvolution.live import LiveDeconvolution
from pmpviz.capabilities.deconvolution.page import _files
from pmpviz.capabilities.deconvolution.plan import DeconvolutionPlan, conv_sampler, problem_of
from pmpviz.capabilities.deconvolution.presets import ARROW, RING
from pmpviz.player.numbers import integer
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode

WAIT_SECONDS = 120.0
PMP, GWG = conv_sampler("pmp"), conv_sampler("gwg")
SMALL = DeconvolutionPlan(
    data="painted", painted=(ARROW, RING), images=24, side=11, features=2, feature_height=5, feature_width=5, samples=2
)
BESIDE = SMALL.replace(lanes=(PMP, GWG), samples=1)


def wait(live: LiveDeconvolution, condition) -> None:
    until = time.monotonic() + WAIT_SECONDS
    while not condition(live.view):
        assert time.monotonic() < until, live.view.trouble or "it did not get there in time"
        live.touch()
        time.sleep(0.02)


@pytest.fixture
def begin():
    """`begin(plan)` is a live deconvolution that is given up after the test."""
    made = []

    def start(plan: DeconvolutionPlan, **options) -> LiveDeconvolution:
        made.append(LiveDeconvolution(plan, **options))
        return made[-1]

    yield start
    for live in made:
        live.close()


def test_glyphs_are_found_while_beliefs_sharpen_and_messages_come_to_rest(begin):
    live = begin(SMALL)
    live.play()
    wait(live, lambda view: view.status == "done")
    lane = live.view.lanes[0]
    assert lane.last is not None and max(lane.last.found_counts) == 2 and min(lane.last.wrong) == 0
    assert lane.frames[0].sweep == 0 and lane.frames[0].sharpness < 0.2 < 0.4 < lane.last.sharpness
    sweeps = [frame.sweep for frame in lane.frames]
    assert sweeps == sorted(set(sweeps)) and sweeps[1] == 1
    assert all(np.diff(sweeps) <= deconvolution_lane.MOST_SWEEPS)
    assert lane.rested or lane.sweep == SMALL.budget


def test_every_frame_is_told_by_what_it_has_itself_found_and_numbers_say_of_which_sweep(begin):
    """Pictures are shown a moment after they were computed, and looked back to."""
    live = begin(SMALL.replace(budget=40))
    live.play()
    wait(live, lambda view: view.status == "done")
    head = decode(deconvolution.update(live.view, Cursors(), Desk(("play",))))[0]
    lane = SimpleNamespace(last=live.view.lanes[0].frames[0])
    before = SimpleNamespace(problem=live.view.problem, lanes=(lane,), trouble=None)
    assert words.verdict(before) == words.NOTHING, "a start is no answer"
    assert words.NOTHING == "Nothing has run yet, and what is seen is the random start: press Play."
    frames, told = live.view.lanes[0].frames, head["lanes"][0]["frames"]
    assert [frame.found_counts for frame in frames] == [tuple(counts) for counts in told["counts"]]
    for frame, said, found in zip(frames, told["said"], told["found"], strict=True):
        full = sum(count == 2 for count in frame.found_counts)
        assert ("none has found all 2 glyphs" in said) == (full == 0 and any(frame.found_counts))
        assert ("none has found any of the 2 glyphs" in said) == (not any(frame.found_counts))
        assert [sample.count("not found") for sample in found] == [
            sum(each.feature is None for each in sample) for sample in frame.found
        ]
        assert "before the first sweep" in said if not frame.sweep else f"after {frame.sweep:g} sweep" in said
    assert told["said"][0] != told["said"][-1] == head["said"][0]
    # So are the numbers beside the pictures, and each feature stands under the glyph that it shows in that very frame.
    names = [name for name, _ in head["numbers"]]
    assert names[:2] == ["at sweep", "wrong pixels"]
    for frame, values, placed in zip(frames, told["values"], told["orders"], strict=True):
        row = dict(zip(names, (value.replace("\u202f", "") for value in values), strict=True))
        assert row["at sweep"] == f"{frame.sweep:g}"
        least, most = min(frame.wrong), max(frame.wrong)
        assert row["wrong pixels"] == (str(least) if least == most else f"{least} – {most}")
        assert ("–" in row["explained ink"]) == (len(set(frame.explained)) > 1)
        for sample, order in zip(frame.found, placed, strict=True):
            shown = [each.feature for each in sample]
            assert all(f in (None, order[g]) or shown.count(f) > 1 for g, f in enumerate(shown))


def test_glyphs_that_are_given_are_not_called_found(begin):
    live = begin(SMALL.replace(known_features="given"))
    wait(live, lambda view: bool(view.lanes) and view.lanes[0].last is not None)
    head = decode(deconvolution.update(live.view, Cursors(), Desk(("play",))))[0]
    assert {one for sample in head["lanes"][0]["frames"]["found"][0] for one in sample} == {"given"}
    assert "glyphs found" not in [name for name, _ in head["numbers"]] and "glyphs" not in head["said"][0]


@pytest.mark.parametrize(
    "wrong, counts, told",
    [
        ((16, 18), (0, 0), "none has found any of the 4 glyphs, 16 to 18 of 7\u202f840 pixels wrong (average 17)"),
        (
            (16, 18),
            (0, 1),
            "none has found all 4 glyphs (0 to 1 of them), 16 to 18 of 7\u202f840 pixels wrong (average 17)",
        ),
        (
            (16, 0, 1),
            (4, 4, 2),
            "2 have found all 4 glyphs, 1 explains every given pixel (up to 16 pixels wrong in the others)",
        ),
        ((0, 0), (4, 4), "all have found all 4 glyphs, all explain every given pixel"),
        ((34,), (3,), "3 of the 4 glyphs, 34 of 7\u202f840 pixels wrong"),
        ((1,), (4,), "all 4 glyphs, 1 of 7\u202f840 pixels wrong"),
        ((0,), (4,), "all 4 glyphs, explains every given pixel"),
    ],
)
def test_a_verdict_counts_the_samples_and_mixes_no_two(wrong, counts, told):
    frame, lane = SimpleNamespace(wrong=wrong, sweep=7.0), SimpleNamespace(explained_at=None)
    said = f"{words._glyphs_found(counts, 4)}, {words._pixels_wrong(lane, frame, 7840)}"
    assert said == told


def test_a_knob_that_begins_the_run_anew_is_told_until_a_reset(begin):
    live = begin(SMALL)
    live.step()
    wait(live, lambda view: view.lanes and view.lanes[0].sweep == 1)
    live.set_plan(SMALL.replace(lanes=(PMP.with_knobs({"damping": 0.25}),)))
    wait(live, lambda view: view.marks == ((0, "begun anew, damping 0.25"),))
    head = decode(deconvolution.update(live.view, Cursors(), Desk(("play",))))[0]
    assert head["said"][1].startswith("Begun anew, damping 0.25. ") and head["marks"] == [
        [0, "begun anew, damping 0.25"]
    ]
    live.reset()
    wait(live, lambda view: not view.marks)


def test_a_step_is_one_sweep_and_a_longer_budget_goes_on(begin):
    live = begin(SMALL.replace(budget=3))
    wait(live, lambda view: view.lanes and view.lanes[0].frames)
    for sweep in (1, 2):
        live.step()
        wait(live, lambda view, sweep=sweep: view.lanes[0].sweep == sweep)
    live.play()
    wait(live, lambda view: view.status == "done")
    begun = live.view.begun
    live.set_plan(live.plan.replace(budget=5))
    live.play()
    wait(live, lambda view: view.status == "done" and view.lanes[0].sweep == 5)
    assert live.view.begun == begun


def test_lanes_are_given_equal_seconds(begin):
    live = begin(BESIDE)
    live.play()
    # Where PMP's messages rest the chains go on.
    wait(live, lambda view: len(view.lanes) == 2 and view.lanes[0].sweep > 20)
    live.pause()
    pmp, chain = live.view.lanes
    chunk = max(np.diff([0, *(frame.seconds for frame in lane.frames)]).max() for lane in live.view.lanes)
    assert pmp.rested or abs(chain.seconds - pmp.seconds) <= 2 * chunk
    assert set(np.unique(chain.frames[-1].belief)) <= {0, 255}


def test_what_does_not_fit_is_said_and_another_plan_goes_on(begin):
    live = begin(SMALL.replace(feature_height=12, feature_width=12))
    wait(live, lambda view: view.trouble)
    assert "does not fit into images of 11 x 11" in live.view.trouble
    live.set_plan(SMALL)
    wait(live, lambda view: view.trouble is None and view.lanes and view.lanes[0].frames)


def test_grey_levels_are_symmetric_and_those_of_chains_are_their_states():
    ratio = np.array([-60.0, -16, -4, 0, 4, 16, 30])
    belief = (1 / (1 + np.exp(-ratio))).astype(np.float32)
    levels = grey_levels(belief, "draw")
    assert levels.tolist() == [0, 0, *levels[2:5].tolist(), 255, 255]
    assert levels[3] in (127, 128) and 60 < levels[2] < 80 and 175 < levels[4] < 195
    assert grey_levels(np.array([0.0, 1.0]), "chain").tolist() == [0, 255]


def test_frames_stay_few_and_reach_back_to_the_start(monkeypatch):
    monkeypatch.setattr(deconvolution_lane, "MOST_FRAMES", 20)
    problem = problem_of(SMALL)
    lane = DeconvolutionLane(PMP, SMALL, problem)
    lane.warm()
    counts = []
    for _ in range(60):
        lane.advance(1.0)
        counts.append(len(lane.view().frames))
    frames = lane.view().frames
    assert max(counts) <= 20 and frames[0].number == 0 and frames[-1].number == 60
    assert [frame.number for frame in frames] == sorted(frame.number for frame in frames)


def test_features_are_put_into_the_order_of_the_glyphs():
    problem = problem_of(SMALL)
    assert problem.glyphs is not None
    features = np.zeros((2, 1, 3, 6, 6), np.int8)
    features[0, :, 2, :5, 1:] = problem.glyphs[:, 0]
    features[0, :, 0, 1:, :5] = problem.glyphs[:, 1]
    features[1, :, 1, 1:, 1:] = problem.glyphs[:, 0]
    found = orders(features, problem.glyphs)
    assert found[0] == (2, 0, 1) and found[1][0] == 1
    first, second = found_in(features, problem)
    assert under(first, (0, 1, 2)) == (2, 0, 1) and under(second, (0, 2, 1)) == (1, 0, 2)
    # A feature is told of one glyph alone, the one that it is nearer to: no other one has its number of pixels.
    shared = np.zeros((1, 1, 3, 6, 6), np.int8)
    shared[0, :, 1, :5, :5] = problem.glyphs[:, 0]
    one = [(each.feature, each.mismatches) for each in found_in(shared, problem)[0]]
    assert one[0] == (1, 0) and one[1][0] is None
    twins = dataclasses.replace(problem, glyphs=problem.glyphs[:, [0, 0]].copy())
    twins.glyphs[0, 1][tuple(np.argwhere(twins.glyphs[0, 1])[0])] = 0
    assert [each.feature for each in found_in(shared, twins)[0]] == [1, None]
    # One feature that is nearest to two glyphs stands under the one that it is nearer to.
    near = tuple(Found(1, (0, 0), wrong) for wrong in (2, 0))
    assert under(near, (1, 0, 2)) == (0, 1, 2)
    assert [(each.feature, each.shift, each.mismatches) for each in first] == [(2, (0, 1), 0), (0, (1, 0), 0)]
    assert second[0].mismatches == 0 and second[1].feature is None
    assert orders(features[:1, :, [2, 0, 1]], None) == ((0, 1, 2),)
    # Of two copies of a glyph the one that images are made of stands under it, in its colour.
    features[1, :, 2] = features[1, :, 1]
    for uses, used in (((0, 3, 20), 2), ((0, 3, 2), 1)):
        assert found_in(features, problem, np.array([(1, 1, 1), uses]))[1][0].feature == used


def test_seconds_are_of_sweeps_and_not_of_warming_up(begin, monkeypatch):
    """The curve of a chain began a fifth of a second late on a busy machine, at which others had found all glyphs."""
    # Beside PMP, which has ended, the chain would go on for half a minute.
    monkeypatch.setattr(deconvolution_live, "LEAST_SECONDS", 0.2)
    live = begin(BESIDE.replace(budget=1, images=4))
    wait(live, lambda view: len(view.lanes) == 2 and all(lane.frames for lane in view.lanes))
    assert [lane.frames[0].seconds for lane in live.view.lanes] == [0, 0]
    live.play()
    wait(live, lambda view: view.status == "done")
    assert all(0 < lane.seconds == lane.last.seconds for lane in live.view.lanes)


def test_a_chain_that_has_hardly_begun_is_not_said_to_have_failed():
    """Before its first sweep is over, how little it has done comes first, which a class is shown too."""
    plan = SMALL.replace(lanes=(PMP, GWG), samples=1)
    lanes = [SimpleNamespace(algorithm=each.algorithm, label=each.spec.label, samples=1) for each in plan.lanes]
    problem = problem_of(plan)
    pixels = problem.seen.sum()
    frame = SimpleNamespace(found_counts=(0,), wrong=(912,), sweep=0.0264, seconds=0.2)
    told = words._verdict_of(lanes[1], frame, problem, True)
    assert (
        told
        == f"GWG, only 2.6\u202f% of a sweep as yet: none of the 2 glyphs, 912 of {pixels} pixels wrong.".replace(
            str(pixels), integer(int(pixels))
        )
    )
    frame.sweep = 2.0
    assert words._verdict_of(lanes[1], frame, problem, True).endswith("pixels wrong (after 2 sweeps).")


def test_an_update_carries_new_frames_once_and_all_of_them_after_a_new_mount(begin):
    live = begin(SMALL.replace(budget=6))
    live.play()
    wait(live, lambda view: view.status == "done")
    sent = Cursors()
    first, blobs = decode(deconvolution.update(live.view, sent, Desk(("play",))))
    frames = first["lanes"][0]["frames"]
    assert frames["numbers"] == list(range(7)) and frames["since"] == -1
    shape, samples = first["shape"], first["lanes"][0]["samples"]
    assert len(blobs[frames["belief"]]) == 7 * samples * shape["features"] * shape["rows"] * shape["cols"]
    size = -(-samples * shape["shown"] * shape["height"] * shape["width"] // 8)
    assert len(blobs[frames["pictures"]]) == 7 * size
    assert frames["stamps"] == [len(frame.places) for frame in live.view.lanes[0].frames]
    assert len(blobs[frames["places"]]) == 4 * sum(frames["stamps"])
    assert {trace["id"] for trace in first["traces"]} == {"wrong", "explained", "energy", "residual", "sharpness"}
    sent.clear()
    again, _ = decode(deconvolution.update(live.view, sent, Desk(("play",))))
    assert again["lanes"][0]["frames"]["numbers"] == frames["numbers"]


def test_features_at_the_places_of_a_frame_make_its_images(begin):
    live = begin(SMALL.replace(budget=5))
    live.play()
    wait(live, lambda view: view.status == "done")
    lane, problem = live.view.lanes[0], live.view.problem
    shown = min(problem.shape.images, deconvolution_lane.MOST_SHOWN)
    down, across = problem.shape.locations
    made = np.zeros((2, shown, 11, 11), np.int8)
    for sample, image, feature, row, column in zip(
        *np.unravel_index(lane.last.places, (2, shown, problem.shape.features, down, across)), strict=True
    ):
        made[sample, image, row : row + 5, column : column + 5] |= lane.features[sample, 0, feature]
    bits = np.unpackbits(lane.last.picture)[: made.size]
    np.testing.assert_array_equal(made.ravel(), bits)


def test_numbers_are_told_of_every_lane(begin):
    live = begin(BESIDE.replace(budget=3))
    wait(live, lambda view: len(view.lanes) == 2 and all(lane.frames for lane in view.lanes))
    head = decode(deconvolution.update(live.view, Cursors(), Desk(("play",))))[0]
    names = [name for name, _ in head["numbers"]]
    rows = [dict(zip(names, lane["frames"]["values"][-1], strict=True)) for lane in head["lanes"]]
    wrong = [lane.last.wrong[0] for lane in live.view.lanes]
    assert [int(row["wrong pixels"].replace("\u202f", "")) for row in rows] == wrong
    assert rows[1]["message change"] == "–"
    # Each lane is told of, by its own sweeps: the seconds are the same, and the timeline tells them.
    assert head["said"][0] == words.NOTHING
    # Before a class what the words call a lane stands once beside its name in full.
    large = decode(deconvolution.update(live.view, Cursors(), Desk(("play",), large=True)))[0]
    named = ["Perturb-and-max-product (PMP)", "Gibbs-with-gradients (GWG)"]
    assert [lane["label"] for lane in large["lanes"]] == named
    helps = {trace["id"]: trace.get("help", "") for trace in head["traces"]}
    assert helps["energy"].startswith("Minus log p") and helps["residual"].startswith("Largest change")
    said = " ".join(lane["frames"]["said"][-1] for lane in head["lanes"])
    assert said.startswith("PMP: ") and " GWG: none of 2, " in said
    assert said.count("glyphs") == said.count("pixels") == 1
    assert head["whose"] == "PMP", "the speed's sweeps, which GWG is only given the seconds of"
    alone = begin(SMALL.replace(budget=3))
    wait(alone, lambda view: view.lanes)
    assert decode(deconvolution.update(alone.view, Cursors(), Desk(("play",))))[0]["whose"] == ""
    live.step()
    wait(live, lambda view: view.lanes[0].sweep >= 1)
    assert "; PMP makes " in words.computing(live.view, "cpu"), "whose pace it is"


def test_one_thing_is_said_before_the_first_picture():
    lane = SimpleNamespace(last=None, frames=())
    view = SimpleNamespace(problem=object(), lanes=(lane,), trouble=None)
    assert words.verdict(view) == "Getting ready: press Play, and it begins as soon as it is compiled."
    assert deconvolution._status(view, lane) == ""
    view.lanes = (SimpleNamespace(last=object()), lane)
    assert deconvolution._status(view, lane) == "compiling …", "what another lane has begun does not tell of it"


def test_words_say_what_was_reached(begin):
    live = begin(SMALL.replace(known_images="half hidden", known_features="given", budget=5))
    live.play()
    wait(live, lambda view: view.status == "done")
    said = words.verdict(live.view)
    problem = live.view.problem
    empty = integer(int(problem.images[~problem.seen].sum()))
    assert f"hidden pixels filled in wrongly, {empty} if left empty" in said and "glyphs" not in said
    names = [name for name, _ in words.numbers(live.view)]
    # What is counted of the given pixels alone says so, where others are hidden.
    assert {"given, wrong", "hidden, wrong"} <= set(names) and "wrong pixels" not in names
    assert re.search(r"\d unknown of [\d\u202f]+ binary variables;", words.computing(live.view, "cpu"))
    files = {file.name: file.make().decode() for file in _files(live.view) if file.name.endswith((".csv", ".json"))}
    assert json.loads(files["settings.json"])["known_images"] == "half hidden"
    head, *rows = csv.reader(files["traces.csv"].splitlines())
    last = dict(zip(head, rows[-1], strict=True))
    frame = live.view.lanes[0].last
    assert float(last["sweep"]) == frame.sweep and float(last["wrong:low"]) == min(frame.wrong)
    assert float(last["hidden_wrong:high"]) == max(frame.hidden_wrong)
    picture = deconvolution.features_image(live.view.lanes[0].features[0], live.view.problem, unit=4)
    assert picture.size == (2 * 20 + 1, 20)


def test_the_export_is_of_its_moment_and_has_what_the_command_line_has(begin):
    live = begin(SMALL.replace(budget=3))
    live.play()
    wait(live, lambda view: view.status == "done")
    asked = live.view
    files = {file.name: file.make for file in _files(asked)}
    live.set_plan(SMALL.replace(budget=5))
    live.play()
    wait(live, lambda view: view.lanes[0].sweep == 5)
    assert [row.split(",")[3] for row in files["traces.csv"]().decode().splitlines()[1:]] == ["0", "1", "2", "3"]
    run = posterior.begin(PMP.build(), asked.problem.target, SMALL.seed, SMALL.samples)
    _, shown = posterior.advance(run, 3 * run.quanta)
    with np.load(io.BytesIO(files["samples1.npz"]())) as file:
        assert sorted(file) == ["belief", "features", "locations"]
        for name in file:
            np.testing.assert_array_equal(file[name], getattr(shown, name))


def test_frames_keep_their_times_and_early_ones_are_never_thinned():
    kept = [frame_at(k) for k in range(400)]
    for k in range(400, 4000):
        kept.append(frame_at(k))
        del kept[superfluous(kept)]
    sweeps = [frame.sweep for frame in kept]
    assert sweeps[:20] == list(range(20)) and sweeps[-1] == 3999 and sweeps == sorted(set(sweeps))
    assert all(frame.seconds == frame.sweep / 8 for frame in kept)


def test_a_curve_reaches_zero_when_the_verdict_says_so_however_long_a_chain_goes_on(begin):
    live = begin(BESIDE)
    wait(live, lambda view: view.lanes and view.lanes[1].frames)
    chain = live.view.lanes[1]
    for k in range(1, 5000):
        frame = dataclasses.replace(frame_at(k), wrong=(0 if k > 2 else 900,))
        chain.series.append({name: np.array([value]) for name, value in measures(frame).items()})
    head, blobs = decode(deconvolution.update(live.view, Cursors(), Desk(("play",))))
    line = next(card for card in head["traces"] if card["id"] == "wrong")["lines"][1]
    seconds, wrong = (np.frombuffer(blobs[line[name]], np.float32) for name in ("seconds", "y"))
    assert len(seconds) <= 480 and seconds[0] == 0
    assert seconds[np.flatnonzero(wrong == 0)[0]] == frame_at(3).seconds


def frame_at(k: int) -> Frame:
    none = np.zeros(0, np.uint8)
    return Frame(k, float(k), k / 8, none, none, np.zeros(0, np.int32), (0,), (0,), (0.0,), 0.0, (0,), 0.0)


def test_the_first_time_is_told_and_does_not_creep(begin):
    live = begin(SMALL.replace(known_features="given"))
    live.play()
    wait(live, lambda view: view.lanes and view.lanes[0].explained_at is not None)
    first = live.view.lanes[0].explained_at
    frame = next(frame for frame in live.view.lanes[0].frames if min(frame.wrong) == 0)
    assert first == (frame.sweep, frame.seconds)
    before = live.view.lanes[0].sweep
    live.step()
    wait(live, lambda view: view.lanes[0].sweep > before or view.lanes[0].rested)
    assert live.view.lanes[0].explained_at == first
    assert f"first did at sweep {first[0]:g}, " in words.verdict(live.view)


# Last, since what was compiled otherwise is given up.
@pytest.mark.as_shipped
def test_reset_repeats_every_sweep_and_a_seed_another_one(begin):
    live = begin(SMALL.replace(budget=4))
    beliefs = []
    for _ in range(2):
        live.play()
        wait(live, lambda view: view.status == "done")
        beliefs.append([frame.belief for frame in live.view.lanes[0].frames])
        live.reset()
        wait(live, lambda view: view.lanes and view.lanes[0].sweep == 0)
    np.testing.assert_array_equal(*beliefs)
    live.set_plan(live.plan.replace(seed=1))
    live.play()
    wait(live, lambda view: view.plan.seed == 1 and view.status == "done")
    assert (np.array([frame.belief for frame in live.view.lanes[0].frames]) != beliefs[0]).any()

"""What is sent of a walk: its steps, frames, corners and curves, and those of a moment that is looked back at."""

import colorsys
import json
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from pmpviz.capabilities.marginals import page, polytope, traces, verdict
from pmpviz.capabilities.marginals.moments import lane_at, last_steps, seen_at
from pmpviz.capabilities.marginals.picture import update
from pmpviz.capabilities.marginals.words import error, estimate
from pmpviz.marginals.belief_propagation import UNSETTLED
from pmpviz.player.numbers import significant
from pmpviz.player.style import lightness_of
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode
from tests.unit.walked import moved, view_of


def test_a_lane_at_a_step_is_as_it_was_when_that_was_its_last():
    whole = view_of("triangle")
    for step in (1, 3, 8):
        then, (was,) = lane_at(whole.lanes[0], step), view_of("triangle", step).lanes
        np.testing.assert_array_equal(then.answer.unary, was.answer.unary)
        np.testing.assert_array_equal(then.weights, was.weights)
        np.testing.assert_array_equal(then.rho, was.rho)
        np.testing.assert_array_equal(then.path, was.path)
        assert (then.count, then.names, then.done) == (was.count, was.names, was.done)
        assert (then.answer.bound, then.answer.lower) == (was.answer.bound, was.answer.lower)
        assert error(whole, then) == error(whole, was)
    assert lane_at(whole.lanes[0], 0).trace == () and error(whole, lane_at(whole.lanes[0], 0)) is not None


def test_a_bound_is_known_at_every_step_after_the_one_that_found_it():
    view = view_of("rbm")
    lane = view.lanes[1]
    blank = [step for step in range(1, lane.count + 1) if lane.trace[step - 1].get("best_bound") is None]
    assert len(blank) > 10  # Messages work their bound out now and then.
    head, blobs = decode(update(view, Cursors(), Desk(), ""))
    high = np.frombuffer(blobs[head["walk"]["lanes"][1]["high"]], "<f4")
    assert np.isnan(high[0]) and np.isfinite(high[1:]).all()
    # A step that is not kept has it, too.
    then = lane_at(replace(lane, kept={}), blank[0])
    assert then.answer.bound == pytest.approx(high[blank[0]])


def test_of_a_step_that_is_not_kept_no_marginals_are_told(monkeypatch):
    from pmpviz.capabilities.marginals import lane as lanes

    monkeypatch.setattr(lanes, "MOST_KEPT", 320)
    view = view_of.__wrapped__("triangle", 12)
    assert error(view, lane_at(view.lanes[0], 2)) is None and error(view, lane_at(view.lanes[0], 12)) is not None
    assert verdict.said(seen_at(view, 2))[0].startswith("The average of 2 configurations, after 2 MAP calls, is ")


def test_words_are_sent_of_the_last_steps_and_of_the_one_that_is_looked_back_at():
    view = view_of("grid")
    count = view.lanes[0].count
    assert last_steps(view, None)[-1] == count and 3 not in last_steps(view, None)
    assert 3 in last_steps(view, 3) and last_steps(view, 10_000)[-1] == count


def test_no_frame_is_sent_of_a_step_that_the_view_does_not_know():
    """The ring is the lane's own, and goes on while an update is made."""
    whole = view_of("triangle")
    past = replace(whole, lanes=(lane_at(whole.lanes[0], 7),))
    for view, last in ((whole, whole.lanes[0].count), (past, 7)):
        sent = decode(update(view, Cursors(), Desk(), ""))[0]["lanes"][0]["frames"]["sweeps"]
        assert sent == list(range(last + 1))


def test_corners_are_sent_with_the_weights_of_the_last_steps():
    """The picture may be a few steps behind, and its circles are of its own mixture."""
    view = view_of("triangle")
    (lane,) = view.lanes
    head, blobs = decode(update(view, Cursors(), Desk(), ""))
    found = {step: np.frombuffer(blobs[at], "<f4") for step, at in head["walk"]["lanes"][0]["weighed"]}
    assert list(found) == list(range(1, lane.count))
    for step, weights in found.items():
        np.testing.assert_allclose(weights, lane.kept[step].weights, rtol=1e-6)
    assert len(found[2]) < len(lane.weights)


def test_many_walks_differ_in_hue_and_in_grey():
    lanes = decode(update(view_of("stall"), Cursors(), Desk(), ""))[0]["lanes"]
    light = sorted(lightness_of(lane["colour"]) for lane in lanes)
    assert min(np.diff(light)) > 8 and len({lane["dash"] for lane in lanes}) == 3
    hues = sorted(colorsys.rgb_to_hls(*bytes.fromhex(lane["colour"][1:]))[0] for lane in lanes)
    assert min(np.diff(hues)) > 0.05


def test_an_estimate_by_messages_is_told_to_be_none_and_never_stands_above_its_bound():
    view = seen_at(view_of("rbm"), 1)
    messages = view.lanes[1]
    assert messages.trace[-1]["objective"] > messages.answer.bound
    assert estimate(messages) == messages.answer.bound
    cards = {card["id"]: card for card in decode(update(view, Cursors(), Desk(), ""))[0]["traces"]}
    assert cards["log_z"]["note"] == "TRBP: an estimate, above its own bound at first."


@pytest.mark.parametrize(
    ("name", "first"), [("triangle", "axes"), ("edge", "error"), ("grid", "error"), ("cube", "gap")]
)
def test_the_one_curve_before_a_class_is_how_near_the_marginals_of_a_walk_are(name, first):
    whole, _ = decode(update(view_of(name, 4), Cursors(), Desk(), ""))
    large, blobs = decode(update(view_of(name, 4), Cursors(), Desk(large=True), ""))
    ids = [[card["id"] for card in found["traces"]] for found in (whole, large)]
    assert ids[0][:2] == ["error" if name == "grid" else "gap", "log_z"]
    assert ids[1][0] == first and sorted(ids[0]) == sorted(ids[1])
    if first == "axes":  # As far off as the verdict says.
        card, off = large["traces"][0], re.search(r" is ([\d.]+) off exact correlations", large["said"][0])
        last = np.frombuffer(blobs[card["lines"][0]["y"]], "<f4")[-1]
        assert card["title"] == "Mean error of correlations" and f"{last:.2g}" == f"{float(off[1]):.2g}"
    pairs = "marginals of pairs" if name in ("triangle", "cube") else "marginals"
    assert whole["walk"]["means"] == pairs


def test_a_lane_that_goes_on_for_long_gives_all_an_axis_on_which_the_others_are_seen():
    view = view_of("clique")
    walk, messages, _ = view.lanes
    stopped = replace(messages, reason=f"{UNSETTLED} by 0.1 after {messages.count} sweeps")
    for count, log in ((10 * walk.count, True), (9 * walk.count, False)):
        long = SimpleNamespace(lanes=[walk, SimpleNamespace(count=count, trace=messages.trace)])
        assert traces._far_apart(long) == log and not traces._far_apart(SimpleNamespace(lanes=long.lanes[1:]))
    found = decode(update(replace(view, lanes=(walk, stopped, *view.lanes[2:])), Cursors(), Desk(), ""))[0]
    assert {card["xlog"] for card in found["traces"]} == {False}
    assert ["not settled" in lane["sub"] for lane in found["lanes"]] == [False, True, False]


def test_corners_have_the_weights_of_the_step_that_is_looked_back_at():
    view = view_of("edge")
    head, blobs = decode(update(view, Cursors(), Desk(at=1), ""))
    weighed = dict(head["walk"]["lanes"][0]["weighed"])
    kept = view.lanes[0].kept[1].weights
    np.testing.assert_allclose(np.frombuffer(blobs[weighed[1]], np.float32), kept, rtol=1e-6)


def test_a_scene_that_is_looked_back_at_has_its_answer_at_every_step():
    whole = view_of("segmentation", 16)
    assert all(sorted(lane.kept) == list(range(1, 17)) for lane in whole.lanes)
    then, was = seen_at(whole, 2), view_of("segmentation", 2)
    assert verdict.said(then) == verdict.said(was)
    for back, lane in zip(then.lanes, was.lanes, strict=True):
        np.testing.assert_allclose(back.p1, lane.p1, atol=0.002)
        assert was.segmented.error(back.p1) == was.segmented.error(lane.p1)


def test_the_curve_of_errors_is_that_of_the_words_and_of_a_walk_that_is_not_seen_whole_comes_first():
    for name, place in (("grid", 0), ("triangle", 4), ("clique", 1)):
        view = view_of(name)
        head, blobs = decode(update(view, Cursors(), Desk(), ""))
        cards = {card["id"]: card for card in head["traces"]}
        assert list(cards).index("error") == place
        for lane, line in zip(view.lanes, cards["error"]["lines"], strict=True):
            y = np.frombuffer(blobs[line["y"]], np.float32)
            assert y[-1] == pytest.approx(error(view, lane), rel=1e-5) and len(y) == lane.count + 1
            assert y[0] == pytest.approx(np.abs(0.5 - view.truth.solution.p1).mean(), rel=1e-5)


def test_an_export_has_the_objective_of_the_page_and_that_of_the_best_bound():
    view = view_of("grid")
    model, file = page._files(view)
    told = json.loads(file.make())
    assert told["objective"] == view.lanes[0].objective and told["log_z"] == view.lanes[0].answer.log_z
    assert told["objective"] != told["log_z"] and "`objective` is the page's" in file.help
    assert model.name == "model.npz"
    assert all("objective" not in json.loads(file.make()) for file in page._files(view_of("error-bars", 2))[1:])


def test_what_stands_beneath_a_picture_is_sent_of_the_steps_that_words_are_sent_of():
    view = view_of("stall")
    sent = decode(update(view, Cursors(), Desk(), ""))[0]
    for lane, each in zip(view.lanes, sent["lanes"], strict=True):
        subs = dict(each["subs"])
        assert list(subs) == [step for step, _ in sent["said_at"] if step <= lane.count]
        assert all(said.startswith(f"at MAP call {step}: ") for step, said in subs.items())


def test_changes_of_rho_are_shown_and_on_a_tree_there_are_none():
    for view, changes in ((view_of("edge"), False), (moved(), True)):
        sent = decode(update(view, Cursors(), Desk(), ""))[0]
        shown = bool(sent["walk"]["lanes"][0]["changes"])
        # Without one there is none to run to either.
        assert shown is sent["reweighs"] is changes is ("ρ has changed" in verdict.said(view)[1])


def test_a_direction_in_which_little_happens_is_not_blown_up():
    """The exact place stood at the top of its box before the first estimate, and near the bottom after it."""
    far = SimpleNamespace(local=None, marginal=None, maxima=np.array([[6.0, 5.0, 0.0]]))
    truth = SimpleNamespace(place=np.array([3.7, 2.6, 0.006]))

    def height(path):
        view = SimpleNamespace(projection=far, truth=truth, lanes=[SimpleNamespace(path=path, corners=path)])
        (_, _, low), (_, _, high) = polytope._box(view, np.zeros(3))
        return (truth.place[2] - low) / (high - low)

    before, after = height(np.zeros((1, 3))), height(np.array([[0.0, 0.0, 0.0], [3.7, 2.6, 0.043]]))
    assert abs(after - before) < 0.05
    flat = SimpleNamespace(projection=SimpleNamespace(local=None, marginal=None, maxima=None), truth=None, lanes=[])
    assert polytope._box(flat, np.zeros(3)) == [[-0.5] * 3, [0.5] * 3]


def test_messages_say_by_how_much_they_change_and_when_they_are_at_rest():
    view = view_of("clique")
    walk, messages = view.lanes[:2]
    ends = []
    for lane in (replace(messages, reason=""), replace(messages, reason="the messages have stopped changing")):
        sent = decode(update(replace(view, lanes=(walk, lane, *view.lanes[2:])), Cursors(), Desk(), ""))[0]["lanes"]
        ends.append([each["sub"].split(" · ")[-1] for each in sent])
    change = significant(messages.trace[-1]["residual"], 2)
    assert [of_messages for _, of_messages, _ in ends] == [f"messages change by {change}", "messages at rest"]
    assert "messages" not in ends[0][0]


def test_a_method_that_finds_no_configuration_shows_its_marginals_in_their_place():
    sent, blobs = decode(update(view_of("clique"), Cursors(), Desk(), "configuration found"))
    walk, *messages = sent["lanes"]
    assert walk["layer"] is None
    for lane, shown in zip(messages, view_of("clique").lanes[1:], strict=True):
        assert lane["layer"]["name"] == "p(xᵢ = 1)" and lane["layer"]["plain"]
        assert np.frombuffer(blobs[lane["layer"]["values"]], "<f4") == pytest.approx(shown.p1, abs=1e-6)

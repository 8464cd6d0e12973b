"""The Segmentation page without a browser: its preset opens and learns, rates change in mid-run, links hold it."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from opened import WAIT_SECONDS, open_page, own_run, run, update  # noqa: F401

from pmpviz.capabilities.segmentation import picture
from pmpviz.capabilities.segmentation.lane import Point, SceneLane, colour_alone
from pmpviz.capabilities.segmentation.live import LiveScenes, SceneView
from pmpviz.capabilities.segmentation.page import as_object
from pmpviz.capabilities.segmentation.plan import ScenePlan, expectation
from pmpviz.capabilities.segmentation.presets import SEGMENTATION
from pmpviz.live.link import from_query, to_query
from pmpviz.metrics.boundaries import band, band_error
from pmpviz.player.update import Cursors, Desk
from pmpviz.player.wire import decode

SMALL = ScenePlan(height=10, width=12, scenes=2, chains=16, budget=3)
BY_COLOUR = colour_alone(10, 12, SMALL.noise, SMALL.held_out)
ALONE = BY_COLOUR.wrong


@pytest.mark.parametrize("preset", SEGMENTATION, ids=lambda preset: preset.id)
def test_a_preset_opens_and_learns(preset):
    test = open_page("segmentation", {"preset": preset.id})
    until = time.monotonic() + WAIT_SECONDS
    found = update(test)
    while len([lane for lane in found["lanes"] if "weights" in lane["sub"]]) < 2:
        assert time.monotonic() < until, "nothing was learned"
        time.sleep(0.2)
        found = update(run(test))
    assert any(each.value.startswith(f"#### {preset.question}\n\n") for each in test.markdown)
    assert [lane["algorithm"] for lane in found["lanes"]] == ["barrier_frank_wolfe", "colour_gibbs"]
    assert {trace["id"] for trace in found["traces"]} >= {"held", "map", "likelier", "trust", "contrast", "own"}
    assert not found["trouble"] and "wrong near outlines" in found["announce"]
    # A curve of every lane is seen first; why the other has one alone is said beside it.
    held, own = (next(each for each in found["traces"] if each["id"] == id) for id in ("held", "own"))
    assert (
        [each["id"] for each in found["traces"][:2]] == ["likelier", "held"]
        and len(held["lines"]) == 2
        and len(own["lines"]) == 1
    )
    assert own["unit"] == "nats a pixel, of those that bound it"
    assert len({lane["sweep"] for lane in found["lanes"]}) == 1
    assert from_query(to_query(preset.plan), SMALL) == (preset.plan, [])


@pytest.mark.parametrize(("trust", "wrong"), [(1.0, ALONE), (0.0, None)])
def test_before_learning_the_picture_is_that_of_the_weights_at_the_start(trust, wrong):
    plan = SMALL.replace(trust=trust)
    train, held = plan.examples()
    p1 = SceneLane(plan.lanes[0], plan, train, held, 0).p1[-plan.height :]
    places = [slice(k * (plan.width + 1), k * (plan.width + 1) + plan.width) for k in range(plan.scenes)]
    truths = [each.x.reshape(plan.height, plan.width) > 0 for each in held]
    errors = [band_error(p1[:, place] > 0.5, truth) for place, truth in zip(places, truths, strict=True)]
    assert np.mean(errors) == wrong if trust else (p1 == 0.5).all()


@pytest.mark.parametrize("name", ["barrier_frank_wolfe", "trbp", "bp", "gibbs"])
def test_a_lane_learns_goes_on_under_another_rate_and_says_what_it_is_worth(name):
    plan = SMALL.replace(lanes=(expectation(name),))
    lane = SceneLane(plan.lanes[0], plan, *plan.examples(), 0)
    for _ in range(3):
        lane.advance()
    before = lane.training.theta
    lane.change(plan.lanes[0], plan.replace(learning_rate=0.2))
    lane.advance()
    assert np.abs(lane.training.theta - before).max() > 0.1
    others = {"trbp": {"damping": 0.9}, "barrier_frank_wolfe": {"oracle": "qpbo"}}.get(name, {})
    lane.change(expectation(name, **others), plan)
    lane.advance()
    if name == "barrier_frank_wolfe":
        assert lane.training.expected[0].state.oracle.spec.id == "qpbo"
    lane.reveal()
    view = lane.view("", False)
    assert [point.iteration for point in view.points] == [0, 1, 2, 3, 4, 5]
    assert view.points[-1].held_bound > view.points[0].held_bound
    assert all(0 <= point.wrong_map <= 1 and 0 <= point.wrong_likelier <= 1 for point in view.points)
    assert all((point.own_bound is not None) == (name in ("barrier_frank_wolfe", "trbp")) for point in view.points)
    assert view.p1.shape == (21, 25) and 0 <= view.p1.min() <= view.p1.max() <= 1


def play_to_its_end(job: LiveScenes) -> None:
    job.play()
    until = time.monotonic() + WAIT_SECONDS
    while job.view.status != "done":
        assert time.monotonic() < until
        job.touch()
        time.sleep(0.05)


def test_a_change_holds_from_the_same_iteration_on_in_every_lane_and_from_that_one():
    """It is made while one lane is an iteration ahead of the other: both learn to there by the old rate."""
    plan = SMALL.replace(lanes=(expectation("trbp"), expectation("bp")))
    changed = plan.replace(learning_rate=1e-4)
    job = LiveScenes(plan)
    try:
        job.ask(lambda run: None, WAIT_SECONDS)
        until = time.monotonic() + WAIT_SECONDS
        while len(job.ask(lambda run: run.lanes, WAIT_SECONDS)) < 2:
            assert time.monotonic() < until
            job.touch()

        def by_turns(run: LiveScenes) -> list[int]:
            first, second = run.lanes
            run._advance(first, 1)
            run._adopt(changed)
            run._advance(second, 1)
            run._advance(first, 1)
            run._advance(second, 1)
            run.publish()
            return [lane.count for lane in run.lanes]

        assert job.ask(by_turns, WAIT_SECONDS) == [2, 2]
        view = job.view
        # The end, so many iterations after the change, is that of all lanes, too: else one would wait for another.
        assert view.end == 1 + plan.budget == 4
        beneath = decode(picture.update(view, Cursors(), Desk()))[0]["said"][1]
        assert beneath.startswith("It goes on to iteration 4. ")
        play_to_its_end(job)
        assert [lane.count for lane in job.view.lanes] == [4, 4]
        head = decode(picture.update(job.view, Cursors(), Desk()))[0]
        assert head["again"] and "It goes on" not in " ".join(head["said"])

        # An end that is set before where one lane is, and another is not yet, leaves nobody behind.
        def ahead(run: LiveScenes) -> None:
            run._adopt(changed.replace(budget=9))
            run._advance(run.lanes[0], 1)
            run._adopt(changed.replace(budget=1))
            run.publish()

        job.ask(ahead, WAIT_SECONDS)
        assert job.view.status != "done"
        assert "It goes on" not in " ".join(decode(picture.update(job.view, Cursors(), Desk()))[0]["said"])
        play_to_its_end(job)
        assert [lane.count for lane in job.view.lanes] == [5, 5]
    finally:
        job.close()
    assert [at for at, _ in view.marks] == [1]
    for lane in view.lanes:
        start, one, two = (point.theta for point in lane.points)
        assert np.abs(one - start).max() > 1e-2 and 0 < np.abs(two - one).max() <= 1.1e-4


def test_a_job_stops_at_its_budget_and_what_leaves_the_page_are_its_numbers():
    job = LiveScenes(SMALL)
    try:
        job.play()
        until = time.monotonic() + WAIT_SECONDS
        while not (job.view.lanes and all(lane.done for lane in job.view.lanes)):
            seen = job.view.lanes
            assert len({lane.count for lane in seen}) < 2
            assert time.monotonic() < until and job.view.trouble is None
            job.touch()
            time.sleep(0.05)
        told = as_object(job.view)
    finally:
        job.close()
    assert [each["iteration"] for each in told["lanes"][0]["iterations"]] == [0, 1, 2, 3]
    assert set(told["lanes"][0]["iterations"][0]["weights"]) == {"trust", "bias", "edge", "contrast"}
    assert ScenePlan.from_dict(told["plan"]).to_dict() == SMALL.to_dict()


def test_what_is_seen_and_what_was_drawn_lie_as_the_lanes_pictures_do():
    view, sent = SceneView(run=0, plan=SMALL), Cursors()
    found, payload = decode(picture.update(view, sent, Desk()))
    scenes = found["scenes"]
    assert (scenes["rows"], scenes["cols"]) == (21, 25)
    seen, alone, drawn = (np.frombuffer(payload[scenes[name]], np.uint8) for name in ("seen", "alone", "drawn"))
    seen, alone, drawn = seen.reshape(21, 25, 3), alone.reshape(21, 25), drawn.reshape(21, 25)
    held_out = []
    for k, scene in enumerate(SMALL.drawn()):
        at = (slice(11 * (k // 2), 11 * (k // 2) + 10), slice(13 * (k % 2), 13 * (k % 2) + 12))
        assert np.array_equal(drawn[at], scene.mask)
        assert np.abs(seen[at] / 255.0 - np.clip(scene.colours, 0, 1)).max() < 0.01
        if k >= SMALL.scenes:
            held_out.append(band_error(alone[at] > 0, scene.mask))
    # What the verdict compares with is what is seen.
    by_colour = colour_alone(SMALL.height, SMALL.width, SMALL.noise, SMALL.held_out)
    assert np.mean(held_out) == pytest.approx(by_colour.wrong)
    assert set(drawn[10]) == {2}


def point(iteration, wrong_map, wrong_likelier, held_bound=-0.5, theta=(0.4, -0.2, 0.3, 0.1)):
    # Every scene differs by as much from colour alone: by no chance.
    each = tuple(wrong + wrong_likelier - ALONE for wrong in BY_COLOUR.each)
    known = held_bound, wrong_map, wrong_likelier, 2.0 * iteration, each
    return Point(iteration, np.array(theta), 1.0, None, *known)


def said(*lanes, plan=SMALL):
    lanes = [SimpleNamespace(label=name, points=points, count=points[-1].iteration) for name, *points in lanes]
    view = SimpleNamespace(lanes=lanes, plan=plan, status="", playing=False)
    return " ".join([picture.verdict(view), *picture.numbers(view)])


def test_numbers_value_and_curve_are_of_one_moment_of_each_lane():
    lane = SceneLane(SMALL.lanes[0], SMALL, *SMALL.examples(), 0)
    lane.advance()
    assert not lane.view("TRBP", False).points and lane.ring.since(-1, 9).sweeps.tolist() == [0]
    lane.reveal()
    view = lane.view("TRBP", False)
    assert view.count == view.points[-1].iteration == 1 and np.array_equal(view.theta, view.points[-1].theta)
    assert np.abs(view.theta).max() > 0 and lane.ring.since(-1, 9).sweeps.tolist() == [0, 1]
    # What is learned after the view was taken is none of its update, whose words and layer are of the view.
    taken = SceneView(run=0, plan=SMALL, lanes=(view,))
    lane.advance()
    lane.reveal()
    found, _ = decode(picture.update(taken, Cursors(), Desk()))
    assert found["lanes"][0]["frames"]["sweeps"] == [0, 1] and lane.ring.since(-1, 9).sweeps.tolist() == [0, 1, 2]
    words = said(("A", point(0, 0.5, 0.5), point(1, 0.3, 0.25)))
    wrong, alone = "wrong near outlines", f"colour alone {ALONE:.1%}"
    assert words.startswith(f"Not yet: after 1 iteration 25.0% {wrong}, {alone}. Fewer than by colour alone by ")
    assert " Computing took 2.00 s, compiling included. " in words
    near = "Near: within 3 pixels of the true outline, "
    assert f"The single likeliest configuration (MAP) has 30.0% wrong there. {near}" in words
    many = sum(int(band(each.mask).sum()) for each in SMALL.drawn()[SMALL.scenes :])
    assert words.endswith(f"{near}{many} pixels in the {SMALL.scenes} held-out scenes.")
    begun = [point(0, 0.5, 0.5, -0.7), point(1, 0.3, 0.25, -0.5)]
    ahead = said(("A", *begun, point(2, 0.2, 0.1, -0.2)), ("B", begun[0], point(1, 0.4, 0.35, -0.6)))
    assert ahead.startswith(f"Not yet: after 1 iteration 25.0% by A and 35.0% by B {wrong}, {alone}. ")
    assert f"Before learning: every pixel undecided, p = 0.5. By colour alone {ALONE:.1%} {wrong}." in said(
        ("A", point(0, 0.5, 0.5))
    )
    trusted = said(("A", point(0, 0.5, ALONE)), plan=SMALL.replace(trust=1.0))
    start = f"Before learning: each pixel by its colour alone. By colour alone {ALONE:.1%} {wrong}."
    assert trusted.startswith(f"{start} {near}")
    good, bad = point(1, 0.1, ALONE / 2), point(1, 0.4, 2 * ALONE)
    for lanes, begins in (
        ((good,), "Yes for both held out: "),
        ((good, good), "Yes for both held out: "),
        ((good, bad), "Yes in 2 of 2 by A and in 0 of 2 by B, held out: "),
        ((bad,), "Not yet: "),
    ):
        told = said(*((name, begun[0], each) for name, each in zip("AB", lanes, strict=False)))
        assert told.startswith(f"{begins}after 1 iteration ")


def test_by_colour_alone_a_pixel_is_what_its_colour_is_likelier_to_come_from():
    _, held = SMALL.examples()
    shape = SMALL.height, SMALL.width
    trusted = [each.shared.potentials(np.array([1.0, 0.0, 0.0, 0.0])) for each in held]
    called = [np.array([row[1] > row[0] for row in each.unary]).reshape(shape) for each in trusted]
    wrong = [band_error(found, each.x.reshape(shape) > 0) for found, each in zip(called, held, strict=True)]
    assert ALONE == pytest.approx(np.mean(wrong)) and 0 < ALONE < 0.5


def test_what_is_below_zero_is_called_a_log_likelihood_and_whose_bound_it_is():
    lane = SceneLane(SMALL.lanes[0], SMALL, *SMALL.examples(), 0)
    lane.advance()
    lane.reveal()
    view = SceneView(run=0, plan=SMALL, lanes=(lane.view("TRBP", False),))
    cards = {card["id"]: card for card in decode(picture.update(view, Cursors(), Desk()))[0]["traces"]}
    assert lane.view("TRBP", False).points[-1].held_bound < 0
    assert cards["held"]["title"] == "Held out: log-likelihood, at least" and "TRBP" in cards["held"]["help"]
    assert cards.get("own", cards["held"])["title"].endswith(": log-likelihood, at least")


def test_before_the_first_run_play_is_asked_for():
    lanes = [SimpleNamespace(label="A", points=(), count=0)]
    asked = SimpleNamespace(lanes=lanes, plan=SMALL, status="", playing=False)
    assert picture.verdict(asked).endswith("press Play.")
    # While it plays, which after a reset it does, nothing is asked for that is done already.
    asked.playing = True
    assert picture.verdict(asked).endswith("the first iteration is compiled, some seconds.")


def test_before_there_is_a_picture_the_page_says_that_it_loads_and_compiles():
    assert picture.verdict(SceneView(run=0, plan=SMALL)).startswith("Loading: scenes are drawn, and what has not run ")


def test_what_gets_worse_is_said_with_its_best_moment():
    course = [point(0, 0.5, 0.5, -0.7), point(1, 0.4, 0.196, -0.5), point(2, 0.3, 0.239, -0.56)]
    words = said(("A", *course))
    fewest = f" Fewest were wrong after 1: {picture.RAISED}."
    assert "of the training scenes" in picture.RAISED
    assert f"{fewest} " in words and ". The held-out bound was higher before: A at " in words
    # What the training scenes' own likelihood has done since then is told where it is known.
    for own, reason in (((-0.6, -0.5, -0.4), picture.ROSE), ((-0.6, -0.3, -0.4), picture.FELL)):
        known = [replace(each, own_bound=bound) for each, bound in zip(course, own, strict=True)]
        assert f" Fewest were wrong after 1: {reason}." in said(("A", *known))
    # Nearly the fewest need no reason.
    again = [*course, point(3, 0.3, 0.22, -0.5)]
    assert fewest in said(("A", *again)) and "Fewest" not in said(("A", *course, point(3, 0.3, 0.197, -0.5)))
    both = "Fewest were wrong after 1 (A) and before learning (B): "
    assert both in said(("A", *again), ("B", *(point(k, 0.3, 0.1 + 0.01 * k) for k in range(4))))
    assert "higher before" not in said(("A", *course[:2])) and picture.RAISED not in said(("A", *course[:2]))


def test_in_how_many_scenes_fewer_pixels_are_wrong_is_said_first_and_beneath_what_so_few_leave_open():
    """Student's range of the differences between scenes, by hand: two scenes, 12.706 standard errors."""
    plan, count = SMALL, "Fewer than by colour alone by "
    heads = (
        "Yes for both held out: ",
        "Yes for both held out: ",
        "Yes in 1 of 2 held out: ",
        "Not yet: ",
    )
    for head, offs in zip(heads, ((0.02, 0.022), (0.01, 0.03), (0.02, -0.01), (-0.01, -0.01)), strict=True):
        each = tuple(wrong - off for wrong, off in zip(BY_COLOUR.each, offs, strict=True))
        now = replace(point(1, 0.1, float(np.mean(each))), wrong_each=each)
        words = said(("A", point(0, 0.5, 0.5), now), plan=plan)
        mean, width = np.mean(offs), 12.7062 * np.std(offs, ddof=1) / np.sqrt(2)
        open_still = "" if mean > width else ": so few leave open how it is with others"
        assert words.startswith(f"{head}after 1 iteration ")
        told = f"{100 * mean:.1f} ± {100 * width:.1f}".replace("-", "−")
        assert f"{count}{told} percentage points (95 % range, as scenes differ{open_still})." in words


def test_of_lanes_that_are_as_good_the_faster_one_is_told_and_a_class_hears_it():
    def course(wrong: float, seconds: Sequence[float]) -> list[Point]:
        return [replace(point(k, 0.1, wrong), seconds=took) for k, took in enumerate(seconds)]

    # Of the first iteration programs are compiled, which says nothing of the others.
    quick, slow = course(0.1, (0, 9, 10, 11)), course(0.104, (0, 9, 19, 29))
    words = said(("Barrier Frank-Wolfe", *slow), ("Colour-parallel Gibbs", *quick))
    told = " Within ½ point: Colour-parallel Gibbs takes 1.0 s an iteration, Barrier Frank-Wolfe 10 s."
    assert told in words
    brief = re.sub(r" \([^()]*\)", "", words)
    assert len(brief[: brief.index("10 s.") + 5]) < 190
    # Once is enough.
    assert "An iteration takes" not in words
    apart = said(("A", *slow), ("B", *course(0.2, (0, 9, 10, 11))))
    assert "An iteration takes 10.0 s (A) and 1.00 s (B)." in apart
    assert "Within ½ point" not in said(("A", *slow[:3]), ("B", *quick[:3]))
    assert "Within ½ point" not in said(("A", *course(0.109, (0, 9, 19, 29))), ("B", *quick))
    assert "Within ½ point" not in said(("A", *slow), ("B", *course(0.2, (0, 9, 10, 11)))) + said(("A", *slow))


def test_before_learning_the_pictures_are_said_to_be_what_colour_alone_says():
    for trust, start in ((1.0, picture.COLOUR), (0.0, picture.UNDECIDED)):
        plan = SMALL.replace(trust=trust)
        lane = SceneLane(plan.lanes[0], plan, *plan.examples(), 0)
        view = SceneView(run=0, plan=plan, lanes=(lane.view("TRBP", False),))
        assert decode(picture.update(view, Cursors(), Desk()))[0]["lanes"][0]["sub"] == f"before learning · {start}"
        assert picture.verdict(view) == f"The pictures show {start}. Nothing is learned yet: press Play."


def test_lanes_that_agree_are_said_to_and_what_follows_from_it():
    course = [point(0, 0.5, 0.5, -0.7), point(1, 0.4, 0.196, -0.5), point(2, 0.3, 0.239, -0.56)]
    agree = said(("A", *course), ("B", *course[:2], point(2, 0.3, 0.236, -0.561)))
    assert agree.startswith("Not yet: after 2 iterations 23.9% and 23.6% (A, B) wrong near outlines, ")
    assert f"{picture.AGREE} 0.001 nats a pixel. Computing took 4.00 s (A) and 4.00 s (B), compiling included." in agree
    far = said(("A", *course), ("B", *course[:2], point(2, 0.3, 0.236, -0.561, (0.8, -0.2, 0.3, 0.1))))
    differ = ", though the weights differ."
    assert differ not in agree and f"{picture.AGREE} 0.001 nats a pixel{differ}" in far
    apart = said(("A", *course), ("B", course[0], course[1], point(2, 0.3, 0.3, -0.3)))
    assert "23.9% by A and 30.0% by B" in apart and picture.AGREE not in apart
    # A higher bound is no higher likelihood.
    most = f"{picture.BOUNDED} is highest with the weights of B, by "
    ahead = f"{most}31 nats a scene."
    assert not any(word in agree + far + apart for word in ("likelier", "likeliest with", "probable"))
    assert f"{ahead} Computing took 4.00 s (A) and 4.00 s (B), compiling included." in apart
    # Curves that are hardly seen apart: a scene has many pixels.
    near = said(("A", *course), ("B", *course[:2], point(2, 0.3, 0.236, -0.557)))
    assert picture.AGREE in near
    large = ScenePlan(height=30, width=30, scenes=2)
    assert f"{most}2.7 nats a scene." in said(
        ("A", *course), ("B", *course[:2], point(2, 0.3, 0.236, -0.557)), plan=large
    )


def test_the_weights_beneath_a_picture_are_named_by_what_each_does():
    course = [point(0, 0.5, 0.5), point(1, 0.4, 0.3)]
    other = [point(0, 0.5, 0.5), point(1, 0.4, 0.3, theta=(0.5, 0.1, 0.2, -0.3))]
    # One weight has one name.
    told = "weights: colour 0.40 · neighbours 0.30 · if alike +0.10 · bias to ground 0.20"
    assert picture.weighed(course[1].theta) == told and picture.weighed(other[1].theta).endswith(
        " · if alike −0.30 · bias to animal 0.10"
    )


def test_one_who_looks_back_is_told_of_that_moment():
    lane = SceneLane(SMALL.lanes[0], SMALL, *SMALL.examples(), 0)
    for _ in range(2):
        lane.advance()
    lane.reveal()
    view = SceneView(run=0, plan=SMALL, lanes=(lane.view("TRBP", False),))
    found = decode(picture.update(view, Cursors(), Desk(at=1)))[0]["said"]
    assert re.match("Looking back at iteration 1: .*after 1 iteration ", found[0])

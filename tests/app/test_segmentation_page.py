"""The Segmentation page without a browser: its preset opens and learns, rates change in mid-run, links hold it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from opened import WAIT_SECONDS, open_page, own_run, run, update  # noqa: F401

from pmpviz.capabilities.segmentation.lane import SceneLane
from pmpviz.capabilities.segmentation.live import LiveScenes
from pmpviz.capabilities.segmentation.page import as_object
from pmpviz.capabilities.segmentation.picture import scenes_image, truth_image
from pmpviz.capabilities.segmentation.plan import ScenePlan, expectation
from pmpviz.capabilities.segmentation.presets import SEGMENTATION
from pmpviz.live.link import from_query, to_query

SMALL = ScenePlan(height=10, width=12, scenes=2, chains=16, budget=3)


@pytest.mark.parametrize("preset", SEGMENTATION, ids=lambda preset: preset.id)
def test_a_preset_opens_and_learns(preset):
    test = open_page("segmentation", {"preset": preset.id})
    until = time.monotonic() + WAIT_SECONDS
    found = update(test)
    while len([lane for lane in found["lanes"] if "trust" in lane["sub"]]) < 2:
        assert time.monotonic() < until, "nothing was learned"
        time.sleep(0.2)
        found = update(run(test))
    assert any(each.value.startswith(f"#### {preset.question}\n\n") for each in test.markdown)
    assert [lane["algorithm"] for lane in found["lanes"]] == ["barrier_frank_wolfe", "colour_gibbs"]
    assert {trace["id"] for trace in found["traces"]} >= {"held", "map", "likelier", "trust", "contrast", "own"}
    assert not found["trouble"] and "Wrong within 3 pixels" in found["announce"]
    assert from_query(to_query(preset.plan), SMALL) == (preset.plan, [])


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
    view = lane.view("", False)
    assert [point.iteration for point in view.points] == [0, 1, 2, 3, 4]
    assert view.points[-1].held_bound > view.points[0].held_bound
    assert all(0 <= point.wrong_map <= 1 and 0 <= point.wrong_likelier <= 1 for point in view.points)
    assert all((point.own_bound is not None) == (name in ("barrier_frank_wolfe", "trbp")) for point in view.points)
    assert view.p1.shape == (21, 25) and 0 <= view.p1.min() <= view.p1.max() <= 1


def test_a_job_stops_at_its_budget_and_what_leaves_the_page_are_its_numbers():
    job = LiveScenes(SMALL)
    try:
        job.play()
        until = time.monotonic() + WAIT_SECONDS
        while not (job.view.lanes and all(lane.done for lane in job.view.lanes)):
            assert time.monotonic() < until and job.view.trouble is None
            job.touch()
            time.sleep(0.05)
        told = as_object(job.view)
    finally:
        job.close()
    assert [each["iteration"] for each in told["lanes"][0]["iterations"]] == [0, 1, 2]
    assert set(told["lanes"][0]["iterations"][0]["weights"]) == {"trust", "bias", "edge", "contrast"}
    assert ScenePlan.from_dict(told["plan"]).to_dict() == SMALL.to_dict()


def test_what_is_seen_and_what_was_drawn_lie_as_the_lanes_pictures_do():
    seen, drawn = scenes_image(SMALL), truth_image(SMALL, False)
    assert seen.width % 25 == 0 and seen.height % 21 == 0
    assert (drawn.width / drawn.height) == pytest.approx(25 / 21, rel=0.02)

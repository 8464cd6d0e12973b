"""What every live job does before it advances: compile what is new."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from pmpviz.capabilities.sampling.live import LiveRun, compile_ahead
from pmpviz.capabilities.sampling.plan import LanePlan, Plan
from pmpviz.live.job import LiveJob
from pmpviz.runs import compile_clock


@dataclass
class Lane:
    algorithm: str
    compile: object = None
    warmed: bool = False
    count: int = 0

    def warm(self):
        self.compile()
        self.warmed = True


class Job(LiveJob):
    """A job of these lanes that never plays."""

    def __init__(self, lanes):
        super().__init__(None)
        self._lanes = lanes

    def _publish(self, trouble=None):
        pass


def test_lanes_of_different_algorithms_are_compiled_side_by_side():
    meet = threading.Barrier(2)
    lanes = [Lane(name, lambda: meet.wait(30)) for name in ("gibbs", "pmp")]
    Job(lanes).work(0.0)
    assert all(lane.warmed for lane in lanes)


def test_of_lanes_of_one_algorithm_the_first_is_compiled_alone():
    order = []
    lanes = [Lane("pmp", lambda name=name: order.append(name)) for name in "abc"]
    job = Job(lanes)
    for warmed in (1, 2, 3):
        job.work(0.0)
        assert sum(lane.warmed for lane in lanes) == warmed
    assert order == ["a", "b", "c"]


def test_an_error_in_compiling_reaches_the_worker():
    def refuse():
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory"):
        Job([Lane("pmp", refuse), Lane("gibbs", lambda: None)]).work(0.0)


class Stepped(Job):
    """A job that takes one step and says whether it was busy when the step was published."""

    def _advance_one(self):
        self._turn.pop()
        return True

    def _publish(self, trouble=None):
        self.was_busy = self.busy


def test_a_step_that_is_not_in_the_view_yet_keeps_the_job_busy():
    job = Stepped([])
    job._turn = [None]
    job.work(1.0)
    assert job.was_busy and not job.busy


def test_what_is_compiled_ahead_is_not_compiled_again_for_a_visitor():
    plan = Plan(model="square:5x7", chains=3, lanes=(LanePlan("pmp"), LanePlan("colour_gibbs")))
    compile_ahead(plan)
    before = compile_clock.compilations()
    live = LiveRun(plan)
    try:
        live.touch()
        live.step()
        until = time.monotonic() + 60
        while live.busy and time.monotonic() < until:
            time.sleep(0.05)
        assert [lane.sweep for lane in live.view.lanes] == [1, 1]
        assert compile_clock.compilations() == before
    finally:
        live.close()

"""What every live job does before it advances: compile what is new."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from pmpviz.capabilities.sampling.live import LiveRun, compile_ahead
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.live.job import LiveJob
from pmpviz.types import InputError
from tests.compilations import compiled

pytestmark = pytest.mark.brief


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


@dataclass(frozen=True)
class Tally:
    """A plan of lanes by their seconds a step; a negative one cannot be begun."""

    costs: tuple[float, ...] = (1.0, 3.0)
    budget: int = 0
    words: str = ""


class Counted(Lane):
    """A lane whose steps take so many seconds."""

    def __init__(self, cost):
        super().__init__("count", warmed=True)
        self.cost, self.seconds, self.epochs = cost, 0.0, []

    def show(self, epoch):
        self.epochs.append(epoch)


class Counting(LiveJob):
    """A job of such lanes, advanced by the test itself."""

    def __init__(self, plan):
        super().__init__(plan)
        self.post(self._restart, wait=0.0)
        self.work(0.0)

    def _make_lanes(self):
        if min(self.plan.costs) < 0:
            raise InputError("time does not go backwards")
        return [Counted(cost) for cost in self.plan.costs]

    def _advance(self, lane, most):
        lane.count, lane.seconds = lane.count + 1, lane.seconds + lane.cost
        return True

    def _lanes_view(self):
        return tuple(SimpleNamespace(count=lane.count, done=self._over(lane)) for lane in self._lanes)

    def _begins_anew(self, before, plan):
        return before.costs != plan.costs

    def _adjust(self, before, plan):
        return plan.words

    def counts(self):
        return [lane.count for lane in self.view.lanes]


def commanded(job, *commands):
    for command in commands:
        job.post(command, wait=0.0)
    job.work(0.0)
    return job


def test_lanes_get_equal_seconds_and_stop_at_the_budget():
    def played(job):
        job.publish()
        while job.view.playing:
            job.work(0.0)
            job.publish()
        return job.counts()

    job = commanded(Counting(Tally(budget=12)), lambda: None)
    job._play()
    for _ in range(12):
        job.work(0.0)
    job.publish()
    assert job.counts() == [9, 3] and job.view.status == "running"
    assert played(job) == [12, 12] and job.view.status == "done"
    # What is asked for under other settings is not at its end already; what begins anew is none of it.
    job._adopt(Tally(budget=12, words="twice as bright"))
    job._play()
    assert played(job) == [24, 24] and job.view.status == "done"
    job._reset()
    job._play()
    assert played(job) == [12, 12]


def test_a_step_is_one_of_every_lane_that_is_not_over_however_far_apart_they_are():
    job = Counting(Tally(budget=12))
    job._play()
    for _ in range(7):
        job.work(0.0)
    job.publish()
    before = job.counts()
    assert before[0] > before[1]
    commanded(job, job._step)
    while job.busy:
        job.work(0.0)
    assert job.counts() == [count + 1 for count in before] and job.view.status == "paused"


def test_a_change_is_adopted_in_mid_run_or_from_the_start():
    job = commanded(Counting(Tally()), lambda: None)
    lanes, begun = job.lanes, job.view.begun
    job._adopt(Tally(words="twice as bright"))
    job.publish()
    assert job.lanes is lanes and job.view.begun == begun < job.view.epoch
    assert job.view.marks == ((0, "twice as bright"),) and all(lane.epochs == [job.view.epoch] for lane in lanes)
    job._adopt(Tally(costs=(2.0,)))
    job.publish()
    assert len(job.view.lanes) == 1 and job.view.begun == job.view.epoch and job.view.marks == ()


def test_a_plan_that_cannot_be_begun_is_told_in_its_own_words_until_another_comes():
    job = Counting(Tally(costs=(-1.0,)))
    assert job.view.trouble == "time does not go backwards" and job.view.lanes == ()
    commanded(job, job._play)
    assert not job.view.playing
    commanded(job, lambda: job._adopt(Tally()))
    assert job.view.trouble is None and job.counts() == [0, 0]


def test_what_cannot_be_shown_stops_with_a_sentence_and_the_next_setting_is_shown():
    class Unseen(Counting):
        def _lanes_view(self):
            if self.plan.words:
                raise ValueError("no picture of that")
            return super()._lanes_view()

    job = Unseen(Tally())
    job._play()
    commanded(job, lambda: job._adopt(Tally(words="in the dark")))
    assert "the computation stopped: no picture of that" in job.view.trouble
    assert not job.view.playing and job.counts() == [0, 0]
    commanded(job, lambda: job._adopt(Tally(costs=(2.0,))))
    assert job.view.trouble is None and job.counts() == [0]


def test_what_is_compiled_ahead_is_not_compiled_again_for_a_visitor():
    plan = Plan(model="square:5x7", chains=3, lanes=(sampler("pmp"), sampler("colour_gibbs")))
    with compiled() as ahead:
        compile_ahead(plan)
    with compiled() as meanwhile:
        live = LiveRun(plan)
        try:
            live.touch()
            live.step()
            until = time.monotonic() + 180
            while live.busy and time.monotonic() < until:
                live.touch()
                time.sleep(0.05)
            assert [lane.sweep for lane in live.view.lanes] == [1, 1]
        finally:
            live.close()
    # What a metric needs once there is a reference may be compiled; no picture waits for it.
    assert ahead["jit(_advance)"] == 2 and ahead["jit(_init)"] == 2
    assert not {name for name in ahead if name.startswith("jit(_")} & meanwhile.keys()

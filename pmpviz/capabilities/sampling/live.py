"""A live run: one to four lanes of one plan, advanced by the worker, commanded and read by pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.sampling import layers
from pmpviz.capabilities.sampling.lane import Lane, LaneView
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.live import background
from pmpviz.live.job import LiveJob, warm
from pmpviz.live.plan import begins_anew, describe_change, resolve_model
from pmpviz.live.worker import worker
from pmpviz.runs.schedule import Budget
from pmpviz.runs.truth import Truth

SUMMARY_SECONDS = 1.0
NO_REFERENCE = "a reference needs at least two chains"


@dataclass(frozen=True)
class LiveView:
    """An immutable picture of a live run, published by one assignment.

    `run` numbers the runs of this process. `epoch` goes up with every change of the settings and with every restart;
    `begun` is the epoch of the last restart, since which the frames belong together.
    """

    run: int
    epoch: int
    begun: int
    playing: bool
    status: str
    trouble: str | None
    plan: Plan
    model: Any
    lanes: tuple[LaneView, ...]
    truth: Truth | None
    truth_share: float
    truth_trouble: str | None
    marks: tuple[tuple[int, str], ...]


def compile_ahead(plan: Plan) -> None:
    """Compile what a live run of this plan will run, before anybody has asked for one."""
    warm(_lanes_of(plan, resolve_model(plan.model), epoch=0))


def _lanes_of(plan: Plan, model: Any, epoch: int) -> list[Lane]:
    return [Lane(lane, run, epoch) for lane, run in zip(plan.lanes, plan.begin(model), strict=True)]


class LiveRun(LiveJob):
    """A run or a race. Owns the lanes; only the worker touches them."""

    view: LiveView

    def __init__(self, plan: Plan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, speed)
        self.layer = "none"
        self._files = files
        self._model: Any = None
        self._resolved: str | None = None
        self._budget = Budget()
        self._truth_job: background.TruthJob | None = None
        self._summarised = 0.0
        self.view = LiveView(self._number, 0, 0, False, "building the model", None, plan, None, (), None, 0.0, None, ())
        self.post(self._restart, wait=0.0)
        worker().add(self)

    # Called by pages.

    def touch(self) -> None:
        """Keep the lease, that of the reference too."""
        super().touch()
        if self._truth_job is not None:
            self._truth_job.touch()

    def set_layer(self, layer: str) -> None:
        """What is shown over the lattice: see `layers.LAYERS`."""
        if layer != self.layer:
            self.layer = layer
            self.post(self._publish)

    def flip(self, site: int) -> None:
        """Flip a site of chain 0 in every lane of kind `chain`."""
        self.post(lambda: self._flip(site))

    # Called by the worker only.

    @property
    def model(self) -> Any:
        """The resolved model."""
        return self._model

    def _restart(self) -> None:
        self._begin_anew()
        self._truth_job = None
        if self._model is None or self._resolved != self.plan.model:
            self._model, self._resolved = resolve_model(self.plan.model, self._files), self.plan.model
        self._lanes = _lanes_of(self.plan, self._model, self._epoch)
        self._budget = Budget(self.plan.unit, self.plan.budget)
        self._repace()

    def _pause(self) -> None:
        super()._pause()
        self._summarised = 0.0  # What stands still is summed up as it is.

    def _flip(self, site: int) -> None:
        for lane in self._lanes:
            if lane.run.algorithm.spec.kind == "chain" and 0 <= site < self._model.n:
                lane.flip(site)
        self._mark(f"site {site} of chain 0 flipped by hand")

    def _adopt(self, plan: Plan) -> None:
        old, self.plan = self.plan, plan
        if plan == old and self._trouble is None:
            return
        if self._trouble is not None or not self._lanes or begins_anew(old, plan):
            self._restart()
            return
        self._budget = Budget(plan.unit, plan.budget)
        changes = describe_change(old, plan)
        if changes:
            target = plan.target(self._model)
            another = (old.beta, old.field, old.clamp) != (plan.beta, plan.field, plan.clamp)
            for lane, lane_plan in zip(self._lanes, plan.lanes, strict=True):
                if another or lane_plan != lane.plan:
                    lane.change(lane_plan, target)
            self._mark(changes)
            if another:
                self._forget_truth()

    def _forget_truth(self) -> None:
        for lane in self._lanes:
            lane.points.clear()
            lane.waiting.clear()
        self._truth_job = None

    def _advance_one(self) -> bool:
        open_lanes = [lane for lane in self._lanes if not self._over(lane)]
        if not open_lanes:
            self._playing, self._steps = False, 0
            return False
        lane = min(open_lanes, key=lambda item: self._budget.used(item.run))
        if self._steps:
            lane = min(open_lanes, key=lambda item: item.run.sweep)
            self._steps -= lane.advance(self._budget, 1)
            return True
        # The pace is of whole sweeps: one that is begun goes on.
        allowed = 1 if lane.midway else self._allowed(lane.run.sweep)
        if allowed < 1:
            return False
        lane.advance(self._budget, allowed)
        self._next_due = time.monotonic()
        return True

    def _over(self, lane: Lane) -> bool:
        return lane.stopped or self._budget.spent(lane.run)

    def _waiting(self) -> bool:
        return self._wants_truth() and any(lane.waiting for lane in self._lanes)

    def _wants_truth(self) -> bool:
        return bool(self._lanes) and self.plan.chains > 1 and self._trouble is None

    def _look_around(self) -> None:
        """Ask for the reference once every lane moves, so that its making does not hold up the first picture."""
        moving = not self._playing or all(lane.run.quantum for lane in self._lanes)
        if self._truth_job is None and self._wants_truth() and moving and not self._cold():
            self._truth_job = background.request(self.plan.target(self._model))
        if self._truth_job is not None:
            for lane in self._lanes:
                lane.measure(self._truth_job.truth)
        for lane in self._lanes:
            lane.check_stop(self.plan.stop, self.plan.threshold)

    def _publish(self, trouble: str | None = None) -> None:
        now = self._published = time.monotonic()
        summarise = now - self._summarised > SUMMARY_SECONDS
        if summarise:
            self._summarised = now
        job = self._truth_job
        truth = job.truth if job is not None else None
        lanes = tuple(
            lane.view(self._over(lane), layers.layer(self.layer, lane.run, truth), summarise) for lane in self._lanes
        )
        self.view = LiveView(
            self._number,
            self._epoch,
            self._begun,
            self._playing,
            self._status(lanes),
            trouble or self._trouble,
            self.plan,
            self._model,
            lanes,
            truth,
            job.share if job is not None else 0.0,
            job.trouble if job is not None else None if self.plan.chains > 1 else NO_REFERENCE,
            tuple(self._marks),
        )

    def _status(self, lanes: tuple[LaneView, ...]) -> str:
        if lanes and all(lane.done for lane in lanes):
            return "done"
        return "running" if self._playing else "paused"

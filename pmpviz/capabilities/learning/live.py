"""A live training: one or two lanes of one learning plan, advanced by the worker, commanded and read by pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.learning import saved as saved_training
from pmpviz.capabilities.learning.lane import LearningLane, LearningLaneView
from pmpviz.capabilities.learning.plan import LearningPlan, resolve_data, split
from pmpviz.io.datasets import Dataset
from pmpviz.live.job import LiveJob
from pmpviz.live.plan import begins_anew, describe_change
from pmpviz.live.worker import worker

RESTORE_SECONDS = 10.0


@dataclass(frozen=True)
class LearningView:
    """An immutable picture of a live training; the fields are as in `LiveView`."""

    run: int
    epoch: int
    begun: int
    playing: bool
    status: str
    trouble: str | None
    plan: LearningPlan
    train: Dataset | None
    test: Dataset | None
    lanes: tuple[LearningLaneView, ...]
    marks: tuple[tuple[int, str], ...]


class LiveLearning(LiveJob):
    """Owns the lanes of a training; a step is one learning iteration."""

    view: LearningView

    def __init__(self, plan: LearningPlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, speed)
        self._files = files
        self._data: tuple[Dataset, Dataset] | None = None
        self._resolved: str | None = None
        self.view = LearningView(self._number, 0, 0, False, "reading the data", None, plan, None, None, (), ())
        self.post(self._restart, wait=0.0)
        worker().add(self)

    def close(self) -> None:
        """Give up the places in the queues."""
        super().close()
        self._drop_lanes()

    def _drop_lanes(self) -> None:
        for lane in self._lanes:
            lane.likelihoods.close()

    def restore(self, plan: LearningPlan, blobs: list[bytes]) -> None:
        """Go on from a saved training."""
        self._wanted = plan
        self.post(lambda: self._restore(plan, blobs), wait=RESTORE_SECONDS)

    # Called by the worker only.

    def _restore(self, plan: LearningPlan, blobs: list[bytes]) -> None:
        self.plan = plan
        self._restart()
        for lane, blob in zip(self._lanes, blobs, strict=True):
            lane.resume(saved_training.restore(blob, lane.training))

    def _restart(self) -> None:
        self._drop_lanes()
        self._begin_anew()
        if self._data is None or self._resolved != self.plan.data:
            self._data, self._resolved = split(resolve_data(self.plan.data, self._files)), self.plan.data
        train, test = self._data
        self._lanes = [
            LearningLane(plan, value, train, test, self._epoch)
            for plan, value in zip(self.plan.lanes, self.plan.begin(train), strict=True)
        ]
        self._repace()

    def _adopt(self, plan: LearningPlan) -> None:
        old, self.plan = self.plan, plan
        if plan == old and self._trouble is None:
            return
        if self._trouble is not None or not self._lanes or begins_anew(old, plan):
            self._restart()
            return
        if changes := describe_change(old, plan):
            for lane, lane_plan in zip(self._lanes, plan.lanes, strict=True):
                lane.change(lane_plan, plan.optimiser)
            self._mark(changes)

    def _over(self, lane: LearningLane) -> bool:
        return bool(self.plan.budget) and lane.count >= self.plan.budget

    def _advance_one(self) -> bool:
        open_lanes = [lane for lane in self._lanes if not self._over(lane)]
        if not open_lanes:
            self._playing, self._steps = False, 0
            return False
        if self._steps:
            min(open_lanes, key=lambda lane: lane.count).advance(1)
            self._steps -= 1
            return True
        # By seconds: in equal time each learner gets as far as it does.
        lane = min(open_lanes, key=lambda lane: lane.training.seconds)
        allowed = self._allowed(lane.count)
        if allowed < 1:
            return False
        lane.advance(min(allowed, self.plan.budget - lane.count) if self.plan.budget else allowed)
        self._next_due = time.monotonic()
        return True

    def _publish(self, trouble: str | None = None) -> None:
        self._published = time.monotonic()
        lanes = tuple(lane.view(self._over(lane)) for lane in self._lanes)
        train, test = self._data or (None, None)
        self.view = LearningView(
            self._number,
            self._epoch,
            self._begun,
            self._playing,
            "done" if lanes and all(lane.done for lane in lanes) else "running" if self._playing else "paused",
            trouble or self._trouble,
            self.plan,
            train,
            test,
            lanes,
            tuple(self._marks),
        )

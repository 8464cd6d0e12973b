"""A live training: one or two lanes of one learning plan, advanced by the worker, commanded and read by pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.learning import saved as saved_training
from pmpviz.capabilities.learning.lane import LearningLane, LearningLaneView
from pmpviz.capabilities.learning.plan import LearningPlan, resolve_data, split
from pmpviz.io.datasets import Dataset
from pmpviz.live.job import LiveJob
from pmpviz.live.lane_names import lane_names
from pmpviz.live.plan import begins_anew, describe_change
from pmpviz.live.view import View

RESTORE_SECONDS = 10.0


@dataclass(frozen=True, eq=False, kw_only=True)
class LearningView(View):
    """An immutable picture of a live training."""

    plan: LearningPlan
    train: Dataset | None = None
    test: Dataset | None = None
    lanes: tuple[LearningLaneView, ...] = ()

    @property
    def held_out(self) -> bool:
        """Whether some pictures are kept from the learners; few pictures are all learned from, and scored."""
        return self.test is not self.train


class LiveLearning(LiveJob):
    """Owns the lanes of a training; a step is one learning iteration."""

    view: LearningView
    view_type = LearningView
    beginning = "reading the data"

    def __init__(self, plan: LearningPlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, files, speed)
        self._data: tuple[Dataset, Dataset] | None = None
        self._resolved: str | None = None
        self.begin()

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

    def stop_at_best(self) -> None:
        """Back to where each lane's held-out data were most probable, and wait there."""
        self.post(self._stop_at_best, wait=RESTORE_SECONDS)

    # Called by the worker only.

    def _stop_at_best(self) -> None:
        before = self._lanes
        self._restart()
        for lane, old in zip(self._lanes, before, strict=True):
            lane.go_on_from_best(old)
        self._pause()

    def _restore(self, plan: LearningPlan, blobs: list[bytes]) -> None:
        self.plan = plan
        self._restart()
        for lane, blob in zip(self._lanes, blobs, strict=True):
            lane.resume(saved_training.restore(blob, lane.training))

    def _begin_anew(self) -> None:
        self._drop_lanes()
        super()._begin_anew()

    def _make_lanes(self) -> list[LearningLane]:
        if self._data is None or self._resolved != self.plan.data:
            self._data, self._resolved = split(resolve_data(self.plan.data, self._files)), self.plan.data
        train, test = self._data
        begun = zip(self.plan.lanes, self.plan.begin(train), strict=True)
        return [LearningLane(plan, value, train, test, self._epoch) for plan, value in begun]

    def _begins_anew(self, before: LearningPlan, plan: LearningPlan) -> bool:
        return begins_anew(before, plan)

    def _adjust(self, before: LearningPlan, plan: LearningPlan) -> str:
        if changes := describe_change(before, plan):
            for lane, lane_plan in zip(self._lanes, plan.lanes, strict=True):
                lane.change(lane_plan, plan.optimiser)
        return changes

    def _look_around(self) -> None:
        for lane in self._lanes:
            lane.likelihoods.touch()

    def _waiting(self) -> bool:
        """Also a training that rests is told of likelihoods that were asked for before it did."""
        told = zip(self._lanes, self.view.lanes, strict=False)
        return any(
            lane.likelihoods.unfinished or len(lane.likelihoods.found) > len(of.likelihoods) for lane, of in told
        )

    def _used(self, lane: LearningLane) -> float:
        return lane.training.seconds

    def _advance(self, lane: LearningLane, most: int) -> bool:
        lane.advance(int(min(most, self._left(lane))))
        return True

    def _lanes_view(self) -> tuple[LearningLaneView, ...]:
        names = lane_names([lane.plan for lane in self._lanes])
        return tuple(lane.view(self._over(lane), name) for name, lane in zip(names, self._lanes, strict=True))

    def _extras(self) -> dict[str, Any]:
        train, test = self._data or (None, None)
        return {"train": train, "test": test}

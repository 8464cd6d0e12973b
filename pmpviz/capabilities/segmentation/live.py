"""A live learning of a segmentation's weights: up to three lanes on the same scenes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.segmentation.lane import SceneLane, SceneLaneView
from pmpviz.capabilities.segmentation.plan import ScenePlan
from pmpviz.live.job import LiveJob
from pmpviz.live.lane_names import lane_names
from pmpviz.live.plan import Choice, begins_anew, describe_change
from pmpviz.live.view import View


@dataclass(frozen=True, eq=False, kw_only=True)
class SceneView(View):
    """An immutable picture of a live learning, which goes on to iteration `end`; to none where that is infinite."""

    plan: ScenePlan
    lanes: tuple[SceneLaneView, ...] = ()
    end: float = math.inf


class LiveScenes(LiveJob):
    """Owns the lanes; a step is one learning iteration."""

    view: SceneView
    view_type = SceneView
    queue = "solvers"
    beginning = "drawing the scenes"

    def __init__(self, plan: ScenePlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, files, speed)
        # What changes in a lane once it has come as far as the others.
        self._due: dict[int, tuple[Choice, ScenePlan]] = {}
        self.begin()

    def _make_lanes(self) -> list[SceneLane]:
        self._due = {}
        train, held = self.plan.examples()
        return [SceneLane(choice, self.plan, train, held, self._epoch) for choice in self.plan.lanes]

    def _begins_anew(self, before: ScenePlan, plan: ScenePlan) -> bool:
        return begins_anew(before, plan)

    def _adjust(self, before: ScenePlan, plan: ScenePlan) -> str:
        """A change holds from the same iteration on in every lane: one that is behind comes to it first."""
        behind = self._behind()
        for lane, choice in zip(self._lanes, plan.lanes, strict=True):
            if lane in behind:
                self._due[id(lane)] = choice, plan
            else:
                lane.change(choice, plan)
        return describe_change(before, plan)

    def _advance(self, lane: SceneLane, most: int) -> bool:
        """Lanes are shown together, at the same iteration: they take it by turns."""
        lane.advance()
        if id(lane) in self._due:
            lane.change(*self._due.pop(id(lane)))
        if not self._behind():
            for each in self._lanes:
                each.reveal()
        return True

    def _behind(self) -> list[SceneLane]:
        last = max(lane.count for lane in self._lanes)
        return [lane for lane in self._lanes if lane.count < last]

    def _step(self) -> None:
        """The rest of a round that was paused in, or another one."""
        super()._step()
        self._turn = self._behind() or self._turn

    def _left(self, lane: SceneLane) -> float:
        """A change is of one iteration for all lanes, and so is the end that is counted from it; wherever that is, one
        that is behind comes up to the others."""
        return max(self._ends() - lane.count, lane in self._behind())

    def _extras(self) -> dict[str, Any]:
        return {"end": self._ends()}

    def _ends(self) -> float:
        return max(self._changed_at.values(), default=0) + self.plan.budget if self.plan.budget else math.inf

    def _used(self, lane: SceneLane) -> float:
        return lane.count

    def _lanes_view(self) -> tuple[SceneLaneView, ...]:
        ids = [lane.algorithm for lane in self._lanes]
        # Where an algorithm comes once its knobs need not be told.
        names = [
            lane.choice.spec.label if ids.count(lane.algorithm) == 1 else name
            for lane, name in zip(self._lanes, lane_names([lane.choice for lane in self._lanes]), strict=True)
        ]
        over = [self._over(lane) and lane.shown == lane.count for lane in self._lanes]
        return tuple(lane.view(*told) for lane, *told in zip(self._lanes, names, over, strict=True))


__all__ = ["LiveScenes", "SceneView"]

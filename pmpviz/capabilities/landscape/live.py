"""A live landscape: chains on one small model, whose settings are taken up while they walk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.landscape.lane import LandscapeLane, LandscapeLaneView
from pmpviz.capabilities.landscape.memory import Memory, memory_of
from pmpviz.capabilities.landscape.plan import MEMORY, LandscapePlan
from pmpviz.capabilities.landscape.scene import Scene, scene_of
from pmpviz.live.job import LiveJob
from pmpviz.live.view import View

# Another one of these has other chains.
ANEW = ("kind", "sampler", "seed")


@dataclass(frozen=True, eq=False, kw_only=True)
class LandscapeView(View):
    """An immutable picture of the landscape and the chains on it."""

    plan: LandscapePlan
    scene: Scene | Memory | None = None
    lanes: tuple[LandscapeLaneView, ...] = ()


class LiveLandscape(LiveJob):
    """Owns the chains; a step is one quantum of them all."""

    view: LandscapeView
    view_type = LandscapeView

    def __init__(self, plan: LandscapePlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, files, speed)
        self._scene: Scene | Memory | None = None
        self.begin()

    def _make_lanes(self) -> list[LandscapeLane]:
        self._scene = follows(self.plan)
        return [LandscapeLane(self.plan, self._scene)]

    def _begins_anew(self, before: LandscapePlan, plan: LandscapePlan) -> bool:
        return any(getattr(before, name) != getattr(plan, name) for name in ANEW)

    def _adjust(self, before: LandscapePlan, plan: LandscapePlan) -> str:
        """Statistics belong to one setting: nothing is marked, all of them begin anew."""
        self._scene = follows(plan)
        for lane in self._lanes:
            lane.change(plan, self._scene)
        self._epoch += 1
        self._repace()
        return ""

    def _over(self, lane: LandscapeLane) -> bool:
        return False

    def _advance(self, lane: LandscapeLane, most: int) -> bool:
        lane.advance()
        return True

    def _lanes_view(self) -> tuple[LandscapeLaneView, ...]:
        return tuple(lane.view() for lane in self._lanes)

    def _extras(self) -> dict[str, Any]:
        return {"scene": self._scene}


def follows(plan: LandscapePlan) -> Scene | Memory:
    """What of a plan does not move."""
    return memory_of(plan) if plan.kind == MEMORY else scene_of(plan)


__all__ = ["LandscapeView", "LiveLandscape", "follows"]

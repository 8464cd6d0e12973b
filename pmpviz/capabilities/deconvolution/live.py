"""A live deconvolution: up to three lanes of one problem in equal time, advanced by the worker, read by pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.deconvolution.lane import DeconvolutionLane, DeconvolutionLaneView
from pmpviz.capabilities.deconvolution.plan import DeconvolutionPlan, Problem, problem_of
from pmpviz.live.job import LiveJob
from pmpviz.live.lane_names import lane_names
from pmpviz.live.plan import describe_change, present
from pmpviz.live.view import View

# Beside PMP, once it has ended, chains go on to so many times its seconds, and so many at least: nobody may say that
# they had too few.
PATIENCE, LEAST_SECONDS = 10, 30.0


@dataclass(frozen=True, eq=False, kw_only=True)
class DeconvolutionView(View):
    """An immutable picture of a live deconvolution."""

    plan: DeconvolutionPlan
    problem: Problem | None = None
    lanes: tuple[DeconvolutionLaneView, ...] = ()


class LiveDeconvolution(LiveJob):
    """Owns the lanes; a step is one sweep, or for a chain a piece of one. Lanes are served by least seconds used."""

    view: DeconvolutionView
    view_type = DeconvolutionView
    beginning = "drawing images"

    def __init__(self, plan: DeconvolutionPlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, files, speed)
        self._problem: Problem | None = None
        self.begin()

    # Called by the worker only.

    def _make_lanes(self) -> list[DeconvolutionLane]:
        self._problem = None
        self._problem = problem_of(self.plan, self._files)
        return [DeconvolutionLane(lane, self.plan, self._problem) for lane in self.plan.lanes]

    def _begins_anew(self, before: DeconvolutionPlan, plan: DeconvolutionPlan) -> bool:
        return plan.replace(budget=before.budget) != before  # Else only how far it goes is new.

    def _adopt(self, plan: DeconvolutionPlan) -> None:
        """Also tell that a knob that was turned has begun the run anew: the curves of before are gone."""
        before = self.plan
        super()._adopt(plan)
        algorithms = [[lane.algorithm for lane in each.lanes] for each in (before, plan)]
        if plan.replace(lanes=before.lanes) == before and algorithms[0] == algorithms[1]:
            if changes := describe_change(before, plan):
                self._marks = [(0, f"begun anew, {', '.join(map(present, changes.split(', ')))}")]

    def _over(self, lane: DeconvolutionLane) -> bool:
        """Whether a lane has had the sweeps of the budget, or its messages rest, or a chain has had its patience.

        Chains beside a draw are timed: once all draws have ended they go on for a good deal longer.
        """
        draws = [other for other in self._lanes if other.spec.kind == "draw"]
        if lane.spec.kind == "draw" or not draws:
            return lane.rested or super()._over(lane)
        most = max(LEAST_SECONDS, PATIENCE * max(draw.seconds for draw in draws))
        return all(map(self._over, draws)) and lane.seconds >= most

    def _allowance(self, lane: DeconvolutionLane) -> int:
        """A chain keeps no pace of its own: it has the seconds of the draws beside it."""
        draws = [other.seconds for other in self._lanes if other.spec.kind == "draw" and not self._over(other)]
        if lane.spec.kind == "draw" or not self.speed:
            return self._allowed(lane)
        return int(not draws or lane.seconds <= max(draws))

    def _advance(self, lane: DeconvolutionLane, most: float) -> bool:
        left = max(self.plan.budget - lane.count, 1.0) if self.plan.budget else float("inf")
        lane.advance(min(most, left))
        return True

    def _lanes_view(self) -> tuple[DeconvolutionLaneView, ...]:
        over = [self._over(lane) for lane in self._lanes]
        names = lane_names([lane.plan for lane in self._lanes])
        rows = zip(self._lanes, over, names, strict=True)
        return tuple(lane.view(done, name) for lane, done, name in rows)

    def _extras(self) -> dict[str, Any]:
        return {"problem": self._problem}


__all__ = ["DeconvolutionView", "LiveDeconvolution"]

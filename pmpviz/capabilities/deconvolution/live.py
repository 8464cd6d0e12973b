"""A live deconvolution: up to three lanes of one problem in equal time, advanced by the worker, read by pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.deconvolution.lane import DeconvolutionLane, DeconvolutionLaneView
from pmpviz.capabilities.deconvolution.plan import DeconvolutionPlan, Problem, problem_of
from pmpviz.live.job import LiveJob
from pmpviz.live.worker import worker
from pmpviz.types import InputError

# Beside PMP, once it has ended, chains go on to so many times its seconds, and so many at least: nobody may say that
# they had too few.
PATIENCE, LEAST_SECONDS = 10, 30.0


@dataclass(frozen=True, eq=False)
class DeconvolutionView:
    """An immutable picture of a live deconvolution; the fields are as in `LiveView`."""

    run: int
    epoch: int
    begun: int
    playing: bool
    status: str
    trouble: str | None
    plan: DeconvolutionPlan
    problem: Problem | None
    lanes: tuple[DeconvolutionLaneView, ...]
    marks: tuple[tuple[int, str], ...]


class LiveDeconvolution(LiveJob):
    """Owns the lanes; a step is one sweep, or for a chain a piece of one. Lanes are served by least seconds used."""

    view: DeconvolutionView

    def __init__(self, plan: DeconvolutionPlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, speed)
        self._files = files
        self._problem: Problem | None = None
        self._turn: list[DeconvolutionLane] = []
        self.view = DeconvolutionView(self._number, 0, 0, False, "drawing images", None, plan, None, (), ())
        self.post(self._restart, wait=0.0)
        worker(self.queue).add(self)

    # Called by the worker only.

    def fail(self, error: Exception) -> None:
        """Stop and say so; a person's own mistake in its own words."""
        if isinstance(error, InputError):
            self._halt(str(error))
        else:
            super().fail(error)

    def _restart(self) -> None:
        self._begin_anew()
        self._problem, self._turn = None, []
        self._problem = problem_of(self.plan, self._files)
        self._lanes = [DeconvolutionLane(lane, self.plan, self._problem) for lane in self.plan.lanes]
        self._repace()

    def _adopt(self, plan: DeconvolutionPlan) -> None:
        before, self.plan = self.plan, plan
        if plan == before and self._trouble is None:
            return
        if self._trouble is None and plan.replace(budget=before.budget) == before:
            return  # Only how far it goes is new.
        self._restart()

    def _over(self, lane: DeconvolutionLane) -> bool:
        """Whether a lane has had the sweeps of the budget, or its messages rest, or a chain has had its patience.

        Chains beside a draw are timed: once all draws have ended they go on for a good deal longer.
        """
        draws = [other for other in self._lanes if other.spec.kind == "draw"]
        if lane.spec.kind == "draw" or not draws:
            return lane.rested or bool(self.plan.budget) and lane.count >= self.plan.budget
        most = max(LEAST_SECONDS, PATIENCE * max(draw.seconds for draw in draws))
        return all(map(self._over, draws)) and lane.seconds >= most

    def _advance_one(self) -> bool:
        """One chunk of the lane that has used fewest seconds, or the step that was asked for."""
        if self._cold():
            return False  # Equal time begins when all lanes are compiled.
        for lane in self._lanes:
            lane.exhausted = self._over(lane)
        if self._steps:
            lane = self._turn.pop(0)
            lane.advance(1.0)
            self._steps -= 1
            return True
        waiting = [lane for lane in self._lanes if not lane.exhausted]
        if not waiting:
            self._playing = False
            return False
        lane = min(waiting, key=lambda lane: lane.seconds)
        most = max(self.plan.budget - lane.count, 1.0) if self.plan.budget else float("inf")
        if self.speed:
            allowed = self._allowed(int(lane.count)) if lane.spec.kind == "draw" else 1
            if allowed < 1:
                return False
            most = min(most, allowed)
        lane.advance(most)
        self._next_due = time.monotonic()
        return True

    def _lanes_to_step(self) -> int:
        self._turn = [lane for lane in self._lanes if not self._over(lane)]
        return len(self._turn)

    def _publish(self, trouble: str | None = None) -> None:
        self._published = time.monotonic()
        for lane in self._lanes:
            lane.exhausted = self._over(lane)
        lanes = tuple(lane.view(at_once=lane.exhausted or not self._playing) for lane in self._lanes)
        done = bool(lanes) and all(lane.done for lane in lanes)
        self.view = DeconvolutionView(
            self._number,
            self._epoch,
            self._begun,
            self._playing,
            "done" if done else "running" if self._playing else "paused",
            trouble or self._trouble,
            self.plan,
            self._problem,
            lanes,
            tuple(self._marks),
        )


__all__ = ["DeconvolutionView", "LiveDeconvolution"]

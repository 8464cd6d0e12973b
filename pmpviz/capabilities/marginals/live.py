"""A live inference: up to four lanes of one model, stepped by the worker, commanded and read by pages."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pmpviz import exact
from pmpviz.capabilities.marginals.lane import InferenceLane, InferenceLaneView
from pmpviz.capabilities.marginals.plan import InferencePlan
from pmpviz.live.job import LiveJob
from pmpviz.live.plan import resolve_model
from pmpviz.live.worker import worker
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.projection import Projection, projection_of
from pmpviz.models import Ising
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import Exact, InputError, Refusal, Target


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact answer of a target with its place in the projection, or the sentence why there is none."""

    solution: Exact | None = None
    place: Any = None
    why_not: str = ""


class TruthJob:
    """Solves a target exactly in the background."""

    def __init__(self, target: Target, potentials: Potentials, projection: Projection):
        self._target, self._potentials, self._projection = target, potentials, projection
        self.truth: Truth | None = None

    def due(self) -> float | None:
        """At once, until it is solved or refused."""
        return 0.0 if self.truth is None else None

    def work(self, seconds: float) -> None:
        """All of it."""
        if (reason := exact.why_not(self._target)) is not None:
            self.truth = Truth(why_not=reason)
            return
        solution = exact.solve(self._target)
        s = self._potentials.structure
        if solution.marginals is None or solution.pair_marginals is None:
            self.truth = Truth(solution, why_not="only log Z is known exactly")
            return
        table = solution.pair_marginals(np.stack([s.i, s.j], 1))
        self.truth = Truth(solution, self._projection.of(Cells(s).flat(np.stack(solution.marginals), table)))

    def fail(self, error: Exception) -> None:
        """Keep the reason."""
        self.truth = Truth(why_not=str(error)[:200])


@dataclass(frozen=True, eq=False)
class InferenceView:
    """An immutable picture of a live inference; the fields are as in `LiveView`."""

    run: int
    epoch: int
    begun: int
    playing: bool
    status: str
    trouble: str | None
    plan: InferencePlan
    model: Ising | None
    potentials: Potentials | None
    projection: Projection | None
    truth: Truth | None
    lanes: tuple[InferenceLaneView, ...]
    marks: tuple[tuple[int, str], ...]


class LiveInference(LiveJob):
    """Owns the lanes; a step is one MAP call or one sweep of messages. Play goes on to a goal."""

    view: InferenceView
    queue = "solvers"

    def __init__(self, plan: InferencePlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, speed)
        self._files, self._goal, self._since = files, "end", [0] * len(plan.lanes)
        self._built: tuple[str, float] | None = None
        self._turn: list[InferenceLane] = []
        self._model: Ising | None = None
        self._potentials: Potentials | None = None
        self._projection: Projection | None = None
        self._truth: TruthJob | None = None
        self.view = InferenceView(self._number, 0, 0, False, "building", None, plan, None, None, None, None, (), ())
        self.post(self._restart, wait=0.0)
        worker(self.queue).add(self)

    def close(self) -> None:
        """Give up the places in the queues."""
        super().close()
        self._drop_truth()

    def run_to(self, goal: str) -> None:
        """Play until every lane has met the goal: `gap`, `rho` or `end`."""
        self.post(lambda: self._toward(goal))

    # Called by the worker only.

    def _toward(self, goal: str) -> None:
        self._play()
        self._goal, self._since = goal, [lane.count for lane in self._lanes]

    def _play(self) -> None:
        self._goal = "end"
        super()._play()

    def _restart(self) -> None:
        self._begin_anew()
        self._goal, self._since = "end", [0] * len(self.plan.lanes)
        self._build()
        assert self._potentials is not None and self._projection is not None
        self._lanes = [InferenceLane(plan, self._potentials, self._projection, self._epoch) for plan in self.plan.lanes]
        self._repace()

    def _build(self) -> None:
        plan = self.plan
        model = resolve_model(plan.model, self._files)
        if not isinstance(model, Ising):
            raise InputError("this page walks in models of two-state variables; use `python -m pmpviz infer` for more")
        if self._model is not None and (plan.model, plan.beta) == self._built:
            return
        target = plan.target(model)
        potentials, _ = Potentials.of_target(target)
        if potentials.n != model.n:
            raise Refusal("this page shows models without clamped variables")
        self._model, self._potentials = model, potentials
        self._projection, self._built = projection_of(potentials), (plan.model, plan.beta)
        self._drop_truth()
        self._truth = TruthJob(target, potentials, self._projection)
        worker("background").add(self._truth)

    def _drop_truth(self) -> None:
        if self._truth is not None:
            worker("background").remove(self._truth)

    def _adopt(self, plan: InferencePlan) -> None:
        if plan != self.plan or self._trouble is not None:
            self.plan = plan
            self._restart()

    def _waiting(self) -> bool:
        shown = self.view.truth
        return self._truth is not None and shown is not self._truth.truth

    def _advance_one(self) -> bool:
        """One step of the lane that has made fewest; lanes that have met the goal wait for the others."""
        stepping = bool(self._steps)
        goal = "end" if stepping else self._goal
        open_lanes = [lane for lane, since in zip(self._lanes, self._since, strict=True) if not lane.met(goal, since)]
        if not open_lanes:
            self._playing, self._steps, self._goal = False, 0, "end"
            return False
        lane = self._turn.pop(0) if stepping else min(open_lanes, key=lambda lane: lane.count)
        if not stepping and self._allowed(lane.count) < 1:
            return False
        lane.advance()
        if stepping:
            self._steps -= 1
        else:
            self._next_due = time.monotonic()
        return True

    def _lanes_to_step(self) -> int:
        self._turn = [lane for lane in self._lanes if not lane.met("end", 0)]
        return len(self._turn)

    def _publish(self, trouble: str | None = None) -> None:
        self._published = time.monotonic()
        lanes = tuple(lane.view() for lane in self._lanes)
        done = bool(lanes) and all(lane.done for lane in lanes)
        self.view = InferenceView(
            self._number,
            self._epoch,
            self._begun,
            self._playing,
            "done" if done else "running" if self._playing else "paused",
            trouble or self._trouble,
            self.plan,
            self._model,
            self._potentials,
            self._projection,
            None if self._truth is None else self._truth.truth,
            lanes,
            tuple(self._marks),
        )


__all__ = ["InferenceView", "LiveInference", "Truth"]

"""A live inference: up to four lanes of one model, stepped by the worker, commanded and read by pages."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pmpviz import exact
from pmpviz.capabilities.marginals.lane import InferenceLane, InferenceLaneView
from pmpviz.capabilities.marginals.plan import UNPAIRED, InferencePlan, check_lane, not_walked
from pmpviz.capabilities.marginals.segmented import Segmented, segmented
from pmpviz.live import background
from pmpviz.live.job import LiveJob
from pmpviz.live.lane_names import lane_names, told
from pmpviz.live.plan import Choice, resolve_model
from pmpviz.live.view import View
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.projection import Projection, projection_of
from pmpviz.models import Ising
from pmpviz.oracles.potentials import Potentials
from pmpviz.runs.truth import truth_key
from pmpviz.types import Exact, InputError, Refusal, Target

# More steps than any walk has.
HURRY = 10**9


@dataclass(frozen=True, eq=False)
class Truth:
    """The exact answer of a target with its place in the projection, or the sentence why there is none."""

    solution: Exact | None = None
    place: Any = None
    why_not: str = ""


def solving(target: Target, potentials: Potentials, projection: Projection) -> Generator[float, None, Truth]:
    """Solves a target exactly, all in one step."""
    yield 0.0
    if (reason := exact.why_not(target)) is not None:
        return Truth(why_not=reason)
    solution, s = exact.solve(target), potentials.structure
    if solution.marginals is None or solution.pair_marginals is None:
        return Truth(solution, why_not="only log Z is known exactly")
    table = solution.pair_marginals(np.stack([s.i, s.j], 1))
    return Truth(solution, projection.of(Cells(s).flat(np.stack(solution.marginals), table)))


@dataclass(frozen=True, eq=False, kw_only=True)
class InferenceView(View):
    """An immutable picture of a live inference."""

    plan: InferencePlan
    model: Ising | None = None
    potentials: Potentials | None = None
    projection: Projection | None = None
    truth: Truth | None = None
    segmented: Segmented | None = None
    lanes: tuple[InferenceLaneView, ...] = ()


class LiveInference(LiveJob):
    """Owns the lanes; a step is one MAP call or one sweep of messages. Play goes on to a goal."""

    view: InferenceView
    view_type = InferenceView
    queue = "solvers"

    def __init__(self, plan: InferencePlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, files, speed)
        self._goal, self._hurried = "end", False
        self._built: tuple[str, float, bool] | None = None
        self._model: Ising | None = None
        self._potentials: Potentials | None = None
        self._projection: Projection | None = None
        self._segmented: Segmented | None = None
        self.begin()

    def run_to(self, goal: str) -> None:
        """Go on, as fast as it can, until every lane has met the goal: `gap`, `rho` or `end`."""
        self.post(lambda: self._toward(goal))

    # Called by the worker only.

    def _toward(self, goal: str) -> None:
        super()._play()
        self._goal, self._hurried = goal, True
        for lane in self._lanes:
            lane.since = lane.count

    def _play(self) -> None:
        """A walk that has ended is played from its beginning."""
        self._goal, self._hurried = "end", False
        if self._lanes and all(lane.state.reason for lane in self._lanes):
            self._reset()
        super()._play()

    def _pause(self) -> None:
        """Lanes that have gone on together rest at one step: a round that has begun is ended."""
        self._hurried = False
        super()._pause()
        most = max((lane.count for lane in self._lanes), default=0)
        self._turn = [lane for lane in self._lanes if lane.count == most - 1 and not self._over(lane)]

    def _step(self) -> None:
        self._goal, self._hurried = "end", False
        super()._step()

    def _allowed(self, lane: InferenceLane) -> int:
        """Towards a goal there is no pace."""
        return HURRY if self._hurried else super()._allowed(lane)

    def _make_lanes(self) -> list[InferenceLane]:
        self._goal, self._hurried = "end", False
        self._build()
        assert self._potentials is not None and self._projection is not None
        for plan in self.plan.lanes:
            check_lane(plan, self._potentials.n)
        names = names_of(self.plan.lanes)
        return [
            InferenceLane(plan, self._potentials, self._projection, self._epoch, name)
            for plan, name in zip(self.plan.lanes, names, strict=True)
        ]

    def _build(self) -> None:
        plan = self.plan
        model = resolve_model(plan.model, self._files)
        if not isinstance(model, Ising):
            raise InputError(not_walked(model))
        single = any(lane.algorithm in UNPAIRED for lane in plan.lanes)
        if self._model is not None and (plan.model, plan.beta, single) == self._built:
            return
        target = plan.target(model)
        potentials, _ = Potentials.of_target(target)
        if potentials.n != model.n:
            raise Refusal("this page shows models without clamped variables")
        projection = projection_of(potentials, single)
        self._model, self._potentials, self._projection = model, potentials, projection
        self._segmented = segmented(plan.model, potentials)
        self._built = (plan.model, plan.beta, single)
        key = f"{truth_key(target)} in its projection{' of singles' if single else ''}"
        self.reference = background.request(key, lambda: solving(target, potentials, projection))

    def _waiting(self) -> bool:
        return self.reference is not None and self.view.truth is None

    def _over(self, lane: InferenceLane) -> bool:
        """Lanes that have met the goal wait for the others."""
        return lane.met(self._goal)

    def _used(self, lane: InferenceLane) -> float:
        return lane.count

    def _advance(self, lane: InferenceLane, most: int) -> bool:
        lane.advance()
        return True

    def _lanes_view(self) -> tuple[InferenceLaneView, ...]:
        truth = self._truth()
        exact = truth.solution.p1 if truth is not None and truth.solution is not None else None
        return tuple(lane.view(exact) for lane in self._lanes)

    def _truth(self) -> Truth | None:
        job = self.reference
        return None if job is None or job.unfinished else job.truth or Truth(why_not=job.trouble or "")

    def _extras(self) -> dict[str, Any]:
        built = {"model": self._model, "potentials": self._potentials, "projection": self._projection}
        return {**built, "truth": self._truth(), "segmented": self._segmented}


def names_of(lanes: Sequence[Choice]) -> list[str]:
    """What lanes are called: their labels, which tell what is chosen, beside these also what is so by default; where
    two lanes differ in a number alone, that too."""
    labels = [lane.label for lane in lanes]
    if len(set(labels)) < len(labels):
        return lane_names(lanes)
    return [_named(lane, [other for other in lanes if other.algorithm == lane.algorithm]) for lane in lanes]


def _named(lane: Choice, alike: Sequence[Choice]) -> str:
    """One that has all choices by default is called by the first in which others differ."""
    if lane.label != lane.spec.label:
        return lane.label
    chosen = lane.full_knobs
    for param in lane.spec.params:
        if param.scale == "choice" and any(other.full_knobs[param.name] != chosen[param.name] for other in alike):
            return f"{lane.label}, {told(param, chosen[param.name])}"
    return lane.label


__all__ = ["InferenceView", "LiveInference", "Truth", "names_of"]

"""A live reading of a text: up to three lanes on one field, and the exact marginals beside them where there are any."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Int

from pmpviz import exact
from pmpviz.capabilities.text.lane import TextLane, TextLaneView, lane_of
from pmpviz.capabilities.text.plan import TextPlan
from pmpviz.live import background
from pmpviz.live.job import LiveJob
from pmpviz.live.lane_names import lane_names
from pmpviz.live.plan import begins_anew, describe_change
from pmpviz.live.view import View
from pmpviz.models.text import Words, links_of
from pmpviz.runs.truth import truth_key
from pmpviz.types import Exact, Target

# The exact answer is asked for once a hand has rested for so long.
REST_SECONDS = 0.25


@dataclass(frozen=True, eq=False)
class Answer:
    """The exact answer, or the sentence why there is none."""

    solution: Exact | None = None
    why_not: str = ""


def solving(target: Target) -> Generator[float, None, Answer]:
    """Solves a target exactly, all in one step."""
    yield 0.0
    reason = exact.why_not(target)
    return Answer(None, reason) if reason else Answer(exact.solve(target))


@dataclass(frozen=True, eq=False, kw_only=True)
class TextView(View):
    """An immutable picture of a live reading; `labels` are the true ones of an announcement."""

    plan: TextPlan
    words: Words | None = None
    labels: Any = None
    links: Int[np.ndarray, "l 2"] | None = None
    answer: Answer | None = None
    lanes: tuple[TextLaneView, ...] = ()


class LiveText(LiveJob):
    """Owns the lanes; a step is a sweep of the chains, or a step of a solver."""

    view: TextView
    view_type = TextView
    beginning = "reading the text"

    def __init__(self, plan: TextPlan, files: Callable[[str], Any] | None = None, speed: float = 0.0):
        super().__init__(plan, files, speed)
        self._read: dict[str, Any] = {"words": None, "labels": None, "links": None}
        self._target: Target | None = None
        self._asked_at = 0.0
        self.begin()

    def _make_lanes(self) -> list[TextLane]:
        words, labels = self.plan.words()
        self._read = {"words": words, "labels": labels, "links": links_of(words, self.plan.links)}
        self._retarget()
        return [lane_of(choice, self.plan, self._target) for choice in self.plan.lanes]

    def _retarget(self) -> Target:
        self._target, self.reference = self.plan.target(self._read["words"]), None
        self._asked_at = time.monotonic()
        return self._target

    def _begins_anew(self, before: TextPlan, plan: TextPlan) -> bool:
        return begins_anew(before, plan)

    def _adjust(self, before: TextPlan, plan: TextPlan) -> str:
        known = self._answer()
        solution = None if known is None else known.solution
        target = self._retarget()
        for lane, choice in zip(self._lanes, plan.lanes, strict=True):
            lane.change(choice, target, None if solution is None else solution.p1)
        self._repace()
        return describe_change(before, plan)

    def _look_around(self) -> None:
        """Asks for the exact answer once the settings rest."""
        target = self._target
        if target is not None and self.reference is None and time.monotonic() - self._asked_at > REST_SECONDS:
            self.reference = background.request(f"{truth_key(target)} of a text", lambda: solving(target))

    def _waiting(self) -> bool:
        return self._target is not None and self.view.answer is None

    def _over(self, lane: TextLane) -> bool:
        return lane.over or super()._over(lane)

    def _used(self, lane: TextLane) -> float:
        """At a pace lanes keep together; as fast as they go each has as many seconds."""
        return lane.count if self.speed else super()._used(lane)

    def _advance(self, lane: TextLane, most: int) -> bool:
        lane.advance(most)
        return True

    def _lanes_view(self) -> tuple[TextLaneView, ...]:
        names = lane_names([lane.choice for lane in self._lanes])
        return tuple(lane.view(name, self._over(lane)) for lane, name in zip(self._lanes, names, strict=True))

    def _answer(self) -> Answer | None:
        job = self.reference
        if job is None or job.unfinished:
            return None
        return job.truth or Answer(why_not=job.trouble or "")

    def _extras(self) -> dict[str, Any]:
        return {**self._read, "answer": self._answer()}


__all__ = ["Answer", "LiveText", "TextView", "solving"]

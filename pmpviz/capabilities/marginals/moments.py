"""A live inference as it was after a step: what words, tables and charts say while one looks back is of that moment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pmpviz.capabilities.marginals.kept import LAST_STEPS
from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.polytope import best_so_far
from pmpviz.marginals.solver import Answer, Record


def seen_at(view: InferenceView, at: int | None) -> InferenceView:
    """The view as it was after step `at` of every lane; as it is now where nobody looks back."""
    return view if at is None else replace(view, lanes=tuple(lane_at(lane, at) for lane in view.lanes))


def lane_at(lane: InferenceLaneView, step: int) -> InferenceLaneView:
    """The lane after that step; of a step that is not kept its marginals and weights are nan."""
    if step >= lane.count:
        return lane
    trace, then, walked = lane.trace[:step], lane.kept.get(step), lane.steps <= step
    walks = step > 0 and not np.isnan(lane.objective)
    record: Record = trace[-1] if trace else {}
    found = min(int(record.get("vertices", 0)) if then is None else len(then.weights), len(lane.corners))
    return replace(
        lane,
        count=step,
        seconds=float(record.get("seconds", 0.0)),
        reason="",
        trace=trace,
        answer=_recorded(lane, step) if then is None else then.answer,
        path=lane.path[walked],
        steps=lane.steps[walked],
        corners=lane.corners[:found],
        configurations=lane.configurations[:found],
        names=lane.names[:found],
        weights=np.full(found, np.nan) if then is None else then.weights[:found],
        rho=lane.rho if then is None else then.rho,
        # Where its next MAP call was made.
        objective=float(lane.trace[step]["objective"]) if walks else np.nan,
        rho_update=int(lane.trace[step]["rho_update"]) if walks else 0,
    )


def _recorded(lane: InferenceLaneView, step: int) -> Answer:
    """What a record has of the answer at its step, with the best bounds by then; at first all states are alike."""
    record: Record = lane.trace[step - 1] if step else {}
    unary = np.full(lane.answer.unary.shape, np.nan) if record else np.full(lane.answer.unary.shape, 0.5)
    best = {name: float(best_so_far(lane, key)[step]) for name, key in (("bound", "best_bound"), ("lower", "lower"))}
    return replace(
        lane.answer,
        unary=unary,
        log_z=record.get("objective"),
        gap=record.get("gap"),
        standard_error=record.get("standard_error"),
        mean_maximum=record.get("mean_maximum"),
        **{name: None if np.isnan(value) else value for name, value in best.items()},
    )


def last_steps(view: InferenceView, at: int | None) -> list[int]:
    """The steps of which words are sent: the newest, those that a browser may show before, what is looked back at."""
    newest = max((lane.count for lane in view.lanes), default=0)
    last = range(max(0, newest - LAST_STEPS), newest + 1)
    return sorted({*last, *([] if at is None else [min(at, newest)])})


__all__ = ["lane_at", "last_steps", "seen_at"]

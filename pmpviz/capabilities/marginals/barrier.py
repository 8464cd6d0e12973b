"""What the barrier does: walks with a contraction beside one without, at a moment of all of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.polytope import gap_of
from pmpviz.capabilities.marginals.words import calls
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer, significant

NONE = "no barrier"


def barrier(view: InferenceView) -> str:
    """What a contraction saves beside none, of walks that differ in nothing else, and every lane's call or gap."""
    kinds = [plan.full_knobs["contraction"] for plan in view.plan.lanes]
    (bare,) = (lane for lane, kind in zip(view.lanes, kinds, strict=True) if kind == "none")
    barriers = [(lane, kind) for lane, kind in zip(view.lanes, kinds, strict=True) if lane is not bare]
    over = any(lane.done for lane in view.lanes)
    saves = [_ahead(lane, bare) and (lane.done or not over) for lane, _ in barriers]
    better, rest = (
        [kind for (_, kind), good in zip(barriers, saves, strict=True) if good is wanted] for wanted in (True, False)
    )
    going = any(not lane.done for lane in view.lanes)
    head = "has not saved a MAP call yet" if going else "saves no MAP call"
    if better:
        head = "saves MAP calls" if over else "makes the gap smaller so far"
    who = f"{listed(better)} " if better and rest else ""
    if who:
        head += f", the {listed(rest)} one {'not yet' if going else 'does not'}"
    return f"The {who}barrier {head}: {_reached(view)}."


def _ahead(one: InferenceLaneView, other: InferenceLaneView) -> bool:
    """Whether a walk has its small gap after fewer MAP calls than another, or, where both go on, the smaller one."""
    if one.done or other.done:
        return one.done and (not other.done or one.count < other.count)
    return _gap_now(one) < _gap_now(other)


def _gap_now(lane: InferenceLaneView) -> float:
    """As it is printed: what looks alike is."""
    gap = gap_of(lane.trace[-1])
    return np.inf if gap is None else float(f"{gap:.3g}")


def _reached(view: InferenceView) -> str:
    """The MAP call at which each lane's gap was small enough, or how large it is; without brackets, which are left out
    before a class."""
    done = sorted((lane for lane in view.lanes if lane.done), key=lambda lane: lane.count)
    going = sorted((lane for lane in view.lanes if not lane.done), key=_gap_now)
    goal = f"to a gap of {view.plan.lanes[0].full_knobs['tolerance']:g}"
    ends = f"{_each(view, done, [integer(lane.count) for lane in done])} {goal}" if done else ""
    gaps = _each(view, going, [significant(_gap_now(lane)) for lane in going])
    now = f"gaps after {calls(max(lane.count for lane in view.lanes))}: {gaps}" if going else ""
    return "; ".join(filter(None, (ends, now)))


def _each(view: InferenceView, lanes: Sequence[InferenceLaneView], numbers: Sequence[str]) -> str:
    """`adaptive 23, fixed 51, no barrier 55`."""
    return ", ".join(f"{_kind(view, lane)} {number}" for lane, number in zip(lanes, numbers, strict=True))


def _kind(view: InferenceView, lane: InferenceLaneView) -> str:
    kind = view.plan.lanes[view.lanes.index(lane)].full_knobs["contraction"]
    return NONE if kind == "none" else kind


__all__ = ["barrier"]

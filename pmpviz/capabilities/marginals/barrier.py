"""What the barrier does: walks with a contraction beside one without, at a moment of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.polytope import gap_of
from pmpviz.capabilities.marginals.words import calls
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer, significant

BARRIER = "With correction steps the barrier"
NEITHER = "with neither barrier nor correction"


def barrier(view: InferenceView) -> str:
    """What a contraction saves beside none with the same correction steps, and every lane's call or gap."""
    lanes = list(zip(view.lanes, (plan.full_knobs for plan in view.plan.lanes), strict=True))
    correction = lanes[0][1]["correction"]
    alike = [(lane, knobs) for lane, knobs in lanes if knobs["correction"] == correction]
    (bare,) = (lane for lane, knobs in alike if knobs["contraction"] == "none")
    barriers = [(lane, knobs) for lane, knobs in alike if lane is not bare]
    over = any(lane.done for lane, _ in alike)
    saves = [_ahead(lane, bare) and (lane.done or not over) for lane, _ in barriers]
    better, rest = (
        [knobs["contraction"] for (_, knobs), good in zip(barriers, saves, strict=True) if good is wanted]
        for wanted in (True, False)
    )
    going = any(not lane.done for lane, _ in alike)
    head = "has not saved a MAP call yet" if going else "saves no MAP call"
    if better:
        head = "saves MAP calls" if over else "makes the gap smaller so far"
    if better and rest:
        head += f" if {listed(better)}, not {'yet ' if going else ''}if {listed(rest)}"
    reached = _reached(view)
    return f"{BARRIER} {head}. {reached[:1].upper()}{reached[1:]}.{_plain(view, barriers)}"


def _plain(view: InferenceView, barriers: Sequence[tuple[InferenceLaneView, dict[str, Any]]]) -> str:
    """Which walks with a barrier one with neither barrier nor correction steps is ahead of, once all of them are done:
    a last sentence, which a class is not told where there is no room for it."""
    plain = [lane for lane in view.lanes if _contracted(view, lane) == NEITHER]
    if len(plain) != 1 or not all(lane.done for lane in [*plain, *(lane for lane, _ in barriers)]):
        return ""
    kinds = [knobs["contraction"] for lane, knobs in barriers if lane.count > plain[0].count]
    return f" So plain Frank-Wolfe is sooner than the barrier if {listed(kinds)}." if kinds else ""


def _ahead(one: InferenceLaneView, other: InferenceLaneView) -> bool:
    """Whether a walk has its small gap after fewer MAP calls than another, or, where both go on, the smaller one."""
    if one.done or other.done:
        return one.done and (not other.done or one.count < other.count)
    return _gap_now(one) < _gap_now(other)


def _gap_now(lane: InferenceLaneView) -> float:
    """As it is printed: what looks alike is."""
    gap = gap_of(lane.trace[-1])
    return np.inf if gap is None else float(f"{gap:.3g}")


def _contracted(view: InferenceView, lane: InferenceLaneView) -> str:
    """`if adaptive`, or `with neither barrier nor correction`; few letters and no brackets, which are left out before
    a class."""
    knobs = view.plan.lanes[view.lanes.index(lane)].full_knobs
    corrects = knobs["correction"] != "never"
    if knobs["contraction"] == "none":
        return "without it" if corrects else NEITHER
    return f"if {knobs['contraction']}{'' if corrects else ' without correction'}"


def _plain_last(view: InferenceView, lanes: Sequence[InferenceLaneView]) -> list[InferenceLaneView]:
    """In their order, what has neither barrier nor correction steps after those with the same corrections."""
    return sorted(lanes, key=lambda lane: _contracted(view, lane) == NEITHER)


def _reached(view: InferenceView) -> str:
    """The MAP call at which each lane's gap was small enough, or how large it is."""
    goal = f"{view.plan.lanes[0].full_knobs['tolerance']:g}"
    over = _plain_last(view, sorted((lane for lane in view.lanes if lane.done), key=lambda lane: lane.count))
    going = _plain_last(view, sorted((lane for lane in view.lanes if not lane.done), key=_gap_now))
    reached = [f"{integer(lane.count)} {_contracted(view, lane)}" for lane in over]
    parts = [f"the gap is within {goal} after MAP call {listed(reached)}"] if over else []
    if going:
        still = listed([f"{significant(_gap_now(lane))} {_contracted(view, lane)}" for lane in going])
        now = calls(max(lane.count for lane in view.lanes))
        parts.append(f"after {now} {'it' if over else 'the gap'} is {still}")
    return "; ".join(parts)


__all__ = ["BARRIER", "barrier"]

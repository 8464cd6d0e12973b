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

BARRIER = "With corrections, averaging answers anew,"
NEITHER = "no barrier, no correction"


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
    who = f"{listed(better)} " if better and rest else ""
    head = "has not saved a MAP call yet" if going else "saves no MAP call"
    if better:
        head = "saves MAP calls" if over else "makes the gap smaller so far"
    if who:
        head += f", the {listed(rest)} one {'not yet' if going else 'does not'}"
    return f"{BARRIER} the {who}barrier {head}. {_reached(view)}{_plain(view, barriers)}"


def _plain(view: InferenceView, barriers: Sequence[tuple[InferenceLaneView, dict[str, Any]]]) -> str:
    """Which walks with a barrier one with neither barrier nor correction steps is ahead of, once all of them are done:
    a last sentence, which a class is not told where there is no room for it."""
    plain = [lane for lane in view.lanes if _contracted(view, lane) == NEITHER]
    if len(plain) != 1 or not all(lane.done for lane in [*plain, *(lane for lane, _ in barriers)]):
        return ""
    kinds = [knobs["contraction"] for lane, knobs in barriers if lane.count > plain[0].count]
    return f" With neither it is sooner than with the {listed(kinds)} barrier." if kinds else ""


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
    """`adaptive barrier`, as lanes are named; without brackets, which are left out before a class."""
    knobs = view.plan.lanes[view.lanes.index(lane)].full_knobs
    kind = "no barrier" if knobs["contraction"] == "none" else f"{knobs['contraction']} barrier"
    return kind if knobs["correction"] != "never" else f"{kind}, no correction"


def _plain_last(view: InferenceView, lanes: Sequence[InferenceLaneView]) -> list[InferenceLaneView]:
    """In their order, what has neither barrier nor correction steps after those with the same corrections."""
    return sorted(lanes, key=lambda lane: _contracted(view, lane) == NEITHER)


def _reached(view: InferenceView) -> str:
    """The MAP call at which each lane's gap was small enough, or how large it is."""
    goal = f"{view.plan.lanes[0].full_knobs['tolerance']:g}"
    over = _plain_last(view, sorted((lane for lane in view.lanes if lane.done), key=lambda lane: lane.count))
    going = _plain_last(view, sorted((lane for lane in view.lanes if not lane.done), key=_gap_now))
    reached = [f"{_contracted(view, lane)} {integer(lane.count)}" for lane in over]
    still = [f"{_contracted(view, lane)} {significant(_gap_now(lane))}" for lane in going]
    now = calls(max(lane.count for lane in view.lanes))
    parts = [f"MAP calls to a gap of {goal}: {'; '.join(reached)}."] if over else []
    return " ".join([*parts, f"Gap after {now}: {'; '.join(still)}."] if going else parts)


__all__ = ["BARRIER", "barrier"]

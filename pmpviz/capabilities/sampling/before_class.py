"""What a class reads of a race whose energies it sees: whose is right, since when, and how far the others are off."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from pmpviz.capabilities.sampling.evidence import (
    energies,
    energy_now,
    far,
    how_far,
    law_energy,
    right_since,
    shows_energy,
    stretch_of,
)
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.then import under_others
from pmpviz.player.model_words import listed

CLEARLY = 2.0  # So many times as far off as a verdict speaks of an energy.


def energy_verdict(view: LiveView) -> str:
    """The verdict of a race by the energies that are drawn; empty where there is more to say, or too little is known.

    MMD^2 and its noise, by which the others are told, are not on screen there.
    """
    law = law_energy(view)
    known = law is not None and shows_energy(view) and not view.coming and not under_others(view)
    settled = view.truth is None or view.truth.settled
    if not known or law is None or not settled or not all(energies(lane).get("energy:error") for lane in view.lanes):
        return ""
    most = far(view)
    since = {id(lane): right_since(lane, law, view.plan.chains) for lane in view.lanes}
    right = [lane for lane in view.lanes if abs(energy_now(view, lane)) <= most]
    right.sort(key=lambda lane: (since[id(lane)] or (inf, inf))[1])
    if any(lane.judged and not lane.passage and not lane.begins_within for lane in right):
        return ""  # Its energy alone would say too much.
    wrong = [lane for lane in view.lanes if lane not in right]
    said = [_right(right, [since[id(lane)] for lane in right])] if right else []
    said += [listed([_wrong(view, lane) for lane in wrong])] if wrong else []
    return f"{'; '.join(said)}." if right else f"No energy is right yet: {'; '.join(said)}."


def _right(lanes: Sequence[LaneView], since: Sequence[tuple[int, int] | None]) -> str:
    each = [
        f"{lane.label}{f' after {stretch_of(*begun)}' if begun else ''}"
        for lane, begun in zip(lanes, since, strict=True)
    ]
    return f"Right energy: {', then '.join(each)}"


def _wrong(view: LiveView, lane: LaneView) -> str:
    """Draws that are not of the model's law stay so, however many there are; what is little off may be right by chance
    at the next one."""
    off = energy_now(view, lane)
    biased = lane.kind == "draw" and lane.guarantee == "approximate" and abs(off) > CLEARLY * far(view)
    return f"{lane.label} is {how_far(off)}{', and stays so' if biased else ''}"


__all__ = ["energy_verdict"]

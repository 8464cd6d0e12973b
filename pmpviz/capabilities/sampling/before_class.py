"""What a class reads of a race whose energies it sees: whose is right, since when, and how far the others are off."""

from __future__ import annotations

from math import inf

from pmpviz.capabilities.sampling.evidence import (
    energies,
    energy_now,
    far,
    how_far,
    keeps_its_law,
    law_energy,
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
    known = all(energies(lane).get("energy:error") for lane in view.lanes)
    # After a change in mid-run it is to be said from where sweeps are counted.
    changed = view.coming or under_others(view) or any(lane.since for lane in view.lanes)
    if law is None or not known or changed or (view.truth is not None and not view.truth.settled):
        return ""
    right = [lane for lane in view.lanes if abs(energy_now(view, lane)) <= far(view)]
    if any(lane.judged and not lane.passage and not lane.begins_within for lane in right):
        return ""  # Its energy alone would say too much.
    wrong = [_wrong(view, lane) for lane in view.lanes if lane not in right]
    if not right:
        return f"No energy is right yet: {listed(wrong)}."
    return f"Right energy: {_since_when(right)}{f'; {listed(wrong)}' if wrong else ''}."


def _since_when(lanes: list[LaneView]) -> str:
    """Whose energy is right since when, those together that came together; of some that is not known yet."""
    came: dict[str, list[str]] = {}
    for lane in sorted(lanes, key=_came):
        since = f"after {stretch_of(*lane.right)}" if lane.right else ""
        when = "from the start" if lane.guarantee == "exact" else since
        came.setdefault(when, []).append(lane.label)
    now = came.pop("", [])
    known = ", then ".join(f"{listed(labels)} {when}" for when, labels in came.items())
    if not known:
        return f"{listed(now)} by now"
    return f"{known}{f'; by now {listed(now)}, too' if now else ''}"


def _came(lane: LaneView) -> float:
    """After how many sweeps its energy was right: exact draws are from the first one on."""
    return 0 if lane.guarantee == "exact" else lane.right[1] if lane.right else inf


def _wrong(view: LiveView, lane: LaneView) -> str:
    """Draws that are not of the model's law stay so; what is little off may be right by chance at the next one."""
    off = energy_now(view, lane)
    stays = keeps_its_law(lane) and abs(off) > CLEARLY * far(view)
    return f"{lane.label} {'stays' if stays else 'is'} {how_far(off)}"


__all__ = ["energy_verdict"]

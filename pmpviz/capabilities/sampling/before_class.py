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
    order = sorted(((lane, lane.right) for lane in right), key=lambda at: (at[1] or (inf, inf))[1])
    each = [f"{lane.label}{f' after {stretch_of(*begun)}' if begun else ''}" for lane, begun in order]
    return f"Right energy: {', then '.join(each)}{f'; {listed(wrong)}' if wrong else ''}."


def _wrong(view: LiveView, lane: LaneView) -> str:
    """Draws that are not of the model's law stay so; what is little off may be right by chance at the next one."""
    off = energy_now(view, lane)
    stays = keeps_its_law(lane) and abs(off) > CLEARLY * far(view)
    return f"{lane.label} {'stays' if stays else 'is'} {how_far(off)}"


__all__ = ["energy_verdict"]

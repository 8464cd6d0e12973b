"""What is said of a moment that is looked back at and was under other settings than the present ones."""

from __future__ import annotations

from dataclasses import replace

from pmpviz.capabilities.sampling.evidence import energies, energy_now, far, how_far
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.live.plan import before_and_after, describe_change
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer

OTHERS = "the settings were others"
EDITS = {
    "field painted": ("field", "no field was painted", "another field was painted"),
    "sites clamped": ("clamp", "no sites were clamped", "other sites were clamped"),
}


def under_others(view: LiveView) -> str:
    """That lanes are before their present settings, which ones they had, and when these changed; empty of others."""
    before = [lane for lane in view.lanes if lane.before_settings]
    if not before:
        return ""
    were, (first, last) = _were(view), _when(view, before)
    sweeps = f"sweeps {integer(first)} to {integer(last)}" if last > first else f"sweep {integer(last)}"
    if any(first <= lane.since < lane.sweep for lane in view.lanes):
        return f"Only some lanes had changed then: {were} until {sweeps}, where the verdict begins anew."
    changed = "they" if were == OTHERS else "the settings"
    said = f"{were[:1].upper()}{were[1:]} then: {changed} changed at {sweeps}, where the verdict begins anew."
    return " ".join(filter(None, (said, _energy(view))))


def _when(view: LiveView, before: list[LaneView]) -> tuple[int, int]:
    """The sweeps of the first and the last lane at the change that the last of these lanes had not seen yet."""
    last = max(lane.since for lane in before)
    together = next((places for places in view.changed_at.values() if last in places), (last,))
    return min(together), last


def _energy(view: LiveView) -> str:
    """How far the mean energies of then are off the exact one of then; empty where that is not known."""
    sweeps = [lane.sweep for lane in view.lanes]
    laws = [law for law in view.earlier if law.since < min(sweeps) and max(sweeps) <= law.until]
    if len(laws) != 1 or not laws[0].exact:
        return ""
    lanes = tuple(replace(lane, since=laws[0].since) for lane in view.lanes)
    then = replace(view, energy=laws[0].energy, truth=None, lanes=lanes)
    known = [(lane.label, energy_now(then, lane)) for lane in lanes if energies(lane).get("energy:error")]
    right = [name for name, off in known if abs(off) <= far(then)]
    told = [(listed(right), "right within chance")] if right else []
    told += [(name, how_far(off)) for name, off in known if name not in right]
    several = len(lanes) > 1
    return (
        f"By mean energy alone, then: {', '.join(f'{name} {off}' if several else off for name, off in told)}."
        if told
        else ""
    )


def _were(view: LiveView) -> str:
    """The settings of then that are not the present ones; lanes that were added or taken away are none of them."""
    changes = before_and_after(describe_change(view.plan, view.present or view.plan))
    told = [f"{name} was {was}" if was else _edit(view.plan, name) for name, (was, _) in changes.items()]
    return listed([each for each in told if each]) or OTHERS


def _edit(plan: Plan, name: str) -> str:
    """What a person had painted or clamped."""
    field, none, another = EDITS.get(name, ("", "", ""))
    return (another if getattr(plan, field) else none) if field else ""

"""Curves that a person has kept: what a lane had shown at a moment, to be drawn behind the runs that follow."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.sampling.draws import DrawsView
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.measures import MetricPoint
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.live.lane_names import told
from pmpviz.live.store import Series
from pmpviz.player.model_words import temperature
from pmpviz.player.numbers import integer
from pmpviz.player.style import Style

MOST = 6


@dataclass(frozen=True, eq=False)
class Kept:
    """The curves of a lane up to a sweep, under the style that they have from then on.

    `plan` is that of the moment, with this lane alone, and `before` are those of earlier sweeps, each with the last
    one under it. They are drawn beside runs of the same `model` alone.
    """

    label: str
    sweep: int
    model: str
    plan: Plan
    before: tuple[tuple[int, Plan], ...]
    algorithm: str
    style: Style
    series: Series
    draws: DrawsView | None
    points: tuple[MetricPoint, ...]
    earlier: tuple[tuple[MetricPoint, ...], ...] = ()

    def name(self, present: Plan) -> str:
        """What the curves are called beside a run of present settings: with what theirs differ in."""
        differs = differences(self.plan, present)
        return f"{self.label}{f' at {differs}' if differs else ''}, kept at sweep {integer(self.sweep)}"


def differences(plan: Plan, present: Plan) -> str:
    """The settings of a plan of one lane that are not the present ones, in words."""
    (lane,) = plan.lanes
    found = [] if plan.beta == present.beta else [temperature(plan.beta)]
    alike = [other.full_knobs for other in present.lanes if other.algorithm == lane.algorithm]
    params = {param.name: param for param in lane.spec.params}
    for name, value in lane.full_knobs.items() if lane.full_knobs not in alike else ():
        if alike and all(knobs[name] != value for knobs in alike):
            found.append(told(params[name], value if isinstance(value, str) else f"{value:g}"))
    for name, words in (
        ("start", "start"),
        ("chains", "chains"),
        ("field", "painted field"),
        ("clamp", "clamped sites"),
    ):
        if getattr(plan, name) != getattr(present, name):
            found.append(_other(words, getattr(plan, name)))
    return ", ".join(found)


def _other(words: str, value: Any) -> str:
    if isinstance(value, str | int):
        return f"{words} {value}"
    return f"other {words}" if value else f"no {words}"


def keep(kept: tuple[Kept, ...], view: LiveView, index: int, style: Style) -> tuple[Kept, ...]:
    """With the curves of one more lane; the oldest make room. Without those of a lane that has shown nothing yet."""
    lane = view.lanes[index]
    # A plan that could not be begun may stand beside the lanes before it.
    if not lane.series.last or index >= len(view.plan.lanes):
        return kept
    return (*kept, _frozen(lane, index, view, style))[-MOST:]


def of_model(kept: tuple[Kept, ...], model: str) -> tuple[Kept, ...]:
    """Those that were kept of this model."""
    return tuple(each for each in kept if each.model == model)


def _frozen(lane: LaneView, index: int, view: LiveView, style: Style) -> Kept:
    draws = lane.draws
    draws = None if draws is None else dataclasses.replace(draws, series=draws.series.copy())
    plan = view.plan.replace(lanes=view.plan.lanes[index : index + 1])
    style = Style(style.colour, "dot" if style.dash != "dot" else "dashdot", style.marker)
    curves = lane.series.copy(), draws, lane.points, lane.earlier
    return Kept(lane.label, lane.sweep, plan.model, plan, view.before, lane.algorithm, style, *curves)

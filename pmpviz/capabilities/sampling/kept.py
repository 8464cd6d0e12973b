"""Curves that a person has kept: what a lane had shown at a moment, to be drawn behind the runs that follow."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from pmpviz.capabilities.sampling.draws import DrawsView
from pmpviz.capabilities.sampling.lane import LaneView, MetricPoint
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.live.store import Series
from pmpviz.player.model_words import temperature
from pmpviz.player.numbers import integer
from pmpviz.player.style import Style

MOST = 6


@dataclass(frozen=True, eq=False)
class Kept:
    """The curves of a lane up to a sweep, under the name and the style that they have from then on.

    They are drawn beside runs of the same `model` alone.
    """

    name: str
    model: str
    algorithm: str
    style: Style
    series: Series
    draws: DrawsView | None
    points: tuple[MetricPoint, ...]


def keep(kept: tuple[Kept, ...], view: LiveView, index: int, style: Style) -> tuple[Kept, ...]:
    """With the curves of one more lane; the oldest make room. Without those of a lane that has shown nothing yet."""
    lane = view.lanes[index]
    if not lane.series.last:
        return kept
    return (*kept, _frozen(lane, view, style))[-MOST:]


def of_model(kept: tuple[Kept, ...], model: str) -> tuple[Kept, ...]:
    """Those that were kept of this model."""
    return tuple(each for each in kept if each.model == model)


def _frozen(lane: LaneView, view: LiveView, style: Style) -> Kept:
    draws = lane.draws
    draws = None if draws is None else dataclasses.replace(draws, series=draws.series.copy())
    heat = "" if view.plan.beta == 1 else f" at {temperature(view.plan.beta)}"
    name = f"{lane.label}{heat}, kept at sweep {integer(lane.sweep)}"
    style = Style(style.colour, "dot" if style.dash != "dot" else "dashdot", style.marker)
    return Kept(name, view.plan.model, lane.algorithm, style, lane.series.copy(), draws, lane.points)

"""The numbers of a race, one row a lane."""

from __future__ import annotations

from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.player.numbers import integer, seconds, significant

COLUMNS = (
    "",
    "sweeps",
    "time",
    "MMD²",
    "± noise",
    "marginal L1",
    "pair error",
    "ESS",
    "ESS/s",
    "R-hat",
    "τ",
    "sweeps/s",
    "compiled in",
)


def rows(view: LiveView) -> list[tuple[str, ...]]:
    """Cells as text; what does not apply says n/a."""
    return [_row(lane) for lane in view.lanes]


def _row(lane: LaneView) -> tuple[str, ...]:
    point = lane.points[-1] if lane.points else None
    rate = lane.ess / lane.seconds if lane.ess is not None and lane.seconds > 0 else None
    return (
        f"{lane.label} ({lane.guarantee})",
        integer(lane.sweep),
        seconds(lane.seconds),
        significant(point.mmd2 if point else None),
        significant(point.deviation if point else None),
        significant(point.marginal_l1 if point else None),
        significant(point.pair_error if point else None),
        significant(lane.ess),
        significant(rate),
        significant(lane.rhat, 4),
        significant(lane.time),
        significant(lane.rate),
        seconds(lane.compile_seconds),
    )


def markdown(view: LiveView) -> str:
    """The table in Markdown, numbers to the right."""
    head = "| " + " | ".join(COLUMNS) + " |"
    rule = "|:--|" + "--:|" * (len(COLUMNS) - 1)
    return "\n".join([head, rule, *("| " + " | ".join(row) + " |" for row in rows(view))])

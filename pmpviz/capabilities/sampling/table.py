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
    "noise",
    "marginal L1",
    "pair error",
    "ESS",
    "ESS/s",
    "R-hat",
    "τ",
    "sweeps/s on average",
    "statistics since",
    "MMD² measured at",
    "compiled in",
)
HELP = """
**ESS**: effective draws of all chains, by their energy, in the second half of the last 1,024 sweeps (of fewer, while
there are fewer); of a method that makes independent draws, all completed ones.

**ESS/s**: effective draws of all chains for each second that they took to compute, so that lanes can be compared
however long they ran. More chains do not change it where a sweep of twice as many takes twice as long; it rises where
they are computed side by side.

**Noise**: 95 of 100 estimates of MMD² between as many independent samples of the reference's law and a reference are
below it. All looks of a race share one reference: where that is unlucky, exact draws lie above more often.

**Sweeps**: the row is of this sweep, but for what is compared with the reference. **MMD² measured at**: MMD², marginal
L1 and pair error are those of that sweep; they are taken ever more rarely.

**Sweeps/s on average**: all sweeps over all seconds of computing. Under the picture stands the rate of now.

**Statistics since**: the sweep at which the settings last changed. All statistics begin anew there, MMD² too.
"""


def rows(view: LiveView) -> list[tuple[str, ...]]:
    """Cells as text; what does not apply says n/a."""
    return [_row(lane) for lane in view.lanes]


def _row(lane: LaneView) -> tuple[str, ...]:
    point, found = lane.point, lane.summary
    # The row is of the moment at which its statistics were taken.
    sweep, time = (lane.sweep, lane.seconds) if found.sweep is None else (found.sweep, found.seconds)
    return (
        f"{lane.label} ({lane.guarantee})",
        integer(sweep),
        seconds(time),
        significant(point.mmd2 if point else None),
        significant(point.noise if point else None),
        significant(point.marginal_l1 if point else None),
        significant(point.pair_error if point else None),
        significant(found.ess),
        significant(found.ess_rate),
        significant(found.rhat, 4),
        significant(found.time),
        significant(sweep / time if time else None),
        f"sweep {integer(lane.since)}",
        f"sweep {integer(point.sweep)}" if point else "n/a",
        seconds(lane.compile_seconds),
    )


def markdown(view: LiveView) -> str:
    """The table in Markdown, numbers to the right."""
    head = "| " + " | ".join(COLUMNS) + " |"
    rule = "|:--|" + "--:|" * (len(COLUMNS) - 1)
    return "\n".join([head, rule, *("| " + " | ".join(row) + " |" for row in rows(view))])

"""The numbers of a race, one row a lane."""

from __future__ import annotations

from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.measures import MetricPoint
from pmpviz.player.numbers import integer, seconds, significant

COLUMNS = (
    "",
    "at sweep",
    "time",
    "MMD²",
    "noise",
    "compared at",
    "marginal L1",
    "pair error",
    "ESS",
    "ESS/s",
    "R-hat",
    "τ",
    "sweeps/s on average",
    "statistics since",
    "compiled in",
)
# Beneath the table; the whole of it is behind its question mark.
IN_SHORT = (
    "**MMD²** below 0: of samples that follow the law the estimate falls about 0, on either side. "
    "**Marginal L1**, **pair error**: how far the frequencies of sites and of pairs are off, in brackets what as many "
    "exact samples are off on average. Sites that turn together are off together: a lane may lie well above that or "
    "below without being worse or better, and its energy be wrong where neither tells. "
    "**ESS**: how many independent draws the samples of the last sweeps are worth, "
    "by their energy, **ESS/s** for each second of those sweeps; in brackets where it may be worth less: an "
    "approximate method, MMD² above the noise, or R-hat above 1.01, as good chains have of few sweeps, too. "
    "**R-hat**: 1 where the chains agree; in brackets where it is of fewer than 64 sweeps, in which even quick chains "
    "have hardly forgotten where they were. **τ**: sweeps until a chain has forgotten its energy; in brackets where "
    "fewer than 50 τ were counted. **Apart**: neither ESS nor τ is known, of chains with R-hat above 1.1 that "
    "still differ as they did some sweeps ago. n/a: not known yet, or does not apply; –: not kept of a moment looked "
    "back at."
)
HELP = """
**ESS**: effective draws of all chains, by their energy, in the second half of the last 1 024 sweeps (of fewer, while
there are fewer); of a method that makes independent draws, all completed ones. While R-hat is above
1.1, and chains that differ early in that window still do late in it, they know where they began, and ESS and τ, which
take each chain for a stretch of the law, are not told.

**ESS/s**: effective draws of all chains for each second that they took to compute, so that lanes can be compared
however long they ran. More chains do not change it where a sweep of twice as many takes twice as long; it rises where
they are computed side by side. Lanes share the cores, so that seconds differ by some 10 % to 70 % between runs.

**In brackets** ESS and ESS/s are no measure of merit: draws of an approximate method are independent ones of its own
law; chains with MMD² above the noise have not met the model's law yet, though each may move, and chains with R-hat
above 1.01 may not have: of few sweeps R-hat is above it of good chains, too.

**Marginal L1**: mean over the sites of |p̂(x = 1) − p(x = 1)|. **Pair error**: mean over the edges of how far the
frequencies of the pair's states are from their probabilities, half the sum of the gaps. Neither is 0 of exact samples:
in brackets stands what as many of them, independent, are off on average, from the probabilities themselves.

**MMD²** is an unbiased estimate: of samples that follow the law it falls about 0, on either side. On the log axis of
its curve what is below stands at the foot, lanes in turns; the pointer tells its value.

**R-hat**: how much chains differ from each other against how much each varies; 1 where they agree, below 1.01 is good.
It is of the second half of the last 1 024 sweeps, too. Chains of the very law differ as long as these are few times τ:
below 64 of them R-hat stands in brackets, and from there on a verdict says where it is above 1.1: all chains together
may be within the noise while each is still where it began.

**τ**: integrated autocorrelation time of the energy: so many sweeps are worth one independent draw. As many as 50 τ are
to be counted for it to be known to some per cent; where they are fewer it stands in brackets, and may be off by much.

**Noise**: 95 of 100 estimates of MMD² between as many independent samples of the reference's law and a reference are
below it. All looks of a race share one reference: where that is unlucky, exact draws lie above more often.

**At sweep**: the row is of this sweep, but for what is compared with the reference; the pictures go on meanwhile.
**Compared at**: MMD², marginal L1 and pair error are those of that sweep; they are taken at sweeps 1, 2, 4, ..., 64 and
then every 64, so that a verdict gives the two sweeps between which a lane came within the noise. Of a method that makes
a draw in several sweeps they are of finished draws alone.

**Compiled in**: `before` where the programs were compiled for an earlier run.

**Sweeps/s on average**: all sweeps over all seconds of computing. Under the pictures of several lanes stands what one
sweep takes by it. It is of computing alone: lanes take turns, and those that are quick wait for the slowest one.

**Statistics since**: the sweep at which the settings last changed. All statistics begin anew there, MMD² too; those of
draws that take several sweeps with the next one that is begun.
"""


MET = 1.01
"""R-hat up to which chains have met."""

LEAST_COMPILED = 1e-3
"""Seconds: what took less was found compiled."""


def rows(view: LiveView) -> list[tuple[str, ...]]:
    """Cells as text; what does not apply says n/a."""
    return [_row(lane) for lane in view.lanes]


def _row(lane: LaneView) -> tuple[str, ...]:
    found = lane.summary
    # The row is of the moment at which its statistics were taken.
    sweep, time = (lane.sweep, lane.seconds) if found.sweep is None else (found.sweep, found.seconds)
    point = next((point for point in reversed(lane.points) if point.sweep <= sweep), None)
    worth = found.ess, found.ess_rate, found.time
    ess, rate, forgets = ("apart",) * 3 if found.apart else [significant(each) for each in worth]
    return (
        f"{lane.label} ({lane.guarantee})",
        integer(sweep),
        seconds(time) if time else "n/a",
        *(_compared(point) if point else ["–" if lane.before_settings else "n/a"] * 5),
        *(_kept(lane, _marked(text, _another_law(lane, point))) for text in (ess, rate)),
        *(
            _kept(lane, _marked(text, brackets)) if lane.kind == "chain" else text
            for text, brackets in ((significant(found.rhat, 4), found.brief), (forgets, found.rough))
        ),
        significant(sweep / time if time else None),
        f"sweep {integer(_since(lane))}" if sweep >= lane.since else "n/a",
        _compiled(lane),
    )


def _since(lane: LaneView) -> int:
    """The sweep since which statistics count: of draws the end of the one that was begun under other settings."""
    draws = lane.draws
    if draws is None or draws.length == 1 or not lane.since:
        return lane.since
    if lane.making:
        return lane.sweep + lane.before_making - (0 if lane.before_making else lane.making[0])
    ends = draws.series.bins(lane.since + 1, lane.sweep).least
    return max(int(ends["sweep"][0]) - draws.length, lane.since) if len(ends["sweep"]) else lane.since


def _compared(point: MetricPoint) -> tuple[str, ...]:
    """What is compared with the reference."""
    return (
        significant(point.mmd2),
        significant(point.noise),
        f"sweep {integer(point.sweep)}",
        _beside(point.marginal_l1, point.marginal_floor),
        _beside(point.pair_error, point.pair_floor),
    )


def _beside(error: float, floor: float) -> str:
    """An error, and the one of as many exact samples."""
    return _marked(significant(floor), True, f"{significant(error)} ") if floor == floor else significant(error)


def _another_law(lane: LaneView, point: MetricPoint | None) -> bool:
    """Whether independent draws of what the lane makes are none of the model's law, or not yet."""
    apart = (lane.summary.rhat or 0.0) > MET or (point is not None and point.band.known and not point.within)
    return lane.guarantee == "approximate" or (lane.guarantee != "exact" and apart)


def _marked(text: str, brackets: bool, before: str = "") -> str:
    return f"{before}({text})" if brackets and text not in ("n/a", "apart") else before + text


def _kept(lane: LaneView, text: str) -> str:
    """Of a moment that is looked back at statistics of the chains are not there any more."""
    return "–" if lane.past else text


def _compiled(lane: LaneView) -> str:
    if lane.cold is not None:
        return "n/a"
    return seconds(lane.compile_seconds) if lane.compile_seconds >= LEAST_COMPILED else "before"


def markdown(view: LiveView) -> str:
    """The table in Markdown, numbers to the right; since when statistics count where that is not the start."""
    changed = any(lane.since for lane in view.lanes)
    kept = [place for place, name in enumerate(COLUMNS) if changed or name != "statistics since"]
    lines = [[row[place] for place in kept] for row in (COLUMNS, *rows(view))]
    lines.insert(1, [":--", *["--:"] * (len(kept) - 1)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

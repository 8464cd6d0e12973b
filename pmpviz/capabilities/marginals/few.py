"""How few MAP calls good marginals take: the answer to that question, by the numbers of a moment of its walk."""

from __future__ import annotations

from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.words import calls, error, steps_of
from pmpviz.player.numbers import integer, significant

# Marginals so far off on average are good, and very good.
GOOD = (0.05, 0.02, 0.01)


def few(view: InferenceView) -> str:
    """Since which MAP call the marginals have been good, and how far off they are now."""
    (lane,) = view.lanes
    off = error(view, lane)
    if off is None:
        return ""
    anew = ", averaged anew at the end," if lane.done and view.plan.lanes[0].full_knobs["correction"] != "never" else ""
    now = f"after {steps_of(lane)}{anew} they are {significant(off, 2)} off"
    since = [(good, first) for good in GOOD if (first := _since(lane, good)) is not None]
    # What is so since the last step alone has not stayed so.
    since = [(good, first) for good, first in since if first < lane.count] or since[:1]
    if not since:
        return f"More than {calls(lane.count)}: {now} on average."
    strictest = {first: good for good, first in since}
    (first, good), *more = strictest.items()
    enough = f"{calls(first)}: from then on marginals have stayed within {good:g} of the exact ones on average"
    return f"{enough}{''.join(f', from {integer(k)} within {better:g}' for k, better in more)}; {now}."


def _since(lane: InferenceLaneView, good: float) -> int | None:
    """The step from which on marginals were so good up to now; None where they are not, or it was not kept."""
    first = None
    for step in range(lane.count, 0, -1):
        off = lane.errors.get(step)
        if off is None or off > good:
            break
        first = step
    return first


__all__ = ["GOOD", "few"]

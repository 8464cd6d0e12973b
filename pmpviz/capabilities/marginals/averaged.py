"""How averages of a few corners become marginals: the answer where a polytope is seen whole."""

from __future__ import annotations

import numpy as np

from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.words import CLOSED, centre, error, exact_p1, steps_of
from pmpviz.player.numbers import integer, significant

# Weights below this are none: the configuration is in the mixture by rounding.
IN_USE = 1e-9


def averaged(view: InferenceView) -> str:
    """How far off what the axes of the picture show of the mixture is, and its marginals, beside the start that knows
    nothing."""
    (lane,) = view.lanes
    # A class is spared what is in brackets.
    said = f"The average of {_mixture(lane)}, after {steps_of(lane)}, is"
    offs = axes_off(view, lane)
    if lane.count not in offs:  # Of a long path only some points are kept.
        return f"{said} not kept."
    now, start = significant(offs[lane.count], 2), significant(offs[0], 2)
    pairs = f"{said} {now} off exact correlations (on average; {start} at the start)."
    return f"{pairs}{_led(lane)}{_singles(view, lane)}"


def _singles(view: InferenceView, lane: InferenceLaneView) -> str:
    """How far off the marginals of single spins are, of which the picture has no axis."""
    exact, off = exact_p1(view), error(view, lane)
    if exact is None or off is None:
        return ""
    start = significant(float(np.abs(0.5 - exact).mean()), 2)
    return f" Single spins are {significant(off, 2)} off ({start} at the start)."


def _mixture(lane: InferenceLaneView) -> str:
    """`6 configurations at 3 corners and the centre`."""
    count = in_use(lane)
    said = f"{integer(count)} configuration{'' if count == 1 else 's'}{_at_corners(lane)}"
    return said if centre(lane) is None else f"{said} and the centre"


def axes_off(view: InferenceView, lane: InferenceLaneView) -> dict[int, float]:
    """How far off what the axes of the picture show was after each step whose point is kept; empty without the exact
    one."""
    exact = None if view.truth is None else view.truth.place
    if exact is None:
        return {}
    offs = np.abs(lane.path - np.asarray(exact)).mean(1)
    return dict(zip(lane.steps.tolist(), offs.tolist(), strict=True))


def _led(lane: InferenceLaneView) -> str:
    """What the gap has led to; short, for a class hears it too."""
    if not (lane.done and lane.reason.startswith(CLOSED)):
        return ""
    return " The walk ends: the graph has a loop, so it is near exact, not at it."


def in_use(lane: InferenceLaneView) -> int:
    """Of how many configurations the point is a mixture."""
    weights = lane.weights[~np.isnan(lane.weights)]
    return int((weights > IN_USE).sum()) if len(weights) else len(lane.weights)


def _at_corners(lane: InferenceLaneView) -> str:
    """` at 3 corners`, which opposites share; empty where it was not kept how many are in use, or none share one."""
    if np.isnan(lane.weights).any() or len(lane.weights) != len(lane.corners):
        return ""
    count = len(np.unique(np.round(lane.corners[lane.weights > IN_USE], 6), axis=0))
    return "" if count == in_use(lane) else f" at {integer(count)} corner{'' if count == 1 else 's'}"


__all__ = ["averaged", "axes_off", "in_use"]

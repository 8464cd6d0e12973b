"""What is said of lanes on any model: how far off they are, what their objective is, what is known of log Z."""

from __future__ import annotations

import math
import os

import numpy as np
from jaxtyping import Float

from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.polytope import on_tree, rho_changes
from pmpviz.player.numbers import integer, significant

# Of a normal law, 95 % lie within so many standard errors.
WITHIN = 1.96
# Values of log Z that differ by less, as a share of their size, are printed alike, or nearly.
ALIKE = 2e-5
UNITS = {"MAP call": "MAP call", "sweep of all messages": "sweep"}
# The least weight that is shown of the centre.
LEAST_REST = 5e-3
# What a walk climbs, where it is first met.
OBJECTIVE = "(μ's mean score plus its entropy)"
WEIGHTS = "(the log of all states' added weights)"
# What a gap by an exact oracle, over the marginal polytope, is called.
CERTIFIED = "certified"
# How a walk's end begins to be told where its gap is as small as was asked for.
CLOSED = "the gap is within"
NOTHING = "Nothing is computed yet: press Play, or Step."


def exact_p1(view: InferenceView) -> Float[np.ndarray, " n"] | None:
    """p(x_i = 1) of the exact answer, where there is one."""
    solution = view.truth.solution if view.truth is not None else None
    return None if solution is None else solution.p1


def exact_log_z(view: InferenceView) -> float | None:
    """The exact log Z, where there is one."""
    solution = view.truth.solution if view.truth is not None else None
    return None if solution is None else solution.log_z


def error(view: InferenceView, lane: InferenceLaneView) -> float | None:
    """Mean |p(x_i = 1) - exact|; None where the exact answer is not known, or the lane's marginals were not kept."""
    exact = exact_p1(view)
    if exact is None or np.isnan(lane.p1).any():
        return None
    return float(np.abs(lane.p1 - exact).mean())


def unit_of(lane: InferenceLaneView) -> str:
    """What one step of a lane is called."""
    return UNITS.get(lane.update, "step")


def steps_of(lane: InferenceLaneView) -> str:
    """`12 MAP calls`."""
    return f"{integer(lane.count)} {unit_of(lane)}{'' if lane.count == 1 else 's'}"


def calls(count: int) -> str:
    """`12 MAP calls`, of a number."""
    return f"{integer(count)} MAP call{'' if count == 1 else 's'}"


def estimate(lane: InferenceLaneView) -> float | None:
    """What a lane makes of log Z: of a walk its objective at μ, as the curve has it, of messages theirs, at most their
    bound; else its answer's."""
    if not math.isnan(lane.objective):
        return lane.objective
    record = lane.trace[-1] if lane.trace else {}
    recorded, bound = record.get("objective"), lane.answer.bound
    if recorded is None:
        return lane.answer.log_z
    return recorded if bound is None or "residual" not in record else min(recorded, bound)


def mixed(lane: InferenceLaneView, count: int, brief: bool = False) -> str:
    """`the weighted average of 6 configurations and the centre u₀ (0.12)`: what a walk's point is a mean of, so many
    found and what is left; in brief without how much that is."""
    corner = "corner" if any("fractional" in name for name in lane.names) else "configuration"
    told = f"the weighted average of {integer(count)} {corner}{'' if count == 1 else 's'}"
    told += ", some fractional," if corner == "corner" else ""
    rest = centre(lane)
    return told if rest is None else f"{told} and the centre{'' if brief else f' u₀ ({rest:.2f})'}"


def centre(lane: InferenceLaneView) -> float | None:
    """The weight that the configurations found leave to the centre; None where it is none, or was not kept."""
    rest = 1.0 - float(lane.weights.sum()) if len(lane.weights) else 0.0
    return rest if rest >= LEAST_REST else None


# One walk.


def climbed(view: InferenceView, lane: InferenceLaneView) -> str:
    """Where a walk's objective is beside log Z, and what its maximum is."""
    value, exact = estimate(lane), exact_log_z(view)
    if value is None or lane.rho is None:
        return ""
    said = f"The objective {OBJECTIVE} is {significant(value, 4)}"
    if exact is None:
        return f"{said}. {_maximum(lane)}"
    off = value - exact
    if abs(off) <= ALIKE * abs(exact):
        return f"{said}, as is the exact log Z {WEIGHTS}. {_maximum(lane)}"
    crossing = ", which it may cross" if off < 0 and not (on_tree(lane) or lane.done) else ""
    side = "below" if off < 0 else "above"
    return f"{said}, {significant(abs(off))} {side} the exact log Z {WEIGHTS}{crossing}. {_maximum(lane)}"


def _maximum(lane: InferenceLaneView) -> str:
    """How the maximum, to which the gap is told, lies to log Z."""
    if on_tree(lane):
        return "Without a loop its maximum is log Z itself: no gap means solved."
    here = " at this ρ" if rho_changes(lane) else ""
    return f"With loops its maximum{here} is an upper bound of log Z, and not log Z itself."


def ended(lane: InferenceLaneView, corrected: bool = False) -> str:
    """Why a walk ended, and whether μ was `corrected` once more at its end; empty while it goes on."""
    if not lane.done:
        return ""
    changes = len(rho_changes(lane))
    rho = f", and ρ has changed {changes} times, each time to another climb" if changes else ""
    last = "; then μ was made the best average of what was found" if corrected else ""
    asked = ", the “Gap to reach”" if lane.reason.startswith(CLOSED) else ""
    return f"Ended at {unit_of(lane)} {integer(lane.count)}: {lane.reason}{asked}{rho}{last}."


# Several lanes.


def compared(view: InferenceView) -> str:
    """How far off the marginals of several lanes are, and whose numbers bound nothing."""
    begun = [lane for lane in view.lanes if lane.trace]
    off = sorted((value, name_in(view, lane)) for lane in begun if (value := error(view, lane)) is not None)
    told = ", ".join(f"{significant(value, 2)} ({label})" for value, label in off)
    loose = [lane.label for lane in begun if lane.promise == "no bound"]
    said = [f"Marginals are off by {told} on average."] if told else []
    if loose and len(loose) < len(begun):
        said.append(f"No bound: {', '.join(loose)}.")
    return " ".join(said)


def bounded(view: InferenceView) -> str:
    """What is known of log Z, and against the truth where it is known."""
    begun = [lane for lane in view.lanes if lane.trace]
    if not begun:
        return NOTHING
    exact = exact_log_z(view)
    sure = [lane for lane in begun if lane.answer.bound is not None]
    if not sure:
        return estimates(view) or "No lane has a certified bound on log Z yet."
    best = min(sure, key=lambda lane: lane.answer.bound if lane.answer.bound is not None else math.inf)
    low = "" if best.answer.lower is None else f"{significant(best.answer.lower, 5)} ≤ "
    said = f"{low}log Z ≤ {significant(best.answer.bound or math.nan, 5)} after {steps_of(best)}"
    if exact is None:
        return f"{said} ({name_in(view, best)})."
    over = max(0.0, (best.answer.bound or math.nan) - exact)
    return f"{said}, {significant(over)} nats above the exact {significant(exact, 5)} ({name_in(view, best)})."


def name_in(view: InferenceView, lane: InferenceLaneView) -> str:
    """The lane's name; of more than two lanes of one method what tells it apart, as beside its sign."""
    alike = os.path.commonprefix([each.label for each in view.lanes])
    words = alike.rfind(" ") + 1
    return lane.label[words:] if len(view.lanes) > 2 and len(lane.label) > words else lane.label


def estimates(view: InferenceView) -> str:
    """What each lane that knows its own error estimates, with 95 % of its bar, and mean maxima; empty without any."""
    exact = exact_log_z(view)
    known = "" if exact is None else f"; exactly {significant(exact, 5)}"
    parts = []
    for head, name in (("log Z", "log_z"), ("Mean maximum, above log Z on average", "mean_maximum")):
        found = [(lane.label, getattr(lane.answer, name), lane.answer.standard_error) for lane in view.lanes]
        said = [
            f"{label} {with_bar(value, error)} (95 %)" + (missed(value, error, exact) if name == "log_z" else "")
            for label, value, error in found
            if value is not None and error is not None
        ]
        parts += [f"{head}: {'; '.join(said)}"] if said else []
    return f"{'. '.join(parts)}{known}." if parts else ""


def with_bar(value: float, error: float) -> str:
    """A value with 95 % of its error bar."""
    return f"{significant(value, 5)} ± {significant(WITHIN * error, 2)}"


def missed(value: float, error: float, exact: float | None) -> str:
    """By how much an error bar does not hold what it promises."""
    if exact is None or abs(value - exact) <= WITHIN * error:
        return ""
    return f", which misses it by {significant(abs(value - exact) / error, 2)} standard errors"


__all__ = [
    "CERTIFIED",
    "NOTHING",
    "WITHIN",
    "bounded",
    "calls",
    "centre",
    "climbed",
    "compared",
    "ended",
    "error",
    "estimate",
    "estimates",
    "exact_log_z",
    "exact_p1",
    "missed",
    "mixed",
    "steps_of",
    "unit_of",
    "with_bar",
]

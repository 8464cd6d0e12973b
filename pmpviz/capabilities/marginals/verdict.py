"""The answer to the question of a preset, by the numbers of a moment of its lanes, and what is said beneath it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pmpviz.capabilities.marginals.averaged import averaged, in_use
from pmpviz.capabilities.marginals.barrier import barrier
from pmpviz.capabilities.marginals.few import GOOD, few
from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.plan import MANY, WALKERS
from pmpviz.capabilities.marginals.polytope import on_tree
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.marginals.words import (
    NOTHING,
    WITHIN,
    bounded,
    climbed,
    compared,
    ended,
    error,
    estimates,
    exact_log_z,
    exact_p1,
    missed,
    mixed,
    steps_of,
    with_bar,
)
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer, seconds, significant

# A point is outside a polytope where a corner's weight is so far below 0.
OUTSIDE = -1e-3
# The least that three correlations of a distribution add up to: three spins cannot all differ.
LEAST_SUM = -1.0
# A coordinate is the exact one where both are printed alike.
PRINTED = 5e-4
# Where a walk has come is seen at once, how much its objective can still rise by the next MAP call alone.
NEXT = " The next MAP call tells whether the objective can still rise."
# Letters of an answer on several lanes, and of what stands beneath that on one walk at its end.
ANSWERED, CLIMBED = 300, 360
# What was once nearer to exact has strayed where it was so by this share of what it is off.
STRAYED = 0.75
# A pixel whose p is between these is uncertain.
UNSURE = (0.1, 0.9)


def said(view: InferenceView) -> list[str]:
    """[the answer to the plan's question, what is said beneath it] at the moment of the view."""
    begun = [lane for lane in view.lanes if lane.trace]
    if not begun:
        return [NOTHING]
    preset = next((preset.id for preset in INFERENCE if preset.plan == view.plan), "")
    answer = ANSWERS[preset](view) if preset and len(begun) == len(view.plan.lanes) == len(view.lanes) else ""
    if len(view.lanes) == 1 and begun[0].algorithm in WALKERS:
        answer = answer or _mixed(view, begun[0])
        rest = [climbed(view, begun[0]), _strayed(view, begun[0]), ended(begun[0], _corrected(view))]
    else:
        rest = [part(view) for part in BENEATH.get(preset if answer else "", ())]
        answer = answer or bounded(view)
    return [answer, *filter(None, [" ".join(filter(None, rest))])]


def letters(view: InferenceView) -> tuple[int, int]:
    """Of the answer to the question of a preset on several lanes, which begins with few words, and of what comes to
    stand beneath it: room for so many; 0 where it is as long from the start on."""
    if len(view.plan.lanes) == 1:
        walks = view.plan.lanes[0].algorithm in WALKERS and view.model is not None and view.model.n <= MANY
        return 0, CLIMBED if walks else 0
    preset = next((preset.id for preset in INFERENCE if preset.plan == view.plan), None)
    return (0, 0) if preset is None else (ANSWERED, LONG.get(preset, 0))


# One walk.


def _corrected(view: InferenceView) -> bool:
    """Whether the walk ends with μ reoptimised over what it has visited."""
    return view.plan.lanes[0].full_knobs["correction"] != "never"


def _mixed(view: InferenceView, lane: InferenceLaneView) -> str:
    """Of how many configurations the point is a mixture, and how far off its marginals are."""
    mixture = f"After {steps_of(lane)} μ is {mixed(lane, in_use(lane))}"
    off = error(view, lane)
    if off is None:
        return f"{mixture}."
    return f"{mixture}; its marginals are {significant(off, 2)} off the exact ones on average."


def _strayed(view: InferenceView, lane: InferenceLaneView) -> str:
    """When the marginals were nearer, where a climb has led away from them; empty where it has not."""
    now = error(view, lane)
    if now is None or on_tree(lane):
        return ""
    offs = {step: off for step, off in lane.errors.items() if 0 < step < lane.count}
    nearest = min(offs, key=offs.__getitem__, default=0)
    if not nearest or offs[nearest] > STRAYED * now:
        return ""
    then = f"At MAP call {integer(nearest)} marginals were {significant(offs[nearest], 2)} off"
    return f"{then}: that maximum lies elsewhere."


def _blank(view: InferenceView) -> float | None:
    """How far off 1/2 for every variable would be; None where the exact marginals are not known."""
    exact = exact_p1(view)
    return None if exact is None else float(np.abs(0.5 - exact).mean())


def _tetrahedron(view: InferenceView) -> str:
    """The coordinates of the point, beside the exact ones."""
    (lane,) = view.lanes
    assert view.projection is not None
    names, at = view.projection.names, lane.path[-1]
    told = [f"{name} = {significant(float(value))}" for name, value in zip(names, at, strict=True)]
    now = listed([each.replace(" ", "\u00a0") for each in told])  # No line ends within one.
    said = f"μ, {mixed(lane, in_use(lane), brief=True)} (after {steps_of(lane)}), has {now}"
    if view.truth is None or view.truth.place is None:
        return f"So far: {said}."
    exact = np.asarray(view.truth.place)
    if np.abs(at - exact).max() < PRINTED:
        return f"Yes: {said}: the exact answer, to three digits.{'' if lane.done else NEXT}"
    return f"Not yet: {said}; exactly {listed([significant(float(value)) for value in exact])}."


# Walks beside each other.


def _relaxed(view: InferenceView) -> str:
    """Which points lie outside the polytope of all distributions."""
    frame = None if view.projection is None else view.projection.marginal
    if frame is None:
        return ""
    names = "the marginal polytope's walk", "the local polytope's walk", "message passing"
    corners = np.vstack([frame[0].T, np.ones(len(frame[0]))])
    outside = []
    for name, lane in zip(names, view.lanes, strict=True):
        if np.linalg.solve(corners, np.append(lane.path[-1], 1.0)).min() < OUTSIDE:
            outside.append((name, float(lane.path[-1].sum()), lane))
    count = max(lane.count for lane in view.lanes)
    after = f"after {integer(count)} step{'' if count == 1 else 's'}"
    if not outside:
        return f"Nothing yet: {after} all points lie within the tetrahedron of all distributions."
    sums = listed([f"{significant(total)} for {name}" for name, total, _ in outside])
    return (
        f"Correlations that add up to less than {significant(LEAST_SUM, 1)}: {after} to {sums}. No distribution has "
        f"such: these points lie outside the tetrahedron.{_loose(view, [lane for _, _, lane in outside])}"
    )


def _loose(view: InferenceView, outside: list[InferenceLaneView]) -> str:
    """What a relaxation costs the bound on log Z."""
    inside = [lane.answer.bound for lane in view.lanes if not any(lane is each for each in outside)]
    theirs = [lane.answer.bound for lane in outside if lane.answer.bound is not None]
    if not theirs or not inside or inside[0] is None or min(theirs) <= inside[0]:
        return ""
    return (
        f" That costs them: the walk that stays inside proves log Z ≤ {significant(inside[0])}, those outside only "
        f"{significant(min(theirs))}."
    )


ESTIMATES = "bridge sampling", "the mirrored estimate"
SHARED = "Both lanes estimate from the same draws: their marginals, and so their mean errors, are one and the same."
PROMISE = "A true bar of 95 % misses by chance in one run of twenty, and hardly ever by many standard errors."


def _tighter(view: InferenceView) -> str:
    """The bounds and the errors of a walk and of messages, with what each has cost."""
    exact = exact_log_z(view)
    walk, messages, loopy = view.lanes
    bounds = [lane.answer.bound for lane in (walk, messages)]
    if exact is None or bounds[0] is None or bounds[1] is None:
        return ""
    head = "The one by MAP calls, with couplings so strong" if bounds[0] < bounds[1] else "The one by messages so far"
    cost = [f"{steps_of(lane)} ({seconds(lane.seconds)})" for lane in (walk, messages)]
    last = " At the walk's end μ was made the best average of what was found." if walk.done and _corrected(view) else ""
    return (
        f"{head}: the walk's is {_over(bounds[0], exact)} above log Z after {cost[0]}, that of TRBP "
        f"(tree-reweighted messages) {_over(bounds[1], exact)} after {cost[1]}. Marginals are off by "
        f"{_off(view, walk)} and {_off(view, messages)}; belief propagation's, off by {_off(view, loopy)}, come with "
        f"no bound.{last}"
    )


def _within_reach(view: InferenceView) -> str:
    walk, messages = view.lanes
    off, blank = error(view, walk), _blank(view)
    if off is None or blank is None:
        return ""
    head = "In part" if off <= blank / 2 else "Hardly" if walk.done else "Not yet"
    near = f"marginals of single units are {_off(view, walk)} off on average after {steps_of(walk)}"
    return (
        f"{'Yes' if off <= GOOD[0] else head}: {near}, and {_off(view, messages)} after {steps_of(messages)} of "
        f"tree-reweighted messages; p = 1/2 for all would be {significant(blank, 2)} off. {_bounds_apart(view)}"
    ).strip()


def _bounds_apart(view: InferenceView) -> str:
    exact, (walk, messages) = exact_log_z(view), [lane.answer.bound for lane in view.lanes]
    if exact is None or walk is None or messages is None:
        return ""
    return f"Their bounds on log Z are {_over(walk, exact)} and {_over(messages, exact)} nats above it."


def _over(bound: float, exact: float) -> str:
    """A bound is never below: what is less is rounding."""
    return significant(max(0.0, bound - exact), 2)


def _off(view: InferenceView, lane: InferenceLaneView) -> str:
    return significant(error(view, lane), 2)


# Maxima under noise, and estimates.


def _noises(lane: InferenceLaneView, what: str = "perturbations") -> str:
    return f"after {integer(int(lane.trace[-1]['call']))} {what}"


def _counted(view: InferenceView) -> str:
    counts, ratios = view.lanes
    both = error(view, counts), error(view, ratios)
    if both[0] is None or both[1] is None:
        return ""
    names = ("counts", counts), ("expected maxima", ratios)
    (near, first), (far, second) = names if both[0] < both[1] else names[::-1]
    return (
        f"Those of {near}: of single spins they are {_off(view, first)} off on average {_noises(first)}, those of "
        f"{far} {_off(view, second)} {_noises(second)}."
    )


def _copied(view: InferenceView) -> str:
    exact = exact_log_z(view)
    if exact is None or any(lane.trace[-1].get("mean_maximum") is None for lane in view.lanes):
        return ""
    knobs = [plan.full_knobs for plan in view.plan.lanes]
    rows = zip(view.lanes, (int(own["copies"]) for own in knobs), strict=True)
    falls = listed([f"{_beside(lane, exact)} with {_copies(copies)}" for lane, copies in rows])
    off = [error(view, lane) for lane in view.lanes]
    nearer = ""
    if all(value is not None for value in off):
        nearer = f" The marginals are off by {listed([significant(value, 2) for value in off])}."
    return f"They bring the mean maximum down: it is {falls}, {_noises(view.lanes[-1])}.{nearer}"


def _all_copied(view: InferenceView) -> str:
    """Whether mean maxima of copies of all variables are still above log Z, beside those of every second."""
    exact = exact_log_z(view)
    maxima = [lane.trace[-1].get("mean_maximum", np.nan) for lane in view.lanes]
    if exact is None or np.isnan(maxima).any():
        return ""
    knobs = [plan.full_knobs for plan in view.plan.lanes]
    rows = list(zip(view.lanes, maxima, knobs, strict=True))
    every = [row for row in rows if row[2]["inflation"] == "all"]
    half = [row for row in rows if row[2]["inflation"] != "all"]
    below = any(value + WITHIN * (lane.answer.standard_error or 0.0) < exact for lane, value, _ in every)
    said, rest = (
        listed([f"{_beside(lane, exact)} with {_copies(int(own['copies']))}" for lane, _, own in part])
        for part in (every, half)
    )
    head = "No, they break it" if below else "They may break it; so far"
    return (
        f"{head}: the mean maximum is {said} of all, {_noises(view.lanes[-1])}. Copies of every second variable leave "
        f"the expected one a bound, which no run certifies: {rest}."
    )


def _copies(count: int) -> str:
    return f"{count} cop{'y' if count == 1 else 'ies'}"


def _beside(lane: InferenceLaneView, exact: float) -> str:
    """`0.93 ± 0.1 above log Z`, with the bar where it is known."""
    off = lane.trace[-1]["mean_maximum"] - exact
    error = lane.answer.standard_error
    bar = f" ± {significant(WITHIN * error, 1)}" if error else ""
    return f"{significant(abs(off), 2)}{bar} {'above' if off > 0 else 'below'} log Z"


def _held(view: InferenceView) -> str:
    """Whether each estimate's bar holds the exact value."""
    exact = exact_log_z(view)
    if exact is None:
        return ""
    parts, held = [], []
    for lane, name in zip(view.lanes, ESTIMATES, strict=True):
        value, error = lane.answer.log_z, lane.answer.standard_error
        if value is None or error is None:
            return "No estimate yet: the first comes with the second step."
        off = missed(value, error, exact)
        held.append((name, not off))
        parts.append(f"{with_bar(value, error)} (95 %){off}")
    does = "; ".join(f"{name}'s {'does' if good else 'does not'}" for name, good in held)
    return f"In this run {does}: {' and '.join(parts)}; exactly {significant(exact, 5)}."


def _promised(view: InferenceView) -> str:
    """What one run says of error bars, and why marginals may be the same."""
    first, *others = view.lanes
    alike = not np.isnan(first.p1).any() and all(np.array_equal(first.p1, lane.p1) for lane in others)
    return f"{PROMISE} {SHARED}" if others and alike else PROMISE


# A scene.


def _uncertain(view: InferenceView) -> str:
    """How many pixels are uncertain, and how many of them lie beside the outline."""
    if view.segmented is None:
        return ""
    near, counts, shares = view.segmented.near, [], []
    for lane, name in zip(view.lanes, ("by the walk", "by messages"), strict=True):
        if np.isnan(lane.p1).any():
            return ""
        unsure = (lane.p1 > UNSURE[0]) & (lane.p1 < UNSURE[1])
        counts.append(f"{integer(int(unsure.sum()))} {name} after {steps_of(lane)}")
        shares.append(f"{near[unsure].mean() if unsure.any() else 0:.0%}")
    within = f"p between {UNSURE[0]:g} and {UNSURE[1]:g}"
    return (
        f"Uncertain, with {within}, are {listed(counts)}, of {integer(len(near))} pixels; {listed(shares)} of them lie "
        "within 3 pixels of the true outline."
    )


ANSWERS: dict[str, Callable[[InferenceView], str]] = {
    "triangle": averaged,
    "cube": _relaxed,
    "edge": _tetrahedron,
    "grid": few,
    "stall": barrier,
    "clique": _tighter,
    "rbm": _within_reach,
    "ratios": _counted,
    "tree-theorem": _copied,
    "inflated": _all_copied,
    "error-bars": _held,
    "segmentation": _uncertain,
}

# What stands beneath the answer where there are several lanes; beneath what is said of a model of one's own.
BENEATH: dict[str, tuple[Callable[[InferenceView], str], ...]] = {
    "": (compared,),
    "cube": (compared,),
    "stall": (bounded, compared),
    "ratios": (estimates,),
    "inflated": (compared,),
    "error-bars": (_promised,),
    "segmentation": (bounded,),
}
# Letters of that.
LONG = {"cube": 176, "stall": 200, "ratios": 160, "inflated": 216, "error-bars": 208, "segmentation": 160}


__all__ = ["ANSWERS", "letters", "said"]

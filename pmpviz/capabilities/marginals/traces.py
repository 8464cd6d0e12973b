"""The charts of a live inference: gap, objective, bounds, and how far marginals and what axes show are off."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pmpviz.capabilities.marginals.averaged import axes_off
from pmpviz.capabilities.marginals.few import GOOD
from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.polytope import gap_of
from pmpviz.capabilities.marginals.words import WITHIN, exact_log_z, unit_of
from pmpviz.marginals import solver_class
from pmpviz.player.numbers import significant
from pmpviz.player.update import Envelope, trace

# Steps of one lane are few where another has made so many times as many, and many in all.
FAR, LONG = 10, 200
SMALLEST_GAP = 1e-6
# Bands of more lanes are not seen apart.
FEW_BANDS = 2
PAIRS = "correlation"  # What the axes of a triangle's polytope are.
SETTLES = "an estimate, above its own bound at first"


def traces(envelope: Envelope, view: InferenceView, large: bool) -> list[dict]:
    """Charts by what all lanes count; where they count different things, by steps. Of a `large` stage the first one
    alone is seen."""
    if not view.lanes:
        return []
    units = {f"{unit_of(lane)}s" for lane in view.lanes}
    unit = units.pop() if len(units) == 1 else "steps"
    solvers = [solver_class(lane.algorithm).spec for lane in view.lanes]
    found = [_gap(envelope, view, unit)] if any("gap" in spec.metrics for spec in solvers) else []
    if any("objective" in spec.metrics for spec in solvers):
        found.append(_log_z(envelope, view, unit, all(spec.guarantee == "approximate" for spec in solvers)))
    if any("mean_maximum" in spec.metrics for spec in solvers):
        lines = envelope.lines(partial(_column, name="mean_maximum"))
        exact = _exact_line(view)
        found.append(trace("mean_maximum", "Mean perturbed maximum", unit, lines, unit="nats", exact=exact))
    if exact_log_z(view) is not None and any("bound" in spec.metrics for spec in solvers):
        found.append(_excess(envelope, view, unit))
    for name, title in (("delta", "Contraction δ"), ("residual", "Largest message change")):
        if any(name in record for lane in view.lanes for record in lane.trace[:1]):
            lines = envelope.lines(partial(_column, name=name), 1e-12)
            found.append(trace(name, title, unit, lines, True))
    if any(lane.errors for lane in view.lanes):
        found.append(_errors(envelope, view, unit))
    if _seen_whole(view) and _by_pairs(view) and axes_off(view, view.lanes[0]):
        lines = envelope.lines(lambda lane: _xy(list(axes_off(view, lane).items())), SMALLEST_GAP)
        found.append(trace("axes", f"Mean error of {PAIRS}s", unit, lines, True))
    if first := _first(view, large):
        found.sort(key=lambda each: first.index(each["id"]) if each["id"] in first else len(first))
    found = [each | {"xlog": _far_apart(view)} for each in found]
    # Beside a climb that is seen from its start on the others have its axis.
    span = {"span": [0, view.lanes[0].count]} if _seen_whole(view) else {}
    return [each | span for each in found]


def _first(view: InferenceView, large: bool) -> list[str]:
    """Which curves are seen first, where not the gap and the objective: of one walk how near its marginals are, where
    a class sees that curve alone, or the walk is not seen whole; of lanes one of which bounds nothing, the bounds, and
    to a class the errors of lanes not all of which have a gap."""
    if len(view.lanes) == 1:
        return ["axes", "error", "log_z"] if large or not _seen_whole(view) else []
    gaps = ["gap" in solver_class(lane.algorithm).spec.metrics for lane in view.lanes]
    if all(gaps) or _whole(view):
        return []
    # Where one lane bounds nothing at all, bounds are what is compared.
    bounds = ["bound" in solver_class(lane.algorithm).spec.metrics for lane in view.lanes]
    if all(bounds) or exact_log_z(view) is None:
        return ["error"] if large else []
    return ["excess", "error"] if large or any(gaps) else []


def _seen_whole(view: InferenceView) -> bool:
    """Whether a single walk goes through a polytope that is seen whole."""
    return len(view.lanes) == 1 and _whole(view)


def _whole(view: InferenceView) -> bool:
    """Whether the polytope of all distributions is seen, and not a projection of it."""
    return view.projection is not None and view.projection.marginal is not None


def _by_pairs(view: InferenceView) -> bool:
    """Whether the axes are how far two spins agree, of which p(x_i = 1) tells nothing."""
    return view.projection is not None and PAIRS in view.projection.names[0]


def _far_apart(view: InferenceView) -> bool:
    """Whether one lane's steps would be a stroke beside another's, and are drawn on a log axis."""
    counts = [lane.count for lane in view.lanes if lane.trace]
    return len(counts) > 1 and max(counts) >= max(LONG, FAR * min(counts))


def _column(lane: InferenceLaneView, name: str) -> dict[str, np.ndarray]:
    """Steps and values of the records that have this number."""
    steps = enumerate(lane.trace, 1)
    return _xy([(step, record[name]) for step, record in steps if record.get(name) is not None])


def _objectives(lane: InferenceLaneView, from_start: bool) -> dict[str, np.ndarray]:
    """Of a walk the objective after each of its steps, and where asked for at its start; of others what they
    recorded."""
    if np.isnan(lane.objective):
        return _column(lane, "objective")
    after = list(enumerate([*(record["objective"] for record in lane.trace), lane.objective]))
    return _xy(after if from_start else after[1:])


def _xy(pairs: list[tuple[Any, Any]]) -> dict[str, np.ndarray]:
    x, y = np.array(pairs, np.float64).reshape(-1, 2).T
    return {"x": x, "y": y}


def _nats(view: InferenceView) -> str:
    """The unit of log Z and of gaps; a single walk that is seen whole is spared it, what "log Z" means tells it."""
    return "" if _seen_whole(view) else "nats"


def _gap(envelope: Envelope, view: InferenceView, unit: str) -> dict:
    """The gap of every step."""

    def columns(lane: InferenceLaneView) -> dict:
        return _xy([(record["call"], gap) for record in lane.trace if (gap := gap_of(record)) is not None])

    lines = envelope.lines(columns, SMALLEST_GAP)
    return trace("gap", "Gap before each step: the most to gain", unit, lines, True, _nats(view))


def _log_z(envelope: Envelope, view: InferenceView, unit: str, estimates: bool) -> dict:
    """Objective (line) between the bound from the visited configurations and the best certified bound (range), of few
    lanes, whose ranges are seen apart; of an estimate the range that its error bar gives 95 %."""

    def columns(lane: InferenceLaneView) -> dict:
        found, error = _objectives(lane, from_start), _column(lane, "standard_error")["y"]
        if len(error) == len(found["y"]):
            return _held(found | {"low": found["y"] - WITHIN * error, "high": found["y"] + WITHIN * error}, lane.count)
        if many:
            return found
        limits = np.array([[r.get("lower"), r.get("best_bound")] for r in lane.trace], np.float64).reshape(-1, 2)
        if np.isnan(limits[:, 1]).any() or (np.isnan(limits[:, 0]).any() and not alone):
            return found
        # Of a walk's start no MAP call has told anything yet. A relaxation proves nothing from below.
        low, high = np.vstack([np.full((len(found["x"]) - len(limits), 2), np.nan), limits]).T
        return found | {"low": np.where(np.isnan(low) & ~np.isnan(high), -np.inf, low), "high": high}

    # Of a climb that is seen whole the start, too; elsewhere all else would be flat beside it.
    many = len(view.lanes) > FEW_BANDS
    from_start, alone = _seen_whole(view), len(view.lanes) == 1 and not np.isnan(view.lanes[0].objective)
    lines = envelope.lines(columns)
    title = "Objective" if many else "Objective (line); log Z lies in the band"
    if estimates:
        title = "Estimates of log Z, with 95 % error bars"
    note = next((f"{solver_class(lane.algorithm).spec.short}: {SETTLES}." for lane in view.lanes if _crosses(lane)), "")
    return trace("log_z", title, unit, lines, unit=_nats(view), exact=_exact_line(view), note=note)


def _crosses(lane: InferenceLaneView) -> bool:
    """Whether an estimate by messages was above the best bound by then."""
    known = [record for record in lane.trace if "residual" in record and record.get("best_bound") is not None]
    return any(record["objective"] is not None and record["objective"] > record["best_bound"] for record in known)


def _exact_line(view: InferenceView) -> dict | None:
    known = exact_log_z(view)
    return None if known is None else {"y": known, "label": f"exact log Z {significant(known, 5)}"}


def _held(columns: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    """Each value as it stands until the next one, up to step `count`: as an estimate's bar, or a best bound."""
    steps = np.arange(columns["x"][0], count + 1) if len(columns["x"]) else columns["x"]
    last = np.searchsorted(columns["x"], steps, side="right") - 1
    return {name: steps if name == "x" else values[last] for name, values in columns.items()}


def _excess(envelope: Envelope, view: InferenceView, unit: str) -> dict:
    """How far the best certified bound is above the exact log Z."""

    def columns(lane: InferenceLaneView) -> dict:
        found = _column(lane, "best_bound")
        # The best so far stands until a better one is proved: messages prove one now and then only.
        held = _held({**found, "y": found["y"] - (exact_log_z(view) or 0.0)}, lane.count)
        known = np.isin(held["x"], found["x"])
        # Of each stretch its ends are enough: of thousands of steps the first would come into one bin.
        ends = known | np.append(known[1:], True)[: len(known)]
        return {name: values[ends] for name, values in held.items()}

    lines = [{**line, "held": True} for line in envelope.lines(columns, SMALLEST_GAP)]
    return trace("excess", "Best bound minus exact log Z", unit, lines, True, "nats")


def _errors(envelope: Envelope, view: InferenceView, unit: str) -> dict:
    """How far off p(x_i = 1) is on average, from the start on; with what is good where it is asked how soon it is."""
    lines = envelope.lines(lambda lane: _xy(list(lane.errors.items())), SMALLEST_GAP)
    asked = len(view.lanes) == 1 and not _seen_whole(view)
    good = {"y": GOOD[0], "label": f"{GOOD[0]:g}: good"} if asked else None
    return trace("error", "Mean error of p(xᵢ = 1)", unit, lines, True, exact=good)


__all__ = ["traces"]

"""One update of the live player from a live inference's view, and its words."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.plan import MANY
from pmpviz.capabilities.marginals.polytope import gap_of, places, rho_changes, scene
from pmpviz.marginals import solver_class
from pmpviz.marginals.solver import Record
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.update import Cursors, Desk, Envelope, geometry_of, trace
from pmpviz.player.wire import Payload

SPEEDS = (1, 2, 5, 20, 0)
LAYERS = ("configuration found", "marginals", "error of the marginals")
SMALLEST_GAP = 1e-6
# An edge that is in every spanning tree has ρ = 1, less rounding.
WHOLE = 1e-6
# Of a normal law, 95 % lie within so many standard errors.
WITHIN = 1.96
# What play may go on to: the button's words, and what it does.
GOALS = {
    "gap": ("Run to gap", "Goes on until the gap is at most the one to reach"),
    "rho": (
        "Change ρ",
        "Goes on until ρ, how much of each edge's dependence the objective counts, has gone on to a better bound",
    ),
    "end": ("Run to end", "Goes on until the last ρ is done"),
}
UNITS = {"MAP call": "MAP call", "sweep of all messages": "sweep"}


def update(view: InferenceView, sent: Cursors, desk: Desk, layer: str) -> bytes:
    """The blob for the player; `sent` is brought up to date."""
    envelope = Envelope(view, sent, [solver_class(lane.algorithm).spec for lane in view.lanes])
    return envelope.seal(
        desk,
        SPEEDS,
        [_lane(envelope, view, index, lane, layer) for index, lane in enumerate(view.lanes)],
        _traces(envelope, view),
        verdict(view),
        alt="The configuration that each lane found last, on the model's graph",
        unit="steps",
        goals=[list(goal) for goal in GOALS.values()],
        layer=[list(LAYERS if exact_p1(view) is not None else LAYERS[:2]), layer],
        sites_first=many(view),
        walk=scene(envelope.payload, view) if view.lanes and view.projection is not None else None,
        words=_sentence(view),
        said=_said(view, desk.large),
        newest=_newest(view),
        opens=not desk.large and not any(lane.count for lane in view.lanes),
        exact=exact_log_z(view),
        exact_p1=None if (exact := exact_p1(view)) is None else envelope.payload.add(exact),
    )


def many(view: InferenceView) -> bool:
    """Whether the sites are so many that their picture says more than the walk."""
    return view.model is not None and view.model.n > MANY


def _lane(envelope: Envelope, view: InferenceView, index: int, lane: InferenceLaneView, layer: str) -> dict:
    assert view.model is not None
    return envelope.lane(
        index,
        _sub(lane),
        "done" if lane.done else "",
        badge=lane.promise,
        step=unit_of(lane),
        n=view.model.n,
        geometry=_geometry(envelope.payload, view),
        frames=envelope.frames(index),
        layer=_layer(envelope.payload, view, lane, layer),
    )


def _geometry(payload: Payload, view: InferenceView) -> dict:
    """As anywhere, but a chain as a graph: two variables in a row of pixels would be a stripe."""
    assert view.model is not None and view.potentials is not None
    found = geometry_of(payload, view.model, view.plan.model)
    if found["kind"] != "chain":
        return found
    s = view.potentials.structure
    nodes, edges = places(view.model, s.i, s.j), np.stack([s.i, s.j], 1)
    return {**found, "kind": "graph", "nodes": payload.add(nodes), "edges": payload.add(edges, "<i4")}


def _layer(payload: Payload, view: InferenceView, lane: InferenceLaneView, name: str) -> dict | None:
    if name == LAYERS[1]:
        return {"values": payload.add(lane.p1), "kind": "sequential", "low": 0.0, "high": 1.0, "name": name}
    if name == LAYERS[2] and (exact := exact_p1(view)) is not None:
        values = lane.p1 - exact
        high = max(float(np.abs(values).max()), 1e-3)
        return {"values": payload.add(values), "kind": "diverging", "low": -high, "high": high, "name": name}
    return None


def exact_p1(view: InferenceView) -> Float[np.ndarray, " n"] | None:
    """p(x_i = 1) of the exact answer, where there is one."""
    solution = view.truth.solution if view.truth is not None else None
    return None if solution is None else solution.p1


def exact_log_z(view: InferenceView) -> float | None:
    """The exact log Z, where there is one."""
    solution = view.truth.solution if view.truth is not None else None
    return None if solution is None else solution.log_z


def error(view: InferenceView, lane: InferenceLaneView) -> float | None:
    """Mean |p(x_i = 1) - exact|, where the exact answer is known."""
    exact = exact_p1(view)
    return None if exact is None else float(np.abs(lane.p1 - exact).mean())


def _sub(lane: InferenceLaneView) -> str:
    parts = [f"{seconds(lane.seconds)} computing"] if lane.seconds else []
    if len(lane.weights):
        used = integer(int((lane.weights > 1e-9).sum()))
        found = f"{used} of {integer(len(lane.weights))} configurations found in use"
        parts.insert(0, f"at {unit_of(lane)} {integer(lane.count)}: {found}")
    if lane.trace and "timed out" in lane.trace[-1].get("notes", {}):
        parts.append("the oracle ran out of time")
    return " · ".join(parts)


def unit_of(lane: InferenceLaneView) -> str:
    """What one step of a lane is called."""
    return UNITS.get(lane.update, "step")


# Traces.


def _traces(envelope: Envelope, view: InferenceView) -> list[dict]:
    if not view.lanes:
        return []
    solvers = [solver_class(lane.algorithm).spec for lane in view.lanes]
    found = [_gap(envelope)] if any("gap" in spec.metrics for spec in solvers) else []
    if any("objective" in spec.metrics for spec in solvers):
        found.append(_log_z(envelope, view, all(spec.guarantee == "approximate" for spec in solvers)))
    if any("mean_maximum" in spec.metrics for spec in solvers):
        lines = envelope.lines(partial(_column, name="mean_maximum"))
        exact = _exact_line(view)
        found.append(trace("mean_maximum", "Mean perturbed maximum", "steps", lines, unit="nats", exact=exact))
    if exact_log_z(view) is not None and any("bound" in spec.metrics for spec in solvers):
        found.append(_excess(envelope, view))
    for name, title in (("delta", "Contraction δ"), ("residual", "Largest message change")):
        if any(name in record for lane in view.lanes for record in lane.trace[:1]):
            lines = envelope.lines(partial(_column, name=name), 1e-12)
            found.append(trace(name, title, "steps", lines, True))
    return found


def _column(lane: InferenceLaneView, name: str) -> dict[str, np.ndarray]:
    """Steps and values of the records that have this number."""
    steps = enumerate(lane.trace, 1)
    return _xy([(step, record[name]) for step, record in steps if record.get(name) is not None])


def _xy(pairs: list[tuple[Any, Any]]) -> dict[str, np.ndarray]:
    x, y = np.array(pairs, np.float64).reshape(-1, 2).T
    return {"x": x, "y": y}


def _gap(envelope: Envelope) -> dict:
    """The gap of every step above the least so far at its rho, between which the range is filled."""

    def columns(lane: InferenceLaneView) -> dict:
        found = _xy([(record["call"], gap) for record, gap in _with_gap(lane)])
        return {**found, "low": _least(lane), "high": found["y"]}

    lines = envelope.lines(columns, SMALLEST_GAP)
    return trace("gap", "Gap: how far the objective can rise", "steps", lines, True, "nats")


def _least(lane: InferenceLaneView) -> np.ndarray:
    """The least gap since rho last changed, after every step that has a gap."""
    found: list[float] = []
    rho = -1
    for record, gap in _with_gap(lane):
        before = found[-1] if record["rho_update"] == rho else np.inf
        found.append(min(gap, before))
        rho = record["rho_update"]
    return np.array(found)


def _with_gap(lane: InferenceLaneView) -> list[tuple[Record, float]]:
    return [(record, gap) for record in lane.trace if (gap := gap_of(record)) is not None]


def _log_z(envelope: Envelope, view: InferenceView, estimates: bool) -> dict:
    """Objective (line) between the bound from the visited configurations and the best certified bound (range); of an
    estimate the range that its error bar gives 95 %."""

    def columns(lane: InferenceLaneView) -> dict:
        found, error = _column(lane, "objective"), _column(lane, "standard_error")["y"]
        if len(error) == len(found["y"]):
            return _held(found | {"low": found["y"] - WITHIN * error, "high": found["y"] + WITHIN * error}, lane.count)
        bounded = all(r.get("best_bound") is not None and r.get("lower") is not None for r in lane.trace)
        limits = {"low": "lower", "high": "best_bound"} if bounded else {}
        return found | {name: _column(lane, source)["y"] for name, source in limits.items()}

    lines = envelope.lines(columns)
    title = "Estimates of log Z, with 95 % error bars" if estimates else "Objective, with the bounds on log Z"
    return trace("log_z", title, "steps", lines, unit="nats", exact=_exact_line(view))


def _exact_line(view: InferenceView) -> dict | None:
    known = exact_log_z(view)
    return None if known is None else {"y": known, "label": f"exact log Z {significant(known, 5)}"}


def _held(columns: dict[str, np.ndarray], count: int) -> dict[str, np.ndarray]:
    """Each estimate as it stands until the next one, up to step `count`: a bar is as wide as it is the last."""
    steps = np.arange(columns["x"][0], count + 1) if len(columns["x"]) else columns["x"]
    last = np.searchsorted(columns["x"], steps, side="right") - 1
    return {name: steps if name == "x" else values[last] for name, values in columns.items()}


def _excess(envelope: Envelope, view: InferenceView) -> dict:
    """How far the best certified bound is above the exact log Z."""

    def columns(lane: InferenceLaneView) -> dict:
        found = _column(lane, "best_bound")
        return {**found, "y": found["y"] - (exact_log_z(view) or 0.0)}

    lines = envelope.lines(columns, SMALLEST_GAP)
    return trace("excess", "Best bound minus exact log Z", "steps", lines, True, "nats")


# Words.


def _sentence(view: InferenceView) -> str:
    """One line: what is walked in, and what the picture shows of it."""
    if view.model is None or view.projection is None:
        return f"{view.status} …"
    words = model_words(view.model, view.plan.beta)
    return f"{words[:1].upper()}{words[1:]}. {view.projection.words}"


def _said(view: InferenceView, large: bool) -> list[str]:
    """Beneath the bar: of one lane what its maximum is, of several how they compare."""
    if len(view.lanes) < 2:
        return _ends(view)
    # Before a class the lines of several lanes need the room.
    return [] if large else [compared(view)]


def compared(view: InferenceView) -> str:
    """Of several lanes: what is known of log Z, how far off their marginals are, and whose numbers bound nothing."""
    begun = [lane for lane in view.lanes if lane.trace]
    off = sorted((value, lane.label) for lane in begun if (value := error(view, lane)) is not None)
    told = ", ".join(f"{significant(value, 2)} ({label})" for value, label in off)
    loose = [lane.label for lane in begun if lane.promise == "no bound"]
    said = [verdict(view)]
    if told:
        said.append(f"Marginals are off by {told} on average.")
    if loose and len(loose) < len(begun):
        said.append(f"No bound: {', '.join(loose)}.")
    return " ".join(said)


def _ends(view: InferenceView) -> list[str]:
    """Whether the objective may cross log Z: its maximum is above wherever an edge of a loop is counted in part."""
    rho = next((lane.rho for lane in view.lanes if lane.rho is not None and len(lane.rho)), None)
    if rho is None:
        return []
    if rho.min() > 1 - WHOLE:
        return ["Its maximum is log Z itself: without a loop every edge's dependence is counted in full."]
    return [
        "It may cross log Z: its maximum lies above. That is an upper bound: of each edge's dependence it counts the "
        "share ρ, too little on a loop."
    ]


def _newest(view: InferenceView) -> list[str]:
    """Of the last step of the first walk: how far off its marginals are, and why it ended."""
    lane = next((lane for lane in view.lanes if lane.rho is not None and lane.count), None)
    if lane is None:
        return []
    off, changes = error(view, lane), len(rho_changes(lane.trace))
    found = [] if off is None else [f"The marginals are off by {significant(off, 2)} on average."]
    if not lane.done:
        return found
    rho = f", and ρ has changed {changes} times, each time to another climb" if changes else ""
    return [*found, f"Ended at {unit_of(lane)} {integer(lane.count)}: {lane.reason}{rho}."]


def verdict(view: InferenceView) -> str:
    """What is known of log Z now, and against the truth where it is known."""
    begun = [lane for lane in view.lanes if lane.trace]
    if not begun:
        return "Nothing is computed yet: press Play, or Step."
    exact = exact_log_z(view)
    bounded = [lane for lane in begun if lane.answer.bound is not None]
    if not bounded:
        return _estimates(view, exact) or "No lane has a certified bound on log Z yet."
    best = min(bounded, key=lambda lane: lane.answer.bound if lane.answer.bound is not None else math.inf)
    low = "" if best.answer.lower is None else f"{significant(best.answer.lower, 5)} ≤ "
    said = f"{low}log Z ≤ {significant(best.answer.bound or math.nan, 5)}"
    if exact is None:
        return f"{said} ({best.label})."
    over = (best.answer.bound or math.nan) - exact
    return (
        f"{said}; exactly {significant(exact, 5)}, so that the bound is {significant(over)} nats above ({best.label})."
    )


def _estimates(view: InferenceView, exact: float | None) -> str:
    """What each lane that knows its own error estimates, with 95 % of its bar, and mean maxima; empty without any."""
    known = "" if exact is None else f"; exactly {significant(exact, 5)}"
    parts = []
    for head, name in (("log Z", "log_z"), ("Mean maximum, above log Z on average", "mean_maximum")):
        found = [(lane.label, getattr(lane.answer, name), lane.answer.standard_error) for lane in view.lanes]
        said = [
            f"{label} {significant(value, 5)} ± {significant(WITHIN * error, 2)} (95 %)"
            + (_missed(value, error, exact) if name == "log_z" else "")
            for label, value, error in found
            if value is not None and error is not None
        ]
        parts += [f"{head}: {'; '.join(said)}"] if said else []
    return f"{'. '.join(parts)}{known}." if parts else ""


def _missed(value: float, error: float, exact: float | None) -> str:
    """By how much an error bar does not hold what it promises."""
    if exact is None or abs(value - exact) <= WITHIN * error:
        return ""
    return f", which misses it by {significant(abs(value - exact) / error, 2)} standard errors"


__all__ = ["GOALS", "LAYERS", "compared", "error", "exact_log_z", "exact_p1", "gap_of", "many", "update", "verdict"]

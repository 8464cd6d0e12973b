"""One update of the live player from a live inference's view, and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pmpviz.capabilities.marginals.averaged import axes_off, in_use
from pmpviz.capabilities.marginals.few import GOOD
from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.moments import lane_at, last_steps, seen_at
from pmpviz.capabilities.marginals.plan import MANY, WALKERS
from pmpviz.capabilities.marginals.polytope import gap_of, on_tree, places, scene
from pmpviz.capabilities.marginals.verdict import letters, said
from pmpviz.capabilities.marginals.words import CERTIFIED, CLOSED, WITHIN, centre, exact_log_z, exact_p1, unit_of
from pmpviz.marginals import solver_class
from pmpviz.marginals.belief_propagation import UNSETTLED
from pmpviz.marginals.solver import Record
from pmpviz.player import filters
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.style import Style, lightness_of, shade
from pmpviz.player.update import Cursors, Desk, Envelope, geometry_of, trace
from pmpviz.player.wire import Payload

# Steps of one lane are few where another has made so many times as many, and many in all.
FAR, LONG = 10, 200
GIVEN = "given"
SPEEDS = (0.5, 1, 2, 5, 20, 0)
# Of a method that finds no configuration, where sites are so few that each is looked at.
FINDS_NONE, FEW = "p(xᵢ = 1)", 64
LAYERS = ("configuration found", "marginals", "error of the marginals")
SMALLEST_GAP = 1e-6
PROVEN = "Certified: proven. Its MAP calls are exact, and so log Z is at most the objective plus the gap."
PAIRS = "correlation"  # What the axes of a triangle's polytope are.
SETTLES = "an estimate, above its own bound at first"
# Of so many lanes of one algorithm each has a hue of its own beside its lightness.
MANY_ALIKE, HUES = 3, ("#7B4FB5", "#E69F00", "#009E73", "#0072B2")
# What play may run on to: the button's words, and what it does.
GOALS = {
    "gap": ("gap", "Runs on, as fast as it can, until the gap is at most the one to reach"),
    "rho": (
        "new ρ",
        "Runs on, as fast as it can, until ρ, how much of each edge's dependence the objective counts, is chosen anew: "
        "later bounds are mostly better",
    ),
    "end": ("end", "Runs on, as fast as it can, until the last ρ is done"),
}


def update(view: InferenceView, sent: Cursors, desk: Desk, layer: str) -> bytes:
    """The blob for the player; `sent` is brought up to date."""
    envelope = Envelope(view, sent, [solver_class(lane.algorithm).spec for lane in view.lanes])
    envelope.styles = hued(envelope.styles, [lane.algorithm for lane in view.lanes])
    then = seen_at(view, desk.at)
    steps = last_steps(view, desk.at)
    words = [[step, said(seen_at(view, step))] for step in steps]
    return envelope.seal(
        desk,
        SPEEDS,
        # No frame of a step of which the view does not know yet what was found.
        [_lane(envelope, view, index, lane, layer, steps) for index, lane in enumerate(then.lanes)],
        _traces(envelope, view, desk.large),
        ("" if desk.at is None else f"Looking back at step {integer(desk.at)}: ") + said(then)[0],
        alt="The configuration that each lane found last, on the model's graph",
        unit="steps",
        goals=[list(goal) for goal in GOALS.values()],
        walks=any(lane.algorithm in WALKERS for lane in view.lanes),
        reweighs=reweighs(view),
        layer=[list(LAYERS if exact_p1(view) is not None else LAYERS[:2]), layer],
        sites_first=many(view),
        walk=scene(envelope.payload, view, then) if view.lanes and view.projection is not None else None,
        words=_sentence(view),
        letters=letters(view),
        said=said(then) if view.lanes else [],
        said_at=words,
        over=over(view),
        again=again(view),
        opens=not desk.large and not any(lane.count for lane in view.lanes),
        given=_given(envelope, view) if desk.large else None,
        exact=exact_log_z(view),
        exact_p1=None if (exact := exact_p1(view)) is None else envelope.payload.add(exact),
    )


def _given(envelope: Envelope, view: InferenceView) -> list[list[str]] | None:
    """What is seen of a scene and what was drawn, which nobody scrolls to before a class; None where there is none, or
    the browser has them."""
    if view.segmented is None or envelope.sent.start(GIVEN) == view.begun:
        return None
    envelope.sent.sent(GIVEN, view.begun)
    seen, drawn, _ = view.segmented.pictures(dark=False)
    return [[words, filters.data_address(image)] for words, image in (seen, drawn)]


def hued(styles: Sequence[Style], algorithms: Sequence[str]) -> list[Style]:
    """Styles of which many of one algorithm differ in hue, too: as light or dark as they are, the lightest as it is."""
    found = list(styles)
    for algorithm in set(algorithms):
        alike = [place for place, each in enumerate(algorithms) if each == algorithm]
        if len(alike) < MANY_ALIKE:
            continue
        alike.sort(key=lambda place: -lightness_of(styles[place].colour))
        for place, hue in zip(alike[1:], HUES[1:], strict=False):
            found[place] = replace(styles[place], colour=shade(hue, lightness_of(styles[place].colour)))
    return found


def reweighs(view: InferenceView) -> bool:
    """Whether a walk goes on to new weights rho once its gap is small: as far as is asked for, and not on a tree."""
    asked = [choice.algorithm in WALKERS and choice.full_knobs["rho_updates"] > 0 for choice in view.plan.lanes]
    return any(more and not on_tree(lane) for more, lane in zip(asked, view.lanes, strict=False))


def over(view: InferenceView) -> bool:
    """Whether all lanes have come to their end."""
    return bool(view.lanes) and all(lane.done for lane in view.lanes)


def again(view: InferenceView) -> bool:
    """Whether play begins anew: not of many sites, where one press would take away what took minutes."""
    return over(view) and not many(view)


def many(view: InferenceView) -> bool:
    """Whether the sites are so many that their picture says more than the walk."""
    return view.model is not None and view.model.n > MANY


def _lane(
    envelope: Envelope, view: InferenceView, index: int, lane: InferenceLaneView, layer: str, steps: Sequence[int]
) -> dict:
    """A lane's head, with what stands beneath its picture at each of the last steps."""
    assert view.model is not None
    own = view.lanes[index]
    return envelope.lane(
        index,
        _sub(lane),
        "done" if lane.done else "",
        badge=lane.promise,
        sure=lane.promise == CERTIFIED,
        closed=lane.reason.startswith(CLOSED),
        anew=view.plan.lanes[index].full_knobs.get("correction", "never") != "never",
        **({"badgeHelp": PROVEN} if lane.promise == CERTIFIED else {}),
        subs=[[step, _sub(lane_at(own, step))] for step in steps if step <= own.count],
        step=unit_of(lane),
        # The marginals that the layer shows are of this step, to those who look back.
        sweep=None if np.isnan(lane.p1).any() else lane.count,
        n=view.model.n,
        geometry=_geometry(envelope.payload, view),
        frames=envelope.frames(index, until=own.count),
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
    # Of messages that are far from sure the likeliest states, one by one, are hardly told from chance.
    if "residual" in solver_class(lane.algorithm).spec.metrics and len(lane.p1) <= FEW:
        values = {"values": payload.add(lane.p1), "kind": "ink", "plain": True, "low": 0.0, "high": 1.0}
        return {**values, "name": FINDS_NONE}
    return None


def _sub(lane: InferenceLaneView) -> str:
    parts = [f"{seconds(lane.seconds)} computing"] if lane.seconds else []
    if len(lane.weights):
        count = integer(len(lane.weights))
        found = f"{count} configurations found"
        if not np.isnan(lane.weights).any():
            rest = centre(lane)
            besides = "" if rest is None else f", centre {rest:.2f}"
            found = f"{integer(in_use(lane))} of {count} in use{besides}"
        parts.insert(0, f"at {unit_of(lane)} {integer(lane.count)}: {found}")
    if lane.trace and "timed out" in lane.trace[-1].get("notes", {}):
        parts.append("the oracle ran out of time")
    if lane.reason.startswith(UNSETTLED):
        parts.append("stopped, not settled")
    elif lane.trace and "residual" in lane.trace[-1]:
        change = lane.trace[-1]["residual"]
        parts.append("messages at rest" if lane.done else f"messages change by {significant(change, 2)}")
    return " · ".join(parts)


# Traces.


def _traces(envelope: Envelope, view: InferenceView, large: bool) -> list[dict]:
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
    """The gap of every step above the least so far at its rho, between which the range is filled."""

    def columns(lane: InferenceLaneView) -> dict:
        found = _xy([(record["call"], gap) for record, gap in _with_gap(lane)])
        return {**found, "low": _least(lane), "high": found["y"]}

    lines = envelope.lines(columns, SMALLEST_GAP)
    return trace("gap", "Gap before each step: the most to gain", unit, lines, True, _nats(view))


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


def _log_z(envelope: Envelope, view: InferenceView, unit: str, estimates: bool) -> dict:
    """Objective (line) between the bound from the visited configurations and the best certified bound (range); of an
    estimate the range that its error bar gives 95 %."""

    def columns(lane: InferenceLaneView) -> dict:
        found, error = _objectives(lane, from_start), _column(lane, "standard_error")["y"]
        if len(error) == len(found["y"]):
            return _held(found | {"low": found["y"] - WITHIN * error, "high": found["y"] + WITHIN * error}, lane.count)
        limits = np.array([[r.get("lower"), r.get("best_bound")] for r in lane.trace], np.float64).reshape(-1, 2)
        if np.isnan(limits[:, 1]).any() or (np.isnan(limits[:, 0]).any() and not alone):
            return found
        # Of a walk's start no MAP call has told anything yet. A relaxation proves nothing from below.
        low, high = np.vstack([np.full((len(found["x"]) - len(limits), 2), np.nan), limits]).T
        return found | {"low": np.where(np.isnan(low) & ~np.isnan(high), -np.inf, low), "high": high}

    # Of a climb that is seen whole the start, too; elsewhere all else would be flat beside it.
    from_start, alone = _seen_whole(view), len(view.lanes) == 1 and not np.isnan(view.lanes[0].objective)
    lines = envelope.lines(columns)
    title = "Estimates of log Z, with 95 % error bars" if estimates else "Objective (line); log Z lies in the band"
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


# Words.


def _sentence(view: InferenceView) -> str:
    """One line: what is walked in, and what the picture shows of it."""
    if view.model is None or view.projection is None:
        return f"{view.status} …"
    words = model_words(view.model, view.plan.beta)
    return f"{words[:1].upper()}{words[1:]}. {view.projection.words}"


__all__ = ["GOALS", "LAYERS", "again", "many", "update"]

"""One update of the live player from a live inference's view, and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from pmpviz.capabilities.marginals.averaged import in_use
from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.moments import lane_at, last_steps, seen_at
from pmpviz.capabilities.marginals.plan import MANY, WALKERS
from pmpviz.capabilities.marginals.polytope import on_tree, places, scene
from pmpviz.capabilities.marginals.traces import traces
from pmpviz.capabilities.marginals.verdict import letters, said
from pmpviz.capabilities.marginals.words import CERTIFIED, CLOSED, centre, exact_log_z, exact_p1, unit_of
from pmpviz.live.view import over
from pmpviz.marginals import solver_class
from pmpviz.marginals.belief_propagation import UNSETTLED
from pmpviz.player import filters
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.style import Style, lightness_of, shade
from pmpviz.player.update import Cursors, Desk, Envelope, geometry_of
from pmpviz.player.wire import Payload

GIVEN = "given"
SPEEDS = (0.5, 1, 2, 5, 20, 0)
# Of a method that finds no configuration, where sites are so few that each is looked at.
FINDS_NONE, FEW = "p(xᵢ = 1)", 64
LAYERS = ("configuration found", "marginals", "error of the marginals")
PROVEN = (
    "Its bound on log Z is proven, not that its marginals are right: MAP calls are exact, and so log Z is at most the "
    "objective plus the gap."
)
# Of so many lanes of one algorithm each has a hue of its own beside its lightness.
MANY_ALIKE, HUES = 3, ("#7B4FB5", "#E69F00", "#009E73", "#0072B2")
# What play may run on to: the button's words, and what it does.
GOALS = {
    "gap": ("small gap", "Runs on, as fast as it can, until the gap is at most the one to reach"),
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
        traces(envelope, view, desk.large),
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


# Words.


def _sentence(view: InferenceView) -> str:
    """One line: what is walked in, and what the picture shows of it."""
    if view.model is None or view.projection is None:
        return f"{view.status} …"
    words = model_words(view.model, view.plan.beta)
    return f"{words[:1].upper()}{words[1:]}. {view.projection.words}"


__all__ = ["GOALS", "LAYERS", "many", "update"]

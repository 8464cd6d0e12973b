"""One update of the player from a live learning of a segmentation's weights, and its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pmpviz.capabilities.segmentation.lane import Point, SceneLaneView, mosaic
from pmpviz.capabilities.segmentation.live import SceneView
from pmpviz.capabilities.segmentation.plan import class_of
from pmpviz.models.scene_field import WEIGHTS
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.update import Cursors, Desk, Envelope, trace

SPEEDS = (1.0, 2.0, 5.0, 0.0)
SCENES, BETWEEN = "scenes", 2
# Worse than at best by so much, as a share of the best error, or of what likelihood was gained, is told; curves apart
# by less than this share of their range are not seen apart.
WORSE, SAME = 0.05, 0.02
HELP = (
    "Weights have no unit: trust above 0 follows the colour, bias above 0 is for animal and below 0 for ground, edge "
    "and contrast above 0 have neighbours agree."
)
TITLES = {"trust": "Trust in colour", "bias": "Bias", "edge": "Edge weight", "contrast": "Edge weight by contrast"}


def update(view: SceneView, sent: Cursors, desk: Desk) -> bytes:
    """The blob for the player; `sent` is brought up to date."""
    envelope = Envelope(view, sent, [class_of(lane.algorithm).spec for lane in view.lanes])
    then = looked_at(view, desk.at)
    lanes = [_lane(envelope, index, lane, desk.large or desk.at is not None) for index, lane in enumerate(then.lanes)]
    alt = "p(animal) of every pixel of every scene: those learned from above, those held out below"
    back = "" if desk.at is None else f"Looking back at iteration {integer(desk.at)}: "
    said = back + verdict(then)
    own = {"said": [said, *numbers(then)], "alt": alt, "unit": "iterations", "scenes": _scenes(envelope, view)}
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view), said, **own)


def looked_at(view: SceneView, at: int | None) -> SceneView:
    """The view whose words are of iteration `at`, or of the newest one where nobody looks back."""
    if at is None:
        return view
    return replace(view, lanes=tuple(_back(lane, at) for lane in view.lanes))


def _back(lane: SceneLaneView, at: int) -> SceneLaneView:
    points = tuple(point for point in lane.points if point.iteration <= at)
    return replace(lane, points=points, count=points[-1].iteration, theta=points[-1].theta) if points else lane


def _scenes(envelope: Envelope, view: SceneView) -> dict | None:
    """What is seen of all scenes and what was drawn, as the lanes' pictures lie; None where the browser has them."""
    if envelope.sent.start(SCENES) == view.begun:
        return None
    envelope.sent.sent(SCENES, view.begun)
    drawn, count = view.plan.drawn(), view.plan.scenes
    colours, masks = [scene.colours for scene in drawn], [scene.mask.astype(np.uint8) for scene in drawn]
    seen = mosaic(colours[:count], colours[count:], 1.0)
    truth = mosaic(masks[:count], masks[count:], BETWEEN)
    blobs = {"seen": (255 * np.clip(seen, 0, 1)).round(), "drawn": truth}
    rows, columns = truth.shape
    return {"rows": rows, "cols": columns} | {name: envelope.payload.add(each, "u1") for name, each in blobs.items()}


def _lane(envelope: Envelope, index: int, lane: SceneLaneView, brief: bool) -> dict:
    rows, columns = lane.p1.shape
    values = envelope.payload.add(lane.p1.reshape(-1))
    weights = [f"{name} {significant(value, 2)}" for name, value in zip(WEIGHTS, lane.theta, strict=True) if lane.count]
    # Before a class the weights, which the question asks for, have all of the room; the time is that of now alone.
    computing = [f"{seconds(lane.seconds)} computing"] if lane.seconds and not brief else []
    return envelope.lane(
        index,
        " · ".join([*weights, *computing]),
        "done" if lane.done else "",
        subHelp=HELP,
        step="iteration",
        sweep=envelope.view.lanes[index].count,  # That the layer is of, wherever one looks back to.
        n=lane.p1.size,
        geometry={"kind": "grid", "rows": rows, "cols": columns},
        frames=envelope.frames(index),
        layer={"values": values, "kind": "sequential", "low": 0.0, "high": 1.0, "name": "p(animal)"},
    )


def _traces(envelope: Envelope, view: SceneView) -> list[dict]:
    if not view.lanes:
        return []

    def card(id: str, title: str, of: Callable[[Point], Any], log: bool = False, unit: str = "") -> dict:
        def columns(lane: SceneLaneView) -> dict[str, Any]:
            known = [(point.iteration, of(point)) for point in lane.points if of(point) is not None]
            x, y = np.array(known, np.float64).reshape(-1, 2).T
            return {"x": x, "y": y}

        return trace(id, title, "iterations", envelope.lines(columns, 1e-9 if log else None), log, unit)

    found = [
        card("held", "Held out: log-likelihood", lambda p: p.held_bound, unit="nats a pixel, at least"),
        card("likelier", "Held out: wrong beside the outline, marginals", lambda p: 100 * p.wrong_likelier, unit="%"),
        card("map", "Held out: wrong beside the outline, MAP", lambda p: 100 * p.wrong_map, unit="%"),
    ]
    for k, name in enumerate(WEIGHTS):
        found.append(card(name, TITLES[name], partial(_weight, k=k)))
    if any(lane.points and lane.points[0].own_bound is not None for lane in view.lanes):
        found.append(card("own", "Learned from: log-likelihood, at least", lambda p: p.own_bound, unit="own bound"))
    return [*found, card("gradient", "Gradient, root mean square", lambda p: p.gradient, True)]


def _weight(point: Point, k: int) -> float:
    return float(point.theta[k])


def verdict(view: SceneView) -> str:
    """What the weights are worth on held-out scenes, at the last iteration that all lanes have reached."""
    begun = [lane for lane in view.lanes if lane.points]
    if not begun:
        return "Nothing is learned yet, all weights are 0: press Play." if view.lanes else f"{view.status} …"
    count = together(begun)
    before = begun[0].points[0].wrong_likelier
    if not count:
        return f"Before learning all is called ground: wrong of {before:.1%} of the pixels near held-out outlines."
    wrong = [lane.points[count].wrong_likelier for lane in begun]
    when = f"After {integer(count)} iteration{'s' if count > 1 else ''}"
    what = "of the pixels near held-out outlines are wrong"
    first = f"{wrong[0]:.1%} {what}"
    if len(begun) == 1:
        return f"{when} {first}, {before:.1%} before learning."
    if _alike(begun):
        shares = " and ".join(f"{share:.1%}" for share in wrong)
        who = "Both" if len(begun) == 2 else "All"
        return f"{who} agree, whichever is used: {when.lower()} {shares} {what}, {before:.1%} before learning."
    others = "".join(f", {lane.label} {share:.1%}" for lane, share in zip(begun[1:], wrong[1:], strict=True))
    return f"{when} {first} by {begun[0].label}{others}; {before:.1%} before learning."


def together(lanes: Sequence[SceneLaneView]) -> int:
    """The last iteration that all lanes have reached."""
    return min(lane.points[-1].iteration for lane in lanes)


def numbers(view: SceneView) -> list[str]:
    """What agreement means, errors of the MAP configuration, and what gets worse."""
    begun = [lane for lane in view.lanes if lane.points]
    if not begun or not (count := together(begun)):
        return []
    best = ", ".join(f"{lane.points[count].wrong_map:.1%}" for lane in begun)
    alike = [AGREE] if _alike(begun) else []
    words = [*alike, f"Wrong in the likeliest configuration as a whole (MAP): {best}.", *_better_before(begun)]
    return [" ".join(words)]


AGREE = "Their held-out likelihoods lie on each other."
RAISED = "Learning raises the likelihood of the whole answer and does not count wrong pixels."


def _better_before(lanes: Sequence[SceneLaneView]) -> list[str]:
    """By what measure the weights of an earlier iteration were better, of which lane, and when; and why that may be."""
    errors, bounds = [], []
    for lane in lanes:
        now, least = lane.points[-1], min(lane.points, key=lambda point: point.wrong_likelier)
        most = max(lane.points, key=lambda point: point.held_bound)
        if now.wrong_likelier > (1 + WORSE) * least.wrong_likelier:
            errors.append(f"{lane.label} at iteration {integer(least.iteration)} ({least.wrong_likelier:.1%})")
        if most.held_bound - now.held_bound > WORSE * (most.held_bound - lane.points[0].held_bound):
            bounds.append(f"{lane.label} at iteration {integer(most.iteration)}")
    found = [f"Fewer were wrong before: {', '.join(errors)}. {RAISED}"] if errors else []
    return found + ([f"Held-out likelihood was higher before: {', '.join(bounds)}."] if bounds else [])


def _alike(lanes: Sequence[SceneLaneView]) -> bool:
    """Whether curves lie on each other, where one would look for a second one."""
    bounds = [[point.held_bound for point in lane.points] for lane in lanes]
    rows = np.array([each[: min(map(len, bounds))] for each in bounds])
    return len(lanes) > 1 and bool(np.ptp(rows, 0).max() < SAME * np.ptp(rows))


__all__ = ["numbers", "update", "verdict"]

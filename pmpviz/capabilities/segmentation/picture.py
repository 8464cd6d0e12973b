"""One update of the player from a live learning of a segmentation's weights, and its words."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from pmpviz.capabilities.segmentation.lane import Point, SceneLaneView, mosaic
from pmpviz.capabilities.segmentation.live import SceneView
from pmpviz.capabilities.segmentation.plan import ScenePlan, class_of
from pmpviz.models.scene_field import WEIGHTS
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.pictures import colour_image, lattice_image
from pmpviz.player.update import Cursors, Desk, Envelope, trace

SPEEDS = (1.0, 2.0, 5.0, 0.0)
SIDE = 640
TITLES = {"trust": "Trust in colour", "bias": "Bias", "edge": "Edge weight", "contrast": "Edge weight by contrast"}


def update(view: SceneView, sent: Cursors, desk: Desk) -> bytes:
    """The blob for the player; `sent` is brought up to date."""
    envelope = Envelope(view, sent, [class_of(lane.algorithm).spec for lane in view.lanes])
    lanes = [_lane(envelope, index, lane) for index, lane in enumerate(view.lanes)]
    alt = "p(animal) of every pixel of every scene: those learned from above, those held out below"
    said = verdict(view)
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view), said, said=[said], alt=alt, unit="iterations")


def _lane(envelope: Envelope, index: int, lane: SceneLaneView) -> dict:
    rows, columns = lane.p1.shape
    values = envelope.payload.add(lane.p1.reshape(-1))
    weights = ", ".join(
        f"{name} {significant(value, 2)}" for name, value in zip(WEIGHTS, lane.theta, strict=True) if lane.count
    )
    return envelope.lane(
        index,
        " · ".join(part for part in (weights, f"{seconds(lane.seconds)} computing") if part),
        "done" if lane.done else "",
        step="iteration",
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
        card("held", "Held out: log-likelihood a pixel, at least", lambda p: p.held_bound, unit="nats, TRBP's bound"),
        card("map", "Held out: wrong beside the outline, MAP", lambda p: p.wrong_map),
        card("likelier", "Held out: wrong beside the outline, marginals", lambda p: p.wrong_likelier),
    ]
    for k, name in enumerate(WEIGHTS):
        found.append(card(name, TITLES[name], partial(_weight, k=k)))
    if any(lane.points and lane.points[0].own_bound is not None for lane in view.lanes):
        found.append(card("own", "Learned from: log-likelihood, at least", lambda p: p.own_bound, unit="own bound"))
    return [*found, card("gradient", "Gradient, root mean square", lambda p: p.gradient, True)]


def _weight(point: Point, k: int) -> float:
    return float(point.theta[k])


def scenes_image(plan: ScenePlan) -> Image.Image:
    """What is seen of all scenes, as the lanes' pictures lie."""
    colours = [scene.colours for scene in plan.drawn()]
    return colour_image(mosaic(colours[: plan.scenes], colours[plan.scenes :], 1.0), SIDE)


def truth_image(plan: ScenePlan, dark: bool) -> Image.Image:
    """What was drawn."""
    masks = [scene.mask for scene in plan.drawn()]
    plane = mosaic(masks[: plan.scenes], masks[plan.scenes :], 0.0)
    return lattice_image(plane.reshape(-1).astype(np.int8), plane.shape, SIDE, dark).convert("RGB")


def verdict(view: SceneView) -> str:
    """What the weights of the moment are worth on the scenes that were held out."""
    begun = [lane for lane in view.lanes if lane.points]
    if not begun:
        return "Nothing is learned yet: all weights are 0." if view.lanes else f"{view.status} …"
    wrong = "; ".join(
        f"{lane.label} {lane.points[-1].wrong_map:.1%} (MAP), {lane.points[-1].wrong_likelier:.1%} (marginals)"
        for lane in begun
    )
    where = f"{integer(view.plan.scenes)} scenes held out"
    return f"Iteration {integer(begun[0].count)}. Wrong within 3 pixels of the outline, on {where}: {wrong}."


__all__ = ["scenes_image", "truth_image", "update", "verdict"]

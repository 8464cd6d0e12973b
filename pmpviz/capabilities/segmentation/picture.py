"""One update of the player from a live learning of a segmentation's weights, and its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pmpviz.capabilities.segmentation.lane import Point, SceneLaneView, mosaic
from pmpviz.capabilities.segmentation.live import SceneView
from pmpviz.capabilities.segmentation.plan import class_of
from pmpviz.models.scene_field import WEIGHTS
from pmpviz.player.model_words import listed
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
    lanes = [_lane(envelope, index, lane, desk.large) for index, lane in enumerate(then.lanes)]
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
    if not points:
        return lane
    last = points[-1]
    return replace(lane, points=points, count=last.iteration, theta=last.theta, seconds=last.seconds)


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
    # Before a class the weights, which the question asks for, have all of the room.
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
    """Which weights tell an animal, and what they are worth on held-out scenes, at what all lanes have reached."""
    begun = [lane for lane in view.lanes if lane.points]
    if not begun:
        return _unlearned(view)
    count = together(begun)
    before = begun[0].points[0].wrong_likelier
    if not count:
        called = f"called ground, {before:.1%} of the pixels near held-out outlines are wrong"
        return f"Before learning every pixel is undecided, p = 0.5: {called}."
    now = [lane.points[count] for lane in begun]
    when = f"after {integer(count)} iteration{'s' if count > 1 else ''}"
    wrong = f"{_shares(begun, now)} of the pixels near held-out outlines are wrong"
    return f"{_weights(now)}: {when} {wrong}, before learning {before:.1%}{_fewest(begun, count)}."


def _unlearned(view: SceneView) -> str:
    if not view.lanes:
        return f"{view.status} …"
    do = "the first iteration takes a few seconds" if view.playing else "press Play"
    return f"Nothing is learned yet, all weights are 0: {do}."


def _shares(lanes: Sequence[SceneLaneView], now: Sequence[Point]) -> str:
    """How many are wrong, of every lane; of lanes that agree it is enough to have their names in brackets."""
    told = [(f"{point.wrong_likelier:.1%}", lane.label) for lane, point in zip(lanes, now, strict=True)]
    if len(told) == 1:
        return told[0][0]
    alike = _alike(lanes)
    named = [f"{share} ({name})" if alike else f"{share} by {name}" for share, name in told]
    return listed(named)


def _fewest(lanes: Sequence[SceneLaneView], count: int) -> str:
    """Where fewer were wrong before, when that was, and why it is not so any more."""
    errors = [[point.wrong_likelier for point in lane.points[: count + 1]] for lane in lanes]
    worst, course = max(zip(_excess(errors), errors, strict=True))
    if worst <= WORSE:
        return ""
    best = int(np.argmin(course))
    return f", after {integer(best)} iteration{'s' if best > 1 else ''} {min(course):.1%}: {RAISED}"


def _excess(errors: Sequence[Sequence[float]]) -> list[float]:
    """By what share of its least error each course ends above it."""
    return [each[-1] / min(each) - 1 if min(each) else float(each[-1] > 0) for each in errors]


def _weights(now: Sequence[Point]) -> str:
    """The weights in words, with every lane's number."""
    trust, bias, edge, contrast = (_Weight(name, values) for name, values in zip(WEIGHTS, _columns(now), strict=True))
    ground = bias.said("a bias to animal", "a bias to ground", "a bias")
    agree = edge.said("neighbours that agree", "neighbours that differ", "neighbours")
    alike = contrast.said("most where colours are alike", "least where colours are alike", "by their colours")
    return f"{trust.said('Colour', 'Colour, turned round', 'Colour')}, {ground} and {agree}, {alike}"


def _columns(now: Sequence[Point]) -> list[list[float]]:
    return np.array([point.theta for point in now]).T.tolist()


@dataclass(frozen=True)
class _Weight:
    """One weight, of every lane."""

    name: str
    values: Sequence[float]

    def said(self, above: str, below: str, neither: str) -> str:
        """What it does by its sign, if that is one for all lanes, and in brackets its numbers, equal ones once."""
        signs = {value > 0 for value in self.values}
        words = neither if len(signs) > 1 else above if True in signs else below
        numbers = dict.fromkeys(significant(value, 2) for value in self.values)
        return f"{words} ({self.name} {' and '.join(numbers)})"


def together(lanes: Sequence[SceneLaneView]) -> int:
    """The last iteration that all lanes have reached."""
    return min(lane.points[-1].iteration for lane in lanes)


def numbers(view: SceneView) -> list[str]:
    """What agreement means and takes, errors of the MAP configuration, and what gets worse."""
    begun = [lane for lane in view.lanes if lane.points]
    if not begun or not (count := together(begun)):
        return []
    best = ", ".join(f"{lane.points[count].wrong_map:.1%}" for lane in begun)
    took = " and ".join(seconds(lane.points[count].seconds) for lane in begun)
    alike = [f"{AGREE}, after {took} of computing."] if _alike(begun) else []
    words = [*alike, f"Wrong in the likeliest configuration as a whole (MAP), no pixel by itself: {best}."]
    return [" ".join([*words, *_likelier_before(begun)])]


AGREE = "They learn the same: their held-out likelihoods lie on each other"
RAISED = "it is the likelihood that is raised"


def _likelier_before(lanes: Sequence[SceneLaneView]) -> list[str]:
    """Which lane's held-out likelihood was higher at an earlier iteration, and when."""
    bounds = []
    for lane in lanes:
        now, most = lane.points[-1], max(lane.points, key=lambda point: point.held_bound)
        if most.held_bound - now.held_bound > WORSE * (most.held_bound - lane.points[0].held_bound):
            bounds.append(f"{lane.label} at iteration {integer(most.iteration)}")
    return [f"Held-out likelihood was higher before: {', '.join(bounds)}."] if bounds else []


def _alike(lanes: Sequence[SceneLaneView]) -> bool:
    """Whether curves lie on each other, where one would look for a second one."""
    bounds = [[point.held_bound for point in lane.points] for lane in lanes]
    rows = np.array([each[: min(map(len, bounds))] for each in bounds])
    return len(lanes) > 1 and bool(np.ptp(rows, 0).max() < SAME * np.ptp(rows))


__all__ = ["numbers", "update", "verdict"]

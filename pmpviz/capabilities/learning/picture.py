"""One update of the live player from a live training's view."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pmpviz.capabilities.learning.lane import MOST_PICTURES, LearningLaneView, mosaic_shape
from pmpviz.capabilities.learning.likelihood import is_small
from pmpviz.capabilities.learning.live import LearningView
from pmpviz.capabilities.learning.verdict import LITTLE, is_far_behind, longest, mmd_note, scored
from pmpviz.capabilities.learning.words import looked_at, more, offer, said
from pmpviz.learning import learner_class
from pmpviz.player.filters import filter_words, sent_filters
from pmpviz.player.numbers import rate_words, seconds, significant
from pmpviz.player.style import GUARANTEES
from pmpviz.player.update import MOST_TRACE_POINTS, Cursors, Desk, Envelope, trace
from pmpviz.runs.device import device_words

SPEEDS = (1, 5, 20, 100, 0)
BLUE, ORANGE = "#0072B2", "#D55E00"


def update(view: LearningView, sent: Cursors, desk: Desk) -> bytes:
    """The blob for the player; `sent` is brought up to date."""
    envelope = Envelope(view, sent, [learner_class(lane.algorithm).spec for lane in view.lanes])
    _tell_apart(envelope)
    then = looked_at(view, desk.at)
    lanes = [_lane(envelope, then, index, lane, desk) for index, lane in enumerate(then.lanes)]
    alt = "Pictures that the models of each lane dream up"
    sentences = said(view, desk.at, device_words())
    words: dict[str, Any] = {"said": sentences, "alt": alt, "unit": "iterations", "more": more(then)}
    words["of"] = desk.at
    words["data"] = _data(envelope, view) if desk.large else None
    words |= {"offer": offer(view), "longest": longest(view)}
    if view.trouble:
        words["trouble"] = f"{view.trouble[:1].upper()}{view.trouble[1:].rstrip('.')}."
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view, desk.large), sentences[0], **words)


def _tell_apart(envelope: Envelope) -> None:
    """Two trainings by one algorithm in two hues: before a class light and dark of one look the same."""
    styles, names = envelope.styles, [lane.algorithm for lane in envelope.view.lanes]
    if len(names) == 2 and names[0] == names[1]:
        red, blue = (int(styles[0].colour[at : at + 2], 16) for at in (1, 5))
        styles[1] = replace(styles[1], colour=ORANGE if blue > red else BLUE)


def _lane(envelope: Envelope, view: LearningView, index: int, lane: LearningLaneView, desk: Desk) -> dict:
    assert view.train is not None
    pictures, shape = min(view.plan.chains, MOST_PICTURES), view.train.shape
    _, columns, height, width = mosaic_shape(pictures, shape)
    # Of an earlier moment those that were kept last before it.
    point, now = lane.points[-1], envelope.view.lanes[index]
    filters, of = sent_filters(lane.model, shape), lane.iteration
    if desk.at is not None:
        filters, of = point.filters, point.iteration
    # Before a class, where no badge says it, whose pictures these are.
    samples = "its samples" if lane.iteration else "random start"  # No model has drawn these yet.
    title = "The model's samples" if lane.iteration else "Random start"
    named = {"label": f"{title}: {lane.label}", "short": title}
    return envelope.lane(
        index,
        _sub(lane, desk.speed, view.playing and not lane.done),
        "done" if lane.done else "compiling …" if view.playing and not now.rate else "",
        subHelp="An epoch is one pass over the pictures that are learned from." if lane.epoch else "",
        badge=f"{samples} · {lane.guarantee}",
        badgeHelp=f"{GUARANTEES[lane.guarantee]}. {learner_class(lane.algorithm).spec.summary}",
        **(named if desk.large and len(view.lanes) == 1 else {}),
        step="iteration",
        passes=now.epoch / max(now.iteration, 1),
        n=height * width,
        geometry={"kind": "grid", "rows": height, "cols": width},
        frames=envelope.frames(index),
        filters={**filter_words(envelope.payload, filters, shape, pictures, columns), "iteration": of},
    )


def _data(envelope: Envelope, view: LearningView) -> dict | None:
    """A row of the pictures that are learned from, as many as there are samples side by side."""
    if view.train is None:
        return None
    height, width = view.train.shape
    columns = mosaic_shape(min(view.plan.chains, MOST_PICTURES), view.train.shape)[1]
    pictures = some_of(np.asarray(view.train.x, bool), columns).reshape(columns, height, width)
    row = np.pad(np.hstack(list(np.pad(pictures, ((0, 0), (1, 1), (1, 0))))), ((0, 0), (0, 1)))
    return {"bits": envelope.payload.add(np.packbits(row), "u1"), "rows": row.shape[0], "cols": row.shape[1]}


def some_of(x: np.ndarray, count: int) -> np.ndarray:
    """So many rows of all over the data: the first ones stand in an order, in which those held out would be missing."""
    return x[np.linspace(0, len(x) - 1, count).astype(int)]


def _sub(lane: LearningLaneView, speed: float, going: bool) -> str:
    rate = rate_words(lane.rate, speed, "iterations", going)
    # The browser writes those of the picture that it shows.
    parts = [f"{significant(lane.epoch)} epochs", rate, f"{seconds(lane.seconds)} computing" if lane.seconds else ""]
    return " · ".join(part for part in parts if part)


# Traces.


def _traces(envelope: Envelope, view: LearningView, large: bool) -> list[dict]:
    """A class sees the first one alone: of lanes of which one is far behind by iterations, that of equal time."""
    if not view.lanes:
        return []
    several, mmd = len(view.lanes) > 1, [_mmd(envelope, view, "iterations")]
    errors = []
    if any(math.isfinite(p.reconstruction) for lane in view.lanes for p in lane.points[:1]):
        errors.append(_points(envelope, "reconstruction", "Reconstruction error a pixel"))
        if view.held_out:
            errors.append(_points(envelope, "free_energy_gap", "Free energy, held-out minus training"))
    # What learning raises comes first: MMD², which is small from the start, would tell another story. Of several lanes
    # it tells whose samples are like the pictures, whatever their laws are.
    traces = [_likelihood(envelope, view), *(mmd if several or not errors else [*errors[:1], *mmd])]
    if several:
        in_time = _likelihood(envelope, view, "seconds")
        traces.insert(0 if large and is_far_behind(view) else len(traces), in_time)
        traces.append(_mmd(envelope, view, "seconds"))
    traces.append(_series(envelope, "gradient_norm", "Gradient, root mean square", True))
    traces += errors if several else errors[1:]
    traces.append(_series(envelope, "weight_norm", "Weights, root mean square", False))
    # All of them up to the same iteration, wherever what they show was taken last.
    far = [0, max(lane.iteration for lane in view.lanes)]
    return [each | ({"span": far} if each["x"] == "iterations" else {}) for each in traces]


def _mmd(envelope: Envelope, view: LearningView, x: str) -> dict:
    noise = view.lanes[0].points[0].noise if view.lanes[0].points else math.nan
    floor = noise / 10 if math.isfinite(noise) and noise else 1e-8
    at = "seconds" if x == "seconds" else "iteration"
    lines = envelope.lines(lambda lane: _columns(lane.points, x=at, y="mmd2"), floor)
    band = {"low": floor, "high": noise, "label": "noise, up to 95 %"} if math.isfinite(noise) else None
    return trace(f"mmd-{x}", f"MMD² to {scored(view)}", x, lines, True, band=band, note=mmd_note(view))


def _points(envelope: Envelope, name: str, title: str) -> dict:
    lines = envelope.lines(lambda lane: _columns(lane.points, x="iteration", y=name))
    return trace(name, title, "iterations", lines)


def _series(envelope: Envelope, name: str, title: str, log: bool) -> dict:
    def columns(lane: LearningLaneView) -> dict:
        bins = lane.series.bins(most=MOST_TRACE_POINTS)
        found = {"x": bins.mean["iteration"], "y": bins.mean[name]}
        return found if bins.width == 1 else {**found, "least": bins.least[name], "most": bins.most[name]}

    lines = envelope.lines(columns, 1e-9 if log else None)
    return trace(name, title, "iterations", lines, log)


def _likelihood(envelope: Envelope, view: LearningView, x: str = "iterations") -> dict:
    at = "seconds" if x == "seconds" else "iteration"

    def columns(lane: LearningLaneView) -> dict:
        found = sorted(lane.likelihoods, key=lambda each: each.iteration)
        return _columns(found, x=at, y="value", low="low", high="high")

    exact = all(is_small(lane.model) for lane in view.lanes)
    known = any(lane.likelihoods for lane in view.lanes)
    how = "exact" if exact else "estimated" if known or not view.lanes[0].iteration else "being estimated"
    unit = f"nats, {how}"
    chance = {"y": view.lanes[0].independent, "label": "independent pixels"}
    # It is measured now and then, beside the learning: where, is seen.
    # Before the first step lanes differ by nothing, which would fill the height.
    begun = any(lane.iteration for lane in view.lanes)
    lines = [{**line, "dots": True} for line in envelope.lines(columns)] if begun else []
    title, least = f"Log-likelihood of {scored(view)}", LITTLE  # The errors of an estimate are drawn, and have room.
    id = "likelihood-seconds" if x == "seconds" else "likelihood"
    return trace(id, title, x, lines, unit=unit, exact=chance, least=least)


def _columns(points: Sequence[Any], **names: str) -> dict[str, list]:
    return {column: [getattr(point, name) for point in points] for column, name in names.items()}

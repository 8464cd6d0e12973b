"""One update of the deconvolution stage from a live view, its words, and pictures of features."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image

from pmpviz.capabilities.deconvolution.lane import MOST_SHOWN, DeconvolutionLaneView, Frame
from pmpviz.capabilities.deconvolution.live import DeconvolutionView
from pmpviz.capabilities.deconvolution.plan import Problem
from pmpviz.capabilities.deconvolution.words import (
    HELP,
    begun,
    computing,
    found_by,
    found_words,
    left_empty,
    measured,
    numbers,
    partly,
    short_name,
    spec_of,
    values_of,
    verdict,
)
from pmpviz.player.numbers import seconds
from pmpviz.player.pictures import DARK, LIGHT
from pmpviz.player.update import MOST_TRACE_POINTS, Cursors, Desk, Envelope, trace
from pmpviz.player.wire import Payload, thin
from pmpviz.runs.device import device_words

SPEEDS = (2, 5, 10, 50, 0)
MOST_SENT = 240


def pictures_of(planes: np.ndarray, picture: tuple[int, int] | None) -> np.ndarray:
    """[..., c, h, w] as pictures [..., rows, columns]: channels of 1 x 1 as pixels, others one under the other."""
    *lead, channels, height, width = planes.shape
    if picture is not None:
        return planes.reshape(*lead, *picture)
    return planes.reshape(*lead, channels * height, width)


def features_of(belief: np.ndarray, problem: Problem) -> np.ndarray:
    """[..., c, f, a, b] as pictures [..., f, rows, columns]."""
    return pictures_of(np.moveaxis(belief, -4, -3), problem.picture)


def update(view: DeconvolutionView, sent: Cursors, desk: Desk) -> bytes:
    """The blob for the stage; `sent` is brought up to date."""
    envelope, problem, said = Envelope(view, sent, [spec_of(lane) for lane in view.lanes]), view.problem, verdict(view)
    rows = [] if problem is None else [_lane(envelope, problem, view, k, lane) for k, lane in enumerate(view.lanes)]
    lanes = [{**row, **_in_full(row)} for row in rows] if desk.large else rows
    traces = [] if problem is None else _traces(envelope, view, problem)
    own = {"alt": said, "unit": "sweeps", "numbers": numbers(view), "trouble": "", **_problem(envelope.payload, view)}
    own["whose"] = _paced(view)
    anew = "".join(f"{words[:1].upper()}{words[1:]}. " for _, words in view.marks)
    own["said"] = [said, f"{anew}{computing(view, device_words())}."]
    return envelope.seal(desk, SPEEDS, lanes, traces, said, **own)


def _paced(view: DeconvolutionView) -> str:
    """Whose sweeps the speed counts, where others are given the seconds of these; nothing where it is of all."""
    draws = [lane for lane in view.lanes if spec_of(lane).kind == "draw"]
    return ", ".join(map(short_name, draws)) if len(draws) < len(view.lanes) else ""


def _problem(payload: Payload, view: DeconvolutionView) -> dict:
    problem = view.problem
    if problem is None:
        shape = {"features": 1, "rows": 1, "cols": 1, "shown": 0, "height": 1, "width": 1}
        words = {"shape": shape, "places": [1, 1], "channels": 1, "total": 0, "clamped": None, "truth": {"bits": None}}
        return {**words, "images": None, "observed": False, "partly": False}
    observed = bool(problem.seen.any())
    shown = pictures_of(np.where(problem.seen, problem.images, 2)[:MOST_SHOWN], problem.picture)
    blank = np.zeros((1, *problem.shape.w), np.int8)
    rows, columns = features_of(blank, problem).shape[-2:]
    shape = {"features": problem.shape.features, "rows": rows, "cols": columns, "shown": len(shown)}
    shape |= {"height": shown.shape[1], "width": shown.shape[2]}
    held = np.isin(np.arange(problem.shape.features), problem.clamped)
    return {
        "shape": shape,
        "images": payload.add(shown, "u1") if observed else None,
        "places": list(problem.shape.locations),
        "channels": 1 if problem.picture else problem.shape.channels,
        "observed": observed,
        "partly": partly(problem),
        "total": problem.shape.images,
        "clamped": payload.add(held, "u1") if held.any() else None,
        "truth": _truth(payload, problem),
    }


def _truth(payload: Payload, problem: Problem) -> dict:
    if problem.glyphs is None:
        return {"bits": None}
    glyphs = features_of(problem.glyphs, problem)[: problem.shape.features]
    count, rows, columns = glyphs.shape
    return {"bits": payload.add(glyphs, "u1"), "count": count, "rows": rows, "cols": columns}


def _lane(envelope: Envelope, problem: Problem, view, index: int, lane: DeconvolutionLaneView) -> dict:
    return envelope.lane(
        index,
        "",
        _status(view, lane),
        short=short_name(lane),
        samples=lane.samples,
        timed=len(view.lanes) > 1,
        # Of a chain the state is shown, which is never unsure, nor is what is given.
        pale=spec_of(lane).kind == "draw" and len(problem.clamped) < problem.shape.features,
        frames=_new_frames(envelope, problem, index, lane),
    )


def _in_full(row: dict) -> dict:
    """Before a class a lane's name with what it is called in the words beside it, where that is another."""
    named = row["label"] == row["short"] or row["short"] in row["label"]
    return {} if named else {"label": f"{row['label']} ({row['short']})"}


def _new_frames(envelope: Envelope, problem: Problem, index: int, lane: DeconvolutionLaneView) -> dict:
    start = envelope.sent.start(str(index))
    frames = [frame for frame in lane.frames if frame.number > start]
    frames = [frames[place] for place in thin(len(frames), MOST_SENT)]
    if frames:
        envelope.sent.sent(str(index), frames[-1].number)
    said = [found_by(envelope.view, index, frame) for frame in frames]
    keys = [key for key, *_ in measured(envelope.view)]
    values = [[found[key] for key in keys] for found in (values_of(frame, problem) for frame in frames)]
    return {"said": said, "values": values, **_frames(envelope.payload, problem, frames, start)}


def _status(view: DeconvolutionView, lane: DeconvolutionLaneView) -> str:
    if not lane.frames:
        # Before the first picture of all the verdict says it.
        return "compiling …" if view.trouble is None and begun(view) else ""
    if lane.rested:
        return "messages at rest"
    compiled = f"compiled in {seconds(lane.compile_seconds)}" if lane.compile_seconds >= 0.01 else ""
    return "done" if lane.done else compiled


def _frames(payload: Payload, problem: Problem, frames: list[Frame], start: int) -> dict:
    words = {
        "since": start,
        "numbers": [frame.number for frame in frames],
        "sweeps": [round(frame.sweep, 4) for frame in frames],
        "seconds": [frame.seconds for frame in frames],
        "wrong": [list(frame.wrong) for frame in frames],
        "hidden": [list(frame.hidden_wrong) for frame in frames],
        "residual": [frame.residual if math.isfinite(frame.residual) else None for frame in frames],
        "sharpness": [round(frame.sharpness, 5) for frame in frames],
        "orders": [[list(order) for order in frame.order] for frame in frames],
        "found": [[[found_words(each, problem) for each in sample] for sample in frame.found] for frame in frames],
        "counts": [list(frame.found_counts) for frame in frames],
        "belief": None,
        "pictures": None,
        "places": None,
        "stamps": [len(frame.places) for frame in frames],
    }
    if frames:
        beliefs = np.stack([features_of(frame.belief, problem) for frame in frames])
        words["belief"] = payload.add(beliefs, "u1")
        words["pictures"] = payload.add(np.stack([frame.picture for frame in frames]), "u1")
        words["places"] = payload.add(np.concatenate([frame.places for frame in frames]), "<i4")
    return words


# Traces.


def _traces(envelope: Envelope, view: DeconvolutionView, problem: Problem) -> list[dict]:
    if not any(lane.frames for lane in view.lanes):
        return []
    cards, samples = [], "" if view.plan.samples == 1 else "mean and range of samples"
    if problem.seen.any():
        ink = max(1, int(problem.images[problem.seen].sum()))
        wrong = "Wrong pixels" if problem.seen.all() else "Given pixels wrong"
        cards.append(("wrong", wrong, 1.0, "" if samples else "of all images"))
        cards.append(("explained", "Explained ink", 100.0 / ink, "%"))
    if partly(problem):
        cards.append(("hidden_wrong", "Hidden pixels filled in wrongly", 1.0, ""))
    cards.append(("energy", "Energy", 1.0, "nats"))
    if any("residual" in spec_of(lane).metrics for lane in view.lanes):
        cards.append(("residual", "Largest change of a message", 1.0, "a sweep"))
    cards.append(("sharpness", "Certainty of the features, |belief − ½|", 1.0, ""))
    empty = {"hidden_wrong": {"y": left_empty(problem), "label": "left empty"}}
    return [
        _trace(envelope, name, title, scale, ", ".join(filter(None, (unit, samples)))) | {"exact": empty.get(name)}
        for name, title, scale, unit in cards
    ]


def _trace(envelope: Envelope, name: str, title: str, scale: float, unit: str) -> dict:
    log = name == "residual"

    def columns(lane: DeconvolutionLaneView) -> dict:
        bins = lane.series.graded(MOST_TRACE_POINTS)  # Beside others seconds stand on a log axis.
        kept = bins.mean[f"{name}:mean"] > 0 if log else np.ones(len(bins), bool)
        found = {"x": bins.mean["sweep"], "seconds": bins.mean["seconds"], "y": scale * bins.mean[f"{name}:mean"]}
        found |= {"low": scale * bins.least[f"{name}:low"], "high": scale * bins.most[f"{name}:high"]}
        return {column: values[kept] for column, values in found.items()}

    # Best and worst are of the numbers, which are of one moment.
    help = HELP[name].removesuffix(" Best and worst sample.") if name in ("energy", "residual") else ""
    return trace(name, title, "sweeps", envelope.lines(columns, 1e-6 if log else None), log, unit, help=help)


# Pictures.


def features_image(features: np.ndarray, problem: Problem, dark: bool = False, unit: int = 16) -> Image.Image:
    """Features [c, f, a, b] of one sample (0 to 1) as square pixels, in rows of equal length, thin lines between."""
    pictures = features_of(np.asarray(features, float), problem)
    inks = DARK if dark else LIGHT
    count, rows, columns = pictures.shape
    across = math.ceil(math.sqrt(count))
    down = math.ceil(count / across)
    high, wide, gap = rows * unit, columns * unit, max(1, unit // 4)
    canvas = np.full((down * (high + gap) - gap, across * (wide + gap) - gap, 3), inks.line, np.uint8)
    for place in range(down * across):
        shade = pictures[place][..., None] if place < count else np.zeros((rows, columns, 1))
        colours = np.rint(shade * np.array(inks.ink) + (1 - shade) * np.array(inks.paper)).astype(np.uint8)
        top, left = place // across * (high + gap), place % across * (wide + gap)
        canvas[top : top + high, left : left + wide] = colours.repeat(unit, 0).repeat(unit, 1)
    return Image.fromarray(canvas)


__all__ = ["features_image", "features_of", "pictures_of", "update"]

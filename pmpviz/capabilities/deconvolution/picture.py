"""One update of the deconvolution stage from a live view, its words, and pictures of features."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np
from PIL import Image

from pmpviz.capabilities.deconvolution.lane import MOST_SHOWN, DeconvolutionLaneView, Found, Frame
from pmpviz.capabilities.deconvolution.live import DeconvolutionView
from pmpviz.capabilities.deconvolution.plan import Problem, conv_sampler
from pmpviz.player.numbers import THIN, integer, seconds, significant
from pmpviz.player.pictures import DARK, LIGHT
from pmpviz.player.update import MOST_TRACE_POINTS, Cursors, Desk, Envelope, trace
from pmpviz.player.wire import Payload, thin
from pmpviz.runs.device import device_words
from pmpviz.types import Spec

SPEEDS = (2, 5, 10, 50, 0)
MOST_SENT = 240
HELP = {
    "sweep": "The sweep that these numbers and the pictures are of; lanes that have equal seconds have each its own.",
    "wrong": "Pixels of all images on which the reconstruction differs from what is given: best and worst sample.",
    "explained": "Ink of the images that the reconstruction has too: worst and best sample. All black would "
    "have 100 %: ink too much counts as wrong pixels alone.",
    "found": "Generating glyphs that stand among the features of a sample, exactly, up to the shift that larger "
    "features leave: fewest and most of a sample. One that is a pixel off is not found, yet leaves few pixels wrong; a "
    "found one may still be missing where it belongs.",
    "residual": "Largest change of a message in the last sweep: small when messages have come to rest.",
    "energy": "Minus log p(X, S, W) without its constant: lower is more probable. Best and worst sample.",
    "hidden": "Hidden pixels that were filled in otherwise than in the image that was hidden: best and worst sample.",
}


NOTHING = "Nothing has run yet: press Play."


def _spec(lane: DeconvolutionLaneView) -> Spec:
    return conv_sampler(lane.algorithm).spec


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
    envelope, problem, said = Envelope(view, sent, [_spec(lane) for lane in view.lanes]), view.problem, verdict(view)
    lanes = [] if problem is None else [_lane(envelope, problem, view, k, lane) for k, lane in enumerate(view.lanes)]
    traces = [] if problem is None else _traces(envelope, view, problem)
    own = {"alt": said, "unit": "sweeps", "numbers": numbers(view), "trouble": "", **_problem(envelope.payload, view)}
    own["whose"] = _paced(view)
    anew = "".join(f"{words[:1].upper()}{words[1:]}. " for _, words in view.marks)
    own["said"] = [said, f"{anew}{computing(view, device_words())}."]
    return envelope.seal(desk, SPEEDS, lanes, traces, said, **own)


def _paced(view: DeconvolutionView) -> str:
    """Whose sweeps the speed counts, where others are given the seconds of these; nothing where it is of all."""
    draws = [lane for lane in view.lanes if _spec(lane).kind == "draw"]
    return ", ".join(map(_short, draws)) if len(draws) < len(view.lanes) else ""


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
        "partly": _partly(problem),
        "total": problem.shape.images,
        "clamped": payload.add(held, "u1") if held.any() else None,
        "truth": _truth(payload, problem),
    }


def _partly(problem: Problem) -> bool:
    """Whether some pixels are given and others hidden."""
    return bool(problem.seen.any() and not problem.seen.all())


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
        short=_short(lane),
        samples=lane.samples,
        timed=len(view.lanes) > 1,
        frames=_new_frames(envelope, problem, index, lane),
    )


def _short(lane: DeconvolutionLaneView) -> str:
    """What a lane is called in few words: of several of one algorithm by what differs."""
    return lane.label if lane.label != _spec(lane).label else _spec(lane).short or lane.label


def _new_frames(envelope: Envelope, problem: Problem, index: int, lane: DeconvolutionLaneView) -> dict:
    start = envelope.sent.start(str(index))
    frames = [frame for frame in lane.frames if frame.number > start]
    frames = [frames[place] for place in thin(len(frames), MOST_SENT)]
    if frames:
        envelope.sent.sent(str(index), frames[-1].number)
    said = [_one_of(envelope.view, index, frame) for frame in frames]
    keys = [key for key, *_ in _measured(envelope.view)]
    values = [[found[key] for key in keys] for found in (_values(frame, problem) for frame in frames)]
    return {"said": said, "values": values, **_frames(envelope.payload, problem, frames, start)}


def _status(view: DeconvolutionView, lane: DeconvolutionLaneView) -> str:
    if not lane.frames:
        # Before the first picture of all the verdict says it.
        return "compiling …" if view.trouble is None and _begun(view) else ""
    if lane.rested:
        return "messages at rest"
    compiled = f"compiled in {seconds(lane.compile_seconds)}" if lane.compile_seconds >= 0.01 else ""
    return "done" if lane.done else compiled


def _begun(view: DeconvolutionView) -> bool:
    """Whether there is a picture of the first lane."""
    return bool(view.lanes) and view.lanes[0].last is not None


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


def found_words(found: Found, problem: Problem) -> str:
    """What became of a glyph, in few words."""
    if found.feature is None:
        return "not found"
    if found.feature in problem.clamped:
        return "given"
    if found.mismatches:
        return f"{found.mismatches} px off"
    down, right = found.shift
    return "found" if not (down or right) else f"found, shift {down}, {right}".replace("-", "−")


# Traces.


def _traces(envelope: Envelope, view: DeconvolutionView, problem: Problem) -> list[dict]:
    if not any(lane.frames for lane in view.lanes):
        return []
    cards = []
    if problem.seen.any():
        ink = max(1, int(problem.images[problem.seen].sum()))
        cards.append(("wrong", "Wrong pixels" if problem.seen.all() else "Given pixels wrong", 1.0, "of all images"))
        cards.append(("explained", "Explained pixels", 100.0 / ink, "% of the ink"))
    if _partly(problem):
        cards.append(("hidden_wrong", "Hidden pixels filled in wrongly", 1.0, ""))
    cards.append(("energy", "Energy", 1.0, "nats"))
    if any("residual" in _spec(lane).metrics for lane in view.lanes):
        cards.append(("residual", "Largest change of a message", 1.0, "a sweep"))
    cards.append(("sharpness", "Certainty of the features, |belief − ½|", 1.0, ""))
    mean = "" if view.plan.samples == 1 else "mean of samples"
    return [
        _trace(envelope, name, title, scale, ", ".join(filter(None, (unit, mean))))
        for name, title, scale, unit in cards
    ]


def _trace(envelope: Envelope, name: str, title: str, scale: float, unit: str) -> dict:
    log = name == "residual"

    def columns(lane: DeconvolutionLaneView) -> dict:
        bins = lane.series.bins(most=MOST_TRACE_POINTS)
        kept = bins.mean[f"{name}:mean"] > 0 if log else np.ones(len(bins), bool)
        found = {"x": bins.mean["sweep"], "seconds": bins.mean["seconds"], "y": scale * bins.mean[f"{name}:mean"]}
        found |= {"low": scale * bins.least[f"{name}:low"], "high": scale * bins.most[f"{name}:high"]}
        return {column: values[kept] for column, values in found.items()}

    return trace(name, title, "sweeps", envelope.lines(columns, 1e-6 if log else None), log, unit)


# Words.


def numbers(view: DeconvolutionView) -> list[list[str]]:
    """[name, help] of what is told of every frame, in the order of its `values`."""
    return [[name, HELP[key]] for key, name in _measured(view)]


def _sought(problem: Problem) -> bool:
    """Whether there are glyphs to be found: known ones, of which not all are given."""
    return problem.glyphs is not None and problem.shape.features not in (0, len(problem.clamped))


def _measured(view: DeconvolutionView) -> list[tuple[str, str]]:
    names = {"sweep": "at sweep", "wrong": "wrong pixels", "explained": "explained ink", "found": "glyphs found"}
    names |= {"hidden": "hidden, wrong", "energy": "energy, nats", "residual": "change of a message"}
    if (problem := view.problem) is not None:
        present = {"wrong": problem.seen.any(), "explained": problem.seen.any(), "found": _sought(problem)}
        present["hidden"] = _partly(problem)
        present["residual"] = any("residual" in _spec(lane).metrics for lane in view.lanes)
        names |= {"wrong": "given, wrong"} if present["hidden"] else {}
        names = {key: name for key, name in names.items() if present.get(key, True)}
    return list(names.items())


def _values(frame: Frame, problem: Problem) -> dict[str, str]:
    ink = max(1, int(problem.images[problem.seen].sum()))
    shares = [math.floor(1000 * each / ink) / 10 for each in frame.explained]
    glyphs = 0 if problem.glyphs is None else problem.glyphs.shape[1]
    return {
        "sweep": _sweeps(frame.sweep),
        "wrong": _range(frame.wrong),
        "explained": f"{_ends(min(shares), max(shares), '{:g}'.format)} %",
        "found": f"{_range(frame.found_counts or (0,))} of {glyphs}",
        "hidden": _range(frame.hidden_wrong),
        "energy": _ends(min(frame.energy), max(frame.energy), lambda value: significant(value, 4)),
        "residual": significant(frame.residual) if math.isfinite(frame.residual) else "–",
    }


def _ends(low: float, high: float, told: Callable[[float], str]) -> str:
    return told(low) if told(low) == told(high) else f"{told(low)} – {told(high)}"


def _range(values: tuple[int, ...]) -> str:
    return _ends(min(values), max(values), lambda value: integer(int(value)))


def computing(view: DeconvolutionView, device: str) -> str:
    """One line: what is taken apart, and how fast."""
    problem = view.problem
    if problem is None or not view.lanes:
        return f"{view.status.capitalize()} …"
    shape = problem.shape
    if problem.picture is not None:
        what = f"{integer(shape.images)} rows of {integer(shape.channels)} bits, {shape.features} features"
    else:
        size = f"{shape.feature_height} x {shape.feature_width}"
        what = f"{integer(shape.images)} images of {shape.height} x {shape.width}, {shape.features} features of {size}"
        spare = 0 if problem.glyphs is None else shape.features - problem.glyphs.shape[1]
        what += f" ({spare} more than there are glyphs)" if spare > 0 else ""
    unknown = int((~np.asarray(problem.target.evidence.mask)).sum())
    lane = view.lanes[0]
    whose = f"{_short(lane)} makes " if len(view.lanes) > 1 else ""
    rate = f"{whose}{significant(lane.sweep / lane.seconds)} sweeps a second, " if lane.seconds and lane.sweep else ""
    unaries = "" if view.plan.convention == "exact" else ", the location unaries of the authors' code"
    return f"{what}, {integer(unknown)} unknown binary variables{unaries}; {rate}{device}"


def verdict(view: DeconvolutionView) -> str:
    """What is found by the newest frames; the stage tells what was found by those that it shows."""
    problem = view.problem
    if problem is None or not _begun(view):
        ready = "Getting ready: press Play, and it begins as soon as it is compiled."
        return ready if view.trouble is None else "Nothing is computed yet."
    if not any(lane.last is not None and lane.last.sweep for lane in view.lanes):
        return NOTHING
    return " ".join(_one_of(view, k, lane.last) for k, lane in enumerate(view.lanes) if lane.last is not None)


def _one_of(view: DeconvolutionView, index: int, frame: Frame) -> str:
    """What a frame of one of the lanes has found; what is counted is named of the first alone."""
    assert view.problem is not None
    said = _verdict_of(view.lanes[index], frame, view.problem, len(view.lanes) > 1)
    if not index:
        return said
    said = said.replace("explains every given pixel", "none wrong")
    return re.sub(r"(?<= of )the (?=\d)| glyphs| of [\d\u202f]+ pixels(?= wrong)", "", said)


def _verdict_of(lane: DeconvolutionLaneView, frame: Frame, problem: Problem, timed: bool = False) -> str:
    """What a frame has found: of several samples how many have come so far, none of which is spoken of alone.

    Of lanes that are `timed` the stage tells after how many seconds, once for all of them.
    """
    said: list[str] = []
    if _sought(problem) and problem.glyphs is not None:
        said.append(_glyphs_found(frame.found_counts, problem.glyphs.shape[1]))
    if problem.seen.any():
        said.append(_pixels_wrong(lane, frame, int(problem.seen.sum())))
    if _partly(problem):
        hidden = integer(int((~problem.seen).sum()))
        said.append(f"{_from_to(frame.hidden_wrong)} of {hidden} hidden pixels filled in wrongly")
    if not problem.seen.any():
        said.append("images made up, from the prior and what is given")
    time = f" ({seconds(frame.seconds)} of computing)" if frame.seconds and not timed else ""
    sweeps = f"after {_swept(frame.sweep)}{time}"
    name = _short(lane) if lane.samples == 1 else f"{_short(lane)}, {lane.samples} samples"
    if timed and 0 < frame.sweep < 1:  # What has hardly begun has not failed.
        return f"{name}, only {_swept(frame.sweep)} as yet: {', '.join(said)}."
    far = sweeps if frame.sweep else "before the first sweep"
    return f"{name}: {', '.join(said)}{f' ({far})' if timed else f', {far}'}."


def _glyphs_found(counts: tuple[int, ...], total: int) -> str:
    """How many glyphs the sample has found, or how many samples have found all of them."""
    full = sum(count == total for count in counts)
    if len(counts) < 2:
        return f"all {total} glyphs" if full else f"{max(counts, default=0) or 'none'} of the {total} glyphs"
    if not any(counts):
        return f"none has found any of the {total} glyphs"
    if not full:
        return f"none has found all {total} glyphs ({_from_to(counts)} of them)"
    return f"{_many(full, len(counts))} {'has' if full == 1 else 'have'} found all {total} glyphs"


def _pixels_wrong(lane: DeconvolutionLaneView, frame: Frame, given: int) -> str:
    """How many given pixels are wrong, or how many samples explain them all, and when one first did."""
    wrong, right, more = frame.wrong, sum(not each for each in frame.wrong), []
    if right:
        said = f"{_many(right, len(wrong))} explain{'s' if right == 1 else ''} every given pixel".lstrip()
        if lane.explained_at is not None and lane.explained_at[0] <= frame.sweep:
            one = "it first did" if len(wrong) == 1 else "the first did"
            more.append(f"{one} at sweep {_sweeps(lane.explained_at[0])}, {seconds(lane.explained_at[1])}")
        more += [f"up to {integer(max(wrong))} wrong in the others"] if max(wrong) else []
    else:
        said = f"{_from_to(wrong)} of {integer(given)} pixels wrong"
        more += [f"average {integer(sum(wrong) / len(wrong))}"] if len(set(wrong)) > 1 else []  # The curve's.
    return f"{said} ({'; '.join(more)})" if more else said


def _many(some: int, count: int) -> str:
    """So many of several samples; nothing of one, of which the sentence is."""
    return "" if count < 2 else "all" if some == count else str(some)


def _from_to(values: tuple[int, ...]) -> str:
    low, high = min(values), max(values)
    return integer(low) if low == high else f"{integer(low)} to {integer(high)}"


def _swept(count: float) -> str:
    """Sweeps in words; of a chain that has hardly begun its first one, how much of that."""
    if 0 < count < 1:
        return f"{significant(100 * count, 2)}{THIN}% of a sweep"
    return f"{_sweeps(count)} sweep{'' if count == 1 else 's'}"


def _sweeps(count: float) -> str:
    return integer(count) if count >= 10 or count == int(count) else significant(count)


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


__all__ = ["computing", "features_image", "features_of", "found_words", "numbers", "pictures_of", "update", "verdict"]

"""What is said of a deconvolution: numbers of a frame, what it has found, and what is being computed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import numpy as np

from pmpviz.capabilities.deconvolution.lane import DeconvolutionLaneView, Found, Frame
from pmpviz.capabilities.deconvolution.live import DeconvolutionView
from pmpviz.capabilities.deconvolution.plan import Problem, conv_sampler
from pmpviz.player.numbers import THIN, integer, seconds, significant
from pmpviz.types import Spec

HELP = {
    "sweep": "The sweep that these numbers and the pictures are of; lanes that have equal seconds have each its own.",
    "wrong": "Pixels of all images on which the reconstruction differs from what is given: best and worst sample.",
    "explained": "Ink of the images that the reconstruction has too: worst and best sample. All black would "
    "have 100 %: ink too much counts as wrong pixels alone.",
    "found": "Generating glyphs that stand among the features of a sample, exactly, up to the shift that larger "
    "features leave: where in its frame it stands does not matter, and spare features do not count. Fewest and most of "
    "a sample. One that is a pixel off is not found, yet leaves few pixels wrong; a found one may still be missing "
    "where it belongs.",
    "residual": "Largest change that a message was asked for in the last sweep: small when all have come to rest. A "
    "pixel is sure of itself by the log-odds of its noise, 14 of one in a million: one place anywhere that still "
    "turns may change a message by as much.",
    "energy": "Minus log p(X, S, W) without its constant: lower is more probable. Best and worst sample.",
    "hidden": "Hidden pixels that were filled in otherwise than in the image that was hidden: best and worst sample.",
}
NOTHING = "Nothing has run yet, and what is seen is the random start: press Play."


def spec_of(lane: DeconvolutionLaneView) -> Spec:
    """What a lane's algorithm tells of itself."""
    return conv_sampler(lane.algorithm).spec


def partly(problem: Problem) -> bool:
    """Whether some pixels are given and others hidden."""
    return bool(problem.seen.any() and not problem.seen.all())


def left_empty(problem: Problem) -> int:
    """How many hidden pixels would be wrong if none were filled in: those that are ink."""
    return int((problem.images[~problem.seen] > 0).sum())


def short_name(lane: DeconvolutionLaneView) -> str:
    """What a lane is called in few words: of several of one algorithm by what differs."""
    return lane.label if lane.label != spec_of(lane).label else spec_of(lane).short or lane.label


def begun(view: DeconvolutionView) -> bool:
    """Whether there is a picture of the first lane."""
    return bool(view.lanes) and view.lanes[0].last is not None


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


def numbers(view: DeconvolutionView) -> list[list[str]]:
    """[name, help] of what is told of every frame, in the order of its `values`."""
    return [[name, HELP[key]] for key, name in measured(view)]


def _sought(problem: Problem) -> bool:
    """Whether there are glyphs to be found: known ones, of which not all are given."""
    return problem.glyphs is not None and problem.shape.features not in (0, len(problem.clamped))


def measured(view: DeconvolutionView) -> list[tuple[str, str]]:
    """(key of `values_of`, its name) of what there is to tell of these data and lanes."""
    names = {"sweep": "at sweep", "wrong": "wrong pixels", "explained": "explained ink", "found": "glyphs found"}
    names |= {"hidden": "hidden, wrong", "energy": "energy, nats", "residual": "message change"}
    if (problem := view.problem) is not None:
        present = {"wrong": problem.seen.any(), "explained": problem.seen.any(), "found": _sought(problem)}
        present["hidden"] = partly(problem)
        present["residual"] = any("residual" in spec_of(lane).metrics for lane in view.lanes)
        names |= {"wrong": "given, wrong"} if present["hidden"] else {}
        names = {key: name for key, name in names.items() if present.get(key, True)}
    return list(names.items())


def values_of(frame: Frame, problem: Problem) -> dict[str, str]:
    """What a frame has found, from its best sample to its worst."""
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
        what += f" ({spare} spare, not counted)" if spare > 0 else ""
    held = np.asarray(problem.target.evidence.mask)
    gwg = any(lane.algorithm == "gwg" for lane in view.lanes)
    of_all = f" of {integer(held.size)}" if held.any() else ""
    counted = ", by all of which a sweep of GWG is counted" if gwg and of_all else ""
    lane = view.lanes[0]
    whose = f"{short_name(lane)} makes " if len(view.lanes) > 1 else ""
    rate = f"{whose}{significant(lane.sweep / lane.seconds)} sweeps a second, " if lane.seconds and lane.sweep else ""
    unaries = "" if view.plan.convention == "exact" else ", the location unaries of the authors' code"
    unknown = f"{integer(int((~held).sum()))} unknown{of_all} binary variables{counted}"
    return f"{what}, {unknown}{unaries}; {rate}{device}"


def verdict(view: DeconvolutionView) -> str:
    """What is found by the newest frames; the stage tells what was found by those that it shows."""
    problem = view.problem
    if problem is None or not begun(view):
        ready = "Getting ready: press Play, and it begins as soon as it is compiled."
        return ready if view.trouble is None else "Nothing is computed yet."
    if not any(lane.last is not None and lane.last.sweep for lane in view.lanes):
        return NOTHING
    return " ".join(found_by(view, k, lane.last) for k, lane in enumerate(view.lanes) if lane.last is not None)


def found_by(view: DeconvolutionView, index: int, frame: Frame) -> str:
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
    if partly(problem):
        hidden = integer(int((~problem.seen).sum()))
        empty = f"{integer(left_empty(problem))} if left empty"
        said.append(f"{_from_to(frame.hidden_wrong)} of {hidden} hidden pixels filled in wrongly, {empty}")
    if not problem.seen.any():
        said.append("images made up, from the prior and what is given")
    time = f" ({seconds(frame.seconds)} of computing)" if frame.seconds and not timed else ""
    sweeps = f"after {_swept(frame.sweep)}{time}"
    name = short_name(lane) if lane.samples == 1 else f"{short_name(lane)}, {lane.samples} samples"
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
        others = len(wrong) - right
        more += [f"{integer(max(wrong))} pixels wrong in the other"] if others == 1 else []
        more += [f"up to {integer(max(wrong))} pixels wrong in the others"] if others > 1 else []
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


__all__ = [
    "begun",
    "computing",
    "found_by",
    "found_words",
    "left_empty",
    "measured",
    "numbers",
    "partly",
    "short_name",
    "spec_of",
    "values_of",
    "verdict",
]

"""One update of the live player from a live training's view, and its words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.capabilities.learning.lane import (
    LEAST_AIS_ITERATION,
    MOST_PICTURES,
    LearningLaneView,
    mosaic_shape,
)
from pmpviz.capabilities.learning.likelihood import Likelihood, best_of, is_past_best, is_small
from pmpviz.capabilities.learning.live import LearningView
from pmpviz.learning import learner_class
from pmpviz.models import Ising, LayeredModel
from pmpviz.player.filters import filter_words, weights_of
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.update import MOST_TRACE_POINTS, Cursors, Desk, Envelope, trace
from pmpviz.runs.device import device_words

SPEEDS = (1, 5, 20, 100, 0)
# So many looks at the samples in a row must agree before they are judged: one alone may be in or out by chance.
LOOKS = 4


def update(view: LearningView, sent: Cursors, desk: Desk) -> bytes:
    """The blob for the player; `sent` is brought up to date."""
    envelope = Envelope(view, sent, [learner_class(lane.algorithm).spec for lane in view.lanes])
    lanes = [_lane(envelope, view, index, lane) for index, lane in enumerate(view.lanes)]
    alt = "Pictures that the models of each lane dream up"
    said = verdict(view)
    words = {"said": [said, computing(view, device_words())], "alt": alt, "unit": "iterations"}
    if view.trouble:
        words["trouble"] = f"{view.trouble[:1].upper()}{view.trouble[1:].rstrip('.')}."
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view), said, **words)


def _lane(envelope: Envelope, view: LearningView, index: int, lane: LearningLaneView) -> dict:
    assert view.train is not None
    pictures, shape = min(view.plan.chains, MOST_PICTURES), view.train.shape
    _, columns, height, width = mosaic_shape(pictures, shape)
    return envelope.lane(
        index,
        _sub(lane),
        "done" if lane.done else "compiling …" if view.playing and not lane.rate else "",
        step="iteration",
        passes=lane.epoch / max(lane.iteration, 1),
        n=height * width,
        geometry={"kind": "grid", "rows": height, "cols": width},
        frames=envelope.frames(index),
        filters=filter_words(envelope.payload, lane.model, shape, pictures, columns),
    )


def _sub(lane: LearningLaneView) -> str:
    rate = f"{significant(lane.rate)} iterations/s" if lane.rate else ""
    # The browser writes those of the picture that it shows.
    parts = [f"{significant(lane.epoch)} epochs", rate, f"{seconds(lane.seconds)} computing" if lane.seconds else ""]
    return " · ".join(part for part in parts if part)


# Traces.


def _traces(envelope: Envelope, view: LearningView) -> list[dict]:
    if not view.lanes:
        return []
    traces = [_mmd(envelope, view, "iterations"), _likelihood(envelope, view)]
    if len(view.lanes) > 1:
        traces.append(_mmd(envelope, view, "seconds"))
    traces.append(_series(envelope, "gradient_norm", "Gradient, root mean square", True))
    if any(math.isfinite(p.reconstruction) for lane in view.lanes for p in lane.points[:1]):
        traces.append(_points(envelope, "reconstruction", "Reconstruction error a pixel"))
        if view.held_out:
            traces.append(_points(envelope, "free_energy_gap", "Free energy, held-out minus training"))
    traces.append(_series(envelope, "weight_norm", "Weights, root mean square", False))
    return traces


def _mmd(envelope: Envelope, view: LearningView, x: str) -> dict:
    noise = view.lanes[0].points[0].noise if view.lanes[0].points else math.nan
    floor = noise / 10 if math.isfinite(noise) and noise else 1e-8
    at = "seconds" if x == "seconds" else "iteration"
    lines = envelope.lines(lambda lane: _columns(lane.points, x=at, y="mmd2"), floor)
    band = {"low": floor, "high": noise, "label": "noise, up to 95 %"} if math.isfinite(noise) else None
    return trace(f"mmd-{x}", f"MMD² to {scored(view)}", x, lines, True, band=band)


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


def _likelihood(envelope: Envelope, view: LearningView) -> dict:
    def columns(lane: LearningLaneView) -> dict:
        found = sorted(lane.likelihoods, key=lambda each: each.iteration)
        return _columns(found, x="iteration", y="value", low="low", high="high")

    exact = all(is_small(lane.model) for lane in view.lanes)
    unit = f"nats, {'exact' if exact else 'estimated'}"
    return trace("likelihood", f"Log-likelihood of {scored(view)}", "iterations", envelope.lines(columns), unit=unit)


def _columns(points: Sequence[Any], **names: str) -> dict[str, list]:
    return {column: [getattr(point, name) for point in points] for column, name in names.items()}


# Words.


def scored(view: LearningView) -> str:
    """What likelihood and MMD are of."""
    return "held-out data" if view.held_out else "all the data"


def model_words(model: Ising) -> str:
    """The model's kind and size."""
    if isinstance(model, LayeredModel):
        kind = type(model).__name__
        return f"{kind} of {integer(model.visible)} pixels and {integer(model.hidden)} hidden units"
    return f"fully connected Ising model of {integer(model.n)} pixels"


def computing(view: LearningView, device: str) -> str:
    """One line: what learns what from what; nothing before the data are there."""
    if not view.lanes or view.train is None or view.test is None:
        return ""
    names = " against ".join(lane.label for lane in view.lanes)
    lane = view.lanes[0]
    words = f"{names}: {model_words(lane.model)}, learned from {integer(len(view.train))} pictures ({view.train.name})"
    held = f", {integer(len(view.test))} held out" if view.held_out else ", none held out: the same ones are scored"
    compiled = f", compiled in {seconds(lane.compile_seconds)}" if lane.compile_seconds >= 0.01 else ""
    return f"{words}{held}; {device}{compiled}."


def offer(view: LearningView) -> str:
    """Where each learner that has left its best behind was best; nothing while none has."""
    worse = [lane for lane in view.lanes if is_past_best(lane.likelihoods)]
    told = [f"{lane.label + ': ' if len(view.lanes) > 1 else ''}{_fallen(lane)}" for lane in worse]
    return f"{capital(scored(view))} were more probable before. {'; '.join(told)}." if told else ""


def _fallen(lane: LearningLaneView) -> str:
    best, last = best_of(lane.likelihoods), _last(lane)
    assert best is not None and last is not None
    was, now = (f"{significant(each.value, 4)} at iteration {integer(each.iteration)}" for each in (best, last))
    return f"log probability of a picture {was}, {now}"


def capital(words: str) -> str:
    """With a capital first letter."""
    return words[:1].upper() + words[1:]


def verdict(view: LearningView) -> str:
    """What the hidden units do, how probable the pictures are under each model, and what MMD adds to that."""
    if not view.lanes:
        return "" if view.trouble else f"{capital(view.status)} …"
    if not any(lane.iteration for lane in view.lanes):
        return "Nothing is learned yet: press Play."
    if len(view.lanes) == 1:
        lane = view.lanes[0]
        return f"{_stands_for(lane, view)}{_used(lane)}{_probable(lane, view)} {_similar(lane)}"
    return " ".join([*_ahead(view), *(f"{lane.label}: {_briefly(lane, view)}" for lane in view.lanes), *_chance(view)])


def _briefly(lane: LearningLaneView, view: LearningView) -> str:
    """Of one of several: how probable a picture is, and whether the samples look like them."""
    found, (looks, above) = _last(lane), _looks(lane)
    if found is None:
        return _probable(lane, view)
    how = "exact" if found.exact else _bar(found)
    value = (
        f"log probability of a picture {significant(found.value, 4)} ({how}) at iteration {integer(found.iteration)}"
    )
    by_chance = "" if found.high > lane.independent else ", no better than independent pixels"
    seen = {0: "look like the pictures on average", LOOKS: "differ from the pictures even on average"}
    samples = "may differ from the pictures" if looks < LOOKS else seen.get(above, "may differ from the pictures")
    return f"{value}{by_chance}; its samples {samples}."


def _chance(view: LearningView) -> list[str]:
    """What a model without dependence reaches, once for all lanes."""
    known = [lane for lane in view.lanes if _last(lane) is not None]
    return [f"Independent pixels give {significant(known[0].independent, 4)}."] if known else []


def _last(lane: LearningLaneView) -> Likelihood | None:
    return max(lane.likelihoods, key=lambda each: each.iteration, default=None)


def _stands_for(lane: LearningLaneView, view: LearningView) -> str:
    """What the hidden units have come to, by how far weights of neighbouring pixels agree."""
    if view.train is None or not isinstance(lane.model, LayeredModel):
        return ""
    agree = agreement(weights_of(lane.model), view.train.shape)
    begun = agree >= BEGUN
    said = "Hidden units have come to stand for strokes or patches" if agree >= STROKES else ""
    said = said or ("Strokes begin to show in the filters" if begun else "The filters are still noise")
    how = "agree" if begun else "hardly agree"
    beside = ", in noise 0" if begun else ""
    return f"{said}: weights of neighbouring pixels {how} (correlation {agree:.2f}{beside}). "


# Correlation of neighbouring pixels' weights from which filters are no noise any more, and from which they are strokes.
BEGUN, STROKES = 0.15, 0.3


def agreement(weight: Float[np.ndarray, "hidden visible"], shape: tuple[int, int]) -> float:
    """Correlation of the weights of pixels side by side or one above the other, within filters; 0 of noise."""
    filters = np.asarray(weight, np.float64).reshape(-1, *shape)
    filters = filters - filters.mean((1, 2), keepdims=True)
    pairs = [filters[:, 1:] * filters[:, :-1], filters[:, :, 1:] * filters[:, :, :-1]]
    found = [float(each.mean()) for each in pairs if each.size]
    return float(np.mean(found) / max(np.square(filters).mean(), np.finfo(float).tiny)) if found else 0.0


def _used(lane: LearningLaneView) -> str:
    """How many hidden units a picture needs, against before anything was learned."""
    now, first = lane.points[-1], lane.points[0]
    if not math.isfinite(now.used) or not isinstance(lane.model, LayeredModel):
        return ""
    before = f" ({first.used:.0f} before learning)" if first.iteration == 0 else ""
    return f"A picture switches on {now.used:.0f} of the {lane.model.hidden} hidden units, on average{before}. "


def _probable(lane: LearningLaneView, view: LearningView) -> str:
    found = _last(lane)
    if found is None:
        return f"The likelihood of {scored(view)} is not worked out yet: {_when(lane)}."
    how = "exact" if found.exact else f"estimated {_bar(found)}"
    apart = significant(lane.independent, 4)
    if found.high <= lane.independent:
        far = f"no better than pixels that know nothing of each other ({apart})"
    else:
        far = f"pixels that know nothing of each other give {apart}"
    which = "A held-out picture" if view.held_out else "A picture"
    value, at = significant(found.value, 4), integer(found.iteration)
    return f"{which} has log probability {value} ({how}) at iteration {at}; {far}."


def _when(lane: LearningLaneView) -> str:
    """When a likelihood that is not there yet comes."""
    if is_small(lane.model) or lane.iteration >= LEAST_AIS_ITERATION:
        return "the first one is being computed, beside the learning"
    return f"that of iteration {LEAST_AIS_ITERATION} comes first, then four in every doubling"


def _bar(found: Likelihood) -> str:
    if not math.isfinite(found.high):
        return f"at least {significant(found.low, 4)}, with no upper bound"
    return f"between {significant(found.low, 4)} and {significant(found.high, 4)}"


def _looks(lane: LearningLaneView) -> tuple[int, int]:
    """How often the samples were looked at lately, and how often MMD² was above the noise."""
    looks = [point for point in lane.points if point.iteration][-LOOKS:]
    return len(looks), sum(point.mmd2 > point.noise for point in looks)


def _similar(lane: LearningLaneView) -> str:
    """What the samples' means and pairs of pixels say, which is no more than MMD² sees."""
    point, (looks, above) = lane.points[-1], _looks(lane)
    value = f"MMD² {significant(max(point.mmd2, 0.0))} at iteration {integer(point.iteration)}"
    where = f"{value}, {'above' if point.mmd2 > point.noise else 'no more than'} noise"
    if looks < LOOKS:
        return f"{where}: too early to say more of its samples."
    if 0 < above < LOOKS:
        return f"{value}, above noise in {above} of the last {LOOKS} looks: its samples may differ from the pictures."
    if not above:
        return f"On average its samples look like the pictures ({where})."
    return f"Even on average its samples differ from the pictures ({where})."


def _ahead(view: LearningView) -> list[str]:
    """Which of two is ahead by the likelihood, where their errors allow to say so."""
    found = [(lane, last) for lane in view.lanes if (last := _last(lane)) is not None]
    if len(found) < len(view.lanes):
        return []
    found.sort(key=lambda pair: -pair[1].value)
    (best, first), (other, second) = found[:2]
    if first.low > second.high or (first.exact and second.exact and first.value > second.value):
        return [f"{best.label} makes the pictures more probable{_unequal(first, other.label, second)}."]
    return ["Which one makes the pictures more probable is within the errors of the estimates."]


def _unequal(first: Likelihood, other: str, second: Likelihood) -> str:
    """What is said of two likelihoods where one training has come more than twice as far as the other."""
    fewer, more = sorted((first.iteration, second.iteration))
    if more <= 2 * fewer:
        return ""
    ours, theirs = (f"{significant(each.value, 4)} at iteration {integer(each.iteration)}" for each in (first, second))
    return f" so far, {ours}; {other} is at {theirs}"

"""What is said of a training: one sentence that answers, and beneath it the numbers that it rests on."""

from __future__ import annotations

import math
from dataclasses import replace

from pmpviz.capabilities.learning.lane import LearningLaneView
from pmpviz.capabilities.learning.likelihood import best_of, is_past_best
from pmpviz.capabilities.learning.live import LearningView
from pmpviz.capabilities.learning.verdict import (
    LOOKS,
    capital,
    last_of,
    probable,
    scored,
    stands_for,
    than_chance,
    value_words,
    verdict,
    worse,
)
from pmpviz.models import RBM, Ising, LayeredModel
from pmpviz.player.numbers import integer, seconds, significant


def looked_at(view: LearningView, at: int | None) -> LearningView:
    """The view whose words and filters are of iteration `at`, or of now where nobody looks back."""
    return view if at is None else replace(view, lanes=tuple(_back(lane, at) for lane in view.lanes))


def _back(lane: LearningLaneView, at: int) -> LearningLaneView:
    points = tuple(point for point in lane.points if point.iteration <= at) or lane.points[:1]
    found = tuple(each for each in lane.likelihoods if each.iteration <= at)
    # Pace and time are those of now, which is not what one looks at.
    return replace(lane, iteration=min(at, lane.iteration), points=points, likelihoods=found, rate=0.0, seconds=0.0)


def said(view: LearningView, at: int | None, device: str) -> list[str]:
    """[what was found, the numbers of it, what is computed] at the moment that is looked back at, or now."""
    then = looked_at(view, at)
    found = "nothing is learned yet: this is the random start." if at == 0 else verdict(then)
    return [_back_at(then, at) + found + _arriving(view, at), *numbers(then), computing(view, device)]


def _arriving(view: LearningView, at: int | None) -> str:
    """That what is found may still change though nothing is learned: likelihoods are computed beside the learning."""
    late = at is None and not view.playing and any(lane.iteration and lane.unscored for lane in view.lanes)
    return " Scores still arrive." if late else ""


def _back_at(then: LearningView, at: int | None) -> str:
    """Which samples one looks back at, and which filters, where they were kept at an earlier iteration."""
    if at is None:
        return ""
    kept = {lane.points[-1].iteration for lane in then.lanes if lane.points}
    filters = f", filters of {integer(kept.pop())}" if len(kept) == 1 and at not in kept else ""
    return f"Looking back at iteration {integer(at)}{filters}: "


def model_words(model: Ising) -> str:
    """The model's kind and size."""
    if isinstance(model, LayeredModel):
        kind = "restricted Boltzmann machine (RBM)" if type(model) is RBM else type(model).__name__
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


BACK = "It stops, and every lane goes back to its own best moment."


def offer(view: LearningView) -> str:
    """Where each learner that has left its best behind was best, and what going back does; nothing while none has."""
    worse = [lane for lane in view.lanes if is_past_best(lane.likelihoods)]
    told = [f"{lane.label}: {_fallen(lane)}" if len(view.lanes) > 1 else capital(_fallen(lane)) for lane in worse]
    return f"{capital(scored(view))} were more probable before. {'; '.join(told)}. {BACK}" if told else ""


def _fallen(lane: LearningLaneView) -> str:
    best, last = best_of(lane.likelihoods), last_of(lane)
    assert best is not None and last is not None
    was, now = (f"{significant(each.value, 4)} at iteration {integer(each.iteration)}" for each in (best, last))
    return f"log probability of a picture {was}, {now}"


def numbers(view: LearningView) -> list[str]:
    """What the verdict rests on: the likelihood with its errors."""
    if not any(lane.iteration for lane in view.lanes):
        return []
    if len(view.lanes) > 1:
        told = (f"{lane.label}: {_briefly(lane, view)}." for lane in view.lanes)
        return [" ".join([*_latest(view), *told, *_chance(view)])]
    lane = view.lanes[0]
    return [probable(lane, view)] if stands_for(lane, view) or worse(lane, view) else []


def more(view: LearningView) -> str:
    """What else is known, for those who ask: hidden units in use, and MMD² beside its noise."""
    if not any(lane.iteration for lane in view.lanes):
        return ""
    found = [[*([] if len(view.lanes) > 1 else _used(lane)), *_similar(lane)] for lane in view.lanes]
    names = [f"{lane.label}: " if len(view.lanes) > 1 else "" for lane in view.lanes]
    return " ".join(name + " ".join(each) for name, each in zip(names, found, strict=True) if each)


def _latest(view: LearningView) -> list[str]:
    """That the numbers are not those that are compared, where lanes were scored last at different iterations."""
    found = {last.iteration for lane in view.lanes if (last := last_of(lane))}
    return ["Latest scores."] if len(found) > 1 else []


def _briefly(lane: LearningLaneView, view: LearningView) -> str:
    """Of one of several: how probable a picture is."""
    found = last_of(lane)
    if found is None:
        return probable(lane, view).rstrip(".")
    by_chance = "" if found.high > lane.independent else f", {than_chance(found, lane)} independent pixels"
    return f"log probability of a picture {value_words(found)}{by_chance}"


def _chance(view: LearningView) -> list[str]:
    """What a model without dependence reaches, once for all lanes."""
    known = [lane for lane in view.lanes if last_of(lane) is not None]
    return [f"Independent pixels give {significant(known[0].independent, 4)} nats."] if known else []


def _used(lane: LearningLaneView) -> list[str]:
    """How many hidden units a picture needs, against before anything was learned; how far their weights agree."""
    now, first = lane.points[-1], lane.points[0]
    if not math.isfinite(now.used) or not isinstance(lane.model, LayeredModel):
        return []
    before = f" ({first.used:.0f} before learning)" if first.iteration == 0 else ""
    used = f"A picture switches on {now.used:.0f} of the {lane.model.hidden} hidden units, on average{before}."
    alike = f"All filters share {100 * max(now.alike, 0.0):.0f} % of their squared weights, in noise 0"
    spread = f"a filter spreads over {100 * now.spread:.0f} % of its pixels, in noise 33 %"
    return [used, f"Correlation of neighbouring weights {now.agree:.2f}, in noise 0.", f"{alike}; {spread}."]


def _similar(lane: LearningLaneView) -> list[str]:
    """MMD² of the samples beside its noise, by the last looks at them."""
    looks = [point for point in lane.points if point.iteration][-LOOKS:]
    if not looks:
        return []
    point, above = looks[-1], sum(look.mmd2 > look.noise for look in looks)
    value = f"MMD² {significant(max(point.mmd2, 0.0))} at iteration {integer(point.iteration)}"
    where = "above" if point.mmd2 > point.noise else "no more than"
    if 0 < above < len(looks):
        return [f"{value}, {where} noise, above it in {above} of the last {len(looks)} looks."]
    return [f"{value}, {where} noise."]


__all__ = ["computing", "looked_at", "model_words", "more", "numbers", "offer", "said"]

"""What is being computed and what happened, in plain words with this run's numbers."""

from __future__ import annotations

from typing import Any

from pmpviz.capabilities.sampling.lane import LaneView, MetricPoint
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.player.model_words import model_words, temperature
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.samplers import sampler_class


def computing(view: LiveView, device: str) -> str:
    """One line: algorithm, model, sweep, chains, device, rate."""
    if not view.lanes:
        return waiting(view)
    model = model_words(view.model, view.plan.beta)
    chains = f"{integer(view.plan.chains)} chain{'s' if view.plan.chains > 1 else ''}"
    if len(view.lanes) > 1:
        names = " against ".join(lane.label for lane in view.lanes)
        return ", ".join(part for part in (f"{names} on a {model}", f"{chains} each", device) if part)
    lane = view.lanes[0]
    rate = f"{integer(lane.rate)} sweeps/s computed" if lane.rate else ""
    compiled = f"compiled in {seconds(lane.compile_seconds)}" if lane.compile_seconds >= 0.01 else ""
    parts = [f"{lane.label} on a {model}", f"sweep {integer(lane.sweep)}", chains, device, rate, compiled]
    return ", ".join(part for part in parts if part)


def reference_words(view: LiveView) -> str:
    """What the metrics are measured against, or how far its making is."""
    if view.truth_trouble:
        return f"No reference: {view.truth_trouble}."
    if view.truth is None:
        return f"Waiting for the reference, samples of the model's law to compare with: {made(view)}."
    check = f"; {view.truth.check}" if view.truth.check else ""
    return f"Reference: {view.truth.label}{check}."


def made(view: LiveView) -> str:
    """How much of the reference there is."""
    return f"{100 * view.truth_share:.0f} % made"


def waiting(view: LiveView) -> str:
    """What a run that does not move yet is waiting for, as a sentence; empty where it is for nobody but a person."""
    if not view.lanes:
        return "" if view.trouble else f"{view.status[:1].upper()}{view.status[1:]} …"
    if cold := [lane.label for lane in view.lanes if lane.cold is not None]:
        which = f"the {len(cold)} lanes" if len(cold) > 2 else " and ".join(cold)
        return f"Compiling {which}: sweeps begin as soon as that is done."
    return "Computing the first sweep." if view.playing and not any(lane.sweep for lane in view.lanes) else ""


def nothing_yet(view: LiveView) -> str:
    """Why a chart of what is compared with the reference is empty."""
    if view.truth is None and not view.truth_trouble and not any(lane.cold is not None for lane in view.lanes):
        return f"waiting for the reference samples at {temperature(view.plan.beta)}: {made(view)}"
    return view.truth_trouble or waiting(view)


def mmd_help(view: LiveView) -> str:
    """What MMD^2, its reference and its band are, for a hover."""
    label = "exact ones where the model allows it, else those of a long run" if view.truth is None else view.truth.label
    return (
        "MMD² says how far a lane's samples are from the model's law, 0 for none. It compares them with the reference: "
        f"samples of that law ({label}). The band: 95 of 100 comparisons of exact draws lie in it or below. The looks "
        "of a race share one reference: where that is an unlucky one, exact draws lie above together."
    )


def convergence(lane: LaneView) -> str:
    """Whether the messages of a draw have settled, oscillate, or neither yet."""
    last = lane.series.last
    residual = last.get("residual:mean")
    if residual is None or last["sweep"] <= lane.since:
        return ""
    if lane.period:
        remedy = sampler_class(lane.algorithm).spec.remedy
        return f"oscillating, period {lane.period}" + (f": {remedy} stops it" if remedy else "")
    if residual < 1e-4:
        return "converged: changes below 0.0001"
    return f"largest message change {significant(residual)}"


def verdict(view: LiveView) -> str:
    """A sentence on a race: which lane came within the noise of the reference first, and which have not."""
    if any(lane.sweep < lane.since for lane in view.lanes):
        since = max(lane.since for lane in view.lanes)
        return f"The settings were others then: they changed at sweep {integer(since)}, where the verdict begins anew."
    if not any(lane.sweep > lane.since for lane in view.lanes):
        return waiting(view) or "Nothing has run yet under these settings: press Play."
    if not all(lane.points for lane in view.lanes):
        return _unsaid(view)
    place = (lambda at: at[2]) if view.plan.unit == "seconds" else (lambda at: at[1])
    passed = sorted([(lane, *_spent(lane, lane.passage)) for lane in view.lanes if lane.passage], key=place)
    still = [lane for lane in view.lanes if not lane.passage]
    if not passed:
        return _nearest(still)
    (first, sweeps, time), *later = passed
    said = [f"{first.label} first came within the noise of the reference after {_count(sweeps)} ({seconds(time)})"]
    said += [f"{lane.label} after {_count(sweeps)} ({seconds(time)})" for lane, sweeps, time in later]
    said += [f"{lane.label} has not in {_count(lane.sweep - lane.since)}" for lane in still]
    return f"{'; '.join(said)}.{_since(view)}"


def _unsaid(view: LiveView) -> str:
    """Why there is no verdict, of lanes that are not compared with a reference yet."""
    if view.truth_trouble:
        return f"No verdict: {view.truth_trouble}."
    if view.truth is None:
        share = f"{100 * view.truth_share:.0f} %"
        return f"No verdict yet: {share} of the reference samples at {temperature(view.plan.beta)} are made."
    return waiting(view) or "No verdict yet: the lanes have not been compared with the reference."


def _spent(lane: LaneView, point: MetricPoint | None) -> tuple[int, float]:
    """Sweeps and seconds from the last change of the settings to a point."""
    assert point is not None
    return point.sweep - lane.since, point.seconds - lane.since_seconds


def _count(sweeps: int) -> str:
    return f"{integer(sweeps)} sweep{'' if sweeps == 1 else 's'}"


def _since(view: LiveView) -> str:
    since = max(lane.since for lane in view.lanes)
    return f" Counted since the change at sweep {integer(since)}; the axes count from the start." if since else ""


def _nearest(lanes: list[LaneView]) -> str:
    """Of lanes that are all beyond the noise."""
    raced = sorted(((lane, lane.points[-1]) for lane in lanes), key=lambda pair: pair[1].mmd2)
    (best, first), *others = raced
    sweeps, time = _spent(best, first)
    said = f"MMD² {significant(first.mmd2)} after {_count(sweeps)} and {seconds(time)}"
    if not others:
        return f"{best.label} has not come within the noise of the reference: {said}."
    second, other = others[0]
    if other.mmd2 - first.mmd2 <= first.band.high:
        level = [lane.label for lane, point in raced if point.mmd2 - first.mmd2 <= first.band.high]
        return f"None is within the noise yet. {' and '.join(level)} are level: {said}."
    ratio = significant(other.mmd2 / first.mmd2, 2)
    return f"None is within the noise yet. {best.label} is nearest: {said}, {ratio} times below {second.label}."


def looking_back(sweep: int) -> str:
    """What is said while somebody looks at an earlier moment."""
    return f"Looking back at sweep {integer(sweep)}"


def headline(view_model: Any, plan: Any) -> str:
    """The question of a plan that is no preset's: it names one or two algorithms, the model and its temperature."""
    names = list(dict.fromkeys(lane.spec.label for lane in plan.lanes))
    if view_model is None:
        return "Which sampler gets there first?" if len(plan.lanes) > 1 else f"How does {names[0]} work?"
    model = model_words(view_model, plan.beta)
    if len(plan.lanes) == 1:
        return f"What does {names[0]} do on this {model}?"
    if len(names) == 1:
        return f"Which setting of {names[0]} gets there first on this {model}?"
    if len(names) == 2:
        return f"Which gets there first on this {model}: {names[0]} or {names[1]}?"
    return f"Which of the {len(plan.lanes)} gets there first on this {model}?"

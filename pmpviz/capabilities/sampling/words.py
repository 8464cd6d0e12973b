"""What is being computed and what happened, in plain words with this run's numbers."""

from __future__ import annotations

from typing import Any

from pmpviz.capabilities.sampling.lane import LaneView, MetricPoint
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.samplers import sampler_class


def computing(view: LiveView, device: str) -> str:
    """One line: algorithm, model, sweep, chains, device, rate."""
    if not view.lanes:
        return f"{view.status} …"
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
        return f"reference {100 * view.truth_share:.0f} %"
    check = f"; {view.truth.check}" if view.truth.check else ""
    return f"Reference: {view.truth.label}{check}."


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
        return "Nothing has run yet under these settings: press Play."
    if not all(lane.points for lane in view.lanes):
        return "Nothing can be said yet: " + reference_words(view)[0].lower() + reference_words(view)[1:]
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


def _spent(lane: LaneView, point: MetricPoint | None) -> tuple[int, float]:
    """Sweeps and seconds from the last change of the settings to a point."""
    assert point is not None
    return point.sweep - lane.since, point.seconds - lane.since_seconds


def _count(sweeps: int) -> str:
    return f"{integer(sweeps)} sweep{'' if sweeps == 1 else 's'}"


def _since(view: LiveView) -> str:
    since = max(lane.since for lane in view.lanes)
    return f" Counted since the change at sweep {integer(since)}." if since else ""


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

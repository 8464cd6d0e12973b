"""What is being computed and what happened, in plain words with this run's numbers."""

from __future__ import annotations

import math

from pmpviz.capabilities.sampling.lane import LaneView
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
        return f"{names} on a {model}, {chains} each, {device}"
    lane = view.lanes[0]
    return (
        f"{lane.label} on a {model}, sweep {integer(lane.sweep)}, {chains}, {device}, "
        f"{integer(lane.rate)} sweeps/s, compiled in {seconds(lane.compile_seconds)}"
    )


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
    residual = lane.series.get("residual:mean")
    if residual is None or not len(residual) or lane.series["sweep"][-1] <= lane.since:
        return ""
    if lane.period:
        remedy = sampler_class(lane.algorithm).spec.remedy
        return f"oscillating with period {lane.period}" + (f": {remedy} stops it" if remedy else "")
    if residual[-1] < 1e-4:
        return "converged: the largest message change is below 0.0001"
    return f"largest message change {significant(float(residual[-1]))}"


def verdict(view: LiveView) -> str:
    """A sentence on a race: who is nearest to the reference now, and whether the noise allows to say so."""
    raced = [(lane, lane.points[-1]) for lane in view.lanes if lane.points]
    if len(raced) < 2 or len(raced) < len(view.lanes):
        return "Nothing can be said yet: " + reference_words(view)[0].lower() + reference_words(view)[1:]
    raced.sort(key=lambda pair: pair[1].mmd2)
    (best, first), (second, other) = raced[0], raced[1]
    noise = first.deviation if not math.isnan(first.deviation) else 0.0
    at_noise = [lane.label for lane, point in raced if point.mmd2 < 2 * noise]
    if len(at_noise) == len(raced):
        return "All lanes are within the noise of the reference: this many chains cannot tell them apart any more."
    if first.mmd2 < 2 * noise:
        rest = f"{second.label} is at MMD² {significant(other.mmd2)}" if other.mmd2 >= 2 * noise else "so are others"
        return (
            f"{best.label} has reached the reference's noise after {integer(best.sweep)} sweeps "
            f"({seconds(best.seconds)}); {rest} after {integer(second.sweep)} ({seconds(second.seconds)})."
        )
    ratio = other.mmd2 / first.mmd2
    return (
        f"{best.label} is nearest: MMD² {significant(first.mmd2)} after {integer(best.sweep)} sweeps and "
        f"{seconds(best.seconds)}, {significant(ratio, 2)} times below {second.label} "
        f"({integer(second.sweep)} sweeps, {seconds(second.seconds)})."
    )

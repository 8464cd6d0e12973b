"""What is being computed and what happened, in plain words with this run's numbers."""

from __future__ import annotations

import math
from typing import Any

from pmpviz.capabilities.sampling.lane import LaneView, MetricPoint
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.live.lane_names import lane_names
from pmpviz.player.model_words import model_words, temperature
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.update import short_name
from pmpviz.samplers import sampler_class

MEASURED = "MMD²: distance to the model's law. Exact samples have some by chance, the grey band: first in it wins."
WITHIN = "within the noise of the reference"
OTHERS_THEN = "The settings were others then: they changed at sweep {}, where the verdict begins anew."
NOTHING_YET = "Nothing has run yet under these settings: press Play."


def race_lead(plan: Plan) -> str:
    """Under the question of a race: which lanes start alike, and what decides it."""
    lanes = list(zip(plan.lanes, lane_names(plan.lanes), strict=True))
    alike = [short_name(name, lane.spec) for lane, name in lanes if lane.spec.kind == "chain"]
    if len(alike) in (0, len(lanes)):
        return f"All lanes {'start alike' if alike else 'make their own draws'}. {MEASURED}"
    starts = f"{_joined(alike)} {'start alike' if len(alike) > 1 else 'has a start to forget'}"
    others = "the others make their own draws" if len(lanes) > len(alike) + 1 else "the other makes its own draws"
    return f"{starts}, {others}. {MEASURED}"


def _joined(names: list[str]) -> str:
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


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
    if view.trouble and view.truth is None:
        return "The reference waits for an algorithm that runs on this model."
    if view.coming:
        return "The reference is made anew for the settings that are taken up."
    if view.truth is None:
        return f"Waiting for the reference, samples of the model's law to compare with: {made(view)}."
    check = f"; {view.truth.check}" if view.truth.check else ""
    return f"Reference: {view.truth.label}{check}."


def made(view: LiveView) -> str:
    """How much of the reference there is, and how long the rest may take."""
    return f"{100 * view.truth_share:.0f}\N{NO-BREAK SPACE}% made{_to_go(view)}"


def _to_go(view: LiveView) -> str:
    left = view.truth_left
    return "" if left is None else f", about {integer(max(left, 1))} s to go" if left < 90 else _minutes(left)


def _minutes(seconds: float) -> str:
    return f", about {integer(seconds / 60)} minutes to go"


def waiting(view: LiveView) -> str:
    """What a run that does not move yet is waiting for, as a sentence; empty where it is for nobody but a person."""
    if not view.lanes:
        return "" if view.trouble else f"{view.status[:1].upper()}{view.status[1:]} …"
    if view.coming:
        return f"Taking up {view.coming} as soon as the sweep in hand is done."
    if cold := [lane.label for lane in view.lanes if lane.cold is not None]:
        which = f"the {len(cold)} lanes" if len(cold) > 2 else " and ".join(cold)
        return f"Compiling {which}: sweeps begin as soon as that is done."
    return "Computing the first sweep." if view.playing and not any(lane.sweep for lane in view.lanes) else ""


def nothing_yet(view: LiveView) -> str:
    """Why a chart of what is compared with the reference is empty."""
    if (
        view.truth is None
        and not (view.truth_trouble or view.coming)
        and not any(lane.cold is not None for lane in view.lanes)
    ):
        return f"waiting for the reference samples at {temperature(view.plan.beta)}: {made(view)}"
    return view.truth_trouble or waiting(view)


def mmd_help(view: LiveView) -> str:
    """What MMD^2, its reference and its band are, for a hover."""
    label = "exact ones where the model allows it, else those of a long run" if view.truth is None else view.truth.label
    return (
        "MMD² says how far a lane's samples are from the model's law, 0 for none. It compares them with the reference: "
        f"samples of that law ({label}). Samples of the very same law differ by chance, too: as many of them as the "
        "lane has lie in the grey band or below in 95 of 100 comparisons. A lane in the band can no longer be told "
        "from them. All looks share one reference: where that is an unlucky one, exact draws lie above together."
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
    """What a race has found: which lane came within the noise of the reference first, and what the others lack.

    It speaks of sweeps that were measured, of finished draws and of lanes that have moved; whoever begins within the
    noise has not come into it.
    """
    if view.coming or (since := max((lane.since for lane in view.lanes if lane.sweep < lane.since), default=0)):
        return waiting(view) or OTHERS_THEN.format(integer(since))
    if not any(lane.moved for lane in view.lanes):
        return waiting(view) or NOTHING_YET
    if not any(lane.points for lane in view.lanes):
        return _unsaid(view)
    at_home = [lane for lane in view.lanes if lane.begins_within]
    passed = [lane for lane in view.lanes if lane.passage]
    still = [lane for lane in view.lanes if lane.judged and not lane.passage and not lane.begins_within]
    unsaid = [_lacking(lane, view.playing) for lane in view.lanes if not lane.judged and not lane.begins_within]
    home = [_at_home(at_home)] if at_home else []
    if passed:
        return f"{'; '.join([*_passages(view, passed), *map(_not_yet, still), *unsaid, *home])}.{_since(view)}"
    nearest = [_nearest(still, bool(at_home))] if still else []
    return " ".join([*(f"{each}." for each in home), *nearest, *([f"{'; '.join(unsaid)}."] if unsaid else [])])


def _at_home(lanes: list[LaneView]) -> str:
    """Of those within the noise from their start: of chains that is the start's merit, which MMD^2 does not see."""
    said = f"{_joined([lane.label for lane in lanes])} {'is' if len(lanes) == 1 else 'are'} {WITHIN} from the start"
    chains = any(lane.draws is None for lane in lanes)
    return f"{said}: MMD² sees nothing wrong with the start itself" if chains else said


def _passages(view: LiveView, passed: list[LaneView]) -> list[str]:
    """Who came within the noise, the first one first."""
    place = (lambda at: at[2]) if view.plan.unit == "seconds" else (lambda at: at[1])
    first, *later = sorted([(lane, *_spent(lane, lane.passage)) for lane in passed], key=place)
    said = [f"{first[0].label} first came {WITHIN} {_between(*first)}"]
    return said + [f"{each[0].label} {_between(*each)}" for each in later]


def _between(lane: LaneView, sweeps: int, time: float) -> str:
    """When it came: MMD^2 is measured ever more rarely, and what lies between two looks is not known."""
    looks = [point.sweep - lane.since for point in lane.points if lane.since < point.sweep < lane.since + sweeps]
    if not looks or looks[-1] == sweeps - 1:
        return f"after {_count(sweeps)} ({seconds(time)})"
    return f"between {integer(looks[-1])} and {_count(sweeps)} (by {seconds(time)})"


def _not_yet(lane: LaneView) -> str:
    return f"{lane.label} has not in {_count(_spent(lane, lane.judged)[0])}"


def _lacking(lane: LaneView, playing: bool) -> str:
    """Why a lane is not compared with the reference yet."""
    if not lane.moved:
        return f"{lane.label} {'is still computing its first sweep' if playing else 'has made no sweep yet'}"
    if lane.making:
        return f"{lane.label}: {first_draw(lane)}"
    return f"{lane.label} has not been compared with the reference yet"


def first_draw(lane: LaneView) -> str:
    """How far the first draw is that statistics are to count; empty where there is one."""
    if lane.before_making:
        return f"its first draw under the new settings begins in {_count(lane.before_making)}"
    return "its first draw is not done: sweep {} of {}".format(*map(integer, lane.making)) if lane.making else ""


def _unsaid(view: LiveView) -> str:
    """Why there is no verdict, of lanes that are not compared with a reference yet."""
    if view.truth_trouble:
        return f"No verdict: {view.truth_trouble}."
    if view.truth is None:
        share, heat = f"{100 * view.truth_share:.0f} %", temperature(view.plan.beta)
        return f"No verdict yet: {share} of the reference samples at {heat} are made{_to_go(view)}."
    return waiting(view) or f"No verdict yet. {'; '.join(_lacking(lane, view.playing) for lane in view.lanes)}."


def _spent(lane: LaneView, point: MetricPoint | None) -> tuple[int, float]:
    """Sweeps and seconds from the last change of the settings to a point."""
    assert point is not None
    return point.sweep - lane.since, point.seconds - lane.since_seconds


def _count(sweeps: int) -> str:
    return f"{integer(sweeps)} sweep{'' if sweeps == 1 else 's'}"


def _since(view: LiveView) -> str:
    since = max(lane.since for lane in view.lanes)
    return f" Counted since the change at sweep {integer(since)}; the axes count from the start." if since else ""


def _nearest(lanes: list[LaneView], others: bool) -> str:
    """Of lanes that are all beyond the noise, whether or not others are within it."""
    raced = sorted(((lane, lane.points[-1]) for lane in lanes), key=lambda pair: pair[1].mmd2)
    (best, first), *rest = raced
    sweeps, time = _spent(best, first)
    said = f"MMD² {significant(first.mmd2)} after {_count(sweeps)} and {seconds(time)}"
    if not rest:
        return f"{best.label} has not come {WITHIN}: {said}."
    none = "None of the others is within it yet." if others else "None is within the noise yet."
    second, other = rest[0]
    if other.mmd2 - first.mmd2 <= first.band.high:
        level = [(lane, point) for lane, point in raced if point.mmd2 - first.mmd2 <= first.band.high]
        behind = [f"{lane.label} {significant(point.mmd2)}" for lane, point in raced[len(level) :]]
        return f"{none} {_level(level)}: {said}{f'; {_joined(behind)}' if behind else ''}."
    ratio, late = significant(other.mmd2 / first.mmd2, 2), _spent(second, other)[0]
    after = "" if late == sweeps else f" after {_count(late)}"
    below = f"{ratio} times below" if other.mmd2 > NEARLY * first.mmd2 else "hardly below"
    return f"{none} {best.label} is nearest: {said}, {below} {second.label}{after}."


def _level(lanes: list[tuple[LaneView, MetricPoint]]) -> str:
    """Who cannot be told apart by the noise, each with its sweeps where they are not the same."""
    counts = [_spent(lane, point)[0] for lane, point in lanes]
    said = [lane.label for lane, _ in lanes]
    if len(set(counts)) > 1:
        said = [f"{label} (after {_count(count)})" for label, count in zip(said, counts, strict=True)]
    return f"{_joined(said)} are level"


NEARLY = 1.1
"""Up to this ratio what is above the noise is hardly told apart."""

# Of a single lane.

CHANCE = 3
"""Standard errors up to which two means are not told apart."""


def found(view: LiveView) -> str:
    """What the samples of a single lane say so far: their mean energy beside the exact one, or MMD^2 and its noise."""
    if not view.lanes or view.coming:
        return waiting(view)
    lane = view.lanes[0]
    if lane.sweep < lane.since:
        return OTHERS_THEN.format(integer(lane.since))
    row = _energies(lane)
    if not lane.moved or not row:
        return f"{lane.label}: {first_draw(lane)}." if lane.moved and lane.making else waiting(view) or NOTHING_YET
    mean, error = row["energy:mean"], row["energy:error"]
    when = (
        f"in draw {integer(row['draw'])} of each chain" if "draw" in row else f"after {_count(lane.sweep - lane.since)}"
    )
    exact = view.energy if view.truth is None else view.truth.energy
    said = f"Mean energy {_to_error(mean, error)}" + (f" ± {significant(error, 2)}" if error else "")
    if exact is not None and error:
        return f"{said} {when}, exact value {_to_error(exact, error)}: {_apart(lane, (mean - exact) / error)}."
    if lane.judged:
        point = lane.judged
        where = f"within the noise ({significant(point.noise)})" if point.within else "above the noise"
        return f"MMD² {significant(point.mmd2)} after {_count(_spent(lane, point)[0])}: {where} of the reference."
    if exact is not None:
        return f"{said} {when}, exact value {significant(exact, 4)}: of one chain nobody knows the error."
    if view.truth or view.truth_trouble:
        return f"{said} {when}; there is no exact value to compare it with."
    return f"{said} {when}; the reference to compare it with is {made(view)}."


def _energies(lane: LaneView) -> dict[str, float]:
    """What is known of the lane at its sweep, or at the end of its last draw under these settings; empty of nothing."""
    draws = lane.draws if lane.draws is not None and lane.draws.length > 1 else None
    series, back = (draws.series, 2 * draws.length) if draws else (lane.series, 0)
    bins = series.bins(max(lane.sweep - back, lane.since + 1), lane.sweep)
    return {} if lane.making or not len(bins) else {name: float(values[-1]) for name, values in bins.mean.items()}


def _to_error(value: float, error: float) -> str:
    """As many digits as the second one of the error."""
    return significant(value, max(_place(value) - _place(error) + 2, 3)) if error else significant(value, 4)


def _place(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _apart(lane: LaneView, deviations: float) -> str:
    far = f"{'above' if deviations > 0 else 'below'} it by {significant(abs(deviations), 2)} standard errors"
    if abs(deviations) <= CHANCE:
        return f"{far}, no further off than chance allows"
    return f"{'still ' if lane.guarantee == 'invariant' else ''}{far}"


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

"""What is being computed and what happened, in plain words with this run's numbers."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from pmpviz.capabilities.sampling.evidence import arrival, at_home, energies, exact_energy, off_now, states_off
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.measures import MetricPoint
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.live.lane_names import lane_names
from pmpviz.models.tables import TableModel
from pmpviz.player.model_words import full_sentence, model_words, temperature
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.update import short_name
from pmpviz.samplers import sampler_class

MEASURED = (
    "MMD²: distance to the model's law. Exact samples have some by chance, the grey band: first in it by {} wins."
)
WITHIN = "within the noise of the reference"
OTHERS_THEN = "The settings were others then: they changed at sweep {}, where the verdict begins anew."
ENERGY = (
    "E(x) = −log of the weight of a configuration at β = 1, with the model's constant. The line is the mean over the "
    "chains, the shade their 10 % and 90 % quantiles. In brackets under the pointer are these two, or where a point "
    "stands for several sweeps the least and the greatest mean of them."
)
SHARED_CORES = "Lanes share the cores: their seconds differ by some 10 % to 70 % between runs."
PARTED = (
    " Its factors forbid states, which may part the others: changes of one variable at a time may not reach them all."
)
NO_NOISE = "The reference saw one state almost alone: there MMD² has no noise to be judged by."
NOTHING_YET = "Nothing has run yet under these settings: press Play."


def race_lead(plan: Plan) -> str:
    """Under the question of a race: which lanes start alike, and what decides it."""
    lanes, measured = list(zip(plan.lanes, lane_names(plan.lanes), strict=True)), MEASURED.format(_unit(plan))
    alike = [short_name(name, lane.spec) for lane, name in lanes if lane.spec.kind == "chain"]
    if len(alike) in (0, len(lanes)):
        return f"All lanes {'start alike' if alike else 'make their own draws'}. {measured}"
    starts = f"{_joined(alike)} {'start alike' if len(alike) > 1 else 'has a start to forget'}"
    others = "the others make their own draws" if len(lanes) > len(alike) + 1 else "the other makes its own draws"
    return f"{starts}, {others}. {measured}"


def _unit(plan: Plan) -> str:
    """What `first` counts."""
    return "seconds" if plan.unit == "seconds" else "sweeps"


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
        return full_sentence(view.truth_trouble)
    if view.trouble and view.truth is None:
        return "The reference waits for an algorithm that runs on this model."
    if view.coming:
        return "The reference is made anew for the settings that are taken up."
    if view.truth is None:
        return f"Waiting for the reference, samples of the model's law to compare with: {made(view)}."
    check = f"; {view.truth.check}" if view.truth.check else ""
    chains = any(lane.kind == "chain" for lane in view.lanes)
    return f"Reference: {view.truth.label}{check}.{PARTED if chains and _forbids(view.model) else ''}"


@functools.lru_cache(maxsize=4)
def _forbids(model: Any) -> bool:
    return isinstance(model, TableModel) and bool(np.isneginf(np.asarray(model.values)).any())


def made(view: LiveView) -> str:
    """How much of the reference there is, and how long the rest may take."""
    return f"{share(view)}{_to_go(view)}"


def share(view: LiveView) -> str:
    """How much of the reference there is."""
    return f"{100 * view.truth_share:.0f}\N{NO-BREAK SPACE}% made"


def pace(view: LiveView) -> str:
    """What the rate under a picture is of, for a hover."""
    said = "Sweeps for each second of computing this lane; how fast the picture moves is chosen in the bar."
    shared = " The lanes take turns on the same cores, so that those that are quick wait for the slowest one."
    return said + (shared if len(view.lanes) > 1 else "")


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
        return f"Compiling {which}{': sweeps begin as soon as that is done' if view.playing else ''}."
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
        "from them by their pairs of sites; a verdict waits for its energy, too. All looks share one reference: where "
        "that is an unlucky one, exact draws lie above together."
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
    """What a race has found: which lane came within the noise of the reference first, with its energy, and what the
    others lack.

    It speaks of sweeps that were measured, of finished draws and of lanes that have moved; whoever begins within the
    noise has not come into it.
    """
    if view.coming or (since := max((lane.since for lane in view.lanes if lane.sweep < lane.since), default=0)):
        return waiting(view) or OTHERS_THEN.format(integer(since))
    if not any(lane.moved for lane in view.lanes):
        return waiting(view) or NOTHING_YET
    if not any(lane.points for lane in view.lanes):
        return _unsaid(view)
    begun = [lane for lane in view.lanes if at_home(view, lane)]
    passed = [(lane, came) for lane in view.lanes if lane not in begun and (came := arrival(view, lane))]
    within = [lane for lane in view.lanes if lane not in begun and (lane.passage or lane.begins_within)]
    half = [_half(view, lane) for lane in within if not arrival(view, lane)]
    still = [lane for lane in view.lanes if lane.judged and not lane.passage and not lane.begins_within]
    unsaid = [_lacking(lane, view.playing) for lane in view.lanes if not lane.judged and not lane.begins_within]
    home = [_at_home(view, begun)] if begun else []
    if passed:
        first = _passages(view, passed, bool(begun))
        return f"{'; '.join([*first, *half, *map(_not_yet, still), *unsaid, *home])}.{_since(view)}"
    nearest = [_nearest(still, bool(begun or half))] if still else []
    return " ".join(
        [*(f"{each}." for each in [*half, *home]), *nearest, *([f"{'; '.join(unsaid)}."] if unsaid else [])]
    )


def _at_home(view: LiveView, lanes: list[LaneView]) -> str:
    """Of those within the noise from their start: of chains that is the start's merit, which MMD^2 does not see."""
    said = f"{_joined([lane.label for lane in lanes])} {'is' if len(lanes) == 1 else 'are'} {WITHIN} from the start"
    chains = any(lane.draws is None for lane in lanes)
    off = off_now(view, lanes[0]) if len(lanes) == 1 else ""
    return f"{said}: MMD² sees nothing wrong with the start itself{off}" if chains else f"{said}{off}"


def _half(view: LiveView, lane: LaneView) -> str:
    """Of one whose MMD^2 alone is where it is to be."""
    off = off_now(view, lane) or ", not yet by its energy"
    if lane.begins_within:
        return f"{lane.label} is {WITHIN} from the start by MMD²{off}"
    return f"{lane.label} came {WITHIN} by MMD² {_stretch(lane, _spent(lane, lane.passage)[0])}{off}"


def _passages(view: LiveView, passed: list[tuple[LaneView, MetricPoint]], others: bool) -> list[str]:
    """Who came within the noise, by the unit of the budget: the first, or all between the same looks, then the rest."""
    by_time = view.plan.unit == "seconds"
    came = sorted(((lane, *_spent(lane, point)) for lane, point in passed), key=lambda at: at[2 if by_time else 1])
    lead = came[:1] if by_time else [at for at in came if _stretch(*at[:2]) == _stretch(*came[0][:2])]
    said = _together(view, lead) if len(lead) > 1 else _alone(view, *lead[0], "came" if others else "first came")
    rest = [f"{lane.label} {_between(view, lane, *at)}" for lane, *at in came[len(lead) :]]
    return [said, *rest, *([] if by_time else _sooner(came, lead))]


def _alone(view: LiveView, lane: LaneView, sweeps: int, time: float, came: str) -> str:
    return f"{lane.label} {came} {WITHIN} {_between(view, lane, sweeps, time)}"


def _together(view: LiveView, lead: list[tuple[LaneView, int, float]]) -> str:
    """Between two looks nobody knows who was first."""
    when = _stretch(*lead[0][:2])
    by = "; ".join(f"{lane.label} by {seconds(time)}" for lane, _, time in lead)
    off = "".join(off_now(view, lane, f"the energy of {lane.label}") for lane, *_ in lead)
    return f"{_joined([lane.label for lane, *_ in lead])} came {WITHIN} together, {when} ({by}){off}"


def _sooner(came: list[tuple[LaneView, int, float]], lead: list[tuple[LaneView, int, float]]) -> list[str]:
    """Who was first by the clock, where that is clear and was not the one by sweeps."""
    first, *later = sorted(came, key=lambda at: at[2])
    clear = later and QUICKER * first[2] <= later[0][2]
    return [f"by seconds {first[0].label} was first"] if clear and lead != [first] else []


def _between(view: LiveView, lane: LaneView, sweeps: int, time: float) -> str:
    """When it came, and how far its energy is off now."""
    when = _stretch(lane, sweeps)
    by = f"{'' if when.startswith('after') else 'by '}{seconds(time)}"
    return f"{when} ({by}){off_now(view, lane)}"


def _stretch(lane: LaneView, sweeps: int) -> str:
    """MMD^2 is measured ever more rarely, and what lies between two looks is not known."""
    looks = [point.sweep - lane.since for point in lane.points if lane.since < point.sweep < lane.since + sweeps]
    if not looks or looks[-1] == sweeps - 1:
        return f"after {_count(sweeps)}"
    return f"between {integer(looks[-1])} and {_count(sweeps)}"


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
    if not rest and first.band.known:
        return f"{best.label} has not come {WITHIN}: {said}."
    if not first.band.known:
        return f"{NO_NOISE} MMD²: {_joined([f'{lane.label} {significant(point.mmd2)}' for lane, point in raced])}."
    # What is over, or has a limit of its own, is not to come within it.
    yet = " yet" if any(lane.guarantee == "invariant" and not lane.done for lane in lanes) else ""
    none = f"None of the others is within it{yet}." if others else f"None is within the noise{yet}."
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


QUICKER = 2
"""Ratio of seconds from which on a lane is the quicker one: lanes share the cores, another run has other seconds."""

NEARLY = 1.1
"""Up to this ratio what is above the noise is hardly told apart."""

# Of a single lane.

CHANCE = 3
"""Standard errors up to which two means are not told apart."""


def found(view: LiveView) -> str:
    """What the samples of a single lane say so far, by the strongest evidence: how often each state came, where that is
    off and not by chance, else their mean energy beside the exact one, else MMD^2 and its noise."""
    if not view.lanes or view.coming:
        return waiting(view)
    lane = view.lanes[0]
    if lane.sweep < lane.since:
        return OTHERS_THEN.format(integer(lane.since))
    row = energies(lane)
    if not lane.moved or not row:
        return f"{lane.label}: {first_draw(lane)}." if lane.moved and lane.making else waiting(view) or NOTHING_YET
    mean, error = row["energy:mean"], row["energy:error"]
    when = (
        f"in draw {integer(row['draw'])} of each chain" if "draw" in row else f"after {_count(lane.sweep - lane.since)}"
    )
    exact, chains = exact_energy(view), view.plan.chains
    said = f"Mean energy {_to_error(mean, error)}" + (f" ± {significant(error, 2)}" if error else "")
    said += f" over {integer(chains)} chains" if chains > 1 else ""
    if off := states_off(lane):
        return off
    if exact is not None and error:
        return f"{said} {when}, exact value {_to_error(exact, error)}: {_apart(lane, (mean - exact) / error)}."
    if lane.judged:
        point = lane.judged
        where = f"within the noise ({significant(point.noise)})" if point.within else "above the noise"
        judged = f": {where} of the reference." if point.band.known else f". {NO_NOISE}"
        return f"MMD² {significant(point.mmd2)} after {_count(_spent(lane, point)[0])}{judged}"
    if exact is not None:
        return f"{said} {when}, exact value {significant(exact, 4)}: of one chain nobody knows the error."
    if view.truth or view.truth_trouble:
        return f"{said} {when}; there is no exact value to compare it with."
    return f"{said} {when}; the reference to compare it with is {made(view)}."


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
    model = model_words(view_model, plan.beta, brief=True)
    if len(plan.lanes) == 1:
        return f"What does {names[0]} do on this {model}?"
    if len(names) == 1:
        return f"Which setting of {names[0]} gets there first on this {model}?"
    if len(names) == 2:
        return f"Which gets there first on this {model}: {names[0]} or {names[1]}?"
    return f"Which of the {len(plan.lanes)} gets there first on this {model}?"

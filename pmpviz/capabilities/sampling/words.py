"""What is being computed and what happened, in plain words with this run's numbers."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from pmpviz.capabilities.sampling.evidence import (
    disagree,
    energies,
    exact_energy,
    first_right,
    law_energy,
    moved,
    states_came,
    states_doubted,
    states_off,
    unlike,
)
from pmpviz.capabilities.sampling.first_right import CHANCE, DOUBT, FAR, FEW_CHAINS, rare
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.measures import MetricPoint
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.capabilities.sampling.then import under_others
from pmpviz.live.lane_names import lane_names
from pmpviz.models.tables import TableModel
from pmpviz.player.model_words import full_sentence, listed, model_words, temperature
from pmpviz.player.numbers import THIN, integer, seconds, significant
from pmpviz.player.update import short_name
from pmpviz.samplers import sampler_class

MEASURED = (
    "MMD²: how far samples are from the model's distribution; the grey band is chance alone. "
    "Who reaches the band in the fewest {}, with the right energy, wins."
)
NOISY_DRAWS = (
    "A draw: fresh noise on every variable, then max-product seeks the best state under it. Only its end is a sample; "
    "samples' mean energy ought to be exact."
)
FROM_DRAWS = (
    " Of draws that take several sweeps there is nothing to compare before the first is done: their curve begins there."
)
ENERGY = (
    "E(x) = −log of the weight of a configuration at β = 1, with the model's constant. The line is the mean over the "
    "chains, the shade their 10 % and 90 % quantiles. In brackets under the pointer are these two, or where a point "
    "stands for several sweeps the least and the greatest mean of them. Where lanes race, the band about the law's "
    "mean is where that of as many samples of the law lies, but for one in 370: three standard errors. Whose mean lies "
    "in it has the right energy. Of a single lane up to two standard errors are chance, two to three doubt; it first "
    "was right where over as many sweeps again it is off by at most one on average."
)
SHARED_CORES = "Lanes share the cores: their seconds differ by some 10 % to 70 % between runs."
PARTED = (
    " Its factors forbid states, which may part the others: changes of one variable at a time may not reach them all."
)
ONE_ERROR = "standard error"
NO_NOISE = "The reference saw one state almost alone: there MMD² has no noise to be judged by."
AT_START = "the start, before the first sweep."
NOTHING_YET = "Nothing has run yet: press Play."
GOES_ON = "Nothing has run yet under these settings: press Play to go on from here, Reset to begin anew."
# Messages, log-ratios, that change by more in a sweep have not settled.
UNREST = 0.1


def unmoved(view: LiveView) -> str:
    """That nothing has run under the present settings; of lanes that ran before, that they go on from there."""
    return GOES_ON if any(lane.sweep for lane in view.lanes) else NOTHING_YET


def lead(page: str, plan: Plan) -> str:
    """What stands under a page's question where that depends on the plan; else nothing."""
    if page == "race":
        return race_lead(plan)
    return NOISY_DRAWS if page == "playground" and plan.lanes[0].algorithm == "pmp" else ""


def race_lead(plan: Plan) -> str:
    """Under the question of a race: which lanes start alike, and what decides it."""
    lanes, measured = list(zip(plan.lanes, lane_names(plan.lanes), strict=True)), MEASURED.format(_unit(plan))
    alike = [short_name(name, lane.spec) for lane, name in lanes if lane.spec.kind == "chain"]
    anew = [short_name(name, lane.spec) for lane, name in lanes if lane.spec.kind != "chain"]
    if len(alike) in (0, len(lanes)):
        return f"All lanes {'start alike' if alike else 'make each draw anew'}. {measured}"
    starts = f"{listed(alike)} {'start alike' if len(alike) > 1 else 'has a start to forget'}"
    return f"{starts}, {listed(anew)} {'make' if len(anew) > 1 else 'makes'} each draw anew. {measured}"


def _unit(plan: Plan) -> str:
    """What `first` counts."""
    return "seconds" if plan.unit == "seconds" else "sweeps"


def computing(view: LiveView, device: str) -> str:
    """One line: algorithm, where it is but one, model, chains, device; what changes stands at the picture."""
    if not view.lanes:
        return waiting(view)
    model = model_words(view.model, view.plan.beta)
    chains = f"{integer(view.plan.chains)} chain{'s' if view.plan.chains > 1 else ''}"
    if len(view.lanes) > 1:  # Their names stand above the pictures, in the legend and in the verdict.
        return ", ".join(part for part in (model[:1].upper() + model[1:], f"{chains} each", device) if part)
    lane = view.lanes[0]
    compiled = f"compiled in {seconds(lane.compile_seconds)}" if lane.compile_seconds >= 0.01 else ""
    parts = [f"{lane.label} on a {model}", chains, device, compiled]
    return ", ".join(part for part in parts if part)


def held_up(view: LiveView, speed: float) -> str:
    """Which of several lanes keeps pictures from moving at the chosen speed, as a sentence; empty where none does."""
    moving = [lane for lane in view.lanes if lane.rate and not lane.done]
    if not view.playing or len(moving) < 2 or not speed:
        return ""
    slowest = min(moving, key=lambda lane: lane.rate)
    if slowest.rate >= speed:
        return ""
    waits = "the other waits" if len(view.lanes) == 2 else "the others wait"
    return f" {slowest.label} computes {significant(slowest.rate)} sweeps/s: {waits} for it."


def reference_words(view: LiveView) -> str:
    """What the metrics are measured against, or how far its making is."""
    if view.truth_trouble:
        return full_sentence(view.truth_trouble)
    if view.trouble and view.truth is None:
        return "The reference waits for an algorithm that runs on this model."
    if view.coming:
        return "The reference is made anew for the settings that are taken up."
    if view.truth is None:
        if view.energy is not None:
            return (
                f"For MMD² and marginals a reference is being made: {made(view)}. The energy is exact and needs none."
            )
        how_far = f": {made(view)}" if len(view.lanes) == 1 else ""  # Of several the chart of MMD^2 says it.
        return f"Waiting for the reference, samples of the model's law to compare with{how_far}."
    check = f"; {view.truth.check}" if view.truth.check else ""
    chains = any(lane.kind == "chain" for lane in view.lanes)
    return f"Reference: {view.truth.label}{check}.{PARTED if chains and _forbids(view.model) else ''}"


@functools.lru_cache(maxsize=4)
def _forbids(model: Any) -> bool:
    return isinstance(model, TableModel) and bool(np.isneginf(np.asarray(model.values)).any())


def made(view: LiveView) -> str:
    """How much of the reference there is, and how long the rest may take."""
    return f"{share(view)}{to_go(view)}"


def share(view: LiveView) -> str:
    """How much of the reference there is."""
    return f"{100 * view.truth_share:.0f}\N{NO-BREAK SPACE}% made"


def pace(view: LiveView) -> str:
    """What the rate under a picture is of, for a hover."""
    if len(view.lanes) == 1:
        return "Sweeps for each second of computing; how fast the picture moves is chosen in the bar."
    return (
        "What a sweep takes to compute, on average over all; how fast the picture moves is chosen in the bar. The "
        "lanes take turns on the same cores, so that those that are quick wait for the slowest one."
    )


def to_go(view: LiveView) -> str:
    """How long the reference may still take, behind a comma; empty where nobody knows."""
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
        f"samples of that law ({label}). As many samples of the very same law lie in the grey band or below it in 95 "
        "of 100 comparisons, and above a dotted line in one of 1 000. A lane in the band can no longer be told from "
        "them by their pairs of sites; a verdict waits for its energy, too. All chains together may be in it while "
        "each is still where it began: R-hat in the table sees that. All looks share one reference: by an unlucky one "
        "exact draws lie above together. An estimate may be below 0: it stands at the foot, the pointer tells it."
        + (FROM_DRAWS if any(lane.draws is not None and lane.draws.length > 1 for lane in view.lanes) else "")
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
    return f"messages change ≤ {significant(residual)}"


def first_draw(lane: LaneView) -> str:
    """How far the first draw is that statistics are to count; empty where there is one."""
    if lane.before_making:
        return f"its first draw under the new settings begins in {count_of(lane.before_making)}"
    return f"its first draw, of {count_of(lane.making[1])}, is not done" if lane.making else ""


def spent(lane: LaneView, point: MetricPoint | None) -> tuple[int, float]:
    """Sweeps and seconds from the last change of the settings to a point."""
    assert point is not None
    return point.sweep - lane.since, point.seconds - lane.since_seconds


def count_of(sweeps: int) -> str:
    """So many sweeps, in words."""
    return f"{integer(sweeps)} sweep{'' if sweeps == 1 else 's'}"


# Of a single lane.


def found(view: LiveView) -> str:
    """What the samples of a single lane say so far, by the strongest evidence: how often each state came, where that is
    off and not by chance, else their mean energy beside the exact one or the reference's, else MMD^2 and its noise."""
    if not view.lanes or view.coming:
        return waiting(view)
    lane = view.lanes[0]
    if others := under_others(view):
        return others
    if lane.past and not lane.moved:
        return AT_START
    row = energies(lane)
    if not lane.moved or not row:
        return f"{lane.label}: {first_draw(lane)}." if lane.moved and lane.making else waiting(view) or unmoved(view)
    mean, error = row["energy:mean"], row["energy:error"]
    after = f"after {count_of(lane.sweep - lane.since)}"
    when = _in_draw(lane, int(row["draw"])) if "draw" in row else after
    exact, chains = exact_energy(view), view.plan.chains
    said = f"mean energy {_to_error(mean, error)}" + (f" ± {significant(error, 2)} ({ONE_ERROR})" if error else "")
    said += f" over {integer(chains)} chains" if chains > 1 else ""
    if off := states_off(lane):
        return f"{off}{unlike(lane)}"
    if (law := law_energy(view)) is not None and error:
        beside, spread = law
        since = first_right(lane)
        # What does not change is printed alike at every look.
        known = _to_error(beside, spread) if spread else significant(beside, 5)
        printed = _between(_to_error(mean, error), known)
        answer, apart = _apart(lane, mean - beside, math.hypot(error, spread), since, chains, printed)
        whose = "the exact" if exact is not None else "the reference samples'"
        said = f"{said} {when}, {apart} {whose} {known}."
        if states := states_came(lane):
            right = "Not right" if answer.startswith("Too") else answer.split(",")[0].split(":")[0]
            right = "In doubt" if states_doubted(lane) else right
            return f"{right}: {states} {said[:1].upper()}{said[1:]}"
        return f"{answer}{_unrest(row) if answer.startswith('Too') else ''}: {said}"
    said = said[:1].upper() + said[1:]
    if lane.judged:
        point = lane.judged
        where = f"within the noise ({significant(point.noise)})" if point.within else "above the noise"
        apart = disagree([lane]) if point.within else ""
        judged = f": {where} of the reference{apart}." if point.band.known else f". {NO_NOISE}"
        return f"MMD² {significant(point.mmd2)} after {count_of(spent(lane, point)[0])}{judged}"
    if exact is not None:
        return f"{said} {when}, exact value {significant(exact, 4)}: of one chain nobody knows the error."
    said = f"{said} {when}{f'; {at_rest}' if (at_rest := moved(lane, chains)) else ''}"
    if view.truth or view.truth_trouble:
        return f"{said}; there is no exact value to compare it with."
    return f"{said}; {_unknown(view)}the reference to compare it with is still being made."


def _unrest(row: dict[str, float]) -> str:
    """Of draws that are not right: that messages have not settled at their end, and by how much they change there."""
    residual = row.get("residual:mean", 0.0)
    some = significant(residual, 2)
    return f", and messages do not settle (they change by some {some})" if residual > UNREST else ""


def _unknown(view: LiveView) -> str:
    """Why there is no exact value any more, where a person's own edits took it."""
    edits = [word for word, there in (("a field", view.plan.field), ("clamped sites", view.plan.clamp)) if there]
    return f"with {listed(edits)} no exact value is known, and " if edits else ""


def _to_error(value: float, error: float, least: int = 3) -> str:
    """As many digits as the second one of the error; a difference, whose numbers end there, needs no more at least."""
    return significant(value, max(_place(value) - _place(error) + 2, least)) if error else significant(value, 4)


def _between(one: str, two: str) -> str:
    """How far two numbers are apart as they are printed, for whoever subtracts them; empty where that is nothing."""
    try:
        first, second = (float(each.replace(THIN, "").replace("−", "-")) for each in (one, two))
    except ValueError:  # One is so small that it has a power of ten.
        return ""
    decimals = min(len(each.partition(".")[2]) for each in (one, two))
    far = f"{abs(first - second):,.{decimals}f}"
    return far.replace(",", THIN) if float(far.replace(",", "")) else ""


def _place(value: float) -> int:
    return math.floor(math.log10(abs(value))) if value else 0


def _apart(lane: LaneView, off: float, error: float, since: str, chains: int, printed: str = "") -> tuple[str, str]:
    """(whether the energy over so many chains is right, `since` when, and how far it is off): by chance it is off a
    little. `printed`: how far the printed numbers are apart."""
    told_far = printed or _to_error(abs(off), error, 1)
    deviations, far = f"{significant(abs(off / error), 2)} standard errors", abs(off) > DOUBT * error
    side, unsettled = "above" if off > 0 else "below", far and since and bool(disagree([lane]))
    # What was right once is not taken back where chance goes a little further; what chains disagree on is not right.
    if abs(off) <= rare(FAR if since else CHANCE, chains) * error:
        told = f" ({deviations})" if far else ""
        if not since and abs(off) > rare(DOUBT, chains) * error:
            doubt = "In doubt"
            return f"{doubt}{disagree([lane], doubt)}", f"{told_far}{told} {side}"
        if unsettled:
            answer = f"Not for good yet: within chance{since}, now {deviations} {side} again"
            return f"{answer}{disagree([lane], answer)}", f"{told_far} {side}"
        # Of a chain that is seen to stay there it is known since when.
        now = not since and lane.kind == "chain" and chains >= FEW_CHAINS
        answer = "Within chance now" if now else f"Right within chance{since}"
        if now and disagree([lane]):
            answer = "Not for sure yet: within chance now"
        return f"{answer}{disagree([lane])}", f"{told_far}{told} {side}"
    answer = "Not yet right" if lane.guarantee == "invariant" else f"Too {'high' if off > 0 else 'low'}"
    return answer, f"{told_far} ({deviations}) {side}"


def _in_draw(lane: LaneView, number: int) -> str:
    """`in draw 3 of each chain`; after a change of the settings draws count from there, as beneath the picture."""
    if not lane.since:
        return f"in draw {integer(number)} of each chain"
    assert lane.draws is not None
    number -= lane.draws.done_before(lane.since)
    return f"in draw {integer(number)} of each chain since sweep {integer(lane.since)}"


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
    return f"Which of the {len(plan.lanes)} is first on this {model}?"

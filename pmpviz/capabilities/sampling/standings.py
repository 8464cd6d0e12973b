"""The verdict of a race: who came within the noise of the reference first, and what the others lack."""

from __future__ import annotations

from pmpviz.capabilities.sampling.evidence import (
    alike,
    arrival,
    at_home,
    by_energy,
    disagree,
    energies,
    energy_now,
    energy_parts,
    exact_energy,
    far,
    how_far,
    keeps_its_law,
    off_now,
)
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.measures import MetricPoint
from pmpviz.capabilities.sampling.then import under_others
from pmpviz.capabilities.sampling.words import (
    AT_START,
    NO_NOISE,
    count_of,
    first_draw,
    spent,
    unmoved,
    waiting,
)
from pmpviz.player.model_words import full_sentence, listed, temperature
from pmpviz.player.numbers import integer, seconds, significant

WITHIN, OTHERS = "within the noise", "the others"

QUICKER, STALLS = 3, 0.25
"""Ratio and difference of seconds from which on a lane is the quicker one: lanes share the cores with each other and
with the making of the reference, and another run has other seconds."""

DEAR = 10
"""A sweep that takes so many times as long as another's is dear."""

NEARLY = 1.1
"""Up to this ratio what is above the noise is hardly told apart."""


def verdict(view: LiveView, brief: bool = False) -> str:
    """What a race has found: which lane came within the noise of the reference first, with its energy, and what the
    others lack.

    In `brief` without the order of the others, and who was first by a clock that the race does not go by. It speaks of
    sweeps that were measured, of finished draws and of lanes that have moved; whoever begins within the
    noise has not come into it.
    """
    if view.coming:
        return waiting(view)
    if others := under_others(view):
        return others
    if not any(lane.moved for lane in view.lanes):
        if view.lanes and view.lanes[0].past:
            return AT_START
        return waiting(view) or unmoved(view)
    if not any(lane.points for lane in view.lanes):
        return _unsaid(view)
    if view.truth is not None and not view.truth.settled:
        return f"No winner: the reference is a long run, and {view.truth.check}."
    begun = [lane for lane in view.lanes if at_home(view, lane)]
    strayed = [lane for lane in view.lanes if _by_chance(lane)]
    rest = [lane for lane in view.lanes if lane not in begun and lane not in strayed]
    passed = [(lane, came) for lane in rest if (came := arrival(view, lane))]
    within = [lane for lane in rest if lane.passage or lane.begins_within]
    halves = [lane for lane in within if not arrival(view, lane)]
    wrong = [lane for lane in halves if energy_parts(view, lane)]
    half = _halves(view, [lane for lane in halves if lane not in wrong])
    still = [lane for lane in rest if lane.judged and not lane.passage and not lane.begins_within]
    unsaid = [_lacking(lane, view.playing) for lane in view.lanes if not lane.judged and not lane.begins_within]
    home = [_at_home(view, begun)] if begun else []
    home += [f"{lane.label} draws from the law itself: where it is above the noise, that is chance" for lane in strayed]
    known = bool(begun or strayed)
    # What decides comes first: an energy that stays wrong, which MMD^2 does not see.
    decides = _halves(view, wrong)
    if passed:
        first = _passages(view, passed, known, bool(wrong))[: 1 if brief else None]
        said = [*decides, *first, *half, *_not_yet(view, still, brief), *unsaid, *home]
        return f"{' '.join(map(full_sentence, said))}{_since(view)}"
    lacking = [f"{'; '.join(unsaid)}."] if unsaid else []
    nearest = [_nearest(_side_by_side(view, still), known or bool(halves), lacking)] if still else lacking
    return " ".join([*(f"{each}." for each in (*decides, *half, *home)), *nearest])


def _by_chance(lane: LaneView) -> bool:
    """Whether it draws from the law itself and yet was beyond the noise when it was first compared: by chance."""
    judged = lane.judged
    return lane.guarantee == "exact" and judged is not None and judged.band.known and not lane.begins_within


def _at_home(view: LiveView, lanes: list[LaneView]) -> str:
    """Of those within the noise from their start: of chains that is the start's merit, which MMD^2 does not see."""
    said = f"{listed([lane.label for lane in lanes])} {'is' if len(lanes) == 1 else 'are'} {WITHIN} from the start"
    chains = any(lane.draws is None for lane in lanes)
    off = off_now(view, lanes[0]) if len(lanes) == 1 else ""
    off += disagree(lanes, off)
    return f"{said}: MMD² sees nothing wrong with the start itself{off}" if chains else f"{said}{off}"


def _halves(view: LiveView, lanes: list[LaneView]) -> list[str]:
    """Of those whose MMD^2 alone is where it is to be: together, where they came together, so that all have room."""
    when = {_since_when(lane) for lane in lanes}
    off = [abs(energy_now(view, lane)) for lane in lanes]
    if len(lanes) < 2 or len(when) > 1 or min(off) <= far(view):
        return [_half(view, lane) for lane in lanes]
    who, begin = listed([lane.label for lane in lanes]), lanes[0].begins_within
    came = f"{'are' if begin else 'came'} {WITHIN} by MMD² {when.pop()}, and their energies are"
    if begin or not alike(lanes, view.plan.chains):
        return [f"{who} {came} {listed([significant(each, 2) for each in off])} standard errors off"]
    between = " to ".join(dict.fromkeys(significant(each, 2) for each in (min(off), max(off))))
    return [f"{who} cannot be told apart: all {came} {between} standard errors off"]


def _since_when(lane: LaneView) -> str:
    """Since when MMD^2 has it within the noise, of one that it has."""
    return "from the start" if lane.begins_within else f"after {_sweeps(lane, spent(lane, lane.passage)[0])}"


def _half(view: LiveView, lane: LaneView) -> str:
    """Of one whose MMD^2 alone is where it is to be."""
    if energy_parts(view, lane):
        return f"{lane.label}: energy {how_far(energy_now(view, lane))}, MMD² {WITHIN}"
    # Lanes are compared now and then: the energy may be right since, as the curve beside it shows.
    compared, came = spent(lane, lane.points[-1])[0], "is" if lane.begins_within else "came"
    if off := off_now(view, lane, ""):
        return f"{lane.label}'s energy{off}, though by MMD² it {came} {WITHIN} {_since_when(lane)}"
    then = f"its energy not {f'yet after {integer(compared)}' if compared else 'at first'}"
    return f"{lane.label} {came} {WITHIN} by MMD² {_since_when(lane)}, {then}"


def _passages(view: LiveView, passed: list[tuple[LaneView, MetricPoint]], begun: bool, wrong: bool) -> list[str]:
    """Who came within the noise, by the unit of the budget: the first, or all between the same looks, then the rest."""
    by_time = view.plan.unit == "seconds"
    came = sorted(((lane, *spent(lane, point)) for lane, point in passed), key=lambda at: at[2 if by_time else 1])
    lead = came[:1] if by_time else [at for at in came if _stretch(*at[:2]) == _stretch(*came[0][:2])]
    starts = all(lane.begins_within for lane, _ in passed)  # By MMD^2 it is no merit of theirs.
    both = " (by MMD² and energy)" if any(by_energy(lane, point) for lane, point in passed) else ""
    by = " by energy" if starts else " by both" if wrong else both
    # Of more samples the noise is less, and one comes into it later.
    within = f"{'within it' if wrong else f'{WITHIN} of {integer(view.plan.chains)} samples'}{by}"
    who = _who(view, lead)
    came_in = "both came" if len(lead) == 2 else "came" if begun or len(lead) > 1 else "first came"
    alone = "" if wrong else _alone(view, lead)
    said = f"{who} {came_in} {within} {_when(view, *lead[0], True)}{alone}{_off(view, lead)}"
    rest = [
        f"{at[0].label} {_when(view, *at)}{'' if wrong else _alone(view, [at])}{_off(view, [at])}"
        for at in came[len(lead) :]
    ]
    already = f", by MMD² {'its' if len(came) == 1 else 'their'} start already was" if starts else ""
    sooner = [] if by_time else _sooner(came, lead)
    by_clock = [] if by_time else [*sooner, *_dear(view, lead, bool(rest or sooner))]
    return [f"{said}{', then ' if rest else ''}{listed(rest)}{already}", *by_clock]


Came = tuple[LaneView, int, float]
"""A lane with its sweeps and seconds until it came."""


def _alone(view: LiveView, lead: list[Came]) -> str:
    """When the first came within the noise by MMD^2 alone, where its energy took longer."""
    (lane, sweeps, _), *others = lead
    if others or lane.passage is None or spent(lane, lane.passage)[0] >= sweeps:
        return ""
    return f" (by MMD² alone {_when(view, lane, *spent(lane, lane.passage))})"


def _who(view: LiveView, lead: list[Came]) -> str:
    """Lanes that are all but one, of which something else was said, are the others."""
    rest = [lane for lane in view.lanes if all(lane is not at[0] for at in lead)]
    said = len(rest) == 1 and bool(energy_parts(view, rest[0])) and not at_home(view, rest[0])
    if said and len(lead) > 2:
        return OTHERS
    return "all" if not rest and len(lead) > 2 else listed([lane.label for lane, *_ in lead])


def _off(view: LiveView, lead: list[Came]) -> str:
    """How far the energies of those that came are off now, whose MMD^2 is above the noise again, and whose chains
    disagree."""
    whose = "its energy" if len(lead) == 1 else "the energy of {}"
    off = "".join(off_now(view, lane, whose.format(lane.label), came=True) for lane, *_ in lead)
    again = [lane for lane, *_ in lead if lane.judged and lane.judged.mmd2 > NEARLY * lane.judged.noise]
    if again:
        mmd2 = "its MMD²" if len(lead) == 1 else f"the MMD² of {listed([lane.label for lane in again])}"
        off += f", though {mmd2} is above it now"
    return off + disagree([lane for lane, *_ in lead], off)


def _sooner(came: list[Came], lead: list[Came]) -> list[str]:
    """Who was first by the clock, where that is clear."""
    first, *later = sorted(came, key=lambda at: at[2])
    clear = later and later[0][2] > max(QUICKER * first[2], STALLS + first[2])
    return [f"by this run's seconds {first[0].label} was first{', too' if lead == [first] else ''}"] if clear else []


def _dear(view: LiveView, lead: list[Came], named: bool) -> list[str]:
    """That sweeps of the first, alone by their number, take many times as long as those of the quickest lane; the first
    is called by its name where others are `named` after it."""
    chains = [lane for lane in view.lanes if lane.kind == "chain" and lane.sweep and lane.seconds]
    pace = {lane.label: lane.seconds / lane.sweep for lane in chains}
    own, other = pace.get(lead[0][0].label), min(pace, key=pace.__getitem__, default="")
    if len(lead) > 1 or own is None or own < DEAR * pace[other]:
        return []
    whose = f"a sweep of {lead[0][0].label}" if named else "its sweep"
    return [f"{whose} takes {significant(own / pace[other], 1)} times as long as one of {other}"]


def _when(view: LiveView, lane: LaneView, sweeps: int, time: float, whole: bool = False) -> str:
    """When it came, by the unit of the budget."""
    if view.plan.unit == "seconds":
        return f"after {seconds(time)}"
    return f"after {_sweeps(lane, sweeps) if whole else _stretch(lane, sweeps)}"


def _sweeps(lane: LaneView, sweeps: int) -> str:
    """The stretch in words."""
    return f"{_stretch(lane, sweeps)} sweep{'' if sweeps == 1 else 's'}"


def _stretch(lane: LaneView, sweeps: int) -> str:
    """MMD^2 is measured ever more rarely, and what lies between two looks is not known."""
    looks = [point.sweep - lane.since for point in lane.points if lane.since < point.sweep < lane.since + sweeps]
    if not looks and lane.draws is None and sweeps > 1:
        return f"up to {integer(sweeps)}"  # After a late change the first look comes many sweeps later.
    if not looks or looks[-1] == sweeps - 1:
        return integer(sweeps)
    return f"{integer(looks[-1])}–{integer(sweeps)}"


def _not_yet(view: LiveView, lanes: list[LaneView], brief: bool) -> list[str]:
    """Of those that are above the noise, together; all but the one that was named are the others."""
    if not lanes:
        return []
    counts = sorted({spent(lane, lane.judged)[0] for lane in lanes})
    who = OTHERS if 1 < len(lanes) == len(view.lanes) - 1 else listed([lane.label for lane in lanes])
    many = f"{integer(counts[0])}–" if len(counts) > 1 else ""
    off = energy_now(view, lanes[0]) if len(lanes) == 1 and lanes[0].guarantee != "invariant" else 0.0
    wrong = f"; its energy is {how_far(off)}" if abs(off) > far(view) else ""
    stays = "; more draws change nothing in their law" if len(lanes) == 1 and keeps_its_law(lanes[0]) else ""
    if stays and brief:  # Else a class, which hears no more than it has room for, takes it for slow.
        return [f"{who} had not, and more draws change nothing in their law{wrong}"]
    when = f"after {many}{count_of(counts[-1])} (when last compared)"
    return [f"{who} had not {when}{wrong}{stays}{'' if brief else _order(view, lanes)}"]


def _order(view: LiveView, lanes: list[LaneView]) -> str:
    """Of several that were measured at one sweep: which is nearest, where the noise can tell; else empty."""
    looked = _side_by_side(view, lanes)
    points = sorted(((point, lane.label) for lane, point in looked), key=lambda at: at[0].mmd2)
    if len({point.sweep for point, _ in points}) > 1 or not points[0][0].band.known:
        return ""
    groups: list[list[str]] = []
    last = None
    for point, label in points:
        if last is None or point.mmd2 - last > point.noise:
            groups.append([])
            last = point.mmd2
        groups[-1].append(label)
    if len(groups) < 2:
        return ""
    said = [f"{listed(names)}{' level' if len(names) > 1 else ''}" for names in groups]
    late = any(lane.judged is not point for lane, point in looked)
    after = f" after {count_of(spent(*looked[0])[0])}" if late else ""
    return f", nearest {', then '.join(said)} (MMD² {listed([significant(each.mmd2, 2) for each, _ in points])}{after})"


def _lacking(lane: LaneView, playing: bool) -> str:
    """Why a lane is not compared with the reference yet."""
    if not lane.moved:
        return f"{lane.label} {'is still computing its first sweep' if playing else 'has made no sweep yet'}"
    if lane.making:
        return f"{lane.label}: {first_draw(lane)}"
    return f"{lane.label} has not been compared with the reference yet"


def _unsaid(view: LiveView) -> str:
    """Why there is no verdict, of lanes that are not compared with a reference yet."""
    if view.truth_trouble:
        return f"No verdict: {view.truth_trouble}."
    if view.truth is None:
        heat = temperature(view.plan.beta)
        making = f"the reference samples at {heat} are still being made."
        known = _by_energy(view)
        return f"By energy alone: {known}. For the rest {making}" if known else f"No verdict yet: {making}"
    return waiting(view) or f"No verdict yet. {'; '.join(_lacking(lane, view.playing) for lane in view.lanes)}."


def _by_energy(view: LiveView) -> str:
    """How far the energies are off an exact one, while there is nothing yet to compare the samples with; empty where no
    exact one is known, or of a lane."""
    rows = [(lane, energies(lane)) for lane in view.lanes]
    if exact_energy(view) is None or not any(row.get("energy:error") for _, row in rows):
        return ""
    known = [(lane.label, abs(energy_now(view, lane))) for lane, row in rows if row.get("energy:error")]
    most = far(view)
    right, wrong = [name for name, off in known if off <= most], [name for name, off in known if off > most]
    said = [f"{listed(right)} {'are' if len(right) > 1 else 'is'} right within chance"] if right else []
    if wrong:
        errors = listed([significant(off, 2) for _, off in known if off > most])
        have = "have energies" if len(wrong) > 1 else "has an energy"
        said.append(f"{listed(wrong)} {have} {errors} standard errors off the exact one")
    return "; ".join([*said, *(_lacking(lane, view.playing) for lane, row in rows if not row.get("energy:error"))])


def _since(view: LiveView) -> str:
    since = max(lane.since for lane in view.lanes)
    return f" Counted since the change at sweep {integer(since)}; the axes count from the start." if since else ""


def _nearest(looked: list[tuple[LaneView, MetricPoint]], others: bool, lacking: list[str]) -> str:
    """Of lanes that are all beyond the noise, whether or not others are within it; `lacking` says of what lanes nothing
    is known yet."""
    none, *nearest = _compared(looked, others)
    return " ".join([none, *lacking, *nearest])


def _side_by_side(view: LiveView, lanes: list[LaneView]) -> list[tuple[LaneView, MetricPoint]]:
    """Lanes with the metrics that they are compared by: of a race by sweeps those after as many sweeps, the most that
    all of them have; their last ones where they have none in common, or the budget is one of seconds."""
    found = [{spent(lane, each)[0]: each for each in lane.points if each.sweep > lane.since} for lane in lanes]
    common = set[int]() if view.plan.unit == "seconds" else set.intersection(*map(set, found))
    if not common:
        return [(lane, lane.points[-1]) for lane in lanes]
    return [(lane, points[max(common)]) for lane, points in zip(lanes, found, strict=True)]


def _compared(looked: list[tuple[LaneView, MetricPoint]], others: bool) -> tuple[str, ...]:
    """Sentences: that none is within the noise, and which is nearest."""
    raced = sorted(looked, key=lambda pair: pair[1].mmd2)
    (best, first), *rest = raced
    sweeps, time = spent(best, first)
    said = f"MMD² {significant(first.mmd2)} after {count_of(sweeps)} and {seconds(time)}"
    if not rest and first.band.known:
        # The numbers in brackets: a class is spared them, not the lane.
        return (f"{best.label} has not come {'within it' if others else WITHIN} ({said}).",)
    if not first.band.known:
        return NO_NOISE, f"MMD²: {listed([f'{lane.label} {significant(point.mmd2)}' for lane, point in raced])}."
    # What is over, or has a limit of its own, is not to come within it.
    yet = " yet" if any(lane.guarantee == "invariant" and not lane.done for lane, _ in raced) else ""
    none = f"None of the others is within it{yet}." if others else f"None is within the noise{yet}."
    second, other = rest[0]
    if other.mmd2 - first.mmd2 <= first.band.high:
        level = [(lane, point) for lane, point in raced if point.mmd2 - first.mmd2 <= first.band.high]
        behind = [f"{lane.label} {_of(lane, point, sweeps)}" for lane, point in raced[len(level) :]]
        return none, f"{_level(level)}{f'; {listed(behind)}' if behind else ''}."
    if len(rest) > 1:
        behind = listed([f"{lane.label} {_of(lane, point, sweeps)} ({_took(lane, point)})" for lane, point in rest])
        return none, f"{best.label} is nearest: {said}; {behind}."
    ratio, late = significant(other.mmd2 / first.mmd2, 2), spent(second, other)[0]
    after = f" after {'as many sweeps' if late == sweeps else count_of(late)}"
    below = f"{ratio} times below" if other.mmd2 > NEARLY * first.mmd2 else "hardly below"
    return none, f"{best.label} is nearest: {said}, {below} {second.label}{after} ({_took(second, other)})."


def _took(lane: LaneView, point: MetricPoint) -> str:
    return seconds(spent(lane, point)[1])


def _of(lane: LaneView, point: MetricPoint, sweeps: int) -> str:
    """The MMD^2 of a lane, with its sweeps where they are not as many as the first one's."""
    late = spent(lane, point)[0]
    return significant(point.mmd2) + ("" if late == sweeps else f" after {count_of(late)}")


def _level(lanes: list[tuple[LaneView, MetricPoint]]) -> str:
    """Who cannot be told apart by the noise, each MMD^2 with its sweeps, said once where they are the same."""
    at = [(significant(point.mmd2), count_of(spent(lane, point)[0])) for lane, point in lanes]
    counts = {count for _, count in at}
    each = [value if len(counts) == 1 else f"{value} after {count}" for value, count in at]
    after = f" after {counts.pop()}" if len(counts) == 1 else ""
    return f"{listed([lane.label for lane, _ in lanes])} are level: MMD² {listed(each)}{after}"

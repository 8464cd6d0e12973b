"""What speaks of a lane beside MMD²: its mean energy against the exact one, and how often each joint state came."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import isfinite, nan

from pmpviz.capabilities.sampling.first_right import CHANCE, DOUBT, FAR, rare
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView, known_law
from pmpviz.capabilities.sampling.measures import MetricPoint
from pmpviz.capabilities.sampling.statistics import LEAST_COUNTED
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer, significant

ALIKE = 1e-4
"""Energies that differ by less of their size are printed alike, and are sums of many numbers of 32 bits."""


def energies(lane: LaneView) -> dict[str, float]:
    """What is known of the lane at its sweep, or at the end of its last draw before, under these settings.

    Empty where nothing is.
    """
    draws = lane.draws if lane.draws is not None and lane.draws.length > 1 else None
    series, back = (draws.series, 2 * draws.length) if draws else (lane.series, 0)
    bins = series.bins(max(lane.sweep - back, lane.since + 1), lane.sweep)
    return {} if lane.making or not len(bins) else {name: float(values[-1]) for name, values in bins.mean.items()}


def exact_energy(view: LiveView) -> float | None:
    """The model's mean energy where it is known exactly."""
    return view.energy if view.truth is None else view.truth.energy


def law_energy(view: LiveView) -> tuple[float, float] | None:
    """The exact mean energy, or else the reference's, with its standard error; None where neither is known."""
    return known_law(view.energy, view.truth)


def energy_off(view: LiveView, mean: float, error: float) -> float:
    """Standard errors from the exact mean energy, or else the reference's, to a mean; 0 where one is not known.

    Of the mean's own error, that of as many samples of the reference's law and what is printed alike the largest one
    counts: in the cold chains that are all in one state know no error of their own.
    """
    law, spread = law_energy(view) or (nan, nan)
    own = max(math.hypot(error, spread), ALIKE * abs(law)) if error else 0.0
    most = max(own, (chance_of_energy(view) or 0.0) / CHANCE)
    off = (mean - law) / most if most else nan
    return off if isfinite(off) else 0.0


def chance_of_energy(view: LiveView) -> float | None:
    """Half the width of the band in which the mean energies of as many samples of the reference's law lie, but for one
    in 370; None where there is no reference. By it a lane's energy is right, and it is drawn."""
    if view.truth is None or not isfinite(view.truth.energy_deviation):
        return None
    own = view.truth.energy_deviation / math.sqrt(view.plan.chains)
    return CHANCE * math.hypot(own, (law_energy(view) or (0, 0))[1])


def at_home(view: LiveView, lane: LaneView) -> bool:
    """Whether the lane is within the noise from its start, and its energy, once it has moved, as well."""
    first = next((point for point in lane.points if point.sweep > lane.since), None)
    return lane.begins_within and (first is None or _near(view, first))


def arrival(view: LiveView, lane: LaneView) -> MetricPoint | None:
    """The first metrics, once it has moved, at which both are no further off than by chance, MMD^2 and the energy;
    None where there are none yet: MMD^2 sees an energy badly that is a little off at every site."""
    moved = (point for point in lane.points if point.sweep > lane.since)
    return next((point for point in moved if point.within and _near(view, point)), None)


def far(view: LiveView) -> float:
    """Standard errors from which on a verdict speaks of an energy: those of few chains' own, where there is no
    reference to know them by, are themselves known badly."""
    return rare(FAR, view.plan.chains) if chance_of_energy(view) is None else FAR


def _near(view: LiveView, point: MetricPoint) -> bool:
    """Whether the energy lies in the band of chance; true of one that nobody knows, or whose law's nobody does."""
    law, chance = law_energy(view), chance_of_energy(view)
    return law is None or chance is None or not abs(point.energy[0] - law[0]) > chance


def by_energy(lane: LaneView, point: MetricPoint) -> bool:
    """Whether the energy decided of an arrival: by MMD^2 alone the lane would have been there before."""
    return lane.begins_within or (lane.passage is not None and lane.passage.sweep < point.sweep)


def shows_energy(view: LiveView) -> bool:
    """Whether a class sees the energy of a race: from the start on where a formula gives it, else once it decided."""
    return view.energy is not None or energy_decides(view)


def energy_decides(view: LiveView) -> bool:
    """Whether of some lane MMD^2 alone would say too much: it had the lane within the noise while the energy was not
    right yet. Once so it stays so, until the settings change: what is shown by it changes once."""
    return any(_waited(view, lane) for lane in view.lanes if lane.moved)


def _waited(view: LiveView, lane: LaneView) -> bool:
    if lane.begins_within:
        return not at_home(view, lane)
    came = arrival(view, lane)
    return lane.passage is not None and (came is None or by_energy(lane, came))


def energy_parts(view: LiveView, lane: LaneView) -> bool:
    """Whether MMD^2 has the lane within the noise and its energy is far off, and no run of it will mend that."""
    within = lane.begins_within or lane.passage is not None
    approximate = lane.guarantee != "invariant" and arrival(view, lane) is None and not at_home(view, lane)
    return within and approximate and abs(energy_now(view, lane)) > far(view)


def off_now(view: LiveView, lane: LaneView, whose: str = "its energy", came: bool = False) -> str:
    """How far the energy is off still, or now of one that `came` within the noise, as it goes on after `whose` it is;
    empty where by chance."""
    off, still = energy_now(view, lane), "now " if came else "still " if lane.guarantee == "invariant" else ""
    return f"{f', but {whose}' if whose else ''} is {still}{how_far(off)}" if abs(off) > far(view) else ""


def keeps_its_law(lane: LaneView) -> bool:
    """Whether it makes draws of another law than the model's, which more of them do not change."""
    return lane.kind == "draw" and lane.guarantee == "approximate"


def how_far(off: float) -> str:
    """Standard errors in words, above the right energy or below it."""
    return f"{significant(abs(off), 2)} standard errors too {'high' if off > 0 else 'low'}"


def energy_now(view: LiveView, lane: LaneView) -> float:
    """By how many standard errors the energy is too high now; below 0 it is too low."""
    row = energies(lane)
    return energy_off(view, row.get("energy:mean", nan), row.get("energy:error", nan))


def disagree(lanes: Sequence[LaneView], before: str = "") -> str:
    """That chains still differ from each other though all together they are where they are to be, with their R-hat,
    after what is said `before` of the same lanes; empty where they do not, or where too few sweeps say so."""
    apart = [lane for lane in lanes if lane.kind == "chain" and lane.summary.apart and not lane.summary.brief]
    if not apart:
        return ""
    whose = "its chains" if len(lanes) == 1 else f"the chains of {listed([lane.label for lane in apart])}"
    values = listed([significant(lane.summary.rhat, 3) for lane in apart])
    told = f"{whose} still disagree (R-hat of the energy {values}, 1 where alike)"
    return f", {'and' if before else 'though'} {told}"


def first_right(lane: LaneView) -> str:
    """`, first after 13–16 sweeps`, where that is known."""
    return f", first after {stretch_of(*lane.right)}" if lane.right else ""


def stretch_of(begin: int, end: int) -> str:
    """`13–16 sweeps`, or `1 sweep`."""
    return f"{integer(end) if begin == end else f'{integer(begin)}–{integer(end)}'} sweep{'' if end == 1 else 's'}"


def moved(lane: LaneView, chains: int) -> str:
    """By how much the mean energy of so many chains has moved in the second half of its sweeps; empty of few sweeps.
    Of a law that nobody knows it says how near to rest they are."""
    half = lane.since + (lane.sweep - lane.since) // 2
    ends = [lane.series.bins(sweep, sweep) for sweep in (half, lane.sweep)]
    if lane.kind != "chain" or half < lane.since + LEAST_COUNTED or not all(map(len, ends)):
        return ""
    (before, spread), (now, error) = ([end.mean[f"energy:{kind}"][-1] for kind in ("mean", "error")] for end in ends)
    chance = math.hypot(spread, error)
    if not chance:
        return ""
    since = f"in the last {integer(lane.sweep - half)} sweeps this mean has"
    if abs(now - before) <= rare(DOUBT, chains) * chance:
        return f"{since} moved by chance alone"
    return f"{since} {'fallen' if now < before else 'risen'} by {significant(abs(now - before), 2)}"


def alike(lanes: Sequence[LaneView], chains: int) -> bool:
    """Whether these lanes' mean energies, over so many chains each, are no further apart than chance puts them."""
    known = [(row.get("energy:mean", nan), row.get("energy:error", nan)) for row in map(energies, lanes)]
    (low, error), *_, (high, other) = sorted(known)
    return high - low <= rare(FAR, chains) * math.hypot(error, other)


def states_off(lane: LaneView) -> str:
    """That independent draws give other shares of the joint states than the law has, and not by chance; else empty."""
    return f"Not right: {states_came(lane)}" if lane.draws and lane.states and lane.states.beyond else ""


def states_doubted(lane: LaneView) -> bool:
    """Whether independent draws give shares of the joint states that are further off than chance mostly puts them."""
    return bool(lane.draws and lane.states and lane.states.doubted)


def unlike(lane: LaneView) -> str:
    """Of draws whose messages begin at 0, that a state and its reverse, which the law has as often, are not: what the
    first messages do, and not the noise, which another choice of them shows. Empty elsewhere."""
    states = lane.states
    if states is None or lane.knobs.get("messages") != "zero" or not states.reversible:
        return ""
    place = int(states.law.argmax())
    law, shares = states.law[place], states.shares[[place, -1 - place]]
    if abs(shares[0] - shares[1]) <= FAR * math.sqrt(2 * law / states.count):
        return ""
    one, other = sorted((states.names[place], states.names[-1 - place]))
    return f" {one} and {other} are as likely, but first messages of 0 favour one: choose “balanced”."


def states_came(lane: LaneView) -> str:
    """How often each joint state of a model of few came, beside what as many exact draws do, as a sentence; else
    empty."""
    states = lane.states
    if states is None or not states.count:
        return ""
    return (
        f"how often each state came is off by {significant(states.distance, 2)} in {integer(states.count)} "
        f"{'samples' if lane.draws is None else 'draws'}; as many exact ones are off by {significant(states.floor, 2)}."
    )

"""What the browser draws the landscape from: B by its eigenvectors, the law, rolls of the ball, bars, and words."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from typing import Any

import numpy as np

from pmpviz.capabilities.landscape.hills import stretches
from pmpviz.capabilities.landscape.lane import MOST_LANDINGS, STUCK, LandscapeLaneView, Roll
from pmpviz.capabilities.landscape.live import LandscapeView
from pmpviz.capabilities.landscape.memory import NAMES, Memory
from pmpviz.capabilities.landscape.plan import COLOURS, GIBBS, KINDS, LandscapePlan
from pmpviz.capabilities.landscape.presets import LANDSCAPE
from pmpviz.capabilities.landscape.scene import Scene
from pmpviz.models.gaussian import ONE_HILL
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import at_most, configuration, integer, rounded_up, significant
from pmpviz.player.update import Cursors, Desk, Envelope, trace
from pmpviz.samplers import sampler_class

SPEEDS = (0.5, 1.0, 2.0, 5.0, 20.0, 0.0)
DIGITS, FLOOR = 5, 1e-4
LONG_RUN = 888_888
# A state that changes less often than this share of what independent draws do is held up; told after so many draws.
SELDOM = 0.9
SETTLED = 5
# An error this many times that of independent draws is only a little further off.
LITTLE = 1.25
NOTHING_DRAWN = "No state is drawn yet: press Play."
NO_BARS = "No state is drawn yet: press Play, and watch the bars."
PREPARING = "Preparing the landscape …"
FIRST_DRAW = "The first draws under this setting are being made."


def update(view: LandscapeView, sent: Cursors, desk: Desk, waits: bool = False, anew: bool = False) -> bytes:
    """The blob for the browser; `waits` where the page asks for another landscape than this one, `anew` where what was
    counted is of other settings than the page's."""
    envelope = Envelope(view, sent, [sampler_class(lane.algorithm).spec for lane in view.lanes])
    lanes = [
        envelope.lane(k, "", f"{integer(lane.count)} {unit(view.plan)}", count=lane.count, walk=_walk(lane, view.scene))
        for k, lane in enumerate(view.lanes)
    ]
    own: dict[str, Any] = {"scene": None, "unit": unit(view.plan), "waits": waits, "anew": anew, "said": [PREPARING]}
    if view.scene is not None and view.lanes:
        words = memory_words if isinstance(view.scene, Memory) else scene_words
        own |= {"scene": words(view.plan, view.scene), "said": sentences(view, anew), "longest": longest(view)}
        own["draws_first"] = _asks_how(view.plan) and view.lanes[0].count > 0
    if waits:
        own["said"] = [PREPARING]
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view), own["said"][0], **own)


def unit(plan: LandscapePlan) -> str:
    """What a quantum of the plan's sampler is called."""
    return "sweeps" if plan.sampler == GIBBS else "trajectories"


def scene_words(plan: LandscapePlan, scene: Scene) -> dict[str, Any]:
    """The scene for the browser, which evaluates the mixture itself while the shift is dragged."""
    knob = LandscapePlan.params()["extra"]
    return {
        "vectors": _listed(scene.vectors),
        "values": _listed(scene.values),
        "least": _listed(scene.least),
        "extra": scene.extra,
        "bias": _listed(scene.bias),
        "colours": COLOURS,
        "stretches": stretches(scene, knob.low, knob.high),
        "how": _asks_how(plan),
        # Of the failure mode block Gibbs is asked something else.
        "counted": not _is_failure(plan),
        "product": not scene.matrix.any(),
        "law": _listed(scene.law),
        "names": [configuration(state) for state in scene.states],
        "states": scene.states.tolist(),
        "plain": plan.coordinates == "A = I",
        "gibbs": plan.sampler == GIBBS,
        "high": knob.high,
        "low": knob.low,
        "most": 2 * plan.steps - 1,
    }


def _is_failure(plan: LandscapePlan) -> bool:
    return plan.kind == KINDS[2] and plan.sampler == GIBBS


def memory_words(plan: LandscapePlan, scene: Memory) -> dict[str, Any]:
    """Two pictures for the browser, which evaluates the landscape itself while the temperature is dragged."""
    return {
        "memory": [scene.packed(picture > 0) for picture in scene.pictures],
        "side": plan.side,
        "groups": scene.groups.tolist(),
        "temperature": plan.temperature,
        "cue": plan.cue,
        "colours": COLOURS,
        "law": _listed(scene.law),
        "names": list(NAMES),
        "plain": plan.coordinates == "A = I",
        "gibbs": plan.sampler == GIBBS,
        "most": 2 * plan.steps - 1,
    }


def _walk(lane: LandscapeLaneView, scene: Scene | Memory | None) -> dict[str, Any]:
    return {
        "rolls": [_roll(roll, scene) for roll in lane.rolls],
        "landings": [[round(x, 3), round(y, 3), code] for x, y, code in lane.landings],
        "counts": lane.counts.tolist(),
        "far": at_most(_far(lane, scene)) if scene is not None and lane.count else "",
        "chains": lane.chains,
        "acceptance": lane.acceptance,
        "error": lane.error,
    }


def _roll(roll: Roll, scene: Scene | Memory | None) -> dict[str, Any]:
    drawn = {"bits": scene.packed(roll.x), "words": roll.words} if isinstance(scene, Memory) else {}
    return drawn | {
        "number": roll.number,
        "before": roll.before,
        "after": roll.after,
        "points": _listed(roll.points),
        "momenta": _listed(roll.momenta),
        "energy": _listed(roll.energy),
        "accepted": roll.accepted,
        "line": round(roll.line, DIGITS),
    }


def _listed(values: Any) -> Any:
    return np.round(np.asarray(values, np.float64), DIGITS).tolist()


def _traces(envelope: Envelope, view: LandscapeView) -> list[dict]:
    name = unit(view.plan)
    lines = envelope.lines(lambda lane: {"x": lane.trace[:, 0], "y": lane.trace[:, 1]}, FLOOR)
    found = [trace("error", "Largest error of a frequency", name, lines, True)]
    if isinstance(view.scene, Memory):
        lines = _overlaps(envelope)
        found.insert(
            0, trace("overlaps", "Overlaps of the shown spins", name, lines, unit="blue A, violet B", help=OVERLAPS)
        )
    if view.plan.sampler != GIBBS:
        lines = envelope.lines(lambda lane: {"x": lane.trace[:, 0], "y": lane.trace[:, 2]})
        found.append(trace("acceptance", "Mean acceptance", name, lines))
    return found


OVERLAPS = (
    "How far the spins that are drawn agree with a picture, from −1, with its negative, to 1. Which picture is nearest "
    "is told of the ball: where it stops between two, spins may agree more with another one."
)


def _overlaps(envelope: Envelope) -> list[dict]:
    def line(picture: str, colour: str) -> list[dict]:
        def columns(lane: LandscapeLaneView) -> dict[str, Any]:
            bins = lane.overlaps.bins()
            spread = {"least": bins.least[picture], "most": bins.most[picture]} if bins.width > 1 else {}
            return {"x": bins.mean["quantum"], "y": bins.mean[picture], **spread} if len(bins) else {}

        return [found | {"name": f"with {picture}", "colour": colour} for found in envelope.lines(columns)]

    return line("A", COLOURS[0]) + line("B", COLOURS[1])


# Words.


def sentences(view: LandscapeView, anew: bool = False) -> list[str]:
    """What was found, and what is being computed; not how well that went where it is of other settings: `anew`."""
    assert view.scene is not None
    lane, plan = view.lanes[0], view.plan
    stretched = " in stretched coordinates" if plan.coordinates == "A = I" and plan.sampler != GIBBS else ""
    doing = f"{lane.label}{stretched} on {plan.kind}, {integer(lane.chains)} chains, the ball the first of them"
    if isinstance(view.scene, Memory):
        doing += f" ({integer(view.scene.n)} spins, a load of {significant(2 / view.scene.n)})"
        doing += (
            f"; log Z = {significant(view.scene.log_z, 5)}, exactly; largest eigenvalue of the shifted couplings: λ₁ = "
        )
        doing += f"{significant(view.scene.largest)}: {promised(view.scene.largest)}"
    doing += "" if anew else _trajectories(view)
    return [found(view), f"{doing}. The bars count all chains since the last change."]


def longest(view: LandscapeView) -> list[str]:
    """About the longest that `sentences` come to in a run, for which the browser keeps room."""
    lane, n = view.lanes[0], len(view.lanes[0].counts)
    landings = tuple((0.0, 0.0, k % n) for k in range(MOST_LANDINGS))
    many = np.full(n, LONG_RUN)
    later = {"count": LONG_RUN, "counts": many, "landings": landings, "trials": LONG_RUN, "left": LONG_RUN // 9}
    far = dataclasses.replace(lane, **later, acceptance=0.88, error=0.0888)
    return sentences(dataclasses.replace(view, lanes=(far,)))


def _none(view: LandscapeView) -> str:
    """What is said before the first draw: of a run that plays it is on its way; of pictures spins are watched, too."""
    if view.playing:
        return FIRST_DRAW
    return NOTHING_DRAWN if isinstance(view.scene, Memory) else NO_BARS


def _trajectories(view: LandscapeView) -> str:
    """How well trajectories go; nothing of block Gibbs."""
    lane = view.lanes[0]
    if view.plan.sampler == GIBBS or not lane.count:
        return ""
    often = "" if isinstance(view.scene, Memory) or _seldom(view) else f"; {_changes(view)}"
    return (
        f"; {lane.acceptance:.0%} of trajectories accepted, energy error {significant(lane.error, 2)} on average{often}"
    )


def _changed(view: LandscapeView) -> tuple[float, float]:
    """How often the state is another one than before, and how often it would be if draws were independent."""
    assert isinstance(view.scene, Scene)
    return view.lanes[0].changed / int(view.lanes[0].counts.sum()), 1 - float((view.scene.law**2).sum())


def _seldom(view: LandscapeView) -> bool:
    """Whether the state changes so seldom that it is told first, and not by the first moves of chains alone."""
    changed, independent = _changed(view)
    return view.lanes[0].count >= SETTLED and changed <= SELDOM * independent


def _changes(view: LandscapeView) -> str:
    changed, independent = _changed(view)
    return f"the state changes {changed:.0%} of the time, {independent:.0%} if draws were independent"


def found(view: LandscapeView) -> str:
    """The frequencies against the exact law; of the failure mode how often the state 10 was left."""
    assert view.scene is not None
    lane, scene = view.lanes[0], view.scene
    if isinstance(scene, Memory):
        return remembered(view)
    if _is_failure(view.plan):
        return _stuck(view, lane, scene)
    if not lane.count:
        return _none(view)
    draws = int(lane.counts.sum())
    noise = 2 * float(np.sqrt((scene.law * (1 - scene.law)).max() / draws))
    steps = unit(view.plan) if lane.count > 1 else unit(view.plan).replace("ies", "y").removesuffix("s")
    after = f"{integer(lane.count)} {steps} of {integer(lane.chains)} chains"
    off = _far(lane, scene)
    # In brackets, which are left out before a class.
    chance = ", no more than chance" if rounded_up(off) <= rounded_up(noise) else ""
    within = f"all frequencies are within {at_most(off)} of exact{chance} ({_against_chance(off, noise, draws)})"
    if _seldom(view):
        return f"In {after} {_changes(view)}; {within}."
    how = "Where the ball stops a state is drawn by lot, near ones likelier: in" if _asks_how(view.plan) else "In"
    return f"{how} {after} {within}."


def _asks_how(plan: LandscapePlan) -> bool:
    """Whether the question is how states are drawn, at any shift: then that is told first, and the wells after it."""
    first = LANDSCAPE[0].plan
    return plan.replace(extra=first.extra) == first


def _against_chance(off: float, noise: float, draws: int) -> str:
    """How an error stands to that of independent draws: what is compared is what is printed, both rounded up."""
    if rounded_up(off) <= rounded_up(noise):
        how = "as"
    else:
        how = "a little further off:" if off <= LITTLE * noise else "further off:"
    return f"{how} {integer(draws)} independent draws mostly are within {at_most(noise)}"


def _far(lane: LandscapeLaneView, scene: Scene | Memory) -> float:
    """The largest error of a frequency, over all chains."""
    return float(np.abs(lane.counts / lane.counts.sum() - scene.law).max())


def _stuck(view: LandscapeView, lane: LandscapeLaneView, scene: Scene) -> str:
    """How long a chain stays in the state 10, how often it ought to be there, and how often it left."""
    expected, stuck = scene.leaving(STUCK), configuration(scene.states[STUCK])
    ought = significant(1 / expected, 3)
    if not lane.trials:
        chance = f"a sweep leaves it with probability {significant(expected)}"
        known = f"A stay in {stuck} ought to last {ought} sweeps on average: {chance}."
        return known if lane.count else f"{known} {_none(view)}"
    stay = f"None of {integer(lane.chains)} chains has left {stuck} yet: a stay of {ought} sweeps is expected"
    if lane.left:
        lasts = significant(lane.trials / lane.left, 3)
        stay = f"A stay in {stuck} lasts {lasts} sweeps by the rate of leaving of all chains ({ought} expected)"
    spread = 2 * np.sqrt(expected * (1 - expected) / lane.trials)
    share, places = lane.counts[STUCK] / lane.counts.sum(), max(3, 1 - math.floor(math.log10(spread)))
    left = f"It was left in {integer(lane.left)} of {integer(lane.trials)} sweeps begun there"
    return (
        f"{stay}: {share:.1%} of their draws so far are {stuck}, where {scene.law[STUCK]:.1%} ought to be. {left}, "
        f"{lane.left / lane.trials:.{places}f}; expected {expected:.{places}f} ± {significant(spread, 2)} "
        "(two standard errors)."
    )


def promised(largest: float) -> str:
    """What is known of the wells by the largest eigenvalue alone."""
    return "one well, guaranteed" if largest < ONE_HILL else "one well is guaranteed up to 4 only"


def remembered(view: LandscapeView) -> str:
    """Near which picture the ball came to rest, after the wells that the browser counts."""
    lane = view.lanes[0]
    if not lane.landings:
        return _none(view)
    often = Counter(code for *_, code in lane.landings).most_common()
    ball = f"The ball (one of {integer(lane.chains)} chains)"
    assert isinstance(view.scene, Memory)
    last = "last " if lane.count > len(lane.landings) else ""
    if len(often) == 1:
        name, bars = NAMES[often[0][0]], _bars(lane, view.scene, stays=True)
        if len(lane.landings) == 1:
            return f"{ball} stopped once, nearest to {name}. {bars}"
        return f"{ball} stays: all its {last}{integer(len(lane.landings))} stops were nearest to {name}. {bars}"
    parts = listed([f"{integer(count)} nearest to {NAMES[code]}" for code, count in often])
    bars = _bars(lane, view.scene, stays=False)
    return f"Of the {last}{integer(len(lane.landings))} stops of {ball[0].lower()}{ball[1:]}, {parts}. {bars}"


def _bars(lane: LandscapeLaneView, scene: Memory, stays: bool) -> str:
    """How far off the bars of all chains are; of chains that stay, which are one draw each at best, beside chance."""
    law, off = scene.law, _far(lane, scene)
    if not stays:
        return f"The bars are off by {at_most(off)} at most."
    noise = 2 * float(np.sqrt((law * (1 - law)).max() / lane.chains))
    what = "that stay are one draw each" if rounded_up(off) <= rounded_up(noise) else "stay where they fell"
    return f"Chains {what}: the bars are off by {at_most(off)} (chance alone: mostly within {at_most(noise)})."


__all__ = ["sentences", "unit", "update"]

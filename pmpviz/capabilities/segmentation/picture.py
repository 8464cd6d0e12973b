"""One update of the player from a live learning of a segmentation's weights, and its words."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from pmpviz.capabilities.segmentation.evidence import Apart
from pmpviz.capabilities.segmentation.lane import ColourAlone, Point, SceneLaneView, colour_alone, given
from pmpviz.capabilities.segmentation.live import SceneView
from pmpviz.capabilities.segmentation.plan import class_of
from pmpviz.live.view import over
from pmpviz.metrics.boundaries import WIDTH
from pmpviz.models.scene_field import WEIGHTS
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.update import Cursors, Desk, Envelope, trace

SPEEDS = (1.0, 2.0, 5.0, 0.0)
SCENES = "scenes"
# Nats a scene, of which fewer are little.
LITTLE = 1.0
# A share of pixels that is more by so much is seen to be.
FEWER = 0.01
# Lanes whose shares are apart by no more are as good.
EQUALLY = 0.005
# Of lanes that are as good one is faster by so many times, at least.
FASTER = 1.5
# From so many iterations on one says how long one takes.
PACED = 3
# Worse than at best by so much, as a share of what likelihood was gained, is told; curves apart by less than this share
# of their range are not seen apart, and weights that differ by more than this share of the larger one are seen to.
WORSE, SAME, APART = 0.05, 0.02, 0.2
HELP = (
    "Weights have no unit. Trust: how far a pixel's colour is followed. Bias: how far all are drawn to animal, or to "
    "ground. Edge: how much neighbours agree. Contrast: how much more they do where they are alike in colour."
)
# Of each lane by its guarantee: what its marginals or its samples know of the likelihood, and what that means.
BADGES = {
    "bound": ("learns by marginals", "Its marginals come with a bound: training scenes are at least so likely."),
    "approximate": ("learns by marginals", "Its marginals are approximate, and prove nothing of the likelihood."),
}
SAMPLES = "learns by samples", "Its samples are right in the long run, and prove nothing of the likelihood."
COLOUR = "each pixel by its colour alone"
UNDECIDED = "every pixel undecided, p = 0.5"
BOUND = "At least so likely, as tree-reweighted belief propagation (TRBP) proves with the weights of each lane alike."
WRONG = "Held out: pixels wrong near outlines"
WRONG_MAP = "Held out: wrong by the single best"
NEAR = f"Near: within {WIDTH:g} pixels of the true outline, {{pixels}} pixels in {{scenes}}."
SHARE = f"Of the pixels within {WIDTH:g} of the true outline how many are called wrong"
LIKELIER = f"{SHARE}, each by its likelier side: animal where its marginal p(animal) is above one half."
BEST = f"{SHARE} by the single likeliest configuration of all pixels (maximum a posteriori, MAP)."
TITLES = {
    "trust": "Trust in colour",
    "bias": "Bias: to animal above 0, to ground below",
    "edge": "Edge: neighbours agree",
    "contrast": "Contrast: more if alike",
}


def update(view: SceneView, sent: Cursors, desk: Desk) -> bytes:
    """The blob for the player; `sent` is brought up to date."""
    envelope = Envelope(view, sent, [class_of(lane.algorithm).spec for lane in view.lanes])
    then = looked_at(view, desk.at)
    lanes = [_lane(envelope, index, lane) for index, lane in enumerate(then.lanes)]
    alt = "p(animal) of every pixel of every scene: training scenes above, those held out below"
    back = "" if desk.at is None else f"Looking back at iteration {integer(desk.at)}: "
    said = back + verdict(then)
    beneath = " ".join([*_to_come(view), *numbers(then)])
    own = {
        "said": [said, *filter(None, [beneath])],
        "alt": alt,
        "unit": "iterations",
        "scenes": _scenes(envelope, view),
    }
    own["of"] = desk.at
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view), said, **own)


def _to_come(view: SceneView) -> list[str]:
    """How far a learning that has begun goes on."""
    done = max((lane.count for lane in view.lanes), default=0)
    goes_on = view.trouble is None and not over(view) and 0 < done < view.end < math.inf
    return [f"It goes on to iteration {integer(int(view.end))}."] if goes_on else []


def looked_at(view: SceneView, at: int | None) -> SceneView:
    """The view whose words are of iteration `at`, or of the newest one where nobody looks back."""
    if at is None:
        return view
    return replace(view, lanes=tuple(_back(lane, at) for lane in view.lanes))


def _back(lane: SceneLaneView, at: int) -> SceneLaneView:
    points = tuple(point for point in lane.points if point.iteration <= at)
    if not points:
        return lane
    last = points[-1]
    return replace(lane, points=points, count=last.iteration, theta=last.theta, seconds=last.seconds)


def _scenes(envelope: Envelope, view: SceneView) -> dict | None:
    """What is seen of all scenes and what was drawn, as the lanes' pictures lie; None where the browser has them."""
    if envelope.sent.start(SCENES) == view.begun:
        return None
    envelope.sent.sent(SCENES, view.begun)
    blobs = given(view.plan)
    rows, columns = blobs["drawn"].shape
    return {"rows": rows, "cols": columns} | {name: envelope.payload.add(each, "u1") for name, each in blobs.items()}


def _lane(envelope: Envelope, index: int, lane: SceneLaneView) -> dict:
    rows, columns = lane.p1.shape
    values = envelope.payload.add(lane.p1.reshape(-1))
    badge, means = BADGES.get(lane.guarantee, SAMPLES)
    newest = envelope.view.lanes[index].count  # That the layer is of, wherever one looks back to.
    return envelope.lane(
        index,
        weighed(lane.theta) if lane.count else f"before learning · {_at_start(envelope.view)}",
        "done" if lane.done else "",
        badge=badge,
        badgeHelp=means,
        subHelp=HELP,
        step="iteration",
        sweep=newest,
        n=lane.p1.size,
        geometry={"kind": "grid", "rows": rows, "cols": columns},
        frames=envelope.frames(index, until=newest),
        layer={"values": values, "kind": "sequential", "low": 0.0, "high": 1.0, "name": "p(animal)"},
    )


def weighed(theta: Sequence[float]) -> str:
    """The weights by what each does."""
    # Short, for a class has two lines for them.
    trust, bias, edge = (f"{value:.2f}".replace("-", "−") for value in (theta[0], abs(theta[1]), theta[2]))
    to, contrast = "animal" if theta[1] > 0 else "ground", f"{theta[3]:+.2f}".replace("-", "−")
    return f"weights: colour {trust} · neighbours {edge} · if alike {contrast} · bias to {to} {bias}"


def _traces(envelope: Envelope, view: SceneView) -> list[dict]:
    if not view.lanes:
        return []

    def card(id: str, title: str, of: Callable[[Point], Any], log: bool = False, **more: Any) -> dict:
        def columns(lane: SceneLaneView) -> dict[str, Any]:
            known = [(point.iteration, of(point)) for point in lane.points if of(point) is not None]
            x, y = np.array(known, np.float64).reshape(-1, 2).T
            return {"x": x, "y": y}

        return trace(id, title, "iterations", envelope.lines(columns, 1e-9 if log else None), log, **more)

    # What the verdict rests on comes first, of every lane; then what is raised.
    alone = 100 * _alone(view).wrong
    colour = {"y": alone, "label": f"colour alone {alone:.1f}"}
    found = [
        card("likelier", WRONG, lambda p: 100 * p.wrong_likelier, unit="%", exact=colour, help=LIKELIER),
        card("held", "Held out: log-likelihood, at least", lambda p: p.held_bound, unit="nats a pixel", help=BOUND),
        card("map", WRONG_MAP, lambda p: 100 * p.wrong_map, unit="%", exact=colour, help=BEST),
    ]
    bounded = [lane.guarantee == "bound" for lane in view.lanes]
    if any(bounded):
        unit = "nats a pixel" if all(bounded) else "nats a pixel, of those that bound it"
        found.append(card("own", "Training: log-likelihood, at least", lambda p: p.own_bound, unit=unit))
    for k, name in enumerate(WEIGHTS):
        found.append(card(name, TITLES[name], partial(_weight, k=k)))
    return [*found, card("gradient", "Gradient, root mean square", lambda p: p.gradient, True)]


def _weight(point: Point, k: int) -> float:
    return float(point.theta[k])


def verdict(view: SceneView) -> str:
    """Whether fewer pixels are wrong than by colour alone at what all lanes have reached, which lane is faster, and
    where clearly fewer were wrong before."""
    begun = [lane for lane in view.lanes if lane.points]
    if not begun:
        return _unlearned(view)
    count, alone = together(begun), _alone(view).wrong
    near = f"wrong near {'outlines' if view.plan.scenes > 1 else 'the held-out outline'}"
    if not count:
        return f"Before learning: {_at_start(view)}. By colour alone {alone:.1%} {near}."
    now = [lane.points[count] for lane in begun]
    when = f"after {integer(count)} iteration{'s' if count > 1 else ''}"
    told = f"{_head(view, begun, now)}: {when} {_shares(begun, now)} {near}, colour alone {alone:.1%}."
    return " ".join([f"{told}{_faster(begun, now)}", *_fewest(begun, count)])


def _at_start(view: SceneView) -> str:
    """What the pictures show before anything is learned."""
    return COLOUR if view.plan.trust else UNDECIDED


def _head(view: SceneView, lanes: Sequence[SceneLaneView], now: Sequence[Point]) -> str:
    """In how many scenes fewer are wrong than by colour alone; what that says of others stands beneath."""
    scenes, better = view.plan.scenes, [each.better for each in _than_alone(view, now)]
    if not any(better):
        return "Not yet"
    if min(better) < scenes:
        if len(set(better)) == 1:
            return f"Yes in {better[0]} of {scenes} held out"
        told = [f"in {count} of {scenes} by {lane.label}" for count, lane in zip(better, lanes, strict=True)]
        return f"Yes {listed(told)}, held out"
    return {1: "Yes for the one held out", 2: "Yes for both held out"}.get(scenes, f"Yes for all {scenes} held out")


def _than_alone(view: SceneView, now: Sequence[Point]) -> list[Apart]:
    return [Apart.of(_alone(view).each, point.wrong_each) for point in now]


def _faster(lanes: Sequence[SceneLaneView], now: Sequence[Point]) -> str:
    """Of lanes that are as good as each other, which takes clearly less for an iteration."""
    count = now[0].iteration
    if count < PACED or not _as_good(now):
        return ""
    order = sorted((_pace(lane, count), lane.label) for lane in lanes)
    (least, fast), (most, slow) = order[0], order[-1]
    if not 0 < FASTER * least <= most:
        return ""
    return f" Within ½ point: {fast} takes {seconds(least, 2)} an iteration, {slow} {seconds(most, 2)}."


def _took(lanes: Sequence[SceneLaneView], count: int) -> str:
    """Seconds of an iteration, by which lanes are compared; before these are known those of all, and of compiling."""
    paced = count >= PACED
    took = [_pace(lane, count) if paced else lane.points[count].seconds for lane in lanes]
    told = listed([f"{seconds(each)}{of}" for each, of in zip(took, _names(lanes), strict=True)])
    return f"An iteration takes {told}." if paced else f"Computing took {told}, compiling included."


def _pace(lane: SceneLaneView, count: int) -> float:
    """Seconds of an iteration, as a rule: of the first one programs are compiled."""
    return float(np.median(np.diff([point.seconds for point in lane.points[1 : count + 1]])))


def _as_good(now: Sequence[Point]) -> bool:
    """Whether errors of several lanes are not seen apart."""
    return len(now) > 1 and np.ptp([point.wrong_likelier for point in now]) <= EQUALLY


def _alone(view: SceneView) -> ColourAlone:
    plan = view.plan
    return colour_alone(plan.height, plan.width, plan.noise, plan.held_out)


def _scenes_held(view: SceneView) -> str:
    count = view.plan.scenes
    return f"the {integer(count)} held-out scenes" if count > 1 else "the held-out scene"


def _unlearned(view: SceneView) -> str:
    if not view.lanes:
        return "Loading: scenes are drawn, and what has not run before is compiled, some seconds …"
    do = "the first iteration is compiled, some seconds" if view.playing else "press Play"
    return f"The pictures show {_at_start(view)}. Nothing is learned yet: {do}."


def _shares(lanes: Sequence[SceneLaneView], now: Sequence[Point]) -> str:
    """How many are wrong, and of several lanes by whose weights."""
    told = [(f"{point.wrong_likelier:.1%}", lane.label) for lane, point in zip(lanes, now, strict=True)]
    if _as_good(now):  # Before a class without what is in brackets.
        return f"{listed([share for share, _ in told])} ({', '.join(name for _, name in told)})"
    return listed([share if len(told) == 1 else f"{share} by {name}" for share, name in told])


def _fewest(lanes: Sequence[SceneLaneView], count: int) -> list[str]:
    """Where clearly fewer were wrong before, when that was, and why it is not so any more."""
    errors = [[point.wrong_likelier for point in lane.points[: count + 1]] for lane in lanes]
    fewer = [
        f"{f'after {integer(best)}' if (best := int(np.argmin(each))) else 'before learning'}{of}"
        for each, of in zip(errors, _names(lanes), strict=True)
        if each[-1] - min(each) > FEWER
    ]
    return [f"Fewest were wrong {listed(fewer)}: {_since_then(lanes, count)}."] if fewer else []


def _since_then(lanes: Sequence[SceneLaneView], count: int) -> str:
    """What the likelihood of the training scenes, which is learned by, has done since fewest were wrong."""
    courses = []
    for lane in lanes:
        best, now = min(lane.points[: count + 1], key=lambda point: point.wrong_likelier), lane.points[count]
        if best.own_bound is None or now.own_bound is None:
            return RAISED
        courses.append(now.own_bound < best.own_bound)
    return FELL if any(courses) else ROSE


def _names(lanes: Sequence[SceneLaneView]) -> list[str]:
    """In brackets, of several lanes."""
    return [f" ({lane.label})" if len(lanes) > 1 else "" for lane in lanes]


def together(lanes: Sequence[SceneLaneView]) -> int:
    """The last iteration that all lanes have reached."""
    return min(lane.points[-1].iteration for lane in lanes)


def numbers(view: SceneView) -> list[str]:
    """By how much fewer are wrong, what agreement means and takes, errors of the MAP configuration, where the bound
    was higher, and what is near."""
    begun = [lane for lane in view.lanes if lane.points]
    near = NEAR.format(scenes=_scenes_held(view), pixels=integer(_alone(view).pixels))
    if not begun or not (count := together(begun)):
        return [near] if begun else []
    best = listed([f"{lane.points[count].wrong_map:.1%}" for lane in begun])
    now = [lane.points[count] for lane in begun]
    alike = f"{AGREE} {_apart(begun)} nats a pixel{_though(begun, count)}."
    agree = alike if _alike(view, begun) else _ahead(view, begun)
    # What lanes that are as good take is told above.
    took = "" if _faster(begun, now) else _took(begun, count)
    have = "has" if len(begun) == 1 else "of each has"
    words = [f"The single likeliest configuration (MAP) {have} {best} wrong there.", near]
    before = [*_by_scenes(view, now), *_bounded_before(begun)]
    return [" ".join(part for part in (*before, agree, took, *words) if part)]


def _by_scenes(view: SceneView, now: Sequence[Point]) -> list[str]:
    """By how much fewer are wrong than by colour alone, with its error over the scenes."""
    if view.plan.scenes < 2:
        return ["One scene tells nothing of chance."]
    apart = _than_alone(view, now)
    by = _each([each.told for each in apart])
    few = "" if all(each.sure for each in apart) else ": so few leave open how it is with others"
    return [f"Fewer than by colour alone by {by} percentage points (95 % range, as scenes differ{few})."]


def _each(told: Sequence[str]) -> str:
    """Of several lanes what is the same is told once."""
    return told[0] if len(set(told)) == 1 else listed(list(told))


# A bound that is higher is no likelihood that is: how far below it lies is another matter with other weights.
BOUNDED = "The held-out log-likelihood’s lower bound"
AGREE = f"{BOUNDED} is the same with the weights of each, to"
# Before a class what is in brackets is left out.
RAISED = "what learning raises is the likelihood (of the training scenes)"
ROSE = "the likelihood (of the training scenes), which learning raises, has risen since"
FELL = "the likelihood (of the training scenes) has fallen since, too: the learning rate may be too high"


def _though(lanes: Sequence[SceneLaneView], count: int) -> str:
    """That weights differ, where they do by what is seen at once."""
    theta = np.array([lane.points[count].theta for lane in lanes])
    return ", though the weights differ" if (np.ptp(theta, 0) > APART * abs(theta).max(0)).any() else ""


def _bounded_before(lanes: Sequence[SceneLaneView]) -> list[str]:
    """Which lane's held-out bound was higher at an earlier iteration, and when."""
    bounds = []
    for lane in lanes:
        now, most = lane.points[-1], max(lane.points, key=lambda point: point.held_bound)
        if most.held_bound - now.held_bound > WORSE * (most.held_bound - lane.points[0].held_bound):
            bounds.append(f"{lane.label} at iteration {integer(most.iteration)}")
    return [f"The held-out bound was higher before: {', '.join(bounds)}."] if bounds else []


def _alike(view: SceneView, lanes: Sequence[SceneLaneView]) -> bool:
    """Whether curves lie on each other, where one would look for a second one, and bounds of scenes are hardly higher
    by the weights of one."""
    rows = _bounds(lanes)
    seen_apart = np.ptp(rows, 0).max() >= SAME * np.ptp(rows)
    return len(lanes) > 1 and not seen_apart and _a_scene(view, rows) < LITTLE


def _a_scene(view: SceneView, rows: np.ndarray) -> float:
    """By how many nats a held-out scene's bound is higher by the weights of one lane than of another by now."""
    return float(np.ptp(rows[:, -1])) * view.plan.height * view.plan.width


def _ahead(view: SceneView, lanes: Sequence[SceneLaneView]) -> str:
    """Of several lanes by whose weights the bound of held-out scenes is highest, and by how much."""
    if len(lanes) < 2:
        return ""
    rows = _bounds(lanes)
    best, far = lanes[int(np.argmax(rows[:, -1]))].label, significant(_a_scene(view, rows), 2)
    return f"{BOUNDED} is highest with the weights of {best}, by {far} nats a scene."


def _apart(lanes: Sequence[SceneLaneView]) -> str:
    return significant(float(np.ptp(_bounds(lanes), 0).max()), 1)


def _bounds(lanes: Sequence[SceneLaneView]) -> np.ndarray:
    """Held-out bounds of all lanes at the iterations that all have reached."""
    bounds = [[point.held_bound for point in lane.points] for lane in lanes]
    return np.array([each[: min(map(len, bounds))] for each in bounds])


__all__ = ["numbers", "update", "verdict"]

"""What is said of a text: who the speaker is by now, by what was sampled and exactly, and what is being computed."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from pmpviz.capabilities.text.answers import error, exact_p1, finding, known, not_held, others, taken
from pmpviz.capabilities.text.lane import TextLaneView, errors
from pmpviz.capabilities.text.live import TextView
from pmpviz.capabilities.text.plan import MOST_SHOWN, class_of
from pmpviz.player.model_words import full_sentence, listed
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.types import brings

# Errors that differ by so many times what independent draws leave are told apart.
LEVEL = 2.0
# Errors so many times apart are seen apart on their log axis: so far chance does not part means over many words.
SEEN_APART = 2.5
# So near to exact is near enough to be told how soon it came.
NEAR = 0.01
# Sweeps, or steps, after which what is far from exact may yet come near.
FEW = 20
# An error that is less than so much of what independent draws leave has not come by chance.
SURE = 0.01
# What the browser says from the move of a hand on, too: nothing changes between them.
ANEW = "Being read again under the new setting: colours, numbers and log Z are not there yet."
# Of the sentence why there is no exact answer.
TABLES = re.compile(r"tables of (?:at least )?2\^(\d+) entries \(width (.+)\); the limit is 2\^(\d+)")
ADVICE = re.compile(": use a smaller model.*")
SAME, PULL = "so does the exact answer", "Now pull Links to 1."
TIMES = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def sentences(view: TextView) -> list[str]:
    """Who the speaker is by now, by what has been sampled and exactly, and what is being computed."""
    assert view.words is not None and view.links is not None
    n, many = integer(len(view.words)), integer(len(view.links))
    shown = f", of which the first {integer(MOST_SHOWN)} are shown" if len(view.words) > MOST_SHOWN else ""
    off = "" if view.plan.skip else ", without weight"
    doing = f"{n} words and signs{shown}, {many} links{off}.{_averaged(view)}"
    begun = [lane for lane in view.lanes if known(lane)]
    return [f"{_verdict(view, begun)}{_unknown(view)}" if begun else _unread(view), doing]


def _unread(view: TextView) -> str:
    before = any(lane.count for lane in view.lanes)
    if before and view.playing:
        return ANEW
    what = "Under this setting nothing is read yet" if before else "Nothing is read yet"
    return f"{what}: press Play, and watch the names take colour."


def _verdict(view: TextView, begun: Sequence[TextLaneView]) -> str:
    p1 = exact_p1(view)
    if p1 is None:
        said = f"{begun[0].label} {finding(view, begun[0].p1)}" if len(begun) == 1 else _found_by(view, begun)
        return full_sentence(f"{_refused(view)}{_weight(view)}{said}")
    if len(begun) > 1:
        # Of more than two the curves tell how soon: the words have room for no more.
        soon = _soon(begun, p1) if len(begun) == 2 else ""
        near = f"{_nearest(view, begun)} "
        # Before a class the first sentence is read: without samples how near lanes come counts, not how soon.
        head = f"{soon}{near}" if any(lane.unit != "steps" for lane in begun) else f"{near}{soon}"
        return f"{head}{full_sentence(_found_by(view, begun, p1))}"
    # What few sweeps find may be found by chance: nobody is sent on to other links by it.
    early = begun[0].count < FEW and (error(view, begun[0]) or 0.0) > NEAR
    so_far = " so far" if early else ""
    said = full_sentence(f"{_weight(view)}{begun[0].label} {finding(view, begun[0].p1)}{so_far}")
    to = "" if early else _invitation(view, begun[0].p1)
    if to == "1":  # Before a class there is room for one more short sentence, and none for what is in brackets.
        exactly = _exactly(view, begun[0], p1)
        if exactly == SAME:  # Else the sampler seems to be to blame.
            return f"{said[:-1].removesuffix(', and takes no other')}, as does the exact answer. {PULL}"
        return f"{said[:-1]} ({exactly}). {PULL}"
    pull = " Pull Links to 0: which are found then?" if to else ""
    return f"{said} {full_sentence(_exactly(view, begun[0], p1))}{pull}"


def _invitation(view: TextView, p1: Float[np.ndarray, " n"]) -> str:
    """To where links are to be pulled: where all is right there seems to be nothing to learn, and what links are for is
    seen without them; and where there are none, with them."""
    if view.labels is None or not len(view.links if view.links is not None else ()):
        return ""
    right = (taken(view, p1) == not_held(view, np.asarray(view.labels) > 0)).all()
    return "0" if right and view.plan.skip else "1" if not (right or view.plan.skip) else ""


def _weight(view: TextView) -> str:
    """Under which weights, that of the chain where it is not what was trained."""
    chain = "" if view.plan.chain == 1 else f" and the chain × {view.plan.chain:.3g}"
    return f"with links × {view.plan.skip:.3g}{chain}, "


def _exactly(view: TextView, lane: TextLaneView, p1: Float[np.ndarray, " n"]) -> str:
    same = (taken(view, p1) == taken(view, lane.p1)).all()
    return SAME if same else f"the exact answer {finding(view, p1)}"


def _refused(view: TextView) -> str:
    """Before what was found, why there is nothing exact beside it."""
    if view.answer is None:
        return ""
    size = TABLES.search(view.answer.why_not)
    why = f", tables of {_power(size[1])} numbers where {_power(size[3])} is the limit" if size else ""
    return f"The exact answer is too dear here{why}; "


def too_dear(why_not: str) -> str:
    """Why there is no exact answer, without advice for another place than this page."""
    size = TABLES.search(why_not)
    if size is None:
        return ADVICE.sub("", why_not)
    return f"too dear: width {size[2]} makes tables of {_power(size[1])} numbers; the limit is {_power(size[3])}"


def _power(of_two: str) -> str:
    return f"2{of_two.translate(RAISED)}"


def _soon(begun: Sequence[TextLaneView], p1: Float[np.ndarray, " n"]) -> str:
    """From when on each lane has been near to exact, the soonest first; nothing until one has."""
    came = [(found, lane) for lane in begun if (found := _near_from(lane, p1)) is not None]
    came.sort(key=lambda pair: pair[0][1])
    alike = len({lane.unit for lane in begun}) == 1
    told: list[str] = []
    for (count, took), lane in came:
        after = integer(count) if told and alike else counted(lane, count)
        told.append(f"{lane.label} {'' if told else 'after '}{after} ({seconds(took, 2)})")
    late = [f"{lane.label} not yet" for lane in begun if all(lane is not other for _, other in came)]
    since = " since the change" if any(len(lane.past) for _, lane in came) else ""
    return f"Within {NEAR:g} of exact{since}: {', '.join([*told, *late])}. " if told else ""


def counted(lane: TextLaneView, count: int) -> str:
    """`1 sweep`, `12 steps`."""
    return f"{integer(count)} {lane.unit if count != 1 else lane.unit.removesuffix('s')}"


def _near_from(lane: TextLaneView, p1: Float[np.ndarray, " n"]) -> tuple[int, float] | None:
    """(sweeps, seconds) of a lane's last setting after which its error has stayed below NEAR; None where it is not."""
    if not len(lane.history):
        return None
    far = np.flatnonzero(errors(lane.history, p1) > NEAR)
    first = int(far[-1]) + 1 if len(far) else 0
    if first == len(lane.history):
        return None
    count, took = lane.points[first, :2] - (lane.past[-1, :2] if len(lane.past) else 0.0)
    return int(count), float(took)


def _nearest(view: TextView, begun: Sequence[TextLaneView]) -> str:
    """Which lane is nearest to exact by now, or which are level, since chance alone may have parted them; and how far
    each is, at its own count, which its column has too."""
    far = sorted((value, k) for k, lane in enumerate(begun) if (value := error(view, lane)) is not None)
    first, alike = begun[far[0][1]], len({lane.count for lane in begun}) == 1

    def off(value: float, lane: TextLaneView) -> str:
        return f"{significant(value, 2)}{'' if alike or lane is first else f' after {integer(lane.count)}'}"

    chance = {k: _noise(view, first, begun[k]) for _, k in far}
    # What is nearer than chance allows has no draws left in its p: nothing else is level with it.
    best = far[0][0]
    same = [
        (value, k)
        for value, k in far
        if value == best
        or (value - best <= LEVEL * chance[k] and best >= SURE * chance[k] and value < SEEN_APART * best)
    ]
    rest = "".join(f", {begun[k].label} by {off(value, begun[k])}" for value, k in far if (value, k) not in same)
    if len(same) == 1:
        told = f"{first.label} reads best, with p off on average by {off(best, first)}"
    else:
        level, most = listed([begun[k].label for _, k in same]), max(chance[k] for _, k in same)
        within = f" (within chance, {LEVEL:.0f}{TIMES}{significant(most, 2)})" if most else ""
        told = (
            f"{level} are level{within}: p is off on average by {listed([off(value, begun[k]) for value, k in same])}"
        )
    return f"After {counted(first, first.count)} {told}{rest}."


def _noise(view: TextView, *lanes: TextLaneView) -> float:
    """How far off as many independent draws as the largest of these errors comes from would be; 0 without draws."""
    p1 = exact_p1(view)
    draws = [lane.averaged * lane.chains for lane in lanes if lane.averaged]
    return float(np.sqrt((p1 * (1 - p1)).mean() / min(draws))) if draws and p1 is not None else 0.0


def _found_by(view: TextView, begun: Sequence[TextLaneView], p1: Float[np.ndarray, " n"] | None = None) -> str:
    """What each lane finds, and what is exact; what all of them find, once: words that may stand within a sentence."""
    likely = [taken(view, lane.p1) for lane in begun]
    if all((each == likely[0]).all() for each in likely):
        exactly = "" if p1 is None else f"; {_exactly(view, begun[0], p1)}"
        return f"each {finding(view, begun[0].p1)}{exactly}"
    all_ = [*((lane.label, lane.p1) for lane in begun), *([] if p1 is None else [("the exact answer", p1)])]
    if view.labels is None:
        return "; ".join(f"{label} {finding(view, p)}" for label, p in all_)
    return _tally(view, all_)


def _tally(view: TextView, answers: Sequence[tuple[str, Float[np.ndarray, " n"]]]) -> str:
    """How many words each answer finds, and takes wrongly."""
    true = not_held(view, np.asarray(view.labels) > 0)
    told: list[str] = []
    for label, p1 in answers:
        likely = taken(view, p1)
        wrong = int((likely & ~true).sum())
        told.append(
            f"{label} {'' if told else 'finds '}{(likely & true).sum()}{f' and {wrong} wrongly' if wrong else ''}"
        )
    return f"of the {integer(int(true.sum()))} {others(view)}words of the speaker's name {', '.join(told)}"


def _unknown(view: TextView) -> str:
    return " Whether that is right, a pasted text does not tell." if view.labels is None else ""


def _averaged(view: TextView) -> str:
    """What colours are the mean of, and how far off so many draws are if each knows nothing of the others."""
    lanes, p1 = [lane for lane in view.lanes if lane.averaged], exact_p1(view)
    if not lanes:
        return ""
    given = all(_given(lane) for lane in lanes)
    told = [f"{lane.label} {'' if k else 'averages '}{_mean_of(lane, short=k > 0)}" for k, lane in enumerate(lanes)]
    words = f" {', '.join(told)}"
    if p1 is None:
        return f"{words}."
    # A mean of conditional probabilities has less noise than counts.
    draws = f"{'counts of ' if given else ''}as many independent draws"
    return f"{words}; {draws} would be off by about {significant(_noise(view, *lanes), 2)}."


def _given(lane: TextLaneView) -> bool:
    """Whether a lane averages conditional probabilities, not labels."""
    return bool(brings(class_of(lane.algorithm), "expected"))


def _mean_of(lane: TextLaneView, short: bool) -> str:
    """What a lane's p is the mean of; `short` after another lane's."""
    many, what = (
        f"{integer(lane.averaged)} of {integer(lane.count)}",
        "p given the other words" if _given(lane) else "labels",
    )
    if short:
        return f"{what} over {many}"
    return f"{what} over the last {many} sweeps of {integer(lane.chains)} chains"


__all__ = ["counted", "sentences", "too_dear"]

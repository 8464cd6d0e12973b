"""What the browser draws a reading from: words, links, every lane's marginals, the exact ones, and sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from pmpviz.capabilities.text.lane import TextLaneView, errors
from pmpviz.capabilities.text.live import TextView
from pmpviz.capabilities.text.plan import OTHERS, class_of
from pmpviz.player.model_words import full_sentence, listed
from pmpviz.player.numbers import integer, significant
from pmpviz.player.update import Cursors, Desk, Envelope, trace
from pmpviz.types import brings

SPEEDS = (1.0, 2.0, 5.0, 20.0, 100.0, 0.0)
# Of a longer text all words are sampled and these are shown.
MOST_SHOWN, MOST_NAMES = 2000, 5
FLOOR = 1e-5
# Errors that differ by so many times what independent draws leave are told apart.
LEVEL = 2.0
# Errors a decade apart are seen apart on their logarithmic axis, and so far chance does not part means over many words.
DECADE = 10.0
# So near to exact is near enough to be told how soon it came.
NEAR = 0.01
# An error that is less than so much of what independent draws leave has not come by chance.
SURE = 0.01
# Of the sentence why there is no exact answer.
TABLES = re.compile(r"tables of (?:at least )?2\^(\d+) entries \(width (.+)\); the limit is 2\^(\d+)")
ADVICE = re.compile(": use a smaller model.*")
TIMES = "\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
EXACT = (
    "Variable elimination sums out one word after another; its width is the most words that one of them is then joined "
    "with, and each further one doubles the work. log Z is the logarithm of the sum over all labellings."
)


def update(view: TextView, sent: Cursors, desk: Desk, waits: bool = False, anew: bool = False) -> bytes:
    """The blob for the browser; `waits` where the page asks for another text than this one, `anew` where it asks for
    other settings than those that the numbers are of."""
    envelope = Envelope(view, sent, [class_of(lane.algorithm).spec for lane in view.lanes])
    add = envelope.payload.add
    lanes = []
    for k, lane in enumerate(view.lanes):
        own = {"p": add(levels(lane.p1), "u1"), "x": add(lane.sample[:MOST_SHOWN], "u1")} if known(lane) else {}
        sampled = {"sampled": _sampled(view, lane, desk.large)} if lane.averaged else {}
        lanes.append(envelope.lane(k, "", _status(view, lane, desk.large), **own, **sampled))
    told: dict[str, Any] = {"text": None, "exact": None, "waits": waits, "anew": anew, "said": ["Preparing the text …"]}
    told["opens"] = not desk.large and not any(lane.count for lane in view.lanes)
    if view.words is not None:
        told |= {"text": _text(view, envelope), "exact": _exact(view, envelope)}
        told |= {} if waits else {"said": sentences(view)}
    announce = ", ".join(lane.label for lane in view.lanes) + " on a text" if view.lanes else "reading the text"
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view), announce, **told)


def known(lane: TextLaneView) -> bool:
    """Whether there are marginals: nothing is known before the first sweep, nor before the first of other settings."""
    return len(lane.points) > 0


def levels(p1: Float[np.ndarray, " n"]) -> np.ndarray:
    """Probabilities of the shown words in 256 levels."""
    return np.rint(255 * p1[:MOST_SHOWN])


def _text(view: TextView, envelope: Envelope) -> dict[str, Any]:
    assert view.words is not None and view.links is not None
    # Without weight there are none.
    links = view.links[(view.links < MOST_SHOWN).all(1) & bool(view.plan.skip)]
    return {
        "words": view.words.words[:MOST_SHOWN],
        "gaps": view.words.gaps[: MOST_SHOWN + 1],
        "labels": None if view.labels is None else view.labels[:MOST_SHOWN].tolist(),
        "links": envelope.payload.add(links, "<i4"),
        "held": [list(pair) for pair in view.plan.said],
    }


def _exact(view: TextView, envelope: Envelope) -> dict[str, Any]:
    if view.answer is None:
        return {"words": "being computed"}
    p1 = exact_p1(view)
    if view.answer.solution is None or p1 is None:
        return {"words": _too_dear(view.answer.why_not)}
    words = f"{view.answer.solution.method}, log Z = {significant(view.answer.solution.log_z, 5)}"
    return {"words": words, "help": EXACT, "status": _right(view, p1), "p": envelope.payload.add(levels(p1), "u1")}


def exact_p1(view: TextView) -> Float[np.ndarray, " n"] | None:
    """The exact marginals where they are known."""
    return view.answer.solution.p1 if view.answer is not None and view.answer.solution is not None else None


def error(view: TextView, lane: TextLaneView) -> float | None:
    """Root mean square error of a lane's marginals."""
    p1 = exact_p1(view)
    return None if p1 is None or not known(lane) else float(errors(lane.p1, p1))


def _right(view: TextView, p1: Float[np.ndarray, " n"]) -> str:
    """How many words are labelled right by what is likelier, those that are held left out, as in the verdict."""
    if view.labels is None:
        return ""
    free = _not_held(view, np.ones(len(p1), bool))
    right = int((((p1 > 0.5) == (np.asarray(view.labels) > 0)) & free).sum())
    other = "" if free.all() else "the other "
    return f"{integer(right)} of {other}{integer(int(free.sum()))} words right"


def _status(view: TextView, lane: TextLaneView, brief: bool) -> str:
    far = error(view, lane)
    parts = [f"{integer(lane.count)} {lane.unit}", "" if far is None else f"p off by {significant(far, 2)}"]
    right = _right(view, lane.p1) if known(lane) and not brief else ""
    return " · ".join(part for part in (*parts, right) if part)


def _sampled(view: TextView, lane: TextLaneView, brief: bool) -> str:
    """The status where one sample is shown: of its labels, not of the marginals."""
    right = "" if brief else _right(view, np.asarray(lane.sample, np.float64))
    return " · ".join(filter(None, (f"{integer(lane.count)} {lane.unit}", right and f"this sample: {right}")))


def _traces(envelope: Envelope, view: TextView) -> list[dict]:
    p1 = exact_p1(view)
    if p1 is None or not view.lanes:
        return []

    def lines(column: int) -> list[dict]:
        def columns(lane: TextLaneView) -> dict[str, Any]:
            x, y = lane.points[:, column], errors(lane.history, p1)
            return {"x": np.append(lane.past[:, column], x), "y": np.append(lane.past[:, 2], y)}

        return envelope.lines(columns, FLOOR)

    return [
        trace("sweeps", f"How far p is off, by {view.lanes[0].unit}", view.lanes[0].unit, lines(0), True),
        trace("seconds", "How far p is off, by seconds", "seconds", lines(1), True),
    ]


# Words.


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
    what = "Under this setting nothing is read yet" if before else "Nothing is read yet"
    return f"{what}: press Play, and watch the names take colour."


def _verdict(view: TextView, begun: Sequence[TextLaneView]) -> str:
    p1 = exact_p1(view)
    if p1 is None:
        said = f"{begun[0].label} {_found(view, begun[0].p1)}" if len(begun) == 1 else _found_by(view, begun)
        return full_sentence(f"{_refused(view)}{_weight(view)}{said}")
    if len(begun) > 1:
        # Of more than two the curves tell how soon: the words have room for no more.
        soon = _soon(begun, p1) if len(begun) == 2 else ""
        return f"{soon}{_nearest(view, begun)} {_found_by(view, begun, p1)}."
    said = full_sentence(f"{_weight(view)}{begun[0].label} {_found(view, begun[0].p1)}")
    return f"{said} {full_sentence(_exactly(view, begun[0], p1))}{_invitation(view, begun[0].p1)}"


def _invitation(view: TextView, p1: Float[np.ndarray, " n"]) -> str:
    """Where all is right there seems to be nothing to learn: what links are for is seen without them."""
    if view.labels is None or not view.plan.skip or not len(view.links if view.links is not None else ()):
        return ""
    right = (_likely(view, p1) == _not_held(view, np.asarray(view.labels) > 0)).all()
    return " Pull Links to 0: which are found then?" if right else ""


def _weight(view: TextView) -> str:
    return f"with links × {view.plan.skip:.3g}, "


def _exactly(view: TextView, lane: TextLaneView, p1: Float[np.ndarray, " n"]) -> str:
    same = (_likely(view, p1) == _likely(view, lane.p1)).all()
    return "so does the exact answer" if same else f"the exact answer {_found(view, p1)}"


def _refused(view: TextView) -> str:
    """Before what was found, why there is nothing exact beside it."""
    if view.answer is None:
        return ""
    size = TABLES.search(view.answer.why_not)
    why = f", tables of {_power(size[1])} numbers where {_power(size[3])} is the limit" if size else ""
    return f"The exact answer is too dear here{why}; "


def _too_dear(why_not: str) -> str:
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
        unit = "" if told and alike else f" {lane.unit if count > 1 else lane.unit.removesuffix('s')}"
        told.append(f"{lane.label} {'' if told else 'after '}{integer(count)}{unit} ({_brief(took)})")
    late = [f"{lane.label} not yet" for lane in begun if all(lane is not other for _, other in came)]
    return f"Within {NEAR:g} of exact: {', '.join([*told, *late])}. " if told else ""


def _brief(took: float) -> str:
    return f"{significant(1e3 * took, 2)} ms" if took < 1 else f"{significant(took, 2)} s"


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
        if value == best or (value - best <= LEVEL * chance[k] and best >= SURE * chance[k] and value < DECADE * best)
    ]
    rest = "".join(f", {begun[k].label} by {off(value, begun[k])}" for value, k in far if (value, k) not in same)
    if len(same) == 1:
        told = f"{first.label} reads best, with p off by {off(best, first)}"
    else:
        level, most = listed([begun[k].label for _, k in same]), max(chance[k] for _, k in same)
        within = f" (within chance, {LEVEL:.0f}{TIMES}{significant(most, 2)})" if most else ""
        told = f"{level} are level{within}: p is off by {listed([off(value, begun[k]) for value, k in same])}"
    return f"After {integer(first.count)} {first.unit} {told}{rest}."


def _noise(view: TextView, *lanes: TextLaneView) -> float:
    """How far off as many independent draws as the largest of these errors comes from would be; 0 without draws."""
    p1 = exact_p1(view)
    draws = [lane.averaged * lane.chains for lane in lanes if lane.averaged]
    return float(np.sqrt((p1 * (1 - p1)).mean() / min(draws))) if draws and p1 is not None else 0.0


def _found_by(view: TextView, begun: Sequence[TextLaneView], p1: Float[np.ndarray, " n"] | None = None) -> str:
    """What each lane finds, and what is exact; what all of them find, once."""
    likely = [_likely(view, lane.p1) for lane in begun]
    if all((each == likely[0]).all() for each in likely):
        exactly = "" if p1 is None else f"; {_exactly(view, begun[0], p1)}"
        return f"Each {_found(view, begun[0].p1)}{exactly}"
    all_ = [*((lane.label, lane.p1) for lane in begun), *([] if p1 is None else [("the exact answer", p1)])]
    if view.labels is None:
        return "; ".join(f"{label} {_found(view, p)}" for label, p in all_)
    return _tally(view, all_)


def _tally(view: TextView, answers: Sequence[tuple[str, Float[np.ndarray, " n"]]]) -> str:
    """How many words each answer finds, and takes wrongly."""
    true = _not_held(view, np.asarray(view.labels) > 0)
    told: list[str] = []
    for label, p1 in answers:
        likely = _likely(view, p1)
        wrong = int((likely & ~true).sum())
        told.append(
            f"{label} {'' if told else 'finds '}{(likely & true).sum()}{f' and {wrong} wrongly' if wrong else ''}"
        )
    return f"Of the {integer(int(true.sum()))} {_other(view)}words of the speaker's name {', '.join(told)}"


def _other(view: TextView) -> str:
    """Before a count of the speaker's name: some of it is held, and not counted."""
    true = np.asarray(view.labels) > 0
    return "" if (_not_held(view, true) == true).all() else "other "


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
    noise = f"off by about {significant(_noise(view, *lanes), 2)}"
    # A mean of conditional probabilities has less noise than counts.
    counts = f"counts of as many independent draws are noisier: {noise}"
    return f"{words}; {counts if given else f'as many independent draws would be {noise}'}."


def _given(lane: TextLaneView) -> bool:
    """Whether a lane averages conditional probabilities, not labels."""
    return bool(brings(class_of(lane.algorithm), "expected"))


def _mean_of(lane: TextLaneView, short: bool) -> str:
    """What a lane's p is the mean of; `short` after another lane's."""
    many, what = f"{integer(lane.averaged)} of {integer(lane.count)}", "p given all else" if _given(lane) else "labels"
    if short:
        return f"{what} over {many}"
    return f"{what} over the last {many} sweeps of {integer(lane.chains)} chains"


def _found(view: TextView, p1: Float[np.ndarray, " n"]) -> str:
    """What is taken for the speaker's name, after `Gibbs `: against the truth where that is known."""
    likely = _likely(view, p1)
    if view.labels is None:
        if not likely.any():
            return "takes no word for the speaker's name"
        sure = p1[likely]
        told = f"(p = {sure.min():.2f} to {sure.max():.2f})"
        count = int(likely.sum())
        some = f"{integer(count)} word{'' if count == 1 else 's'}"
        return f"takes {some} for the speaker's name: {_listed(view, likely)} {told}"
    true = _not_held(view, np.asarray(view.labels) > 0)
    found, missed, wrong = (int(which.sum()) for which in (likely & true, true & ~likely, likely & ~true))
    some = f"{found or 'none'} of the" if missed else "all"
    of = f"{some} {integer(int(true.sum()))} {_other(view)}words of the speaker's name"
    less = f", misses {missed}: {_listed(view, true & ~likely)}" if missed else ""
    more = f"{wrong} wrongly: {_listed(view, likely & ~true)}" if wrong else "no other"
    return f"finds {of}{less}{',' if missed else ''} and takes {more}{_left(view, likely)}"


def _left(view: TextView, likely: Bool[np.ndarray, " n"]) -> str:
    """Who else stands in a text of the page's own, and is rightly taken nowhere for the speaker."""
    assert view.words is not None
    names = [name for name in OTHERS.get(view.plan.text, ()) if not (likely & _equal(view, name)).any()]
    return "".join(f"; {name} in none of its {_free_places(view, name)}" for name in names)


def _free_places(view: TextView, name: str) -> str:
    free, places = int(_not_held(view, _equal(view, name)).sum()), int(_equal(view, name).sum())
    return f"{integer(free)} {'other ' * (free < places)}place{'' if free == 1 else 's'}"


def _equal(view: TextView, name: str) -> Bool[np.ndarray, " n"]:
    assert view.words is not None
    return np.array([word == name for word in view.words.words])


def _listed(view: TextView, which: Bool[np.ndarray, " n"]) -> str:
    names = _named(view, which)
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return listed(names)


def _named(view: TextView, which: Bool[np.ndarray, " n"]) -> list[str]:
    """The names, and in how many of their places; names that have a word in common word by word, so that each of
    these words is counted once."""
    assert view.words is not None
    words, runs = view.words.words, _names(view, which)
    shared = _in_several(runs)
    runs = [part for run in runs for part in (run.split(" ") if shared & set(run.split(" ")) else [run])]
    told = []
    for name in dict.fromkeys(runs):
        parts = name.split(" ")
        places = sum(list(words[k : k + len(parts)]) == parts for k in range(len(words)))
        count = runs.count(name)
        all_ = f" in {'both' if count == 2 else f'all {count}'} of its places" if count > 1 else ""
        told.append(name + (f" in {count} of its {places} places" if count < places else all_))
    return told


def _in_several(runs: Sequence[str]) -> set[str]:
    """Words that stand in more than one of different names."""
    words = [word for run in set(runs) for word in set(run.split(" "))]
    return {word for word in words if words.count(word) > 1}


def _names(view: TextView, which: Bool[np.ndarray, " n"]) -> list[str]:
    """The names: runs of these words on one line."""
    assert view.words is not None
    runs: list[list[str]] = []
    for place in np.flatnonzero(which):
        if place and which[place - 1] and runs and "\n" not in view.words.gaps[place]:
            runs[-1].append(view.words.words[place])
        else:
            runs.append([view.words.words[place]])
    return [" ".join(run) for run in runs]


def _likely(view: TextView, p1: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Words that are more likely part of a name than not, but for those that are held: these were not found."""
    return _not_held(view, p1 > 0.5)


def _not_held(view: TextView, which: Bool[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    free = np.ones(len(which), bool)
    free[[place for place, _ in view.plan.said if place < len(which)]] = False
    return which & free


__all__ = ["error", "exact_p1", "levels", "sentences", "update"]

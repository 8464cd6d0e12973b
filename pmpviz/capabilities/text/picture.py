"""What the browser draws a reading from: words, links, every lane's marginals, the exact ones, and sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from pmpviz.capabilities.text.lane import TextLaneView
from pmpviz.capabilities.text.live import TextView
from pmpviz.capabilities.text.plan import class_of
from pmpviz.player.numbers import integer, significant
from pmpviz.player.update import Cursors, Desk, Envelope, trace
from pmpviz.types import brings

SPEEDS = (1.0, 2.0, 5.0, 20.0, 100.0, 0.0)
# Of a longer text all words are sampled and these are shown.
MOST_SHOWN, MOST_NAMES = 2000, 5
FLOOR = 1e-5
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
        lanes.append(envelope.lane(k, "", _status(view, lane), **own))
    told: dict[str, Any] = {"text": None, "exact": None, "waits": waits, "anew": anew, "said": ["Preparing the text …"]}
    told["opens"] = not desk.large and not any(lane.count for lane in view.lanes)
    if view.words is not None:
        told |= {"text": _text(view, envelope), "exact": _exact(view, envelope)}
        told |= {} if waits else {"said": sentences(view)}
    announce = ", ".join(lane.label for lane in view.lanes) + " on a text" if view.lanes else "learning the weights"
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view), announce, **told)


def known(lane: TextLaneView) -> bool:
    """Whether there are marginals: nothing is known before the first sweep, nor before the first of other settings."""
    return len(lane.points) > 0


def levels(p1: Float[np.ndarray, " n"]) -> np.ndarray:
    """Probabilities of the shown words in 256 levels."""
    return np.rint(255 * p1[:MOST_SHOWN])


def _text(view: TextView, envelope: Envelope) -> dict[str, Any]:
    assert view.words is not None and view.links is not None
    links = view.links[(view.links < MOST_SHOWN).all(1)]
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
        return {"words": view.answer.why_not}
    words = f"{view.answer.solution.method}, log Z = {significant(view.answer.solution.log_z, 5)}"
    return {"words": words, "help": EXACT, "status": _right(view, p1), "p": envelope.payload.add(levels(p1), "u1")}


def exact_p1(view: TextView) -> Float[np.ndarray, " n"] | None:
    """The exact marginals where they are known."""
    return view.answer.solution.p1 if view.answer is not None and view.answer.solution is not None else None


def error(view: TextView, lane: TextLaneView) -> float | None:
    """Root mean square error of a lane's marginals."""
    p1 = exact_p1(view)
    return None if p1 is None or not known(lane) else float(np.sqrt(((lane.p1 - p1) ** 2).mean()))


def _right(view: TextView, p1: Float[np.ndarray, " n"]) -> str:
    """How many words are labelled right by what is likelier."""
    return "" if view.labels is None else f"{((p1 > 0.5) == (view.labels > 0)).mean():.1%} right"


def _status(view: TextView, lane: TextLaneView) -> str:
    far = error(view, lane)
    parts = [f"{integer(lane.count)} {lane.unit}", "" if far is None else f"RMSE {significant(far, 2)}"]
    return " · ".join(part for part in (*parts, _right(view, lane.p1) if known(lane) else "") if part)


def _traces(envelope: Envelope, view: TextView) -> list[dict]:
    p1 = exact_p1(view)
    if p1 is None or not view.lanes:
        return []

    def lines(column: int) -> list[dict]:
        def columns(lane: TextLaneView) -> dict[str, Any]:
            return {"x": lane.points[:, column], "y": np.sqrt(((lane.history - p1) ** 2).mean(1))}

        return envelope.lines(columns, FLOOR)

    return [
        trace("sweeps", f"RMSE by {view.lanes[0].unit}", view.lanes[0].unit, lines(0), True),
        trace("seconds", "RMSE by seconds", "seconds", lines(1), True),
    ]


# Words.


def sentences(view: TextView) -> list[str]:
    """Who the speaker is by now, by what has been sampled and exactly, and what is being computed."""
    assert view.words is not None and view.links is not None
    n, many = integer(len(view.words)), integer(len(view.links))
    shown = f", of which the first {integer(MOST_SHOWN)} are shown" if len(view.words) > MOST_SHOWN else ""
    doing = f"{n} words and signs{shown}, {many} links.{_averaged(view)}"
    lane = view.lanes[0] if view.lanes and known(view.lanes[0]) else None
    if lane is None:
        return ["Nothing is read yet: press Play, and watch the names take colour.", doing]
    p1, weight = exact_p1(view), f"With links × {view.plan.skip:.3g}, "
    said = f"{weight}{lane.label} {_found(view, lane.p1)}"
    if p1 is None:
        return [f"{said}.{_unknown(view)}", doing]
    same = (_likely(view, p1) == _likely(view, lane.p1)).all()
    exactly = "So does the exact answer." if same else f"The exact answer {_found(view, p1)}."
    return [f"{said}. {exactly}{_unknown(view)}{_errors(view)}", doing]


def _unknown(view: TextView) -> str:
    return " Whether that is right, a pasted text does not tell." if view.labels is None else ""


def _errors(view: TextView) -> str:
    """How far each of several lanes is from exact, the nearest first."""
    far = sorted((value, lane.label) for lane in view.lanes if (value := error(view, lane)) is not None)
    told = ", ".join(f"{label} {significant(value, 2)}" for value, label in far)
    return f" RMSE: {told}." if len(far) > 1 else ""


def _averaged(view: TextView) -> str:
    """What colours are the mean of, and how far off so many draws are if each knows nothing of the others."""
    lane, p1 = next((lane for lane in view.lanes if lane.averaged), None), exact_p1(view)
    if lane is None:
        return ""
    given = brings(class_of(lane.algorithm), "expected")
    what = "p given all else over its" if given else "its"
    words = f" {lane.label} averages {what} last {integer(lane.averaged)} sweeps of {integer(lane.chains)} chains"
    if p1 is None:
        return f"{words}."
    noise = float(np.sqrt((p1 * (1 - p1)).mean() / (lane.averaged * lane.chains)))
    less = ": less scatter than independent draws" if given else ": independent draws"
    return f"{words}{less} (RMSE about {significant(noise, 2)})."


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
    of = f"{some} {integer(int(true.sum()))} words of the speaker's name"
    less = f", misses {missed}: {_listed(view, true & ~likely)}" if missed else ""
    more = f"{wrong} wrongly: {_listed(view, likely & ~true)}" if wrong else "no other for it"
    return f"finds {of}{less}{',' if missed else ''} and takes {more}"


def _listed(view: TextView, which: Bool[np.ndarray, " n"]) -> str:
    names = _names(view, which)
    if len(names) > MOST_NAMES:
        return f"{', '.join(names[:MOST_NAMES])} and {len(names) - MOST_NAMES} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _names(view: TextView, which: Bool[np.ndarray, " n"]) -> list[str]:
    """The names: runs of these words on one line."""
    assert view.words is not None
    runs: list[list[str]] = []
    for place in np.flatnonzero(which):
        if place and which[place - 1] and runs and "\n" not in view.words.gaps[place]:
            runs[-1].append(view.words.words[place])
        else:
            runs.append([view.words.words[place]])
    return list(dict.fromkeys(" ".join(run) for run in runs))


def _likely(view: TextView, p1: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Words that are more likely part of a name than not, but for those that are held: these were not found."""
    return _not_held(view, p1 > 0.5)


def _not_held(view: TextView, which: Bool[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    free = np.ones(len(which), bool)
    free[[place for place, _ in view.plan.said if place < len(which)]] = False
    return which & free


__all__ = ["error", "exact_p1", "levels", "sentences", "update"]

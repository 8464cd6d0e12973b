"""What the browser draws a reading from: words, links, every lane's marginals, the exact ones, and sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.capabilities.text.answers import error, exact_p1, known, not_held
from pmpviz.capabilities.text.lane import TextLaneView, errors
from pmpviz.capabilities.text.live import TextView
from pmpviz.capabilities.text.plan import MOST_SHOWN, class_of
from pmpviz.capabilities.text.words import counted, sentences, too_dear
from pmpviz.player.numbers import integer, significant
from pmpviz.player.update import Cursors, Desk, Envelope, trace

SPEEDS = (1.0, 2.0, 5.0, 20.0, 100.0, 0.0)
FLOOR = 1e-5
RMSE = (
    "p(name) is the probability that a word is part of the speaker's name. How far it is off: the root mean square of "
    "its differences from the exact one over all words (RMSE)."
)
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
        lanes.append(envelope.lane(k, "", _status(view, lane, desk.large), help=RMSE, **own, **sampled))
    told: dict[str, Any] = {"text": None, "exact": None, "waits": waits, "anew": anew, "said": ["Preparing the text …"]}
    told["unread"] = not any(lane.count for lane in view.lanes)
    told["opens"] = not desk.large and told["unread"]
    if view.words is not None:
        told |= {"text": _text(view, envelope), "exact": _exact(view, envelope)}
        told |= {} if waits else {"said": sentences(view)}
    return envelope.seal(desk, SPEEDS, lanes, _traces(envelope, view), told["said"][0], **told)


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
        return {"words": too_dear(view.answer.why_not)}
    words, right = (
        f"{view.answer.solution.method}, log Z = {significant(view.answer.solution.log_z, 5)}",
        _right(view, p1),
    )
    sampled = " · ".join(filter(None, ("no sample: words with p > ½", right)))
    p = envelope.payload.add(levels(p1), "u1")
    return {"words": words, "help": EXACT, "status": right, "sampled": sampled, "p": p}


def _right(view: TextView, p1: Float[np.ndarray, " n"]) -> str:
    """How many words are labelled right by what is likelier, those that are held left out, as in the verdict."""
    if view.labels is None:
        return ""
    free = not_held(view, np.ones(len(p1), bool))
    right = int((((p1 > 0.5) == (np.asarray(view.labels) > 0)) & free).sum())
    other = "" if free.all() else "the other "
    return f"{integer(right)} of {other}{integer(int(free.sum()))} words right"


def _status(view: TextView, lane: TextLaneView, brief: bool) -> str:
    far = error(view, lane)
    parts = [counted(lane, lane.count), "" if far is None else f"p(name) {significant(far, 2)} from exact"]
    right = _right(view, lane.p1) if known(lane) and not brief else ""
    return " · ".join(part for part in (*parts, right) if part)


def _sampled(view: TextView, lane: TextLaneView, brief: bool) -> str:
    """The status where one sample is shown: of its labels, not of the marginals."""
    right = "" if brief else _right(view, np.asarray(lane.sample, np.float64))
    return " · ".join(filter(None, (counted(lane, lane.count), right and f"this sample: {right}")))


def _traces(envelope: Envelope, view: TextView) -> list[dict]:
    """How far every lane is off; until what is exact of a new setting is there, of those before it alone."""
    p1 = exact_p1(view)
    refused = view.answer is not None and p1 is None
    if refused or not view.lanes or (p1 is None and not any(len(lane.past) for lane in view.lanes)):
        return []

    def lines(column: int) -> list[dict]:
        def columns(lane: TextLaneView) -> dict[str, Any]:
            if p1 is None:
                return {"x": lane.past[:, column], "y": lane.past[:, 2]}
            x, y = lane.points[:, column], errors(lane.history, p1)
            return {"x": np.append(lane.past[:, column], x), "y": np.append(lane.past[:, 2], y)}

        return envelope.lines(columns, FLOOR)

    title, unit = "How far p(name) is off, by", view.lanes[0].unit
    return [
        trace("sweeps", f"{title} {unit}", unit, lines(0), True, help=RMSE),
        trace("seconds", f"{title} seconds", "seconds", lines(1), True, help=RMSE),
    ]


__all__ = ["levels", "update"]

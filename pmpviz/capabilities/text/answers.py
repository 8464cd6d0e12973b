"""What a text's lanes and the exact answer hold for the speaker's name: how far off, which words, in names."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from pmpviz.capabilities.text.lane import TextLaneView, errors
from pmpviz.capabilities.text.live import TextView
from pmpviz.capabilities.text.plan import OTHERS
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer

MOST_NAMES = 5


def known(lane: TextLaneView) -> bool:
    """Whether there are marginals: nothing is known before the first sweep, nor before the first of other settings."""
    return len(lane.points) > 0


def exact_p1(view: TextView) -> Float[np.ndarray, " n"] | None:
    """The exact marginals where they are known."""
    return view.answer.solution.p1 if view.answer is not None and view.answer.solution is not None else None


def error(view: TextView, lane: TextLaneView) -> float | None:
    """Root mean square error of a lane's marginals."""
    p1 = exact_p1(view)
    return None if p1 is None or not known(lane) else float(errors(lane.p1, p1))


def others(view: TextView) -> str:
    """Before a count of the speaker's name: some of it is held, and not counted."""
    true = np.asarray(view.labels) > 0
    return "" if (not_held(view, true) == true).all() else "other "


def finding(view: TextView, p1: Float[np.ndarray, " n"]) -> str:
    """What is taken for the speaker's name, after `Gibbs `: against the truth where that is known."""
    likely = taken(view, p1)
    if view.labels is None:
        if not likely.any():
            return "takes no word for the speaker's name"
        sure = p1[likely]
        told = f"(p = {sure.min():.2f} to {sure.max():.2f})"
        count = int(likely.sum())
        some = f"{integer(count)} word{'' if count == 1 else 's'}"
        return f"takes {some} for the speaker's name: {_listed(view, likely)} {told}"
    true = not_held(view, np.asarray(view.labels) > 0)
    found, missed, wrong = (int(which.sum()) for which in (likely & true, true & ~likely, likely & ~true))
    some = f"{found or 'none'} of the" if missed else "all"
    of = f"{some} {integer(int(true.sum()))} {others(view)}words of the speaker's name"
    less = f", misses {missed}: {_listed(view, true & ~likely)}" if missed else ""
    left, comma = _left(view, likely), "," if missed else ""
    if not wrong:
        return f"finds {of}{less}{comma} and takes no other{f'; {left}' if left else ''}"
    wrongly = f"{wrong} wrongly: {_listed(view, likely & ~true)}"
    # Who is left out comes before those that are taken: after them they would seem to be taken wrongly, too.
    return f"finds {of}{less}; takes {left}, and {wrongly}" if left else f"finds {of}{less}{comma} and takes {wrongly}"


def _left(view: TextView, likely: Bool[np.ndarray, " n"]) -> str:
    """Who else stands in a text of the page's own, and is rightly taken nowhere for the speaker."""
    assert view.words is not None
    names = [name for name in OTHERS.get(view.plan.text, ()) if not (likely & _equal(view, name)).any()]
    return ", ".join(f"{name} in none of its {_free_places(view, name)}" for name in names)


def _free_places(view: TextView, name: str) -> str:
    free, places = int(not_held(view, _equal(view, name)).sum()), int(_equal(view, name).sum())
    return f"{integer(free)} {'other ' * (free < places)}place{'' if free == 1 else 's'}"


def _equal(view: TextView, name: str) -> Bool[np.ndarray, " n"]:
    assert view.words is not None
    return np.array([word == name for word in view.words.words])


def _listed(view: TextView, which: Bool[np.ndarray, " n"]) -> str:
    assert view.words is not None
    signs = np.array([not any(map(str.isalnum, word)) for word in view.words.words])
    names, beside = _named(view, which & ~signs), int((which & signs).sum())
    names += [f"{integer(beside)} sign{'' if beside == 1 else 's'}"] if beside else []
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
        # Places come first: `Khan in 5 of its 8 places` after `misses` reads as if it were found there.
        some = f"{count} of {places}" if count < places else "both" if count == 2 else f"all {count}"
        told.append(name if places == 1 else f"{some} places of {name}")
    # Who stands once comes first: `both places of Hall and College` reads as if both were of both.
    return sorted(told, key=lambda each: " places of " in each)


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


def taken(view: TextView, p1: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Words that are more likely part of a name than not, but for those that are held: these were not found."""
    return not_held(view, p1 > 0.5)


def not_held(view: TextView, which: Bool[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Those of the words that nobody holds to a label."""
    free = np.ones(len(which), bool)
    free[[place for place, _ in view.plan.said if place < len(which)]] = False
    return which & free


__all__ = ["error", "exact_p1", "finding", "known", "not_held", "others", "taken"]

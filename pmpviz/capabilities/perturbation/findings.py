"""What the lab has found: the answer to the question of its preset in a sentence, and the counts beneath it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from pmpviz.capabilities.perturbation.live import LabView
from pmpviz.capabilities.perturbation.parts import TREE_BANK, Bench, lost_share, maxima_law
from pmpviz.capabilities.perturbation.picture import SMALLEST, WITHIN, bank_error, fallen_or_not, scale_of
from pmpviz.capabilities.perturbation.plan import MOST_DRAWS
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import at_most, configuration, integer, significant

# Of so few states each is spoken of by its name.
FEW_STATES = 8
# Averages over fewer noises are told as what they are so far.
ENOUGH = 64
# A pixel of which so many maxima at least, and at most, have ink is unsure.
UNSURE = 0.1
# So many standard errors are no chance, of a few states that are looked at again and again while samples fall.
SURE = 3.0
# Presets whose verdict says itself which maxima were missed.
OF_MAXIMA = ("glass",)
# Presets whose question is about attempts at exact samples, and about the bounds that these go by.
OF_ATTEMPTS = ("clique", "prefixes", "")
ATTEMPTS, BOUNDS = OF_ATTEMPTS[:2]
# What a class is spared is in brackets.
ONE_A_SITE = "One noise a spin is too little (one a state would be exact)"
TOO_LOW = "bounds were less than their two parts add up to"
MISSED = "Noises under which a solver did not find the proved best state: that of least energy."
COUNTED = {
    "Best state missed": MISSED,
    "missed the best state": MISSED,
    "attempts": "The unbiased sampler fixes one variable after another; the chances of its two states add up to less "
    "than 1, and with the rest it rejects and begins again: an attempt.",
    "bounds": "Each beginning of a configuration has a bound: the best value under noise of all that begins "
    "so. Those of its two ways to go on may not exceed it; averages over few noises can, and are then raised.",
}


def finding(view: LabView, preset: str) -> str:
    """The answer to a preset's question as far as it is known; of a model of one's own, what solvers missed."""
    if view.tally is None or view.bench is None or not view.tally.draws:
        return ""
    return ANSWERS.get(preset, _same_maximum)(view) or _same_maximum(view)


def falling(view: LabView, preset: str) -> list[tuple[int, str]]:
    """(after how many samples, what they say) where samples fall one by one, and what is said is of those that fell."""
    tally = view.tally
    if preset != FALLS or tally is None or tally.counts is None or len(tally.codes) != tally.draws:
        return []
    states = len(tally.counts)
    known = [(count, np.bincount(tally.codes[:count], minlength=states)) for count in range(1, tally.draws + 1)]
    return [(k, _whole_sampler(replace(view, tally=replace(tally, draws=k, counts=own)))) for k, own in known]


def counts(view: LabView, preset: str = "") -> str:
    """How often maxima were missed, and what else belongs to the question, in a line."""
    tally, bench, tree = view.tally, view.bench, view.tree
    if tally is None or bench is None or not tally.draws:
        return ""
    said, missed = [], [f"{label} {integer(count)}" for label, count in _missed(view) if count]
    if preset == "denoise":
        said.append(_doubt(view))
    if _missed(view) and preset not in OF_MAXIMA:
        noises = f"{integer(tally.draws)} noises"
        some = f"Best state missed under {noises}: {', '.join(missed)}."
        said.append(some if missed else f"No solver missed the best state under any of {noises}{fallen_or_not(bench)}.")
    # What the verdict has said already is not said again.
    if tree is not None and preset in OF_ATTEMPTS:
        if preset != "clique":
            said.append(f"Exact samples: {integer(tree.accepted)} of {integer(tree.attempts)} attempts.")
        if preset != "prefixes":
            said.append(f"{integer(tree.violations)} of {integer(tree.total)} {TOO_LOW}.")
    return " ".join(said)


def missed(view: LabView, preset: str) -> list[tuple[str, int]]:
    """(label, how often it missed the best state) of every solver where that is the question."""
    if view.tally is None or view.bench is None or not view.tally.draws or preset not in OF_MAXIMA:
        return []
    return _missed(view)


def left(view: LabView, preset: str) -> list[tuple[int, int]]:
    """(how many spins are fixed, how many attempts go on) where the question is about attempts."""
    return [] if view.tree is None or preset != ATTEMPTS else list(enumerate(view.tree.left))[1:]


def added(view: LabView, preset: str) -> list[tuple[int, float]]:
    """(how many spins are fixed, the bounds of all that fix them as a share of the whole's) where that is the
    question."""
    return [] if view.tree is None or preset != BOUNDS else list(enumerate(view.tree.shares))


def explained(line: str) -> list[tuple[str, str]]:
    """The counts in pieces, (words, what they mean to a newcomer, or nothing)."""
    parts = re.split(f"({'|'.join(COUNTED)})", line)
    return [(part, COUNTED.get(part, "")) for part in parts if part]


def _missed(view: LabView) -> list[tuple[str, int]]:
    """(label, of how many noises it missed the maximum) of every solver of which it is known."""
    assert view.tally is not None and view.bench is not None
    scale = scale_of(view.tally)
    rows = [(label, np.array(one)) for label, one in zip(view.bench.labels, view.tally.lost, strict=True) if one]
    known = [(label, one[~np.isnan(one)]) for label, one in rows if not np.isnan(one).all()]
    return [
        (label, round(lost_share(list(one), scale) * len(one)) if one.max() >= SMALLEST else 0) for label, one in known
    ]


# Answers.


def _same_maximum(view: LabView) -> str:
    """Whether all solvers find the maximum."""
    rows, noises = _missed(view), integer(view.tally.draws if view.tally else 0)
    if not any(count for _, count in rows):
        return f"Every solver found the best state under each of {noises} noises."
    missed = [
        f"{label} {'missed ' if not k else ''}{integer(count) if count else 'none'}"
        for k, (label, count) in enumerate(rows)
    ]
    return f"Not always: of {noises} best states {listed(missed)}.{_halves(view)}"


def _halves(view: LabView) -> str:
    """Of how many spins a relaxation has no opinion, where it lost by that."""
    assert view.tally is not None and view.bench is not None
    lost = {label for label, count in _missed(view) if count}
    known = [(label, one) for label, one in zip(view.bench.labels, view.tally.fractional, strict=True) if label in lost]
    parts = [(label, float(np.mean(one))) for label, one in known if max(one, default=0.0) > 0]
    why = "of spins at 1/2 on average: what it loses comes of rounding these to 0."
    return "".join(f" {label} leaves {share:.0%} {why}" for label, share in parts)


def _whole_sampler(view: LabView) -> str:
    """Whether so many samples show more than chance does, and then which states come too often and too seldom by the
    maxima's own law: which of them stood out by chance is no answer."""
    assert view.tally is not None and view.bench is not None
    if view.law is None or view.tally.counts is None or len(view.law) > FEW_STATES:
        return ""
    draws, law = view.tally.draws, view.law
    if (few := _few(view)) > draws:
        told = f"{integer(draws)} sample{'s' if draws > 1 else ''}: too few to judge whether bars and lines differ by"
        return f"{told} chance alone; some {integer(few)} are enough (at three standard errors)."
    share, error = view.tally.counts / draws, np.sqrt(law * (1 - law) / draws)
    if (np.abs(share - law) <= SURE * error).all():
        return f"Of {integer(draws)} samples no state has come more or less often than chance allows."
    own = _maxima(view.bench)
    often, seldom = (_told(view, own, way) for way in (1, -1))
    parts = [f"{states} too {how}" for states, how in ((often, "often"), (seldom, "seldom")) if states]
    # Their own shares are the bars', and others: which numbers are told is said.
    run = f"In the long run (dashes) {', '.join(parts)}. {ONE_A_SITE}."
    return f"No: chance alone does not explain these {integer(draws)} samples. {run}"


def long_run(view: LabView) -> tuple[int, Float[np.ndarray, " m"]] | None:
    """(from how many samples on it is told, how often the maxima are each state in the end); None where it is not."""
    if view.law is None or view.bench is None or len(view.law) > FEW_STATES:
        return None
    return (few, _maxima(view.bench)) if (few := _few(view)) else None


def _few(view: LabView) -> int:
    """From so many samples on, in tens, the maxima's own law is as far off the exact one as chance does not explain; 0
    where it takes more than there will be."""
    assert view.law is not None and view.bench is not None
    gap = np.abs(_maxima(view.bench) - view.law) if len(view.law) > 1 else np.zeros(1)
    draws = float((SURE**2 * view.law * (1 - view.law) / np.maximum(gap, SMALLEST) ** 2).min())
    return 10 * math.ceil(draws / 10) if draws <= MOST_DRAWS else 0


@lru_cache(maxsize=4)
def _maxima(bench: Bench) -> Float[np.ndarray, " m"]:
    return maxima_law(bench)


def _told(view: LabView, share: Float[np.ndarray, " m"], way: int) -> str:
    """`state 11 (0.62, exactly 0.54) comes`, of those that come more often than they should, or, the other way, less;
    those of the same two numbers have them once. What is printed alike is as it should be."""
    assert view.law is not None
    free = len(view.law).bit_length() - 1
    found: dict[str, list[str]] = {}
    for code, (own, p) in enumerate(zip(share, view.law, strict=True)):
        told, should = significant(float(own), 2), significant(float(p), 2)
        if told != should and way * (own - p) > 0:
            name = configuration(np.array([int(bit) for bit in f"{code:0{free}b}"]))
            found.setdefault(f"({told}, exactly {should})", []).append(name)
    count = sum(len(names) for names in found.values())
    states = listed([f"{listed(names)} {numbers}" for numbers, names in found.items()])
    return f"state{'' if count == 1 else 's'} {states} come{'s' if count == 1 else ''}" if count else ""


def _rest(view: LabView) -> str:
    """On which share of the map undamped messages never rest."""
    if view.atlas is None or np.isnan(view.atlas.period).all():
        return ""
    period, about = view.atlas.period, ""
    if np.isnan(period).any():  # Rows that are filled by now are not like the others: the rough map is of all of it.
        rough = slice(view.atlas.stride // 2, None, view.atlas.stride)
        period, about = period[rough, rough], "about "
    share = float((period[~np.isnan(period)] != 1).mean())
    return f"Where the noise is too weak to decide: on {about}{share:.0%} of this map, undamped, they never do."


def _attempts(view: LabView) -> str:
    """Attempts an exact sample."""
    tree = view.tree
    if tree is None or not tree.accepted:
        return ""
    return (
        f"{significant(tree.attempts / tree.accepted, 2)} attempts for each exact sample: {integer(tree.accepted)} of "
        f"{integer(tree.attempts)} came through. Perturb-and-MAP takes one, and is not exact."
    )


def _prefixes(view: LabView) -> str:
    """Whether averages keep what holds in expectation."""
    tree = view.tree
    if tree is None:
        return ""
    total, bank = integer(tree.total), integer(TREE_BANK)
    if not tree.violations:
        return f"Yes: all {total} bounds held, even as averages over {bank} noises."
    return (
        f"Yes, in expectation. As averages over {bank} noises {integer(tree.violations)} of {total} "
        f"{TOO_LOW}, by {at_most(tree.margin)} nats at most{bank_error(view)}, and are raised until all hold."
    )


def _hides(view: LabView) -> str:
    """How much of a detail the single best answer draws, the best answers under noise, and the exact marginals."""
    shown = _drawn(view, None if view.bench is None or view.bench.scene is None else view.bench.scene.detail)
    if not shown:
        return ""
    name = view.bench.scene.detail_name if view.bench is not None and view.bench.scene is not None else ""
    count, alone, many, exactly = shown
    return f"{name[:1].upper()}{name[1:]}: of its {count} pixels the single best answer draws {alone}, {many}{exactly}."


def _doubt(view: LabView) -> str:
    """Of how many pixels the best answers under noise are unsure, and the exact marginals."""
    mean, law = _mean(view), _law(view)
    if mean is None:
        return ""
    unsure = [int(((p > UNSURE) & (p < 1 - UNSURE)).sum()) for p in (mean, law) if p is not None]
    model = f", {integer(unsure[1])} by the exact marginals" if len(unsure) > 1 else ""
    share = f"{UNSURE:.0%} to {1 - UNSURE:.0%}"
    return f"Unsure, with ink in {share} of {_whose(view)}'s answers: {integer(unsure[0])} pixels{model}."


def _hidden(view: LabView) -> str:
    """How much of the hidden ink the single best answer draws, and the best answers under noise on average."""
    scene = None if view.bench is None else view.bench.scene
    if scene is None:
        return ""
    shown = _drawn(view, (scene.drawn > 0) & np.isnan(scene.seen))
    if not shown:
        return ""
    count, alone, many, exactly = shown
    return f"Of its {count} pixels of ink the single best answer draws {alone}, {many}{exactly}."


def _drawn(view: LabView, pixels: Bool[np.ndarray, "h w"] | None) -> tuple[str, str, str, str] | None:
    """(how many these pixels are, how many the single best answer draws, those under noise draw, the law expects)."""
    mean = _mean(view)
    if mean is None or pixels is None or not pixels.any() or view.shown is None or view.shown.alone is None:
        return None
    ink, noises = pixels.ravel(), integer(view.tally.draws if view.tally else 0)
    law = _law(view)
    exactly = "" if law is None else f" and the exact marginals {significant(float(law[ink].sum()), 2)}"
    so_far = " so far" if view.tally is not None and view.tally.draws < ENOUGH else ""
    told = f"{significant(float(mean[ink].sum()), 2)} on average{so_far}{_spread(view, ink)}"
    many = f"those of {_whose(view)} under {noises} noises {told}"
    alone = int(view.shown.alone[ink].sum())
    return integer(int(ink.sum())), integer(alone) if alone else "none", many, exactly


def _whose(view: LabView) -> str:
    """The solver of which the averages are told."""
    place = _least_lost(view)
    assert view.bench is not None and place is not None
    solver = view.bench.solvers[place]
    return "the exact solver" if solver.spec.promise == "exact" else solver.spec.label


def _law(view: LabView) -> Float[np.ndarray, " n"] | None:
    return None if view.truth is None else view.truth.p1


def _mean(view: LabView) -> Float[np.ndarray, " n"] | None:
    """The mean of the answers of the solver that lost least; None where it is not known which."""
    place = _least_lost(view)
    assert view.tally is not None
    return None if place is None else view.tally.totals[place] / view.tally.draws


def _least_lost(view: LabView) -> int | None:
    """Which solver lost least, the first of equals; None where it is not known."""
    assert view.tally is not None
    lost = [float(np.nanmean(one)) if one and not np.isnan(one).all() else np.inf for one in view.tally.lost]
    return int(np.argmin(lost)) if np.isfinite(lost).any() else None


def _spread(view: LabView, pixels: Bool[np.ndarray, " n"]) -> str:
    """In brackets the 95 % error of the mean number of these pixels that the best answers draw; empty of one noise."""
    place = _least_lost(view)
    if view.tally is None or place is None or view.tally.draws < 2:
        return ""
    drawn = np.unpackbits(np.array(view.tally.answers[place]), axis=1, count=len(pixels))[:, pixels].sum(1)
    return f" (± {significant(WITHIN * float(drawn.std(ddof=1)) / math.sqrt(len(drawn)), 2)}, 95 %)"


# Its samples fall into their regions.
FALLS = "two-spins"
ANSWERS: dict[str, Callable[[LabView], str]] = {
    "two-spins": _whole_sampler,
    "glass": _same_maximum,
    "triangle": _rest,
    "clique": _attempts,
    "prefixes": _prefixes,
    "denoise": _hides,
    "complete": _hidden,
}


__all__ = ["ANSWERS", "added", "counts", "explained", "falling", "finding", "left", "long_run", "missed"]

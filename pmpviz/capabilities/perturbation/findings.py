"""What the lab has found: the answer to the question of its preset in a sentence, and the counts beneath it."""

from __future__ import annotations

import html
from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from pmpviz.capabilities.perturbation.live import LabView
from pmpviz.capabilities.perturbation.parts import TREE_BANK, lost_share
from pmpviz.capabilities.perturbation.picture import SMALLEST, WITHIN, scale_of
from pmpviz.player.numbers import configuration, integer, significant

# Of so few states each is spoken of by its name.
FEW_STATES = 8
# A pixel of which so many maxima at least, and at most, have ink is unsure.
UNSURE = 0.1
ONE_A_SITE = "One noise a spin is shared by all states; the exact law takes one a state."
COUNTED = {
    "Maxima missed": "Noises under which a solver did not find the proved maximum: the configuration of least energy.",
    "attempts": "The unbiased sampler fixes one variable after another, and begins again where what is left of the "
    "probability rejects: an attempt.",
    "bounds of parts": "Each beginning of a configuration has a bound: the best value under noise of all that begins "
    "so. Those of its two ways to go on may not exceed it; averages over few noises can, and are then raised.",
}


def finding(view: LabView, preset: str) -> str:
    """The answer to a preset's question as far as it is known; of a model of one's own, what solvers missed."""
    if view.tally is None or view.bench is None or not view.tally.draws:
        return ""
    return ANSWERS.get(preset, _same_maximum)(view) or _same_maximum(view)


def counts(view: LabView) -> str:
    """How often maxima were missed, and attempts at an exact sample came through, in a line."""
    tally, bench, tree = view.tally, view.bench, view.tree
    if tally is None or bench is None or not tally.draws:
        return ""
    said, missed = [], [f"{label} {share:.0%}" for label, share in _missed(view) if share]
    if _missed(view):
        said.append(f"Maxima missed under {integer(tally.draws)} noises: {', '.join(missed) or 'none'}.")
    if tree is not None:
        said.append(
            f"Exact samples: {integer(tree.accepted)} of {integer(tree.attempts)} attempts; "
            f"{integer(tree.violations)} of {integer(tree.total)} bounds of parts were too high."
        )
    return " ".join(said)


def explained(line: str) -> str:
    """The counts as HTML, in which words that a newcomer does not know tell what they mean on hover."""
    found = html.escape(line)
    for words, meaning in COUNTED.items():
        found = found.replace(words, f'<abbr title="{html.escape(meaning)}">{words}</abbr>')
    return found


def _missed(view: LabView) -> list[tuple[str, float]]:
    """(label, share of the noises under which it missed the maximum) of every solver of which it is known."""
    assert view.tally is not None and view.bench is not None
    scale = scale_of(view.tally)
    rows = [(label, one) for label, one in zip(view.bench.labels, view.tally.lost, strict=True) if one]
    known = [(label, one) for label, one in rows if not np.isnan(one).all()]
    return [(label, lost_share(one, scale) if np.nanmax(one) >= SMALLEST else 0.0) for label, one in known]


# Answers.


def _same_maximum(view: LabView) -> str:
    """Whether all solvers find the maximum."""
    rows, noises = _missed(view), integer(view.tally.draws if view.tally else 0)
    missed = [f"{label} under {share:.0%}" for label, share in rows if share]
    if not rows:
        return "" if view.no_truth == "" else f"Nobody proves a maximum here: {noises} noises were tried."
    if not missed:
        return f"Every solver found the maximum under each of {noises} noises."
    return f"Not always: of {noises} noises the maximum is missed by {_and(missed)}."


def _whole_sampler(view: LabView) -> str:
    """Which states come too often and too seldom, beyond what chance does to so many samples."""
    assert view.tally is not None
    if view.law is None or view.tally.counts is None or len(view.law) > FEW_STATES:
        return ""
    draws, law = view.tally.draws, view.law
    share, error = view.tally.counts / draws, np.sqrt(law * (1 - law) / draws)
    often, seldom = share - law > WITHIN * error, law - share > WITHIN * error
    if not (often | seldom).any():
        return f"Yes; of {integer(draws)} noises, no state came more or less often than chance allows."
    both = ((often, "often"), (seldom, "seldom"))
    parts = [f"{_states(view, which, share)} too {how}" for which, how in both if which.any()]
    return f"Yes, but it is not the exact law: under {integer(draws)} noises {', '.join(parts)}. {ONE_A_SITE}"


def _states(view: LabView, which: Bool[np.ndarray, " m"], share: Float[np.ndarray, " m"]) -> str:
    """`11 (0.62, exactly 0.54) comes`, of these states."""
    assert view.law is not None
    free = len(view.law).bit_length() - 1
    names = (configuration(np.array([int(bit) for bit in f"{code:0{free}b}"])) for code in np.flatnonzero(which))
    pairs = zip(names, share[which], view.law[which], strict=True)
    words = [f"{name} ({significant(own, 2)}, exactly {significant(p, 2)})" for name, own, p in pairs]
    return f"{_and(words)} come{'s' if len(words) == 1 else ''}"


def _rest(view: LabView) -> str:
    """On which share of the map undamped messages never rest."""
    if view.atlas is None or np.isnan(view.atlas.period).all():
        return ""
    period = view.atlas.period
    share = float((period[~np.isnan(period)] != 1).mean())
    return f"Where the noise is too weak to decide: on {share:.0%} of this map its messages, undamped, never settle."


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
        return f"Never: all {total} bounds held, even of averages over {bank} noises."
    return (
        f"Never in expectation. Averages over {bank} noises broke {integer(tree.violations)} of {total} bounds, by "
        f"{significant(tree.margin, 2)} nats at most, and are raised by that."
    )


def _hides(view: LabView) -> str:
    """Of how many pixels the single best answer does not say that they are unsure."""
    mean = _mean(view)
    if mean is None:
        return ""
    unsure = int(((mean > UNSURE) & (mean < 1 - UNSURE)).sum())
    return (
        f"Where it is unsure: {integer(unsure)} of {integer(len(mean))} pixels have ink in more than {UNSURE:.0%} and "
        f"less than {1 - UNSURE:.0%} of the best answers under noise."
    )


def _hidden(view: LabView) -> str:
    """How much of the hidden ink the single best answer draws, and the best answers under noise on average."""
    mean, bench = _mean(view), view.bench
    if mean is None or bench is None or bench.scene is None or view.shown is None or view.shown.alone is None:
        return ""
    ink = (bench.scene.drawn.ravel() > 0) & np.isnan(bench.scene.seen.ravel())
    if not ink.any():
        return ""
    alone, many = view.shown.alone[ink].sum(), mean[ink].mean()
    return (
        f"Of {integer(int(ink.sum()))} hidden ink pixels the single best answer draws {integer(int(alone))}; the best "
        f"answers under noise draw {many:.0%} on average."
    )


def _mean(view: LabView) -> Float[np.ndarray, " n"] | None:
    """The mean of the answers of the solver that lost least; None where it is not known which."""
    assert view.tally is not None
    rows = zip(view.tally.lost, view.tally.totals, strict=True)
    known = [(float(np.nanmean(lost)), total) for lost, total in rows if lost and not np.isnan(lost).all()]
    return min(known, key=lambda row: row[0])[1] / view.tally.draws if known else None


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


ANSWERS: dict[str, Callable[[LabView], str]] = {
    "two-spins": _whole_sampler,
    "glass": _same_maximum,
    "triangle": _rest,
    "clique": _attempts,
    "prefixes": _prefixes,
    "denoise": _hides,
    "complete": _hidden,
}


__all__ = ["ANSWERS", "counts", "explained", "finding"]

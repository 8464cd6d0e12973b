"""Skip-chain conditional random fields over the words of a text (Sutton and McCallum 2004).

x_i = 1 says that word i belongs to the speaker's name, and log p(x | text) = sum_i (theta . f_i) x_i
+ chain sum_i x_i x_{i+1} + skip sum x_i x_j over linked pairs of equal capitalised words + const, with f_i the features
of word i and of its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy
from jaxtyping import Float, Int, Int8

from pmpviz.models.builder import Builder, Values
from pmpviz.models.couplings import Shape
from pmpviz.models.ising import Ising
from pmpviz.models.text.announcements import announcement
from pmpviz.models.text.kept_weights import KEPT
from pmpviz.models.text.words import FEATURES, MOST_WORDS, Words, features
from pmpviz.types import InputError, Param

LINKS = ("all pairs", "consecutive")
TRAINING_TEXTS = 485
MOST_LINKS = 200_000
# One over the variance of the weights' Gaussian prior, as in Sutton and McCallum.
PRIOR = 0.1
STOP = {"ftol": 1e-7}

Labelled = tuple[Words, Int8[np.ndarray, " n"]]


@dataclass(frozen=True)
class Weights:
    """What a field consists of: `theta[f]` of the features, `chain` between neighbours, `skip` between linked words."""

    theta: Float[np.ndarray, " f"]
    chain: float
    skip: float


@dataclass(frozen=True)
class Fit:
    """Weights with the number of texts and words that they were fitted to, and of the optimiser's evaluations."""

    weights: Weights
    texts: int
    words: int
    evaluations: int


def links_of(words: Words, links: str = LINKS[0]) -> Int[np.ndarray, "l 2"]:
    """Pairs of equal capitalised words, i < j: all of them, or each word with its next occurrence.

    Raises InputError above 200,000 pairs.
    """
    places: dict[str, list[int]] = {}
    for place in np.flatnonzero(words.capitalised()).tolist():
        places.setdefault(words.words[place], []).append(place)
    many = sum(len(each) * (len(each) - 1) // 2 for each in places.values())
    if links == LINKS[0] and many > MOST_LINKS:
        raise InputError(f"the text has {many:,} pairs of equal capitalised words; link consecutive ones alone")
    found = [pair for each in places.values() for pair in _pairs(each, links)]
    return np.array(sorted(found), np.int64).reshape(-1, 2)


def _pairs(places: list[int], links: str) -> list[tuple[int, int]]:
    if links == LINKS[1]:
        return list(zip(places, places[1:], strict=False))
    return [(a, b) for k, a in enumerate(places) for b in places[k + 1 :]]


def skip_chain(
    words: Words, weights: Weights, links: str = LINKS[0], chain_times: float = 1.0, skip_times: float = 1.0
) -> Ising:
    """The field over a text's words; the weights of the chain and of the links may be multiplied."""
    n, linked = len(words), links_of(words, links)
    site = np.arange(n - 1)
    i, j = np.concatenate([site, linked[:, 0]]), np.concatenate([site + 1, linked[:, 1]])
    w = np.concatenate([np.full(n - 1, chain_times * weights.chain), np.full(len(linked), skip_times * weights.skip)])
    return Ising.from_edges(features(words) @ weights.theta, i, j, w, layout="sparse")


# Learning.


@cache
def trained(links: str = LINKS[0]) -> Fit:
    """The weights for 485 announcements, as they were fitted once and are kept."""
    theta, chain, skip, words, evaluations = KEPT[links]
    return Fit(Weights(np.array(theta), chain, skip), TRAINING_TEXTS, words, evaluations)


def fitted(texts: Sequence[Labelled], links: str = LINKS[0]) -> Fit:
    """The weights that maximise the likelihood of the chain, less a little of their squares.

    Of a text: log p(x | text, the labels of linked words), in which every word hears the true labels of those that it
    is linked to, so that what is left is a chain, whose likelihood is exact. It is concave.
    """
    objective = objective_of(texts, links)
    # skip and chain are at least 0: equal words, and neighbours, want to agree.
    bounds = [(None, None)] * len(FEATURES) + [(0.0, None)] * 2
    found = scipy.optimize.minimize(
        objective, np.zeros(len(FEATURES) + 2), jac=True, method="L-BFGS-B", bounds=bounds, options=STOP
    )
    *theta, skip, chain = found.x
    count = sum(len(words) for words, _ in texts)
    return Fit(Weights(np.array(theta), float(chain), float(skip)), len(texts), count, int(found.nfev))


def objective_of(texts: Sequence[Labelled], links: str) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    """What `fitted` minimises, of theta, skip and chain in one array, with its gradient."""
    data, scale = _stacked(texts, links), 1.0 / len(texts)

    def objective(parameters):
        value, gradient = _log_likelihood(parameters, *data)
        value, gradient = scale * value, scale * gradient
        return 0.5 * PRIOR * scale * parameters @ parameters - value, PRIOR * scale * parameters - gradient

    return objective


def _stacked(texts: Sequence[Labelled], links: str):
    """(features and the sum of linked labels [i, row, f + 1], labels [i, row], which words are there, which are joined
    to the next): texts one after another in rows as long as the longest one."""
    sizes = [len(words) for words, _ in texts]
    longest, row, begin = max(sizes), np.zeros(len(texts), int), np.zeros(len(texts), int)
    free: list[int] = []
    for k in np.argsort(sizes)[::-1]:
        row[k] = next((r for r, room in enumerate(free) if room >= sizes[k]), len(free))
        free += [longest] if row[k] == len(free) else []
        begin[k] = longest - free[row[k]]
        free[row[k]] -= sizes[k]
    rows, labels = np.zeros((longest, len(free), len(FEATURES) + 1)), np.zeros((longest, len(free)))
    real, joined = np.zeros(labels.shape, bool), np.zeros(labels.shape, bool)
    for k, (words, label) in enumerate(texts):
        linked, own = links_of(words, links), slice(begin[k], begin[k] + sizes[k])
        heard = np.bincount(linked[:, 0], label[linked[:, 1]], sizes[k])
        heard += np.bincount(linked[:, 1], label[linked[:, 0]], sizes[k])
        rows[own, row[k]] = np.column_stack([features(words), heard])
        labels[own, row[k]], real[own, row[k]] = label, True
        joined[begin[k] : begin[k] + sizes[k] - 1, row[k]] = True
    return rows, labels, real, joined


def _log_likelihood(parameters, rows, labels, real, joined) -> tuple[float, Float[np.ndarray, " p"]]:
    """Sum over the texts of log p(labels | features, linked labels), and its gradient.

    f_i is the log-odds of x_i = 1 by the words up to i: f_{i+1} = field + log (1 + e^(f_i + w)) / (1 + e^f_i), and
    log Z is the sum of log(1 + e^f_i).
    """
    chain, field = parameters[-1], rows @ parameters[:-1]
    f = field.copy()
    for i in range(1, len(rows)):
        f[i] += np.where(joined[i - 1], np.logaddexp(0, f[i - 1] + chain) - np.logaddexp(0, f[i - 1]), 0.0)
    p, both = scipy.special.expit(f), np.zeros_like(f)
    with_next = scipy.special.expit(f + chain)
    for i in range(len(rows) - 2, -1, -1):
        both[i] = np.where(joined[i], p[i + 1] * with_next[i], 0.0)
        p[i] = np.where(joined[i], both[i] + (1 - p[i + 1]) * p[i], p[i])
    pairs = labels[:-1] * labels[1:] * joined[:-1]
    value = (real * (labels * field - np.logaddexp(0, f))).sum() + chain * pairs.sum()
    excess = real * (labels - p)
    return float(value), np.append(np.tensordot(excess, rows, 2), pairs.sum() - both.sum())


# The builder.


def _announced(size: Shape, values: Values) -> Ising:
    words, _ = announcement(values["seed"], size[0])
    return skip_chain(words, trained(values["links"]).weights, values["links"], values["chain"], values["skip"])


def _times(name: str, label: str, help: str) -> Param:
    return Param(name, label, 0.0, 3.0, 1.0, help=help)


CHAIN = _times("chain", "Chain ×", "Multiplies the trained weight between neighbouring words.")
SKIP = _times("skip", "Links ×", "Multiplies the trained weight between equal capitalised words; 0 is a chain.")
LINKED = Param("links", "Links", 0, 0, LINKS[0], "choice", "Which equal capitalised words are linked.", choices=LINKS)
NUMBER = Param("seed", "Announcement", 0, 2**31 - 1, 1000, "int", "Which announcement is written.")

ANNOUNCEMENT = Builder(
    "announcement",
    "Skip-chain field of an announcement",
    "Which words are the speaker's name: a chain of words, with links between equal capitalised ones.",
    ("words",),
    (100,),
    (CHAIN, SKIP, LINKED, NUMBER),
    _announced,
    MOST_WORDS,
    random_graph=True,
)

__all__ = [
    "ANNOUNCEMENT",
    "CHAIN",
    "LINKED",
    "LINKS",
    "NUMBER",
    "SKIP",
    "Fit",
    "Weights",
    "fitted",
    "links_of",
    "skip_chain",
    "trained",
]

"""Pictures to be restored: a drawn shape under noise, and a drawn shape of which a part is hidden."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float, Int8

from pmpviz.io.datasets.drawn import stamp
from pmpviz.models import Ising
from pmpviz.types import Evidence, InputError

PREFIX = "scene:"
SIDE = 14
# Of the noisy picture: share of flipped pixels, coupling of neighbours, field towards what was seen.
FLIPPED, COUPLING, TRUST = 0.15, 0.45, 0.5 * np.log((1 - 0.15) / 0.15)
# Of the glyph: columns that are hidden, pairs at most so far apart, shapes that the model is fitted to, a Gaussian
# prior's precision, and Newton steps (each at least halves the error; six are enough for plotted weights).
GLYPH, HIDDEN_COLUMNS, REACH = 12, 4, 2
KINDS, TRAINED_ON, PRECISION, NEWTON = ("H", "square", "T", "L", "cross"), 600, 2.0, 6


@dataclass(frozen=True)
class Scene:
    """A model whose states are pictures of `shape`: what was drawn, what is seen of it (nan where hidden).

    `detail` is the ink of a part of it that is spoken of as `detail_name`.
    """

    model: Ising
    evidence: Evidence
    shape: tuple[int, int]
    drawn: Int8[np.ndarray, "h w"]
    seen: Float[np.ndarray, "h w"]
    words: str
    detail: Bool[np.ndarray, "h w"] | None = None
    detail_name: str = ""


@lru_cache(maxsize=4)
def scene_of(text: str) -> Scene:
    """The scene of `scene:denoise` or `scene:complete`; raises InputError for any other."""
    name = text.removeprefix(PREFIX)
    if name not in SCENES:
        raise InputError(f"there is no scene {name[:40]!r}; choose one of {', '.join(SCENES)}")
    return SCENES[name]()


def _denoise() -> Scene:
    """log p(s) = J sum_{neighbours} s_i s_j + h sum_i seen_i s_i: h is half the log-odds that a pixel was not flipped,
    so that the field is Bayes' for independent flips; J is the smoothness that one chooses."""
    drawn = np.zeros((SIDE, SIDE), bool)
    drawn[1:12, 1:12] |= stamp("ring", 11)
    drawn[2:13, 2:13] |= stamp("ring", 11)
    drawn[1:12, 2:13] |= stamp("ring", 11)
    cross = np.zeros((SIDE, SIDE), bool)
    cross[5:10, 5:10] = stamp("cross", 5)
    drawn |= cross
    flips = np.random.default_rng(3).random(drawn.shape) < FLIPPED
    seen = drawn ^ flips
    i, j = _pairs(drawn.shape, ((0, 1), (1, 0)))[:2]
    model = Ising.from_spin(TRUST * (2.0 * seen.ravel() - 1), i, j, np.full(len(i), COUPLING))
    words = f"A drawn shape with {flips.mean():.0%} of its pixels flipped; neighbours prefer to agree."
    free, ink = Evidence.none(model.n), drawn.astype(np.int8)
    return Scene(model, free, drawn.shape, ink, seen.astype(float), words, cross, "the cross in the ring")


def _complete() -> Scene:
    return completion("H", HIDDEN_COLUMNS)


def completion(kind: str, columns: int) -> Scene:
    """A shape of which so many columns on the right are hidden, in an Ising model with skip edges fitted to shapes."""
    shape = (GLYPH, GLYPH)
    bias, i, j, weight = _fitted()
    drawn = np.zeros(shape, np.int8)
    drawn[1:11, 1:11] = stamp(kind, 10)
    hidden = np.zeros(shape, bool)
    hidden[:, -columns:] = True
    evidence = Evidence(~hidden.ravel(), np.where(hidden, 0, drawn).ravel().astype(np.int8))
    words = (
        f"A glyph whose right part is hidden. Every pixel interacts with those up to {REACH} rows and columns away; "
        f"fitted to small shapes, {(weight > 0).mean():.0%} of the edges attract and the others repel."
    )
    return Scene(Ising.from_edges(bias, i, j, weight), evidence, shape, drawn, np.where(hidden, np.nan, drawn), words)


@lru_cache(maxsize=1)
def _fitted() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """(bias, i, j, weight of each edge) of the model of small shapes."""
    offsets = tuple((a, b) for a in range(REACH + 1) for b in range(-REACH, REACH + 1) if (a, b) > (0, 0))
    i, j, _ = _pairs((GLYPH, GLYPH), offsets)
    weight, bias = _fit(_shapes(np.random.default_rng(0)).reshape(TRAINED_ON, -1), i, j)
    return bias, i, j, weight


def _shapes(rng: np.random.Generator) -> Int8[np.ndarray, "m h w"]:
    """Drawn shapes of nearly full size, one pixel in a hundred flipped."""
    found = np.zeros((TRAINED_ON, GLYPH, GLYPH), np.int8)
    for image in found:
        size = int(rng.integers(GLYPH - 3, GLYPH))
        top, left = rng.integers(0, GLYPH - size + 1, 2)
        image[top : top + size, left : left + size] = stamp(KINDS[rng.integers(len(KINDS))], size)
    return found ^ (rng.random(found.shape) < 0.01).astype(np.int8)


def _fit(data: Int8[np.ndarray, "m n"], i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(weight of each edge, bias) by pseudo-likelihood (Besag 1975) with a Gaussian prior: a logistic regression of
    every pixel on its neighbours, by Newton's method; an edge's weight is the mean of its two."""
    n = data.shape[1]
    adjacent, both, bias = np.zeros((n, n), bool), np.zeros((n, n)), np.zeros(n)
    adjacent[i, j] = adjacent[j, i] = True
    for v in range(n):
        near = np.flatnonzero(adjacent[v])
        x, y = np.concatenate([data[:, near], np.ones((len(data), 1))], 1), data[:, v]
        w, prior = np.zeros(len(near) + 1), np.full(len(near) + 1, PRECISION)
        for _ in range(NEWTON):
            p = 1 / (1 + np.exp(-x @ w))
            hessian = (x * (p * (1 - p))[:, None]).T @ x + np.diag(prior)
            w = w + np.linalg.solve(hessian, x.T @ (y - p) - prior * w)
        both[v, near], bias[v] = w[:-1], w[-1]
    return (both[i, j] + both[j, i]) / 2, bias


def _shifted(images: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """The pixel at (row + rows, column + columns) of every pixel, 0 beyond the edge."""
    found = np.zeros_like(images)
    height, width = images.shape[1:]
    to = slice(max(0, -rows), height - max(0, rows)), slice(max(0, -columns), width - max(0, columns))
    by = slice(max(0, rows), height + min(0, rows)), slice(max(0, columns), width + min(0, columns))
    found[:, to[0], to[1]] = images[:, by[0], by[1]]
    return found


def _pairs(shape: tuple[int, int], offsets) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(i, j, number of the offset) of all pairs of pixels at these offsets."""
    site, found = np.arange(shape[0] * shape[1]).reshape(1, *shape) + 1, []
    for number, (a, b) in enumerate(offsets):
        other = _shifted(site, a, b)
        inside = other > 0
        found.append(np.stack([site[inside] - 1, other[inside] - 1, np.full(inside.sum(), number)]))
    i, j, kind = np.concatenate(found, 1)
    return i, j, kind


SCENES = {"denoise": _denoise, "complete": _complete}

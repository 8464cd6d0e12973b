"""Datasets that are drawn, not read: bars and stripes, small shapes, and numerals in strokes of a pen."""

from __future__ import annotations

import functools
import math

import numpy as np
from jaxtyping import Bool, Float, Int8, Int32

from pmpviz.io.datasets.dataset import Dataset
from pmpviz.io.datasets.source import DatasetSource, Progress, Values, count_param, seed_param
from pmpviz.types import Param

MOST_SIDE = 12
MOST_DRAWN = 20_000
SMALLEST, LARGEST = 5, 11

Stroke = tuple[float, float, float, float]


def bar_patterns(
    height: int, width: int
) -> tuple[Int8[np.ndarray, "patterns height width"], Int32[np.ndarray, " patterns"]]:
    """(pictures, labels): the 2^h + 2^w - 2 distinct bars and stripes; label 0 for full rows, 1 for full columns.

    The empty and the full picture are both kinds; they are there once, as rows.
    """
    rows, columns = _subsets(height), _subsets(width)[1:-1]
    across = np.broadcast_to(rows[:, :, None], (len(rows), height, width))
    down = np.broadcast_to(columns[:, None, :], (len(columns), height, width))
    labels = np.repeat(np.array([0, 1], np.int32), [len(rows), len(columns)])
    return np.concatenate([across, down]), labels


def _subsets(n: int) -> Int8[np.ndarray, "subsets n"]:
    return (np.arange(2**n)[:, None] >> np.arange(n) & 1).astype(np.int8)


def _bars(values: Values, progress: Progress | None = None) -> Dataset:
    height, width = values["height"], values["width"]
    x, labels = bar_patterns(height, width)
    if values["labels"]:
        wanted = np.isin(labels, values["labels"])
        x, labels = x[wanted], labels[wanted]
    if values["count"]:
        rng = np.random.Generator(np.random.PCG64(values["seed"]))
        chosen = rng.integers(len(x), size=values["count"])
        x, labels = x[chosen], labels[chosen]
    name = f"bars and stripes {height} x {width}"
    return Dataset(x.reshape(len(x), -1), (height, width), labels, name)


def _side(name: str, low: int, default: int, high: int) -> Param:
    return Param(name, name.capitalize(), low, high, default, "int", f"{name.capitalize()} of an image.", "pixels")


BARS = DatasetSource(
    "bars",
    "Bars and stripes",
    "Every choice of full rows, or of full columns, the empty and the full picture among them (MacKay 2003).",
    (
        _side("height", 2, 4, MOST_SIDE),
        _side("width", 2, 4, MOST_SIDE),
        count_param("Images drawn at random, all patterns equally often; 0: every pattern once.", 0, 0, MOST_DRAWN),
        seed_param("Draws the images where a count is given."),
    ),
    ("rows", "columns"),
    _bars,
)


def _closed(*corners: tuple[float, float]) -> tuple[Stroke, ...]:
    return tuple((*a, *b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True))


def _circle(sides: int = 48) -> tuple[Stroke, ...]:
    angles = [2 * math.pi * k / sides for k in range(sides)]
    return _closed(*((0.5 + 0.5 * math.sin(a), 0.5 + 0.5 * math.cos(a)) for a in angles))


# Strokes from (row, column) to (row, column) in a box of side 1.
SHAPES: dict[str, tuple[Stroke, ...]] = {
    "cross": ((0.5, 0, 0.5, 1), (0, 0.5, 1, 0.5)),
    "square": _closed((0, 0), (0, 1), (1, 1), (1, 0)),
    "ring": _circle(),
    "triangle": _closed((0, 0.5), (1, 0), (1, 1)),
    "X": ((0, 0, 1, 1), (0, 1, 1, 0)),
    "L": ((0, 0, 1, 0), (1, 0, 1, 1)),
    "T": ((0, 0, 0, 1), (0, 0.5, 1, 0.5)),
    "H": ((0, 0, 1, 0), (0, 1, 1, 1), (0.5, 0, 0.5, 1)),
}


@functools.cache
def stamp(shape: str, size: int) -> Bool[np.ndarray, "size size"]:
    """A shape's strokes, one pixel wide, on a square of this side."""
    drawn = np.zeros((size, size), bool)
    step = np.linspace(0, 1, 4 * size)
    for row, column, to_row, to_column in SHAPES[shape]:
        # A thousandth more than half, so that a stroke between two pixels goes to the later one on every machine.
        rows = np.floor((row + step * (to_row - row)) * (size - 1) + 0.501).astype(int)
        columns = np.floor((column + step * (to_column - column)) * (size - 1) + 0.501).astype(int)
        drawn[rows, columns] = True
    return drawn


def _glyphs(values: Values, progress: Progress | None = None) -> Dataset:
    height, width, count = values["height"], values["width"], values["count"]
    rng = np.random.Generator(np.random.PCG64(values["seed"]))
    names = tuple(SHAPES)
    kinds = np.asarray(rng.choice(values["labels"] or range(len(names)), size=count), np.int32)
    sizes = rng.integers(SMALLEST, min(height, width, LARGEST), size=count, endpoint=True)
    tops, lefts = rng.integers(height - sizes, endpoint=True), rng.integers(width - sizes, endpoint=True)
    x = np.zeros((count, height, width), bool)
    for image, kind, size, top, left in zip(x, kinds, sizes, tops, lefts, strict=True):
        image[top : top + size, left : left + size] = stamp(names[kind], int(size))
    x ^= rng.random(x.shape, np.float32) < np.float32(values["noise"])
    name = f"shapes {height} x {width}"
    return Dataset(x.reshape(count, -1).astype(np.int8), (height, width), kinds, name)


GLYPHS = DatasetSource(
    "glyphs",
    "Small shapes",
    "Outlines of a random kind, size and place on an empty canvas, with noisy pixels.",
    (
        _side("height", SMALLEST, 12, 32),
        _side("width", SMALLEST, 12, 32),
        count_param("Images drawn.", 1000, 1, MOST_DRAWN),
        Param("noise", "Noise", 0.0, 0.5, 0.0, help="Probability that a pixel is flipped."),
        seed_param("Draws shapes, sizes, places and noise."),
    ),
    tuple(SHAPES),
    _glyphs,
)


def _arc(row: float, column: float, high: float, wide: float, start: float, end: float) -> tuple[Stroke, ...]:
    """A part of an ellipse about (row, column), clockwise by the clock's hours from 12."""
    angles = np.linspace(start, end, 17) * math.pi / 6
    points = [(row - high * math.cos(a), column + wide * math.sin(a)) for a in angles]
    return tuple((*a, *b) for a, b in zip(points, points[1:], strict=False))


# Strokes of a pen from (row, column) to (row, column) in a box of height 1 and width 0.7.
NUMERALS: dict[str, tuple[Stroke, ...]] = {
    "0": _arc(0.5, 0.35, 0.5, 0.35, 0, 12),
    "1": ((0.2, 0.1, 0, 0.4), (0, 0.4, 1, 0.4)),
    "2": (*_arc(0.28, 0.35, 0.28, 0.33, -3, 4), (0.42, 0.635, 1, 0), (1, 0, 1, 0.7)),
    "3": (*_arc(0.25, 0.33, 0.25, 0.3, -2.5, 6), *_arc(0.75, 0.33, 0.25, 0.35, 0, 8.5)),
    "4": ((0, 0.5, 0.65, 0), (0.65, 0, 0.65, 0.7), (0.3, 0.5, 1, 0.5)),
    "5": ((0, 0.65, 0, 0.08), (0, 0.08, 0.42, 0.05), *_arc(0.68, 0.33, 0.32, 0.36, -2, 8.5)),
    "6": (*_arc(0.7, 0.35, 0.3, 0.33, 0, 12), *_arc(0.7, 0.7, 0.7, 0.69, -3, -0.4)),
    "7": ((0, 0, 0, 0.7), (0, 0.7, 1, 0.25)),
    "8": (*_arc(0.25, 0.35, 0.25, 0.28, 0, 12), *_arc(0.75, 0.35, 0.25, 0.35, 0, 12)),
    "9": (*_arc(0.3, 0.35, 0.3, 0.33, 0, 12), *_arc(0.3, 0, 0.7, 0.69, 3, 5.6)),
}
PEN_SIDE, POINTS = 16, 30


@functools.cache
def pen_points(kind: int) -> Float[np.ndarray, "points 2"]:
    """(row, column) of points along the strokes of a numeral, close enough to leave no gap."""
    found = []
    for row, column, to_row, to_column in tuple(NUMERALS.values())[kind]:
        count = math.ceil(POINTS * math.hypot(to_row - row, to_column - column)) + 1
        found.append(np.linspace((row, column), (to_row, to_column), count))
    return np.concatenate(found)


def written(kind: int, side: int, wobble: float, rng: np.random.Generator) -> Bool[np.ndarray, "side side"]:
    """A numeral as a hand may write it: its size, slant, place, bend and the width of the pen are drawn."""
    points = pen_points(kind) - (0.5, 0.35)
    high, wide, slant, turn, row, column = wobble * rng.uniform(-1, 1, 6)
    bends, phases = 0.05 * wobble * rng.uniform(-1, 1, 2), rng.uniform(0, 2 * math.pi, 2)
    points = points + bends * np.sin(2 * math.pi * points[:, ::-1] + phases)
    shear = np.array([[1 + 0.1 * high, 0.15 * turn], [-0.3 * slant - 0.15 * turn, 1 + 0.25 * wide]])
    centre = side / 2 + 0.06 * side * np.array([row, column])
    points = points @ shear.T * 0.68 * side + centre
    pen = side * (0.055 + 0.015 * wobble * rng.uniform(-1, 1))
    middle = np.arange(side) + 0.5
    down, across = (np.square(middle - place[:, None]) for place in points.T)
    return (down[:, :, None] + across[:, None, :]).min(0) < pen**2


@functools.lru_cache(maxsize=4)
def _written(count: int, side: int, wobble: float, labels: tuple[int, ...], seed: int) -> Dataset:
    rng = np.random.Generator(np.random.PCG64(seed))
    kinds = np.asarray(rng.choice(labels or range(len(NUMERALS)), size=count), np.int32)
    x = np.stack([written(int(kind), side, wobble, rng) for kind in kinds])
    return Dataset(x.reshape(count, -1).astype(np.int8), (side, side), kinds, f"written numerals {side} x {side}")


def _numerals(values: Values, progress: Progress | None = None) -> Dataset:
    return _written(*(values[name] for name in ("count", "side", "wobble", "labels", "seed")))


STROKES = DatasetSource(
    "strokes",
    "Written numerals",
    "The numerals 0 to 9 in strokes of a pen, drawn by this program: size, slant, bend and pen vary as in a hand.",
    (
        Param("side", "Side", 12, 32, PEN_SIDE, "int", "Height and width of an image.", "pixels"),
        Param("wobble", "Wobble", 0.0, 1.5, 1.0, help="How much one writing differs from the next."),
        count_param("Images drawn.", 2000, 1, 5000),
        seed_param("Draws kinds and hands."),
    ),
    tuple(NUMERALS),
    _numerals,
)

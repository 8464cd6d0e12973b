"""Glyphs stamped on images at random: what blind deconvolution is to take apart (section 5.6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int, Int8

from pmpviz.types import InputError

Glyphs = Int8[np.ndarray, "glyphs height width"]
MOST_TRIES, MOST_DRAWN, MOST_IMAGES = 1000, 1 << 28, 10_000


@dataclass(frozen=True, eq=False)
class GlyphSet:
    """Small pictures of one size."""

    id: str
    label: str
    glyphs: Glyphs


def _drawn(text: str) -> Glyphs:
    """Glyphs from rows of `#` and `.`, side by side."""
    rows = [line.split() for line in text.strip().splitlines()]
    return np.array([[[c == "#" for c in part] for part in column] for column in zip(*rows, strict=True)], np.int8)


def _bars(size: int) -> Glyphs:
    bars = np.zeros((4, size, size), np.int8)
    middle, along = size // 2, np.arange(size)
    bars[0, middle, :] = bars[1, :, middle] = bars[2, along, along] = bars[3, along, along[::-1]] = 1
    return bars


GLYPH_SETS: tuple[GlyphSet, ...] = (
    GlyphSet(
        "paper",
        "Square, plus, A, diamond",
        _drawn(
            """
            ##### ..#.. ..#.. ..#..
            #...# ..#.. .#.#. .#.#.
            #...# ##### .#.#. #...#
            #...# ..#.. #...# .#.#.
            ##### ..#.. ##### ..#..
            """
        ),
    ),
    GlyphSet(
        "letters",
        "Letters",
        _drawn(
            """
            #...# ##### #...# #####
            #...# ..#.. ##..# #....
            ##### ..#.. #.#.# ####.
            #...# ..#.. #..## #....
            #...# ..#.. #...# #####
            """
        ),
    ),
    GlyphSet("bars", "Bars", _bars(5)),
    GlyphSet(
        "arrows",
        "Arrows",
        _drawn(
            """
            ..#.. ..#.. ..#.. ..#..
            .###. ..#.. .#... ...#.
            #.#.# #.#.# ##### #####
            ..#.. .###. .#... ...#.
            ..#.. ..#.. ..#.. ..#..
            """
        ),
    ),
    GlyphSet(
        "digits",
        "Digits",
        _drawn(
            """
            ..#.. ##### ##### #...#
            .##.. ....# ....# #...#
            ..#.. ##### ..### #####
            ..#.. #.... ....# ....#
            .###. ##### ##### ....#
            """
        ),
    ),
    GlyphSet(
        "corners",
        "Corners",
        _drawn(
            """
            ##### ##### #.... ....#
            #.... ....# #.... ....#
            #.... ....# #.... ....#
            #.... ....# #.... ....#
            #.... ....# ##### #####
            """
        ),
    ),
    GlyphSet(
        "tiles",
        "Blocks",
        _drawn(
            """
            ##... ...## .###. #.#.#
            ##... ...## .###. .#.#.
            ..... ..... ..... #.#.#
            ...## ##... .###. .#.#.
            ...## ##... .###. #.#.#
            """
        ),
    ),
)


def glyph_set(id: str) -> GlyphSet:
    """The set of this id; raises InputError naming the choices."""
    for known in GLYPH_SETS:
        if known.id == id:
            return known
    raise InputError(f"there are no glyphs {id[:40]!r}; choose one of {', '.join(known.id for known in GLYPH_SETS)}")


def stamp(
    seed: int,
    glyphs: Glyphs,
    images: int,
    height: int,
    width: int,
    rate: float = 0.01,
    at_least: int = 3,
    margin: int = 0,
) -> tuple[Int8[np.ndarray, "n 1 height width"], Int8[np.ndarray, "n glyphs h w"]]:
    """(X, S): images of glyphs at random places, each place of each glyph with probability `rate`, overlaps as ORs.

    Only images with `at_least` stamps are kept, as in section 5.6, where the `margin` without stamps is 0. Features
    that are larger than the glyphs by less than the margin can take a glyph in any position and still be placed at all
    of its stamps; with a smaller margin those in the first or last rows and columns are out of reach of some.
    Raises InputError where a glyph does not fit, is empty, or so many stamps hardly ever occur.
    """
    glyphs = np.asarray(glyphs, np.int8)
    if not (0 <= seed < 1 << 63 and 1 <= images <= MOST_IMAGES):
        raise InputError(
            f"{images} images of seed {seed} cannot be stamped; give 1 to {MOST_IMAGES:,}, and a seed from 0 on"
        )
    if not np.isin(glyphs, (0, 1)).all():
        raise InputError("a glyph holds a value besides 0 and 1; give pixels that are 0 or 1")
    if glyphs.ndim != 3 or not glyphs.size or not glyphs.any((1, 2)).all():
        raise InputError("a glyph is empty; paint at least one pixel of every glyph")
    rows, columns = height - glyphs.shape[1] + 1, width - glyphs.shape[2] + 1
    if min(rows, columns) < 1 + 2 * margin:
        sizes = " x ".join(map(str, glyphs.shape[1:]))
        around = f" with a margin of {margin}" if margin else ""
        raise InputError(f"glyphs of {sizes} do not fit into images of {height} x {width}{around}; give larger images")
    reached = np.zeros((rows, columns), bool)
    reached[margin : rows - margin, margin : columns - margin] = True
    rng = np.random.Generator(np.random.PCG64(seed))
    kept: list[np.ndarray] = []
    each = images * len(glyphs) * rows * columns
    for _ in range(min(MOST_TRIES, 1 + MOST_DRAWN // each)):
        s = (rng.random((images, len(glyphs), rows, columns)) < rate) & reached
        kept += list(s[s.sum((1, 2, 3)) >= at_least])
        if len(kept) >= images:
            places = np.array(kept[:images], np.int8)
            return placed(places, glyphs), places
    raise InputError(
        f"hardly any image gets {at_least} stamps at a rate of {rate:g}; give a higher rate, or more places"
    )


def placed(
    locations: Int[np.ndarray, "n glyphs h w"], glyphs: Int[np.ndarray, "glyphs a b"]
) -> Int8[np.ndarray, "n 1 height width"]:
    """The images that these stamps make."""
    n, _, rows, columns = locations.shape
    a, b = glyphs.shape[1:]
    count = np.zeros((n, rows + a - 1, columns + b - 1), np.int64)
    for row in range(a):
        for column in range(b):
            count[:, row : row + rows, column : column + columns] += np.einsum(
                "ngij,g->nij", locations, glyphs[:, row, column].astype(np.int64)
            )
    return (count > 0).astype(np.int8)[:, None]


__all__ = ["GLYPH_SETS", "GlyphSet", "glyph_set", "placed", "stamp"]

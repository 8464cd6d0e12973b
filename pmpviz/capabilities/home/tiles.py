"""The tiles: the first ones for beginners, by what one wants to understand; the rest by page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from pmpviz.app.gallery import Tile

Row = tuple[str, str, Sequence[Any]]


@dataclass(frozen=True)
class Group:
    """What one wants to understand, and the presets ((page, id)) that show it, the easiest first."""

    title: str
    presets: tuple[tuple[str, str], ...]


GROUPS = (
    Group(
        "How does a sampler find its way?",
        (("race", "critical"), ("race", "stripes"), ("race", "strong-chain"), ("race", "glass"), ("race", "clique")),
    ),
    Group(
        "What do messages know?",
        (
            ("messages", "chain"),
            ("messages", "tree"),
            ("messages", "triangle"),
            ("messages", "damped"),
            ("messages", "or"),
        ),
    ),
    Group(
        "What can maxima tell of a whole distribution?",
        (
            ("perturbation_lab", "two-spins"),
            ("perturbation_lab", "denoise"),
            ("perturbation_lab", "complete"),
            ("frank_wolfe", "edge"),
            ("frank_wolfe", "triangle"),
        ),
    ),
    Group(
        "How does a model learn, and see?",
        (
            ("learning", "digits"),
            ("deconvolution", "painted"),
            ("deconvolution", "paper"),
            ("deconvolution", "letters"),
            ("deconvolution", "complete"),
        ),
    ),
)


def first_tiles(rows: Iterable[Row]) -> list[tuple[str, list[Tile]]]:
    """(title, tiles) of each group; a preset that is not there is left out."""
    known = {
        (page, preset.id): Tile(page, preset, preset.question, f"{preset.label} · {title}")
        for title, page, presets in rows
        for preset in presets
    }
    return [(group.title, [known[each] for each in group.presets if each in known]) for group in GROUPS]


def other_tiles(rows: Iterable[Row]) -> list[tuple[str, list[Tile]]]:
    """(title of the page, tiles) of all others."""
    first = {each for group in GROUPS for each in group.presets}
    rest = (
        (title, [Tile(page, each, each.label, each.question) for each in presets if (page, each.id) not in first])
        for title, page, presets in rows
    )
    return [(title, tiles) for title, tiles in rest if tiles]


__all__ = ["GROUPS", "Group", "first_tiles", "other_tiles"]

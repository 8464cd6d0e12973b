"""The colour, dash and marker of every algorithm's lanes, in plots, headers and tables (Okabe-Ito and its neighbours).

An algorithm brings its own with its spec; one without gets a spare one, always the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pmpviz.types import Style

__all__ = ["GUARANTEES", "SPARE", "VARIANTS", "Style", "Styled", "Unstyled", "style_of", "styles_of"]


class Styled(Protocol):
    """Any algorithm's spec."""

    @property
    def id(self) -> str: ...

    @property
    def style(self) -> Style | None: ...


@dataclass(frozen=True)
class Unstyled:
    """What has an id and brings no style."""

    id: str
    style: Style | None = None


# Lanes of one algorithm with different knobs: the first has the algorithm's style, the others these.
VARIANTS = (
    Style("#D1457B", "dash", "square"),
    Style("#3D85C6", "dot", "diamond"),
    Style("#7F8C1A", "dashdot", "triangle"),
)
SPARE = tuple(
    Style(colour, dash, marker)
    for dash, marker in (("longdash", "circle"), ("dot", "square"))
    for colour in ("#8C4F9F", "#2F7F5F", "#B0532B", "#4A6FA5", "#9A7B00", "#A23B5C", "#3F8F9F")
)
GUARANTEES = {
    "invariant": "invariant: leaves the target distribution unchanged",
    "exact": "exact: every draw has the target distribution",
    "bound": "bound: what it computes bounds the truth",
    "approximate": "approximate: its distribution is not the target's, even in the limit",
}


def style_of(spec: Styled) -> Style:
    """Style of an algorithm by its spec."""
    return spec.style or SPARE[zlib.crc32(spec.id.encode()) % len(SPARE)]


def styles_of(specs: Sequence[Styled]) -> list[Style]:
    """Styles of lanes that may run one algorithm several times: every lane has one of its own."""
    found: list[Style] = []
    for place, spec in enumerate(specs):
        before = sum(other.id == spec.id for other in specs[:place])
        found.append(VARIANTS[(before - 1) % len(VARIANTS)] if before else style_of(spec))
    return found

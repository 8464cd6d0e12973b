"""The colour, dash and marker of every algorithm's lanes, in plots, headers and tables (Okabe-Ito and its neighbours).

An algorithm brings its own with its spec; one without gets a spare one, always the same.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pmpviz.types import Style

__all__ = ["GUARANTEES", "SPARE", "Style", "Styled", "Unstyled", "lightness_of", "shade", "style_of", "styles_of"]


class Styled(Protocol):
    """Any algorithm's spec."""

    @property
    def id(self) -> str:
        """The algorithm's."""
        ...

    @property
    def style(self) -> Style | None:
        """What it brings; None where it has none of its own."""
        ...


@dataclass(frozen=True)
class Unstyled:
    """What has an id and brings no style."""

    id: str
    style: Style | None = None


# Lanes of one algorithm take its hue from light to dark: the outermost lightnesses (CIE L*), of which both themes'
# grounds are clear, and dashes and markers in this order, from the algorithm's own on.
LIGHTEST, DARKEST = 75.0, 41.0
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
MARKERS = ("circle", "square", "triangle", "diamond", "star")
SPARE = tuple(
    Style(colour, dash, marker)
    for dash, marker in (("longdash", "circle"), ("dot", "square"))
    for colour in ("#8C4F9F", "#2F7F5F", "#B0532B", "#4A6FA5", "#9A7B00", "#A23B5C", "#3F8F9F")
)
GUARANTEES = {
    "invariant": "invariant: a sweep leaves the model's law unchanged, so it is right in the long run",
    "exact": "exact: every draw has the model's law",
    "bound": "bound: what it computes bounds the truth",
    "approximate": "approximate: its law is not the model's, however long it runs",
}


def style_of(spec: Styled) -> Style:
    """Style of an algorithm by its spec."""
    return spec.style or SPARE[zlib.crc32(spec.id.encode()) % len(SPARE)]


def styles_of(specs: Sequence[Styled], ranks: Sequence[tuple[int, int]] | None = None) -> list[Style]:
    """Styles of lanes that may run one algorithm several times: every lane has one of its own.

    `ranks` is (place among those of its algorithm, how many there are) of each lane, as `lane_ranks` gives it; the
    order of the lanes where it is left out.
    """
    ids = [spec.id for spec in specs]
    ranks = ranks or [(ids[:place].count(id), ids.count(id)) for place, id in enumerate(ids)]
    alone = [style_of(spec) for spec, (_, count) in zip(specs, ranks, strict=True) if count == 1]
    return [_ranked(style_of(spec), *rank, alone) for spec, rank in zip(specs, ranks, strict=True)]


def _ranked(style: Style, rank: int, count: int, others: Sequence[Style]) -> Style:
    if count == 1:
        return style
    lightness = LIGHTEST + (DARKEST - LIGHTEST) * rank / (count - 1)
    dash = _in_turn(DASHES, style.dash, [other.dash for other in others])[rank % len(DASHES)]
    marker = _in_turn(MARKERS, style.marker, [other.marker for other in others])[rank % len(MARKERS)]
    return Style(shade(style.colour, lightness), dash, marker)


def _in_turn(choices: Sequence[str], own: str, taken: Sequence[str]) -> list[str]:
    """The algorithm's own first, those that other algorithms have last."""
    rest = sorted((each for each in choices if each != own), key=lambda each: each in taken)
    return [own, *rest]


def shade(colour: str, lightness: float) -> str:
    """The colour, mixed with white or black until its CIE lightness L* (0 to 100) is this."""
    own = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)], float)
    end = 255.0 if lightness_of(colour) < lightness else 0.0
    shares = np.linspace(0, 1, 256)
    mixed = [_hex(own + share * (end - own)) for share in shares]
    return min(mixed, key=lambda each: abs(lightness_of(each) - lightness))


def lightness_of(colour: str) -> float:
    """CIE lightness L* of an sRGB colour "#rrggbb": 0 is black, 100 white."""
    values = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    linear = np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)
    luminance = float(linear @ (0.2126, 0.7152, 0.0722))
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


def _hex(colour: np.ndarray) -> str:
    return "#" + "".join(f"{round(float(v)):02X}" for v in colour)

"""What of a deconvolution plan is painted by hand, and how it stands in a link."""

from __future__ import annotations

import re
from typing import Any

from pmpviz.capabilities.deconvolution.bitmaps import pack, pack_clamped, unpack, unpack_clamped
from pmpviz.io.datasets.stamps import GLYPH_SETS
from pmpviz.live.link import quote
from pmpviz.live.plan import Special, Text
from pmpviz.types import InputError

PAINTED = "painted"
MOST_GLYPHS, MOST_GLYPH_SIDE = 8, 12
MOST_TEXT = 4000


def check_data(text: str) -> None:
    """Raise InputError where a link cannot name these data."""
    known = [PAINTED, *(each.id for each in GLYPH_SETS)]
    if text not in known:
        raise InputError(f"there are no glyphs {quote(text)}; choose one of {', '.join(known)}")


class Painted(Special):
    """The fields `painted`, `paint_height` and `paint_width`: `5x5:f8-20` in links, of packed bits."""

    keys = ("painted",)

    def write(self, plan: Any) -> dict[str, str]:
        """Nothing where nothing is painted."""
        glyphs = "-".join(pack(text) for text in plan.painted)
        return {"painted": f"{plan.paint_height}x{plan.paint_width}:{glyphs}"} if plan.painted else {}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """Glyphs that can be read, as many as there may be."""
        if "painted" not in given:
            return plan
        text = given["painted"]
        size = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3}):([0-9a-f-]*)", text[:MOST_TEXT])
        sides = tuple(int(side) for side in size.groups()[:2]) if size else (0, 0)
        if size is None or not all(1 <= side <= MOST_GLYPH_SIDE for side in sides):
            most = f"{MOST_GLYPH_SIDE} x {MOST_GLYPH_SIDE}"
            notices.append(
                f"the painted glyphs {quote(text)} cannot be read and were left out; they are of up to {most}"
            )
            return plan
        parts = size.group(3).split("-")
        if len(parts) > MOST_GLYPHS:
            notices.append(f"there are {len(parts)} painted glyphs, of which the first {MOST_GLYPHS} were kept")
        glyphs = []
        for place, digits in enumerate(parts[:MOST_GLYPHS]):
            try:
                glyphs.append(unpack(digits, sides[0] * sides[1]))
            except InputError as error:
                notices.append(f"painted glyph {place + 1} was left out: {error}")
        return plan.replace(painted=tuple(glyphs), paint_height=sides[0], paint_width=sides[1])


class Clamped(Special):
    """The field `clamped`: `0:ff.c3` for each feature that is painted over, in links."""

    keys = ("clamped",)

    def write(self, plan: Any) -> dict[str, str]:
        """Nothing where nothing is clamped."""
        clamped = "-".join(f"{feature}:{pack_clamped(text)}" for feature, text in plan.clamped)
        return {"clamped": clamped} if clamped else {}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """The features that a link clamps, as far as they fit the plan's."""
        text = given.get("clamped", "")
        rows, columns = plan.feature_pixels
        kept: dict[int, str] = {}
        for part in text[:MOST_TEXT].split("-") if text else []:
            number, _, digits = part.partition(":")
            try:
                if not re.fullmatch(r"[0-9]{1,3}", number) or int(number) >= plan.features:
                    raise InputError(f"there is no feature {quote(number)} among {plan.features}")
                kept[int(number)] = unpack_clamped(digits, rows * columns)
            except InputError as error:
                notices.append(f"a clamped feature was left out: {error}")
        return plan.replace(clamped=tuple(sorted(kept.items())))


DATA, PAINT, CLAMPED = Text("data", "glyphs were", check_data), Painted(), Clamped()


__all__ = ["CLAMPED", "DATA", "MOST_GLYPHS", "MOST_GLYPH_SIDE", "PAINT", "PAINTED"]

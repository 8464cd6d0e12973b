"""A deconvolution plan as a link: to query and back, every value clamped with a notice, never an exception."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pmpviz.app.address import VERSION
from pmpviz.app.link_values import lane_text, quote, read_checked, read_named, read_plain, text_of
from pmpviz.capabilities.deconvolution.bitmaps import pack, pack_clamped, unpack, unpack_clamped
from pmpviz.capabilities.deconvolution.plan import (
    MOST_GLYPH_SIDE,
    MOST_GLYPHS,
    MOST_LANES,
    PAINTED,
    SETTINGS,
    ConvLanePlan,
    DeconvolutionPlan,
    conv_sampler_class,
)
from pmpviz.io.datasets.stamps import GLYPH_SETS
from pmpviz.types import InputError

LANES = tuple(f"lane{i + 1}" for i in range(MOST_LANES))
KEYS = ("v", "data", *(p.name for p in SETTINGS), "painted", "clamped", *LANES)


def plan_to_query(plan: DeconvolutionPlan) -> dict[str, str]:
    """The plan as query parameters: `v`, `data`, ..., `painted` = `5x5:f8-20` (packed bits), `lane1` = `pmp`."""
    query = {"v": VERSION, "data": plan.data}
    query |= {p.name: text_of(getattr(plan, p.name)) for p in SETTINGS}
    if plan.painted:
        query["painted"] = f"{plan.paint_height}x{plan.paint_width}:" + "-".join(pack(text) for text in plan.painted)
    if plan.clamped:
        query["clamped"] = "-".join(f"{feature}:{pack_clamped(text)}" for feature, text in plan.clamped)
    return query | {name: lane_text(lane.algorithm, lane.knobs) for name, lane in zip(LANES, plan.lanes, strict=False)}


def plan_from_query(params: Mapping[str, str], default: DeconvolutionPlan) -> tuple[DeconvolutionPlan, list[str]]:
    """(plan, notices) of a link; what is missing comes from `default`; never raises."""
    given = {str(key): str(value) for key, value in params.items()}
    notices: list[str] = []
    values = read_plain(given, SETTINGS, KEYS, default, notices)
    lanes = [_read_lane(given[name], name, notices) for name in LANES if name in given]
    kept = tuple(lane for lane in lanes if lane is not None) or default.lanes
    data = read_checked("glyphs were", given.get("data", default.data), default.data, _check_data, notices)
    plan = default.replace(data=data, lanes=kept, **values)
    if "painted" in given:
        plan = _with_painted(plan, given["painted"], notices)
    return _with_clamped(plan, given.get("clamped", ""), notices), notices


def _check_data(text: str) -> None:
    """Raise InputError where a link cannot name these data."""
    known = [PAINTED, *(each.id for each in GLYPH_SETS)]
    if text not in known:
        raise InputError(f"there are no glyphs {quote(text)}; choose one of {', '.join(known)}")


def _read_lane(text: str, lane: str, notices: list[str]) -> ConvLanePlan | None:
    found = read_named(text, lane, conv_sampler_class, notices)
    return None if found is None else ConvLanePlan(*found)


def _with_painted(plan: DeconvolutionPlan, text: str, notices: list[str]) -> DeconvolutionPlan:
    size = re.fullmatch(r"([0-9]{1,3})x([0-9]{1,3}):([0-9a-f-]*)", text[:4000])
    sides = tuple(int(side) for side in size.groups()[:2]) if size else (0, 0)
    if size is None or not all(1 <= side <= MOST_GLYPH_SIDE for side in sides):
        most = f"{MOST_GLYPH_SIDE} x {MOST_GLYPH_SIDE}"
        notices.append(f"the painted glyphs {quote(text)} cannot be read and were left out; they are of up to {most}")
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


def _with_clamped(plan: DeconvolutionPlan, text: str, notices: list[str]) -> DeconvolutionPlan:
    """The plan with the features that a link clamps, as far as they fit its features."""
    rows, columns = plan.feature_pixels
    kept: dict[int, str] = {}
    for part in text[:4000].split("-") if text else []:
        number, _, digits = part.partition(":")
        try:
            if not re.fullmatch(r"[0-9]{1,3}", number) or int(number) >= plan.features:
                raise InputError(f"there is no feature {quote(number)} among {plan.features}")
            kept[int(number)] = unpack_clamped(digits, rows * columns)
        except InputError as error:
            notices.append(f"a clamped feature was left out: {error}")
    return plan.replace(clamped=tuple(sorted(kept.items())))


__all__ = ["plan_from_query", "plan_to_query"]

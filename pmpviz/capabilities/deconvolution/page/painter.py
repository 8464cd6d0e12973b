"""The glyph painter: mounts the component, and returns a drawing only after it has been checked."""

from __future__ import annotations

from functools import cache
from typing import Any

import streamlit as st

from pmpviz.capabilities.deconvolution.bitmaps import INK, PAPER, UNSET
from pmpviz.capabilities.deconvolution.settings import MOST_GLYPH_SIDE, MOST_GLYPHS

_SEEN = "_painter_seen"


@cache
def _component() -> Any:
    # Packaged components are known only once a server runs, so this waits for the first page.
    return st.components.v2.component("pmpviz.glyphs", js="glyphs.js", css="glyphs.css", isolate_styles=False)


def glyph_painter(
    glyphs: tuple[str, ...],
    height: int,
    width: int,
    *,
    key: str,
    ternary: bool = False,
    labels: tuple[str, ...] = (),
    most: int = MOST_GLYPHS,
) -> tuple[str, ...]:
    """Grids of `height` x `width` pixels to paint on, one a text of `glyphs`; the drawing as it is now.

    `ternary` pixels are ink, paper or free (-), and the number of grids stays; else glyphs come and go, `most` at most.
    """
    drawn = _new_drawing(key, height * width, ternary, len(glyphs) if ternary else most)
    glyphs = glyphs if drawn is None else drawn
    data = {
        "rows": height,
        "cols": width,
        "glyphs": list(glyphs),
        "mode": "ternary" if ternary else "binary",
        "fixed": ternary,
        "most": most,
        "labels": list(labels),
        "answered": list(st.session_state.get(_SEEN, {}).get(key, ("", 0))),
    }
    _component()(key=key, data=data, on_drawn_change=_nothing)
    return glyphs


def _nothing() -> None:
    """Streamlit keeps a component's state only under a name that has a callback."""


def _new_drawing(key: str, size: int, ternary: bool, most: int) -> tuple[str, ...] | None:
    """What was painted since the last run, checked; None where nothing was, or nothing that fits."""
    state = st.session_state.get(key)
    raw = state.get("drawn") if state is not None and hasattr(state, "get") else None
    if not isinstance(raw, dict):
        return None
    number = raw.get("number")
    mount = str(raw.get("mount"))[:40]
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not 0 < number < 2**53:
        return None
    seen = st.session_state.setdefault(_SEEN, {})
    last = seen[key][1] if seen.get(key, ("", 0))[0] == mount else 0
    if number <= last:
        return None
    seen[key] = (mount, int(number))
    return checked(raw.get("glyphs"), size, ternary, most)


def checked(raw: Any, size: int, ternary: bool, most: int) -> tuple[str, ...] | None:
    """Texts of `size` pixels from arbitrary JSON, `most` at most (all of them where ternary); None where it is none."""
    if not isinstance(raw, list) or not 1 <= len(raw) <= most or (ternary and len(raw) != most):
        return None
    if not 0 < size <= MOST_GLYPH_SIDE**2:
        return None
    known = {INK, PAPER, UNSET} if ternary else {INK, PAPER}
    if not all(isinstance(text, str) and len(text) == size and set(text) <= known for text in raw):
        return None
    return tuple(raw)


__all__ = ["checked", "glyph_painter"]

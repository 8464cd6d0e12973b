"""Pictures on the home page, rendered by the engine, that open the other pages at a preset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from pmpviz.app.address import PRESET

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "gallery"
STYLE = """<style>
[class*="st-key-card-"] { position: relative; gap: 0.25rem; }
[class*="st-key-card-"] :is([data-testid="stElementContainer"], [data-testid="stPageLink"], div):has(a) {
  position: static;
}
[class*="st-key-card-"] img { aspect-ratio: 1; object-fit: contain; }
@media (prefers-color-scheme: dark) { [class*="st-key-card-"] img { filter: invert(0.92) hue-rotate(180deg); } }
[class*="st-key-card-"] a { position: static; padding-inline: 0; align-items: start; line-height: 1.3; }
[class*="st-key-card-"] a::after { content: ""; position: absolute; inset: 0; }
[class*="st-key-card-"] .stElementContainer:has([data-testid="stCaptionContainer"]) { pointer-events: none; }
[class*="st-key-card-"] a:hover { background: none; text-decoration: underline; }
[class*="st-key-card-"] a:focus-visible::after { outline: 2px solid currentColor; outline-offset: 3px; }
[class*="st-key-card-"] a :is(span, p) { white-space: normal; text-overflow: clip; }
</style>"""


@dataclass(frozen=True)
class Tile:
    """A picture that opens a page at a preset; `words` are the link, `note` stands beneath it."""

    page: str
    preset: Any
    words: str
    note: str


def gallery(groups: Iterable[tuple[str, Sequence[Tile]]], columns: int) -> None:
    """Tiles under the titles of their groups, so many in a row, each a link.

    Links, not buttons: with `st.switch_page` this page's timer may ask for its fragment once more before the browser
    knows of the other page, and Streamlit then draws that fragment over it.
    """
    st.html(STYLE)
    for title, tiles in groups:
        st.markdown(f"##### {title}")
        for start in range(0, len(tiles), columns):
            for column, tile in zip(st.columns(columns), tiles[start : start + columns], strict=False):
                _card(tile, column)


def _card(tile: Tile, column) -> None:
    page, preset = tile.page, tile.preset
    card = column.container(key=f"card-{page}-{preset.id}")
    picture = FOLDER / f"{page}-{preset.id}.png"
    if picture.is_file():
        card.image(str(picture), alt=f"A sample of: {preset.label}", width="stretch", output_format="PNG")
    card.page_link(f"pages/{page}.py", label=tile.words, width="stretch", query_params={PRESET: preset.id})
    card.caption(tile.note)

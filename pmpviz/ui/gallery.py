"""Pictures on the home page, rendered by the engine, that open the other pages at a preset."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from pmpviz.experiments.deconvolution_presets import DECONVOLUTION
from pmpviz.experiments.inference_presets import INFERENCE
from pmpviz.experiments.learning_presets import LEARNING
from pmpviz.experiments.message_presets import MESSAGES
from pmpviz.experiments.perturbation_presets import PERTURBATION
from pmpviz.experiments.presets import PLAYGROUND, RACE, PagePreset
from pmpviz.ui.page import open_preset, show_plan

FOLDER = Path(__file__).resolve().parents[2] / "assets" / "gallery"
COLUMNS = 6


ROWS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("Deconvolution", "deconvolution", DECONVOLUTION),
    ("Frank-Wolfe", "frank_wolfe", INFERENCE),
    ("Perturbation lab", "perturbation_lab", PERTURBATION),
    ("Messages", "messages", MESSAGES),
    ("Learning", "learning", LEARNING),
    ("Race", "race", RACE),
    ("Playground", "playground", PLAYGROUND),
)


def open_chosen() -> None:
    """Go to the page of a picture that was clicked, before anything of this page is drawn in vain."""
    for _, page, presets in ROWS:
        for preset in presets:
            if st.session_state.get(_key(page, preset)):
                if isinstance(preset, PagePreset):
                    open_preset(page, preset)
                else:
                    show_plan(page, preset.plan)
                st.switch_page(f"pages/{page}.py")


def gallery() -> None:
    """One row of pictures a page, each with a button that opens it (see `open_chosen`)."""
    for title, page, presets in ROWS:
        st.markdown(f"##### {title}")
        for start in range(0, len(presets), COLUMNS):
            columns = st.columns(COLUMNS)
            for column, preset in zip(columns, presets[start : start + COLUMNS], strict=False):
                _card(page, preset, column)


def _key(page: str, preset: Any) -> str:
    return f"open-{page}-{preset.id}"


def _card(page: str, preset: Any, column) -> None:
    picture = FOLDER / f"{page}-{preset.id}.png"
    if picture.is_file():
        column.image(str(picture), alt=f"A sample of: {preset.label}", width="stretch")
    column.button(preset.label, key=_key(page, preset), width="stretch", help=preset.question)

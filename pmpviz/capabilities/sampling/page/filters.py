"""Below the stage of a layered model: the weights of its hidden units as images."""

from __future__ import annotations

import functools
import io

import numpy as np
import streamlit as st

from pmpviz.app.models import model_of
from pmpviz.capabilities.sampling.page.stage import SamplingStage
from pmpviz.models import LayeredModel
from pmpviz.player.filters import filters_image
from pmpviz.player.layered import image_shape
from pmpviz.player.numbers import integer, significant


def weights(stage: SamplingStage) -> None:
    """The weights of each hidden unit; nothing where the model has no hidden layer."""
    live = stage.live
    model = model_of(stage.plan.model) if live is not None else None
    if not isinstance(model, LayeredModel):
        return
    with st.expander("Weights of the hidden units", expanded=True):
        by_norm = st.toggle("Largest norm first", key=f"filters:{stage.id}")
        dark = st.context.theme.type == "dark"
        picture, shown, limit = _picture(stage.plan.model, dark, by_norm)
        words = _words(model, stage.plan.model, shown, by_norm)
        st.image(picture, output_format="PNG", alt=words)
        zero = "black" if dark else "white"
        st.caption(f"{words} Blue is below zero, orange above, {zero} zero; full colour is ±{significant(limit)}.")


@functools.lru_cache(maxsize=16)
def _picture(text: str, dark: bool, by_norm: bool) -> tuple[bytes, int, float]:
    """(PNG, tiles in it, weight of the full colours) of the model that the text names."""
    model = model_of(text)
    found = filters_image(np.asarray(model.weight), image_shape(model.visible, text), dark, by_norm)
    file = io.BytesIO()
    found.image.save(file, "PNG")
    return file.getvalue(), len(found.units), found.limit


def _words(model: LayeredModel, text: str, shown: int, by_norm: bool) -> str:
    rows, columns = image_shape(model.visible, text)
    which = f"the {integer(model.hidden)} hidden units"
    if shown < model.hidden:
        which = f"{integer(shown)} of {which}, {'those of the largest norm' if by_norm else 'the first ones'}"
    order = "from the largest norm down" if by_norm else "in their order, row by row"
    lateral = "" if model.couplings.lateral is None else " The weights between pixels are not among them."
    return f"Weights of {which}, {order}, each on the {rows} × {columns} visible pixels.{lateral}"

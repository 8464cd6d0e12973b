"""Clamp the upper half of a picture and have the rest sampled: for layered models of 8 x 8 visible pixels."""

from __future__ import annotations

import numpy as np
import streamlit as st
from jaxtyping import Int8

from pmpviz.app.models import model_of
from pmpviz.app.widgets import pressed
from pmpviz.capabilities.sampling.page.stage import SamplingStage
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.io.datasets import parse_dataset
from pmpviz.models import LayeredModel
from pmpviz.player.layered import image_shape

SHAPE = (8, 8)
BARS = "A row and a column"
DIGITS = tuple(f"Digit {digit}" for digit in range(10))


def half_picture(stage: SamplingStage) -> None:
    """The choice of a picture whose upper half is clamped; nothing for a model of other pictures."""
    live = stage.live
    model = model_of(stage.plan.model) if live is not None else None
    if not isinstance(model, LayeredModel) or image_shape(model.visible, stage.plan.model) != SHAPE:
        return
    choice, clamp, release = st.columns([2, 1, 1], vertical_alignment="bottom")
    help = "One of scikit-learn's handwritten digits, or two bars. A model that has learned such pictures completes it."
    name = choice.selectbox("Picture to complete", (BARS, *DIGITS), key=f"completion:{stage.id}", help=help)
    if pressed(clamp, "Clamp its upper half", f"complete:{stage.id}", width="stretch"):
        _adopt(stage, stage.plan.replace(clamp=with_upper_half(stage.plan.clamp, picture(name))))
    if pressed(release, "Release all", f"release:{stage.id}", width="stretch", disabled=not stage.plan.clamp):
        _adopt(stage, stage.plan.replace(clamp=()))


def picture(name: str) -> Int8[np.ndarray, "8 8"]:
    """The picture of this name: the first digit of its kind in the data."""
    if name == BARS:
        x = np.zeros(SHAPE, np.int8)
        x[2], x[:, 5] = 1, 1
        return x
    return parse_dataset("digits", files=False).only([DIGITS.index(name)]).images[0]


def with_upper_half(clamp: tuple[tuple[int, int], ...], x: Int8[np.ndarray, "h w"]) -> tuple[tuple[int, int], ...]:
    """The clamped sites with every pixel of the picture's upper half at its value, and none of its lower half."""
    upper = x[: x.shape[0] // 2].reshape(-1).tolist()
    kept = [(site, value) for site, value in clamp if site >= x.size]
    return (*enumerate(upper), *kept)


def _adopt(stage: SamplingStage, plan: Plan) -> None:
    stage.change(plan)
    st.rerun()

"""How a model is laid out as a picture: a lattice by its sides, a layered model by the image of its visible layer."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Int8

from pmpviz.models import LayeredModel, parse_model_spec
from pmpviz.models.couplings import Shape

IMAGE = ("height", "width", "hidden")


def picture_shape(model, text: str = "") -> Shape | None:
    """Sides of the picture: the lattice's, or those of the visible layer's image; None for any other graph.

    `text` is the plan's text of the model: a builder's spec says the image's sides, a file's doesn't.
    """
    if isinstance(model, LayeredModel):
        return image_shape(model.visible, text)
    return getattr(model, "shape", None)


def image_shape(visible: int, text: str = "") -> tuple[int, int]:
    """(rows, columns) of an image of so many pixels: the builder's, else the most nearly square ones, rows first."""
    if text and not text.startswith("file:"):
        builder, size, _ = parse_model_spec(text)
        if builder.size == IMAGE and size[0] * size[1] == visible:
            return size[0], size[1]
    rows = next(side for side in range(math.isqrt(visible), 0, -1) if visible % side == 0)
    return rows, visible // rows


def picture_of(model, x: Int8[np.ndarray, "*m n"]) -> Int8[np.ndarray, "*m pixels"]:
    """The part of the configurations that the picture of `picture_shape` shows."""
    return x[..., : model.visible] if isinstance(model, LayeredModel) else x


def site_words(model, text: str, site: int) -> str:
    """What a site is called: its pixel or its hidden unit in a layered model, else its number; people count from 1."""
    if not isinstance(model, LayeredModel):
        return str(site + 1)
    if site >= model.visible:
        return f"hidden unit {site - model.visible + 1}"
    row, column = divmod(site, image_shape(model.visible, text)[1])
    return f"visible pixel ({row + 1}, {column + 1})"

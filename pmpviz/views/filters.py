"""Weights and data as pictures: the filters of a model's hidden units, and rows of a dataset."""

from __future__ import annotations

import io
import math

import numpy as np
from jaxtyping import Float, Int8, UInt8
from PIL import Image

from pmpviz.models import Ising, LayeredModel
from pmpviz.models.couplings import DenseCouplings

MOST_FILTERS = 100
SIDE = 720
BLUE, ORANGE = np.array([0, 114, 178]), np.array([213, 94, 0])
LIGHT_GROUND, DARK_GROUND = np.array([252, 252, 250]), np.array([20, 22, 26])
LIGHT_INK, DARK_INK = np.array([28, 28, 30]), np.array([232, 232, 228])


def diverging(values: Float[np.ndarray, "*shape"], limit: float, dark: bool) -> UInt8[np.ndarray, "*shape 3"]:
    """Blue below 0, the ground at 0, orange above, at full strength at -limit and limit."""
    ground = DARK_GROUND if dark else LIGHT_GROUND
    share = np.clip(values / max(limit, 1e-12), -1, 1)[..., None]
    colour = np.where(share < 0, BLUE, ORANGE)
    return (ground + np.abs(share) * (colour - ground)).round().astype(np.uint8)


def filters_of(model: Ising, most: int = MOST_FILTERS) -> Float[np.ndarray, "k v"]:
    """One row of weights for each picture: of the hidden units with the largest weights, strongest first; of a fully
    connected model the couplings of evenly chosen sites."""
    if isinstance(model, LayeredModel):
        weight = np.asarray(model.weight)
        order = np.argsort(-(weight**2).sum(1), kind="stable")[:most]
        return weight[order]
    assert isinstance(model.couplings, DenseCouplings)
    weight = np.asarray(model.couplings.matrix())
    chosen = np.unique(np.linspace(0, len(weight) - 1, min(most, len(weight))).round().astype(int))
    return weight[chosen]


def filters_image(rows: Float[np.ndarray, "k v"], shape: tuple[int, int], dark: bool = False, side: int = SIDE):
    """The rows as pictures side by side on one scale, which ends at the 99.5 % quantile of their sizes."""
    limit = float(np.quantile(np.abs(rows), 0.995)) if rows.size else 1.0
    return _tiled(diverging(rows.reshape(-1, *shape), limit, dark), dark, side)


def pictures_image(x: Int8[np.ndarray, "k v"], shape: tuple[int, int], dark: bool = False, side: int = SIDE):
    """Binary pictures side by side: ink on paper, swapped in the dark."""
    ground, ink = (DARK_GROUND, DARK_INK) if dark else (LIGHT_GROUND, LIGHT_INK)
    pixels = np.where(np.asarray(x).reshape(-1, *shape)[..., None] > 0, ink, ground).astype(np.uint8)
    return _tiled(pixels, dark, side)


def _tiled(pictures: UInt8[np.ndarray, "k h w 3"], dark: bool, side: int) -> Image.Image:
    count, height, width, _ = pictures.shape
    columns = max(1, math.ceil(math.sqrt(count * height / width)))
    rows = math.ceil(count / columns)
    line = np.array([58, 60, 66] if dark else [214, 214, 208], np.uint8)
    canvas = np.broadcast_to(line, (rows * (height + 1) + 1, columns * (width + 1) + 1, 3)).copy()
    for k, picture in enumerate(pictures):
        top, left = 1 + (k // columns) * (height + 1), 1 + (k % columns) * (width + 1)
        canvas[top : top + height, left : left + width] = picture
    scale = max(1, side // max(canvas.shape[:2]))
    return Image.fromarray(canvas).resize((canvas.shape[1] * scale, canvas.shape[0] * scale), Image.Resampling.NEAREST)


def png(image: Image.Image) -> bytes:
    """The picture as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()

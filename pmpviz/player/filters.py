"""The weights of hidden units as images of the visible layer, and rows of data, tiled into one picture."""

from __future__ import annotations

import base64
import io
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Int8, UInt8
from PIL import Image

from pmpviz.models import Ising, LayeredModel
from pmpviz.models.couplings import to_dense
from pmpviz.player.pictures import DARK, LIGHT
from pmpviz.player.wire import Payload
from pmpviz.types import InputError

MOST_TILES = 100
MOST_SENT, MOST_BYTES = 64, 1 << 16
WIDTH = 1000
LARGEST, GAP = 96, 4
NEGATIVE, POSITIVE = (0, 114, 178), (213, 94, 0)
NEGATIVE_DARK, POSITIVE_DARK = (86, 180, 233), (255, 148, 56)


@dataclass(frozen=True)
class Filters:
    """The picture, the hidden units in the order of its tiles (row by row), and the weight of the full colours."""

    image: Image.Image
    units: tuple[int, ...]
    limit: float


def filters_image(
    weight: Float[np.ndarray, "hidden visible"],
    shape: tuple[int, int],
    dark: bool = False,
    by_norm: bool = False,
    most: int = MOST_TILES,
) -> Filters:
    """Tiles of weight[k] on `shape`, blue below zero and orange above, zero in between, one symmetric scale for all.

    At most `most` units: the first ones, or those of the largest norm, the largest first. The scale ends at the
    largest absolute weight of what is shown. Raises InputError where the weights don't fill the shape.
    """
    weight = np.asarray(weight, np.float64)
    if weight.ndim != 2 or weight.shape[1] != math.prod(shape) or not weight.size:
        raise InputError(f"weights of shape {weight.shape} are no images of {' x '.join(map(str, shape))}")
    order = np.argsort(-np.linalg.norm(weight, axis=1), kind="stable") if by_norm else np.arange(len(weight))
    units = order[:most]
    shown = weight[units].reshape(-1, *shape)
    limit = float(np.abs(shown).max())
    tiles = _colours(shown / (limit or 1.0), dark)
    return Filters(_tiled(tiles, dark), tuple(units.tolist()), limit)


def weights_of(model: Ising, most: int = MOST_TILES) -> Float[np.ndarray, "k visible"]:
    """Rows of weights to the visible sites: those of the hidden units; without these, of some sites to all others."""
    if isinstance(model, LayeredModel):
        return np.asarray(model.weight)
    return np.asarray(to_dense(model.couplings).weight)[some_sites(model.n, most)]


def some_sites(n: int, most: int) -> Int[np.ndarray, " k"]:
    """At most `most` of n sites, evenly chosen."""
    return np.unique(np.linspace(0, n - 1, min(most, n)).round().astype(int))


@dataclass(frozen=True, eq=False)
class SentFilters:
    """Filters as the player is sent them, small enough to be kept of many moments.

    The first hidden units of `total`, or some of so many pixels with their couplings to all others: `weight` of 127 at
    the `limit` of each, and the `bias` of the hidden units.
    """

    hidden: bool
    total: int
    units: Int[np.ndarray, " k"]
    weight: Int8[np.ndarray, "k pixels"]
    limit: Float[np.ndarray, " k"]
    bias: Float[np.ndarray, " k"]


def sent_filters(model: Ising, shape: tuple[int, int]) -> SentFilters:
    """The filters of a model of pictures of this shape."""
    most = max(1, min(MOST_SENT, MOST_BYTES // math.prod(shape)))
    layered, weight = isinstance(model, LayeredModel), weights_of(model, most)[:most]
    bias = np.asarray(model.hidden_bias)[:most] if isinstance(model, LayeredModel) else np.zeros(len(weight))
    limit = np.maximum(np.abs(weight).max(1), np.finfo(np.float32).tiny)
    units = np.arange(len(weight)) if layered else some_sites(model.n, most)
    total = model.hidden if isinstance(model, LayeredModel) else model.n
    return SentFilters(layered, total, units, (127 * weight / limit[:, None]).round().astype(np.int8), limit, bias)


def filter_words(
    payload: Payload, filters: SentFilters, shape: tuple[int, int], pictures: int, columns: int
) -> dict[str, Any]:
    """What the player is sent of filters beside a mosaic of so many pictures in so many columns."""
    return {
        "hidden": filters.hidden,
        "total": filters.total,
        "units": filters.units,
        "height": shape[0],
        "width": shape[1],
        "pictures": pictures,
        "columns": columns,
        "weight": payload.add(filters.weight, "i1"),
        "limit": payload.add(filters.limit),
        "bias": payload.add(filters.bias),
    }


def pictures_image(x: Int8[np.ndarray, "k visible"], shape: tuple[int, int], dark: bool = False) -> Image.Image:
    """Binary pictures side by side: ink on paper, swapped in the dark."""
    colours = DARK if dark else LIGHT
    ink = np.asarray(x).reshape(-1, *shape)[..., None] > 0
    return _tiled(np.where(ink, np.uint8(colours.ink), np.uint8(colours.paper)), dark)


def png(image: Image.Image) -> bytes:
    """The picture as a PNG file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def data_address(image: Image.Image) -> str:
    """The picture inside an address: for pictures that are replaced so often that a browser asks for old ones."""
    return f"data:image/png;base64,{base64.b64encode(png(image)).decode()}"


def _colours(share: Float[np.ndarray, "k h w"], dark: bool) -> UInt8[np.ndarray, "k h w 3"]:
    """Shares from -1 to 1 as colours, mixed as the player mixes those of filters."""
    middle = np.array((20, 20, 18) if dark else (250, 249, 246))
    negative, positive = (NEGATIVE_DARK, POSITIVE_DARK) if dark else (NEGATIVE, POSITIVE)
    end = np.where(share[..., None] < 0, negative, positive)
    return (middle + (end - middle) * np.abs(share)[..., None]).round().astype(np.uint8)


def _tiled(tiles: UInt8[np.ndarray, "k h w 3"], dark: bool) -> Image.Image:
    """Tiles of whole screen pixels in rows, with a gap around each."""
    count, height, width, _ = tiles.shape
    columns = min(count, max(8, math.ceil(math.sqrt(2 * count))))
    room = min(LARGEST, (WIDTH - GAP) // columns - GAP)
    scale = max(1, room // max(height, width))
    tiles = tiles.repeat(scale, 1).repeat(scale, 2)
    ground = (62, 61, 58) if dark else (205, 202, 194)
    high, wide = tiles.shape[1] + GAP, tiles.shape[2] + GAP
    image = Image.new("RGB", (columns * wide + GAP, -(-count // columns) * high + GAP), (DARK if dark else LIGHT).paper)
    for k, tile in enumerate(tiles):
        left, top = GAP + k % columns * wide, GAP + k // columns * high
        image.paste(ground, (left - 1, top - 1, left + wide - GAP + 1, top + high - GAP + 1))
        image.paste(Image.fromarray(tile), (left, top))
    return image

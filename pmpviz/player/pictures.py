"""Configurations as PNG and GIF: a lattice as square pixels, any other model as circles and edges."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from PIL import Image, ImageDraw

from pmpviz.models.space import PALETTE
from pmpviz.types import InputError

SIDE = 1024
GIF_SIDE = 512
MOST_FRAMES = 300
GAP = 1

Shape = tuple[int, ...]


class Inks(NamedTuple):
    """RGB of state 0 and of state 1 where there are two (the ground and the outlines else), of edges and gaps."""

    paper: tuple[int, int, int]
    ink: tuple[int, int, int]
    line: tuple[int, int, int]


LIGHT = Inks((251, 250, 247), (28, 27, 25), (168, 164, 155))
DARK = Inks((20, 20, 18), (236, 234, 228), (96, 94, 88))
# Couplings that a state does not meet, as in theme.js: light, dark.
UNMET = ((200, 16, 46), (255, 107, 107))


def plane_of(x: np.ndarray, shape: Shape) -> Int[np.ndarray, "h w"]:
    """A lattice's states as one plane: a chain as a row, the layers of a cube side by side with gaps of -1."""
    if math.prod(shape) != x.size or not 1 <= len(shape) <= 3:
        raise InputError(f"{x.size} states do not fill a lattice of {' x '.join(map(str, shape))}")
    plane = np.asarray(x, np.int16).reshape(shape)
    if len(shape) == 1:
        return plane[None]
    return plane if len(shape) == 2 else _side_by_side(plane)


def _side_by_side(cube: np.ndarray) -> np.ndarray:
    depth, height, width = cube.shape
    columns = math.ceil(math.sqrt(depth))
    rows = -(-depth // columns)
    plane = np.full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP), -1, np.int16)
    for layer in range(depth):
        top, left = layer // columns * (height + GAP), layer % columns * (width + GAP)
        plane[top : top + height, left : left + width] = cube[layer]
    return plane


def _palette(inks: Inks, states: int) -> UInt8[np.ndarray, "k 3"]:
    """Row 0 for gaps, then paper and ink, or the colours of more states; ink last, for outlines."""
    if states <= 2:
        return np.array([inks.line, inks.paper, inks.ink], np.uint8)
    colours = [tuple(bytes.fromhex(colour[1:])) for colour in PALETTE[:states]]
    return np.array([inks.line, *colours, inks.ink], np.uint8)


def lattice_image(x: np.ndarray, shape: Shape, side: int = SIDE, dark: bool = False, states: int = 2) -> Image.Image:
    """Square pixels, a whole number of screen pixels each, the longer side at most `side` (one pixel a site at least).

    The image has a palette: index 0 is a gap, 1 + s the state s.
    """
    plane = plane_of(x, shape)
    image = Image.fromarray((plane + 1).astype(np.uint8))
    image.putpalette(_palette(DARK if dark else LIGHT, states).tobytes())
    scale = max(1, side // max(plane.shape))
    return image.resize((plane.shape[1] * scale, plane.shape[0] * scale), Image.Resampling.NEAREST)


def colour_image(colours: Float[np.ndarray, "h w 3"], side: int = SIDE) -> Image.Image:
    """Red, green and blue from 0 to 1 as square pixels."""
    pixels: UInt8[np.ndarray, "h w 3"] = (255 * np.clip(colours, 0, 1)).round().astype(np.uint8)
    scale = max(1, side // max(pixels.shape[:2]))
    return Image.fromarray(pixels.repeat(scale, 0).repeat(scale, 1))


def graph_image(
    x: np.ndarray,
    positions: Float[np.ndarray, "n 2"],
    edges: Int[np.ndarray, "m 2"],
    side: int = SIDE,
    dark: bool = False,
    states: int = 2,
    unmet: Bool[np.ndarray, " m"] | None = None,
) -> Image.Image:
    """Circles at `positions` (any scale, y downwards) filled by state, over lines for `edges`, red where they are
    `unmet`; smooth outlines."""
    if len(positions) != x.size:
        raise InputError(f"{len(positions)} positions for {x.size} variables; give one each")
    big = 2 * side
    place, radius = _placed(np.asarray(positions, np.float64), big)
    colours = [tuple(row) for row in _palette(DARK if dark else LIGHT, states).tolist()]
    image = Image.new("RGB", (big, big), (DARK if dark else LIGHT).paper)
    draw = ImageDraw.Draw(image)
    pairs = np.asarray(edges, int).reshape(-1, 2)
    red = np.zeros(len(pairs), bool) if unmet is None else np.asarray(unmet)
    for chosen, colour, width in ((~red, colours[0], big // 700), (red, UNMET[dark], big // 200)):
        for i, j in pairs[chosen]:
            draw.line([*place[i], *place[j]], fill=colour, width=max(2, width))
    for (left, top), state in zip(place, np.asarray(x, int).reshape(-1), strict=True):
        box = [left - radius, top - radius, left + radius, top + radius]
        draw.ellipse(box, fill=colours[1 + state], outline=colours[-1], width=max(2, big // 500))
    return image.resize((side, side), Image.Resampling.LANCZOS)


def _placed(positions: np.ndarray, big: int) -> tuple[np.ndarray, float]:
    """(pixels of each node inside the margin, radius of a node)."""
    low, high = positions.min(0), positions.max(0)
    span = max(float((high - low).max()), 1e-9)
    radius = big * min(0.04, 0.35 / math.sqrt(len(positions)))
    centred = (positions - (low + high) / 2) / span
    return big / 2 + centred * (big - 2.5 * radius - 4), radius


def picture_png(
    x: np.ndarray,
    shape: Shape | None = None,
    positions: Float[np.ndarray, "n 2"] | None = None,
    edges: Int[np.ndarray, "m 2"] | None = None,
    side: int = SIDE,
    dark: bool = False,
    states: int = 2,
    unmet: Bool[np.ndarray, " m"] | None = None,
) -> bytes:
    """PNG of one configuration x[n]: on a lattice of `shape`, or at `positions` with `edges`, of which some are
    `unmet`; raises InputError."""
    if shape is not None:
        image = lattice_image(x, shape, side, dark, states)
    elif positions is not None:
        none = np.zeros((0, 2), int)
        image = graph_image(x, positions, none if edges is None else edges, side, dark, states, unmet)
    else:
        raise InputError("a picture needs the lattice's shape, or a position for each variable")
    file = io.BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def animation_gif(
    frames: np.ndarray,
    shape: Shape,
    side: int = GIF_SIDE,
    dark: bool = False,
    states: int = 2,
    per_second: float = 20.0,
) -> bytes:
    """Looping GIF of configurations frames[m, n] on a lattice; of more than 300, 300 evenly chosen with the last.

    GIF counts hundredths of a second, of which browsers honour two or more.
    """
    chosen = evenly(len(frames), MOST_FRAMES)
    if not len(chosen):
        raise InputError("there are no frames yet; let the run go on first")
    images = [lattice_image(frames[i], shape, side, dark, states) for i in chosen]
    file = io.BytesIO()
    wait = 10 * max(2, round(100 / per_second))
    images[0].save(file, "GIF", save_all=True, append_images=images[1:], duration=wait, loop=0, disposal=1)
    return file.getvalue()


def evenly(count: int, most: int) -> Sequence[int]:
    """At most `most` of the indices 0 .. count - 1, evenly spread, first and last among them."""
    if count <= most:
        return list(range(count))
    return np.linspace(0, count - 1, most).round().astype(int).tolist()

"""A small still picture of walks through a polytope, for the gallery."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw

from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.marginals import solver_class
from pmpviz.player.pictures import LIGHT
from pmpviz.player.style import styles_of

OVERSAMPLED = 3
# Seen a little from above and from the side: rows are the screen's axes in the three coordinates.
CAMERA = np.array([[0.87, 0.5, 0.0], [-0.22, 0.38, -0.9]])
MARGIN = 0.09


def walk_picture(view: InferenceView, side: int) -> Image.Image:
    """Wires of the polytopes that are known, the paths and the vertices of all lanes, parallel perspective."""
    assert view.projection is not None
    frames = [frame for frame in (view.projection.local, view.projection.marginal) if frame is not None]
    parts = [frame[0] for frame in frames] + [lane.path for lane in view.lanes] + [lane.corners for lane in view.lanes]
    every = np.concatenate(parts)
    low, high = every.min(0), every.max(0)
    wide = side * OVERSAMPLED
    image = Image.new("RGB", (wide, wide), LIGHT.paper)
    draw, place = ImageDraw.Draw(image), _Placing(low, high, wide)
    for corners, edges in frames:
        at = place(corners)
        for a, b in edges:
            draw.line([tuple(at[a]), tuple(at[b])], fill=LIGHT.line, width=OVERSAMPLED)
    for lane, style in zip(
        view.lanes, styles_of([solver_class(lane.algorithm).spec for lane in view.lanes]), strict=True
    ):
        _draw_lane(draw, lane, style.colour, place)
    return image.resize((side, side), Image.Resampling.LANCZOS)


def marginals_picture(view: InferenceView, side: int) -> Image.Image:
    """p(x = 1) of the first lane over a plane lattice, from paper to ink."""
    assert view.model is not None and view.model.shape is not None
    share = view.lanes[0].p1.reshape(view.model.shape)[..., None]
    paper, ink = np.array(LIGHT.paper), np.array(LIGHT.ink)
    pixels = (paper + share * (ink - paper)).round().astype(np.uint8)
    scale = side / max(pixels.shape[:2])
    size = round(pixels.shape[1] * scale), round(pixels.shape[0] * scale)
    return Image.fromarray(pixels).resize(size, Image.Resampling.NEAREST)


class _Placing:
    """Coordinates, each scaled to its range, to pixels."""

    def __init__(self, low: Float[np.ndarray, " 3"], high: Float[np.ndarray, " 3"], wide: int):
        self.low, self.span, self.wide = low, np.maximum(high - low, 1e-9), wide
        cube = np.array([[a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)]) @ CAMERA.T
        self.reach = np.abs(cube).max()

    def __call__(self, points: Float[np.ndarray, "p 3"]) -> Float[np.ndarray, "p 2"]:
        screen = ((points - self.low) / self.span - 0.5) @ CAMERA.T / self.reach
        return self.wide * (0.5 + (0.5 - MARGIN) * screen)


def _draw_lane(draw: ImageDraw.ImageDraw, lane: InferenceLaneView, colour: str, place: _Placing) -> None:
    for (x, y), weight in zip(place(lane.corners), lane.weights, strict=True):
        size = OVERSAMPLED * (2 + 9 * np.sqrt(max(weight, 0.0)))
        draw.ellipse([x - size, y - size, x + size, y + size], outline=colour, width=OVERSAMPLED)
    path = [tuple(point) for point in place(lane.path)]
    draw.line(path, fill=colour, width=2 * OVERSAMPLED, joint="curve")
    x, y = path[-1]
    size = 5 * OVERSAMPLED
    draw.ellipse([x - size, y - size, x + size, y + size], fill=colour)


__all__ = ["marginals_picture", "walk_picture"]

"""A recorded run as one small picture: the factor graph with its last beliefs and messages."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from PIL import Image, ImageDraw

from pmpviz.capabilities.messages.layout import layout
from pmpviz.capabilities.messages.picture import Story, limit_of
from pmpviz.capabilities.messages.words import messages_by_sweep
from pmpviz.player.pictures import LIGHT

# Blue for state 0 and orange for state 1, as in the browser; then the next ones of the Okabe-Ito set.
STATES = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (240, 228, 66), (86, 180, 233))
FINE, MARGIN = 3, 0.12
Point = tuple[float, float]


def graph_picture(story: Story, sweep: int = -1, side: int = 362) -> Image.Image:
    """Square picture on a light ground: rings of beliefs after `sweep`, edges in the colour of their message."""
    big = FINE * side
    image = Image.new("RGB", (big, big), LIGHT.paper)
    draw = ImageDraw.Draw(image)
    variables, squares = _placed(story, big)
    rows, limit = messages_by_sweep(story.record)[sweep], limit_of(story)
    for edge, (f, v) in enumerate(zip(story.record.edge_factor, story.record.edge_variable, strict=True)):
        colour, width = _stroke(rows[edge, : story.target.model.card[v]], limit)
        draw.line([*squares[f], *variables[v]], fill=colour, width=round(width * big))
    half = 0.026 * big
    for x, y in squares:
        draw.rectangle([x - half, y - half, x + half, y + half], fill=LIGHT.ink)
    for at, shares in zip(variables, np.asarray(story.record.beliefs)[sweep], strict=True):
        _ring(draw, at, 0.06 * big, shares)
    return image.resize((side, side), Image.Resampling.LANCZOS)


def _placed(story: Story, big: int) -> tuple[list[Point], list[Point]]:
    variables, squares = layout(story.target.model.n, story.record.factor_scope, story.positions)
    nodes = np.concatenate([variables, squares])
    low, span = nodes.min(0), nodes.max(0) - nodes.min(0)
    room = (1 - 2 * MARGIN) * big
    scale = room / np.maximum(span, max(float(span.max()), 1e-9) / 1.5)
    at = big / 2 + (nodes - low - span / 2) * np.minimum(scale, 1.5 * scale.min())
    points = [(float(x), float(y)) for x, y in at]
    return points[: len(variables)], points[len(variables) :]


def _stroke(message: Float[np.ndarray, " k"], limit: float) -> tuple[tuple[int, int, int], float]:
    """Colour of the favoured state, the fuller the larger its lead, and the line's width."""
    order = np.argsort(message)[::-1]
    lead = min(1.0, float(message[order[0]] - message[order[1]]) / limit) if len(message) > 1 else 0.0
    full, pale = np.array(STATES[order[0] % len(STATES)]), np.array(LIGHT.line)
    red, green, blue = (pale + (full - pale) * min(1.0, 3 * lead)).round().astype(int).tolist()
    return (red, green, blue), 0.006 + 0.012 * lead


def _ring(draw: ImageDraw.ImageDraw, at: Point, radius: float, shares: Float[np.ndarray, " k"]) -> None:
    x, y = at
    box = (x - radius, y - radius, x + radius, y + radius)
    start = -90.0
    for state in range(len(shares) - 1, -1, -1):
        stop = start + 360 * float(np.nan_to_num(shares[state]))
        if stop > start:
            draw.pieslice(box, start, stop, fill=STATES[state % len(STATES)])
        start = stop
    inner = 0.55 * radius
    draw.ellipse([x - inner, y - inner, x + inner, y + inner], fill=LIGHT.paper)


__all__ = ["graph_picture"]

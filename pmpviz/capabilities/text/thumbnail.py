"""A text as a small picture: its first words, coloured by how likely they are a name."""

from __future__ import annotations

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pmpviz import exact
from pmpviz.capabilities.text.plan import TextPlan
from pmpviz.models.text import LINKS
from pmpviz.player.pictures import LIGHT

NAME = np.array([230, 159, 0])
OVERSAMPLED, LETTERS, MARGIN = 2, 15, 0.06


def text_picture(plan: TextPlan, side: int) -> Image.Image:
    """The words from the plan's text that fit, by their exact marginals; side in pixels."""
    words, _ = plan.words()
    target = plan.target(words)
    if exact.why_not(target) is not None:
        target = plan.replace(links=LINKS[1]).target(words)
    p1 = exact.solve(target).p1
    wide = side * OVERSAMPLED
    image = Image.new("RGB", (wide, wide), LIGHT.paper)
    draw, size = ImageDraw.Draw(image), wide / LETTERS
    font = ImageFont.load_default(size)
    left, line = MARGIN * wide, 1.45 * size
    x, y = left, left
    for gap, word, p in zip(words.gaps, words.words, p1, strict=False):
        width = draw.textlength(word, font)
        if "\n" in gap or x + width > wide - left:
            x, y = left, y + line
        if y + line > wide:
            break
        colour = tuple(np.rint(p * NAME + (1 - p) * np.array(LIGHT.paper)).astype(int).tolist())
        draw.rounded_rectangle([x - 2, y, x + width + 2, y + 1.25 * size], size / 6, fill=colour)
        draw.text((x, y), word, LIGHT.ink, font)
        x += width + 0.3 * size
    return image.resize((side, side), Image.Resampling.LANCZOS)


__all__ = ["text_picture"]

"""A landscape as a small picture: the density of z, in the colours of the states that it is made of."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from PIL import Image

from pmpviz.capabilities.landscape.scene import Scene
from pmpviz.models.space import PALETTE
from pmpviz.player.pictures import LIGHT

MARGIN = 2.5  # Around the outermost Gaussians, in standard deviations.
BANDS = 6


def landscape_picture(scene: Scene, side: int) -> Image.Image:
    """p(z) over the two widest directions in bands of equal height, a hue by p(s | z); side in pixels."""
    centres = (scene.states @ scene.weight)[:, :2]
    reach = np.abs(centres - centres.mean(0)).max() + MARGIN
    across = np.linspace(-reach, reach, side)
    z = np.stack(np.meshgrid(across, -across, indexing="xy"), -1) + centres.mean(0)
    parts = scene.law * np.exp(-0.5 * ((z[:, :, None] - centres) ** 2).sum(-1))
    density = parts.sum(-1)
    bands = np.ceil(BANDS * density / density.max()) / BANDS
    hue = (parts / density[..., None]) @ _colours(len(scene.states))
    shade = 0.15 + 0.85 * bands[..., None]
    return Image.fromarray(np.rint(shade * hue + (1 - shade) * np.array(LIGHT.paper)).astype(np.uint8))


def _colours(count: int) -> Float[np.ndarray, "s 3"]:
    return np.array([[int(PALETTE[k][at : at + 2], 16) for at in (1, 3, 5)] for k in range(count)], float)

"""A landscape as a small picture: the density of z, in the colours of the states that it is made of."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from PIL import Image

from pmpviz.capabilities.landscape.memory import Memory
from pmpviz.capabilities.landscape.scene import Scene
from pmpviz.models.space import PALETTE
from pmpviz.player.pictures import LIGHT

MARGIN = 2.5  # Around the outermost Gaussians, in standard deviations.
BANDS = 6
STRETCH = 12.0


def landscape_picture(scene: Scene | Memory, side: int) -> Image.Image:
    """p(z) over the two widest directions in bands of equal height, a hue by p(s | z); side in pixels."""
    if isinstance(scene, Memory):
        return _remembered(scene, side)
    centres = (scene.states @ scene.weight)[:, :2]
    reach = np.abs(centres - centres.mean(0)).max() + MARGIN
    across = np.linspace(-reach, reach, side)
    z = np.stack(np.meshgrid(across, -across, indexing="xy"), -1) + centres.mean(0)
    parts = scene.law * np.exp(-0.5 * ((z[:, :, None] - centres) ** 2).sum(-1))
    density = parts.sum(-1)
    return _banded(density / density.max(), (parts / density[..., None]) @ _colours(len(scene.states)))


def _remembered(scene: Memory, side: int) -> Image.Image:
    """The same of two pictures, in the hue of the nearest one; heights are drawn out, lest hills be dots."""
    reach = 1.05 * np.sqrt(scene.beta * scene.n)
    across = np.linspace(-reach, reach, side)
    seen = np.stack(np.meshgrid(across, -across, indexing="xy"), -1)
    log = scene.log_density(seen)
    codes = scene.codes_seen(*np.moveaxis(seen, -1, 0))
    return _banded(np.exp((log - log.max()) * STRETCH / np.ptp(log)), _colours(len(scene.law))[codes])


def _banded(height: Float[np.ndarray, "h w"], hue: Float[np.ndarray, "h w 3"]) -> Image.Image:
    bands = np.ceil(BANDS * height) / BANDS
    shade = 0.15 + 0.85 * bands[..., None]
    return Image.fromarray(np.rint(shade * hue + (1 - shade) * np.array(LIGHT.paper)).astype(np.uint8))


def _colours(count: int) -> Float[np.ndarray, "s 3"]:
    return np.array([[int(PALETTE[k][at : at + 2], 16) for at in (1, 3, 5)] for k in range(count)], float)

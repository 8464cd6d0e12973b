"""A drawn animal before a drawn ground, and the binary model that tells the two apart by colour.

The picture is drawn from a seed: a body of capsules with thin legs and a tail, a rough outline, colours that run into
each other along it, white and blotched noise. Over spins (1: animal) with the colour c_i of every pixel

    log p(s) = sum_i f_i / 2 s_i + sum_{i ~ j} J_ij s_i s_j,
    f_i  = trust (log p(c_i | animal) - log p(c_i | ground)), each a mixture of two Gaussians of the drawn colours,
    J_ij = smoothness ((1 - contrast) + contrast exp(-|c_i - c_j|^2 / (2 m))) - repel, m the mean of |c_i - c_j|^2

over the edges of the pixels' square lattice: what Boykov and Jolly (2001) and Rother, Kolmogorov and Blake (2004) cut.
Where `repel` is 0 every coupling attracts, and a graph cut finds the maximum.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from jaxtyping import Bool, Float

from pmpviz.models import topologies
from pmpviz.models.builder import FIELD_STREAM, GRAPH_STREAM, Values, generator
from pmpviz.models.couplings import Shape
from pmpviz.types import Param

# Points a pixel in each direction at which the outline is looked up.
FINE = 4
# In pixels: how rough the outline is, over what length it changes, how far colours run, the blotches of the noise.
ROUGH, ROUGH_LENGTH, RUN, BLOTCH = 0.5, 3.0, 0.6, 1.5
# Share of the noise's variance that is blotched.
BLOTCHED = 0.3
# Red, green, blue: what the animal and the ground are painted with, each pixel with one of two.
ANIMAL = np.array([(0.46, 0.29, 0.18), (0.80, 0.68, 0.52)])
GROUND = np.array([(0.64, 0.73, 0.82), (0.45, 0.50, 0.27)])
# Share of the animal that is painted with its second colour.
PATCHES = 0.25

Segment = tuple[float, float, float, float, float]


@dataclass(frozen=True, eq=False)
class Scene:
    """The true `mask[h, w]` of the animal, and the `colours[h, w, 3]` in red, green and blue that are seen."""

    mask: Bool[np.ndarray, "h w"]
    colours: Float[np.ndarray, "h w 3"]


@lru_cache(maxsize=16)
def drawn_scene(shape: Shape, noise: float, seed: int) -> Scene:
    """The picture of a seed in height x width pixels, with noise of this standard deviation in every colour."""
    values = {"seed": seed}
    share, rng = _coverage(shape, generator(values, GRAPH_STREAM)), generator(values, FIELD_STREAM)
    patched = _smooth(rng.standard_normal(shape), 0.06 * min(shape)) > scipy.special.ndtri(1 - PATCHES)
    horizon = (0.45 + 0.05 * np.sin(np.arange(shape[1]) / shape[1] * 5 + seed)) * shape[0]
    meadow = np.arange(shape[0])[:, None] > horizon
    painted = np.where(share[..., None], ANIMAL[patched.astype(int)], 0.0)
    clean = share[..., None] * painted + (1 - share[..., None]) * GROUND[meadow.astype(int)]
    clean = scipy.ndimage.gaussian_filter(clean, (RUN, RUN, 0))
    white = rng.standard_normal((*shape, 3))
    blotches = np.stack([_smooth(rng.standard_normal(shape), BLOTCH) for _ in range(3)], -1)
    return Scene(share >= 0.5, clean + noise * (np.sqrt(1 - BLOTCHED) * white + np.sqrt(BLOTCHED) * blotches))


def _smooth(noise: Float[np.ndarray, "h w"], length: float) -> Float[np.ndarray, "h w"]:
    """White noise blurred over a length in pixels, with variance 1 again."""
    blurred = scipy.ndimage.gaussian_filter(noise, length)
    return blurred / max(float(blurred.std()), 1e-9)


def _coverage(shape: Shape, rng: np.random.Generator) -> Float[np.ndarray, "h w"]:
    """How much of every pixel the animal covers."""
    rough = ROUGH * _smooth(rng.standard_normal(shape), ROUGH_LENGTH).repeat(FINE, 0).repeat(FINE, 1)
    # Where points lie in units of the picture's shorter side, from its middle.
    unit = min(shape)
    y, x = ((np.arange(side * FINE) + 0.5) / FINE - side / 2 for side in shape)
    inside = np.zeros(rough.shape, bool)
    for segment in _animal(rng):
        inside |= _distance(y[:, None] / unit, x / unit, segment) * unit < rough
    return inside.reshape(shape[0], FINE, shape[1], FINE).mean((1, 3))


def _distance(y: np.ndarray, x: np.ndarray, segment: Segment) -> np.ndarray:
    """From the points of a grid to the capsule about a segment; below 0 inside."""
    top, left, bottom, right, radius = segment
    down, across = bottom - top, right - left
    along = ((y - top) * down + (x - left) * across) / max(down**2 + across**2, 1e-9)
    along = np.clip(along, 0, 1)
    return np.hypot(y - top - along * down, x - left - along * across) - radius


def _animal(rng: np.random.Generator) -> list[Segment]:
    """Capsules (top, left, bottom, right, radius): body, neck, head, ears, legs in two parts each, a tail."""
    u = lambda low, high: float(rng.uniform(low, high))  # noqa: E731
    shift, side = u(-0.06, 0.06), rng.choice((-1.0, 1.0))
    rump, chest, back = -0.24 + u(-0.03, 0.03), 0.2 + u(-0.03, 0.03), -0.02 + u(-0.04, 0.04)
    thick = u(0.085, 0.12)
    crown = (back - u(0.2, 0.26), chest + u(0.1, 0.16))
    found = [(back, rump, back, chest, thick), (back - 0.02, chest, *crown, 0.05)]
    muzzle = (crown[0] + u(0.04, 0.08), crown[1] + 0.12)
    found += [(*crown, *muzzle, 0.04), (*crown, crown[0] - 0.09, crown[1] + u(-0.04, 0.02), 0.012)]
    for hip in (rump, rump + 0.07, chest - 0.07, chest):
        knee = (back + 0.2, hip + u(-0.05, 0.05))
        found += [(back + 0.05, hip, *knee, 0.022), (*knee, back + 0.38, knee[1] + u(-0.06, 0.06), u(0.011, 0.016))]
    tip = (back + u(-0.02, 0.08), rump - u(0.17, 0.22))
    found += [(back - 0.04, rump - 0.06, *tip, 0.012), (*tip, tip[0] + u(0.06, 0.14), tip[1] - 0.02, 0.01)]
    return [(top, side * left + shift, bottom, side * right + shift, r) for top, left, bottom, right, r in found]


# The model.


def log_odds(scene: Scene, noise: float) -> Float[np.ndarray, "h w"]:
    """log p(c | animal) - log p(c | ground) of every pixel's colour."""

    def log_density(means: np.ndarray, shares: tuple[float, float]) -> np.ndarray:
        square = ((scene.colours[:, :, None] - means) ** 2).sum(-1)
        return np.logaddexp.reduce(np.log(shares) - square / (2 * noise**2), axis=-1)

    return log_density(ANIMAL, (1 - PATCHES, PATCHES)) - log_density(GROUND, (0.5, 0.5))


def scene_couplings(scene: Scene, values: Values) -> tuple[tuple[Shape, ...], np.ndarray, np.ndarray]:
    """(shifts, present, J per edge slot) of the pixels' lattice."""
    shifts, present = topologies.lattice("square", scene.mask.shape, False)
    apart = np.stack([((scene.colours - np.roll(scene.colours, [-a, -b], (0, 1))) ** 2).sum(-1) for a, b in shifts])
    mean = max(float(apart[present].mean()), 1e-12) if present.any() else 1.0
    alike = np.exp(-apart / (2 * mean))
    return shifts, present, values["smoothness"] * (1 - values["contrast"] * (1 - alike)) - values["repel"]


SEGMENTATION = (
    Param("smoothness", "Smoothness", 0.0, 4.0, 0.8, help="J between pixels of one colour, over spins, per edge."),
    Param("contrast", "Contrast", 0.0, 1.0, 0.8, help="Share of the coupling that a difference of colour takes away."),
    Param("repel", "Repulsion", 0.0, 1.0, 0.0, help="Taken from every coupling: pixels of different colours repel."),
    Param("trust", "Trust in colour", 0.0, 2.0, 0.5, help="Multiplies the log-odds of the colour."),
    Param("noise", "Noise", 0.02, 1.0, 0.15, help="Standard deviation in each of red, green and blue, of 1."),
    Param("seed", "Scene", 0, 2**31 - 1, 0, "int", "Draws the animal, its ground and the noise."),
)

__all__ = ["SEGMENTATION", "Scene", "drawn_scene", "log_odds", "scene_couplings"]

"""The segmentation of drawn scenes as a conditional random field: a few weights, shared by all pixels and scenes.

Over spins s (1: animal), with the colour c_i of every pixel,

    log p(s | c) = sum_i (trust l_i / 2 + bias) s_i + sum_{i ~ j} (edge + contrast a_ij) s_i s_j - log Z(c),
    l_i = log p(c_i | animal) - log p(c_i | ground),  a_ij = exp(-|c_i - c_j|^2 / (2 m))

which is the builder `segmentation` with edge = smoothness (1 - contrast) - repel and, as `contrast` here, smoothness
times its share. Barrier Frank-Wolfe, section 5 (Horses), takes such weights as learned by Domke (2013).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Float

from pmpviz.models.builders import lattice_model
from pmpviz.models.couplings import Shape
from pmpviz.models.ising import Ising
from pmpviz.models.log_linear import LogLinear
from pmpviz.models.segmentation import Scene, drawn_scene, log_odds, scene_couplings

WEIGHTS = ("trust", "bias", "edge", "contrast")
# The weights of the builder's own defaults.
SET = (0.5, 0.0, 0.16, 0.64)

_SPIN = np.array([-1.0, 1.0])
_PAIR = np.outer(_SPIN, _SPIN)


@dataclass(frozen=True, eq=False)
class SceneField(LogLinear):
    """A scene's field; `model` is a lattice, whose weights change without recompiling."""

    scene: Scene
    shifts: tuple[Shape, ...]
    present: Bool[np.ndarray, "d h w"]
    alike: Float[np.ndarray, "d h w"]
    odds: Float[np.ndarray, "h w"]

    def model(self, theta: Float[np.ndarray, " p"]) -> Ising:
        """The lattice of these weights."""
        trust, bias, edge, contrast = self.check(theta)
        field = trust * self.odds / 2 + bias
        return lattice_model(self.shifts, self.present, edge + contrast * self.alike, field.reshape(-1))

    @property
    def truth(self) -> Bool[np.ndarray, " n"]:
        """Which pixels are the animal."""
        return self.scene.mask.reshape(-1)


@lru_cache(maxsize=64)
def scene_field(shape: Shape, noise: float, seed: int) -> SceneField:
    """The field of the scene of a seed."""
    scene = drawn_scene(shape, noise, seed)
    odds = log_odds(scene, noise)
    shifts, present, alike = scene_couplings(scene, {"smoothness": 1.0, "contrast": 1.0, "repel": 0.0})
    site = np.arange(scene.mask.size).reshape(shape)
    factors: list[tuple[tuple[int, ...], np.ndarray]] = [
        ((i,), np.stack([own / 2 * _SPIN, _SPIN, 0 * _SPIN, 0 * _SPIN], -1)) for i, own in enumerate(odds.reshape(-1))
    ]
    nothing = 0 * _PAIR
    for shift, here, a in zip(shifts, present, alike, strict=True):
        far = np.roll(site, [-step for step in shift], (0, 1))
        for i, j, near in zip(site[here].tolist(), far[here].tolist(), a[here].tolist(), strict=True):
            factors.append(((i, j), np.stack([nothing, nothing, _PAIR, near * _PAIR], -1)))
    whole = LogLinear.of((2,) * site.size, WEIGHTS, factors)
    return SceneField(whole.base, whole.features, whole.names, scene, shifts, present, alike, odds)


__all__ = ["SET", "WEIGHTS", "SceneField", "scene_field"]

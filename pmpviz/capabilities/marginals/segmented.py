"""A drawn scene beside its segmentations: what is seen, what was drawn, the MAP configuration, how far each is off."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image

from pmpviz.metrics.boundaries import band, band_error
from pmpviz.models import parse_model_spec
from pmpviz.models.segmentation import Scene, drawn_scene
from pmpviz.oracles import Potentials, make_oracle
from pmpviz.player.pictures import colour_image, lattice_image

SIDE = 240


@dataclass(frozen=True, eq=False)
class Segmented:
    """A scene, and the configuration that a minimum cut, or roof duality where couplings repel, finds for it."""

    scene: Scene
    found: Bool[np.ndarray, "h w"]
    exact: bool

    @cached_property
    def near(self) -> Bool[np.ndarray, " n"]:
        """The pixels beside the true outline."""
        return band(self.scene.mask).ravel()

    def error(self, p1: Float[np.ndarray, " n"]) -> float:
        """The error rate beside the true outline of the likelier side of every pixel."""
        return band_error(np.reshape(p1, self.scene.mask.shape) > 0.5, self.scene.mask)

    def pictures(self, dark: bool) -> list[tuple[str, Image.Image]]:
        """Each with what is said of it."""
        share = band_error(self.found, self.scene.mask)
        name = "MAP" if self.exact else "QPBO and ICM"
        return [
            ("what is seen", colour_image(self.scene.colours, SIDE)),
            ("what was drawn", _picture(self.scene.mask, dark)),
            (f"{name}: {share:.1%} wrong beside the outline", _picture(self.found, dark)),
        ]


def segmented(text: str, potentials: Potentials) -> Segmented | None:
    """What belongs to a model's spec, where it is a segmentation's."""
    if not text.startswith("segmentation"):
        return None
    _, shape, values = parse_model_spec(text)
    scene = drawn_scene(shape, values["noise"], values["seed"])
    solution = make_oracle("qpbo").solve(potentials)
    return Segmented(scene, solution.x.reshape(shape) > 0, solution.exact)


def _picture(mask: Bool[np.ndarray, "h w"], dark: bool) -> Image.Image:
    return lattice_image(mask.reshape(-1).astype(np.int8), mask.shape, SIDE, dark).convert("RGB")


__all__ = ["Segmented", "segmented"]

"""The pictures that the two-pattern model remembers, drawn by formulas, so that a smaller lattice has them too."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

HEART, FACE, APPLE = "heart", "face", "apple"
PAIRS = {"heart and face": (HEART, FACE), "heart and apple": (HEART, APPLE)}


def drawn(name: str, side: int) -> Float[np.ndarray, " n"]:
    """A picture of side x side spins as +1 where there is ink and -1 elsewhere, row by row from above."""
    at = (2 * np.arange(side) + 1) / side - 1
    across, up = np.meshgrid(at, -at)
    ink = {HEART: _heart, FACE: _face, APPLE: _apple}[name](across, up)
    return np.where(ink, 1.0, -1.0).reshape(-1)


def _heart(x: Float[np.ndarray, "n n"], y: Float[np.ndarray, "n n"]) -> Bool[np.ndarray, "n n"]:
    x, y = 1.25 * x, 1.25 * y + 0.12
    return (x**2 + y**2 - 1) ** 3 - x**2 * y**3 <= 0


def _face(x: Float[np.ndarray, "n n"], y: Float[np.ndarray, "n n"]) -> Bool[np.ndarray, "n n"]:
    rim = np.abs(np.hypot(x, y) - 0.845) < 0.125
    eyes = np.hypot(np.abs(x) - 0.3, y - 0.25) < 0.14
    mouth = (np.abs(np.hypot(x, y + 0.02) - 0.43) < 0.09) & (y < -0.12)
    return rim | eyes | mouth


def _apple(x: Float[np.ndarray, "n n"], y: Float[np.ndarray, "n n"]) -> Bool[np.ndarray, "n n"]:
    flesh = np.hypot(np.abs(x) - 0.22, 1.05 * (y + 0.15)) < 0.7
    bite = np.hypot(x - 0.95, y + 0.05) < 0.36
    stalk = (np.abs(x - 0.12 * (y - 0.4)) < 0.07) & (y > 0.4) & (y < 0.85)
    leaf = (x - 0.38) ** 2 / 0.09 + (y - 0.72) ** 2 / 0.02 < 1
    return (flesh & ~bite) | stalk | leaf


__all__ = ["APPLE", "FACE", "HEART", "PAIRS", "drawn"]

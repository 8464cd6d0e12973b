"""How far a segmentation is from the true one along the outline: the error rate in a band, and between outlines.

The band are the pixels that lie at most `width` pixels (Euclidean, between centres) from a pixel of the other side of
the truth; the trimap of Kohli, Ladicky and Torr (2009), who score segmentations so.
"""

from __future__ import annotations

import numpy as np
import scipy
from jaxtyping import Bool, Float

WIDTH = 3.0


def band(truth: Bool[np.ndarray, "h w"], width: float = WIDTH) -> Bool[np.ndarray, "h w"]:
    """The pixels at most `width` from the other side."""
    truth = np.asarray(truth, bool)
    if truth.all() or not truth.any():
        return np.zeros(truth.shape, bool)
    distance = scipy.ndimage.distance_transform_edt
    return np.maximum(distance(truth), distance(~truth)) <= width


def band_error(found: Bool[np.ndarray, "h w"], truth: Bool[np.ndarray, "h w"], width: float = WIDTH) -> float:
    """The share of the band's pixels that are on the wrong side; of an empty band 0."""
    within = band(truth, width)
    return float((np.asarray(found, bool) != truth)[within].mean()) if within.any() else 0.0


def expected_band_error(p: Float[np.ndarray, "h w"], truth: Bool[np.ndarray, "h w"], width: float = WIDTH) -> float:
    """The band's error rate that is expected where a pixel is on the one side with probability p: the mean over samples
    of `band_error` where p are their frequencies."""
    within = band(truth, width)
    return float(np.abs(np.asarray(p) - truth)[within].mean()) if within.any() else 0.0


def squared_band_error(p: Float[np.ndarray, "h w"], truth: Bool[np.ndarray, "h w"], width: float = WIDTH) -> float:
    """Mean (p - truth)^2 over the band, Brier's score of probabilities; of p = 0 and 1 alone it is the error rate."""
    within = band(truth, width)
    return float(((np.asarray(p, np.float64) - truth)[within] ** 2).mean()) if within.any() else 0.0


def outline(mask: Bool[np.ndarray, "h w"]) -> Bool[np.ndarray, "h w"]:
    """The pixels of a mask that have a neighbour outside it, or lie at the picture's border."""
    mask = np.asarray(mask, bool)
    return mask & ~scipy.ndimage.binary_erosion(mask)


def to_outline(mask: Bool[np.ndarray, "h w"]) -> Float[np.ndarray, "h w"]:
    """Distance in pixels of every pixel to the nearest of the mask's outline; the picture's diagonal without one."""
    edge = outline(mask)
    return scipy.ndimage.distance_transform_edt(~edge) if edge.any() else np.full(edge.shape, np.hypot(*edge.shape))


def outline_distance(found: Bool[np.ndarray, "h w"], truth: Bool[np.ndarray, "h w"]) -> float:
    """Mean distance in pixels from the outline of either to the nearest of the other, both ways averaged.

    The picture's diagonal where one of them is empty and the other is not.
    """
    a, b = outline(found), outline(truth)
    if not (a.any() and b.any()):
        return 0.0 if a.any() == b.any() else float(np.hypot(*a.shape))
    distance = scipy.ndimage.distance_transform_edt
    return float((distance(~b)[a].mean() + distance(~a)[b].mean()) / 2)


__all__ = [
    "WIDTH",
    "band",
    "band_error",
    "expected_band_error",
    "outline",
    "outline_distance",
    "squared_band_error",
    "to_outline",
]

"""From which shift on a landscape has more than one hill."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int

from pmpviz.capabilities.landscape.scene import Scene

SPACING = 0.05
MOST_STEPS, STILL, APART, OFF = 600, 1e-6, 0.1, 0.01


def hills(law: Float[np.ndarray, " s"], means: Float[np.ndarray, "e s 2"]) -> Int[np.ndarray, " e"]:
    """How many tops each of the mixtures sum_s law_s N(means_s, I) has, where ascents from the means end.

    z <- sum_s p(s | z) means_s is the mean-shift ascent of such a mixture.
    """
    # From the very mean a symmetric landscape is climbed to its saddle.
    angle = np.arange(len(law))
    z = means + OFF * np.stack([np.cos(angle), np.sin(angle)], -1)
    for _ in range(MOST_STEPS):
        log = np.log(law) - 0.5 * ((z[:, :, None] - means[:, None]) ** 2).sum(-1)
        share = np.exp(log - log.max(-1, keepdims=True))
        before, z = z, share @ means / share.sum(-1, keepdims=True)
        if np.abs(z - before).max() < STILL:
            break
    near = ((z[:, :, None] - z[:, None]) ** 2).sum(-1) < APART**2
    # Of those that ended together the first counts.
    return (near.argmax(-1) == np.arange(len(law))).sum(-1)


def parting(scene: Scene, low: float, high: float) -> tuple[float | None, bool]:
    """(the least shift beyond the model's own least, of those on the knob, with more than one hill in what is seen;
    whether every shift of the knob has)."""
    return _parting(scene.values.tobytes(), scene.vectors.tobytes(), scene.law.tobytes(), low, high)


@lru_cache(maxsize=64)
def _parting(values: bytes, vectors: bytes, law: bytes, low: float, high: float) -> tuple[float | None, bool]:
    """The same of the arrays themselves, which do not change as the shift is dragged."""
    eigenvalues, weights = np.frombuffer(values), np.frombuffer(law)
    n = len(eigenvalues)
    states = np.array(list(np.ndindex((2,) * n)))
    along = (states @ np.frombuffer(vectors).reshape(n, n))[:, :2]
    shifts = np.arange(low, high + SPACING / 2, SPACING)
    means = along * np.sqrt(eigenvalues[:2] + shifts[:, None])[:, None]
    parted = np.flatnonzero(hills(weights, means) > 1)
    if not len(parted) or parted[0] == 0:
        return (low if len(parted) else None), len(parted) == len(shifts)
    return round(float(shifts[parted[0]]) - SPACING / 2, 3), False  # It parts between two of them.


__all__ = ["hills", "parting"]

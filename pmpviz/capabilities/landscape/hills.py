"""How many hills a landscape has at which shift."""

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


def stretches(scene: Scene, low: float, high: float) -> tuple[tuple[float, int], ...]:
    """(from which shift beyond the model's own least on, how many hills in what is seen) of the shifts on the knob."""
    return _stretches(scene.values.tobytes(), scene.vectors.tobytes(), scene.law.tobytes(), low, high)


@lru_cache(maxsize=64)
def _stretches(values: bytes, vectors: bytes, law: bytes, low: float, high: float) -> tuple[tuple[float, int], ...]:
    """The same of the arrays themselves, which do not change as the shift is dragged."""
    eigenvalues, weights = np.frombuffer(values), np.frombuffer(law)
    n = len(eigenvalues)
    states = np.array(list(np.ndindex((2,) * n)))
    along = (states @ np.frombuffer(vectors).reshape(n, n))[:, :2]
    shifts = np.arange(low, high + SPACING / 2, SPACING)
    counts = hills(weights, along * np.sqrt(eigenvalues[:2] + shifts[:, None])[:, None])
    # It changes between two of them.
    last = np.flatnonzero(np.diff(counts))
    begins = [low, *(round(float(shifts[k]) + SPACING / 2, 3) for k in last)]
    return tuple(zip(begins, counts[[0, *(last + 1)]].tolist(), strict=True))


__all__ = ["hills", "stretches"]

"""Where the nodes of a graph are drawn."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

MOST_DRAWN = 400
STEPS = 200
GRAVITY = 4.0


def force_directed(n: int, i: Int[np.ndarray, " e"], j: Int[np.ndarray, " e"]) -> Float[np.ndarray, "n 2"]:
    """Positions in the unit square by spring forces (Fruchterman and Reingold 1991), the same for the same graph.

    Repulsion k^2 / d between all pairs, attraction d^2 / k along edges, k = n^(-1/2); a pull to
    the middle keeps loose parts near; the largest step cools linearly. Meant for up to a few hundred nodes.
    """
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    at = 0.5 + 0.4 * np.stack([np.cos(angle), np.sin(angle)], 1)
    if n < 3 or len(i) * 2 == n * (n - 1):
        return at
    at += 1e-3 * np.random.Generator(np.random.PCG64(0)).standard_normal(at.shape)
    length = n**-0.5
    for step in range(STEPS):
        away = at[:, None] - at[None]
        distance = np.maximum(np.sqrt((away**2).sum(-1)), 1e-6)
        force = (away * (length**2 / distance**2)[..., None]).sum(1)
        pull = at[i] - at[j]
        pull *= np.sqrt((pull**2).sum(-1, keepdims=True)) / length
        force -= GRAVITY * (at - at.mean(0))
        np.add.at(force, i, -pull)
        np.add.at(force, j, pull)
        size = np.maximum(np.sqrt((force**2).sum(-1, keepdims=True)), 1e-9)
        at += force / size * np.minimum(size, 0.1 * (1 - step / STEPS))
    at -= at.min(0)
    return 0.04 + 0.92 * at / np.maximum(at.max(0), 1e-9)

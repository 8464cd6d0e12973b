"""Where the nodes of a graph are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from pmpviz.models.ising import Ising

MOST_DRAWN = 400
MOST_GRID = 10_000
MOST_BONDS = 64 * 64
STEPS = 200
GRAVITY = 4.0


def force_directed(n: int, i: Int[np.ndarray, " e"], j: Int[np.ndarray, " e"]) -> Float[np.ndarray, "n 2"]:
    """Positions in the unit square by spring forces (Fruchterman and Reingold 1991), the same for the same graph.

    Repulsion k^2 / d between all pairs, attraction d^2 / k along edges, k = n^(-1/2); a pull to
    the middle keeps loose parts near; the largest step cools linearly. Meant for up to a few hundred nodes. A grid is
    drawn as one.
    """
    if (grid := grid_places(n, i, j)) is not None:
        return grid
    angle = 2 * np.pi * np.arange(n) / max(n, 1)
    at = 0.5 + 0.4 * np.stack([np.cos(angle), np.sin(angle)], 1)
    if n < 3:
        return at[::-1]  # Two are read from left to right.
    if len(i) * 2 == n * (n - 1):
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


def grid_places(n: int, i: Int[np.ndarray, " e"], j: Int[np.ndarray, " e"]) -> Float[np.ndarray, "n 2"] | None:
    """Positions in the unit square of a graph that is an open grid of two rows and columns or more, else None.

    However its nodes are numbered: with a and b the distances from two corners at the ends of a side of length c - 1,
    a node stands in row (a + b - (c - 1)) / 2 and column (a - b + c - 1) / 2.
    """
    degree = np.bincount(np.concatenate([i, j]).astype(int), minlength=n)
    corners = np.flatnonzero(degree == 2)
    if n > MOST_GRID or len(corners) != 4 or degree.min() < 2 or degree.max() > 4:
        return None
    near = _distances(n, i, j, corners[0])
    for second in corners[1:]:
        far, side = _distances(n, i, j, second), near[second]
        row, column = (near + far - side) / 2, (near - far + side) / 2
        at = np.stack([column, row], 1)
        shape = at.max(0) + 1
        steps = np.abs(at[i] - at[j]).sum(1)
        edges = 2 * n - int(shape.sum())
        if shape.prod() == n == len(np.unique(at, axis=0)) and len(i) == edges and (steps == 1).all():
            return 0.5 + (at - at.max(0) / 2) * 0.92 / max(shape.max() - 1, 1)
    return None


def _distances(n: int, i: Int[np.ndarray, " e"], j: Int[np.ndarray, " e"], start: int) -> Int[np.ndarray, " n"]:
    """Edges on the shortest way from a node to each one; n where there is none."""
    found = np.full(n, n)
    found[start] = 0
    for _ in range(n):
        nearer = found.copy()
        np.minimum.at(nearer, i, found[j] + 1)
        np.minimum.at(nearer, j, found[i] + 1)
        if (nearer == found).all():
            break
        found = nearer
    return found


def opposed_pairs(model: Any, pairs: Int[np.ndarray, "e 2"]) -> Bool[np.ndarray, " e"]:
    """Which pairs of a pairwise model of two states have a negative coupling: their variables would rather differ."""
    if not isinstance(model, Ising):
        return np.zeros(len(pairs), bool)
    return model.pairwise()[3] < 0


def unmet_pairs(model: Any, pairs: Int[np.ndarray, "e 2"], x: Int[np.ndarray, " n"]) -> Bool[np.ndarray, " e"]:
    """Which couplings the states at their ends do not meet; none of a model that is not made of couplings."""
    if not all_coupled(model, pairs):
        return np.zeros(len(pairs), bool)
    return (x[pairs[:, 0]] == x[pairs[:, 1]]) == opposed_pairs(model, pairs)


def all_coupled(model: Any, pairs: Int[np.ndarray, "e 2"]) -> bool:
    """Whether a pairwise model of two states has a coupling at every pair: a state then meets each of them, or not."""
    return isinstance(model, Ising) and len(pairs) > 0 and bool((model.pairwise()[3] != 0).all())


def lattice_bonds(model: Any) -> Float[np.ndarray, " 2n"] | None:
    """The couplings of a small square or honeycomb lattice of two states: of each site in order that to its neighbour
    on the right, then of each that to the one below, across the rim as well; None of any other model.

    A site and the one before it are neighbours twice where a periodic side is of two: such a lattice has none, either.
    """
    shape = getattr(model, "shape", None)
    if not isinstance(model, Ising) or shape is None or len(shape) != 2 or model.n > MOST_BONDS or min(shape) < 3:
        return None
    (rows, cols), (_, i, j, w) = shape, model.pairwise()
    bonds = np.zeros((2, model.n), np.float32)
    for a, b in ((i, j), (j, i)):
        down, right = (b // cols - a // cols) % rows, (b % cols - a % cols) % cols
        for axis, chosen in enumerate(((down == 0) & (right == 1), (down == 1) & (right == 0))):
            bonds[axis, a[chosen]] = w[chosen]
    return bonds.reshape(-1) if np.count_nonzero(bonds) == np.count_nonzero(w) else None

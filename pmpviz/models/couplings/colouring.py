"""Proper colourings: of any graph by search, of a lattice in closed form."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

Shape = tuple[int, ...]


def colouring(n: int, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """A proper colouring of the graph, int32[n], as few colours as the better of two ways finds.

    Two colours where the graph is bipartite (breadth-first), otherwise greedily in order of falling degree
    (Welsh and Powell 1967).
    """
    if len(i) == n * (n - 1) // 2 and len(np.unique(np.minimum(i, j) * n + np.maximum(i, j))) == len(i):
        return np.arange(n, dtype=np.int32)
    neighbours = _neighbour_lists(n, i, j)
    two = _two_colouring(neighbours)
    return two if two is not None else _greedy_colouring(neighbours)


def _neighbour_lists(n: int, i: np.ndarray, j: np.ndarray) -> list[list[int]]:
    source, sink = np.concatenate([i, j]), np.concatenate([j, i])
    ends = np.cumsum(np.bincount(source, minlength=n)).tolist()
    flat = sink[np.argsort(source, kind="stable")].tolist()
    return [flat[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def shift_colouring(shifts: tuple[Shape, ...], present: Bool[np.ndarray, "d *shape"]) -> Int[np.ndarray, " n"] | None:
    """A proper colouring in closed form of a lattice whose edges are `present` along `shifts`; None if none fits.

    Tried in turn, each checked against the edges: the chequerboard; three colours as the sum mod 3 of three-coloured
    sides (Sabidussi 1957: a torus with an odd side); the sum of indices mod 3 (triangular, open or with sides
    divisible by 3); parities of the sides apart (triangular, even sides); sums mod 5 of steps 1 and 2 (triangular,
    any torus, since no two such steps add up to 0 mod 5).
    """
    sides = present.shape[1:]
    grid: list[np.ndarray] = list(np.indices(sides, sparse=True))
    odd_sides = [np.where((g == g.size - 1) & (g.size % 2 == 1), 2, g % 2) for g in grid]
    five = [g + np.minimum(g, -g.size % 5) for g in grid]
    candidates: tuple[tuple[list[np.ndarray], int], ...] = (
        (grid, 2),
        (odd_sides, 3),
        (grid, 3),
        ([(g % 2) << axis for axis, g in enumerate(grid)], 1 << len(sides)),
        (five, 5),
    )
    for parts, colours in candidates:
        colour = np.asarray(np.broadcast_to(sum(parts), sides) % colours, np.int32)
        if _proper(colour, shifts, present):
            return colour.reshape(-1)
    return None


def _proper(colour: np.ndarray, shifts: tuple[Shape, ...], present: np.ndarray) -> bool:
    axes = tuple(range(colour.ndim))
    return not any(
        (edge & (colour == np.roll(colour, tuple(-s for s in shift), axes))).any()
        for edge, shift in zip(present, shifts, strict=True)
    )


def _two_colouring(neighbours: list[list[int]]) -> np.ndarray | None:
    colour = [-1] * len(neighbours)
    for root in range(len(neighbours)):
        if colour[root] >= 0:
            continue
        colour[root], front = 0, [root]
        for site in front:
            for other in neighbours[site]:
                if colour[other] < 0:
                    colour[other] = 1 - colour[site]
                    front.append(other)
                elif colour[other] == colour[site]:
                    return None
    return np.array(colour, np.int32)


def _greedy_colouring(neighbours: list[list[int]]) -> np.ndarray:
    colour = [-1] * len(neighbours)
    for site in sorted(range(len(neighbours)), key=lambda s: -len(neighbours[s])):
        taken = {colour[other] for other in neighbours[site]}
        colour[site] = next(c for c in range(len(taken) + 1) if c not in taken)
    return np.array(colour, np.int32)


__all__ = ["colouring", "shift_colouring"]

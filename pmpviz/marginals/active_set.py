"""Visited vertices with their weights, and the correction that reoptimises the weights without a MAP call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from pmpviz.marginals.trw import TreeReweighted

MOST_CORRECTIONS = 100
NOTHING = 1e-12


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """mu = sum_v weight[v] vertices[v]; row 0 is the uniform point u_0, the others have been found by the oracle.

    `rows` says in which row a vertex is.
    """

    vertices: Float[np.ndarray, "v d"]
    weight: Float[np.ndarray, " v"]
    rows: Mapping[bytes, int] = field(default_factory=dict)

    @classmethod
    def uniform(cls, u0: Float[np.ndarray, " d"]) -> ActiveSet:
        """The uniform point alone."""
        return cls(u0[None], np.ones(1))

    @property
    def point(self) -> Float[np.ndarray, " d"]:
        return self.weight @ self.vertices

    def with_vertex(self, vertex: Float[np.ndarray, " d"]) -> tuple[ActiveSet, int]:
        """The set with this vertex in it (weight 0 where it is new), and its row."""
        # Vertices hold 0 and 1, over the local polytope multiples of 1/2, up to the linear program's rounding.
        name = np.round(2.0 * vertex).astype(np.int8).tobytes()
        if (row := self.rows.get(name)) is not None:
            return self, row
        row = len(self.weight)
        vertices = np.vstack([self.vertices, vertex])
        return ActiveSet(vertices, np.append(self.weight, 0.0), {**self.rows, name: row}), row

    def step(self, row: int, gamma: float, delta: float) -> ActiveSet:
        """mu + gamma (s - mu) towards the contracted vertex s = (1 - delta) v + delta u_0."""
        weight = (1.0 - gamma) * self.weight
        weight[row] += gamma * (1.0 - delta)
        weight[0] += gamma * delta
        return replace(self, weight=weight)

    def correct(self, objective: TreeReweighted, delta: float, tolerance: float) -> tuple[ActiveSet, float, int]:
        """(set, last gap, steps): TRW maximised over the hull of the contracted vertices (Algorithm 5).

        Pairwise Frank-Wolfe: weight moves from the active vertex of least slope to that of the largest, until the gap
        over the hull is at most `tolerance` or 100 steps are done.
        """
        share = self.weight / (1.0 - delta)
        # What is left for u_0, which the contraction leaves where it is.
        share[0] = max(0.0, 1.0 - share[1:].sum())
        share, gap, steps = _pairwise(objective, self.vertices, share / share.sum(), delta, tolerance)
        weight = (1.0 - delta) * share
        weight[0] += delta
        return replace(self, weight=weight), gap, steps


def _pairwise(objective: TreeReweighted, vertices: np.ndarray, share: np.ndarray, delta: float, tolerance: float):
    """(shares, gap, steps). The contraction scales all differences of vertices by 1 - delta."""
    point, gap = (1.0 - delta) * (share @ vertices) + delta * vertices[0], 0.0
    for step in range(MOST_CORRECTIONS):
        slope = (1.0 - delta) * (vertices @ objective.gradient(point))
        best = int(slope.argmax())
        gap = float(slope[best] - share @ slope)
        if gap <= tolerance:
            return share, max(gap, 0.0), step
        active = np.flatnonzero(share > NOTHING)
        worst = int(active[slope[active].argmin()])
        direction, most = (1.0 - delta) * (vertices[best] - vertices[worst]), float(share[worst])
        gamma = objective.line_search(point, direction, most)
        share[best] += gamma
        share[worst] = 0.0 if gamma == most else share[worst] - gamma
        point = point + gamma * direction
    return share, max(gap, 0.0), MOST_CORRECTIONS


__all__ = ["ActiveSet"]

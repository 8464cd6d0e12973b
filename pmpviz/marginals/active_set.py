"""Visited vertices with their weights, and the correction that reoptimises the weights without a MAP call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from pmpviz.marginals.polytope import Cells, dot
from pmpviz.marginals.trw import TreeReweighted

MOST_CORRECTIONS = 100
# Of more rows than this a correction looks at all only now and then; in between at so many of the steepest each way.
FEW, STEEPEST, BETWEEN = 64, 16, 8
NOTHING, NAMED = 1e-12, 1e5


class _Room:
    """An array with room for rows to come, so that one more does not copy all those before it."""

    def __init__(self, rows: Float[np.ndarray, "v f"]):
        self.filled = len(rows)
        self.array = np.empty((self.filled + self.filled // 2 + 8, rows.shape[1]))
        self.array[: self.filled] = rows

    def follows(self, rows: Float[np.ndarray, "v f"]) -> bool:
        """Whether the place behind these rows is free: they are this array's, and none has followed them."""
        return rows.base is self.array and len(rows) == self.filled < len(self.array)

    def with_row(self, row: Float[np.ndarray, " f"]) -> Float[np.ndarray, "w f"]:
        """The rows and one more."""
        self.array[self.filled] = row
        self.filled += 1
        return self.array[: self.filled]


@dataclass(frozen=True, eq=False)
class ActiveSet:
    """mu = sum_v weight[v] vertex(v); row 0 is the point u_0 inside, the others have been found by the oracle.

    u_0 is the uniform point; where tables hold zeros, the mean of `covering` possible configurations, which have
    every cell among them that any vertex has. `points` are all cells of every row, `features` those that slopes need
    (see `Cells`), a third of the numbers; `rows` says in which row a vertex is.
    """

    cells: Cells
    points: tuple[Float[np.ndarray, " d"], ...]
    features: Float[np.ndarray, "v f"]
    weight: Float[np.ndarray, " v"]
    rows: Mapping[bytes, int] = field(default_factory=dict)
    covering: int = 0
    room: _Room | None = None

    @classmethod
    def possible(cls, cells: Cells, vertex: Float[np.ndarray, " d"]) -> ActiveSet:
        """One possible configuration alone."""
        return cls(cells, (vertex,), cells.features(vertex)[None], np.ones(1), covering=1)

    @classmethod
    def uniform(cls, cells: Cells) -> ActiveSet:
        """The uniform point alone."""
        return cls(cells, (cells.uniform,), cells.features(cells.uniform)[None], np.ones(1))

    @property
    def point(self) -> Float[np.ndarray, " d"]:
        """mu, the weighted mean of the active vertices, over all cells."""
        return self.expand(dot(self.features.T, self.weight))

    def expand(self, features: Float[np.ndarray, " f"]) -> Float[np.ndarray, " d"]:
        """All cells; those that no vertex has are 0, whatever rounding leaves of them."""
        cells = self.cells.expand(features)
        return np.where(self.points[0] > 0, np.maximum(cells, 0.0), 0.0) if self.covering else cells

    def covers(self, vertex: Float[np.ndarray, " d"]) -> bool:
        """Whether u_0 has all cells of a vertex."""
        return bool((self.points[0][vertex > 0] > 0).all())

    def covered(self, vertex: Float[np.ndarray, " d"]) -> ActiveSet:
        """u_0 with one more configuration in its mean."""
        inside = self.points[0] + (vertex - self.points[0]) / (self.covering + 1)
        features = np.vstack([self.cells.features(inside), self.features[1:]])
        return replace(self, points=(inside, *self.points[1:]), features=features, covering=self.covering + 1)

    @property
    def vertices(self) -> Float[np.ndarray, "v d"]:
        """All cells of the visited vertices, without the uniform point."""
        return np.stack(self.points)[1:]

    def slopes(self, gradient: Float[np.ndarray, " d"]) -> Float[np.ndarray, " v"]:
        """<gradient, vertex> of every row, up to one constant."""
        return dot(self.features, self.cells.reduce(gradient))

    def with_vertex(self, vertex: Float[np.ndarray, " d"]) -> tuple[ActiveSet, int]:
        """The set with this vertex in it (weight 0 where it is new), and its row."""
        features = self.cells.features(vertex)
        # Equal up to the linear program's rounding: over the local polytope vertices hold fractions.
        name = np.round(NAMED * features).astype(np.int32).tobytes()
        if (row := self.rows.get(name)) is not None:
            return self, row
        row = len(self.weight)
        room = self.room if self.room is not None and self.room.follows(self.features) else _Room(self.features)
        grown = {"features": room.with_row(features), "weight": np.append(self.weight, 0.0), "room": room}
        # Of whole numbers an eighth of the memory, and of the time to read them.
        small = vertex.astype(np.int8)
        points = (*self.points, small if np.array_equal(small, vertex) else vertex)
        return replace(self, **grown, points=points, rows={**self.rows, name: row}), row

    def used(self) -> ActiveSet:
        """The set without the vertices of no weight."""
        kept = np.flatnonzero((self.weight > NOTHING) | (np.arange(len(self.weight)) == 0))
        number = {int(row): place for place, row in enumerate(kept)}
        rows = {name: number[row] for name, row in self.rows.items() if row in number}
        points = tuple(self.points[row] for row in kept)
        weight = self.weight[kept] / self.weight[kept].sum()
        return replace(self, points=points, features=self.features[kept], weight=weight, rows=rows)

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
        share, gap, steps = _pairwise(objective, self, share / share.sum(), delta, tolerance)
        weight = (1.0 - delta) * share
        weight[0] += delta
        return replace(self, weight=weight), gap, steps


def _pairwise(objective: TreeReweighted, active: ActiveSet, share: np.ndarray, delta: float, tolerance: float):
    """(shares, gap, steps). The contraction scales all differences of vertices by 1 - delta.

    Where there are many rows, most slopes are far from the least and the largest: of `BETWEEN` steps the first looks at
    all rows, the others at those that were steepest then. A gap is small enough when it is so over all.
    """
    kept = 1.0 - delta
    inside = dot(active.features.T, share)
    point = active.expand(kept * inside + delta * active.features[0])
    gradient, every = objective.gradient(point), np.arange(len(share))
    rows, features, looks = every, active.features, 0
    gap, step = 0.0, 0
    while step < MOST_CORRECTIONS:
        reduced = active.cells.reduce(gradient)
        slope = kept * dot(features, reduced)
        gap = float(slope.max() - kept * dot(inside, reduced))
        used = np.flatnonzero(share[rows] > NOTHING)
        if len(rows) == len(every):
            if gap <= tolerance:
                break
        elif gap <= tolerance or looks == BETWEEN or slope[used].min(initial=np.inf) >= slope.max():
            rows, features, looks = every, active.features, 0
            continue
        best, worst = int(rows[slope.argmax()]), int(rows[used[slope[used].argmin()]])
        direction, most = kept * (active.points[best] - active.points[worst]), float(share[worst])
        gamma = objective.line_search(point, direction, most)
        share[best] += gamma
        share[worst] = 0.0 if gamma == most else share[worst] - gamma
        moving = np.flatnonzero(direction)
        point[moving] += gamma * direction[moving]
        gradient[moving] = objective.gradient(point, moving)
        inside = inside + gamma * (active.features[best] - active.features[worst])
        step, looks = step + 1, looks + 1
        if len(rows) == len(every) > FEW:
            least = used[np.argpartition(slope[used], min(STEEPEST, len(used) - 1))[:STEEPEST]]
            rows = np.union1d(np.argpartition(slope, -STEEPEST)[-STEEPEST:], least)
            features = active.features[rows]
    return share, max(gap, 0.0), step


__all__ = ["ActiveSet"]

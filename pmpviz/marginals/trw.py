"""The tree-reweighted objective, its exact line search, and the spanning trees that tighten it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from jaxtyping import Bool, Float, Int

from pmpviz.marginals.polytope import Cells, dot
from pmpviz.marginals.resistance import edge_resistances
from pmpviz.oracles.potentials import Potentials, Structure

# log 0 in the gradient: far below every log that a contraction leaves, yet finite.
SMALLEST = 1e-300
LINE_STEPS = 60
# Share of the largest edge weight below which an edge counts as absent: the strength of a table that is a product but
# for rounding is no coupling, and 1 / weight would drown all other edges' resistances.
NO_EDGE = 1e-9
# A line search ends where the slope has fallen to this share of its first value.
FLAT = 1e-9
# Up to so many variables resistances are worked out in one matrix, without a search for an order.
SMALL = 64
# An edge that is in every spanning tree has rho = 1, less rounding.
WHOLE = 1e-6


@dataclass(frozen=True, eq=False)
class TreeReweighted:
    """TRW(mu; theta, rho) = <theta, mu> + sum_i (1 - sum_j rho_ij) H(mu_i) + sum_ij rho_ij H(mu_ij) (Eq. 1, 2).

    Concave over the local polytope for rho in the spanning tree polytope; its maximum over the marginal polytope is
    at least log Z. `theta` and `coefficient` (of -mu log mu) have one entry a cell; `constant` is the model's.
    """

    cells: Cells
    theta: Float[np.ndarray, " d"]
    rho: Float[np.ndarray, " e"]
    constant: float
    barred: Bool[np.ndarray, " d"] | None = None

    @classmethod
    def of(cls, potentials: Potentials, rho: Float[np.ndarray, " e"], barred=None) -> TreeReweighted:
        """The objective of some potentials; cells that are `barred` are 0 wherever it is asked for."""
        cells = Cells(potentials.structure)
        theta = cells.theta(potentials)
        return cls(cells, theta if barred is None else np.where(barred, 0.0, theta), rho, potentials.constant, barred)

    def with_rho(self, rho: Float[np.ndarray, " e"]) -> TreeReweighted:
        """The same with other edge appearance probabilities."""
        return replace(self, rho=rho)

    @cached_property
    def coefficient(self) -> Float[np.ndarray, " d"]:
        """What each cell's entropy counts: 1 - sum_e rho_e over a node's edges, and rho_e of an edge."""
        return self.cells.spread(self.rho)

    def value(self, mu: Float[np.ndarray, " d"]) -> float:
        """TRW(mu), constant included."""
        return float(dot(mu, self.theta - self.coefficient * _log(mu))) + self.constant

    def gradient(
        self, mu: Float[np.ndarray, " d"], cells: slice | Int[np.ndarray, " m"] = slice(None)
    ) -> Float[np.ndarray, " m"]:
        """theta - c (1 + log mu), of some cells or all; log 0 counts as -691, and what is barred as 0."""
        found = self.theta[cells] - self.coefficient[cells] * (1.0 + _log(mu[cells]))
        return found if self.barred is None else np.where(self.barred[cells], 0.0, found)

    def linear(self, gradient: Float[np.ndarray, " d"]) -> Potentials:
        """A gradient as potentials to be maximised, what is barred below all that the rest can give together."""
        if self.barred is not None:
            rest = self.cells.potentials(gradient)
            gradient = np.where(self.barred, -(1.0 + 2.0 * rest.size), gradient)
        return self.cells.potentials(gradient)

    def line_search(self, mu: Float[np.ndarray, " d"], direction: Float[np.ndarray, " d"], most: float) -> float:
        """The gamma in [0, most] that maximises TRW(mu + gamma direction), to rounding.

        The derivative falls along the line; it is halved in on, by Newton's step where that stays inside.
        """
        moving = np.flatnonzero(direction)
        mu, d = mu[moving], direction[moving]
        entropy = self.coefficient[moving] * d
        gain = float(dot(self.theta[moving], d)) - float(entropy.sum())

        def slope(gamma: float) -> tuple[float, np.ndarray]:
            at = np.maximum(mu + gamma * d, SMALLEST)
            return gain - float(dot(entropy, np.log(at))), at

        if slope(most)[0] >= 0:
            return most
        return _root(slope, entropy * d, most)

    def information(self, mu: Float[np.ndarray, " d"]) -> Float[np.ndarray, " e"]:
        """Mutual information H(mu_i) + H(mu_j) - H(mu_ij) of every edge."""
        s = self.cells.structure
        unary, table = self.cells.unary(mu), self.cells.table(mu)
        node = -(unary * _log(unary)).sum(1)
        return node[s.i] + node[s.j] + (table * _log(table)).sum((1, 2))


def _root(slope, curvature: Float[np.ndarray, " m"], most: float) -> float:
    """Where a falling slope crosses 0 in [0, most], slope(most) < 0; 0 where it is not positive at 0."""
    low, high, gamma = 0.0, most, 0.0
    height, at = slope(0.0)
    first = height
    if first <= 0:
        return 0.0
    for _ in range(LINE_STEPS):
        bend = float(dot(curvature, 1.0 / at))
        step = gamma + height / bend if bend > 0 else -1.0
        gamma = step if low < step < high else 0.5 * (low + high)
        height, at = slope(gamma)
        if abs(height) <= FLAT * first:
            break
        low, high = (gamma, high) if height > 0 else (low, gamma)
    return gamma


def _log(mu: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(mu, SMALLEST))


def edge_strength(potentials: Potentials) -> Float[np.ndarray, " e"]:
    """How strongly an edge couples, whatever the parametrisation: |t00 + t11 - t01 - t10| for two states.

    For more states, twice the norm of the doubly centred table, which is the same for two.
    """
    s, t = potentials.structure, potentials.table
    card = np.array(s.card, np.float64)
    valid = s.valid_pairs
    rows, columns = card[s.i][:, None, None], card[s.j][:, None, None]
    centred = t - t.sum(1, keepdims=True) / rows - t.sum(2, keepdims=True) / columns
    centred = np.where(valid, centred + t.sum((1, 2), keepdims=True) / (rows * columns), 0.0)
    return 2.0 * np.sqrt((centred**2).sum((1, 2)))


def matrix_tree(structure: Structure, weight: Float[np.ndarray, " e"]) -> Float[np.ndarray, " e"]:
    """rho_e = w_e x effective resistance: how often e is in a spanning tree drawn in proportion to its weights.

    By the matrix-tree theorem. An edge of weight 0, or below `NO_EDGE` of the largest, gets 0; of a graph that falls
    apart, each part has trees of its own.
    """
    if not len(weight) or weight.max() <= 0:
        return np.zeros(len(weight))
    w, n = weight / weight.max(), structure.n
    w = np.where(w < NO_EDGE, 0.0, w)
    held = np.flatnonzero(w)
    if n > SMALL and (sparse := edge_resistances(n, structure.i[held], structure.j[held], w[held])) is not None:
        rho = np.zeros(len(w))
        rho[held] = np.clip(w[held] * sparse, 0.0, 1.0)
        return rho
    conductance = np.zeros((n, n))
    np.add.at(conductance, (structure.i, structure.j), w)
    resistance = _resistances(conductance + conductance.T)
    return np.clip(w * resistance[structure.i, structure.j], 0.0, 1.0)


def first_rho(potentials: Potentials) -> Float[np.ndarray, " e"]:
    """Where a walk begins: by the matrix-tree theorem; without a loop 1, however weak an edge is."""
    strength = edge_strength(potentials)
    if no_loop(potentials.structure):
        return np.ones(len(strength))
    # Where nothing interacts yet every tree is as good.
    return matrix_tree(potentials.structure, strength if strength.any() else np.ones(len(strength)))


def no_loop(structure: Structure) -> bool:
    """Whether the edges are a forest: each joins two parts that were apart."""
    n, edges = structure.n, len(structure.i)
    if edges >= n:
        return False
    graph = scipy.sparse.coo_array((np.ones(edges), (structure.i, structure.j)), shape=(n, n))
    return edges == n - scipy.sparse.csgraph.connected_components(graph, directed=False)[0]


def is_forest(rho: Float[np.ndarray, " e"]) -> bool:
    """Whether every edge is in every spanning tree: no other rho is possible, and the objective's maximum is log Z."""
    return not len(rho) or float(rho.min()) > 1.0 - WHOLE


def _resistances(conductance: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Effective resistance between any two nodes of one part; of different parts, numbers without a meaning.

    Node after node is replaced by edges between its neighbours (star to mesh), w_ab += w_va w_vb / d, d = sum_a w_va,
    which leaves the others' resistances alone; and is put back by R_va = 1 / d + sum_b p_b R_ab - sum_bc p_b p_c R_bc /
    2, p_b = w_vb / d. No conductances are subtracted, and no term exceeds 1 / w_va, so that w R is right to rounding
    at weights of any sizes, where an inverse of the Laplacian loses their range in digits.
    """
    n = len(conductance)
    share, inverse = np.zeros((n, n)), np.zeros(n)
    for v in range(n - 1, 0, -1):
        row = conductance[v, :v]
        if (total := row.sum()) > 0:
            share[v, :v], inverse[v] = row / total, 1.0 / total
            conductance[:v, :v] += np.outer(row, share[v, :v])
    found = np.zeros((n, n))
    for v in range(1, n):
        p = share[v, :v]
        toward = found[:v, :v] @ p
        found[v, :v] = found[:v, v] = inverse[v] + toward - p @ toward / 2
    return found


def best_tree(structure: Structure, gain: Float[np.ndarray, " e"]) -> Float[np.ndarray, " e"]:
    """Indicator of the spanning tree (or forest) of largest total gain: a vertex of the spanning tree polytope."""
    # The sparse tree takes a zero for a missing edge: all weights are shifted above it.
    weight = gain.max(initial=0.0) - gain + 1.0
    tree = scipy.sparse.csgraph.minimum_spanning_tree(
        scipy.sparse.coo_array((weight, (structure.i, structure.j)), shape=(structure.n,) * 2).tocsr()
    )
    chosen = set(zip(*(axis.tolist() for axis in tree.nonzero()), strict=True))
    pairs = zip(structure.i.tolist(), structure.j.tolist(), strict=True)
    return np.array([float(pair in chosen) for pair in pairs])


__all__ = ["TreeReweighted", "best_tree", "edge_strength", "first_rho", "is_forest", "matrix_tree", "no_loop"]

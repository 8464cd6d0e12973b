"""Three coordinates of a pseudo-marginal, so that the polytopes can be looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from pmpviz.marginals.polytope import Cells
from pmpviz.oracles.icm import descend
from pmpviz.oracles.potentials import Potentials

# Random starts: fewer of more than a thousand variables, whose local maxima take as many times as long.
STARTS, FEWEST, SEED = 128, 8, 0
_SUB = "₁₂₃"
TETRAHEDRON = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])


@dataclass(frozen=True, eq=False)
class Projection:
    """coordinates = axes (mu - origin): three affine functions of mu, with their names.

    `marginal` and `local` are the corners and edges of the two polytopes where the projection shows all of them, else
    None. `maxima` are the coordinates of the configurations that the directions are of, where there are such, so that
    it is known how far the picture reaches before anything is found. `words` say what is projected, `means` which
    marginals the picture tells apart.
    """

    axes: Float[np.ndarray, "3 d"]
    shift: Float[np.ndarray, " 3"]
    names: tuple[str, str, str]
    words: str
    marginal: tuple[np.ndarray, np.ndarray] | None = None
    local: tuple[np.ndarray, np.ndarray] | None = None
    maxima: Float[np.ndarray, "k 3"] | None = None
    means: str = "marginals"

    def of(self, mu: Float[np.ndarray, "... d"]) -> Float[np.ndarray, "... 3"]:
        """Coordinates of one point or of many."""
        return mu @ self.axes.T + self.shift


def projection_of(potentials: Potentials, single: bool = False) -> Projection:
    """The whole picture of one edge; the correlations of a triangle; else score and two directions of variation.

    Where `single`, three directions of single variables' marginals alone: of a method that has no pairs of its own.
    """
    s = potentials.structure
    if single:
        return _singles(potentials)
    if s.binary and s.n == 2 and len(s.i) == 1:
        return _edge(Cells(s))
    if s.binary and s.n == 3 and len(s.i) == 3:
        return _triangle(Cells(s))
    return _score(potentials)


def _edge(cells: Cells) -> Projection:
    """Pairwise marginals of two variables: all of them lie in a tetrahedron."""
    axes = np.stack([_cell(cells, lambda u, t: _set(u, (0, 1))), _cell(cells, lambda u, t: _set(u, (1, 1))),
                     _cell(cells, lambda u, t: _set(t, (0, 1, 1)))])  # fmt: skip
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 1]], float)
    names = ("p(x₁ = 1)", "p(x₂ = 1)", "p(x₁ = x₂ = 1)")
    words = "All pairwise marginals of two variables: a tetrahedron, whose corners are the four configurations."
    return Projection(axes, np.zeros(3), names, words, (corners, TETRAHEDRON))


def _triangle(cells: Cells) -> Projection:
    """E s_i s_j of the three edges: the marginal polytope shows as a tetrahedron inside the local polytope's cube."""
    agree = np.array([[1.0, -1.0], [-1.0, 1.0]])
    axes = np.stack([_cell(cells, lambda u, t, e=e: _set(t, e, agree)) for e in range(3)])
    corners = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float)
    cube = np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], float)
    ends = [(p, q) for p in range(8) for q in range(p) if np.abs(cube[p] - cube[q]).sum() == 2]
    s = cells.structure
    first, second, third = (f"correlation s{_SUB[a]}, s{_SUB[b]}" for a, b in zip(s.i, s.j, strict=True))
    words = (
        "The three correlations, how far two spins agree: a configuration and its opposite share a corner. What a "
        "distribution can have is the tetrahedron (marginal polytope); what merely agrees edge by edge fills the cube "
        "(local polytope)."
    )
    whole, relaxed = (corners, TETRAHEDRON), (cube, np.array(ends))
    names = first, second, third
    return Projection(axes, np.zeros(3), names, words, whole, relaxed, means="marginals of pairs")


def _cell(cells: Cells, write: Callable) -> Float[np.ndarray, " d"]:
    s = cells.structure
    unary, table = np.zeros((s.n, s.states)), np.zeros((len(s.i), s.states, s.states))
    write(unary, table)
    return cells.flat(unary, table)


def _set(array: np.ndarray, place, value=1.0) -> None:
    array[place] = value


def _score(potentials: Potentials) -> Projection:
    """<theta, mu>, and the two directions in which local maxima of theta from random starts differ most."""
    cells = Cells(potentials.structure)
    theta, maxima = cells.theta(potentials), _local_maxima(potentials)
    found = maxima - cells.uniform
    length = float(np.linalg.norm(theta))
    unit = theta / length if length else theta
    two = _directions(found - np.outer(found @ unit, unit), 2)
    axes = np.vstack([theta, two])
    shift = np.array([potentials.constant, *(-two @ cells.uniform)])
    names = ("score ⟨θ, μ⟩", "principal direction 1", "principal direction 2")
    words = (
        "A projection: the score ⟨θ, μ⟩, how much the model favours μ, and two principal directions, in which the "
        f"local maxima of the score (from {len(maxima)} random starts) differ most. All three count pairs of "
        "neighbours as well as single spins: a point may lie near the exact one and its single-spin marginals be off, "
        "or the reverse."
    )
    return Projection(axes, shift, names, words, maxima=maxima @ axes.T + shift)


def _singles(potentials: Potentials) -> Projection:
    """The three directions in which single variables' marginals differ most between local maxima of theta."""
    cells, maxima = Cells(potentials.structure), _local_maxima(potentials)
    found = maxima - cells.uniform
    found[:, cells.split :] = 0.0
    axes = _directions(found, 3)
    words = (
        "A projection of the marginals of single spins: three principal directions, in which the local maxima of the "
        f"score (from {len(maxima)} random starts) differ most."
    )
    names = ("principal direction 1", "principal direction 2", "principal direction 3")
    return Projection(axes, -axes @ cells.uniform, names, words, maxima=(maxima - cells.uniform) @ axes.T)


def _local_maxima(potentials: Potentials) -> Float[np.ndarray, "k d"]:
    """Of theta, from random starts."""
    cells, rng = Cells(potentials.structure), np.random.default_rng(SEED)
    count = max(FEWEST, min(STARTS, STARTS * 1024 // max(cells.structure.n, 1)))
    starts = (rng.random((count, cells.structure.n)) * np.array(cells.structure.card)).astype(np.int8)
    return np.stack([cells.vertex(descend(potentials, x)) for x in starts])


def _directions(found: Float[np.ndarray, "k d"], count: int) -> Float[np.ndarray, "c d"]:
    """So many orthogonal directions in which these differ most; 0 where there are fewer."""
    _, _, directions = np.linalg.svd(found, full_matrices=False)
    kept = np.zeros((count, found.shape[1]))
    kept[: min(count, len(directions))] = directions[:count]
    return kept


__all__ = ["Projection", "projection_of"]

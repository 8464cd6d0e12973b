"""Who is joined to whom: edges of regular lattices as shifts, and of random graphs and trees as lists.

No weights here. A lattice is `(shifts, present)`: `present[d][site]` says whether `site` is joined to
`site + shifts[d]` (indices wrap). A graph is `(i, j)` with i < j, each edge once.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Int

from pmpviz.models.couplings import Shape
from pmpviz.types import InputError

SHIFTS: dict[str, tuple[Shape, ...]] = {
    "chain": ((1,),),
    "square": ((0, 1), (1, 0)),
    "triangular": ((0, 1), (1, 0), (1, 1)),
    "honeycomb": ((0, 1), (1, 0)),
    "cubic": ((0, 0, 1), (0, 1, 0), (1, 0, 0)),
}

MAX_EDGES = 1 << 22


def lattice(kind: str, shape: Shape, periodic: bool) -> tuple[tuple[Shape, ...], Bool[np.ndarray, "d *shape"]]:
    """(shifts, present) of a chain, square, triangular, honeycomb (as a brick wall) or cubic lattice.

    Raises InputError where a periodic side is below 3 (an edge would be doubled) or, on the honeycomb, odd.
    """
    shifts = SHIFTS[kind]
    if periodic:
        check_periodic(kind, shape)
        present = np.ones((len(shifts), *shape), bool)
    else:
        present = np.stack([_inside(shape, shift) for shift in shifts])
    if kind == "honeycomb":
        # A brick wall: every site keeps both row neighbours and one of the two column neighbours.
        present[1] &= np.indices(shape).sum(0) % 2 == 0
    return shifts, present


def check_periodic(kind: str, shape: Shape) -> None:
    """Raise InputError where `shape` cannot be closed to a torus without doubled or misfitting edges."""
    if min(shape) < 3:
        raise InputError(
            f"a periodic side needs at least 3 sites, but one has {min(shape)}; give a longer side or periodic=false"
        )
    if kind == "honeycomb" and any(side % 2 for side in shape):
        raise InputError("a periodic honeycomb needs even sides; give even sides or periodic=false")


def _inside(shape: Shape, shift: Shape) -> Bool[np.ndarray, "*shape"]:
    reach = np.indices(shape) + np.reshape(shift, (-1,) + (1,) * len(shape))
    return (reach < np.reshape(shape, (-1,) + (1,) * len(shape))).all(0)


def erdos_renyi(rng: np.random.Generator, n: int, degree: float) -> tuple[Int[np.ndarray, " e"], Int[np.ndarray, " e"]]:
    """G(n, p) with p = degree / (n - 1): every pair is joined independently (Gilbert 1959).

    The number of edges is drawn first (binomial), then the set of pairs, uniform of that size: the same law at a
    cost of the edges only. Raises InputError where `degree` exceeds n - 1 or about 4 million edges are due.
    """
    if degree > max(n - 1, 0):
        raise InputError(f"degree is {degree:g}, but {n} sites allow at most {n - 1}; give a smaller degree")
    check_edges(n * degree / 2)
    pairs = n * (n - 1) // 2
    count = int(rng.binomial(pairs, degree / (n - 1))) if pairs else 0
    return pair_of(np.sort(rng.choice(pairs, count, replace=False)) if count else np.zeros(0, np.int64), n)


def pair_of(index: Int[np.ndarray, " e"], n: int) -> tuple[Int[np.ndarray, " e"], Int[np.ndarray, " e"]]:
    """The (i, j), i < j, at each place of the list (0,1), (0,2), ..., (n-2, n-1)."""
    start = np.concatenate([[0], np.cumsum(np.arange(n - 1, 0, -1))])
    i = np.searchsorted(start, index, side="right") - 1
    return i, index - start[i] + i + 1


def random_regular(
    rng: np.random.Generator, n: int, degree: int
) -> tuple[Int[np.ndarray, " e"], Int[np.ndarray, " e"]]:
    """A random graph in which every site has `degree` neighbours.

    Pairs the half-edges at random and mends self-loops and doubled edges by random exchanges; uniform in the
    limit of large n (McKay and Wormald 1990). Raises InputError where no such graph exists.
    """
    if degree >= n:
        raise InputError(f"degree is {degree}, but {n} sites allow at most {n - 1}; give a smaller degree")
    if n * degree % 2:
        raise InputError(f"{n} sites of degree {degree} have an odd number of ends; make one of them even")
    check_edges(n * degree / 2)
    if 2 * degree < n:
        return _ordered(*_paired(rng, n, degree))
    # A dense regular graph is the complement of a sparse one, where the pairing is easily mended.
    joined = np.triu(np.ones((n, n), bool), 1)
    joined[_ordered(*_paired(rng, n, n - 1 - degree))] = False
    return np.nonzero(joined)


def check_edges(count: float) -> None:
    """Raise InputError where a graph would have more than MAX_EDGES edges."""
    if count > MAX_EDGES:
        raise InputError(
            f"the graph would have about {count:.0f} edges, more than the {MAX_EDGES} that are allowed; "
            "give fewer sites or a smaller degree"
        )


def _paired(rng: np.random.Generator, n: int, degree: int) -> tuple[np.ndarray, np.ndarray]:
    ends = rng.permutation(np.repeat(np.arange(n), degree))
    i, j = ends[::2].copy(), ends[1::2].copy()
    while len(bad := _misfits(i, j, n)):
        other = rng.integers(0, len(j), len(bad))
        for a, b in zip(bad, other, strict=True):
            j[a], j[b] = j[b], j[a]
    return i, j


def _misfits(i: np.ndarray, j: np.ndarray, n: int) -> np.ndarray:
    """Places of self-loops and of all but the first of equal edges."""
    code = np.minimum(i, j) * n + np.maximum(i, j)
    doubled = np.ones(len(code), bool)
    doubled[np.unique(code, return_index=True)[1]] = False
    return np.flatnonzero(doubled | (i == j))


def _ordered(i: np.ndarray, j: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((high, low))
    return low[order], high[order]


def tree(n: int, branching: int) -> tuple[Int[np.ndarray, " e"], Int[np.ndarray, " e"], Int[np.ndarray, " n"]]:
    """(parent, child, depth) of the balanced tree on n sites in level order, each site with `branching` children."""
    child = np.arange(1, n)
    parent = (child - 1) // branching
    depth = np.zeros(n, np.int64)
    first, level = 1, 1
    width = branching
    while first < n:
        depth[first : first + width] = level
        first, width, level = first + width, width * branching, level + 1
    return parent, child, depth

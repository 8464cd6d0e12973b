"""Pairwise couplings of a binary model: shifted lattice planes, padded neighbours, a dense matrix, or layers.

All are in the 0/1 parametrisation: the energy term is sum over edges of w_ij x_i x_j, each edge once.
"""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pmpviz.types import pytree

Shape = tuple[int, ...]


@pytree(static=("shape", "shifts"))
class ShiftCouplings:
    """A lattice as shifted arrays: `weight[d][site]` couples `site` with `site + shifts[d]` (periodic indices).

    Open boundaries have weight 0 on the wrapping edges. `shape` has one to three sides; site i is the i-th in
    C order.
    """

    weight: Float[Array, "..."]
    shape: Shape
    shifts: tuple[Shape, ...]

    @property
    def n(self) -> int:
        return int(np.prod(self.shape))

    def field(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """sum_j w_ij x_j for every site i."""
        plane = x.reshape(self.shape)
        total = jnp.zeros(self.shape, self.weight.dtype)
        axes = tuple(range(len(self.shape)))
        for w, shift in zip(self.weight, self.shifts, strict=True):
            back = tuple(-s for s in shift)
            total = total + w * jnp.roll(plane, back, axes) + jnp.roll(w * plane, shift, axes)
        return total.reshape(-1)

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every edge that exists, i the site that the weight is stored at (host arrays)."""
        site = np.arange(self.n).reshape(self.shape)
        axes = tuple(range(len(self.shape)))
        i = np.concatenate([site.reshape(-1)] * len(self.shifts))
        j = np.concatenate([np.roll(site, tuple(-s for s in sh), axes).reshape(-1) for sh in self.shifts])
        w = np.asarray(self.weight).reshape(-1)
        keep = w != 0
        return i[keep], j[keep], w[keep]

    def neighbour_lists(self) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
        """(neighbour[n, 2d], weight[n, 2d]): for each shift the site ahead, then the site behind."""
        site = np.arange(self.n, dtype=np.int32).reshape(self.shape)
        axes = tuple(range(len(self.shape)))
        neighbour, weight = [], []
        for w, shift in zip(self.weight, self.shifts, strict=True):
            neighbour += [np.roll(site, tuple(-s for s in shift), axes), np.roll(site, shift, axes)]
            weight += [w, jnp.roll(w, shift, axes)]
        stack = jnp.stack([w.reshape(-1) for w in weight], axis=1)
        return jnp.asarray(np.stack([p.reshape(-1) for p in neighbour], axis=1)), stack

    def scaled(self, beta: Float[Array, ""]) -> ShiftCouplings:
        """The same couplings times beta."""
        return ShiftCouplings(self.weight * beta, self.shape, self.shifts)


@pytree
class SparseCouplings:
    """Padded neighbour lists: slot k of site i holds `neighbour[i, k]`, `weight[i, k]`, and in `reverse[i, k]` the
    flat index (j * K + k') of the slot of j that holds i. A padded slot points at itself with weight 0.

    Without the padding the slots are numbered 0, ..., 2E - 1 in the same order: `number[i, k]` is that of slot k of
    site i, 2E for a padded one, and `entry[2E + 1]` the flat index of each (any one for the last).
    """

    neighbour: Int[Array, "n k"]
    weight: Float[Array, "n k"]
    reverse: Int[Array, "n k"]
    number: Int[Array, "n k"]
    entry: Int[Array, " s"]

    @classmethod
    def from_edges(cls, n: int, i: np.ndarray, j: np.ndarray, w: np.ndarray) -> SparseCouplings:
        """Neighbour lists from edge arrays (each edge once, no self-loops)."""
        i, j, w = np.asarray(i, np.int64), np.asarray(j, np.int64), np.asarray(w, np.float64)
        source, sink = np.concatenate([i, j]), np.concatenate([j, i])
        order = np.argsort(source, kind="stable")
        degree = np.bincount(source, minlength=n)
        width = max(int(degree.max(initial=0)), 1)
        start = np.concatenate([[0], np.cumsum(degree)[:-1]])
        slot = np.empty(len(source), np.int64)
        slot[order] = np.arange(len(source)) - start[source[order]]
        flat = source * width + slot
        neighbour = np.repeat(np.arange(n), width)
        reverse = np.arange(n * width)
        weight = np.zeros(n * width)
        neighbour[flat], weight[flat] = sink, np.concatenate([w, w])
        reverse[flat] = np.concatenate([flat[len(i) :], flat[: len(i)]])
        entry = np.append(np.sort(flat), 0)
        number = np.full(n * width, len(flat))
        number[entry[:-1]] = np.arange(len(flat))
        shape = (n, width)
        return cls(
            neighbour.reshape(shape).astype(np.int32),
            weight.reshape(shape).astype(np.float32),
            reverse.reshape(shape).astype(np.int32),
            number.reshape(shape).astype(np.int32),
            entry.astype(np.int32),
        )

    @property
    def n(self) -> int:
        return self.neighbour.shape[0]

    def field(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """sum_j w_ij x_j for every site i."""
        return (self.weight * jnp.take(x, self.neighbour)).sum(1)

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every edge, i < j (host arrays)."""
        neighbour, weight = np.asarray(self.neighbour), np.asarray(self.weight)
        i, k = np.nonzero(neighbour > np.arange(self.n)[:, None])
        return i, neighbour[i, k].astype(np.int64), weight[i, k]

    def neighbour_lists(self) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
        """(neighbour, weight) of every slot."""
        return self.neighbour, self.weight

    def scaled(self, beta: Float[Array, ""]) -> SparseCouplings:
        """The same couplings times beta."""
        return SparseCouplings(self.neighbour, self.weight * beta, self.reverse, self.number, self.entry)


@pytree
class DenseCouplings:
    """A symmetric matrix with zero diagonal."""

    weight: Float[Array, "n n"]

    @property
    def n(self) -> int:
        return self.weight.shape[0]

    def field(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """sum_j w_ij x_j for every site i."""
        return self.weight @ x

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every nonzero edge, i < j (host arrays)."""
        weight = np.asarray(self.weight)
        i, j = np.nonzero(np.triu(weight, 1))
        return i, j, weight[i, j]

    def scaled(self, beta: Float[Array, ""]) -> DenseCouplings:
        """The same couplings times beta."""
        return DenseCouplings(self.weight * beta)

    def matrix(self) -> Float[Array, "n n"]:
        """The symmetric matrix of all couplings."""
        return self.weight


@pytree
class LayeredCouplings:
    """A visible and a hidden layer: `weight[h, v]` between them, `lateral[v, v]` within the visible one or None.

    Visible sites come first: site i < v is visible, site v + k is the k-th hidden one. `lateral` is symmetric with
    zero diagonal; hidden sites never interact with one another.
    """

    weight: Float[Array, "h v"]
    lateral: Float[Array, "v v"] | None = None

    @property
    def visible(self) -> int:
        return self.weight.shape[1]

    @property
    def hidden(self) -> int:
        return self.weight.shape[0]

    @property
    def n(self) -> int:
        return self.visible + self.hidden

    def to_visible(self, h: Float[Array, "h ..."]) -> Float[Array, "v ..."]:
        """What the hidden layer says to every visible site: W' h."""
        return self.weight.T @ h

    def to_hidden(self, v: Float[Array, "v ..."]) -> Float[Array, "h ..."]:
        """What the visible layer says to every hidden site: W v."""
        return self.weight @ v

    def field(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """sum_j w_ij x_j for every site i."""
        v, h = x[: self.visible], x[self.visible :]
        up = self.to_visible(h)
        up = up if self.lateral is None else up + self.lateral @ v
        return jnp.concatenate([up, self.to_hidden(v)])

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every nonzero edge, i < j (host arrays)."""
        weight = np.asarray(self.weight)
        k, i = np.nonzero(weight)
        found = i, self.visible + k, weight[k, i]
        if self.lateral is None:
            return found
        within = DenseCouplings(self.lateral).edges()
        return tuple(np.concatenate(pair) for pair in zip(within, found, strict=True))

    def scaled(self, beta: Float[Array, ""]) -> LayeredCouplings:
        """The same couplings times beta."""
        return LayeredCouplings(self.weight * beta, None if self.lateral is None else self.lateral * beta)

    def matrix(self) -> Float[Array, "n n"]:
        """The symmetric matrix of all couplings."""
        v, h = self.visible, self.hidden
        lateral = jnp.zeros((v, v)) if self.lateral is None else self.lateral
        return jnp.block([[lateral, self.weight.T], [self.weight, jnp.zeros((h, h))]])


Couplings = ShiftCouplings | SparseCouplings | DenseCouplings | LayeredCouplings
# These have no neighbour lists: nearly every site hears nearly every other, of the other layer at least.
DENSE = (DenseCouplings, LayeredCouplings)


def to_dense(couplings: Couplings) -> DenseCouplings:
    """The same couplings as a matrix; parallel edges add up."""
    matrix = np.zeros((couplings.n, couplings.n), np.float64)
    i, j, w = couplings.edges()
    np.add.at(matrix, (i, j), w)
    return DenseCouplings((matrix + matrix.T).astype(np.float32))


def to_sparse(couplings: Couplings) -> SparseCouplings:
    """The same couplings as padded neighbour lists."""
    return SparseCouplings.from_edges(couplings.n, *couplings.edges())


def colour_of(couplings: Couplings) -> Int[np.ndarray, " n"]:
    """A proper colouring: in closed form for a lattice where one fits, by search otherwise."""
    if isinstance(couplings, ShiftCouplings):
        colour = shift_colouring(couplings.shifts, np.asarray(couplings.weight) != 0)
        if colour is not None:
            return colour
    if isinstance(couplings, LayeredCouplings):
        return _layer_colours(couplings)
    i, j, _ = couplings.edges()
    return colouring(couplings.n, i, j)


def _layer_colours(couplings: LayeredCouplings) -> Int[np.ndarray, " n"]:
    """One colour a layer; with lateral couplings one for each visible site, and one for the hidden layer."""
    visible, hidden = couplings.visible, couplings.hidden
    own = np.zeros(visible, np.int32) if couplings.lateral is None else np.arange(visible, dtype=np.int32)
    return np.concatenate([own, np.full(hidden, own[-1] + 1, np.int32)])


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

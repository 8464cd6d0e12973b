"""Maps B with B B' = W + D: forward B z from the Gaussians to the variables, back B' p the other way.

Each is a pytree; arrays have the chains of a tile on their last axis, z[m, t] and p[n, t]. `of...` makes one on the
host, in float64.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float, Int

from pmpviz.models.couplings import ShiftCouplings
from pmpviz.types import Refusal, pytree

MOST_DENSE = 1024
MOST_RANK_SHARE = 0.5
NULL = 1e-5
UNROLLED = 24


class GaussianMap(Protocol):
    """B of n rows and m columns."""

    @property
    def m(self) -> int:
        """How many Gaussians there are."""

    def forward(self, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """B z."""

    def back(self, p: Float[Array, "n t"]) -> Float[Array, "m t"]:
        """B' p."""


@pytree
class DenseMap:
    """B as a matrix, `weight[n, m]`."""

    weight: Float[Array, "n m"]

    @property
    def m(self) -> int:
        """Number of Gaussian fields."""
        return self.weight.shape[1]

    def forward(self, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """B z."""
        return self.weight @ z

    def back(self, p: Float[Array, "n t"]) -> Float[Array, "m t"]:
        """B' p."""
        return self.weight.T @ p


@pytree(static=("shape", "shifts"))
class EdgePlanes:
    """One Gaussian an edge of a lattice: z_e ~ N(sqrt|w| (s_i + sign(w) s_j), 1), as planes that are rolled.

    `here[d, *shape]` is sqrt|w| of the edge from a site to the one ahead, `ahead` the same with w's sign.
    """

    here: Float[Array, "d *shape"]
    ahead: Float[Array, "d *shape"]
    shape: tuple[int, ...]
    shifts: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, couplings: ShiftCouplings, beta: float) -> EdgePlanes:
        """The edge form of a lattice."""
        here, ahead = _halves(beta * np.asarray(couplings.weight, np.float64))
        return cls(here, ahead, couplings.shape, couplings.shifts)

    @property
    def m(self) -> int:
        """Number of Gaussian fields."""
        return self.here.size

    def forward(self, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """B z."""
        axes, planes = tuple(range(len(self.shape))), z.reshape(*self.here.shape, -1)
        parts = [
            here[..., None] * plane + jnp.roll(ahead[..., None] * plane, shift, axes)
            for here, ahead, plane, shift in zip(self.here, self.ahead, planes, self.shifts, strict=True)
        ]
        return reduce(jnp.add, parts).reshape(-1, z.shape[-1])

    def back(self, p: Float[Array, "n t"]) -> Float[Array, "m t"]:
        """B' p."""
        axes, plane = tuple(range(len(self.shape))), p.reshape(*self.shape, -1)
        parts = [
            here[..., None] * plane + ahead[..., None] * jnp.roll(plane, tuple(-s for s in shift), axes)
            for here, ahead, shift in zip(self.here, self.ahead, self.shifts, strict=True)
        ]
        return jnp.stack(parts).reshape(-1, p.shape[-1])


@pytree
class EdgeList:
    """One Gaussian an edge of a graph: edge e joins `ends[e, 0]`, with the factor `factor[e, 0]` = sqrt|w|, and
    `ends[e, 1]`, with `factor[e, 1]` = sign(w) sqrt|w|. The edges of site i are `edge[i, k]` with B's entry
    `entry[i, k]`, 0 in padded slots.
    """

    ends: Int[Array, "e 2"]
    factor: Float[Array, "e 2"]
    edge: Int[Array, "n k"]
    entry: Float[Array, "n k"]

    @classmethod
    def of(cls, n: int, i: np.ndarray, j: np.ndarray, w: np.ndarray) -> EdgeList:
        """The edge form of a graph's edges, each once."""
        ends, factor = np.stack([i, j], 1).astype(np.int32).reshape(-1, 2), np.stack(_halves(w), -1).reshape(-1, 2)
        order = np.argsort(ends.T.reshape(-1), kind="stable")
        site, number = ends.T.reshape(-1)[order], np.tile(np.arange(len(ends)), 2)[order]
        degree = np.bincount(site, minlength=n)
        slot = np.arange(len(site)) - np.repeat(np.cumsum(degree) - degree, degree)
        width = max(int(degree.max(initial=0)), 1)
        edge, entry = np.zeros((n, width), np.int32), np.zeros((n, width), np.float32)
        edge[site, slot], entry[site, slot] = number, factor.T.reshape(-1)[order]
        return cls(ends, factor, edge, entry)

    @property
    def m(self) -> int:
        """Number of Gaussian fields."""
        return len(self.ends)

    def forward(self, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """B z."""
        edge, entry = jnp.asarray(self.edge).T, jnp.asarray(self.entry).T
        total = jnp.zeros((len(self.edge), z.shape[-1]))
        if not self.m:
            return total

        def slot(k, total):
            return total + entry[k][:, None] * jnp.take(z, edge[k], axis=0, mode="clip")

        slots = len(edge)
        return (
            reduce(lambda sum, k: slot(k, sum), range(slots), total)
            if slots <= UNROLLED
            else jax.lax.fori_loop(0, slots, slot, total)
        )

    def back(self, p: Float[Array, "n t"]) -> Float[Array, "m t"]:
        """B' p."""
        one, two = (jnp.take(p, self.ends[:, end], axis=0, mode="clip") for end in (0, 1))
        return self.factor[:, :1] * one + self.factor[:, 1:] * two


@pytree
class BandedMap:
    """A Cholesky factor of few bands, of the variables in an order that keeps them near the diagonal.

    `band[k, i]` is L[i, i - k] in that order; the i-th of it is variable `order[i]`, and variable v its `place[v]`-th.
    """

    band: Float[Array, "k n"]
    order: Int[Array, " n"]
    place: Int[Array, " n"]

    @classmethod
    def of(cls, shifted: Any) -> BandedMap:
        """The factor of a sparse positive definite matrix; its bands follow from the graph alone."""
        matrix = scipy.sparse.csr_array(shifted)
        order = np.asarray(scipy.sparse.csgraph.reverse_cuthill_mckee(matrix, symmetric_mode=True), np.int32)
        ordered = scipy.sparse.coo_array(matrix[order][:, order])
        width = int((ordered.row - ordered.col).max(initial=0))
        lower, below = np.zeros((width + 1, len(order))), ordered.row >= ordered.col
        lower[(ordered.row - ordered.col)[below], ordered.col[below]] = ordered.data[below]
        factor = scipy.linalg.cholesky_banded(lower, lower=True)
        # Column by column in the library's form, row by row in ours: band k is shifted by k.
        band = np.stack([np.concatenate([np.zeros(k), row[: len(row) - k]]) for k, row in enumerate(factor)])
        return cls(band.astype(np.float32), order, np.argsort(order).astype(np.int32))

    @property
    def m(self) -> int:
        """Number of Gaussian fields."""
        return self.band.shape[1]

    def forward(self, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """B z."""
        band, width = jnp.asarray(self.band), len(self.band) - 1
        padded = jnp.pad(z, ((width, 0), (0, 0)))

        def add(k, total):
            return total + band[k][:, None] * jax.lax.dynamic_slice_in_dim(padded, width - k, self.m)

        return jax.lax.fori_loop(0, width + 1, add, jnp.zeros(z.shape))[self.place]

    def back(self, p: Float[Array, "n t"]) -> Float[Array, "m t"]:
        """B' p."""
        own, band, width = jnp.asarray(p)[self.order], jnp.asarray(self.band), len(self.band) - 1

        def add(k, total):
            rows = jnp.pad(band[k][:, None] * own, ((0, width), (0, 0)))
            return total + jax.lax.dynamic_slice_in_dim(rows, k, self.m)

        return jax.lax.fori_loop(0, width + 1, add, jnp.zeros(own.shape))


def check_dense(n: int) -> None:
    """Raise Refusal above 1,024 variables: the factor of a dense matrix takes the cube of their number."""
    if n > MOST_DENSE:
        raise Refusal(
            f"a dense map of {n:,} variables would take too long to factorise; choose the edge form, the banded "
            f"Cholesky factor, the low-rank map, or a model of at most {MOST_DENSE:,} variables"
        )


def eigen_map(shifted: Float[np.ndarray, "n n"]) -> tuple[DenseMap, Float[np.ndarray, " n"]]:
    """B = V sqrt(lambda) of W + D = V diag(lambda) V', and lambda in rising order; raises Refusal above 1,024.

    Eigenvalues that are negative by rounding count as 0, so that no extra shift is needed.
    """
    check_dense(len(shifted))
    values, vectors = np.linalg.eigh(shifted)
    values = np.where(values > 1e-9 * max(values.max(initial=0.0), 0.0), values, 0.0)
    return DenseMap((vectors * np.sqrt(values)).astype(np.float32)), values


def cholesky_map(shifted: Float[np.ndarray, "n n"]) -> DenseMap:
    """B the lower Cholesky factor of W + D, semidefinite by at most rounding; raises Refusal above 1,024."""
    check_dense(len(shifted))
    tiny = 1e-7 * float(np.abs(np.diag(shifted)).max(initial=0.0)) or 1.0
    return DenseMap(np.linalg.cholesky(shifted + tiny * np.eye(len(shifted))).astype(np.float32))


def low_rank_map(shifted: Float[np.ndarray, "n n"]) -> DenseMap:
    """B of as many columns as W + D has rank, by Cholesky with pivots; raises Refusal above half of n.

    Of a Hopfield model under its least uniform shift: one column a pattern. O(n rank^2).
    """
    n = len(shifted)
    rest = np.diag(shifted).astype(np.float64).copy()
    columns, scale = np.zeros((n, max(int(MOST_RANK_SHARE * n), 1))), rest.max(initial=0.0)
    for k in range(columns.shape[1] + 1):
        pivot = int(rest.argmax()) if n else 0
        if n == 0 or rest[pivot] <= NULL * scale:
            return DenseMap(columns[:, :k].astype(np.float32))
        if k == columns.shape[1]:
            break
        columns[:, k] = (shifted[:, pivot] - columns[:, :k] @ columns[pivot, :k]) / np.sqrt(rest[pivot])
        rest = np.maximum(rest - columns[:, k] ** 2, 0.0)
    raise Refusal(f"W + D has a rank above {columns.shape[1]:,} of {n:,}; choose another map than the low-rank one")


def _halves(w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    root = np.sqrt(np.abs(w))
    return root.astype(np.float32), (np.sign(w) * root).astype(np.float32)


__all__ = [
    "BandedMap",
    "DenseMap",
    "EdgeList",
    "EdgePlanes",
    "GaussianMap",
    "check_dense",
    "cholesky_map",
    "eigen_map",
    "low_rank_map",
]

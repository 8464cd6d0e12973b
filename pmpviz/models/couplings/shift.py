"""Lattices: couplings as shifted planes.

Messages are a tuple with one pair of planes (forward, backward) for each shift, `forward[site]` from site to
site + shift and `backward[site]` the other way, both stored at the site that the weight is stored at.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pmpviz.models.couplings.base import LeastLabel, Messages, Shape
from pmpviz.models.couplings.colouring import shift_colouring
from pmpviz.models.couplings.lists import ListCouplings
from pmpviz.types import InputError, pytree


@pytree(static=("shape", "shifts"))
class ShiftCouplings(ListCouplings):
    """A lattice as shifted arrays: `weight[d][site]` couples `site` with `site + shifts[d]` (periodic indices).

    Open boundaries have weight 0 on the wrapping edges. `shape` has one to three sides; site i is the i-th in
    C order.
    """

    file_kind = "ising-lattice"
    file_arrays = {"weight": np.float32, "shifts": np.int32}
    message_tile = 16

    weight: Float[Array, "..."]
    shape: Shape
    shifts: tuple[Shape, ...]

    @property
    def n(self) -> int:
        """Number of sites."""
        return int(np.prod(self.shape))

    @property
    def sides(self) -> Shape:
        """Sides of the lattice."""
        return self.shape

    def field(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """sum_j w_ij x_j for every site i."""
        plane = x.reshape(self.shape)
        total = jnp.zeros(self.shape, self.weight.dtype)
        axes = tuple(range(len(self.shape)))
        for w, shift in zip(self.weight, self.shifts, strict=True):
            total = total + w * jnp.roll(plane, _back(shift), axes) + jnp.roll(w * plane, shift, axes)
        return total.reshape(-1)

    def compared(self, x: Array, compare) -> Float[Array, ""]:
        """sum of w_ij compare(x_i, x_j), plane by plane."""
        plane, axes = x.reshape(self.shape), tuple(range(len(self.shape)))
        ahead = [compare(plane, jnp.roll(plane, _back(shift), axes)) for shift in self.shifts]
        return sum((w * same).sum() for w, same in zip(self.weight, ahead, strict=True))

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every edge that exists, i the site that the weight is stored at (host arrays)."""
        site = np.arange(self.n).reshape(self.shape)
        axes = tuple(range(len(self.shape)))
        i = np.concatenate([site.reshape(-1)] * len(self.shifts))
        j = np.concatenate([np.roll(site, _back(shift), axes).reshape(-1) for shift in self.shifts])
        w = np.asarray(self.weight).reshape(-1)
        keep = w != 0
        return i[keep], j[keep], w[keep]

    def neighbour_lists(self) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
        """(neighbour[n, 2d], weight[n, 2d]): for each shift the site ahead, then the site behind."""
        site = np.arange(self.n, dtype=np.int32).reshape(self.shape)
        axes = tuple(range(len(self.shape)))
        neighbour, weight = [], []
        for w, shift in zip(self.weight, self.shifts, strict=True):
            neighbour += [np.roll(site, _back(shift), axes), np.roll(site, shift, axes)]
            weight += [w, jnp.roll(w, shift, axes)]
        stack = jnp.stack([w.reshape(-1) for w in weight], axis=1)
        return jnp.asarray(np.stack([p.reshape(-1) for p in neighbour], axis=1)), stack

    def colour(self) -> Int[np.ndarray, " n"]:
        """A proper colouring, in closed form where one fits."""
        found = shift_colouring(self.shifts, np.asarray(self.weight) != 0)
        return super().colour() if found is None else found

    def levels(self) -> Int[np.ndarray, " n"]:
        """The lattice's diagonals, where every edge leads from one to a later one."""
        i, j, _ = self.edges()
        low, high = np.minimum(i, j), np.maximum(i, j)
        diagonal = np.indices(self.shape).sum(0).reshape(-1)
        return diagonal if (diagonal[low] < diagonal[high]).all() else super().levels()

    def message_weights(self) -> Messages:
        """(weight, weight) for each shift."""
        return tuple((weight, weight) for weight in self.weight)

    def zero_messages(self, chains: int) -> Messages:
        """Planes of zeros, with `chains` on the last axis."""
        return tuple((jnp.zeros((*self.shape, chains)),) * 2 for _ in self.shifts)

    def belief(self, field: Float[Array, "n t"], incoming: Messages) -> Float[Array, "n t"]:
        """field_i + sum_k n_{k->i}."""
        total = field.reshape(*self.shape, -1)
        for (forward, backward), shift in zip(incoming, self.shifts, strict=True):
            total = total + backward + _roll(forward, shift)
        return total.reshape(field.shape)

    def outgoing(self, message, total: Float[Array, "n t"], incoming: Messages) -> Messages:
        """Every message anew, plane by plane."""
        total = total.reshape(*self.shape, -1)
        fresh = []
        for weight, (forward, backward), shift in zip(self.weight, incoming, self.shifts, strict=True):
            ahead = _roll(total, _back(shift))
            fresh.append((message(total - backward, weight[..., None]), message(ahead - forward, weight[..., None])))
        return tuple(fresh)

    def to_site(self, incoming: Messages) -> Float[Array, "n k t"]:
        """Messages into every site: for each shift from the site ahead, then from the site behind."""
        planes = []
        for (forward, backward), shift in zip(incoming, self.shifts, strict=True):
            planes += [backward, _roll(forward, shift)]
        return jnp.stack([plane.reshape(self.n, -1) for plane in planes], axis=1)

    def bonds(self, spin: Float[Array, "t n"], numbers, bonded, compare=jnp.multiply) -> LeastLabel:
        """One random number for each entry of the weights."""
        shape, weight = self.shape, self.weight
        axes = tuple(range(1, len(shape) + 1))
        plane = spin.reshape(-1, *shape)
        u = numbers(jnp.arange(weight.size, dtype=jnp.uint32).reshape(weight.shape))
        bonds = []
        for d, shift in enumerate(self.shifts):
            ahead = jnp.roll(plane, _back(shift), axes)
            bond = bonded(weight[d], compare(plane, ahead), u[:, d])
            bonds.append((shift, bond, jnp.roll(bond, shift, axes)))

        def least(label):
            own = label.reshape(plane.shape)
            low = own
            for shift, ahead, behind in bonds:
                low = jnp.where(ahead, jnp.minimum(low, jnp.roll(own, _back(shift), axes)), low)
                low = jnp.where(behind, jnp.minimum(low, jnp.roll(own, shift, axes)), low)
            return low.reshape(label.shape)

        return least

    def pair_means(self, x: Float[Array, "m n"]) -> Float[Array, "d *shape"]:
        """<x_i x_j> of every site with the one ahead."""
        plane = x.reshape(-1, *self.shape)
        axes = tuple(range(1, plane.ndim))
        ahead = [jnp.roll(plane, _back(shift), axes) for shift in self.shifts]
        return jnp.stack([(plane * other).mean(0) for other in ahead])

    def entries_of(self, matrix: Float[Array, "n n"]) -> Float[Array, "d *shape"]:
        """matrix[site, site + shift]."""
        site = np.arange(self.n).reshape(self.shape)
        axes = tuple(range(site.ndim))
        return jnp.stack([matrix[site, np.roll(site, _back(shift), axes)] for shift in self.shifts])

    @classmethod
    def from_arrays(cls, n: int, arrays: dict[str, np.ndarray]) -> ShiftCouplings:
        """The lattice of `weight[d, *sides]` and `shifts[d, sides]`; raises InputError where they don't fit."""
        weight, shifts = arrays["weight"], arrays["shifts"]
        sides = weight.shape[1:]
        if not 1 <= len(sides) <= 3:
            raise InputError(f"weight has {weight.ndim} axes; give shifts x one to three sides")
        if math.prod(sides) != n:
            raise InputError(f"the lattice {sides} does not have the {n} sites of bias")
        if shifts.shape != (len(weight), len(sides)):
            raise InputError(f"shifts has shape {shifts.shape}, weight {weight.shape}; match them")
        if not len(shifts):
            raise InputError("the lattice has no shifts, and so no couplings; give one at least")
        couplings = cls(weight, sides, tuple(tuple(shift) for shift in shifts.tolist()))
        if (np.abs(shifts) >= max(2, *sides)).any():
            raise InputError("a shift is longer than the lattice; shorten it")
        i, j, _ = couplings.edges()
        if (i == j).any():
            raise InputError("a shift joins a site to itself; set those weights to 0")
        return couplings


def _back(shift: Shape) -> Shape:
    return tuple(-s for s in shift)


def _roll(plane: Float[Array, "..."], shift: Shape) -> Float[Array, "..."]:
    return jnp.roll(plane, shift, tuple(range(len(shift))))


__all__ = ["ShiftCouplings"]

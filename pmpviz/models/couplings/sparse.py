"""Padded neighbour lists, for graphs without a regular layout.

Messages are `incoming[slot]`, from the neighbour in that slot to the slot's site, without padding but for a last,
empty slot that stays 0.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pmpviz.models.couplings.base import Couplings, LeastLabel, Messages
from pmpviz.models.couplings.lists import ListCouplings
from pmpviz.types import InputError, pytree

UNROLLED_SLOTS = 24


@pytree
class SparseCouplings(ListCouplings):
    """Padded neighbour lists: slot k of site i holds `neighbour[i, k]`, `weight[i, k]`, and in `reverse[i, k]` the
    flat index (j * K + k') of the slot of j that holds i. A padded slot points at itself with weight 0.

    Without the padding the slots are numbered 0, ..., 2E - 1 in the same order: `number[i, k]` is that of slot k of
    site i, 2E for a padded one, and `entry[2E + 1]` the flat index of each (any one for the last).
    """

    file_kind = "ising-sparse"
    file_arrays = {"weight": np.float32, "neighbour": np.int32, "reverse": np.int32}
    message_tile = 32

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
        """Number of sites."""
        return self.neighbour.shape[0]

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every edge, i < j (host arrays)."""
        neighbour, weight = np.asarray(self.neighbour), np.asarray(self.weight)
        i, k = np.nonzero(neighbour > np.arange(self.n)[:, None])
        return i, neighbour[i, k].astype(np.int64), weight[i, k]

    def neighbour_lists(self) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
        """(neighbour, weight) of every slot."""
        return self.neighbour, self.weight

    def message_weights(self) -> Float[Array, " r"]:
        """The weight of every slot that is not padded, and of the last one, which is empty."""
        # Its weight is 0, so that its message stays 0 whatever it reads.
        real = jnp.arange(self.entry.shape[0]) < self.entry.shape[0] - 1
        return jnp.where(real, self.weight.reshape(-1)[self.entry], 0.0)

    def belief(self, field: Float[Array, "n t"], incoming: Messages) -> Float[Array, "n t"]:
        """field_i + sum_k n_{k->i}."""
        if self.number.shape[1] > UNROLLED_SLOTS:
            return field + incoming[self.number].sum(1)
        for numbers in self.number.T:
            field = field + _rows(incoming, numbers)
        return field

    def outgoing(self, message, total: Float[Array, "n t"], incoming: Messages) -> Messages:
        """Every message anew, slot by slot of its receiver."""
        sender = self.neighbour.reshape(-1)[self.entry]
        reverse = self.number.reshape(-1)[self.reverse.reshape(-1)[self.entry]]
        weight = self.message_weights()
        return message(_rows(total, sender) - _rows(incoming, reverse), weight[:, None])

    def to_site(self, incoming: Messages) -> Float[Array, "n k t"]:
        """Messages into every site, slot by slot."""
        return incoming[self.number]

    def bonds(self, spin: Float[Array, "t n"], numbers, bonded, compare=jnp.multiply) -> LeastLabel:
        """Both slots of an edge read the number of the lower one."""
        slot = jnp.arange(self.weight.size, dtype=jnp.uint32).reshape(self.weight.shape)
        u = numbers(jnp.minimum(slot, self.reverse.astype(jnp.uint32)))
        bond = bonded(self.weight, compare(spin[:, :, None], spin[:, self.neighbour]), u)

        def least(label):
            return jnp.minimum(label, jnp.where(bond, label[:, self.neighbour], label[:, :, None]).min(2))

        return least

    def pair_means(self, x: Float[Array, "m n"]) -> Float[Array, "n k"]:
        """<x_i x_j> of every slot."""
        return jax.lax.map(lambda row: (x * x[:, row]).mean(0), jnp.asarray(self.neighbour).T).T

    def entries_of(self, matrix: Float[Array, "n n"]) -> Float[Array, "n k"]:
        """matrix[site, neighbour] of every slot."""
        return matrix[jnp.arange(self.n)[:, None], self.neighbour]

    def both_ways(self, gradient: Float[Array, "n k"]) -> Float[Array, "n k"]:
        """Each slot's entry plus that of the slot the other way."""
        return gradient + gradient.reshape(-1)[self.reverse]

    @classmethod
    def from_arrays(cls, n: int, arrays: dict[str, np.ndarray]) -> SparseCouplings:
        """The lists of `neighbour`, `weight` and `reverse`, each [n, k]; raises InputError where they don't fit."""
        neighbour, weight, reverse = arrays["neighbour"], arrays["weight"], arrays["reverse"]
        _check_slots(n, neighbour, weight, reverse)
        # The numbering of the slots follows from which are padded.
        used = np.flatnonzero(neighbour != np.arange(n)[:, None])
        number = np.full(weight.size, len(used))
        number[used] = np.arange(len(used))
        entry = np.append(used, 0).astype(np.int32)
        return cls(neighbour, weight, reverse, number.reshape(weight.shape).astype(np.int32), entry)


def to_sparse(couplings: Couplings) -> SparseCouplings:
    """The same couplings as padded neighbour lists."""
    return SparseCouplings.from_edges(couplings.n, *couplings.edges())


def _rows(rows: Float[Array, "r t"], index: Array) -> Float[Array, "i t"]:
    return jnp.take(rows, index, axis=0, mode="clip")


def _check_slots(n: int, neighbour: np.ndarray, weight: np.ndarray, reverse: np.ndarray) -> None:
    shape = weight.shape
    if len(shape) != 2 or shape[0] != n or shape[1] < 1:
        raise InputError(f"weight has shape {shape}; give {n} rows of neighbours")
    if neighbour.shape != shape or reverse.shape != shape:
        raise InputError("neighbour, reverse and weight differ in shape")
    if not ((neighbour >= 0) & (neighbour < n)).all():
        raise InputError(f"neighbour names a site outside 0 to {n - 1}")
    flat = np.arange(weight.size).reshape(shape)
    if not ((reverse >= 0) & (reverse < weight.size)).all():
        raise InputError("reverse names a slot that does not exist")
    site = np.arange(n)[:, None]
    padded = neighbour == site
    if weight[padded].any() or (reverse != flat)[padded].any():
        raise InputError("a padded slot is not empty")
    there = reverse.reshape(-1)
    mutual = (there[reverse] == flat) & (weight.reshape(-1)[reverse] == weight)
    mutual &= (neighbour.reshape(-1)[reverse] == site) & (reverse // shape[1] == neighbour)
    if not mutual.all():
        raise InputError("neighbour, reverse and weight do not describe the same edges from both ends")


__all__ = ["SparseCouplings", "to_sparse"]

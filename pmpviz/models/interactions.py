"""Interactions of K states, each edge once: what a neighbour's state adds to every state's log potential.

Who is joined to whom, and by what weight, is said by couplings with neighbour lists, as of binary models. Three forms:
`Potts`, w_ij [x_i = x_j], the cheap case; `Shared`, w_ij T[x_i, x_j] with one symmetric table (clock models); `Own`, a
table for every edge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.models.couplings import Couplings, ListCouplings, SparseCouplings
from pmpviz.types import InputError, pytree

# Up to so many states and neighbours a sweep is written out, which compiles to one loop over memory.
UNROLLED_STATES, UNROLLED_NEIGHBOURS = 16, 24
# Entries of all slots' tables, which a sweep makes of the edges'.
MAX_SLOT_ENTRIES = 1 << 24

Edges = tuple[Int[np.ndarray, " e"], Int[np.ndarray, " e"], Float[np.ndarray, "e k k"]]


class Interactions:
    """What all forms share: `couplings` say who the neighbours are; `terms` is what each slot of them adds."""

    couplings: Couplings

    def terms(self) -> Float[Array, "n d ..."]:
        """Of every slot of the neighbour lists what `one` reads."""
        return self.couplings.neighbour_lists()[1]

    def one(self, term: Float[Array, "w ..."], other: Int8[Array, "w t"], state: Any) -> Float[Array, "w t"]:
        """What neighbours in these states add to the log potential of `state`."""
        return term[:, None] * (other == state)

    def joined(self, heard: Sequence[Array]) -> Sequence[Array]:
        """The log potentials of all states from the sums of `one`."""
        return heard

    def heard(self, term: Float[Array, "w d ..."], others: Sequence[Array], states: int) -> Sequence[Array]:
        """K arrays [w, t]: what all neighbours together add to each state's log potential; `others[d]` are their
        states."""
        if states <= UNROLLED_STATES and len(others) <= UNROLLED_NEIGHBOURS:
            slots = list(enumerate(others))
            return self.joined([jnp.asarray(sum(self.one(term[:, s], x, k) for s, x in slots)) for k in range(states)])

        def slot(total, found):
            own, other = found
            return total + jax.vmap(lambda k: self.one(own, other, k))(jnp.arange(states, dtype=other.dtype)), None

        stacked = jnp.stack(list(others))
        start = jnp.zeros((states, *stacked.shape[1:]))
        return self.joined(jax.lax.scan(slot, start, (jnp.moveaxis(term, 1, 0), stacked))[0])

    def said(self, terms: Float[Array, "n d ..."], site: Int[Array, " t"], state: Int[Array, " t"], states: int):
        """[d, K, t]: what a site in this state adds to each state of its neighbours."""
        return terms[site].T[:, None] * self.row(state, states)

    def row(self, state: Int[Array, " t"], states: int) -> Float[Array, "k t"]:
        """What `said` multiplies the weights with."""
        return (state == jnp.arange(states)[:, None]).astype(jnp.float32)

    def reverse(self) -> Int[Array, "n d"]:
        """Of every slot the flat index of the slot of its neighbour that holds the site."""
        if self.couplings.sides is None:
            return cast(Any, self.couplings).reverse
        neighbour = self.couplings.neighbour_lists()[0]
        # For each shift of a lattice the site ahead, then the site behind.
        return neighbour * neighbour.shape[1] + (np.arange(neighbour.shape[1]) ^ 1)

    def slot_tables(self, terms: Float[Array, "n d ..."], states: int) -> Float[Array, "n d k k"]:
        """The table of every slot, the site's own state first."""
        return terms[..., None, None] * jnp.eye(states)

    def weighed(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """Sum over the edges of one configuration."""
        return self.couplings.compared(x, lambda a, b: (a == b).astype(jnp.float32))

    def scaled(self, factor: float) -> Self:
        """The same interactions times a factor (host arrays)."""
        couplings = self.couplings.with_weight(np.asarray(self.couplings.weight) * np.float32(factor))
        return replace(cast(Any, self), couplings=couplings)

    def edges(self, states: int) -> Edges:
        """(i, j, table[x_i, x_j]) of every edge, once each, in float64 (host arrays)."""
        raise NotImplementedError


@pytree
class Potts(Interactions):
    """w_ij [x_i = x_j]: neighbours of equal states gain the weight of their coupling."""

    couplings: Couplings

    def edges(self, states: int) -> Edges:
        """(i, j, table) of every edge."""
        i, j, w = self.couplings.edges()
        return i, j, np.asarray(w, np.float64)[:, None, None] * np.eye(states)


@pytree
class Shared(Interactions):
    """w_ij table[x_i, x_j] with one symmetric table for all edges."""

    couplings: Couplings
    table: Float[Array, "k k"]

    def joined(self, heard: Sequence[Array]) -> Sequence[Array]:
        """The table's rows, weighed by how much each state is heard of."""
        table = jnp.asarray(self.table, jnp.float32)
        if isinstance(heard, list):
            return [sum(table[k, other] * part for other, part in enumerate(heard)) for k in range(len(heard))]
        return jnp.tensordot(table, heard, 1)

    def slot_tables(self, terms: Float[Array, "n d"], states: int) -> Float[Array, "n d k k"]:
        """The table times the weight of every slot."""
        return terms[..., None, None] * jnp.asarray(self.table, jnp.float32)

    def row(self, state: Int[Array, " t"], states: int) -> Float[Array, "k t"]:
        """The table's column of the state."""
        return jnp.asarray(self.table, jnp.float32)[:, state]

    def weighed(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """Sum over the edges of one configuration."""
        table = jnp.asarray(self.table, jnp.float32)
        return self.couplings.compared(x, lambda a, b: table[a, b])

    def edges(self, states: int) -> Edges:
        """(i, j, table) of every edge."""
        i, j, w = self.couplings.edges()
        return i, j, np.asarray(w, np.float64)[:, None, None] * np.asarray(self.table, np.float64)


@pytree
class Own(Interactions):
    """table[e][x_i, x_j] of edge e = (i, j); entries of states that do not exist are 0.

    `edge[n, d]` is the edge of each slot of the neighbour lists, the last table, of zeros, where it is padded;
    `first[n, d]` says whether the slot's site is the edge's i. Made by `of`, kept in float64.
    """

    couplings: Couplings
    table: Float[Array, "e1 k k"]
    i: Int[Array, " e"]
    j: Int[Array, " e"]
    edge: Int[Array, "n d"]
    first: Bool[Array, "n d"]

    @classmethod
    def of(cls, couplings: ListCouplings, table: Float[np.ndarray, "e k k"]) -> Own:
        """The tables of the edges in the order of `couplings.edges()`, whose weights say only that there is an edge.

        Raises InputError where the tables of all slots, padded, have more than 2^24 entries.
        """
        i, j, _ = couplings.edges()
        count, states = len(i), table.shape[-1]
        # Weights that number the edges show which slot holds which; padded slots hold 0.
        numbers = np.zeros(np.shape(couplings.weight))
        if couplings.sides is None:
            couplings = SparseCouplings.from_edges(couplings.n, i, j, np.arange(1.0, count + 1))
        else:
            numbers[np.asarray(couplings.weight) != 0] = np.arange(1, count + 1)
            couplings = couplings.with_weight(numbers.astype(np.float32))
        slots = np.asarray(couplings.neighbour_lists()[1]).astype(np.int64)
        if slots.size * states**2 > MAX_SLOT_ENTRIES:
            raise InputError(
                f"tables of {states} states for {slots.shape[1]} neighbours of each of {couplings.n} variables have "
                "more than 2^24 entries; give fewer"
            )
        edge = np.where(slots > 0, slots - 1, count).astype(np.int32)
        first = np.append(i, -1)[edge] == np.arange(couplings.n)[:, None]
        table = np.concatenate([np.asarray(table, np.float64), np.zeros((1, states, states))])
        present = np.asarray(couplings.weight) > 0
        couplings = couplings.with_weight(present.astype(np.float32))
        return cls(couplings, table, i.astype(np.int32), j.astype(np.int32), edge, first)

    def terms(self) -> Float[Array, "n d k k"]:
        """The table of every slot, the site's own state first."""
        table = jnp.asarray(self.table, jnp.float32)
        both = jnp.stack([table.swapaxes(1, 2), table])
        return both[jnp.asarray(self.first).astype(jnp.int32), self.edge]

    def slot_tables(self, terms: Float[Array, "n d k k"], states: int) -> Float[Array, "n d k k"]:
        """The tables themselves."""
        return terms

    def one(self, term: Float[Array, "w k k"], other: Int8[Array, "w t"], state: Any) -> Float[Array, "w t"]:
        """What neighbours in these states add to the log potential of `state`."""
        row = term[:, state]
        if row.shape[1] > UNROLLED_STATES:
            return jnp.take_along_axis(row, other.astype(jnp.int32), axis=1)
        return sum(jnp.where(other == k, row[:, k, None], 0.0) for k in range(row.shape[1]))

    def said(self, terms: Float[Array, "n d k k"], site: Int[Array, " t"], state: Int[Array, " t"], states: int):
        """[d, K, t]: what a site in this state adds to each state of its neighbours."""
        return jnp.moveaxis(terms[site, :, state], 0, -1)

    def scaled(self, factor: float) -> Self:
        """The same tables times a factor (host arrays)."""
        return replace(cast(Any, self), table=self.table * factor)

    def weighed(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """Sum over the edges of one configuration."""
        state, table = jnp.asarray(x, jnp.int32), jnp.asarray(self.table, jnp.float32)
        return table[jnp.arange(len(self.i)), state[self.i], state[self.j]].sum()

    def edges(self, states: int) -> Edges:
        """(i, j, table) of every edge."""
        return np.asarray(self.i, np.int64), np.asarray(self.j, np.int64), np.asarray(self.table, np.float64)[:-1]


__all__ = ["Edges", "Interactions", "Own", "Potts", "Shared"]

"""What a layout of couplings gives: the contract between models and everything that computes with them.

Couplings are the term sum over edges of w_ij x_i x_j of a binary model in the 0/1 form, each edge once. A layout
decides how the weights are stored, and owns every kernel whose arithmetic follows from that: fields and energies,
messages, sweeps, bonds, and the statistics that belong to `weight`. Noise, damping, schedules and acceptance belong to
the algorithms, which call these kernels and never ask which layout they have.

A new layout is one file with one class. The least it gives is the field `weight`, the property `n` and `pairs()`, as a
`PairCouplings`; all else then follows from neighbour lists. Where few sites interact and it has lists of its own it is
a `ListCouplings`, where nearly all do a `MatrixCouplings`; whatever it can do faster it overrides.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Literal, NamedTuple, Self, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, UInt32

from pmpviz.models.couplings.colouring import colouring
from pmpviz.models.order import SweepOrder

Shape = tuple[int, ...]

# A pytree of arrays in the layout's own storage, with the chains of a tile on every array's last axis.
Messages = Any
# message(field, weight): what a site with this field says over an edge of this weight, elementwise.
MessageFunction = Callable[[Array, Array], Array]
# least(label[t, n]): the least label, any whole number, among a site and those it is bonded to.
LeastLabel = Callable[[Int[Array, "t n"]], Int[Array, "t n"]]


class Conditionals(NamedTuple):
    """What a sweep draws with: site i becomes 1 with probability sigmoid(beta (bias_i + sum_j w_ij x_j)).

    With u = `numbers(site[w])[w, t]`, one random number for each site and chain, a kernel asks for new values by
    `draw(u, field)`, or for the `threshold(u)` that a field must exceed; fields are those at beta. Clamped sites are in
    `mask[n]` and take their `value[n]`.
    """

    beta: Float[Array, ""]
    bias: Float[Array, " n"]
    mask: Bool[Array, " n"]
    value: Int8[Array, " n"]
    numbers: Callable[[Array], Float[Array, "w t"]]
    draw: Callable[[Array, Array], Bool[Array, "w t"]]
    threshold: Callable[[Array], Float[Array, "w t"]]


class Couplings(ABC):
    """Weights of the edges of a binary model, in some layout; a pytree whose `weight` holds the numbers.

    `form` says how far a single flip reaches, by which algorithms choose among kernels of their own: with `lists` it
    changes the fields of a few neighbours, with `matrix` those of nearly all sites. `complete` is true where `weight`
    is a symmetric matrix of all pairs, which the spin and the tied parametrisation of learning need.
    """

    form: ClassVar[Literal["lists", "matrix"]]
    complete: ClassVar[bool] = False
    # The name of this layout in files, and the arrays that hold it with their types; None where it is kept as another.
    file_kind: ClassVar[str | None] = None
    file_arrays: ClassVar[dict[str, type]] = {}

    weight: Float[Array, "..."]

    # Structure

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of sites."""

    @property
    def sides(self) -> Shape | None:
        """Sides of the lattice, or None where there is none."""
        return None

    @abstractmethod
    def edges(self) -> tuple[Int[np.ndarray, " e"], Int[np.ndarray, " e"], Float[np.ndarray, " e"]]:
        """(i, j, w) of every edge, once each (host arrays)."""

    def possible_edges(self) -> int:
        """Edges that there may come to be when the weights change: those there are where the structure is kept."""
        return len(self.edges()[0])

    @abstractmethod
    def neighbour_lists(self) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
        """(neighbour, weight) of k slots a site; empty slots have weight 0."""

    @abstractmethod
    def matrix(self) -> Float[Array, "n n"]:
        """The symmetric matrix of all couplings."""

    def colour(self) -> Int[np.ndarray, " n"]:
        """A proper colouring: no two sites of one colour interact."""
        i, j, _ = self.edges()
        return colouring(self.n, i, j)

    def scaled(self, beta: Float[Array, ""]) -> Self:
        """The same couplings times beta."""
        return self.with_weight(self.weight * beta)

    def with_weight(self, weight: Float[Array, "..."]) -> Self:
        """The same structure with other numbers in `weight`."""
        return replace(cast(Any, self), weight=weight)

    # Energies

    @abstractmethod
    def field(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """sum_j w_ij x_j for every site i."""

    def log_weight(self, bias: Float[Array, " n"], x: Float[Array, " n"]) -> Float[Array, ""]:
        """b.x + sum_{i<j} w_ij x_i x_j."""
        return jnp.dot(x, bias + 0.5 * self.field(x))

    # Messages, two an edge. The layout stores and moves them; what is said is the caller's message function.

    @property
    @abstractmethod
    def message_tile(self) -> int:
        """Chains side by side whose messages stay in a core's cache: they are reread in every update."""

    @abstractmethod
    def message_weights(self) -> Messages:
        """The weight of every message's edge, stored as the messages are but without chains."""

    def zero_messages(self, chains: int) -> Messages:
        """All messages zero, with `chains` on the last axis."""
        shapes = jax.eval_shape(self.message_weights)
        return jax.tree.map(lambda weight: jnp.zeros((*weight.shape, chains)), shapes)

    @abstractmethod
    def belief(self, field: Float[Array, "n t"], incoming: Messages) -> Float[Array, "n t"]:
        """field_i + sum_k n_{k->i}."""

    @abstractmethod
    def outgoing(self, message: MessageFunction, total: Float[Array, "n t"], incoming: Messages) -> Messages:
        """Every message anew, n_{i->j} = message(total_i - n_{j->i}, w_ij), where `total` is the belief."""

    @abstractmethod
    def to_site(self, incoming: Messages) -> Float[Array, "n k t"]:
        """Messages into every site, in the order of `neighbour_lists`."""

    def largest_change(self, change: Messages) -> Float[Array, " t"]:
        """max |change| over all messages of each chain."""
        return jnp.stack([self._largest(leaf) for leaf in jax.tree.leaves(change)]).max(0)

    @staticmethod
    def _largest(change: Float[Array, "... t"]) -> Float[Array, " t"]:
        return jnp.abs(change).reshape(-1, change.shape[-1]).max(0)

    # Sweeps

    @abstractmethod
    def order_of_sites(self) -> SweepOrder:
        """The order 0, ..., n - 1 in groups whose parallel update gives what one site after another gives."""

    @abstractmethod
    def order_of_colours(self, colour: Int[np.ndarray, " n"]) -> SweepOrder:
        """Colour after colour."""

    @abstractmethod
    def sweep(
        self,
        conditionals: Conditionals,
        order: SweepOrder,
        x: Int8[Array, "slot t"],
        first: Int[Array, ""] | int = 0,
        last: Int[Array, ""] | int | None = None,
    ) -> Int8[Array, "slot t"]:
        """Draw every site i with first <= i < last (all where None), in this order; x is kept by slots."""

    # Bonds of cluster algorithms

    @property
    @abstractmethod
    def bond_places(self) -> int:
        """Places where a bond may be drawn."""

    @property
    @abstractmethod
    def bond_counters(self) -> int:
        """Random numbers of a sweep's bonds are those of the counters below this."""

    @abstractmethod
    def bonds(
        self,
        spin: Float[Array, "t n"],
        numbers: Callable[[UInt32[Array, "..."]], Float[Array, "t ..."]],
        bonded: Callable[[Array, Array, Array], Bool[Array, "..."]],
        compare: Callable[[Array, Array], Array] = jnp.multiply,
    ) -> LeastLabel:
        """Draw bonds by `bonded(weight, s_i s_j, u)`, where u = numbers(counter) is the same from both of its ends.

        `compare(s_i, s_j)` may say another thing of two ends than their product.
        """

    def compared(self, x: Array, compare: Callable[[Array, Array], Array]) -> Float[Array, ""]:
        """sum over the edges of w_ij compare(x_i, x_j), `compare` being symmetric."""
        neighbour, weight = self.neighbour_lists()
        return 0.5 * (weight * compare(x[:, None], jnp.take(x, neighbour))).sum()

    # Learning, in the shape of `weight`

    def may_change(self) -> Bool[np.ndarray, "..."]:
        """Which entries of `weight` are parameters: the edges that there are, where the structure is kept."""
        return np.asarray(self.weight) != 0

    @abstractmethod
    def pair_means(self, x: Float[Array, "m n"]) -> Float[Array, "..."]:
        """<x_i x_j> of every edge over the rows of x, where its weight stands."""

    @abstractmethod
    def entries_of(self, matrix: Float[Array, "n n"]) -> Float[Array, "..."]:
        """The entries of a symmetric matrix where the weights of their edges stand."""

    def both_ways(self, gradient: Float[Array, "..."]) -> Float[Array, "..."]:
        """The gradient by each edge: where a weight is stored twice, the sum of both entries' in both."""
        return gradient

    # Files

    def stored(self) -> Couplings:
        """These couplings in a layout that files can hold."""
        return self

    @classmethod
    def from_arrays(cls, n: int, arrays: dict[str, np.ndarray]) -> Couplings:
        """The couplings that a file's arrays describe, checked; raises InputError where they don't fit."""
        raise NotImplementedError(f"{cls.__name__} has no form in files")


def colour_of(couplings: Couplings) -> Int[np.ndarray, " n"]:
    """A proper colouring: in closed form for a lattice where one fits, by search otherwise."""
    return couplings.colour()


__all__ = ["Conditionals", "Couplings", "LeastLabel", "MessageFunction", "Messages", "Shape", "colour_of"]

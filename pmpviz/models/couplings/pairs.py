"""The least that a new layout gives: its pairs of sites, from which neighbour lists and all kernels follow."""

from __future__ import annotations

from abc import abstractmethod

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pmpviz.models.couplings.base import Couplings, LeastLabel, MessageFunction, Messages
from pmpviz.models.couplings.lists import ListCouplings
from pmpviz.models.couplings.sparse import SparseCouplings, to_sparse


class PairCouplings(ListCouplings):
    """A layout that gives `n`, `weight` and `pairs()`; a subclass overrides whatever it does faster.

    `weight` may have any shape, and one number may stand for many edges (a shared coupling, a filter): statistics of
    learning are those of `weight` by the chain rule.
    """

    message_tile = SparseCouplings.message_tile

    @abstractmethod
    def pairs(self) -> tuple[Int[np.ndarray, " e"], Int[np.ndarray, " e"], Float[Array, " e"]]:
        """(i, j, w) of every pair that may interact, once each, i != j.

        Sites are host arrays, which do not depend on `weight`; w is made of `weight`, which may be traced.
        """

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every pair with a weight that is not 0 (host arrays)."""
        i, j, w = (np.asarray(part) for part in self.pairs())
        keep = w != 0
        return i[keep], j[keep], w[keep]

    def as_lists(self) -> SparseCouplings:
        """The same couplings as padded neighbour lists; traced, unlike `to_sparse`, and with all pairs."""
        i, j, w = self.pairs()
        # Weights that number the pairs show which slot holds which; padded slots hold 0.
        lists = SparseCouplings.from_edges(self.n, i, j, np.arange(1.0, len(i) + 1))
        place = np.asarray(lists.weight).astype(np.int32)
        return lists.with_weight(jnp.concatenate([jnp.zeros(1), jnp.asarray(w, jnp.float32)])[place])

    def neighbour_lists(self) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
        """(neighbour, weight) of every slot of the lists."""
        return self.as_lists().neighbour_lists()

    def message_weights(self) -> Messages:
        """As the lists store them."""
        return self.as_lists().message_weights()

    def belief(self, field: Float[Array, "n t"], incoming: Messages) -> Float[Array, "n t"]:
        """field_i + sum_k n_{k->i}."""
        return self.as_lists().belief(field, incoming)

    def outgoing(self, message: MessageFunction, total: Float[Array, "n t"], incoming: Messages) -> Messages:
        """Every message anew."""
        return self.as_lists().outgoing(message, total, incoming)

    def to_site(self, incoming: Messages) -> Float[Array, "n k t"]:
        """Messages into every site, slot by slot of the lists."""
        return self.as_lists().to_site(incoming)

    @property
    def bond_places(self) -> int:
        """Every slot of the lists."""
        return self.as_lists().bond_places

    @property
    def bond_counters(self) -> int:
        """One for every slot of the lists."""
        return self.as_lists().bond_counters

    def bonds(self, spin: Float[Array, "t n"], numbers, bonded, compare=jnp.multiply) -> LeastLabel:
        """Both slots of an edge read the number of the lower one."""
        return self.as_lists().bonds(spin, numbers, bonded, compare)

    def pair_means(self, x: Float[Array, "m n"]) -> Float[Array, "..."]:
        """d/d weight of the mean of sum w_ij x_i x_j over the rows of x."""
        i, j, _ = self.pairs()
        return self._by_weight((x[:, i] * x[:, j]).mean(0))

    def entries_of(self, matrix: Float[Array, "n n"]) -> Float[Array, "..."]:
        """d/d weight of sum w_ij matrix[i, j]."""
        i, j, _ = self.pairs()
        return self._by_weight(matrix[i, j])

    def _by_weight(self, of_pair: Float[Array, " e"]) -> Float[Array, "..."]:
        weight = jnp.asarray(self.weight, jnp.float32)
        return jax.vjp(lambda weight: self.with_weight(weight).pairs()[2], weight)[1](of_pair)[0]

    def stored(self) -> Couplings:
        """Files hold it as neighbour lists."""
        return to_sparse(self)


__all__ = ["PairCouplings"]

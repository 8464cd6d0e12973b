"""A matrix of all couplings, for models in which nearly every pair interacts.

Messages are a tree: of a few sites `incoming[i, j]` from i to j; of more (`down[k, i]` from the k-th site of the second
half to the i-th of the first, `up[k, i]` the other way, the tree of the first half, that of the second).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pmpviz.models.couplings.base import Couplings, MessageFunction, Messages
from pmpviz.models.couplings.matrices import MatrixCouplings
from pmpviz.types import InputError, pytree

# A message is worked out from the one the other way. Within a block that is the transposed entry, which is slow to come
# by in a large one; between two halves both lie side by side. More than three halvings only take longer to compile.
MOST_IN_BLOCK = 240
MOST_HALVINGS = 3


@pytree
class DenseCouplings(MatrixCouplings):
    """A symmetric matrix with zero diagonal."""

    complete = True
    file_kind = "ising-dense"
    file_arrays = {"weight": np.float32}

    weight: Float[Array, "n n"]

    @property
    def n(self) -> int:
        """Number of sites."""
        return self.weight.shape[0]

    def field(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """sum_j w_ij x_j for every site i."""
        return self.weight @ x

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every nonzero edge, i < j (host arrays)."""
        weight = np.asarray(self.weight)
        i, j = np.nonzero(np.triu(weight, 1))
        return i, j, weight[i, j]

    def matrix(self) -> Float[Array, "n n"]:
        """The symmetric matrix of all couplings."""
        return self.weight

    def message_weights(self) -> Messages:
        """The weights in the tree of the messages."""
        return _halved(self.weight)

    def belief(self, field: Float[Array, "n t"], incoming: Messages) -> Float[Array, "n t"]:
        """field_i + sum_k n_{k->i}."""
        return heard(incoming) + field

    def outgoing(self, message: MessageFunction, total: Float[Array, "n t"], incoming: Messages) -> Messages:
        """Every message anew, block by block of the tree."""
        # The barrier keeps XLA from working out the weights' signs and limits before the loop: reading three matrices
        # costs more than working them out from one.
        weight, total = jax.lax.optimization_barrier((self.message_weights(), total))
        return _halves(message, weight, total, incoming)

    def to_site(self, incoming: Messages) -> Float[Array, "n n t"]:
        """Messages into every site, from every site."""
        return _joined(incoming)

    def may_change(self) -> Bool[np.ndarray, "n n"]:
        """Every pair, whatever its weight is now."""
        return ~np.eye(self.n, dtype=bool)

    def pair_means(self, x: Float[Array, "m n"]) -> Float[Array, "n n"]:
        """<x_i x_j> of every pair."""
        return x.T @ x / len(x) * (1 - jnp.eye(x.shape[1]))

    def entries_of(self, matrix: Float[Array, "n n"]) -> Float[Array, "n n"]:
        """The matrix without its diagonal."""
        return matrix * (1 - jnp.eye(self.n))

    def both_ways(self, gradient: Float[Array, "n n"]) -> Float[Array, "n n"]:
        """The gradient plus its transpose."""
        return (gradient + gradient.T) * (1 - jnp.eye(self.n))

    @classmethod
    def from_arrays(cls, n: int, arrays: dict[str, np.ndarray]) -> DenseCouplings:
        """The matrix `weight[n, n]`; raises InputError where it is not symmetric with a zero diagonal."""
        weight = arrays["weight"]
        if weight.shape != (n, n):
            raise InputError(f"weight has shape {weight.shape}; {n} sites need ({n}, {n})")
        if (weight != weight.T).any():
            raise InputError("weight is not symmetric; give the same weight both ways")
        if np.diag(weight).any():
            raise InputError("weight joins a site to itself; set its diagonal to 0")
        return cls(weight)


def to_dense(couplings: Couplings) -> DenseCouplings:
    """The same couplings as a matrix; parallel edges add up."""
    matrix = np.zeros((couplings.n, couplings.n), np.float64)
    i, j, w = couplings.edges()
    np.add.at(matrix, (i, j), w)
    return DenseCouplings((matrix + matrix.T).astype(np.float32))


def _halved(weight: Float[Array, "n n"], halvings: int = MOST_HALVINGS) -> Messages:
    """The weights in the tree of a dense model's messages."""
    n = len(weight)
    if n <= MOST_IN_BLOCK or not halvings:
        return weight
    half = n - n // 2
    between = weight[half:, :half]
    first, second = (_halved(part, halvings - 1) for part in (weight[:half, :half], weight[half:, half:]))
    return between, between, first, second


def heard(incoming: Messages) -> Float[Array, "n t"]:
    """What every site hears in all."""
    if not isinstance(incoming, tuple):
        return incoming.sum(0)
    down, up, first, second = incoming
    return jnp.concatenate([down.sum(0) + heard(first), up.sum(1) + heard(second)])


def _halves(message, weight, total, incoming):
    # A sender's total includes what the receiver has said to it, which is taken out first.
    if not isinstance(incoming, tuple):
        return message(total[:, None] - incoming.swapaxes(0, 1), weight[..., None])
    between, _, *within = weight
    down, up, *inner = incoming
    half = down.shape[1]
    parts = zip(within, (total[:half], total[half:]), inner, strict=True)
    fresh = [_halves(message, w, part, old) for w, part, old in parts]
    return *between_parts(message, between, total, down, up), *fresh


def between_parts(message: MessageFunction, weight, total, down, up):
    """New messages between the first and the last sites of `total`, of the old ones and `weight[last, first]`."""
    first, last = total[None, : down.shape[1]], total[down.shape[1] :, None]
    return message(last - up, weight[..., None]), message(first - down, weight[..., None])


def _joined(incoming: Messages) -> Float[Array, "n n t"]:
    if not isinstance(incoming, tuple):
        return incoming.swapaxes(0, 1)
    down, up, *inner = incoming
    first, second = map(_joined, inner)
    upper, lower = jnp.concatenate([first, down.swapaxes(0, 1)], 1), jnp.concatenate([up, second], 1)
    return jnp.concatenate([upper, lower])


__all__ = ["DenseCouplings", "between_parts", "heard", "to_dense"]

"""A visible and a hidden layer, as Boltzmann machines have them.

Messages are (`down[k, i]` from hidden k to visible i, `up[k, i]` the other way, those of a dense model within the
visible layer or None).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pmpviz.models.couplings.base import MessageFunction, Messages
from pmpviz.models.couplings.dense import DenseCouplings, between_parts, heard
from pmpviz.models.couplings.matrices import MatrixCouplings
from pmpviz.types import pytree


@pytree
class LayeredCouplings(MatrixCouplings):
    """A visible and a hidden layer: `weight[h, v]` between them, `lateral[v, v]` within the visible one or None.

    Visible sites come first: site i < v is visible, site v + k is the k-th hidden one. `lateral` is symmetric with
    zero diagonal; hidden sites never interact with one another.
    """

    weight: Float[Array, "h v"]
    lateral: Float[Array, "v v"] | None = None

    @property
    def visible(self) -> int:
        """Number of visible units."""
        return self.weight.shape[1]

    @property
    def hidden(self) -> int:
        """Number of hidden units."""
        return self.weight.shape[0]

    @property
    def n(self) -> int:
        """Number of units of both layers."""
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

    def log_weight(self, bias: Float[Array, " n"], x: Float[Array, " n"]) -> Float[Array, ""]:
        """b.x + h'Wv (+ v'Lv / 2), reading W once."""
        v, h = x[: self.visible], x[self.visible :]
        within = 0.0 if self.lateral is None else 0.5 * jnp.dot(v, self.lateral @ v)
        return jnp.dot(x, bias) + jnp.dot(h, self.to_hidden(v)) + within

    def edges(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(i, j, w) of every nonzero edge, i < j (host arrays)."""
        weight = np.asarray(self.weight)
        k, i = np.nonzero(weight)
        found = i, self.visible + k, weight[k, i]
        if self.lateral is None:
            return found
        within = DenseCouplings(self.lateral).edges()
        return tuple(np.concatenate(pair) for pair in zip(within, found, strict=True))

    def possible_edges(self) -> int:
        """Every pair but those within the hidden layer, and without `lateral` those within the visible one."""
        within = 0 if self.lateral is None else self.visible * (self.visible - 1) // 2
        return self.visible * self.hidden + within

    def scaled(self, beta: Float[Array, ""]) -> LayeredCouplings:
        """The same couplings times beta."""
        return LayeredCouplings(self.weight * beta, None if self.lateral is None else self.lateral * beta)

    def matrix(self) -> Float[Array, "n n"]:
        """The symmetric matrix of all couplings."""
        v, h = self.visible, self.hidden
        lateral = jnp.zeros((v, v)) if self.lateral is None else self.lateral
        return jnp.block([[lateral, self.weight.T], [self.weight, jnp.zeros((h, h))]])

    def colour(self) -> Int[np.ndarray, " n"]:
        """One colour a layer; with lateral couplings one for each visible site, and one for the hidden layer."""
        own = np.zeros(self.visible, np.int32) if self.lateral is None else np.arange(self.visible, dtype=np.int32)
        return np.concatenate([own, np.full(self.hidden, own[-1] + 1, np.int32)])

    def message_weights(self) -> Messages:
        """The weight of every message's edge."""
        within = None if self.lateral is None else DenseCouplings(self.lateral).message_weights()
        return self.weight, self.weight, within

    def zero_messages(self, chains: int) -> Messages:
        """All messages zero, with `chains` on the last axis."""
        between = jnp.zeros((*self.weight.shape, chains))
        within = None if self.lateral is None else DenseCouplings(self.lateral).zero_messages(chains)
        return between, between, within

    def belief(self, field: Float[Array, "n t"], incoming: Messages) -> Float[Array, "n t"]:
        """field_i + sum_k n_{k->i}."""
        down, up, within = incoming
        total = jnp.concatenate([down.sum(0), up.sum(1)]) + field
        return total if within is None else total.at[: self.visible].add(heard(within))

    def outgoing(self, message: MessageFunction, total: Float[Array, "n t"], incoming: Messages) -> Messages:
        """Every message anew, between the layers and within the visible one."""
        weight, total = jax.lax.optimization_barrier((self.weight, total))
        down, up, within = incoming
        if within is not None:
            within = DenseCouplings(self.lateral).outgoing(message, total[: self.visible], within)
        return *between_parts(message, weight, total, down, up), within

    def to_site(self, incoming: Messages) -> Float[Array, "n n t"]:
        """Messages into every site, from every site."""
        down, up, within = incoming
        chains, v, h = down.shape[-1], self.visible, self.hidden
        none = jnp.zeros((h, h, chains))
        inner = jnp.zeros((v, v, chains)) if within is None else DenseCouplings(self.lateral).to_site(within)
        to_visible = jnp.concatenate([inner, down.swapaxes(0, 1)], 1)
        return jnp.concatenate([to_visible, jnp.concatenate([up, none], 1)], 0)

    def sweep(self, conditionals, order, x, first=0, last=None):
        """Visible layer, then hidden layer: block Gibbs; site after site where visible sites interact too."""
        if self.lateral is not None:
            return super().sweep(conditionals, order, x, first, last)
        v, h = x[: self.visible].astype(jnp.float32), x[self.visible :].astype(jnp.float32)
        # The matrix product over a tile's chains is most of the work. Transposed once for all sweeps, for which the
        # barrier sees: a product with the matrix as it is takes half as long again.
        transposed = jax.lax.optimization_barrier(self.weight.T)
        v = _layer(conditionals, transposed @ h, v, 0, first, last)
        h = _layer(conditionals, self.to_hidden(v), h, self.visible, first, last)
        return jnp.concatenate([v, h]).astype(x.dtype)

    def may_change(self) -> Bool[np.ndarray, "h v"]:
        """Every pair between the layers."""
        return np.ones(self.weight.shape, bool)

    def pair_means(self, x: Float[Array, "m n"]) -> Float[Array, "h v"]:
        """<h_k v_i> between the layers."""
        return x[:, self.visible :].T @ x[:, : self.visible] / len(x)

    def entries_of(self, matrix: Float[Array, "n n"]) -> Float[Array, "h v"]:
        """The entries between the layers."""
        return matrix[self.visible :, : self.visible]


def _layer(conditionals, heard_of_other, old, start, first, last):
    """The sites from `start` on, all drawn at once given what they hear from the other layer."""
    site, part = start + jnp.arange(len(old)), slice(start, start + len(old))
    field = conditionals.beta * (heard_of_other + conditionals.bias[part][:, None])
    new = conditionals.draw(conditionals.numbers(site), field).astype(old.dtype)
    mask, value = conditionals.mask[part][:, None], conditionals.value[part][:, None]
    new = jnp.where(mask, value.astype(old.dtype), new)
    return new if last is None else jnp.where(((site >= first) & (site < last))[:, None], new, old)


__all__ = ["LayeredCouplings"]

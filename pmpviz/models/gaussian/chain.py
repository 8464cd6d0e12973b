"""A binary pairwise target as a chain given Gaussians: the couplings beside the chain alone are relaxed.

Of a set of sites that all interact alike, w sum_{i<j} s_i s_j = w S (S - 1) / 2 with S their sum: one Gaussian serves,
z ~ N(sqrt(w) S, 1). Any other coupling has a Gaussian of its own, z ~ N(sqrt|w| (s_i + sign(w) s_j), 1). Given them all
the sites 0, ..., n - 1 are a chain with the fields a_i - d_i / 2 + (B z)_i.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float, Int, Int8

from pmpviz.models.gaussian.relaxation import Relaxation
from pmpviz.models.ising import Ising, merge_edges
from pmpviz.types import Evidence, Target, pytree


@pytree(static=("n", "m"))
class EntryList:
    """B as a list of its entries: `entry[e]` stands in row `site[e]` and column `number[e]`."""

    site: Int[Array, " e"]
    number: Int[Array, " e"]
    entry: Float[Array, " e"]
    n: int
    m: int

    def forward(self, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """B z."""
        return jax.ops.segment_sum(self.entry[:, None] * z[self.number], self.site, self.n)

    def back(self, p: Float[Array, "n t"]) -> Float[Array, "m t"]:
        """B' p."""
        return jax.ops.segment_sum(self.entry[:, None] * p[self.site], self.number, self.m)


@pytree
class ChainRelaxation:
    """`relaxation` is of what is beside the chain; `chain[i]` couples site i to the next at beta, the last is 0."""

    relaxation: Relaxation
    chain: Float[Array, " n"]

    @property
    def m(self) -> int:
        """How many Gaussians there are."""
        return self.relaxation.m

    def filtered(self, evidence: Evidence, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """f_i: the log-odds of s_i = 1 given the Gaussians, before the sites after i are heard.

        f_{i+1} is its field plus log (1 + exp(f_i + w_i)) / (1 + exp f_i); of a clamped site, plus w_i s_i.
        """
        field = self.relaxation.field(z)

        def step(heard, row):
            field, weight, mask, value = row
            f = field + heard
            free = jax.nn.softplus(f + weight) - jax.nn.softplus(f)
            return jnp.where(mask, weight * value, free), f

        rows = (field, self.chain, evidence.mask, evidence.value.astype(jnp.float32))
        return jax.lax.scan(step, jnp.zeros(z.shape[-1]), rows)[1]

    def draw(self, evidence: Evidence, z: Float[Array, "m t"], u: Float[Array, "n t"]) -> Int8[Array, "n t"]:
        """s given the Gaussians, all sites at once: filtered forward, drawn backward, 1 where u < the probability."""

        def step(after, row):
            f, weight, u, mask, value = row
            drawn = u * (1.0 + jnp.exp(-(f + weight * after))) < 1.0
            s = jnp.where(mask, value, drawn.astype(jnp.int8))
            return s.astype(jnp.float32), s

        rows = (self.filtered(evidence, z), self.chain, u, evidence.mask, evidence.value)
        return jax.lax.scan(step, jnp.zeros(z.shape[-1]), rows, reverse=True)[1]

    def mean(self, evidence: Evidence, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """p(s_i = 1 | z): filtered forward, smoothed backward."""

        def step(after, row):
            f, weight, mask, value = row
            p = after * jax.nn.sigmoid(f + weight) + (1.0 - after) * jax.nn.sigmoid(f)
            p = jnp.where(mask, value, p)
            return p, p

        rows = (self.filtered(evidence, z), self.chain, evidence.mask, evidence.value.astype(jnp.float32))
        return jax.lax.scan(step, jnp.zeros(z.shape[-1]), rows, reverse=True)[1]


class Split(NamedTuple):
    """Couplings as a chain of weights [n], edges that have a Gaussian each, and sets that have one together.

    `member[k]` is a site of the set `of[k]`, whose couplings are `weight[set]`.
    """

    chain: np.ndarray
    edges: tuple[np.ndarray, np.ndarray, np.ndarray]
    member: np.ndarray
    of: np.ndarray
    weight: np.ndarray


def relax_beside_chain(target: Target) -> ChainRelaxation:
    """The relaxation of all that is not the chain 0, 1, ..., n - 1 of a binary pairwise target; on the host."""
    model, beta = target.model, float(target.beta)
    bias, i, j, w = model.pairwise()
    split = split_couplings(model.n, i, j, beta * w)
    one, two, w = split.edges
    root, own = np.sqrt(np.abs(w)), np.arange(len(w))
    site = np.concatenate([one, two, split.member])
    number = np.concatenate([own, own, len(w) + split.of])
    entry = np.concatenate([root, np.sign(w) * root, np.sqrt(split.weight)[split.of]])
    shift, m = np.bincount(site, entry**2, model.n), len(w) + len(split.weight)
    entries = EntryList(site.astype(np.int32), number.astype(np.int32), entry.astype(np.float32), model.n, m)
    relaxed = Relaxation((beta * bias - shift / 2).astype(np.float32), entries, np.ones(m, np.float32))
    return ChainRelaxation(relaxed, split.chain.astype(np.float32))


def beside_chain(model: Ising) -> int:
    """How many couplings are not between a site and the next."""
    i, j = model.pairs().T
    return int((np.abs(i - j) > 1).sum())


def split_couplings(n: int, i: np.ndarray, j: np.ndarray, w: np.ndarray) -> Split:
    """Finds the sets of sites that all interact alike, w >= 0, and with no others beside the chain.

    Of two neighbours of the chain within a set the set's coupling is taken off the chain's.
    """
    i, j, w = merge_edges(i, j, w)
    near = j - i == 1
    chain = np.zeros(n)
    chain[i[near]] = w[near]
    i, j, w = i[~near], j[~near], w[~near]
    graph = scipy.sparse.coo_array((np.ones(len(i)), (i, j)), shape=(n, n))
    count, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    size, edges = np.bincount(label, minlength=count), np.bincount(label[i], minlength=count)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, label[i], w)
    np.maximum.at(high, label[i], w)
    both = label[:-1] == label[1:]
    neighbours = np.bincount(label[:-1][both], minlength=count)
    alike = (edges > 0) & (edges + neighbours == size * (size - 1) // 2) & (low >= 0) & (low == high)
    chain[:-1] -= np.where(both & alike[label[:-1]], low[label[:-1]], 0.0)
    member, single = np.flatnonzero(alike[label]), ~alike[label[i]]
    _, of = np.unique(label[member], return_inverse=True)
    return Split(chain, (i[single], j[single], w[single]), member, of.reshape(-1), low[alike])


__all__ = ["ChainRelaxation", "EntryList", "Split", "beside_chain", "relax_beside_chain", "split_couplings"]

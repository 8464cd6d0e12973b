"""Proposals of Gibbs-with-gradients on models of few neighbours a site: a flip changes its neighbours' weights only.

Chains are the columns. Sites are drawn through three levels of sums: `weight[sites, t]` in leaves of `leaf` sites,
`block[blocks, t]` the leaves' sums, and sums of `middle` blocks on top. Every changed leaf is added up afresh from
positive terms, so that the sums never drift or cancel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.samplers import _scaled
from pmpviz.types import Target

# Node on top, leaf, site, acceptance.
NUMBERS = 4
# Most sites, and chains side by side: enough to spread the cost of a call, few enough to stay in a core's cache.
TILES = ((32, 256), (2048, 64), (math.inf, 16))


def tile(n: int) -> int:
    """Chains side by side in a model of n sites."""
    return next(tile for most, tile in TILES if n <= most)


class _Tree(NamedTuple):
    """Sites in a leaf, leaves below a node on top, nodes on top."""

    leaf: int
    middle: int
    top: int

    @classmethod
    def of(cls, n: int) -> _Tree:
        # Leaves are gathered site by site for every neighbour, blocks are added up all: leaves are the shorter.
        leaf = 2 ** max(round(math.log2(math.sqrt(n) / 3.5)), 1)
        blocks = -(-n // leaf)
        middle = math.ceil(math.sqrt(blocks))
        return cls(leaf, middle, -(-blocks // middle))

    @property
    def blocks(self) -> int:
        return self.middle * self.top


class _Walk(NamedTuple):
    """Spins, log-weights, weights exp(log_weight - scale) of free sites (padded), leaf sums, their sum Z, scale."""

    spin: Float[Array, "n t"]
    log_weight: Float[Array, "n t"]
    weight: Float[Array, "m t"]
    block: Float[Array, "b t"]
    total: Float[Array, " t"]
    scale: Float[Array, " t"]
    accepted: Float[Array, " t"]


def propose(
    numbers: Float[Array, "k 4 t"],
    target: Target,
    x: Int8[Array, "n t"],
    log_weight: Float[Array, "n t"],
    count: Int[Array, ""],
) -> tuple[Int8[Array, "n t"], Float[Array, "n t"], Float[Array, " t"]]:
    """`count` (traced) proposals with those uniform numbers: x, log-weights delta / 2, how many were accepted."""
    n, chains = x.shape
    tree, free = _Tree.of(n), ~target.evidence.mask
    zeros = jnp.zeros(chains)
    walk = _Walk(
        2.0 * x.astype(jnp.float32) - 1.0,
        log_weight,
        jnp.zeros((tree.blocks * tree.leaf, chains)),
        jnp.zeros((tree.blocks, chains)),
        zeros,
        zeros,
        zeros,
    )
    flip = _flip(target, tree)

    def one(index, walk):
        u = numbers[index]
        return flip(walk, _draw_site(tree, n, walk, u), u[3])

    walk = _scaled.advance(walk, count, one, lambda walk: _rescale(tree, free, walk))
    return (walk.spin > 0).astype(jnp.int8), walk.log_weight, walk.accepted


def _rescale(tree: _Tree, free: Bool[Array, " n"], walk: _Walk) -> _Walk:
    """New scale, weights and sums for the chains whose Z is out of range; the others keep every bit."""
    keep = _scaled.in_range(walk.total)
    scale = jnp.where(keep, walk.scale, jnp.where(free[:, None], walk.log_weight, -jnp.inf).max(0))
    weight = jnp.where(keep, walk.weight, _padded(tree, _weight(walk.log_weight, free[:, None], scale)))
    block = jnp.where(keep, walk.block, weight.reshape(tree.blocks, tree.leaf, -1).sum(1))
    return walk._replace(scale=scale, weight=weight, block=block, total=jnp.where(keep, walk.total, block.sum(0)))


def _weight(log_weight, free, scale):
    return jnp.where(free, _scaled.weights(log_weight - scale), 0.0)


def _padded(tree: _Tree, weight: Float[Array, "n t"]) -> Float[Array, "m t"]:
    return jnp.pad(weight, ((0, tree.blocks * tree.leaf - weight.shape[0]), (0, 0)))


def _draw_site(tree: _Tree, n: int, walk: _Walk, u: Float[Array, "4 t"]) -> Int[Array, " t"]:
    """Site with probability weight / Z in each chain: a node on top, a leaf below it, a site in the leaf."""
    node = _draw(walk.block.reshape(tree.top, tree.middle, -1).sum(1), u[0])
    leaf = node * tree.middle + _draw(_rows(walk.block, node, tree.middle), u[1])
    return jnp.minimum(leaf * tree.leaf + _draw(_rows(walk.weight, leaf, tree.leaf), u[2]), n - 1)


def _draw(weight: Float[Array, "k t"], u: Float[Array, " t"]) -> Int[Array, " t"]:
    """Index with probability weight[k] / sum by inversion. A matrix product adds up fastest on a few rows."""
    lower = jnp.asarray(np.tril(np.ones((len(weight), len(weight)), np.float32)))
    below = jnp.dot(lower, weight, precision=jax.lax.Precision.HIGHEST)
    return (below[:-1] <= u * below[-1]).astype(jnp.float32).sum(0).astype(jnp.int32)


def _rows(array: Float[Array, "m t"], group: Int[Array, "*k t"], size: int) -> Float[Array, "size *k t"]:
    """The `size` rows of each group, its own for every chain."""
    offset = jnp.arange(size).reshape((size,) + (1,) * group.ndim)
    return _get(array, group * size + offset)


def _get(array, rows):
    return array.at[rows, jnp.arange(array.shape[1])].get(mode="promise_in_bounds")


def _set(array, rows, values):
    return array.at[rows, jnp.arange(array.shape[1])].set(values, mode="promise_in_bounds")


def _flip(target: Target, tree: _Tree):
    """Function (walk, site, u) -> walk that touches the flipped site's neighbours only.

    The new weights are written first, and taken back where the flip is refused: all in place.
    """
    neighbour, coupling = target.model.couplings.neighbour_lists()
    neighbour, half = jnp.asarray(neighbour).T, 0.5 * target.beta * jnp.asarray(coupling).T
    free = ~target.evidence.mask

    def flip(walk, site, u):
        rows = jnp.concatenate([site[None], neighbour[:, site]])
        spin, old = _get(walk.spin, rows), _get(walk.log_weight, rows)
        change = jnp.concatenate([-2.0 * old[:1], spin[:1] * spin[1:] * half[:, site]])
        columns = jnp.arange(site.shape[0])
        log_weight = walk.log_weight.at[rows, columns].add(change, mode="promise_in_bounds")
        new, may = _get(log_weight, rows), free[rows]
        fresh = _weight(new, may, walk.scale)
        weight, leaves = _set(walk.weight, rows, fresh), rows // tree.leaf
        block = _set(walk.block, leaves, _rows(weight, leaves, tree.leaf).sum(0))
        total = block.sum(0)
        taken = (u * total < walk.total) & may[0]
        return walk._replace(
            spin=_set(walk.spin, site, jnp.where(taken, -spin[0], spin[0])),
            log_weight=_set(log_weight, rows, jnp.where(taken, new, old)),
            weight=_set(weight, rows, jnp.where(taken, fresh, _weight(old, may, walk.scale))),
            block=jnp.where(taken, block, walk.block),
            total=jnp.where(taken, total, walk.total),
            accepted=walk.accepted + taken,
        )

    return flip

"""Proposals of Gibbs-with-gradients on dense models, where a flip changes the log-weight of every site.

Chains are the rows here, so that a flip adds a row of the couplings to a row of log-weights. Sites are drawn through
two levels of sums: site c + l * columns is in column c, at level l. A flip that is taken is written at the next
proposal, in the pass that reads the log-weights anyway.
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

# Column, level, acceptance.
NUMBERS = 3
# Most sites, and chains side by side: enough to spread the cost of a call, few enough that of a hundred every core gets
# some.
TILES = ((512, 50), (math.inf, 25))
VECTOR = 16


class _Walk(NamedTuple):
    """Spins and log-weights without the last proposal; that proposal's log-weights, site and whether it is taken; the
    sums of the weights over each column and over all sites, with it where it is taken; how many were accepted.

    Log-weights are relative to `scale`, and -inf at clamped sites.
    """

    spin: Float[Array, "t n"]
    log_weight: Float[Array, "t n"]
    proposed: Float[Array, "t n"]
    site: Int[Array, " t"]
    taken: Bool[Array, " t"]
    column: Float[Array, "t c"]
    total: Float[Array, " t"]
    scale: Float[Array, " t"]
    accepted: Float[Array, " t"]


def tile(n: int) -> int:
    """Chains side by side in a model of n sites."""
    return next(tile for most, tile in TILES if n <= most)


def propose(
    numbers: Float[Array, "k 3 t"],
    target: Target,
    x: Int8[Array, "n t"],
    log_weight: Float[Array, "n t"],
    count: Int[Array, ""],
) -> tuple[Int8[Array, "n t"], Float[Array, "n t"], Float[Array, " t"]]:
    """`count` (traced) proposals with those uniform numbers: x, log-weights delta / 2, how many were accepted."""
    clamped, half, coupling = target.evidence.mask, 0.5 * target.beta, target.model.couplings.matrix()
    relative, zeros = jnp.where(clamped, -jnp.inf, log_weight.T), jnp.zeros(x.shape[1])
    walk = _Walk(
        2.0 * x.T.astype(jnp.float32) - 1.0,
        relative,
        relative,
        zeros.astype(jnp.int32),
        zeros.astype(bool),
        jnp.zeros((x.shape[1], _columns(target.n))),
        zeros,
        zeros,
        zeros,
    )
    walk = _scaled.advance(
        walk, count, lambda index, walk: _proposal(half, coupling, clamped, walk, numbers[index]), _rescale
    )
    spin, relative = _settled(walk)
    log_weight = jnp.where(clamped[:, None], log_weight, (relative + walk.scale[:, None]).T)
    return (spin > 0).astype(jnp.int8).T, log_weight, walk.accepted


def _columns(n: int) -> int:
    return VECTOR * math.ceil(math.sqrt(n) / VECTOR)


def _sums(log_weight: Float[Array, "t n"]) -> Float[Array, "t c"]:
    """Sum of the weights of each column's sites."""
    columns = _columns(log_weight.shape[1])
    levels = -(-log_weight.shape[1] // columns)
    weight = jnp.pad(_scaled.weights(log_weight), ((0, 0), (0, columns * levels - log_weight.shape[1])))
    return weight.reshape(-1, levels, columns).sum(1)


def _settled(walk: _Walk) -> tuple[Float[Array, "t n"], Float[Array, "t n"]]:
    """Spins and log-weights with the last proposal where it is taken."""
    taken = walk.taken[:, None]
    flipped = taken & (jnp.arange(walk.spin.shape[1]) == walk.site[:, None])
    return jnp.where(flipped, -walk.spin, walk.spin), jnp.where(taken, walk.proposed, walk.log_weight)


def _rescale(walk: _Walk) -> _Walk:
    """New scale and sums for the chains whose Z is out of range; the others keep every bit."""
    keep, (spin, log_weight) = _scaled.in_range(walk.total), _settled(walk)
    shift = jnp.where(keep, 0.0, log_weight.max(1))
    log_weight = log_weight - shift[:, None]
    column = jnp.where(keep[:, None], walk.column, _sums(log_weight))
    return walk._replace(
        spin=spin,
        log_weight=log_weight,
        taken=jnp.zeros_like(walk.taken),
        scale=walk.scale + shift,
        column=column,
        total=jnp.where(keep, walk.total, column.sum(1)),
    )


def _proposal(half, coupling, clamped, walk: _Walk, u: Float[Array, "3 t"]) -> _Walk:
    """Write the last proposal, draw a site by weight / Z, and take its flip if u Z(x') < Z(x)."""
    chain = jnp.arange(walk.site.shape[0])
    column = _draw(walk.column, u[0])
    level = _draw(_weights_of(walk, column), u[1])
    site = jnp.minimum(level * walk.column.shape[1] + column, len(clamped) - 1)
    spin, log_weight = _settled(walk)
    here = jnp.arange(len(clamped)) == site[:, None]
    own = half * spin[chain, site]
    change = own[:, None] * spin * coupling.at[site].get(mode="promise_in_bounds")
    back = -log_weight[chain, site] - 2.0 * walk.scale
    proposed = jnp.where(here, back[:, None], log_weight + change)
    sums = _sums(proposed)
    total = sums.sum(1)
    taken = (u[2] * total < walk.total) & ~clamped[site]
    return _Walk(
        spin,
        log_weight,
        proposed,
        site,
        taken,
        jnp.where(taken[:, None], sums, walk.column),
        jnp.where(taken, total, walk.total),
        walk.scale,
        walk.accepted + taken,
    )


def _weights_of(walk: _Walk, column: Int[Array, " t"]) -> Float[Array, "t l"]:
    """Weights of the sites in one column of each chain."""
    n, columns = walk.spin.shape[1], walk.column.shape[1]
    places = column[:, None] + jnp.arange(-(-n // columns)) * columns
    chain, site = jnp.arange(len(column))[:, None], jnp.minimum(places, n - 1)
    last, before = (array.at[chain, site].get(mode="promise_in_bounds") for array in (walk.proposed, walk.log_weight))
    return jnp.where(places < n, _scaled.weights(jnp.where(walk.taken[:, None], last, before)), 0.0)


def _draw(weight: Float[Array, "t k"], u: Float[Array, " t"]) -> Int[Array, " t"]:
    """Index with probability weight[k] / sum by inversion. A matrix product adds up fastest on a few columns."""
    upper = jnp.asarray(np.triu(np.ones((weight.shape[1],) * 2, np.float32)))
    below = jnp.dot(weight, upper, precision=jax.lax.Precision.HIGHEST)
    return (below[:, :-1] <= u[:, None] * below[:, -1:]).astype(jnp.float32).sum(1).astype(jnp.int32)

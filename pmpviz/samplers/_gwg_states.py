"""Proposals of Gibbs-with-gradients on pairwise models of K states: one site takes another of its states.

As in `_gwg_sparse`, chains are the columns and a proposal is drawn through three levels of sums. Its entries are pairs
(site, state), `i K + k`, with weight exp(delta / 2), delta the true change of the log weight, and 0 for the state that
the site has, for those that do not exist, and for clamped sites. A leaf holds all states of some sites.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.samplers import _scaled
from pmpviz.samplers._gwg_sparse import _draw_site, _get, _set, _Tree, tile
from pmpviz.types import Target

# Node on top, leaf, entry, acceptance.
NUMBERS = 4
# The log potential of a state that does not exist: finite, and below any that does.
NEVER = -1e30


class _Walk(NamedTuple):
    """States, log potentials of all states given the rest, weights (padded), leaf sums, their sum Z, scale."""

    x: Int[Array, "n t"]
    logit: Float[Array, "m t"]
    weight: Float[Array, "p t"]
    block: Float[Array, "b t"]
    total: Float[Array, " t"]
    scale: Float[Array, " t"]
    accepted: Float[Array, " t"]


def tree_of(n: int, states: int) -> _Tree:
    """Leaves of whole sites, about as many entries as `_gwg_sparse` gives them."""
    sites = max(_Tree.of(n * states).leaf // states, 1)
    blocks = -(-n // sites)
    middle = math.ceil(math.sqrt(blocks))
    return _Tree(sites * states, middle, -(-blocks // middle))


def log_weights(target: Target, x: Int8[Array, "n t"]) -> Float[Array, "m t"]:
    """beta times the log potentials of all states of all sites given the rest, from the whole configuration."""
    model = target.model
    logit = target.beta * model.heard(x).swapaxes(0, 1) + model.scaled_unary(target.beta)[..., None]
    return jnp.maximum(logit, NEVER).reshape(-1, x.shape[1])


def propose(
    numbers: Float[Array, "k 4 t"], target: Target, x: Int8[Array, "n t"], logit: Float[Array, "m t"], count
) -> tuple[Int8[Array, "n t"], Float[Array, "m t"], Float[Array, " t"]]:
    """`count` (traced) proposals with those uniform numbers: x, log potentials, how many were accepted."""
    (n, chains), states = x.shape, target.model.space.states
    tree, zeros = tree_of(n, states), jnp.zeros(chains)
    start = jnp.zeros((tree.blocks * tree.leaf, chains)), jnp.zeros((tree.blocks, chains))
    walk = _Walk(x.astype(jnp.int32), logit, *start, zeros, zeros, zeros)
    change = _change(target, tree, states)

    def one(index, walk):
        u = numbers[index]
        return change(walk, _draw_site(tree, n * states, walk, u), u[3])

    walk = _scaled.advance(walk, count, one, lambda walk: _rescale(tree, target, states, walk))
    return walk.x.astype(jnp.int8), walk.logit, walk.accepted


def _half(logit: Float[Array, "s k t"], x: Int[Array, "s t"], free: Bool[Array, "s t"]) -> Float[Array, "s k t"]:
    """delta / 2 of every entry of some sites; -inf for what is not proposed."""
    states = jnp.arange(logit.shape[1])[:, None]
    own = jnp.take_along_axis(logit, x[:, None], 1)
    return jnp.where(free[:, None] & (states != x[:, None]), 0.5 * (logit - own), -jnp.inf)


def _rescale(tree: _Tree, target: Target, states: int, walk: _Walk) -> _Walk:
    """New scale, weights and sums for the chains whose Z is out of range; the others keep every bit."""
    n, chains = walk.x.shape
    keep = _scaled.in_range(walk.total)
    free = jnp.broadcast_to(~target.evidence.mask[:, None], (n, chains))
    half = _half(walk.logit.reshape(n, states, chains), walk.x, free).reshape(-1, chains)
    scale = jnp.where(keep, walk.scale, half.max(0))
    fresh = _scaled.weights(half - scale)
    weight = jnp.where(keep, walk.weight, jnp.pad(fresh, ((0, len(walk.weight) - len(fresh)), (0, 0))))
    block = jnp.where(keep, walk.block, weight.reshape(tree.blocks, tree.leaf, -1).sum(1))
    return walk._replace(scale=scale, weight=weight, block=block, total=jnp.where(keep, walk.total, block.sum(0)))


def _change(target: Target, tree: _Tree, states: int):
    """Function (walk, entry, u) -> walk that touches the changed site's neighbours only; taken back where refused."""
    interactions, free = target.model.interactions, ~target.evidence.mask
    neighbour = jnp.asarray(interactions.couplings.neighbour_lists()[0]).T
    terms, sites_of_leaf = target.beta * interactions.terms(), tree.leaf // states

    def change(walk, entry, u):
        site, state = entry // states, entry % states
        rows = jnp.concatenate([site[None], neighbour[:, site]])
        entries = rows[:, None] * states + jnp.arange(states)[:, None]
        was, old = _get(walk.x, site), _get(walk.logit, entries)
        step = interactions.said(terms, site, state, states) - interactions.said(terms, site, was, states)
        columns = jnp.arange(site.shape[0])
        logit = walk.logit.at[entries[1:], columns].add(step, mode="promise_in_bounds")
        x = _set(walk.x, site, state)
        new, may = _get(logit, entries), free[rows]
        fresh = _scaled.weights(_half(new, _get(x, rows), may) - walk.scale)
        stale = _get(walk.weight, entries)
        weight, leaves = _set(walk.weight, entries, fresh), rows // sites_of_leaf
        members = leaves * tree.leaf + jnp.arange(tree.leaf).reshape(-1, 1, 1)
        block = _set(walk.block, leaves, _get(weight, members).sum(0))
        total = block.sum(0)
        taken = (u * total < walk.total) & may[0] & (state != was)
        return walk._replace(
            x=_set(x, site, jnp.where(taken, state, was)),
            logit=_set(logit, entries, jnp.where(taken, new, old)),
            weight=_set(weight, entries, jnp.where(taken, fresh, stale)),
            block=jnp.where(taken, block, walk.block),
            total=jnp.where(taken, total, walk.total),
            accepted=walk.accepted + taken,
        )

    return change


__all__ = ["NUMBERS", "log_weights", "propose", "tile"]

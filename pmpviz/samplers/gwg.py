"""Gibbs-with-gradients (Grathwohl et al. 2021) on binary pairwise models, with incremental gradients.

Sites are drawn through three levels of sums: `weight[sites, t]` in leaves of `leaf` sites, `block[blocks, t]` the
leaves' sums, and sums of `middle` blocks on top. A flip changes the leaves of the flipped site and its neighbours
only. Every changed leaf is added up afresh from positive terms, so that the sums never drift or cancel.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz import keys
from pmpviz.models.couplings import DENSE
from pmpviz.models.ising import Ising
from pmpviz.types import Info, Spec, Target, pytree

QUANTA = 16
LEAST_PROPOSALS = 4
# Most sites, and chains side by side: enough to spread the cost of a call, few enough to stay in a core's cache.
TILES = ((32, 256), (2048, 64), (math.inf, 16))
NUMBERS = 4
# Weights are relative to a scale that is renewed where their sum leaves this range. A weight that is clipped is so
# much larger than the sum that no flip towards it is accepted at the resolution of the uniform numbers.
LEAST, MOST, CLIP = 1e-15, 1e15, 75.0


def _why_not(target: Target) -> str | None:
    if not isinstance(target.model, Ising):
        return "Gibbs-with-gradients needs binary variables with pairwise factors; this model has others"
    return None


SPEC = Spec(
    id="gwg",
    label="Gibbs-with-gradients",
    kind="chain",
    guarantee="invariant",
    reversible=True,
    summary="Proposes to flip the sites whose flip gains most, and corrects by a Metropolis-Hastings step.",
    paper="Grathwohl, Swersky, Hashemi, Duvenaud and Maddison 2021, Algorithm 1",
    metrics=("acceptance",),
    update="proposed flip",
    quanta=lambda model: min(QUANTA, max(model.n // LEAST_PROPOSALS, 1)),
    tile=lambda model: next(tile for most, tile in TILES if model.n <= most),
    why_not=_why_not,
)


@pytree
class GwgState:
    """One tile: configuration `x[n, t]`, `log_weight[n, t]` (delta_i / 2), quanta and acceptances in this sweep."""

    x: Int8[Array, "n t"]
    log_weight: Float[Array, "n t"]
    quantum: Int[Array, ""]
    accepted: Float[Array, " t"]


@pytree
class GibbsWithGradients:
    """Flip site i ~ softmax(delta / 2), delta_i = -(2 x_i - 1) beta field_i; accept with min(1, Z(x) / Z(x')).

    Z(x) = sum_i exp(delta_i(x) / 2) over the free sites. The ratio is exact because delta_i is the true change of
    log-weight (zero diagonal, single flips), so that the flip back has the weight exp(-delta_i / 2) in Z(x'). A
    sweep is n proposals, in 16 quanta unless n is small; at its start the gradients are computed afresh, so that
    rounding never adds up. n proposals of one reversible kernel are reversible.
    """

    spec = SPEC

    def init_tile(self, keys: Array, target: Target, x0: Int8[Array, "t n"]) -> GwgState:
        """Start at x0 with the clamped sites at their values."""
        x = target.evidence.apply(x0).T
        return GwgState(x, _log_weights(target, x), jnp.int32(0), jnp.zeros(x.shape[1]))

    def step_tile(self, keys: Array, target: Target, state: GwgState) -> tuple[GwgState, Info]:
        """One block of proposals: ends (q + 1) n / 16 and q n / 16 rounded down make 16 of them n exactly."""
        n, quanta = target.n, SPEC.quanta(target.model)
        fresh = state.quantum == 0
        log_weight = jax.lax.cond(fresh, lambda: _log_weights(target, state.x), lambda: state.log_weight)
        begin, end = state.quantum * n // quanta, (state.quantum + 1) * n // quanta
        x, log_weight, accepted = _propose(keys, target, state.x, log_weight, end - begin)
        accepted = jnp.where(fresh, 0.0, state.accepted) + accepted
        info = {"acceptance": accepted / end.astype(jnp.float32)}
        return GwgState(x, log_weight, (state.quantum + 1) % quanta, accepted), info

    def position_tile(self, target: Target, state: GwgState) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return state.x.T

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> GwgState:
        """Single-chain form: a tile of one."""
        return self.init_tile(key[None], target, x0[None])

    def step(self, key: Array, target: Target, state: GwgState) -> tuple[GwgState, Info]:
        """Single-chain form of `step_tile`."""
        state, info = self.step_tile(key[None], target, state)
        return state, {name: value[0] for name, value in info.items()}

    def position(self, target: Target, state: GwgState) -> Int8[Array, " n"]:
        """Single-chain form of `position_tile`."""
        return self.position_tile(target, state)[0]


def propose_some(chain_keys: Array, target: Target, x: Int8[Array, "t n"], count: Int[Array, ""]) -> Int8[Array, "t n"]:
    """x after `count` (traced) proposals of every chain, in blocks of as many as a quantum has."""
    most = -(-target.n // SPEC.quanta(target.model))

    def block(index, carry):
        x, log_weight = carry
        own = keys.fold_in(chain_keys, index)
        x, log_weight, _ = _propose(own, target, x, log_weight, jnp.minimum(count - index * most, most))
        return x, log_weight

    x = target.evidence.apply(x).T
    return jax.lax.fori_loop(0, -(-count // most), block, (x, _log_weights(target, x)))[0].T


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


def _log_weights(target: Target, x: Int8[Array, "n t"]) -> Float[Array, "n t"]:
    """delta_i / 2 = -(2 x_i - 1) beta field_i / 2 from the whole configuration."""
    field = jax.vmap(target.local_field, in_axes=1, out_axes=1)(x)
    return 0.5 * jnp.where(x > 0, -field, field)


def _propose(chain_keys, target, x, log_weight, count):
    """`count` proposals (traced): x, log-weights, and how many were accepted, float32[t]."""
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
    count = jnp.where(free.any(), count, 0)
    most = -(-n // SPEC.quanta(target.model))
    numbers = jax.vmap(lambda key: keys.uniform(key, NUMBERS * most), out_axes=-1)(chain_keys)
    numbers = numbers.reshape(most, NUMBERS, chains)
    flip = _dense_flip(target, tree) if isinstance(target.model.couplings, DENSE) else _flip(target, tree)

    def propose(carry):
        done, walk = carry
        u = numbers[done]
        return done + 1, flip(walk, _draw_site(tree, n, walk, u), u[3])

    def in_range(carry):
        return (carry[0] < count) & _in_range(carry[1].total).all()

    def rescaled(carry):
        done, walk = carry
        return jax.lax.while_loop(in_range, propose, (done, _rescale(tree, free, walk)))

    _, walk = jax.lax.while_loop(lambda carry: carry[0] < count, rescaled, (jnp.int32(0), walk))
    return (walk.spin > 0).astype(jnp.int8), walk.log_weight, walk.accepted


def _in_range(total: Float[Array, " t"]) -> Bool[Array, " t"]:
    return (total >= LEAST) & (total <= MOST)


def _rescale(tree: _Tree, free: Bool[Array, " n"], walk: _Walk) -> _Walk:
    """New scale, weights and sums for the chains whose Z is out of range; the others keep every bit."""
    keep = _in_range(walk.total)
    scale = jnp.where(keep, walk.scale, jnp.where(free[:, None], walk.log_weight, -jnp.inf).max(0))
    weight = jnp.where(keep, walk.weight, _padded(tree, _weight(walk.log_weight, free[:, None], scale)))
    block = jnp.where(keep, walk.block, weight.reshape(tree.blocks, tree.leaf, -1).sum(1))
    return walk._replace(scale=scale, weight=weight, block=block, total=jnp.where(keep, walk.total, block.sum(0)))


def _weight(log_weight, free, scale):
    return jnp.where(free, jnp.exp(jnp.minimum(log_weight - scale, CLIP)), 0.0)


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


def _dense_flip(target: Target, tree: _Tree):
    """Function (walk, site, u) -> walk for a dense or layered model: every site counts as a neighbour."""
    half, free = 0.5 * target.beta * target.model.couplings.matrix(), ~target.evidence.mask[:, None]

    def flip(walk, site, u):
        spin = _get(walk.spin, site)
        here = jnp.arange(half.shape[0])[:, None] == site
        log_weight = walk.log_weight + spin * walk.spin * half[:, site]
        log_weight = jnp.where(here, -walk.log_weight, log_weight)
        weight = _padded(tree, _weight(log_weight, free, walk.scale))
        block = weight.reshape(tree.blocks, tree.leaf, -1).sum(1)
        total = block.sum(0)
        taken = (u * total < walk.total) & free[site, 0]
        return walk._replace(
            spin=jnp.where(here & taken, -spin, walk.spin),
            log_weight=jnp.where(taken, log_weight, walk.log_weight),
            weight=jnp.where(taken, weight, walk.weight),
            block=jnp.where(taken, block, walk.block),
            total=jnp.where(taken, total, walk.total),
            accepted=walk.accepted + taken,
        )

    return flip

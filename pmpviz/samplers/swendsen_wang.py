"""Swendsen-Wang cluster sampling (1987) for binary pairwise models of any signs and fields, and for Potts models."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, Shaped, UInt32

from pmpviz import keys, numerals
from pmpviz.models.couplings import Couplings
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.samplers import _states
from pmpviz.types import Algorithm, Info, Overlay, Spec, Style, Target, pytree

MAX_PAIRS = 1 << 21


def _why_not(target: Target) -> str | None:
    model = target.model
    if isinstance(model, Pairwise):
        if not model.potts:
            return "Swendsen-Wang needs factors that tell equal states from unequal ones only, as Potts models have"
        if (np.asarray(model.interactions.couplings.weight) < 0).any():
            return "Swendsen-Wang of more than two states needs couplings that are not negative; this model has others"
    elif not isinstance(model, Ising):
        return "Swendsen-Wang needs binary variables with pairwise factors, or a Potts model; this model has others"
    pairs = _couplings(model).bond_places
    if pairs > MAX_PAIRS:
        return f"Swendsen-Wang would draw {pairs:,} bonds a sweep; give a model with at most {MAX_PAIRS:,} couplings"
    return None


def _couplings(model: Ising | Pairwise) -> Couplings:
    return model.interactions.couplings if isinstance(model, Pairwise) else model.couplings


def _tile(model: Ising | Pairwise) -> int:
    """Chains side by side: about 2^16 bonds, which stay in the cache."""
    return max(1, min(64, (1 << 16) // max(_couplings(model).bond_places, 1)))


SPEC = Spec(
    id="swendsen_wang",
    label="Swendsen-Wang",
    kind="chain",
    guarantee="invariant",
    reversible=True,
    summary="Joins satisfied neighbours into clusters at random and turns whole clusters. It is fast near a critical "
    "point without fields; frustration and strong fields make its clusters span everything or seldom turn.",
    paper="Swendsen and Wang 1987; Edwards and Sokal 1988",
    metrics=("flips", "largest_cluster"),
    tile=_tile,
    why_not=_why_not,
    style=Style("#CC79A7", "dashdot", "cross"),
    overlays=(Overlay("clusters", "labels"),),
)


@pytree
class ClusterState:
    """One tile: configuration `x[t, n]` and, for each site, the least site of its last cluster, `label[t, n]`."""

    x: Int8[Array, "t n"]
    label: Int[Array, "t n"]


@pytree
class SwendsenWang(Algorithm):
    """Bond on edge (i, j) with probability 1 - exp(-|beta w_ij| / 2) where J_ij s_i s_j > 0, else none; then each
    cluster c turns with probability sigma(-2 sum_{i in c} beta h_i s_i), J = w / 4, h_i = b_i / 2 + sum_j w_ij / 4.

    This draws from p(bonds | s) and then from p(s | bonds) of the joint law of Edwards and Sokal, so any signs and
    fields leave p(s) invariant. A cluster with a clamped site does not turn: given the bonds, the one orientation
    that agrees with the evidence has all the probability. The labels are an overlay that a page can colour.

    Of K states: bonds between equal states with probability 1 - exp(-beta w_ij), w_ij >= 0, and a cluster's new state
    is k with probability proportional to exp(beta sum_{i in c} theta_i(k)).
    """

    spec = SPEC

    def init_tile(self, keys: Array, target: Target, x0: Int8[Array, "t n"]) -> ClusterState:
        """Start at x0 with the clamped sites at their values, every site a cluster of its own."""
        x = target.evidence.apply(x0)
        return ClusterState(x, jnp.broadcast_to(jnp.arange(target.n, dtype=jnp.int32), x.shape))

    def step_tile(self, keys: Array, target: Target, state: ClusterState) -> tuple[ClusterState, Info]:
        """One sweep: bonds, clusters, turns. `flips` and `largest_cluster` are shares of all sites."""
        if isinstance(target.model, Pairwise):
            label = _labels(_equal_bonds(keys, target, state.x), state.x.shape)
            x = _recoloured(keys, target, state.x, label)
        else:
            spin = 2.0 * state.x.astype(jnp.float32) - 1.0
            label = _labels(_bonds(keys, target, spin), spin.shape)
            x = state.x ^ _turned(keys, target, spin, label).astype(jnp.int8)
        sizes = _sums(label, jnp.ones_like(label))
        info = {
            "flips": (x != state.x).astype(jnp.float32).mean(1),
            "largest_cluster": sizes.max(1).astype(jnp.float32) / target.n,
        }
        return ClusterState(x, label), info

    def position_tile(self, target: Target, state: ClusterState) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return state.x

    def overlay(self, target: Target, state: ClusterState, name: str) -> Int[Array, " n"]:
        """For each site the least site of its cluster in the last sweep."""
        return state.label[0]

    def equation(self, target: Target) -> str:
        """The probability of a bond between satisfied neighbours."""
        if isinstance(target.model, Pairwise):
            chance = 1 - np.exp(-np.asarray(target.model.interactions.couplings.edges()[2]) * float(target.beta))
            span = numerals.katex_span(chance)
            return rf"p(\text{{bond}} \mid x_i = x_j) = 1 - e^{{-\beta w_{{ij}}}} = {span}"
        chance = 1 - np.exp(-np.abs(target.model.pairwise()[3]) * float(target.beta) / 2)
        return rf"p(\text{{bond}}) = 1 - e^{{-\beta |w_{{ij}}|/2}} = {numerals.katex_span(chance)}"

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> ClusterState:
        """Single-chain form: a tile of one."""
        return self.init_tile(key[None], target, x0[None])

    def step(self, key: Array, target: Target, state: ClusterState) -> tuple[ClusterState, Info]:
        """Single-chain form of `step_tile`."""
        state, info = self.step_tile(key[None], target, state)
        return state, {name: value[0] for name, value in info.items()}

    def position(self, target: Target, state: ClusterState) -> Int8[Array, " n"]:
        """Single-chain form of `position_tile`."""
        return self.position_tile(target, state)[0]


def _numbers(chain_keys: Array, counter: UInt32[Array, "..."]) -> Float[Array, "t ..."]:
    return jax.vmap(keys.uniform_at, in_axes=(0, None))(chain_keys, counter)


def _bonded(weight, product, u):
    """A bond where beta w s_i s_j > 0 and u < 1 - exp(-|beta w| / 2)."""
    return (weight * product > 0) & (u < -jnp.expm1(-0.5 * jnp.abs(weight)))


def _bonds(chain_keys: Array, target: Target, spin: Float[Array, "t n"]):
    """Function label[t, n] -> least label of a site and those it is bonded to."""
    couplings = target.model.couplings.scaled(target.beta)
    return couplings.bonds(spin, lambda counter: _numbers(chain_keys, counter), _bonded)


def _equal_bonds(chain_keys: Array, target: Target, x: Int8[Array, "t n"]):
    """As `_bonds`, between neighbours of equal states."""
    couplings = _couplings(target.model).scaled(target.beta)
    bonded = lambda weight, equal, u: equal & (u < -jnp.expm1(-weight))  # noqa: E731
    return couplings.bonds(x, lambda counter: _numbers(chain_keys, counter), bonded, jnp.equal)


def _recoloured(chain_keys: Array, target: Target, x: Int8[Array, "t n"], label) -> Int8[Array, "t n"]:
    """A new state for each cluster; clusters with a clamped site keep theirs."""
    model, states = target.model, target.model.space.states
    unary = model.scaled_unary(target.beta)
    field = unary - unary[:, :1]

    first = jnp.uint32(_couplings(model).bond_counters)
    u = _numbers(chain_keys, first + jnp.arange(model.n, dtype=jnp.uint32))

    def pulled(_):
        size = jnp.abs(field).max()
        parts = [jnp.broadcast_to(field[:, k], label.shape) for k in range(1, states)]
        return _states.drawn(u, [jnp.zeros(label.shape), *(_field_sums(label, part, size) for part in parts)])

    # Without fields all states are alike, and nothing needs to be added up.
    new = jax.lax.cond((field != 0).any(), pulled, lambda _: (u * states).astype(jnp.int8), None)
    held = _sums(label, jnp.broadcast_to(target.evidence.mask, label.shape).astype(jnp.int32)) > 0
    new = jnp.where(held, x, new)
    return _of_label(new, label)


def _labels(least, shape) -> Int[Array, "t n"]:
    """Least site of every site's cluster: parents are lowered to the least neighbour's, then jumped over.

    A label is always a site of the same cluster and never above its own; where nothing changes, neighbours agree, so
    the label is the cluster's least site (connected components by hooking and pointer jumping, Shiloach and
    Vishkin 1982). Within, sites are numbered through all chains: with one index a place is found in half the time.
    """
    of_chains = lambda label: least(label.reshape(shape)).reshape(-1)  # noqa: E731
    start = jnp.arange(shape[0] * shape[1], dtype=jnp.int32)

    def lower(carry):
        label, low = carry
        low = low.at[label].min(low, mode="promise_in_bounds")
        low = _found(_found(low, low), low)
        return low, of_chains(low)

    # The last look at the neighbours only says that they agree: nothing is hooked or jumped over after it.
    label = jax.lax.while_loop(lambda carry: (carry[0] != carry[1]).any(), lower, (start, of_chains(start)))[0]
    return label.reshape(shape) - shape[1] * _rows(shape)


def _rows(shape):
    return jnp.arange(shape[0], dtype=jnp.int32)[:, None]


def _through(label: Int[Array, "t n"]) -> Int[Array, " tn"]:
    """Labels as places among the sites of all chains."""
    return (label + label.shape[1] * _rows(label.shape)).reshape(-1)


def _found(values: Shaped[Array, " tn"], places: Int[Array, " tn"]) -> Shaped[Array, " tn"]:
    return values.at[places].get(mode="promise_in_bounds")


def _of_label(values: Shaped[Array, "t n"], label: Int[Array, "t n"]) -> Shaped[Array, "t n"]:
    """What stands at each site's label."""
    return _found(values.reshape(-1), _through(label)).reshape(label.shape)


def _sums(label: Int[Array, "t n"], values: Int[Array, "t n"]) -> Int[Array, "t n"]:
    """Sum of whole numbers over each cluster, at its label."""
    none = jnp.zeros(label.size, label.dtype)
    return none.at[_through(label)].add(values.reshape(-1), mode="promise_in_bounds").reshape(label.shape)


def _field_sums(label: Int[Array, "t n"], value: Float[Array, "t n"], largest: Float[Array, ""]):
    """Sum of values over each cluster, in fixed point: the same bits in whatever order a device adds."""
    bits = 30 - (label.shape[1] - 1).bit_length()
    coarse_unit = jnp.where(largest > 0, largest, 1.0) * 2.0**-bits
    scaled = value / coarse_unit
    coarse = jnp.round(scaled)
    fine = jnp.round((scaled - coarse) * 2.0**bits)
    high, low = (_sums(label, part.astype(jnp.int32)).astype(jnp.float32) for part in (coarse, fine))
    return (high + low * 2.0**-bits) * coarse_unit


def _turned(chain_keys: Array, target: Target, spin: Float[Array, "t n"], label) -> Bool[Array, "t n"]:
    """Whether each site's cluster turns."""
    model = target.model
    field = target.beta * (0.5 * model.bias + 0.25 * model.couplings.field(jnp.ones(model.n)))
    pull = _field_sums(label, field * spin, jnp.abs(field).max())
    held = _sums(label, jnp.broadcast_to(target.evidence.mask, label.shape).astype(jnp.int32)) > 0
    first = jnp.uint32(model.couplings.bond_counters)
    u = _numbers(chain_keys, first + jnp.arange(model.n, dtype=jnp.uint32))
    turns = (-2.0 * pull > keys.logistic_threshold(u)) & ~held
    return _of_label(turns, label)

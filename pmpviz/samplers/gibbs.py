"""Gibbs sampling site after site, and the sweeps in groups that it shares with the colour-parallel sampler.

A sweep visits groups of sites that do not interact (`SweepOrder`): the colours, or for the order 0, ..., n - 1 the
levels of the graph, whose parallel update gives what one site after another gives. A dense model has no such groups
and is swept in panels: a matrix product brings the fields of a panel up to date, then its sites follow one another
with the panel's own couplings only.

Within a sweep the configuration of a tile is kept by slots, `x[slot, chain]`, so that a group is one piece of memory.
Site i is 1 where u_i (1 + exp(-field_i)) < 1, with u_i the chain's number at counter i.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz import keys
from pmpviz.models.couplings import DENSE, LayeredCouplings
from pmpviz.models.ising import Ising
from pmpviz.models.order import SweepOrder
from pmpviz.types import Info, Spec, Target, pytree

UNROLLED_GROUPS = 8
UNROLLED_NEIGHBOURS = 24
PANEL = 24
BLOCK = 2


def _why_not(target: Target) -> str | None:
    if not isinstance(target.model, Ising):
        return "this Gibbs sampler needs binary variables with pairwise factors; this model has others"
    return None


SEQUENTIAL = Spec(
    id="gibbs",
    label="Gibbs",
    kind="chain",
    guarantee="invariant",
    reversible=False,
    summary="Draws every site in turn from its conditional given all others.",
    paper="Geman and Geman 1984; the baseline of perturb-and-max-product",
    tile=lambda model: 64,
    why_not=_why_not,
)


@pytree
class GibbsState:
    """Configuration of one chain, `x[n]`, or of a tile by slots, `x[slot, t]`, and the site that is updated next."""

    x: Int8[Array, "..."]
    site: Int[Array, ""]


@pytree
class Gibbs:
    """x_i ~ Bernoulli(sigmoid(beta (b_i + sum_j w_ij x_j))) for i = 0, ..., n - 1 in turn; one quantum is one sweep."""

    spec = SEQUENTIAL

    def init_tile(self, chain_keys: Array, target: Target, x0: Int8[Array, "t n"]) -> GibbsState:
        """Start at x0 with the clamped sites at their values."""
        x = jax.vmap(target.evidence.apply)(x0).T
        return GibbsState(target.model.site_order.spread(x), jnp.int32(0))

    def step_tile(self, chain_keys: Array, target: Target, state: GibbsState) -> tuple[GibbsState, Info]:
        """One full sweep from the site pointer on."""
        return _advance(chain_keys, target, state, jnp.int32(target.n)), {}

    def position_tile(self, target: Target, state: GibbsState) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return target.model.site_order.collect(state.x).T

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> GibbsState:
        """Single-chain form of `init_tile`."""
        return GibbsState(target.evidence.apply(x0), jnp.int32(0))

    def step(self, key: Array, target: Target, state: GibbsState) -> tuple[GibbsState, Info]:
        """Single-chain form of `step_tile`."""
        return self.step_sites(key, target, state, jnp.int32(target.n)), {}

    def step_sites(self, key: Array, target: Target, state: GibbsState, count: Int[Array, ""]) -> GibbsState:
        """`count` single-site updates (traced), resuming at the state's site pointer; count <= n."""
        order = target.model.site_order
        tile = _advance(key[None], target, GibbsState(order.spread(state.x[:, None]), state.site), count)
        return GibbsState(order.collect(tile.x)[:, 0], tile.site)

    def position(self, target: Target, state: GibbsState) -> Int8[Array, " n"]:
        """The chain's configuration."""
        return state.x


def _advance(chain_keys: Array, target: Target, state: GibbsState, count: Int[Array, ""]) -> GibbsState:
    """`count` <= n sites from the pointer on: those up to the last site, then, where it wraps, those from 0."""
    n, end = target.n, state.site + count

    def up_to_the_wrap(wrapped, x):
        first = jnp.where(wrapped, 0, state.site)
        last = jnp.where(wrapped, end - n, jnp.minimum(end, n))
        return sweep(chain_keys, target, target.model.site_order, x, first, last)

    x = jax.lax.fori_loop(0, 1 + (end > n), up_to_the_wrap, state.x)
    return GibbsState(x, end % n)


def sweep(
    chain_keys: Array,
    target: Target,
    order: SweepOrder,
    x: Int8[Array, "slot t"],
    first: Int[Array, ""] | int = 0,
    last: Int[Array, ""] | int | None = None,
) -> Int8[Array, "slot t"]:
    """Draw every site i with first <= i < last (all where None) in this order from its conditional.

    x is kept by slots. Clamped sites take their values.
    """
    return _kernel(target.model.couplings)(chain_keys, target, order, x, first, last)


def _kernel(couplings):
    if isinstance(couplings, LayeredCouplings) and couplings.lateral is None:
        return _layers
    return _panels if isinstance(couplings, DENSE) else _groups


def _layers(chain_keys, target, order, x, first, last):
    """Visible layer, then hidden layer: block Gibbs. The matrix product over a tile's chains is most of the work."""
    couplings, visible = target.model.couplings, target.model.couplings.visible
    v, h = x[:visible].astype(jnp.float32), x[visible:].astype(jnp.float32)
    # Transposed once for all sweeps, for which the barrier sees: a product with the matrix as it is takes half as long
    # again.
    transposed = jax.lax.optimization_barrier(couplings.weight.T)
    v = _layer(chain_keys, target, transposed @ h, v, 0, first, last)
    h = _layer(chain_keys, target, couplings.to_hidden(v), h, visible, first, last)
    return jnp.concatenate([v, h]).astype(x.dtype)


def _layer(chain_keys, target, heard, old, start, first, last):
    """The sites from `start` on, all drawn at once given what they hear from the other layer."""
    site, part = start + jnp.arange(len(old)), slice(start, start + len(old))
    row = {"site": site}
    new = _draw(chain_keys, row, target.beta * (heard + target.model.bias[part][:, None])).astype(old.dtype)
    mask, value = target.evidence.mask[part][:, None], target.evidence.value[part][:, None]
    new = jnp.where(mask, value.astype(old.dtype), new)
    return new if last is None else jnp.where(((site >= first) & (site < last))[:, None], new, old)


def _groups(chain_keys, target, order, x, first, last):
    groups, width = order.site.shape
    model, evidence = target.model, target.evidence
    neighbour, weight = model.couplings.neighbour_lists()
    real = order.site < target.n
    rows = {
        "site": order.site,
        "bias": target.beta * order.spread(model.bias).reshape(groups, width),
        "slot": order.spread(jnp.asarray(order.slot)[neighbour]).reshape(groups, width, -1),
        # Empty slots hear nobody.
        "weight": target.beta * jnp.where(real[..., None], order.spread(weight).reshape(groups, width, -1), 0.0),
        "mask": order.spread(evidence.mask).reshape(groups, width),
        "value": order.spread(evidence.value).reshape(groups, width),
    }

    def update(group, x):
        row = {name: jnp.asarray(values)[group] for name, values in rows.items()}
        new = _draw(chain_keys, row, _gathered_field(x, row)).astype(x.dtype)
        new = jnp.where(row["mask"][:, None], row["value"][:, None], new)
        start = (group * width, 0)
        if last is not None:
            due = (row["site"] >= first) & (row["site"] < last)
            new = jnp.where(due[:, None], new, jax.lax.dynamic_slice(x, start, new.shape))
        return jax.lax.dynamic_update_slice(x, new, start)

    if groups <= UNROLLED_GROUPS:
        for group in range(groups):
            x = update(group, x)
        return x
    return jax.lax.fori_loop(0, groups, update, x)


def _gathered_field(x, row) -> Float[Array, "w t"]:
    if row["slot"].shape[1] > UNROLLED_NEIGHBOURS:
        return row["bias"][:, None] + (row["weight"][..., None] * x[row["slot"]]).sum(1)
    field = row["bias"][:, None]
    for slot, weight in zip(row["slot"].T, row["weight"].T, strict=True):
        field = field + weight[:, None] * jnp.take(x, slot, axis=0, mode="clip").astype(jnp.float32)
    return field


def _draw(chain_keys, row, field) -> Bool[Array, "w t"]:
    u = keys.uniform_at(chain_keys, row["site"][:, None])
    return u * (1.0 + jnp.exp(-field)) < 1.0


def _panels(chain_keys, target, order, x, first, last):
    site = order.site[0]
    weight, bias, site, forced = _padded(target, site, first, last)
    chains = x.shape[1]

    def panel(index, x):
        start = index * PANEL
        rows = jax.lax.dynamic_slice(weight, (start, 0), (PANEL, weight.shape[1]))
        here = jax.lax.dynamic_slice(x, (start, 0), (PANEL, chains))
        field = rows @ x + jax.lax.dynamic_slice(bias, (start,), (PANEL,))[:, None]
        u = keys.uniform_at(chain_keys, jax.lax.dynamic_slice(site, (start,), (PANEL,))[:, None])
        state = jax.lax.dynamic_slice(forced, (start,), (PANEL,))[:, None]
        wanted = jnp.where(state == KEPT, here, state)
        threshold = jnp.where(state == FREE, keys.logistic_threshold(u), jnp.where(wanted > 0, -jnp.inf, jnp.inf))
        own = jax.lax.dynamic_slice(rows, (0, start), (PANEL, PANEL))
        return jax.lax.dynamic_update_slice(x, _within_panel(own, field, threshold, here), (start, 0))

    padded = jnp.pad(x, ((0, len(site) - len(x)), (0, 0))).astype(jnp.float32)
    return jax.lax.fori_loop(0, len(site) // PANEL, panel, padded)[: len(x)].astype(x.dtype)


FREE, KEPT = -1.0, -2.0


def _padded(target, site, first, last):
    """Weights and biases in the order of the updates, at beta, padded to whole panels; and what holds each site.

    FREE is drawn, KEPT is not due, and 0 or 1 is a clamped value.
    """
    model, evidence = target.model, target.evidence
    weight, bias = model.couplings.matrix()[site][:, site], model.bias[site]
    mask, value = evidence.mask, evidence.value
    due = True if last is None else (site >= first) & (site < last)
    forced = jnp.where(due, jnp.where(mask[site], value[site].astype(jnp.float32), FREE), KEPT)
    extra = -target.n % PANEL
    return (
        target.beta * jnp.pad(weight, ((0, extra), (0, extra))),
        target.beta * jnp.pad(bias, (0, extra)),
        jnp.pad(site, (0, extra)),
        jnp.pad(forced, (0, extra)),
    )


def _within_panel(weight, field, threshold, x) -> Float[Array, "p t"]:
    """The panel's sites in turn, BLOCK of them written out at a time."""
    shape = (BLOCK, x.shape[1])

    def block(index, carry):
        field, x = carry
        start = (index * BLOCK, 0)
        h, bar, old = (jax.lax.dynamic_slice(a, start, shape) for a in (field, threshold, x))
        columns = jax.lax.dynamic_slice(weight, (0, index * BLOCK), (PANEL, BLOCK))
        own = jax.lax.dynamic_slice(columns, start, (BLOCK, BLOCK))
        change: list[Array] = []
        for i in range(BLOCK):
            mine = h[i]
            for j, step in enumerate(change):
                mine = mine + own[i, j] * step
            change.append((mine > bar[i]).astype(x.dtype) - old[i])
        # Sums, not a matrix product: one of so few columns costs more to call than to compute. The barrier keeps the
        # changes from being worked out again in every row.
        moved = jax.lax.optimization_barrier(jnp.stack(change))
        for j in range(BLOCK):
            field = field + columns[:, j, None] * moved[j]
        return field, jax.lax.dynamic_update_slice(x, old + moved, start)

    return jax.lax.fori_loop(0, PANEL // BLOCK, block, (field, x))[1]

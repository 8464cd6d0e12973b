"""Gibbs sampling site after site, and the sweeps in groups that it shares with the colour-parallel sampler.

A sweep visits groups of sites that do not interact (`SweepOrder`): the colours, or for the order 0, ..., n - 1 the
levels of the graph, whose parallel update gives what one site after another gives. How a group's fields are come by is
the couplings' own affair (`Couplings.sweep`), and how a site is drawn is said here.

Within a sweep the configuration of a tile is kept by slots, `x[slot, chain]`, so that a group is one piece of memory.
Site i is 1 where u_i (1 + exp(-field_i)) < 1, with u_i the chain's number at counter i; of more than two states it is
drawn by inversion of the same number (`_states`).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8

from pmpviz import keys, numerals
from pmpviz.models.couplings import Conditionals
from pmpviz.models.ising import Ising
from pmpviz.models.order import SweepOrder
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.rbm import LayeredModel
from pmpviz.samplers import _factors, _states
from pmpviz.types import Algorithm, Info, Spec, Style, Target, pytree


def _why_not(target: Target) -> str | None:
    return _factors.why_not(target, "Gibbs sampling")


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
    style=Style("#0072B2", "dash", "square"),
)


@pytree
class GibbsState:
    """Configuration of one chain, `x[n]`, or of a tile by slots, `x[slot, t]`, and the site that is updated next."""

    x: Int8[Array, "..."]
    site: Int[Array, ""]


@pytree
class Gibbs(Algorithm):
    """x_i ~ Bernoulli(sigmoid(beta (b_i + sum_j w_ij x_j))) for i = 0, ..., n - 1 in turn; one quantum is one sweep.

    Of K states x_i ~ softmax_k(beta (theta_i(k) + sum_j theta_ij(k, x_j))), of any other factors
    x_i ~ softmax_k(beta sum_f log psi_f(k, rest of f)). Where factors forbid configurations, a chain whose start has
    probability 0 begins at one that has not, the same for all; chains need not reach every other one.
    """

    spec = SEQUENTIAL

    def prepare(self, target: Target) -> _factors.Prepared | None:
        """The factors by variables, where the model does not hold them so."""
        return _factors.prepare(target)

    def init_tile(self, chain_keys: Array, target: Target, x0: Int8[Array, "t n"]) -> GibbsState:
        """Start at x0 with the clamped sites at their values; where that has probability 0, where it has not."""
        x = _factors.started(target, x0).T
        return GibbsState(_factors.site_order(target).spread(x), jnp.int32(0))

    def step_tile(self, chain_keys: Array, target: Target, state: GibbsState) -> tuple[GibbsState, Info]:
        """One full sweep from the site pointer on."""
        return _advance(chain_keys, target, state, jnp.int32(target.n)), {}

    def position_tile(self, target: Target, state: GibbsState) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return _factors.site_order(target).collect(state.x).T

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> GibbsState:
        """Single-chain form of `init_tile`."""
        return GibbsState(_factors.started(target, x0[None])[0], jnp.int32(0))

    def step(self, key: Array, target: Target, state: GibbsState) -> tuple[GibbsState, Info]:
        """Single-chain form of `step_tile`."""
        return self.step_sites(key, target, state, jnp.int32(target.n)), {}

    def step_sites(self, key: Array, target: Target, state: GibbsState, count: Int[Array, ""]) -> GibbsState:
        """`count` single-site updates (traced), resuming at the state's site pointer; count <= n."""
        order = _factors.site_order(target)
        tile = _advance(key[None], target, GibbsState(order.spread(state.x[:, None]), state.site), count)
        return GibbsState(order.collect(tile.x)[:, 0], tile.site)

    def position(self, target: Target, state: GibbsState) -> Int8[Array, " n"]:
        """The chain's configuration."""
        return state.x

    def expected(self, target: Target, state: GibbsState) -> Float[Array, " n"]:
        """Single-chain form of `expected_tile`."""
        return conditional_means(target, state.x[None])[0]

    def expected_tile(self, target: Target, state: GibbsState) -> Float[Array, "t n"]:
        """p(x_i = 1 | the rest) for every site."""
        return conditional_means(target, self.position_tile(target, state))

    def equation(self, target: Target) -> str:
        """The conditional that a site is drawn from."""
        return equation(target)


def conditional_means(target: Target, x: Int8[Array, "t n"]) -> Float[Array, "t n ..."]:
    """p(x_i = 1 | the rest of x), or [t, n, K] of more than two states; of a clamped site its value."""
    space = target.model.space
    if not space.binary:
        p = jax.nn.softmax(jax.vmap(target.conditional_logits)(x))
        return jnp.where(target.evidence.mask[:, None], space.indicator(target.evidence.value), p)
    if _factors.serves(target.model):
        logits = jax.vmap(target.conditional_logits)(x)
        mean = jax.nn.sigmoid(logits[..., 1] - logits[..., 0])
    else:
        mean = jax.nn.sigmoid(jax.vmap(target.local_field)(x))
    return jnp.where(target.evidence.mask, target.evidence.value.astype(jnp.float32), mean)


def equation(target: Target) -> str:
    """The conditional of a site, or of a unit of either layer."""
    if _factors.serves(target.model):
        return _factors.equation(target)
    if isinstance(target.model, Pairwise):
        return _states.equation(target)
    beta = numerals.katex(float(target.beta))
    if isinstance(target.model, LayeredModel) and target.model.couplings.lateral is None:
        return (
            rf"p(h_k = 1 \mid v) = \sigma\big({beta}\,(b_k + \textstyle\sum_i W_{{ki}} v_i)\big),\quad "
            rf"p(v_i = 1 \mid h) = \sigma\big({beta}\,(c_i + \textstyle\sum_k W_{{ki}} h_k)\big)"
        )
    return rf"p(x_i = 1 \mid x_{{-i}}) = \sigma\Big({beta}\,\big(b_i + \textstyle\sum_j w_{{ij}} x_j\big)\Big)"


def _advance(chain_keys: Array, target: Target, state: GibbsState, count: Int[Array, ""]) -> GibbsState:
    """`count` <= n sites from the pointer on: those up to the last site, then, where it wraps, those from 0."""
    n, end, order = target.n, state.site + count, _factors.site_order(target)

    def up_to_the_wrap(wrapped, x):
        first = jnp.where(wrapped, 0, state.site)
        last = jnp.where(wrapped, end - n, jnp.minimum(end, n))
        return sweep(chain_keys, target, order, x, first, last)

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
    model, evidence = target.model, target.evidence
    if not isinstance(model, Ising):
        return _states.sweep(chain_keys, target, order, x, first, last)

    def numbers(site):
        return keys.uniform_at(chain_keys, site[:, None])

    def draw(u, field):
        return u * (1.0 + jnp.exp(-field)) < 1.0

    known = target.beta, model.bias, evidence.mask, evidence.value
    conditionals = Conditionals(*known, numbers, draw, keys.logistic_threshold)
    return model.couplings.sweep(conditionals, order, x, first, last)

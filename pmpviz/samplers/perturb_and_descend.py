"""Perturb and coordinate descent (Tomczak et al. 2019), to which perturb-and-max-product compares itself in its B.4."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, Int8

from pmpviz import keys, numerals
from pmpviz.models.couplings import Conditionals
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.samplers import _states
from pmpviz.samplers._draws import RefinedDraws, sweeps_a_draw
from pmpviz.samplers.pmp import noise_of
from pmpviz.types import Info, Spec, Style, Target, pytree


def _why_not(target: Target) -> str | None:
    return _states.why_not(target, "coordinate descent")


def _tile(model: Any) -> int:
    return 16 if isinstance(model, Pairwise) or model.couplings.form == "lists" else 64


SPEC = Spec(
    id="perturb_and_descend",
    label="Perturb-and-coordinate-descent",
    kind="draw",
    guarantee="approximate",
    reversible=False,
    finds="local",
    summary="Adds the noise of perturb-and-max-product, and lets site after site take its best state from a random "
    "start: it stops at the nearest maximum.",
    paper="Tomczak et al. 2019; Perturb-and-max-product, Appendix B.4",
    metrics=("sites_changed",),
    tile=_tile,
    why_not=_why_not,
    params=(sweeps_a_draw(10, "After this many sweeps a new perturbation starts, from a new random configuration."),),
    style=Style("#B88A00", "longdash", "cross"),
    short="Perturb-and-descend",
    trials={
        "draws_law": {"sweeps_per_draw": 2},
        "local_maximum": {"sweeps_per_draw": 1000},
        "seeds": {"sweeps_per_draw": 1},
    },
)


@pytree
class DescentState:
    """One tile: the noise of this draw as perturb-and-max-product has it, the configurations of this draw and of the
    last one by slots, sweeps spent on this draw, its index, the chains' NOISE keys, and the index of the first draw
    that is wholly of the present target and knobs."""

    perturbation: Float[Array, "..."]
    x: Int8[Array, "slot t"]
    completed: Int8[Array, "slot t"]
    age: Int[Array, ""]
    draw: Int[Array, ""]
    key: Array
    first: Int[Array, ""]


@pytree
class PerturbAndDescend(RefinedDraws):
    """For each colour in turn x_i = argmax_k log_weight(x_i = k, rest) + e_i(k): iterated conditional modes.

    Of two states x_i = [beta (b_i + sum_j w_ij x_j) + e_i > 0] with e_i ~ Logistic(0, 1), of more e_i(k) ~ Gumbel:
    the noise of perturb-and-max-product's draw of the same index, bit for bit. A Gibbs sweep that kept its random
    numbers would do the same. A layered model descends a layer at a time. Exact where no two variables interact.
    """

    sweeps_per_draw: Int[Array, ""] = 10
    spec = SPEC

    def init_tile(self, chain_keys: Array, target: Target, x0: Int8[Array, "t n"]) -> DescentState:
        """First perturbation and random start of each chain; x0 is not used."""
        zero = jnp.int32(0)
        noise, x = _begun(chain_keys, target, zero)
        return DescentState(noise, x, x, zero, zero, chain_keys, zero)

    def step_tile(self, chain_keys: Array, target: Target, state: DescentState) -> tuple[DescentState, Info]:
        """One sweep of descent; a new draw starts first where the last one has had its sweeps."""
        due = state.age >= self.sweeps_per_draw
        state = jax.lax.cond(due, lambda s: _next_draw(target, s), lambda s: s, state)
        before = _held(target, state.x)
        x = _descended(target, state.perturbation, before)
        order = target.model.colour_order
        changed = (order.collect(x) != order.collect(before)).mean(0, dtype=jnp.float32)
        return dataclasses.replace(state, x=x, age=state.age + 1), {"sites_changed": changed}

    def position_tile(self, target: Target, state: DescentState) -> Int8[Array, "t n"]:
        """The configurations as far as they have descended."""
        return target.model.colour_order.collect(_held(target, state.x)).T

    def completed_tile(self, target: Target, state: DescentState) -> Int8[Array, "t n"]:
        """The last completed draw."""
        return target.model.colour_order.collect(_held(target, state.completed)).T

    def equation(self, target: Target) -> str:
        """What one site becomes."""
        beta = numerals.katex(float(target.beta))
        if isinstance(target.model, Ising):
            return (
                rf"x_i \leftarrow \Big[{beta}\,\big(b_i + \textstyle\sum_j w_{{ij}} x_j\big) + \varepsilon_i > 0\Big],"
                r"\quad \varepsilon_i \sim \mathrm{Logistic}(0, 1)"
            )
        return (
            rf"x_i \leftarrow \arg\max_k {beta}\,\big(\theta_i(k) + \textstyle\sum_j \theta_{{ij}}(k, x_j)\big) + "
            r"\gamma_i(k),\quad \gamma_i(k) \sim \mathrm{Gumbel}"
        )


def _begun(chain_keys: Array, target: Target, draw: Int[Array, ""]):
    """(noise, random configuration by slots) of one draw."""
    own = keys.fold_in(keys.fold_in(chain_keys, keys.START), draw)
    u = keys.uniform_at(own, jnp.arange(target.n)[:, None])
    x = (u * jnp.asarray(target.model.card, jnp.float32)[:, None]).astype(jnp.int8)
    return noise_of(chain_keys, target, draw), target.model.colour_order.spread(x)


def _next_draw(target: Target, state: DescentState) -> DescentState:
    draw = state.draw + 1
    noise, x = _begun(state.key, target, draw)
    return DescentState(noise, x, state.x, jnp.int32(0), draw, state.key, state.first)


def _held(target: Target, x: Int8[Array, "slot t"]) -> Int8[Array, "slot t"]:
    """Clamped sites at their values."""
    spread = target.model.colour_order.spread
    return jnp.where(spread(target.evidence.mask)[:, None], spread(target.evidence.value)[:, None], x)


def _descended(target: Target, noise: Float[Array, "..."], x: Int8[Array, "slot t"]) -> Int8[Array, "slot t"]:
    """One sweep: every colour once."""
    model, order = target.model, target.model.colour_order
    if isinstance(model, Pairwise):
        own = jnp.moveaxis(noise, 0, -1)

        def best(site, logits):
            rows = jnp.take(own, site, axis=0, mode="clip")
            return (jnp.stack(logits, 1) + rows).argmax(1).astype(jnp.int8)

        return model.sweep(target, best, order, x)

    def numbers(site):
        return jnp.take(noise, site, axis=0, mode="clip")

    def draw(e, field):
        return field + e > 0

    known = target.beta, model.bias, target.evidence.mask, target.evidence.value
    return model.couplings.sweep(Conditionals(*known, numbers, draw, jnp.negative), order, x)


__all__ = ["PerturbAndDescend"]

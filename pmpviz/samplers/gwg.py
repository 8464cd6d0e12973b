"""Gibbs-with-gradients (Grathwohl et al. 2021) on pairwise models, with incremental gradients.

The proposals are made by one of three kernels: `_gwg_sparse` where a flip changes the weights of a few neighbours,
`_gwg_dense` where it changes all, `_gwg_states` where variables have more than two states.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz import keys, numerals
from pmpviz.models.pairwise import Pairwise
from pmpviz.samplers import _gwg_dense, _gwg_sparse, _gwg_states, _states
from pmpviz.types import Algorithm, Info, Spec, Style, Target, pytree

QUANTA = 16
LEAST_PROPOSALS = 4
# By how far a flip reaches.
KERNELS: dict[str, ModuleType] = {"lists": _gwg_sparse, "matrix": _gwg_dense}


def _why_not(target: Target) -> str | None:
    return _states.why_not(target, "Gibbs-with-gradients")


def _kernel(model: Any) -> ModuleType:
    return _gwg_states if isinstance(model, Pairwise) else KERNELS[model.couplings.form]


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
    tile=lambda model: _kernel(model).tile(model.n),
    why_not=_why_not,
    style=Style("#009E73", "dot", "diamond"),
    short="GWG",
)


@pytree
class GwgState:
    """One tile: configuration `x[n, t]`, `log_weight[n, t]` (delta_i / 2, of clamped sites that of the sweep's start or
    later; of K states the log potentials of all, [n K, t]), quanta and acceptances in this sweep."""

    x: Int8[Array, "n t"]
    log_weight: Float[Array, "m t"]
    quantum: Int[Array, ""]
    accepted: Float[Array, " t"]


@pytree
class GibbsWithGradients(Algorithm):
    """Flip site i ~ softmax(delta / 2), delta_i = -(2 x_i - 1) beta field_i; accept with min(1, Z(x) / Z(x')).

    Z(x) = sum_i exp(delta_i(x) / 2) over the free sites. The ratio is exact because delta_i is the true change of
    log-weight (zero diagonal, single flips), so that the flip back has the weight exp(-delta_i / 2) in Z(x'). A
    sweep is n proposals, in 16 quanta unless n is small; at its start the gradients are computed afresh, so that
    rounding never adds up. n proposals of one reversible kernel are reversible. Of K states a proposal is a site with
    another of its states, (i, k) ~ softmax(delta / 2), delta = logit_i(k) - logit_i(x_i) given the rest.
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

    def equation(self, target: Target) -> str:
        """The proposal, and what accepts it."""
        if isinstance(target.model, Pairwise):
            return (
                r"q(i, k \mid x) = \frac{e^{\delta_{ik}/2}}{Z(x)},\quad \delta_{ik} = \log "
                r"\frac{p(x_i = k \mid x_{-i})}{p(x_i \mid x_{-i})},\quad "
                r"\alpha = \min\!\Big(1, \frac{Z(x)}{Z(x')}\Big)"
            )
        return (
            r"q(i \mid x) = \frac{e^{\delta_i/2}}{Z(x)},\quad "
            rf"\delta_i = -(2x_i - 1)\,{numerals.katex(float(target.beta))}\,"
            r"\big(b_i + \textstyle\sum_j w_{ij} x_j\big),\quad "
            r"\alpha = \min\!\Big(1, \frac{Z(x)}{Z(x')}\Big)"
        )

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


def _log_weights(target: Target, x: Int8[Array, "n t"]) -> Float[Array, "m t"]:
    """delta_i / 2 = -(2 x_i - 1) beta field_i / 2 from the whole configuration."""
    if isinstance(target.model, Pairwise):
        return _gwg_states.log_weights(target, x)
    field = jax.vmap(target.local_field, in_axes=1, out_axes=1)(x)
    return 0.5 * jnp.where(x > 0, -field, field)


def _propose(chain_keys, target, x, log_weight, count):
    """`count` proposals (traced): x, log-weights, and how many were accepted, float32[t]."""
    kernel, most = _kernel(target.model), -(-target.n // SPEC.quanta(target.model))
    numbers = jax.vmap(lambda key: keys.uniform(key, kernel.NUMBERS * most), out_axes=-1)(chain_keys)
    fixed = target.evidence.mask | (np.array(target.model.space.card) < 2)
    count = jnp.where(fixed.all(), 0, count)
    return kernel.propose(numbers.reshape(most, kernel.NUMBERS, -1), target, x, log_weight, count)

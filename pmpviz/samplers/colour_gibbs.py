"""Colour-parallel Gibbs: all sites of one colour of a proper colouring at once."""

from __future__ import annotations

from typing import Any

from jaxtyping import Array, Float, Int8

from pmpviz.models.ising import Ising
from pmpviz.samplers import _factors
from pmpviz.samplers.gibbs import conditional_means, equation, sweep
from pmpviz.types import Algorithm, Info, Spec, Style, Target, pytree

# Chains side by side, by how far a flip reaches.
TILES = {"lists": 16, "matrix": 64}


def _why_not(target: Target) -> str | None:
    return _factors.why_not(target, "colour-parallel Gibbs")


def _tile(model: Any) -> int:
    return TILES[model.couplings.form] if isinstance(model, Ising) else TILES["lists"]


SPEC = Spec(
    id="colour_gibbs",
    label="Colour-parallel Gibbs",
    kind="chain",
    guarantee="invariant",
    reversible=False,
    summary="Draws all sites of one colour together from their conditionals: no two of them interact.",
    paper="Geman and Geman 1984; Gonzalez et al. 2011 (chromatic sampler)",
    tile=_tile,
    why_not=_why_not,
    style=Style("#56B4E9", "solid", "triangle"),
)


@pytree
class ColourGibbs(Algorithm):
    """For each colour c in turn: x_i ~ Bernoulli(sigmoid(beta (b_i + sum_j w_ij x_j))) for all i of colour c.

    Of K states x_i ~ softmax_k(beta (theta_i(k) + sum_j theta_ij(k, x_j))). Variables that share a factor, of however
    many, have different colours; of factors that forbid configurations see `gibbs.Gibbs`.
    """

    spec = SPEC

    def prepare(self, target: Target) -> _factors.Prepared | None:
        """The factors by variables, where the model does not hold them so."""
        return _factors.prepare(target)

    def init_tile(self, chain_keys: Array, target: Target, x0: Int8[Array, "t n"]) -> Int8[Array, "slot t"]:
        """Start at x0 with the clamped sites at their values; the chains are kept by slots (see `gibbs`)."""
        return _factors.colour_order(target).spread(_factors.started(target, x0).T)

    def step_tile(
        self, chain_keys: Array, target: Target, state: Int8[Array, "slot t"]
    ) -> tuple[Int8[Array, "slot t"], Info]:
        """One full sweep: every colour once."""
        return sweep(chain_keys, target, _factors.colour_order(target), state), {}

    def position_tile(self, target: Target, state: Int8[Array, "slot t"]) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return _factors.colour_order(target).collect(state).T

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> Int8[Array, " n"]:
        """Single-chain form of `init_tile`."""
        return _factors.started(target, x0[None])[0]

    def step(self, key: Array, target: Target, state: Int8[Array, " n"]) -> tuple[Int8[Array, " n"], Info]:
        """Single-chain form of `step_tile`."""
        order = _factors.colour_order(target)
        x = sweep(key[None], target, order, order.spread(state[:, None]))
        return order.collect(x)[:, 0], {}

    def position(self, target: Target, state: Int8[Array, " n"]) -> Int8[Array, " n"]:
        """The chain's configuration."""
        return state

    def expected(self, target: Target, state: Int8[Array, " n"]) -> Float[Array, " n"]:
        """Single-chain form of `expected_tile`."""
        return conditional_means(target, state[None])[0]

    def expected_tile(self, target: Target, state: Int8[Array, "slot t"]) -> Float[Array, "t n"]:
        """p(x_i = 1 | the rest) for every site."""
        return conditional_means(target, self.position_tile(target, state))

    def equation(self, target: Target) -> str:
        """The conditional that a site is drawn from."""
        return equation(target)

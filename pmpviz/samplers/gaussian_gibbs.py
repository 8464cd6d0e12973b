"""Gaussian block Gibbs sampling (Martens and Sutskever 2010): all variables at once, given Gaussians between them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int8

from pmpviz import numerals
from pmpviz.models.gaussian import MAPS, SHIFTS, ThreeLayers, clamped_choice, clamped_mean, relax
from pmpviz.samplers import _gaussian
from pmpviz.samplers._gaussian import VARIABLES, GaussianState, draw_gaussians, draw_variables
from pmpviz.types import Algorithm, Evidence, Info, Spec, Style, Target, pytree

# Numbers of the hidden layer of three, before and after the visible one is drawn.
HIDDEN_BEFORE, HIDDEN_AFTER = 1 << 30, 3 << 30

SPEC = Spec(
    id="gaussian_gibbs",
    label="Gaussian block Gibbs",
    short="Gaussian Gibbs",
    kind="chain",
    guarantee="invariant",
    reversible=True,
    summary="Draws Gaussians given all variables, then all variables at once given the Gaussians, which carry the "
    "couplings.",
    paper="Martens and Sutskever 2010; Zhang, Sutton, Storkey and Ghahramani 2012, section 3.2",
    params=(
        _gaussian.map_param(
            MAPS,
            "How the couplings become Gaussians. auto: three layers of a layered model, one Gaussian an edge where few "
            "variables interact, the eigenvectors elsewhere. The law of the variables depends on the shift alone.",
        ),
        _gaussian.SHIFT,
        _gaussian.eps(0.01),
    ),
    tile=lambda model: 64,
    why_not=lambda target: _gaussian.needs_pairs("Gaussian block Gibbs", target),
    style=Style("#8C510A", "longdash", "circle"),
    overlays=(_gaussian.FIELD,),
)


@pytree
class GaussianGibbs(Algorithm):
    """z ~ N(B's, I), then s_i ~ Bernoulli(sigmoid((B z)_i + a_i - d_i / 2)) for all i, with B B' = beta W + D.

    Of a model of two layers the couplings of the visible one alone become Gaussians: given the visible layer, hidden
    units and Gaussians are drawn, given these the visible layer, and then the hidden one again, which makes the quantum
    reversible.
    """

    map: int = 0
    shift: int = 0
    eps: float = 0.01
    spec = SPEC

    def prepare(self, target: Target):
        """The relaxation; raises Refusal where the map does not fit the model."""
        return relax(target, MAPS[int(self.map)], SHIFTS[int(self.shift)], float(self.eps))

    def init_tile(self, keys: Array, target: Target, x0: Int8[Array, "t n"]) -> GaussianState:
        """Start at x0 with the clamped sites at their values, and draw the Gaussians."""
        relaxed = target.prepared
        if not isinstance(relaxed, ThreeLayers):
            return _gaussian.begin(keys, target, relaxed, x0)
        x = jax.vmap(target.evidence.apply)(x0).T
        visible = relaxed.weight.shape[1]
        return GaussianState(x, draw_gaussians(keys, relaxed.visible, x[:visible]))

    def step_tile(self, keys: Array, target: Target, state: GaussianState) -> tuple[GaussianState, Info]:
        """One sweep: the Gaussians, then the variables."""
        relaxed = target.prepared
        if isinstance(relaxed, ThreeLayers):
            return _three_layers(keys, target, relaxed, state.x), {}
        z = draw_gaussians(keys, relaxed, state.x)
        return GaussianState(draw_variables(keys, target, relaxed, relaxed.field(z)), z), {}

    def position_tile(self, target: Target, state: GaussianState) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return state.x.T

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> GaussianState:
        """Single-chain form: a tile of one."""
        return self.init_tile(key[None], target, x0[None])

    def step(self, key: Array, target: Target, state: GaussianState) -> tuple[GaussianState, Info]:
        """Single-chain form of `step_tile`."""
        return self.step_tile(key[None], target, state)

    def position(self, target: Target, state: GaussianState) -> Int8[Array, " n"]:
        """Single-chain form of `position_tile`."""
        return self.position_tile(target, state)[0]

    def expected(self, target: Target, state: GaussianState) -> Float[Array, " n"]:
        """Single-chain form of `expected_tile`."""
        return self.expected_tile(target, state)[0]

    def expected_tile(self, target: Target, state: GaussianState) -> Float[Array, "t n"]:
        """p(s_i = 1 | z), of three layers given the other layer too."""
        relaxed, field = target.prepared, _field(target, state)
        if isinstance(relaxed, ThreeLayers):
            return clamped_mean(target.evidence, field).T
        return relaxed.by_chains(relaxed.mean(target.evidence, field))

    def overlay(self, target: Target, state: GaussianState, name: str) -> Float[Array, " n"]:
        """The log-odds of every variable given the Gaussians, of state 1 against 0."""
        relaxed, field = target.prepared, _field(target, state)
        return (field if isinstance(relaxed, ThreeLayers) else relaxed.shown(field))[:, 0]

    def equation(self, target: Target) -> str:
        """Both conditionals."""
        beta = numerals.katex(float(target.beta))
        if isinstance(target.prepared, ThreeLayers):
            return (
                r"z \sim \mathcal N(B^\top v, I),\quad h_k \sim \sigma\big(b_k + (Mv)_k\big),\quad "
                r"v_i \sim \sigma\big((Bz)_i + (M^\top h)_i + a_i - \tfrac{d_i}{2}\big),\quad "
                rf"B B^\top = {beta}\,W + D"
            )
        return (
            r"z \sim \mathcal N(B^\top s, I),\quad p(s_i = 1 \mid z) = "
            rf"\sigma\big((Bz)_i + a_i - \tfrac{{d_i}}{{2}}\big),\quad B B^\top = {beta}\,W + D"
        )


def _layers(evidence: Evidence, visible: int) -> tuple[Evidence, Evidence]:
    """What is clamped of the visible and of the hidden layer."""
    return (
        Evidence(evidence.mask[:visible], evidence.value[:visible]),
        Evidence(evidence.mask[visible:], evidence.value[visible:]),
    )


def _drawn(keys: Array, evidence: Evidence, field: Float[Array, "n t"], first: int) -> Int8[Array, "n t"]:
    return clamped_choice(evidence, field, _gaussian.numbers(keys, len(field), first))


def _three_layers(keys: Array, target: Target, layers: ThreeLayers, x: Int8[Array, "n t"]) -> GaussianState:
    """Hidden units and Gaussians given the visible layer, that given both, and the hidden units again."""
    visible = layers.weight.shape[1]
    of_visible, of_hidden = _layers(target.evidence, visible)
    v = x[:visible]
    h = _drawn(keys, of_hidden, layers.hidden_field(v), HIDDEN_BEFORE)
    z = draw_gaussians(keys, layers.visible, v)
    v = _drawn(keys, of_visible, layers.visible_field(z, h), VARIABLES)
    h = _drawn(keys, of_hidden, layers.hidden_field(v), HIDDEN_AFTER)
    return GaussianState(jnp.concatenate([v, h]), z)


def _field(target: Target, state: GaussianState) -> Float[Array, "n t"]:
    """The log-odds of every variable given the Gaussians and, of three layers, the other layer."""
    relaxed = target.prepared
    if not isinstance(relaxed, ThreeLayers):
        return relaxed.field(state.z)
    visible = relaxed.weight.shape[1]
    v, h = state.x[:visible], state.x[visible:]
    return jnp.concatenate([relaxed.visible_field(state.z, h), relaxed.hidden_field(v)])

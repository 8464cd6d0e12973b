"""Perturb-and-max-product on the binary convolution (section 5.6 and Appendix C.3 of its paper)."""

from __future__ import annotations

import jax.numpy as jnp
from jaxtyping import Array, Float, Int8

from pmpviz import keys
from pmpviz.models.conv_or import ConvOR
from pmpviz.oracles import conv_max_product
from pmpviz.oracles.conv_max_product import ConvMessages
from pmpviz.oracles.max_product import CLAMPED_FIELD
from pmpviz.samplers._conv import ConvAlgorithm
from pmpviz.types import Info, Param, Spec, Style, Target, pytree


def why_not(target: Target) -> str | None:
    """The sentence for a model that is no binary convolution."""
    return None if isinstance(target.model, ConvOR) else "this sampler needs a binary convolution; give one"


SPEC = Spec(
    id="pmp",
    label="Perturb-and-max-product",
    kind="draw",
    guarantee="approximate",
    reversible=False,
    summary="Adds logistic noise to every free variable and decodes the maximum by damped parallel max-product.",
    paper="Perturb-and-max-product, section 5.6 and Appendix C.3",
    metrics=("residual",),
    update="edge-message update",
    updates_per_sweep=lambda model: 2 * model.shape.images * model.shape.ands,
    tile=lambda model: 1,
    why_not=why_not,
    params=(
        Param(
            "damping",
            "Damping",
            0.0,
            0.99,
            0.5,
            help="Share of the old message that is kept: n <- damping n + (1 - damping) n'.",
        ),
    ),
    style=Style("#D55E00", "solid", "circle"),
    short="PMP",
    remedy="more damping",
)


@pytree
class ConvPmpState:
    """Logistic noise of every variable, the messages, and the largest change of one in the last update."""

    perturbation: Float[Array, " n"]
    messages: ConvMessages
    residual: Float[Array, ""]


@pytree
class ConvPMP(ConvAlgorithm):
    """(S, W, X) = argmax log_weight + sum_i e_i x_i with e_i ~ Logistic(0, 1) for the free variables.

    A chain is one draw, refined by its sweeps; x0 is not used. Pixels that nobody has seen say nothing of features and
    locations once they are summed out, so they send no message: they are drawn last, from their conditional, which
    logistic noise does exactly. Where the model adds location unaries several times, as the authors' code
    does, it adds their noise as often.
    """

    damping: Float[Array, ""] = 0.5
    spec = SPEC

    def init(self, key: Array, target: Target, x0: Int8[Array, " n"]) -> ConvPmpState:
        """Noise of this chain, and zero messages."""
        noise = keys.logistic_threshold(keys.uniform(key, target.n))
        shape = target.model.shape
        sizes = shape.features, shape.feature_height, shape.feature_width
        first = conv_max_product.zero_messages(shape.channels, shape.locations, sizes, shape.images)
        return ConvPmpState(noise, first, jnp.float32(jnp.inf))

    def step(self, key: Array, target: Target, state: ConvPmpState) -> tuple[ConvPmpState, Info]:
        """One update of all messages."""
        location, feature, image = fields(target, state.perturbation)
        certain = target.beta * target.model.noise_logit
        seen = jnp.asarray(target.model.split(target.evidence.mask)[2]).transpose(1, 2, 3, 0)
        pixel = jnp.where(seen, jnp.clip(image, -certain, certain), 0.0)
        messages, residual = conv_max_product.update(location, feature, pixel, state.messages, self.damping)
        return ConvPmpState(state.perturbation, messages, residual), {"residual": residual}

    def position(self, target: Target, state: ConvPmpState) -> Int8[Array, " n"]:
        """The configuration decoded from the messages as they are now."""
        model = target.model
        location, feature, image = fields(target, state.perturbation)
        total_s, total_w = conv_max_product.beliefs(location, feature, state.messages)
        s = (total_s > 0).transpose(3, 2, 0, 1)
        w = total_w > 0
        explained = model.log_odds_of_pixels(s, w)
        pixels = image.transpose(3, 0, 1, 2) + target.beta * explained > 0
        return target.evidence.apply(model.join(s, w, pixels))

    def draws_done(self, state: ConvPmpState) -> int:
        """A chain is one draw."""
        return 1

    def belief(self, target: Target, state: ConvPmpState) -> Float[Array, "c f a b"]:
        """Log-ratios of the features' pixels, 1 against 0: their signs are what is decoded."""
        location, feature, _ = fields(target, state.perturbation)
        return conv_max_product.beliefs(location, feature, state.messages)[1]


def fields(target: Target, noise: Float[Array, " n"]) -> tuple[Array, Array, Array]:
    """Perturbed unaries of S [i, j, f, n], W [c, f, a, b] and X [c, row, column, n]; certain where clamped."""
    model, evidence = target.model, target.evidence
    s, w, x = model.split(noise)
    s = model.location_copies * (target.beta * model.location_logit + s)
    flat = jnp.concatenate([s.reshape(-1), (target.beta * model.feature_logit + w).reshape(-1), x.reshape(-1)])
    flat = jnp.where(evidence.mask, jnp.where(evidence.value > 0, CLAMPED_FIELD, -CLAMPED_FIELD), flat)
    s, w, x = model.split(flat)
    return s.transpose(2, 3, 1, 0), w, x.transpose(1, 2, 3, 0)


__all__ = ["ConvPMP", "ConvPmpState", "fields", "why_not"]

"""Learners without sampling: the exact gradient of small models, and pseudo-likelihood."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int8

from pmpviz.learning.chains import draw
from pmpviz.learning.learner import LearnerSpec, Phase, SampledLearner, needs_all_visible
from pmpviz.learning.parameters import Moments, in_form, parameters_of, with_parameters
from pmpviz.models import GaussianRBM, Ising, LayeredModel
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Style, Target, pytree

MOST_SITES = 16


def _too_large(model: Ising) -> str | None:
    enumerated = _enumerated(model)
    if enumerated > MOST_SITES:
        return f"the exact gradient sums over 2^{enumerated} states; give a model with at most {MOST_SITES} such units"
    return None


def _enumerated(model: Ising) -> int:
    """Units that are enumerated: the smaller layer's, all visible ones with lateral weights, or all."""
    if not isinstance(model, LayeredModel):
        return model.n
    if model.couplings.lateral is not None:
        return model.visible
    return min(model.visible, model.hidden)


@pytree
class ExactLearner(SampledLearner):
    """The log-likelihood's gradient itself, by enumeration of the smaller layer (of all sites without layers)."""

    spec = LearnerSpec(
        id="exact",
        label="Exact gradient",
        style=Style("#8A8A86", "solid", "star"),
        guarantee="exact",
        persistent=False,
        summary="Enumerates: the gradient of the log-likelihood itself, for small models.",
        paper="Perturb-and-max-product, Eq. 1",
        sampler="gibbs",
        why_not=_too_large,
    )

    def gradient(self, key, model, batch, data, phase, form):
        """Data's statistics minus the exact ones; the chains shown are exact draws."""
        found = self.data_phase(key, model, batch, form) if data is None else data
        expected, x = exact_phase(key, model, phase.x.shape[0], form)
        return jax.tree.map(jnp.subtract, found, expected), Phase(x)


def states_of(count: int) -> Float[np.ndarray, "2^count count"]:
    """All binary configurations."""
    return ((np.arange(1 << count)[:, None] >> np.arange(count)) & 1).astype(np.float32)


def exact_phase(key: Array, model: Ising, draws: int, form: str) -> tuple[Moments, Int8[Array, "draws n"]]:
    """(<phi>_model by enumeration, exact draws)."""
    if not isinstance(model, LayeredModel):
        x = jnp.asarray(states_of(model.n))
        p = jax.nn.softmax(jax.vmap(model.log_weight)(x))
        pairs = model.couplings.entries_of(_second_moments(x, p))
        chosen = jax.random.choice(key, len(x), (draws,), p=p)
        return in_form({"bias": p @ x, "weight": pairs}, form), x[chosen].astype(jnp.int8)
    by_visible = model.couplings.lateral is not None or model.visible <= model.hidden
    pick, other = jax.random.split(key)
    listed = jnp.asarray(states_of(model.visible if by_visible else model.hidden))
    if by_visible:
        mean, log = model.hidden_mean(listed), -model.free_energy(listed)
    else:
        field = model.visible_bias + listed @ model.weight
        mean, log = jax.nn.sigmoid(field), listed @ model.hidden_bias + jax.nn.softplus(field).sum(1)
    p = jax.nn.softmax(log)
    chosen = jax.random.choice(pick, len(listed), (draws,), p=p)
    rest = jax.random.bernoulli(other, mean[chosen]).astype(jnp.float32)
    v, h = (listed, mean) if by_visible else (mean, listed)
    found = {"visible_bias": p @ v, "hidden_bias": p @ h, "weight": (h * p[:, None]).T @ v}
    if isinstance(model, GaussianRBM):
        found["factor"] = model.factor @ _second_moments(v, p)
    elif model.couplings.lateral is not None:
        found["lateral"] = _second_moments(v, p) * (1 - jnp.eye(model.visible))
    parts = (listed[chosen], rest) if by_visible else (rest, listed[chosen])
    return found, jnp.concatenate(parts, 1).astype(jnp.int8)


def _second_moments(x, p):
    """<x_i x_j> under the weights p, symmetric to the last bit as the couplings must be."""
    second = (x * p[:, None]).T @ x
    return (second + second.T) / 2


@pytree
class PseudoLikelihoodLearner(SampledLearner):
    """Gradient of the mean of sum_i log p(x_i | all others) (Besag 1975): no samples, and not the log-likelihood's.

    Its maximum is consistent where the data come from the model (Hyvarinen 2006), and may be far off where they do
    not. The chains shown are one Gibbs sweep a step, for the eye only.
    """

    spec = LearnerSpec(
        id="pseudo_likelihood",
        label="Pseudo-likelihood",
        style=Style("#CC79A7", "dashdot", "square"),
        guarantee="approximate",
        persistent=False,
        summary="Fits every site's conditional to the data: fast, exact in the limit of data from the model itself.",
        paper="Besag 1975; perturb-and-max-product, section 1 (Hyvarinen 2006)",
        sampler="gibbs",
        why_not=needs_all_visible,
    )

    def gradient(self, key, model, batch, data, phase, form):
        """The pseudo-likelihood's gradient on a batch."""
        gradient = pseudo_gradient(model, batch, form)
        return gradient, Phase(draw(Gibbs(), Target.of(model), key, phase.x, jnp.int32(1)))


def pseudo_log_likelihood(model: Ising, x: Int8[Array, "m n"]) -> Float[Array, ""]:
    """Mean over the data of sum_i log p(x_i | x_j, j != i)."""
    field = jax.vmap(model.local_field)(x)
    return (x * field - jax.nn.softplus(field)).sum(1).mean()


def pseudo_gradient(model: Ising, x: Int8[Array, "m n"], form: str) -> Moments:
    """Its gradient by the parameters of `form`; an edge that stands twice gets the sum of both entries' in both."""

    def value(parameters):
        return pseudo_log_likelihood(with_parameters(model, parameters, form), x.astype(jnp.float32))

    found = jax.grad(value)(parameters_of(model, form))
    if form != "tied":
        found["weight"] = model.couplings.both_ways(found["weight"])
    return found

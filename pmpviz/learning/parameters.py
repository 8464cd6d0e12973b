"""What is learned of a model, and the sufficient statistics that belong to it.

Parameters are a dictionary of arrays; the gradient of the log-likelihood has the same names and shapes:

    d log p / d theta = <phi>_data - <phi>_model

with phi = x_i for a bias and x_i x_j for a weight, each edge once (perturb-and-max-product, section 2.1). A symmetric
matrix holds each edge twice, and both entries carry the edge's gradient.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int8

from pmpviz.models import GaussianRBM, Ising, LayeredModel
from pmpviz.models.couplings import DenseCouplings, LayeredCouplings
from pmpviz.types import InputError

Parameters = dict[str, Float[Array, "..."]]
Moments = dict[str, Float[Array, "..."]]

FORMS = ("binary", "spin", "tied")
WEIGHTS = frozenset({"weight", "lateral", "factor", "theta"})


def check_form(model: Ising, form: str) -> None:
    """Raise InputError where a model cannot be learned in this form."""
    if form not in FORMS:
        raise InputError(f"there is no parametrisation {form[:40]!r}; choose one of {', '.join(FORMS)}")
    if form != "binary" and not model.couplings.complete:
        raise InputError(f"the {form} parametrisation is for fully connected Ising models; use the binary one")


def parameters_of(model: Ising, form: str = "binary") -> Parameters:
    """The parameters of a model.

    `binary`: `bias[n]` and `weight` in the layout of the couplings; of a layered model `visible_bias[v]`,
    `hidden_bias[h]`, `weight[h, v]` and, semi-restricted, `lateral[v, v]`, or with Gaussians `factor[m, v]` and as
    `visible_bias` those beside them. `spin` (fully connected models):
    h = `bias[n]` and symmetric W = `weight[n, n]` of log p(s) = s'Ws + h's over s in {-1, 1}, each edge twice (the
    convention of the papers' structured models). `tied`: one `theta`, log p(s) = theta sum_{i<j} s_i s_j.
    """
    if isinstance(model, LayeredModel):
        found = {"visible_bias": model.visible_bias, "hidden_bias": model.hidden_bias, "weight": model.weight}
        if isinstance(model, GaussianRBM):
            found |= {"visible_bias": model.own_bias, "factor": model.factor}
        elif model.couplings.lateral is not None:
            found["lateral"] = model.couplings.lateral
    elif form == "tied":
        found = {"theta": model.couplings.weight.sum() / (4 * model.n * (model.n - 1))}
    elif form == "spin":
        weight = model.couplings.weight / 8
        found = {"bias": (model.bias + 4 * weight.sum(1)) / 2, "weight": weight}
    else:
        found = {"bias": model.bias, "weight": model.couplings.weight}
    return {name: jnp.asarray(value, jnp.float32) for name, value in found.items()}


def with_parameters(model: Ising, parameters: Parameters, form: str = "binary") -> Ising:
    """The model with these parameters instead of its own (traced)."""
    if isinstance(model, GaussianRBM):
        return model.with_layers(*(parameters[name] for name in ("weight", "factor", "visible_bias", "hidden_bias")))
    if isinstance(model, LayeredModel):
        bias = jnp.concatenate([parameters["visible_bias"], parameters["hidden_bias"]])
        return replace(model, bias=bias, couplings=LayeredCouplings(parameters["weight"], parameters.get("lateral")))
    if form == "tied":
        apart = 4 * parameters["theta"] * (1 - jnp.eye(model.n))
        return replace(model, bias=-apart.sum(1) / 2, couplings=DenseCouplings(apart))
    bias, weight = parameters["bias"], parameters["weight"]
    if form == "spin":
        bias, weight = 2 * bias - 4 * weight.sum(1), 8 * weight
    return replace(model, bias=bias, couplings=model.couplings.with_weight(weight))


def mask_of(model: Ising, form: str = "binary") -> dict[str, Bool[np.ndarray, "..."]]:
    """What may change: the edges that the model has where its structure is kept, every pair where it is dense."""
    mask = {name: np.ones(value.shape, bool) for name, value in parameters_of(model, form).items()}
    if isinstance(model, LayeredModel):
        if "lateral" in mask:
            mask["lateral"] = ~np.eye(model.visible, dtype=bool)
    elif form != "tied":
        mask["weight"] = model.couplings.may_change()
    return mask


def in_form(binary: Moments, form: str) -> Moments:
    """Moments of the binary parameters as those of `form`, up to what cancels in a difference of two."""
    if form == "binary":
        return binary
    mean, weight = binary["bias"], binary["weight"]
    weight = 8 * weight - 4 * (mean[:, None] + mean)
    weight = weight * (1 - jnp.eye(len(mean)))
    if form == "spin":
        return {"bias": 2 * mean, "weight": weight}
    # s_i s_j = 4 x_i x_j - 2 x_i - 2 x_j + 1, and every edge stands twice in the matrix.
    return {"theta": weight.sum() / 4}


def moments(model: Ising, x: Int8[Array, "m n"], form: str = "binary") -> Moments:
    """Mean sufficient statistics of whole configurations x, hidden sites included."""
    x = jnp.asarray(x, jnp.float32)
    if isinstance(model, LayeredModel):
        return layer_moments(model, x[:, : model.visible], x[:, model.visible :])
    return in_form({"bias": x.mean(0), "weight": model.couplings.pair_means(x)}, form)


def layer_moments(model: LayeredModel, v: Float[Array, "m v"], h: Float[Array, "m h"]) -> Moments:
    """Mean sufficient statistics of a visible layer and a hidden layer, which may hold means.

    The Gaussians stand at theirs, E[y | v] = F v: the derivative by F is E[y v'].
    """
    v, h = jnp.asarray(v, jnp.float32), jnp.asarray(h, jnp.float32)
    found = {"visible_bias": v.mean(0), "hidden_bias": h.mean(0), "weight": h.T @ v / len(v)}
    if isinstance(model, GaussianRBM):
        found["factor"] = (v @ model.factor.T).T @ v / len(v)
    elif model.couplings.lateral is not None:
        found["lateral"] = v.T @ v / len(v) * (1 - jnp.eye(model.visible))
    return found


def data_moments(model: Ising, v: Int8[Array, "m v"], form: str = "binary") -> Moments:
    """<phi>_data: the visible sites as observed, the hidden ones at their means given them."""
    if isinstance(model, LayeredModel):
        v = jnp.asarray(v, jnp.float32)
        return layer_moments(model, v, model.hidden_mean(v))
    return moments(model, v, form)


def visible_moments(model: Ising, x: Int8[Array, "m n"], form: str = "binary") -> Moments:
    """<phi> of the visible part of x; hidden sites at their means given it, whatever x says of them."""
    return data_moments(model, x[:, : visible_of(model)], form)


def visible_of(model: Ising) -> int:
    """Number of visible sites: all where there is no hidden layer."""
    return model.visible if isinstance(model, LayeredModel) else model.n


def log_likelihood(model: Ising, v: Int8[Array, "m v"], log_z: float) -> float:
    """Mean log p(v) = log_weight of the visible sites, hidden ones summed out, minus log Z."""
    return float(np.mean(_unnormalised(model, v))) - log_z


@jax.jit
def _unnormalised(model, v):
    return -model.free_energy(v) if isinstance(model, LayeredModel) else jax.vmap(model.log_weight)(v)


__all__ = [
    "FORMS",
    "Moments",
    "Parameters",
    "check_form",
    "data_moments",
    "in_form",
    "layer_moments",
    "log_likelihood",
    "mask_of",
    "moments",
    "parameters_of",
    "visible_moments",
    "visible_of",
    "with_parameters",
]

"""Gradient ascent on the log-likelihood: SGD, momentum and Adam from optax, with traced rates and penalties."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from pmpviz.learning.parameters import WEIGHTS, Moments, Parameters
from pmpviz.types import Param, pytree

if TYPE_CHECKING:
    import optax

METHODS = ("adam", "momentum", "sgd")

OPTIMISER_PARAMS = (
    Param("method", "Optimiser", 0, 2, "adam", "choice", "How gradients become steps.", choices=METHODS),
    Param("learning_rate", "Learning rate", 1e-5, 1.0, 0.01, "log", "Length of a step; it may change in mid-run."),
    Param("momentum", "Momentum", 0.0, 0.999, 0.9, help="Share of the last step that is kept (momentum only)."),
    Param("l1", "L1 penalty", 0.0, 1.0, 0.0, help="Pull of every weight towards 0: l1 times its sign."),
    Param("l2", "L2 penalty", 0.0, 1.0, 0.0, help="Pull of every weight towards 0: l2 times the weight."),
    Param(
        "lateral_rate",
        "Lateral rate",
        0.0,
        1.0,
        0.1,
        help="Rate of weights among visible units, lateral or to Gaussians, as a share of the others'.",
    ),
)


@pytree(static=("method",))
class Optimiser:
    """theta <- theta + rate * step(gradient - l1 sign(w) - l2 w); penalties apply to weights, not to biases."""

    method: str = "adam"
    learning_rate: Float[Array, ""] = 0.01
    momentum: Float[Array, ""] = 0.9
    l1: Float[Array, ""] = 0.0
    l2: Float[Array, ""] = 0.0
    lateral_rate: Float[Array, ""] = 0.1

    def init(self, parameters: Parameters) -> Any:
        """The optimiser's state before the first step."""
        return _transform(self.method, self.momentum).init(parameters)

    def step(self, gradient: Moments, parameters: Parameters, state: Any, mask: dict) -> tuple[Parameters, Any]:
        """(new parameters, state); entries outside the mask stay as they are."""
        pulled = {
            name: jnp.where(mask[name], g - self._pull(name, parameters[name]), 0.0) for name, g in gradient.items()
        }
        steps, state = _transform(self.method, self.momentum).update(pulled, state, parameters)
        moved = {
            name: value + jnp.where(mask[name], self._rate(name) * steps[name], 0.0)
            for name, value in parameters.items()
        }
        return moved, state

    def _pull(self, name, value):
        return self.l1 * jnp.sign(value) + self.l2 * value if name in WEIGHTS else jnp.zeros_like(value)

    def _rate(self, name):
        return self.learning_rate * (self.lateral_rate if name in ("lateral", "factor") else 1.0)


def _transform(method: str, momentum) -> optax.GradientTransformation:
    import optax  # A fifth of a second, of which the start of a program that does not learn is spared.

    if method == "adam":
        return optax.scale_by_adam()
    return optax.trace(decay=momentum) if method == "momentum" else optax.identity()


def gradient_norm(gradient: Moments, mask: dict) -> Float[Array, ""]:
    """Root mean square of the gradient's entries that may change."""
    free = [jnp.where(mask[name], g, 0.0).ravel() for name, g in gradient.items()]
    count = sum(jnp.asarray(mask[name]).sum() for name in gradient)
    return jnp.sqrt(sum(values @ values for values in free) / jnp.maximum(count, 1))

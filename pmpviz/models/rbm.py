"""Boltzmann machines with a visible and a hidden layer: restricted (RBM) and semi-restricted (SRBM)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int8

from pmpviz.models.couplings import LayeredCouplings
from pmpviz.models.ising import Ising
from pmpviz.types import InputError, pytree


@pytree(static=("n_colours",))
class LayeredModel(Ising):
    """log_weight(v, h) = c.v + b.h + h'Wv (+ v'Lv / 2) + constant over v, h in {0, 1}; visible sites come first."""

    couplings: LayeredCouplings

    @property
    def visible(self) -> int:
        """Number of visible sites: 0, ..., visible - 1."""
        return self.couplings.visible

    @property
    def hidden(self) -> int:
        """Number of hidden sites: visible, ..., n - 1."""
        return self.couplings.hidden

    @property
    def weight(self) -> Float[Array, "h v"]:
        """W between the layers."""
        return self.couplings.weight

    @property
    def visible_bias(self) -> Float[Array, " v"]:
        """c."""
        return self.bias[: self.visible]

    @property
    def hidden_bias(self) -> Float[Array, " h"]:
        """b."""
        return self.bias[self.visible :]

    def hidden_mean(self, v: Float[Array, "... v"]) -> Float[Array, "... h"]:
        """p(h_k = 1 | v) = sigmoid(b_k + sum_i W_ki v_i)."""
        return jax.nn.sigmoid(self.hidden_bias + jnp.asarray(v, jnp.float32) @ self.weight.T)

    def visible_mean(self, h: Float[Array, "... h"], v: Float[Array, "... v"] | None = None) -> Float[Array, "... v"]:
        """p(v_i = 1 | h, the other visible sites): sigmoid(c + W'h + Lv); v is needed with lateral couplings only."""
        field = self.visible_bias + jnp.asarray(h, jnp.float32) @ self.weight
        if self.couplings.lateral is not None:
            field = field + jnp.asarray(v, jnp.float32) @ self.couplings.lateral
        return jax.nn.sigmoid(field)

    def free_energy(self, v: Int8[Array, "... v"]) -> Float[Array, "..."]:
        """F(v) = -log sum_h exp(log_weight(v, h)) = -c.v - v'Lv / 2 - sum_k softplus(b_k + W_k v) - constant."""
        v = jnp.asarray(v, jnp.float32)
        linear = v @ self.visible_bias
        if self.couplings.lateral is not None:
            linear = linear + 0.5 * ((v @ self.couplings.lateral) * v).sum(-1)
        return -linear - jax.nn.softplus(self.hidden_bias + v @ self.weight.T).sum(-1) - self.constant


@pytree(static=("n_colours",))
class RBM(LayeredModel):
    """Restricted Boltzmann machine (perturb-and-max-product, section 5.5: E = -h'Wv - b.h - c.v)."""

    @classmethod
    def of_layers(cls, weight, visible_bias=None, hidden_bias=None, constant: float = 0.0) -> RBM:
        """From `weight[hidden, visible]` and the biases (zero where None); raises InputError for other shapes."""
        return _of_layers(cls, weight, None, visible_bias, hidden_bias, constant)


@pytree(static=("n_colours",))
class SRBM(LayeredModel):
    """Semi-restricted Boltzmann machine: visible sites interact too (Martens and Sutskever 2010, section 5.4)."""

    @classmethod
    def of_layers(cls, weight, lateral, visible_bias=None, hidden_bias=None, constant: float = 0.0) -> SRBM:
        """From `weight[hidden, visible]`, symmetric `lateral[visible, visible]` with zero diagonal, and the biases.

        Raises InputError for other shapes, a lateral matrix that is not symmetric or joins a site to itself.
        """
        return _of_layers(cls, weight, lateral, visible_bias, hidden_bias, constant)

    @property
    def lateral(self) -> Float[Array, "v v"]:
        """L between visible sites."""
        return self.couplings.lateral


def _of_layers(cls, weight, lateral, visible_bias, hidden_bias, constant):
    weight = np.asarray(weight, np.float32)
    if weight.ndim != 2 or not weight.size:
        raise InputError(f"weight has shape {weight.shape}; give hidden x visible numbers")
    hidden, visible = weight.shape
    parts = [
        _vector("visible_bias", visible_bias, visible),
        _vector("hidden_bias", hidden_bias, hidden),
    ]
    if lateral is not None:
        lateral = np.asarray(lateral, np.float32)
        if lateral.shape != (visible, visible):
            raise InputError(f"lateral has shape {lateral.shape}; {visible} visible sites need ({visible}, {visible})")
        if (lateral != lateral.T).any() or np.diag(lateral).any():
            raise InputError("lateral must be symmetric with a zero diagonal; give the same weight both ways")
    return cls.of(np.concatenate(parts), LayeredCouplings(weight, lateral), constant)


def _vector(name: str, value, size: int) -> np.ndarray:
    value = np.zeros(size, np.float32) if value is None else np.asarray(value, np.float32)
    if value.shape != (size,):
        raise InputError(f"{name} has shape {value.shape}; give {size} numbers")
    return value


__all__ = ["RBM", "SRBM", "LayeredModel"]

"""Boltzmann machines with a visible and a hidden layer: restricted (RBM), semi-restricted (SRBM), and restricted with
Gaussians beside the binary hidden units (GaussianRBM)."""

from __future__ import annotations

from dataclasses import fields, replace

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


@pytree(static=("n_colours",))
class GaussianRBM(SRBM):
    """RBM with hidden units of two kinds, binary h and Gaussian y: its log-weight is c.v + b.h + h'Wv + y'Fv - y'y / 2.

    With y summed out it is the SRBM that it is here: L = F'F off the diagonal, visible biases c + diag(F'F) / 2. All
    three layers can be drawn in blocks, and F is learned itself (Martens and Sutskever 2010, 3.5 and 4, whose
    "equivalent RBM" this is).
    """

    factor: Float[Array, "m v"]

    @classmethod
    def of_factor(cls, weight, factor, visible_bias=None, hidden_bias=None) -> GaussianRBM:
        """From `weight[hidden, visible]`, `factor[m, visible]`, c and b; raises InputError for other shapes."""
        factor = np.asarray(factor, np.float32)
        base = SRBM.of_layers(weight, np.zeros((np.shape(weight)[-1],) * 2), visible_bias, hidden_bias)
        if factor.ndim != 2 or factor.shape[1] != base.visible:
            raise InputError(f"factor has shape {factor.shape}; give m x {base.visible} numbers")
        parts = {field.name: getattr(base, field.name) for field in fields(base)}
        whole = cls(**parts, factor=factor).with_layers(base.weight, factor, base.visible_bias, base.hidden_bias)
        return jax.tree.map(np.asarray, whole)

    @property
    def own_bias(self) -> Float[Array, " v"]:
        """c: the visible biases beside the Gaussians."""
        return self.visible_bias - 0.5 * (self.factor**2).sum(0)

    def summed(self) -> GaussianRBM:
        """The same machine, its lateral weights computed where this stands: a program that needs them in one branch
        alone does not compute them in the others."""
        return self.with_layers(self.weight, self.factor, self.own_bias, self.hidden_bias)

    def with_layers(self, weight, factor, own_bias, hidden_bias) -> GaussianRBM:
        """The machine with these parameters instead of its own (traced)."""
        squares = factor.T @ factor
        lateral = 0.5 * (squares + squares.T) * (1 - jnp.eye(self.visible))
        bias = jnp.concatenate([own_bias + 0.5 * (factor**2).sum(0), hidden_bias])
        return replace(self, bias=bias, couplings=LayeredCouplings(weight, lateral), factor=factor)


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


__all__ = ["RBM", "SRBM", "GaussianRBM", "LayeredModel"]

"""The binary pairwise model: log_weight(x) = b.x + sum_{i<j} w_ij x_i x_j + constant, x in {0, 1}^n."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz.models.couplings import (
    Couplings,
    DenseCouplings,
    ShiftCouplings,
    SparseCouplings,
    to_dense,
    to_sparse,
)
from pmpviz.models.order import SweepOrder
from pmpviz.models.space import Space, binary_logits
from pmpviz.types import pytree


@pytree(static=("n_colours",))
class Ising:
    """Ising model in the 0/1 form (perturb-and-max-product, Eq. 5: E(x) = -x'Wx/2 - b'x).

    `bias[n]`; `couplings` in some layout; `constant` keeps log Z equal to that of the form it came from;
    `colour[n]` is a proper colouring of the graph with `n_colours` colours (sites of one colour do not interact).
    `colour_order` and `site_order` group the sites for sweeps colour by colour and from 0 to n - 1.
    """

    bias: Float[Array, " n"]
    couplings: Couplings
    constant: Float[Array, ""]
    colour: Int[Array, " n"]
    colour_order: SweepOrder
    site_order: SweepOrder
    n_colours: int

    @classmethod
    def of(cls, bias: np.ndarray, couplings: Couplings, constant: float = 0.0, colour=None) -> Ising:
        """Build from host arrays; the graph is coloured unless a proper `colour[n]` is given."""
        if colour is None:
            colour = couplings.colour()
        bias = np.asarray(bias, np.float32)
        colour = np.asarray(colour, np.int32)
        orders = couplings.order_of_colours(colour), couplings.order_of_sites()
        return cls(bias, couplings, np.float32(constant), colour, *orders, int(colour.max(initial=0)) + 1)

    @classmethod
    def from_edges(cls, bias, i, j, w, constant: float = 0.0, layout: str = "auto") -> Ising:
        """0/1 model from edges (each once; repeated ones add up). `layout` is auto, sparse or dense.

        Auto chooses dense where more than an eighth of all pairs interact.
        """
        n = len(bias)
        i, j, w = merge_edges(i, j, w)
        dense = layout == "dense" or (layout == "auto" and len(i) * 16 > n * (n - 1))
        couplings: Couplings = SparseCouplings.from_edges(n, i, j, w)
        return cls.of(bias, to_dense(couplings) if dense else couplings, constant)

    @classmethod
    def from_spin(cls, h, i, j, J, constant: float = 0.0, layout: str = "auto") -> Ising:
        """Model of log p(s) = h.s + sum_{edges} J_ij s_i s_j + constant over s in {-1, 1}, as 0/1 model.

        With s = 2x - 1: w = 4 J, b_i = 2 h_i - 2 sum_j J_ij, constant' = constant + sum J - sum h, so that
        log Z agrees exactly.
        """
        bias, w, shift = spin_to_binary(h, i, j, J)
        return cls.from_edges(bias, i, j, w, constant + shift, layout)

    @property
    def n(self) -> int:
        """Number of sites."""
        return self.bias.shape[0]

    @property
    def card(self) -> tuple[int, ...]:
        """Number of states of each site."""
        return (2,) * self.n

    @property
    def space(self) -> Space:
        """Two-state variables."""
        return Space.binary_of(self.n)

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Sides of the lattice, or None for a graph without a regular layout."""
        return self.couplings.sides

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """b.x + sum_{i<j} w_ij x_i x_j + constant."""
        return self.couplings.log_weight(self.bias, x.astype(jnp.float32)) + self.constant

    def local_field(self, x: Int8[Array, " n"]) -> Float[Array, " n"]:
        """b_i + sum_j w_ij x_j: log-odds of x_i = 1 given the rest."""
        return self.bias + self.couplings.field(x.astype(jnp.float32))

    def conditional_logits(self, x: Int8[Array, " n"]) -> Float[Array, "n 2"]:
        """log p(x_i = k given the rest), but for a constant of each i."""
        return binary_logits(self.local_field(x))

    def blocks(self) -> list[np.ndarray]:
        """Sites of each colour: the sites of one block are independent given the others."""
        return [np.flatnonzero(np.asarray(self.colour) == c) for c in range(self.n_colours)]

    def pairwise(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(bias, i, j, w) as float64 host arrays, each edge once."""
        i, j, w = self.couplings.edges()
        return np.asarray(self.bias, np.float64), i, j, np.asarray(w, np.float64)

    def pairs(self) -> Int[np.ndarray, "m 2"]:
        """The edges, each once."""
        return np.stack(self.pairwise()[1:3], 1)

    def to_spin(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]:
        """(h, i, j, J, constant) of the spin form, float64, constant included: J = w/4, h_i = b_i/2 + sum_j w_ij/4."""
        bias, i, j, w = self.pairwise()
        h = bias / 2
        np.add.at(h, i, w / 4)
        np.add.at(h, j, w / 4)
        constant = float(self.constant) + bias.sum() / 2 + w.sum() / 4
        return h, i, j, w / 4, constant

    def as_layout(self, layout: str) -> Ising:
        """The same model with couplings stored as `sparse` or `dense`."""
        couplings = to_dense(self.couplings) if layout == "dense" else to_sparse(self.couplings)
        return Ising.of(self.bias, couplings, self.constant, self.colour)


def merge_edges(i, j, w) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Each undirected edge once with i < j, weights of repeated edges added, in order of (i, j)."""
    i, j, w = np.asarray(i, np.int64), np.asarray(j, np.int64), np.asarray(w, np.float64)
    low, high = np.minimum(i, j), np.maximum(i, j)
    if not len(low):
        return low, high, w
    n = int(high.max()) + 1
    pairs, inverse = np.unique(low * n + high, return_inverse=True)
    total = np.zeros(len(pairs))
    np.add.at(total, inverse, w)
    return pairs // n, pairs % n, total


def spin_to_binary(h, i, j, J) -> tuple[np.ndarray, np.ndarray, float]:
    """(bias, w, constant) of the 0/1 form of a spin model, in float64."""
    h, J = np.asarray(h, np.float64), np.asarray(J, np.float64)
    bias = 2 * h
    np.add.at(bias, np.asarray(i), -2 * J)
    np.add.at(bias, np.asarray(j), -2 * J)
    return bias, 4 * J, float(J.sum() - h.sum())


__all__ = ["Ising", "DenseCouplings", "ShiftCouplings", "SparseCouplings", "merge_edges", "spin_to_binary"]

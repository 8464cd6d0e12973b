"""A binary pairwise target as continuous: z | s ~ N(B's, I), p(s_i = 1 | z) = sigmoid((B z)_i + c_i).

With W + D = B B' and c = a - d / 2 the joint law is exp(-z'z / 2 + s'(B z + c)): the couplings have vanished, the s_i
are independent given z, and summed away they leave log p(z) = -z'z / 2 + sum_i softplus((B z)_i + c_i) + const (Zhang,
Sutton, Storkey and Ghahramani 2012, section 3, with A = B^-1).
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Float, Int8

from pmpviz.models.couplings import Couplings
from pmpviz.models.gaussian import maps, shifts, states
from pmpviz.models.gaussian.states import StateRelaxation
from pmpviz.models.ising import Ising
from pmpviz.models.rbm import GaussianRBM, LayeredModel
from pmpviz.types import Evidence, Refusal, Target, pytree

MAPS = ("auto", "edges", "eigen", "cholesky", "low_rank", "banded", "layers")
SHIFTS = ("uniform", "least_trace", "rows")


def clamped_mean(evidence: Evidence, field: Float[Array, "n t"]) -> Float[Array, "n t"]:
    """sigmoid(field), of a clamped variable its value."""
    return jnp.where(evidence.mask[:, None], evidence.value[:, None].astype(jnp.float32), jax.nn.sigmoid(field))


def clamped_choice(evidence: Evidence, field: Float[Array, "n t"], u: Float[Array, "n t"]) -> Int8[Array, "n t"]:
    """1 where u < sigmoid(field); clamped variables at their values."""
    drawn = (u * (1.0 + jnp.exp(-field)) < 1.0).astype(jnp.int8)
    return jnp.where(evidence.mask[:, None], evidence.value[:, None], drawn)


@pytree
class Relaxation:
    """`bias[n]` is c at beta; `map` is B; `root[m]` are the square roots of B'B's eigenvalues where its columns are
    orthogonal, ones elsewhere."""

    bias: Float[Array, " n"]
    map: Any
    root: Float[Array, " m"]

    @property
    def m(self) -> int:
        """How many Gaussians there are."""
        return self.map.m

    def field(self, z: Float[Array, "m t"]) -> Float[Array, "n t"]:
        """(B z)_i + c_i: the log-odds of s_i = 1 given z."""
        return self.map.forward(z) + self.bias[:, None]

    def indicator(self, x: Int8[Array, "n t"]) -> Float[Array, "n t"]:
        """Configurations as what the couplings multiply."""
        return x.astype(jnp.float32)

    def choose(self, evidence: Evidence, field: Float[Array, "n t"], u: Float[Array, "n t"]) -> Int8[Array, "n t"]:
        """s_i = 1 where u < sigmoid(field_i); clamped variables at their values."""
        return clamped_choice(evidence, field, u)

    def by_chains(self, mean: Float[Array, "n t"]) -> Float[Array, "t n"]:
        """Means as `Algorithm.expected_tile` gives them."""
        return mean.T

    def shown(self, field: Float[Array, "n t"]) -> Float[Array, "n t"]:
        """One number a variable: its log-odds."""
        return field

    def mean(self, evidence: Evidence, field: Float[Array, "n t"]) -> Float[Array, "n t"]:
        """p(s_i = 1 | z), of a clamped variable its value."""
        return clamped_mean(evidence, field)

    def summed(self, evidence: Evidence, field: Float[Array, "n t"]) -> Float[Array, "n t"]:
        """log sum_{s_i} exp(s_i field_i): softplus, of a clamped variable its value times the field."""
        held = evidence.value[:, None] * field
        return jnp.where(evidence.mask[:, None], held, jax.nn.softplus(field))


@pytree
class ThreeLayers:
    """A machine of two layers whose visible couplings alone are relaxed (Martens and Sutskever 2010, section 3.5).

    `visible` is the relaxation of the visible layer, `weight[h, v]` and `hidden_bias[h]` are at beta.
    """

    visible: Relaxation
    weight: Float[Array, "h v"]
    hidden_bias: Float[Array, " h"]

    @property
    def m(self) -> int:
        """How many Gaussians there are."""
        return self.visible.m

    def hidden_field(self, v: Float[Array, "v t"]) -> Float[Array, "h t"]:
        """The log-odds of the hidden units given the visible layer."""
        return self.weight @ v.astype(jnp.float32) + self.hidden_bias[:, None]

    def visible_field(self, z: Float[Array, "m t"], h: Float[Array, "h t"]) -> Float[Array, "v t"]:
        """The log-odds of the visible units given the Gaussians and the hidden layer."""
        return self.visible.field(z) + self.weight.T @ h.astype(jnp.float32)


def relax(
    target: Target, form: str = "auto", shift: str = "uniform", eps: float = 0.0
) -> Relaxation | StateRelaxation | ThreeLayers:
    """The relaxation of a pairwise target by a map of `MAPS` and a shift of `SHIFTS`; on the host.

    `auto` is the three layers of a layered model, the edge form where few sites interact, and the eigenvectors
    elsewhere. `edges` has the shift of the rows whatever is asked. Raises Refusal where a map does not fit the model.
    """
    model, beta = target.model, float(target.beta)
    if not isinstance(model, Ising):
        return _of_states(target, form, shift, eps)
    layered = isinstance(model, LayeredModel)
    form = _automatic(model) if form == "auto" else form
    if form == "layers":
        if not layered:
            raise Refusal("three layers need a model with a visible and a hidden layer; choose another map")
        return _three_layers(model, beta, shift, eps)
    bias = beta * np.asarray(model.bias, np.float64)
    if form == "edges":
        return _edge_form(model.couplings, bias, beta)
    return _shifted(_matrix(model.couplings, form, beta), bias, form, shift, eps)


def _of_states(target: Target, form: str, shift: str, eps: float) -> StateRelaxation:
    """That of the indicators of K states; `auto` is the eigenvectors up to 1,024 of them, else the edge form."""
    space = target.model.space
    if form == "auto":
        form = "eigen" if space.n * space.states <= maps.MOST_DENSE else "edges"
    if form in ("layers", "banded"):
        raise Refusal("of more than two states there are the maps edges, eigen, cholesky and low_rank; choose one")
    matrix, bias = states.couplings_of(target, centred=form != "edges")
    if form == "edges":
        found, d = states.edge_map(matrix)
        return StateRelaxation((bias - d / 2).astype(np.float32), found, np.ones(found.m, np.float32), space.mask)
    maps.check_dense(len(bias))
    flat = _shifted(matrix.toarray(), bias, form, shift, eps)
    return StateRelaxation(flat.bias, flat.map, flat.root, space.mask)


def _automatic(model) -> str:
    if isinstance(model, LayeredModel):
        return "layers"
    return "edges" if model.couplings.form == "lists" else "eigen"


def _matrix(couplings: Couplings, form: str, beta: float):
    """W at beta: sparse for the banded factor, whose bands do not depend on the weights; else dense."""
    if form != "banded":
        if form != "low_rank":
            maps.check_dense(couplings.n)
        return beta * np.asarray(couplings.matrix(), np.float64)
    if couplings.form != "lists":
        raise Refusal("a banded factor needs a graph in which few sites interact; choose another map")
    i, j, w = _all_edges(couplings)
    both = np.concatenate([i, j]), np.concatenate([j, i])
    return scipy.sparse.coo_array((np.tile(beta * w, 2), both), shape=(couplings.n,) * 2).tocsr()


def _shifted(matrix, bias: Float[np.ndarray, " n"], form: str, shift: str, eps: float) -> Relaxation:
    sparse = scipy.sparse.issparse(matrix)
    if shift == "rows":
        d = (1.0 + eps) * shifts.row_shift(matrix)
    elif shift == "least_trace":
        maps.check_dense(len(bias))
        d = shifts.least_trace_shift(matrix.toarray() if sparse else matrix, eps)
    else:
        d = shifts.uniform_shift(matrix, eps)
    return relax_by(matrix, bias, d, form)


def relax_by(matrix, bias: Float[np.ndarray, " n"], d: Float[np.ndarray, " n"], form: str = "eigen") -> Relaxation:
    """The relaxation of W = `matrix` and a = `bias` (both at beta) under the shift d, by a map of the whole matrix."""
    root = None
    if form == "banded":
        # The factor needs a definite matrix: a millionth more than what may be the least shift.
        d = d + 1e-6 * (np.abs(d).max(initial=0.0) or 1.0)
        found: Any = maps.BandedMap.of(matrix + scipy.sparse.diags_array(d))
    elif form == "cholesky":
        found = maps.cholesky_map(matrix + np.diag(d))
    elif form == "low_rank":
        found = maps.low_rank_map(matrix + np.diag(d))
    else:
        found, values = maps.eigen_map(matrix + np.diag(d))
        root = np.sqrt(values)
    root = np.ones(found.m) if root is None else root
    return Relaxation((bias - d / 2).astype(np.float32), found, root.astype(np.float32))


def _edge_form(couplings: Couplings, bias: Float[np.ndarray, " n"], beta: float) -> Relaxation:
    i, j, w = _all_edges(couplings)
    d = np.zeros(couplings.n)
    np.add.at(d, i, np.abs(beta * w))
    np.add.at(d, j, np.abs(beta * w))
    if getattr(couplings, "shifts", ()):  # Neighbours a fixed way apart: planes that are rolled.
        found: Any = maps.EdgePlanes.of(couplings, beta)
    else:
        found = maps.EdgeList.of(couplings.n, i, j, beta * w)
    return Relaxation((bias - d / 2).astype(np.float32), found, np.ones(found.m, np.float32))


def _all_edges(couplings: Couplings) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every edge that there may come to be, so that other weights change no shape; each once, w in float64."""
    if couplings.form == "lists":
        i, j, w = couplings.edges()
        return i, j, np.asarray(w, np.float64)
    i, j = np.triu_indices(couplings.n, 1)
    visible = getattr(couplings, "visible", None)
    if visible is not None:
        keep = i < visible if getattr(couplings, "lateral", None) is not None else (i < visible) & (j >= visible)
        i, j = i[keep], j[keep]
    return i, j, np.asarray(couplings.matrix(), np.float64)[i, j]


def _three_layers(model: LayeredModel, beta: float, shift: str, eps: float) -> ThreeLayers:
    lateral, bias = model.couplings.lateral, beta * np.asarray(model.visible_bias, np.float64)
    if lateral is None:
        none = maps.DenseMap(np.zeros((model.visible, 0), np.float32))
        visible = Relaxation(bias.astype(np.float32), none, np.ones(0, np.float32))
    else:
        maps.check_dense(model.visible)
        visible = _shifted(beta * np.asarray(lateral, np.float64), bias, "eigen", shift, eps)
    weight, hidden_bias = (beta * np.asarray(part, np.float64) for part in (model.weight, model.hidden_bias))
    return ThreeLayers(visible, weight.astype(np.float32), hidden_bias.astype(np.float32))


def own_layers(model: GaussianRBM) -> ThreeLayers:
    """The three layers of a machine that has its Gaussians: B = F', D = diag(F'F); its parameters may be traced."""
    own = Relaxation(model.own_bias, maps.DenseMap(model.factor.T), jnp.ones(len(model.factor)))
    return ThreeLayers(own, model.weight, model.hidden_bias)


__all__ = [
    "MAPS",
    "SHIFTS",
    "Relaxation",
    "StateRelaxation",
    "ThreeLayers",
    "clamped_choice",
    "clamped_mean",
    "own_layers",
    "relax",
    "relax_by",
]

"""Variables of K states as continuous: each is K indicators of which one is 1 (Martens and Sutskever 2010, 3.4).

With W the log tables over all indicators the rest is as for two states, a softmax in place of each sigmoid.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, Bool, Float, Int8

from pmpviz.models.gaussian import maps
from pmpviz.models.tables import TableModel
from pmpviz.types import Evidence, Target, pytree


@pytree
class StateRelaxation:
    """As `Relaxation`, over the n K indicators: `bias[n k]` is c at beta, `mask[n, k]` says which states exist."""

    bias: Float[Array, " nk"]
    map: Any
    root: Float[Array, " m"]
    mask: Bool[Array, "n k"]

    @property
    def m(self) -> int:
        """How many Gaussians there are."""
        return self.map.m

    def field(self, z: Float[Array, "m t"]) -> Float[Array, "nk t"]:
        """B z + c: log p(x_i = k | z) but for a constant of each i."""
        return self.map.forward(z) + self.bias[:, None]

    def indicator(self, x: Int8[Array, "n t"]) -> Float[Array, "nk t"]:
        """Configurations as indicators."""
        states = jnp.arange(self.mask.shape[1], dtype=jnp.int8)[:, None]
        return (x[:, None] == states).astype(jnp.float32).reshape(-1, x.shape[-1])

    def logits(self, field: Float[Array, "nk t"]) -> Float[Array, "n k t"]:
        """The fields by variables, -inf where a state does not exist."""
        return jnp.where(self.mask[..., None], field.reshape(*self.mask.shape, -1), -jnp.inf)

    def mean(self, evidence: Evidence, field: Float[Array, "nk t"]) -> Float[Array, "nk t"]:
        """p(x_i = k | z), of a clamped variable its indicators."""
        held = self.indicator(evidence.value[:, None]).reshape(*self.mask.shape, 1)
        p = jnp.where(evidence.mask[:, None, None], held, jax.nn.softmax(self.logits(field), axis=1))
        return p.reshape(field.shape)

    def summed(self, evidence: Evidence, field: Float[Array, "nk t"]) -> Float[Array, "n t"]:
        """log sum_k exp(field_ik), of a clamped variable the field of its state."""
        held = (self.indicator(evidence.value[:, None]) * field).reshape(*self.mask.shape, -1).sum(1)
        return jnp.where(evidence.mask[:, None], held, jax.nn.logsumexp(self.logits(field), axis=1))

    def choose(self, evidence: Evidence, field: Float[Array, "nk t"], u: Float[Array, "n t"]) -> Int8[Array, "n t"]:
        """The state at which the sum of the probabilities passes u; clamped variables at their values."""
        passed = jnp.cumsum(jax.nn.softmax(self.logits(field), axis=1), axis=1) <= u[:, None]
        last = self.mask.sum(1)[:, None] - 1
        x = jnp.minimum(passed.sum(1), last).astype(jnp.int8)
        return jnp.where(evidence.mask[:, None], evidence.value[:, None], x)

    def by_chains(self, mean: Float[Array, "nk t"]) -> Float[Array, "t n k"]:
        """Means as `Algorithm.expected_tile` gives them."""
        return jnp.moveaxis(mean.reshape(*self.mask.shape, -1), -1, 0)

    def shown(self, field: Float[Array, "nk t"]) -> Float[Array, "n t"]:
        """One number a variable: the log-odds of state 1 against state 0, 0 where there is only one."""
        by_states = field.reshape(*self.mask.shape, -1)
        return jnp.where(self.mask[:, 1, None], by_states[:, 1] - by_states[:, 0], 0.0)


def as_tables(model: Any) -> TableModel | None:
    """The tables of a model of K states that keeps them, or of one that interacts in pairs; None for others."""
    if isinstance(model, TableModel):
        return model
    return model.to_tables() if hasattr(model, "interactions") else None


def why_not_tables(target: Target) -> str | None:
    """Why the indicators of a target of tables have no couplings in pairs, or None."""
    tables = as_tables(target.model)
    if tables is None:
        return "factors of at most two variables are needed"
    if not np.isfinite(np.asarray(tables.values)).all():
        return "a factor forbids a state, which no couplings can say"
    most = max((len(scope) for scope, _ in _free(tables, target.evidence)), default=0)
    return None if most <= 2 else f"factors of at most two free variables are needed; this model has one of {most}"


def _free(tables: TableModel, evidence: Evidence):
    """The factors; of more than two variables what the clamped ones leave of them."""
    mask, value = np.asarray(evidence.mask), np.asarray(evidence.value)
    for scope, table in tables.factors:
        if len(scope) > 2:
            table = table[tuple(int(value[v]) if mask[v] else slice(None) for v in scope)]
            scope = tuple(v for v in scope if not mask[v])
        yield scope, table


def couplings_of(target: Target, centred: bool) -> tuple[scipy.sparse.csr_array, Float[np.ndarray, " nk"]]:
    """(W, a) over the indicators at beta. `centred` moves the tables' row and column means into a, for a least W."""
    tables, space, beta = as_tables(target.model), target.model.space, float(target.beta)
    assert tables is not None
    k, bias = space.states, np.zeros(space.n * space.states)
    rows, columns, weights = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros(0)]
    for scope, table in _free(tables, target.evidence):
        places = [v * k + np.arange(size) for v, size in zip(scope, table.shape, strict=True)]
        if len(scope) == 1:
            bias[places[0]] += beta * table
        elif len(scope) == 2:
            if centred:
                one, two = table.mean(1) - table.mean(), table.mean(0)
                bias[places[0]] += beta * one
                bias[places[1]] += beta * two
                table = table - one[:, None] - two
            grid = np.meshgrid(*places, indexing="ij")
            rows, columns = [*rows, grid[0].ravel(), grid[1].ravel()], [*columns, grid[1].ravel(), grid[0].ravel()]
            weights += [beta * table.ravel()] * 2
    held = np.concatenate(weights), (np.concatenate(rows), np.concatenate(columns))
    return scipy.sparse.coo_array(held, shape=(len(bias),) * 2).tocsr(), bias


def edge_map(matrix: scipy.sparse.csr_array) -> tuple[maps.EdgeList, Float[np.ndarray, " nk"]]:
    """One Gaussian a pair of indicators that interact, and the shift of the rows."""
    upper = scipy.sparse.coo_array(scipy.sparse.triu(matrix, 1))
    d = np.asarray(np.abs(matrix).sum(1), np.float64).reshape(-1)
    return maps.EdgeList.of(matrix.shape[0], upper.row, upper.col, upper.data), d


__all__ = ["StateRelaxation", "as_tables", "couplings_of", "edge_map", "why_not_tables"]

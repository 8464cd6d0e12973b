"""Factors of any number of variables as each variable reads them: what a sweep from its conditionals needs."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.models.couplings.colouring import colouring
from pmpviz.models.couplings.lists import by_groups
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.order import SweepOrder, levels_of
from pmpviz.models.tables import TableModel
from pmpviz.types import Target, pytree

# Numbers that are listed of all variables, and pairs of variables of one factor, parallel ones counted.
MAX_LISTED = 1 << 24


class Rows(NamedTuple):
    """Factor f at x is `values[offset[f] + sum_k stride[f, k] x[variable[f, k]]]`; `arity[f]` of its variables count.

    Those beyond are variable 0 with stride 0.
    """

    values: Float[np.ndarray, " entries"]
    variable: Int[np.ndarray, "f k"]
    stride: Int[np.ndarray, "f k"]
    offset: Int[np.ndarray, " f"]
    arity: Int[np.ndarray, " f"]

    @classmethod
    def of(cls, model: TableModel | FactorGraph) -> Rows:
        """The factors of a model; logical factors go by the number of their variables that are 1."""
        if isinstance(model, TableModel):
            found = (np.asarray(model.variable), np.asarray(model.stride), np.asarray(model.offset))
            return cls(np.asarray(model.values), *found, np.asarray(model.arity))
        own = np.asarray(model.unary)
        sites = np.arange(model.n)[:, None]
        parts = [(own.reshape(-1), own.shape[1] * sites[:, 0], np.ones(1, int))]
        parts += [group.strided() for group in model.groups]
        scopes = [sites, *(np.asarray(group.scope) for group in model.groups)]
        most = max(scope.shape[1] for scope in scopes)
        starts = np.cumsum([0, *(len(values) for values, _, _ in parts)])
        strides = [np.broadcast_to(stride, scope.shape) for (_, _, stride), scope in zip(parts, scopes, strict=True)]
        return cls(
            np.concatenate([values for values, _, _ in parts]),
            np.concatenate([_widened(scope, most) for scope in scopes]),
            np.concatenate([_widened(stride, most) for stride in strides]),
            np.concatenate([first + start for (_, first, _), start in zip(parts, starts[:-1], strict=True)]),
            np.concatenate([np.full(len(scope), scope.shape[1]) for scope in scopes]),
        )

    @property
    def counts(self) -> Bool[np.ndarray, "f k"]:
        """Which variables count."""
        return np.arange(self.variable.shape[1]) < self.arity[:, None]

    def listed(self, n: int) -> int:
        """The larger of the numbers that are listed of n variables and the pairs that share a factor."""
        degree = np.bincount(self.variable[self.counts], minlength=n).max(initial=0)
        return max(n * int(degree) * self.variable.shape[1], int((self.arity.astype(np.int64) ** 2).sum()) // 2)

    def pairs(self, n: int) -> tuple[Int[np.ndarray, " p"], Int[np.ndarray, " p"]]:
        """Variables i < j that share a factor, each pair once."""
        codes = [np.zeros(0, np.int64)]
        for arity in np.unique(self.arity):
            scope = np.sort(self.variable[self.arity == arity, :arity].astype(np.int64), axis=1)
            low, high = np.triu_indices(arity, 1)
            codes.append(np.unique(scope[:, low] * n + scope[:, high]))
        return np.divmod(np.unique(np.concatenate(codes)), max(n, 1))


def _widened(rows: Int[np.ndarray, "f k"], width: int) -> Int[np.ndarray, "f w"]:
    return np.pad(rows, ((0, 0), (0, width - rows.shape[1])))


@pytree
class SiteFactors:
    """Of every variable i its factors: in the d-th of them the log potential of x_i = k is

    values[base[i, d] + step[i, d] k + sum_a stride[i, d, a] x[other[i, d, a]]],

    where `counts[i, d]`. The orders group the variables for sweeps, as of an Ising model: no two of a group share a
    factor. Its shapes depend on the sizes and the topology alone.
    """

    values: Float[Array, " entries"]
    base: Int[Array, "n d"]
    step: Int[Array, "n d"]
    other: Int[Array, "n d a"]
    stride: Int[Array, "n d a"]
    counts: Bool[Array, "n d"]
    colour_order: SweepOrder
    site_order: SweepOrder

    @classmethod
    def of(cls, n: int, rows: Rows) -> SiteFactors:
        """Of the factors of n variables (on the host)."""
        factor, place = np.nonzero(rows.counts)
        site, width = rows.variable[factor, place], max(rows.variable.shape[1], 1)
        degree = np.bincount(site, minlength=n)
        order = np.argsort(site, kind="stable")
        rank = np.empty(len(site), np.int64)
        rank[order] = np.arange(len(site)) - np.repeat(np.cumsum(degree) - degree, degree)
        columns = np.array([[c for c in range(width) if c != own] for own in range(width)], np.int64)[place]
        held = {
            "base": rows.offset[factor],
            "step": rows.stride[factor, place],
            "other": np.take_along_axis(rows.variable[factor], columns, 1),
            "stride": np.take_along_axis(rows.stride[factor], columns, 1),
            "counts": np.ones(len(site), bool),
        }
        listed = {name: _by_site(part, n, site, rank) for name, part in held.items()}
        i, j = rows.pairs(n)
        colour = np.unique(colouring(n, i, j), return_inverse=True)[1]
        orders = SweepOrder.of_levels(colour), SweepOrder.of_levels(levels_of(n, i, j))
        values = rows.values if len(rows.values) else np.zeros(1)
        return cls(values, **listed, colour_order=orders[0], site_order=orders[1])

    def sweep(self, target: Target, draw, order: SweepOrder, x: Int8[Array, "slot t"], first=0, last=None):
        """Draw every site i with first <= i < last (all where None) in this order, group by group; x is by slots.

        `draw(site[w], logits)` is asked for new states, from K logits [w, t] at the target's beta. Clamped sites take
        their values.
        """
        of_sites = {
            "base": jnp.asarray(self.base),
            "step": jnp.asarray(self.step),
            "slot": jnp.asarray(order.slot)[self.other],
            "stride": jnp.asarray(self.stride),
            "counts": jnp.asarray(self.counts),
            "exists": jnp.asarray(target.model.space.mask),
            "mask": target.evidence.mask,
            "value": target.evidence.value,
        }
        rows = {name: order.by_groups(part) for name, part in of_sites.items()}

        def new(row, x):
            logits = self._logits(row, x, target.beta)
            return draw(row["site"], [logits[:, state] for state in range(logits.shape[1])])

        return by_groups(order, {"site": jnp.asarray(order.site), **rows}, new, x, first, last)

    def _logits(self, row, x: Int8[Array, "slot t"], beta: Float[Array, ""]) -> Float[Array, "w k t"]:
        values, states = jnp.asarray(self.values, jnp.float32), row["exists"].shape[1]
        first = row["base"][..., None] + (row["stride"][..., None] * x[row["slot"]]).sum(2)
        place = first[:, :, None] + row["step"][:, :, None, None] * jnp.arange(states)[:, None]
        entries = jnp.take(values, place, mode="clip")
        total = jnp.where(row["counts"][:, :, None, None], entries, 0.0).sum(1)
        allowed = row["exists"][..., None] & ~jnp.isneginf(total)
        return jnp.where(allowed, beta * jnp.where(allowed, total, 0.0), -jnp.inf)


def _by_site(rows: np.ndarray, n: int, site: Int[np.ndarray, " m"], rank: Int[np.ndarray, " m"]) -> np.ndarray:
    """Rows as [n, d, ...], by the variable that each belongs to and its number there; 0 where there is none."""
    found = np.zeros((n, int(rank.max(initial=0)) + 1, *rows.shape[1:]), bool if rows.dtype == bool else np.int32)
    found[site, rank] = rows
    return found


__all__ = ["MAX_LISTED", "Rows", "SiteFactors"]

"""Layouts of few neighbours a site: what follows from neighbour lists, and sweeps in groups that do not interact."""

from __future__ import annotations

import math
from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz.models.couplings.base import Couplings
from pmpviz.models.order import SweepOrder, levels_of

UNROLLED_GROUPS = 8
UNROLLED_NEIGHBOURS = 24


class ListCouplings(Couplings):
    """Couplings by `neighbour_lists`: a sweep visits the colours, or the levels of the graph, group by group."""

    form = "lists"

    def field(self, x: Float[Array, " n"]) -> Float[Array, " n"]:
        """sum_j w_ij x_j for every site i."""
        neighbour, weight = self.neighbour_lists()
        return (weight * jnp.take(x, neighbour)).sum(1)

    def matrix(self) -> Float[Array, "n n"]:
        """The symmetric matrix of all couplings; parallel edges add up."""
        neighbour, weight = self.neighbour_lists()
        return jnp.zeros((self.n, self.n)).at[jnp.arange(self.n)[:, None], neighbour].add(weight)

    def order_of_sites(self) -> SweepOrder:
        """The order 0, ..., n - 1, level by level (see `levels_of`)."""
        return SweepOrder.of_levels(self.levels())

    def levels(self) -> Int[np.ndarray, " n"]:
        """The level of every site (see `levels_of`)."""
        return levels_of(self.n, *self.edges()[:2])

    def order_of_colours(self, colour: Int[np.ndarray, " n"]) -> SweepOrder:
        """Colour after colour."""
        return SweepOrder.of_levels(np.unique(colour, return_inverse=True)[1])

    def sweep(self, conditionals, order, x, first=0, last=None):
        """Group after group, the sites of a group at once."""

        def draw(row, x):
            return conditionals.draw(conditionals.numbers(row["site"]), _gathered_field(x, row))

        return by_groups(order, self._rows(conditionals, order), draw, x, first, last)

    def _rows(self, conditionals, order) -> dict[str, Array]:
        """What each group needs, by slots: sites, fields at beta, neighbours' slots and weights at beta, evidence."""
        groups, width = order.site.shape
        neighbour, weight = self.neighbour_lists()
        real = order.site < self.n
        beta = conditionals.beta
        return {
            "site": order.site,
            "bias": beta * order.spread(conditionals.bias).reshape(groups, width),
            "slot": order.spread(jnp.asarray(order.slot)[neighbour]).reshape(groups, width, -1),
            # Empty slots hear nobody.
            "weight": beta * jnp.where(real[..., None], order.spread(weight).reshape(groups, width, -1), 0.0),
            "mask": order.spread(conditionals.mask).reshape(groups, width),
            "value": order.spread(conditionals.value).reshape(groups, width),
        }

    @property
    def bond_places(self) -> int:
        """Every entry of the weights."""
        return math.prod(self.weight.shape)

    @property
    def bond_counters(self) -> int:
        """One for every entry of the weights."""
        return math.prod(self.weight.shape)


def by_groups(order: SweepOrder, rows: Mapping[str, Array], draw, x: Int8[Array, "slot t"], first=0, last=None):
    """x after `draw(row, x)` of every site i with first <= i < last (all where None), group after group.

    `rows` hold by groups what `draw` reads and `site`, `mask` and `value`: clamped sites take their values.
    """
    groups, width = order.site.shape

    def update(group, x):
        row = {name: jnp.asarray(values)[group] for name, values in rows.items()}
        new = draw(row, x).astype(x.dtype)
        new = jnp.where(row["mask"][:, None], row["value"][:, None], new)
        start = (group * width, 0)
        if last is not None:
            due = (row["site"] >= first) & (row["site"] < last)
            new = jnp.where(due[:, None], new, jax.lax.dynamic_slice(x, start, new.shape))
        return jax.lax.dynamic_update_slice(x, new, start)

    if groups <= UNROLLED_GROUPS:
        for group in range(groups):
            x = update(group, x)
        return x
    return jax.lax.fori_loop(0, groups, update, x)


def _gathered_field(x, row) -> Float[Array, "w t"]:
    if row["slot"].shape[1] > UNROLLED_NEIGHBOURS:
        return row["bias"][:, None] + (row["weight"][..., None] * x[row["slot"]]).sum(1)
    field = row["bias"][:, None]
    for slot, weight in zip(row["slot"].T, row["weight"].T, strict=True):
        field = field + weight[:, None] * jnp.take(x, slot, axis=0, mode="clip").astype(jnp.float32)
    return field


__all__ = ["ListCouplings", "by_groups"]

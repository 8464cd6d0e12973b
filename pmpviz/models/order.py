"""Orders in which the sites of a graph are visited, as groups of sites that do not interact."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from pmpviz.types import pytree

GROUP_COST = 16


@pytree
class SweepOrder:
    """Groups of sites to be updated one group after another.

    `site[g, w]` is the site in each slot, n where the slot is empty; `slot[i]` is the flat slot g * w + k of site i.
    No two sites of a group interact, except in a dense or a layered model, which has one group in the order of its
    updates.
    """

    site: Int[Array, "g w"]
    slot: Int[Array, " n"]

    @classmethod
    def of_levels(cls, level: Int[np.ndarray, " n"]) -> SweepOrder:
        """Groups in order of rising `level`, none with sites of two levels, of the width that costs least."""
        n = len(level)
        sizes = np.bincount(level) if n else np.ones(1, np.int64)
        sizes = sizes[sizes > 0]
        width = _width(sizes)
        groups = -(-sizes // width)
        first_slot = (np.cumsum(groups) - groups) * width
        first_rank = np.cumsum(sizes) - sizes
        order = np.argsort(level, kind="stable")
        slot = np.empty(n, np.int64)
        slot[order] = np.arange(n) + np.repeat(first_slot - first_rank, sizes)[:n]
        site = np.full(groups.sum() * width, n)
        site[slot] = np.arange(n)
        return cls(site.reshape(-1, width).astype(np.int32), slot.astype(np.int32))

    @classmethod
    def one_group(cls, order: Int[np.ndarray, " n"]) -> SweepOrder:
        """All sites in one group, in this order."""
        slot = np.empty(len(order), np.int32)
        slot[order] = np.arange(len(order))
        return cls(order[None].astype(np.int32), slot)

    def by_groups(self, rows: Array) -> Array:
        """Rows [n, ...] of the sites as rows [g, w, ...] of the slots of each group; empty slots repeat some row."""
        return self.spread(rows).reshape(*self.site.shape, *rows.shape[1:])

    def spread(self, rows: Array) -> Array:
        """Rows [n, ...] of the sites as rows [g * w, ...] of the slots; empty slots repeat some row."""
        return jnp.asarray(rows)[jnp.minimum(self.site.reshape(-1), self.slot.shape[0] - 1)]

    def collect(self, rows: Array) -> Array:
        """Rows [g * w, ...] of the slots as rows [n, ...] of the sites."""
        return jnp.asarray(rows)[self.slot]


def levels_of(n: int, i: Int[np.ndarray, " e"], j: Int[np.ndarray, " e"]) -> Int[np.ndarray, " n"]:
    """The level of every site of the order 0, ..., n - 1: one more than that of any neighbour before it.

    Updating level by level gives what updating site by site gives, since a site hears its neighbours only.
    """
    low, high = np.minimum(i, j), np.maximum(i, j)
    level = [0] * n
    order = np.lexsort((low, high))
    for before, site in zip(low[order].tolist(), high[order].tolist(), strict=True):
        if level[site] <= level[before]:
            level[site] = level[before] + 1
    return np.array(level, np.int64)


def _width(sizes: Int[np.ndarray, " l"]) -> int:
    """Slots a group: the least of (slots + GROUP_COST for each group) over the sizes that occur."""
    cost = {int(width): int((-(-sizes // width)).sum()) * (int(width) + GROUP_COST) for width in np.unique(sizes)}
    return min(cost, key=cost.__getitem__)

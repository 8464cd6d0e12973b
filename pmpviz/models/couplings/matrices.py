"""Layouts where nearly all sites interact: what follows from the matrix of all couplings, and sweeps in panels.

Such a model has no groups of sites that do not interact. A matrix product brings the fields of a panel up to date, then
its sites follow one another with the panel's own couplings only.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pmpviz.models.couplings.base import Couplings, LeastLabel
from pmpviz.models.order import SweepOrder

SMALL = 128
PANEL = 24
BLOCK = 2
# What holds a site in a sweep: it is drawn, or it is not due and keeps its value; 0 and 1 are clamped values.
FREE, KEPT = -1.0, -2.0


class MatrixCouplings(Couplings):
    """Couplings by `matrix()`: sites are visited one after another."""

    form = "matrix"

    def possible_edges(self) -> int:
        """Every pair, whatever the weights are now."""
        return self.n * (self.n - 1) // 2

    def neighbour_lists(self) -> tuple[Int[Array, "n n"], Float[Array, "n n"]]:
        """(neighbour, weight): every site hears all, itself with weight 0."""
        return jnp.broadcast_to(jnp.arange(self.n, dtype=jnp.int32), (self.n, self.n)), self.matrix()

    @property
    def message_tile(self) -> int:
        """Of all but small models one chain's messages fill the cache."""
        return 16 if self.n <= SMALL else 1

    @staticmethod
    def _largest(change: Float[Array, "... t"]) -> Float[Array, " t"]:
        # Floats that are not negative are in the order of their bits, and the largest of whole numbers is found several
        # times faster on a CPU where few chains lie side by side. A NaN is above all others, as in `max`.
        bits = jax.lax.bitcast_convert_type(jnp.abs(change), jnp.int32)
        return jax.lax.bitcast_convert_type(bits.reshape(-1, bits.shape[-1]).max(0), jnp.float32)

    def order_of_sites(self) -> SweepOrder:
        """One group, in the order 0, ..., n - 1."""
        return SweepOrder.one_group(np.arange(self.n))

    def order_of_colours(self, colour: Int[np.ndarray, " n"]) -> SweepOrder:
        """One group, colour after colour."""
        return SweepOrder.one_group(np.argsort(colour, kind="stable"))

    def sweep(self, conditionals, order, x, first=0, last=None):
        """Panel after panel."""
        site = order.site[0]
        weight, bias, site, forced = self._padded(conditionals, site, first, last)
        chains = x.shape[1]

        def panel(index, x):
            start = index * PANEL
            rows = jax.lax.dynamic_slice(weight, (start, 0), (PANEL, weight.shape[1]))
            here = jax.lax.dynamic_slice(x, (start, 0), (PANEL, chains))
            field = rows @ x + jax.lax.dynamic_slice(bias, (start,), (PANEL,))[:, None]
            u = conditionals.numbers(jax.lax.dynamic_slice(site, (start,), (PANEL,)))
            state = jax.lax.dynamic_slice(forced, (start,), (PANEL,))[:, None]
            wanted = jnp.where(state == KEPT, here, state)
            threshold = jnp.where(state == FREE, conditionals.threshold(u), jnp.where(wanted > 0, -jnp.inf, jnp.inf))
            own = jax.lax.dynamic_slice(rows, (0, start), (PANEL, PANEL))
            return jax.lax.dynamic_update_slice(x, _within_panel(own, field, threshold, here), (start, 0))

        padded = jnp.pad(x, ((0, len(site) - len(x)), (0, 0))).astype(jnp.float32)
        return jax.lax.fori_loop(0, len(site) // PANEL, panel, padded)[: len(x)].astype(x.dtype)

    def _padded(self, conditionals, site, first, last):
        """Weights and biases in the order of the updates, at beta, padded to whole panels; and what holds each site."""
        weight, bias = self.matrix()[site][:, site], conditionals.bias[site]
        mask, value = conditionals.mask, conditionals.value
        due = True if last is None else (site >= first) & (site < last)
        forced = jnp.where(due, jnp.where(mask[site], value[site].astype(jnp.float32), FREE), KEPT)
        extra = -self.n % PANEL
        return (
            conditionals.beta * jnp.pad(weight, ((0, extra), (0, extra))),
            conditionals.beta * jnp.pad(bias, (0, extra)),
            jnp.pad(site, (0, extra)),
            jnp.pad(forced, (0, extra)),
        )

    @property
    def bond_places(self) -> int:
        """Every pair."""
        return self.n * (self.n - 1) // 2

    @property
    def bond_counters(self) -> int:
        """One for every entry of the matrix."""
        return self.n**2

    def bonds(self, spin: Float[Array, "t n"], numbers, bonded, compare=jnp.multiply) -> LeastLabel:
        """The number of a pair is that of its entry above the diagonal."""
        n = spin.shape[1]
        weight, site = self.matrix(), jnp.arange(n, dtype=jnp.uint32)
        pair = jnp.minimum(site[:, None], site) * n + jnp.maximum(site[:, None], site)
        bond = bonded(weight, compare(spin[:, :, None], spin[:, None]), numbers(pair))

        def least(label):
            return jnp.minimum(label, jnp.where(bond, label[:, None], label[:, :, None]).min(2))

        return least


def _within_panel(weight, field, threshold, x) -> Float[Array, "p t"]:
    """The panel's sites in turn, BLOCK of them written out at a time."""
    shape = (BLOCK, x.shape[1])

    def block(index, carry):
        field, x = carry
        start = (index * BLOCK, 0)
        h, bar, old = (jax.lax.dynamic_slice(a, start, shape) for a in (field, threshold, x))
        columns = jax.lax.dynamic_slice(weight, (0, index * BLOCK), (PANEL, BLOCK))
        own = jax.lax.dynamic_slice(columns, start, (BLOCK, BLOCK))
        change: list[Array] = []
        for i in range(BLOCK):
            mine = h[i]
            for j, step in enumerate(change):
                mine = mine + own[i, j] * step
            change.append((mine > bar[i]).astype(x.dtype) - old[i])
        # Sums, not a matrix product: one of so few columns costs more to call than to compute. The barrier keeps the
        # changes from being worked out again in every row.
        moved = jax.lax.optimization_barrier(jnp.stack(change))
        for j in range(BLOCK):
            field = field + columns[:, j, None] * moved[j]
        return field, jax.lax.dynamic_update_slice(x, old + moved, start)

    return jax.lax.fori_loop(0, PANEL // BLOCK, block, (field, x))[1]


__all__ = ["MatrixCouplings"]

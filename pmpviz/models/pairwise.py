"""Variables of K states that interact in pairs: Potts and clock models, random tables, mixed cardinalities."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz.models.couplings import SparseCouplings
from pmpviz.models.couplings.lists import by_groups
from pmpviz.models.interactions import MAX_SLOT_ENTRIES, Edges, Interactions, Own, Potts
from pmpviz.models.ising import merge_edges
from pmpviz.models.order import SweepOrder
from pmpviz.models.space import Space
from pmpviz.models.tables import Quadratic, TableModel
from pmpviz.types import InputError, Target, pytree


@pytree(static=("space", "n_colours"))
class Pairwise:
    """log_weight(x) = constant + sum_i unary[i, x_i] + sum over the edges of log psi_ij(x_i, x_j).

    Nothing is forbidden: `unary[n, K]` is -inf only where a state does not exist. `interactions` hold the edges in some
    form. `space` holds the cardinalities, `colour[n]` is a proper colouring with `n_colours` colours, and the orders
    group the sites for sweeps, as of an Ising model. Made by `of`; what comes from a file is kept in float64, which JAX
    traces in float32.
    """

    unary: Float[Array, "n k"]
    interactions: Interactions
    constant: Float[Array, ""]
    colour: Int[Array, " n"]
    colour_order: SweepOrder
    site_order: SweepOrder
    space: Space
    n_colours: int

    @classmethod
    def of(
        cls,
        card: Sequence[int],
        unary: Float[np.ndarray, "n k"],
        interactions: Interactions,
        constant: float = 0.0,
    ) -> Pairwise:
        """Build from host arrays; of `unary` only the entries of states that exist are read."""
        space, couplings = Space.of(card), interactions.couplings
        own = np.full((space.n, space.states), -np.inf)
        held = np.asarray(unary, np.float64)
        own[:, : held.shape[1]] = held
        own[~space.mask] = -np.inf
        colour = np.asarray(couplings.colour(), np.int32)
        orders = couplings.order_of_colours(colour), couplings.order_of_sites()
        constant = np.array(constant, np.float64)
        return cls(own, interactions, constant, colour, *orders, space, int(colour.max(initial=0)) + 1)

    @classmethod
    def from_tables(cls, model: TableModel) -> Pairwise:
        """The same model; raises InputError for factors of more than two variables, and where one forbids a state.

        Tables of the same variables are added up, those of one variable are its own.
        """
        space = Space.of(model.card)
        _check(model, space)
        unary, pairs = np.zeros((model.n, space.states)), dict[tuple[int, int], np.ndarray]()
        for scope, table in model.factors:
            if len(scope) == 1:
                unary[scope[0], : len(table)] += table
                continue
            i, j = scope
            held = pairs.setdefault((min(i, j), max(i, j)), np.zeros((space.states,) * 2))
            table = table if i < j else table.T
            held[: table.shape[0], : table.shape[1]] += table
        i, j = np.array(sorted(pairs), np.int64).reshape(-1, 2).T
        tables = np.array([pairs[pair] for pair in sorted(pairs)]).reshape(-1, space.states, space.states)
        couplings = SparseCouplings.from_edges(model.n, i, j, np.ones(len(i)))
        return cls.of(model.card, unary, Own.of(couplings, tables), float(model.constant))

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.space.n

    @property
    def card(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return self.space.card

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Sides of the lattice, or None for a graph without a regular layout."""
        return self.interactions.couplings.sides

    @property
    def potts(self) -> bool:
        """Whether all that an edge says is whether its two states are equal, of K states each."""
        return isinstance(self.interactions, Potts) and self.space.own is None

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """constant + sum of all log potentials at x."""
        own = jnp.take_along_axis(jnp.asarray(self.unary), jnp.asarray(x, jnp.int32)[:, None], 1).sum()
        return own + self.interactions.weighed(x) + self.constant

    def conditional_logits(self, x: Int8[Array, " n"]) -> Float[Array, "n k"]:
        """log p(x_i = k given the rest), but for a constant of each i; -inf where a state does not exist."""
        return jnp.asarray(self.unary) + self.heard(jnp.asarray(x)[:, None])[..., 0].T

    def heard(self, x: Int8[Array, "n t"]) -> Float[Array, "k n t"]:
        """What the neighbours add to the log potential of every state of every site."""
        neighbour, _ = self.interactions.couplings.neighbour_lists()
        others = [x[slot] for slot in jnp.asarray(neighbour).T]
        return jnp.stack(list(self.interactions.heard(self.interactions.terms(), others, self.space.states)))

    def scaled_unary(self, beta: Float[Array, ""]) -> Float[Array, "n k"]:
        """beta times the unaries; -inf where a state does not exist, at beta 0 too."""
        exists = self.space.mask
        return jnp.where(exists, beta * jnp.where(exists, jnp.asarray(self.unary, jnp.float32), 0.0), -jnp.inf)

    def sweep(self, target: Target, draw, order: SweepOrder, x: Int8[Array, "slot t"], first=0, last=None):
        """Draw every site i with first <= i < last (all where None) in this order, group by group; x is by slots.

        `draw(site[w], logits)` is asked for new states, from K logits [w, t] at the target's beta. Clamped sites take
        their values.
        """
        of_sites = {
            "unary": self.scaled_unary(target.beta),
            "slot": jnp.asarray(order.slot)[self.interactions.couplings.neighbour_lists()[0]],
            "term": target.beta * self.interactions.terms(),
            "mask": target.evidence.mask,
            "value": target.evidence.value,
        }
        rows = {name: order.by_groups(v) for name, v in of_sites.items()}

        def new(row, x):
            others = [jnp.take(x, slot, axis=0, mode="clip") for slot in row["slot"].T]
            heard = self.interactions.heard(row["term"], others, self.space.states)
            return draw(row["site"], [own[:, None] + part for own, part in zip(row["unary"].T, heard, strict=True)])

        return by_groups(order, {"site": jnp.asarray(order.site), **rows}, new, x, first, last)

    def blocks(self) -> list[np.ndarray]:
        """Sites of each colour: the sites of one block are independent given the others."""
        return [np.flatnonzero(np.asarray(self.colour) == c) for c in range(self.n_colours)]

    def edges(self) -> Edges:
        """(i, j, table[e, K, K]) of every edge in float64, entries of states that do not exist 0 (host arrays)."""
        return self.interactions.edges(self.space.states)

    def pairs(self) -> Int[np.ndarray, "m 2"]:
        """The edges, each once."""
        return np.stack(self.interactions.couplings.edges()[:2], 1).astype(np.int64)

    def quadratic(self) -> Quadratic:
        """(bias, i, j, w, constant) in float64 of two-state variables: log_weight = b.x + sum w x_i x_j + constant."""
        unary, (i, j, t) = np.asarray(self.unary, np.float64), self.edges()
        bias = unary[:, 1] - unary[:, 0]
        np.add.at(bias, i, t[:, 1, 0] - t[:, 0, 0])
        np.add.at(bias, j, t[:, 0, 1] - t[:, 0, 0])
        constant = float(self.constant) + float(unary[:, 0].sum() + t[:, 0, 0].sum())
        return bias, *merge_edges(i, j, t[:, 1, 1] - t[:, 1, 0] - t[:, 0, 1] + t[:, 0, 0]), constant

    def to_tables(self) -> TableModel:
        """The same model as tables, one for each variable with a potential of its own and for each edge."""
        unary, (i, j, table) = np.asarray(self.unary, np.float64), self.edges()
        own = [((v,), unary[v, :states]) for v, states in enumerate(self.card) if unary[v, :states].any()]
        pairs = zip(i.tolist(), j.tolist(), table, strict=True)
        joint = [((a, b), t[: self.space.card_at(a), : self.space.card_at(b)]) for a, b, t in pairs]
        return TableModel.of(self.card, [*own, *joint], float(self.constant))


def _check(model: TableModel, space: Space) -> None:
    large = np.flatnonzero(np.asarray(model.arity) > 2)
    if len(large):
        raise InputError(f"factor {large[0]} joins {model.arity[large[0]]} variables; a pairwise model holds pairs")
    if not (np.isfinite(model.values).all() and np.isfinite(model.constant)):
        raise InputError("a factor forbids a state (probability 0); a pairwise model gives every state some")
    if (np.asarray(model.arity) == 2).sum() * space.states**2 > MAX_SLOT_ENTRIES:
        raise InputError(f"tables padded to {space.states} states have more than 2^24 entries; give fewer")


__all__ = ["Pairwise"]

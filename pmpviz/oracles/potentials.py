"""Pairwise potentials in float64 on the host: what MAP oracles maximise and what marginal inference starts from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from pmpviz.exact.problem import Problem
from pmpviz.models.tables import TableModel
from pmpviz.types import Refusal, Target


@dataclass(frozen=True, eq=False)
class Structure:
    """Cardinalities and edges, without numbers. Oracles remember what they prepare for a structure by its identity.

    Edge e joins variables i[e] < j[e], each pair once. `forbidden` says which pairs of states have probability 0, their
    entries being a finite penalty; None where there are none. The last `auxiliary` variables stand for several others
    together.
    """

    card: tuple[int, ...]
    i: Int[np.ndarray, " e"]
    j: Int[np.ndarray, " e"]
    forbidden: Bool[np.ndarray, "e k k"] | None = None
    auxiliary: int = 0

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.card)

    @cached_property
    def states(self) -> int:
        """The largest cardinality K; arrays over states are padded to it."""
        return max(self.card, default=1)

    @cached_property
    def binary(self) -> bool:
        """Whether every variable has two states."""
        return all(states == 2 for states in self.card)

    @cached_property
    def valid(self) -> Bool[np.ndarray, "n k"]:
        """Which states exist."""
        return np.arange(self.states) < np.array(self.card, np.int64)[:, None]

    @cached_property
    def valid_pairs(self) -> Bool[np.ndarray, "e k k"]:
        """Which pairs of states exist, of every edge."""
        return self.valid[self.i][:, :, None] & self.valid[self.j][:, None, :]

    @cached_property
    def neighbours(self) -> tuple[tuple[tuple[int, int, bool], ...], ...]:
        """For every variable its (edge, other variable, whether it is the edge's first)."""
        found: list[list[tuple[int, int, bool]]] = [[] for _ in self.card]
        for e, (a, b) in enumerate(zip(self.i.tolist(), self.j.tolist(), strict=True)):
            found[a].append((e, b, True))
            found[b].append((e, a, False))
        return tuple(map(tuple, found))

    @cached_property
    def sides(self) -> Bool[np.ndarray, " n"] | None:
        """A two-colouring of the graph (True: the side of the component's first variable), or None if it has none."""
        side = np.full(self.n, -1)
        for root in range(self.n):
            if side[root] >= 0:
                continue
            side[root], stack = 1, [root]
            while stack:
                v = stack.pop()
                for _, u, _ in self.neighbours[v]:
                    if side[u] < 0:
                        side[u] = 1 - side[v]
                        stack.append(u)
                    elif side[u] == side[v]:
                        return None
        return side == 1


@dataclass(frozen=True, eq=False)
class Potentials:
    """theta(x) = constant + sum_i unary[i, x_i] + sum_e table[e, x_i, x_j]; states that do not exist hold 0."""

    structure: Structure
    unary: Float[np.ndarray, "n k"]
    table: Float[np.ndarray, "e k k"]
    constant: float = 0.0

    @classmethod
    def of_target(cls, target: Target, tables: TableModel | None = None) -> tuple[Potentials, Problem]:
        """beta times the potentials over the free variables, and the problem that leads back to all of them."""
        problem = Problem.of(target, tables)
        return cls.of_problem(problem), problem

    @classmethod
    def of_problem(cls, problem: Problem) -> Potentials:
        """Raises Refusal for factors of more than two variables and for states of probability 0."""
        card = tuple(problem.free_card)
        if problem.quadratic is not None:
            bias, i, j, w, constant = problem.quadratic
            return cls.of_quadratic(bias, i, j, w, constant)
        most = max((len(scope) for scope, _ in problem.tables), default=0)
        if most > 2:
            raise Refusal(f"this method needs factors of at most two variables; this model has one of {most}")
        states = max(card, default=1)
        unary = np.zeros((len(card), states))
        pairs: dict[tuple[int, int], np.ndarray] = {}
        for scope, values in problem.tables:
            if not np.isfinite(values).all():
                raise Refusal("this method needs potentials that forbid no state; give every entry a positive value")
            if len(scope) == 1:
                unary[scope[0], : len(values)] += values
                continue
            a, b = scope
            values = values if a < b else values.T
            held = pairs.setdefault((min(a, b), max(a, b)), np.zeros((states, states)))
            held[: values.shape[0], : values.shape[1]] += values
        edges = sorted(pairs)
        i, j = np.array(edges, np.int64).reshape(-1, 2).T
        table = np.array([pairs[edge] for edge in edges]).reshape(-1, states, states)
        return cls(Structure(card, i, j), unary, table, problem.constant)

    @classmethod
    def of_quadratic(cls, bias, i, j, w, constant: float = 0.0) -> Potentials:
        """theta(x) = bias.x + sum w x_i x_j + constant over two-state variables, each edge once."""
        i, j = np.asarray(i, np.int64), np.asarray(j, np.int64)
        structure = Structure((2,) * len(bias), np.minimum(i, j), np.maximum(i, j))
        unary = np.stack([np.zeros(len(bias)), np.asarray(bias, np.float64)], 1)
        table = np.zeros((len(i), 2, 2))
        table[:, 1, 1] = w
        return cls(
            structure, unary.reshape(-1, structure.states), table.reshape(-1, *(structure.states,) * 2), constant
        )

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.structure.n

    @cached_property
    def size(self) -> float:
        """The largest size that theta can reach, 1 where all potentials are 0: what rounding is measured by.

        Penalties of forbidden pairs do not count.
        """
        table, forbidden = self.table, self.structure.forbidden
        table = table if forbidden is None else np.where(forbidden, 0.0, table)
        return (abs(self.constant) + _largest(self.unary) + _largest(table)) or 1.0

    def with_values(self, unary: Float[np.ndarray, "n k"], table: Float[np.ndarray, "e k k"] | None = None):
        """The same structure with other numbers."""
        return Potentials(self.structure, unary, self.table if table is None else table, self.constant)

    def value(self, x: Int[np.ndarray, "... n"]) -> Float[np.ndarray, "..."]:
        """theta(x) of one configuration or of many."""
        x = np.asarray(x, np.int64)
        s = self.structure
        ones = self.unary[np.arange(self.n), x].sum(-1)
        return ones + self.table[np.arange(len(s.i)), x[..., s.i], x[..., s.j]].sum(-1) + self.constant

    def quadratic(self) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " e"], float]:
        """(b, w, c): theta(x) = b.x + sum_e w_e x_i x_j + c of two-state variables; exact."""
        s, t = self.structure, self.table
        if not self.n:
            return np.zeros(0), np.zeros(0), self.constant
        bias = self.unary[:, 1] - self.unary[:, 0]
        np.add.at(bias, s.i, t[:, 1, 0] - t[:, 0, 0])
        np.add.at(bias, s.j, t[:, 0, 1] - t[:, 0, 0])
        constant = self.constant + float(self.unary[:, 0].sum() + t[:, 0, 0].sum())
        return bias, t[:, 1, 1] - t[:, 1, 0] - t[:, 0, 1] + t[:, 0, 0], constant


def _largest(values: Float[np.ndarray, "rows ..."]) -> float:
    return float(np.abs(values.reshape(len(values), -1)).max(1, initial=0).sum()) if len(values) else 0.0


__all__ = ["Potentials", "Structure"]

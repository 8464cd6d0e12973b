"""What the messages of a small graph should come to: exact marginals, max-marginals and log Z, in float64."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from pmpviz import exact
from pmpviz.exact.order import best_order
from pmpviz.exact.problem import Problem
from pmpviz.models.factor_graph import as_graph
from pmpviz.types import Refusal, Target

# Entries of the largest table that an elimination may make: max-marginals take one elimination a variable.
MAX_TABLE = 1 << 22

Table = tuple[tuple[int, ...], np.ndarray]


@dataclass(frozen=True, eq=False)
class Truth:
    """Exact answers, in the shapes of a recording's beliefs; what does not exist or is ruled out has 0.

    `marginals[n, K]` of exp(log weight / temperature); `max_marginals[n, K]` are exp(log_max_marginals), scaled to sum
    to 1; `log_max_marginals[i, k]` = max over the x with x_i = k of the log weight, minus `maximum`; `log_z` is
    log sum_x exp(log weight), at temperature 1.
    """

    marginals: Float[np.ndarray, "n k"]
    max_marginals: Float[np.ndarray, "n k"]
    log_max_marginals: Float[np.ndarray, "n k"]
    log_z: float
    maximum: float
    temperature: float

    @property
    def beliefs(self) -> Float[np.ndarray, "n k"]:
        """What beliefs at this temperature are compared to: the max-marginals at 0, else the marginals."""
        return self.marginals if self.temperature > 0 else self.max_marginals


def truth(target: Target, temperature: float = 1.0) -> Truth:
    """The exact answers at a message temperature (at 0 the marginals are those at 1).

    Raises Refusal, with the width found, where they are out of reach, and InputError where no state is possible.
    """
    graph = as_graph(target.model)
    tables = graph.to_tables()
    target = replace(target, model=tables)
    solved = exact.solve(target)
    other = float(temperature) not in (0.0, 1.0)
    cooled = (
        exact.solve(replace(target, beta=np.array(float(target.beta) / temperature, np.float64))) if other else solved
    )
    problem = Problem.of(target)
    log_max, maximum = _max_marginals(problem)
    full = np.full((graph.n, graph.states), -np.inf)
    full[np.arange(graph.n), problem.value] = 0.0
    for v, row in zip(problem.free, log_max, strict=True):
        full[v] = -np.inf
        full[v, : len(row)] = row
    mass = np.exp(full)
    return Truth(
        marginals=_padded(cooled.marginals, graph.states),
        max_marginals=mass / mass.sum(1, keepdims=True),
        log_max_marginals=full,
        log_z=solved.log_z,
        maximum=maximum,
        temperature=float(temperature),
    )


def _padded(rows: Sequence[np.ndarray], states: int) -> Float[np.ndarray, "n k"]:
    return np.array([[*row, *[0.0] * (states - len(row))] for row in rows]).reshape(len(rows), states)


def _max_marginals(problem: Problem) -> tuple[list[np.ndarray], float]:
    """log max-marginals of the free variables, the largest 0, and the maximum: one elimination a variable."""
    tables: list[Table] = [(tuple(scope), np.asarray(table, np.float64)) for scope, table in problem.factors]
    order = best_order(problem.free_card, problem.edges)
    if 2.0**order.largest > MAX_TABLE:
        raise Refusal(f"max-marginals need a table of 2^{order.largest:.0f} entries; they are found up to 2^22")
    found, maximum = [], problem.constant
    for v, states in enumerate(problem.free_card):
        row = np.zeros(states) + _eliminated(tables, [u for u in order.variables if u != v], np.maximum.reduce)
        maximum = problem.constant + float(row.max())
        found.append(row - row.max())
    return found, maximum


def _eliminated(tables: list[Table], variables: Sequence[int], reduce: Callable) -> np.ndarray:
    """What is left of the tables' sum once these variables are reduced away one by one: a row of the last one's."""
    for v in variables:
        near = [table for table in tables if v in table[0]]
        tables = [table for table in tables if v not in table[0]]
        if near:
            scope = (v, *sorted({u for one, _ in near for u in one if u != v}))
            tables.append((scope[1:], reduce(_sum(near, scope), axis=0)))
    left = sorted({u for scope, _ in tables for u in scope})
    return _sum(tables, tuple(left))


def _sum(tables: Sequence[Table], scope: tuple[int, ...]) -> np.ndarray:
    """The sum of tables, with one axis for each variable of `scope`."""
    total = np.zeros((1,) * len(scope))
    for own, table in tables:
        axes = sorted(range(len(own)), key=lambda a: scope.index(own[a]))
        sides = dict(zip(own, table.shape, strict=True))
        total = total + table.transpose(axes).reshape([sides.get(u, 1) for u in scope])
    return total


__all__ = ["Truth", "truth"]

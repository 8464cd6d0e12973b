"""The shape of a factor graph on the host: its edges, loops and diameter, and in which order messages are sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int

from pmpviz.models.factor_graph import FactorGraph
from pmpviz.types import Refusal

SCHEDULES = ("parallel", "sequential", "two_pass")

# (edge, whether the message goes to the variable)
Event = tuple[int, bool]


@dataclass(frozen=True, eq=False)
class Branch:
    """A factor in a rooted forest: the edge to the variable above it, and those to the variables below."""

    above: int
    below: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Topology:
    """Edges of a factor graph, one for each (factor, variable), factor after factor in the order of the scopes.

    `clamped[n]` variables, those of a single state among them, tell every factor the same whatever they hear: they join
    nothing, so that a loop through one is none.
    """

    scopes: tuple[tuple[int, ...], ...]
    n: int
    clamped: Bool[np.ndarray, " n"]

    @classmethod
    def of(cls, graph: FactorGraph, clamped: Sequence[bool] | np.ndarray | None = None) -> Topology:
        """The topology of a graph; what has two states or more is clamped only where `clamped` says so."""
        cut = np.zeros(graph.n, bool) if clamped is None else np.array(clamped, bool)
        cut |= np.array(graph.card, np.int64) == 1
        return cls(tuple(factor.scope for factor in graph.factors()), graph.n, cut)

    @cached_property
    def edge_factor(self) -> Int[np.ndarray, " e"]:
        """The factor of each edge of the factor graph; edges are numbered factor by factor."""
        return np.repeat(np.arange(len(self.scopes)), [len(scope) for scope in self.scopes]).astype(np.int64)

    @cached_property
    def edge_variable(self) -> Int[np.ndarray, " e"]:
        """The variable of each edge."""
        return np.array([v for scope in self.scopes for v in scope], np.int64)

    @cached_property
    def edges_of_factor(self) -> tuple[range, ...]:
        """The numbers of each factor's edges."""
        stops = np.cumsum([len(scope) for scope in self.scopes], dtype=np.int64).tolist()
        return tuple(range(stop - len(scope), stop) for stop, scope in zip(stops, self.scopes, strict=True))

    @cached_property
    def edges_of_variable(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of each variable's edges."""
        found: list[list[int]] = [[] for _ in range(self.n)]
        for edge, v in enumerate(self.edge_variable.tolist()):
            found[v].append(edge)
        return tuple(map(tuple, found))

    @cached_property
    def loop(self) -> tuple[int, ...] | None:
        """Variables round a loop, or None where there is none."""
        return self._forest[1]

    @property
    def is_tree(self) -> bool:
        """Whether messages are exact: no loop but through clamped variables."""
        return self.loop is None

    @cached_property
    def diameter(self) -> int:
        """Largest number of factors on a shortest path between two variables: the parallel sweeps that a tree needs."""
        return max((self._eccentricity(v) for v in range(self.n)), default=0)

    def _eccentricity(self, start: int) -> int:
        distance, queue, farthest = {start: 0}, deque([start]), 0
        while queue:
            v = queue.popleft()
            farthest = max(farthest, distance[v])
            if self.clamped[v] and v != start:
                continue
            for edge in self.edges_of_variable[v]:
                for u in self.scopes[self.edge_factor[edge]]:
                    if u not in distance:
                        distance[u] = distance[v] + 1
                        queue.append(u)
        return farthest

    @cached_property
    def _forest(self) -> tuple[tuple[Branch, ...], tuple[int, ...] | None]:
        """(factors from the roots on, loop): breadth first from the first variable of each component."""
        walk = _Walk(self)
        for root in np.flatnonzero(~self.clamped).tolist():
            if root not in walk.parent:
                walk.parent[root] = (root, -1)
                if (loop := walk.run(root)) is not None:
                    return (), loop
        for f, edges in enumerate(self.edges_of_factor):
            if f not in walk.seen:
                walk.branches.append(Branch(edges[0], tuple(edges[1:])))
        return tuple(walk.branches), None

    def events(self, schedule: str) -> list[Event]:
        """The messages of one sweep in the order in which they are sent.

        `parallel`: all to factors, then all to variables; `sequential`: factor by factor, first those to the factor,
        then those from it; `two_pass`: from the leaves to the root of every component, then back, every message once.
        Raises Refusal for two passes over a graph with a loop, naming it.
        """
        everyone = range(len(self.edge_factor))
        if schedule == "parallel":
            return [(e, False) for e in everyone] + [(e, True) for e in everyone]
        if schedule == "sequential":
            return [(e, to_variable) for edges in self.edges_of_factor for to_variable in (False, True) for e in edges]
        up: list[Event] = []
        for branch in reversed(self.branches()):
            up += [*((e, False) for e in branch.below), (branch.above, True)]
        down = [pair for branch in self.branches() for pair in _downward(branch)]
        return up + down

    def branches(self) -> tuple[Branch, ...]:
        """The factors of a forest from the roots on; raises Refusal naming the loop where there is one."""
        found, loop = self._forest
        if loop is not None:
            names = " - ".join(map(str, (*loop, loop[0])))
            raise Refusal(
                f"two passes need a graph without loops, but variables {names} form one; use another schedule"
            )
        return found


class _Walk:
    """Breadth-first search over variables that are not clamped: `parent[v]` is (variable, factor) above v."""

    def __init__(self, topology: Topology):
        self.topology = topology
        self.parent: dict[int, tuple[int, int]] = {}
        self.seen: set[int] = set()
        self.branches: list[Branch] = []

    def run(self, root: int) -> tuple[int, ...] | None:
        """Visit the root's component; the variables of a loop where one is found."""
        t, queue = self.topology, deque([root])
        while queue:
            v = queue.popleft()
            for edge in t.edges_of_variable[v]:
                f = int(t.edge_factor[edge])
                if f in self.seen:
                    continue
                self.seen.add(f)
                below = [e for e in t.edges_of_factor[f] if e != edge]
                for u in (int(t.edge_variable[e]) for e in below):
                    if t.clamped[u]:
                        continue
                    if u in self.parent:
                        return self._loop(u, v)
                    self.parent[u] = (v, f)
                    queue.append(u)
                self.branches.append(Branch(edge, tuple(below)))
        return None

    def _loop(self, u: int, v: int) -> tuple[int, ...]:
        """The variables on the tree's path from u to v."""
        first, second = self._upward(u), self._upward(v)
        while len(first) > 1 and len(second) > 1 and first[-2] == second[-2]:
            first.pop()
            second.pop()
        # Two variables below one factor meet there, not in the variable above it.
        apart = len(first) > 1 and len(second) > 1
        if apart and self.parent[first[-2]][1] == self.parent[second[-2]][1]:
            return tuple(first[:-1] + second[-2::-1])
        return tuple(first + second[-2::-1])

    def _upward(self, v: int) -> list[int]:
        path = [v]
        while self.parent[path[-1]][0] != path[-1]:
            path.append(self.parent[path[-1]][0])
        return path


def _downward(branch: Branch) -> list[Event]:
    return [(branch.above, False), *((e, True) for e in branch.below)]


__all__ = ["SCHEDULES", "Branch", "Event", "Topology"]

"""In which order variables are eliminated, and how large the tables get: min-degree, min-fill, and the given order."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from jaxtyping import Int

from pmpviz.exact.segments import KEPT_WHOLE, Pieces

# Units of work after which a search ends: counted, not timed, so that every machine finds the same order.
DEGREE_WORK, FILL_WORK, LIST_WORK = 10_000_000, 3_000_000, 2_000_000
# Below this many entries in all tables together no better order is looked for.
GOOD_ENOUGH = 1 << 14
# log2 of a table's entries beyond which the search is given up: other orders are seldom twice as good.
HOPELESS = 64.0
# Of more variables no order is looked for: elimination refuses them.
MAX_VARIABLES = 50_000

Graph = list[set[int]]


@dataclass(frozen=True)
class Order:
    """An elimination order: `scopes[k]` is the k-th variable to go and those it is then joined to, by place.

    `width` is the largest number joined; `largest` is log2 of the entries of the largest table (the variable itself
    included), `entries` their sum over all tables, `kept` the sum of the entries without the variable itself: those of
    all messages; `peak` of them are held at once where messages are made anew (see `segments`).
    Where `complete` is False the search was cut short and the figures are those reached by then.
    """

    scopes: tuple[tuple[int, ...], ...]
    width: int
    largest: float
    entries: float
    kept: float
    peak: float
    complete: bool

    @cached_property
    def variables(self) -> list[int]:
        """The variables in the order in which they go."""
        return [scope[0] for scope in self.scopes]


def best_order(
    card: tuple[int, ...], edges: Int[np.ndarray, "e 2"], lattice: Int[np.ndarray, " n"] | None = None
) -> Order:
    """The best of min-degree, min-fill and the order 0, 1, 2, ..., or that of a `lattice`; remembered by graph.

    A lattice's own order (row-major, along its shortest sides) is rarely beaten by half, so that where it is
    hopeless the search ends.
    """
    if len(card) > MAX_VARIABLES:
        return Order((), 0, math.inf, math.inf, math.inf, math.inf, complete=False)
    given = np.arange(len(card)) if lattice is None else lattice
    arrays = np.array(card, np.int8), np.ascontiguousarray(edges, np.int32), np.asarray(given, np.int32)
    return _best_order(*(array.tobytes() for array in arrays), lattice is not None)


@lru_cache(maxsize=64)
def _best_order(card: bytes, edges: bytes, given: bytes, lattice: bool) -> Order:
    logs = [math.log2(c) for c in card]
    pairs = np.frombuffer(edges, np.int32).reshape(-1, 2).tolist()
    order = np.frombuffer(given, np.int32).tolist()
    searches: list[Callable[[Graph], Order]] = [
        lambda graph: _by_degree(graph, logs),
        lambda graph: _by_fill(graph, logs),
    ]
    searches.insert(0 if lattice else 2, lambda graph: _by_list(graph, logs, order, foresee=lattice))
    best = searches[0](_graph(len(card), pairs))
    for search in searches[1:]:
        if best.entries <= GOOD_ENOUGH + 16 * len(card) or best.largest > HOPELESS:
            break
        rival = search(_graph(len(card), pairs))
        if rival.complete and (rival.largest, rival.entries) < (best.largest, best.entries):
            best = rival
    return best


def order_after(card: tuple[int, ...], edges: Int[np.ndarray, "e 2"], first: list[int]) -> Order:
    """The best order found of those in which the variables `first` go before all others, in their order."""
    graph, gone = _graph(len(card), edges.tolist()), set(first)
    for v in first:
        _eliminate(graph, v)
    rest = [v for v in range(len(card)) if v not in gone]
    number = {v: place for place, v in enumerate(rest)}
    pairs = [(number[v], number[u]) for v in rest for u in sorted(graph[v]) if v < u]
    left = best_order(tuple(card[v] for v in rest), np.array(pairs, np.int64).reshape(-1, 2))
    return given_order(card, edges, [*first, *(rest[v] for v in left.variables)]) if left.complete else left


def given_order(card: tuple[int, ...], edges: Int[np.ndarray, "e 2"], variables: list[int]) -> Order:
    """What the order `variables` costs on this graph."""
    return _by_list(_graph(len(card), edges.tolist()), [math.log2(c) for c in card], variables)


def _graph(n: int, pairs: list[list[int]]) -> Graph:
    graph: Graph = [set() for _ in range(n)]
    for a, b in pairs:
        graph[a].add(b)
        graph[b].add(a)
    return graph


def _eliminate(graph: Graph, v: int) -> set[int]:
    """Remove v, join its neighbours to one another, and return them."""
    joined = graph[v]
    for u in joined:
        graph[u] |= joined
        graph[u] -= {u, v}
    return joined


class _Record:
    """The scopes of an order as it grows, and what their tables cost."""

    def __init__(self, logs: list[float]):
        self.logs = logs
        self.scopes: list[tuple[int, set[int]]] = []
        self.width, self.largest, self.entries, self.kept = 0, 0.0, 0.0, 0.0

    def add(self, v: int, joined: set[int]) -> None:
        log = sum(self.logs[u] for u in joined)
        self.scopes.append((v, joined))
        self.width = max(self.width, len(joined))
        self.largest = max(self.largest, log + self.logs[v])
        self.entries += 2.0 ** min(log + self.logs[v], 1000.0)
        self.kept += 2.0 ** min(log, 1000.0)

    def order(self, complete: bool = True) -> Order:
        place = {v: k for k, (v, _) in enumerate(self.scopes)}
        scopes: tuple[tuple[int, ...], ...] = ()
        if complete:
            scopes = tuple((v, *sorted(joined, key=place.__getitem__)) for v, joined in self.scopes)
        return Order(scopes, self.width, self.largest, self.entries, self.kept, self._peak(scopes), complete)

    def _peak(self, scopes: tuple[tuple[int, ...], ...]) -> float:
        """Where messages are many, the fewest that can be held at once."""
        if not scopes or self.kept <= KEPT_WHOLE or self.largest > HOPELESS:
            return self.kept
        place = {scope[0]: k for k, scope in enumerate(scopes)}
        sizes = np.array([2.0 ** sum(self.logs[v] for v in scope[1:]) for scope in scopes])
        parents = np.array([place[scope[1]] if len(scope) > 1 else len(scopes) for scope in scopes], np.int64)
        return Pieces.of(sizes, parents).peak


def _by_degree(graph: Graph, logs: list[float]) -> Order:
    """Always the variable whose neighbours have the smallest joint table (min-degree for equal cardinalities).

    Ties go by number. Costs are kept up by what changes alone: a hub of many neighbours would take their square.
    """
    weights = _weights(logs)
    costs = [sum([weights[a] for a in joined]) for joined in graph]
    heap, gone = [(cost, v) for v, cost in enumerate(costs)], [False] * len(graph)
    heapq.heapify(heap)
    record, work = _Record(logs), 0
    while heap:
        cost, v = heapq.heappop(heap)
        if gone[v] or cost != costs[v]:
            continue
        gone[v] = True
        work += len(graph[v]) ** 2
        record.add(v, graph[v])
        for u, added in [(u, graph[v] - graph[u]) for u in graph[v]]:
            # `added` has u itself, which is no neighbour of its own.
            new = costs[u] + sum([weights[a] for a in added]) - weights[u] - weights[v]
            if new != costs[u]:
                costs[u] = new
                heapq.heappush(heap, (new, u))
        _eliminate(graph, v)
        if work > DEGREE_WORK:
            return record.order(complete=False)
    return record.order()


def _weights(logs: list[float]) -> list[int]:
    """Whole numbers, so that sums that are kept up stay exact."""
    return [round(1024 * log) for log in logs]


def _by_list(graph: Graph, logs: list[float], order: list[int], foresee: bool = False) -> Order:
    """The order as it is. A variable hands those it is joined to on to the first of them that goes.

    To `foresee`: tables only grow up to a lattice's middle, so that a hopeless search which would be cut short later is
    given up at once.
    """
    place = {v: k for k, v in enumerate(order)}
    later: Graph = [{place[u] for u in graph[v] if place[u] > place[v]} for v in order]
    record, work = _Record(logs), 0
    for k, v in enumerate(order):
        record.add(v, {order[u] for u in later[k]})
        work += len(later[k])
        if work > LIST_WORK or (foresee and record.largest > HOPELESS and record.width * len(order) > LIST_WORK):
            return record.order(complete=False)
        if later[k]:
            first = min(later[k])
            later[first] |= later[k]
            later[first].discard(first)
    return record.order()


def _by_fill(graph: Graph, logs: list[float]) -> Order:
    """Always the variable whose removal joins the fewest new pairs (min-fill).

    Neighbourhoods are kept as whole numbers too, so that missing pairs are counted word by word.
    """
    bits = [sum(1 << u for u in joined) for joined in graph]
    costs = [(_missing(graph, bits, v), len(graph[v])) for v in range(len(graph))]
    heap, gone = [(*cost, v) for v, cost in enumerate(costs)], [False] * len(graph)
    heapq.heapify(heap)
    record, work, step = _Record(logs), 0, 1 + len(graph) // 1024
    while heap:
        *cost, v = heapq.heappop(heap)
        if gone[v] or tuple(cost) != costs[v]:
            continue
        gone[v] = True
        joined = _eliminate(graph, v)
        record.add(v, joined)
        if record.largest > HOPELESS or work > FILL_WORK:
            return record.order(complete=False)
        for u in joined:
            bits[u] = (bits[u] | bits[v]) & ~((1 << u) | (1 << v))
        # Where nothing was joined, only the neighbours' own counts change.
        for u in joined if cost[0] == 0 else joined.union(*(graph[u] for u in joined)):
            work += step * len(graph[u])
            if (new := (_missing(graph, bits, u), len(graph[u]))) != costs[u]:
                costs[u] = new
                heapq.heappush(heap, (*new, u))
    return record.order()


def _missing(graph: Graph, bits: list[int], v: int) -> int:
    """Twice the number of pairs of neighbours of v that are not joined."""
    own = bits[v]
    return sum([(own & ~bits[u]).bit_count() for u in graph[v]]) - len(graph[v])

"""Exact MAP by enumeration and by variable elimination, and the choice of the cheapest exact oracle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Int8

from pmpviz.exact import elimination
from pmpviz.exact.order import Order, best_order, order_after
from pmpviz.oracles import on_factors
from pmpviz.oracles.bipartite import BipartiteEnumeration, not_bipartite
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Prepared, Solution
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Refusal, Style

# log2 of the states that are listed, and cells worked on at once.
MAX_LISTED, BLOCK = 20, 1 << 14
# Cells of the features of all states (int8 as float64) that are kept for a structure.
KEPT_FEATURES = 1 << 21
# Cells over which a bucket's own potentials are spread before they meet its messages.
STRETCH = 64


@dataclass(frozen=True)
class Enumeration(MapOracle):
    """argmax over the list of all states: theta = F [unary, table], F the states' indicators."""

    spec = OracleSpec(
        id="enumeration",
        label="Enumeration",
        style=Style("#8A8A86", "solid", "star"),
        promise="exact",
        summary="Looks at every state.",
        paper="",
        why_not=lambda potentials: _too_many(potentials.structure),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The first maximum in the order of states, the last variable varying fastest."""
        return self.solve_batch(potentials, potentials.unary[None])[0]

    def solve_batch(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> list[Solution]:
        """All unaries against one list of states."""
        found, states = self.decode(potentials, unary), float(_states_of(potentials.structure).total)
        rows = zip(unary, found, strict=True)
        return [Solution.proved(potentials.with_values(one), x, states=states) for one, x in rows]

    def solve_factors(self, factors: Factors) -> Solution:
        """The same on the factors as they are."""
        if (reason := _too_many(Structure(factors.card, *np.zeros((2, 0), np.int64)))) is not None:
            raise Refusal(reason)
        total = np.zeros(factors.card)
        for scope, table in factors.factors:
            total += table.reshape([states if v in scope else 1 for v, states in enumerate(factors.card)])
        x = np.array(np.unravel_index(int(total.argmax()), total.shape), np.int64)
        return Solution.on_factors(factors, x, True, states=float(total.size))

    def decode(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> Int8[np.ndarray, "b n"]:
        """The first maxima in the order of states."""
        self.insist(potentials)
        states = _states_of(potentials.structure)
        best, place = np.full(len(unary), -np.inf), np.zeros(len(unary), np.int64)
        for start, ones, pairs in states.blocks():
            value = unary.reshape(len(unary), ones.shape[1]) @ ones.T + pairs @ potentials.table.reshape(-1)
            rows = value.argmax(1)
            top = value[np.arange(len(unary)), rows]
            place = np.where(top > best, start + rows, place)
            best = np.maximum(top, best)
        return states.state(place).astype(np.int8)


class _States:
    """The list of all states of a structure, with their indicators in blocks, kept where they are few."""

    def __init__(self, structure: Structure):
        self.n, self.card, self.i, self.j = structure.n, structure.card, structure.i, structure.j
        self.total = int(np.prod([float(c) for c in structure.card]))
        k = self.most = structure.states
        self.width = structure.n * k + len(structure.i) * k * k
        self._kept = list(self._make()) if self.total * self.width <= KEPT_FEATURES else None

    def blocks(self):
        """(first state, indicators of states [m, n k], of pairs of states [m, e k k]) in turn."""
        return iter(self._kept) if self._kept is not None else self._make()

    def _make(self):
        rows = max(1, KEPT_FEATURES // max(self.width, 1))
        for start in range(0, self.total, rows):
            x = self.state(np.arange(start, min(start + rows, self.total)))
            one = np.eye(self.most)[x]
            pair = one[:, self.i, :, None] * one[:, self.j, None, :]
            yield start, one.reshape(len(x), -1), pair.reshape(len(x), -1)

    def state(self, index: int | np.ndarray) -> Int[np.ndarray, "... n"]:
        """The configurations at some places of the list."""
        if not self.n:
            return np.zeros((*np.shape(index), 0), np.int64)
        return np.stack(np.unravel_index(index, self.card), -1)


_states_of = Prepared(_States)


def _too_many(structure: Structure) -> str | None:
    log = float(np.log2(np.array(structure.card, np.float64)).sum())
    if log <= MAX_LISTED:
        return None
    return f"enumeration would list 2^{log:.0f} states; it lists at most 2^{MAX_LISTED}"


@dataclass(frozen=True)
class Elimination(MapOracle):
    """Variable elimination with max in place of sum: exact at any small treewidth, any number of states."""

    spec = OracleSpec(
        id="elimination",
        label="Variable elimination",
        style=Style("#8A8A86", "solid", "star"),
        promise="exact",
        summary="Maximises the variables out one by one, in an order that keeps the tables small.",
        paper="Dechter 1999 (bucket elimination)",
        why_not=lambda potentials: _refusal(potentials.structure),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """A maximum; ties go to the smaller state of the variable that is decided first."""
        return self.solve_batch(potentials, potentials.unary[None])[0]

    def solve_batch(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> list[Solution]:
        """All unaries through the same tables, as many at once as fit in cache."""
        found, width = self.decode(potentials, unary), float(_plan_of(potentials.structure).order.width)
        rows = zip(unary, found, strict=True)
        return [Solution.proved(potentials.with_values(one), x, width=width) for one, x in rows]

    def solve_factors(self, factors: Factors) -> Solution:
        """The same on the factors as they are."""
        x, width = on_factors.eliminate(factors)
        return Solution.on_factors(factors, x, True, width=float(width))

    def decode(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> Int8[np.ndarray, "b n"]:
        """Maximising configurations."""
        self.insist(potentials)
        plan = _plan_of(potentials.structure)
        rows = max(1, int(BLOCK // 2.0**plan.order.largest))
        parts = [plan.maximise(unary[at : at + rows], potentials.table) for at in range(0, len(unary), rows)]
        return np.concatenate(parts or [np.zeros((0, potentials.n))]).astype(np.int8)


class _Plan:
    """Which factors and messages meet in which bucket, worked out once for a structure.

    The table of bucket k has its scope backwards, so that the variable to go lies innermost, and the batch behind it.
    What the bucket itself brings (unary and edges) is small: it is first spread over the innermost `inner[k]` axes,
    so that adding it to the messages runs over long stretches of memory.
    """

    def __init__(self, structure: Structure):
        self.order = _order(structure)
        place = {v: k for k, v in enumerate(self.order.variables)}
        self.scopes = [tuple(sorted(place[v] for v in scope)) for scope in self.order.scopes]
        self.card = [structure.card[v] for v in self.order.variables]
        edges: list[list[tuple[int, int, bool]]] = [[] for _ in self.scopes]
        for e, (a, b) in enumerate(zip(structure.i.tolist(), structure.j.tolist(), strict=True)):
            first, second = sorted((place[a], place[b]))
            edges[first].append((e, second, place[a] < place[b]))
        children: list[list[int]] = [[] for _ in self.scopes]
        for k, scope in enumerate(self.scopes):
            if len(scope) > 1:
                children[scope[1]].append(k)
        self.buckets = [self._prepare(k, edges[k], children[k]) for k in range(len(self.scopes))]

    def _prepare(self, k: int, edges, children) -> _Bucket:
        scope = self.scopes[k]
        shapes = [self._shape((k, other), scope) for _, other, _ in edges]
        inner, cells = 1, self.card[k]
        while inner < len(scope) and cells < STRETCH:
            cells *= self.card[scope[inner]]
            inner += 1
        sizes = [self.card[u] for u in scope[1:]]
        strides = np.cumprod([1, *sizes])[:-1] if sizes else np.zeros(0, np.int64)
        return _Bucket(
            variable=self.order.variables[k],
            states=self.card[k],
            later=np.array(scope[1:], np.int64),
            strides=strides.astype(np.int64),
            shape=self._shape(scope, scope),
            edges=tuple(
                (e, forward, self.card[other], shape) for (e, other, forward), shape in zip(edges, shapes, strict=True)
            ),
            messages=tuple((child, self._shape(self.scopes[child][1:], scope)) for child in children),
            inner=inner,
        )

    def _shape(self, own: tuple[int, ...], scope: tuple[int, ...]) -> tuple[int, ...]:
        kept = set(own)
        return tuple(self.card[u] if u in kept else 1 for u in reversed(scope))

    def maximise(self, unary: Float[np.ndarray, "b n k"], table: Float[np.ndarray, "e k k"]) -> np.ndarray:
        """Maximising configurations [b, n]."""
        unary, count = np.ascontiguousarray(unary.transpose(1, 2, 0)), len(unary)
        back = np.ascontiguousarray(table.swapaxes(1, 2))
        messages: list[np.ndarray | None] = []
        choices: list[np.ndarray] = []
        for bucket in self.buckets:
            message, choice = bucket.go(unary, (back, table), messages)
            messages.append(message)
            choices.append(choice)
        x = np.zeros((len(self.buckets), count), np.int64)
        found, columns = np.zeros((count, len(self.buckets)), np.int64), np.arange(count)
        for k in reversed(range(len(self.buckets))):
            bucket = self.buckets[k]
            x[k] = choices[k][bucket.strides @ x[bucket.later], columns]
            found[:, bucket.variable] = x[k]
        return found


@dataclass(frozen=True)
class _Bucket:
    """One variable's table: `shape` of its scope backwards; (edge, direction, states, shape) and (child, shape) of what
    meets in it; `strides` of the later variables in its message."""

    variable: int
    states: int
    later: Int[np.ndarray, " m"]
    strides: Int[np.ndarray, " m"]
    shape: tuple[int, ...]
    edges: tuple[tuple[int, bool, int, tuple[int, ...]], ...]
    messages: tuple[tuple[int, tuple[int, ...]], ...]
    inner: int

    def go(self, unary, tables, messages) -> tuple[np.ndarray, np.ndarray]:
        """(maxima over the variable, which of its states they are), [cells, b]; messages read are given up."""
        count = unary.shape[-1]
        total = self._own(unary, tables, count)
        for child, shape in self.messages:
            total = total + messages[child].reshape(*shape, count)
            messages[child] = None
        if total.shape[:-1] != self.shape:
            total = _spread(total, (*self.shape, count))
        return _maximum(total.reshape(-1, self.states, count))

    def _own(self, unary, tables, count: int) -> np.ndarray:
        total = unary[self.variable, : self.states].reshape(*[1] * (len(self.shape) - 1), self.states, count)
        for e, forward, others, shape in self.edges:
            # The later variable lies outside: its states are the rows.
            values = tables[0 if forward else 1][e, :others, : self.states]
            total = total + values.reshape(*shape, 1)
        front = len(self.shape) - self.inner
        if total.shape[front:-1] != self.shape[front:]:
            total = _spread(total, (*total.shape[:front], *self.shape[front:], count))
        return total


def _spread(values: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """`values` repeated to a shape, newly made: several times faster than numpy's own for small arrays."""
    wide = np.empty(shape)
    wide[...] = values
    return wide


def _maximum(total: Float[np.ndarray, "c k b"]) -> tuple[np.ndarray, np.ndarray]:
    """max and argmax over the middle axis, of a few states: state after state, which needs no loop over the cells."""
    best = total[:, 0]
    if total.shape[1] == 1:
        return best, np.zeros(best.shape, np.int8)
    if total.shape[1] == 2:
        return np.maximum(best, total[:, 1]), (total[:, 1] > best).view(np.int8)
    best, choice = best.copy(), np.zeros(best.shape, np.int8)
    for k in range(1, total.shape[1]):
        np.putmask(choice, total[:, k] > best, np.int8(k))
        np.maximum(best, total[:, k], out=best)
    return best, choice


_plan_of = Prepared(_Plan)


def _search(structure: Structure) -> Order:
    """The best order found; auxiliary variables may go first, which leaves the graph that the factors have."""
    edges = np.stack([structure.i, structure.j], 1)
    found = best_order(structure.card, edges)
    if not structure.auxiliary:
        return found
    rival = order_after(structure.card, edges, list(range(structure.n - structure.auxiliary, structure.n)))
    better = not found.complete or (rival.largest, rival.entries) < (found.largest, found.entries)
    return rival if rival.complete and better else found


_order: Prepared[Order] = Prepared(_search)


def _refusal(structure: Structure) -> str | None:
    return elimination.refusal(_order(structure), structure.n)


@dataclass(frozen=True)
class Exact(MapOracle):
    """The cheapest of the three that is tractable."""

    spec = OracleSpec(
        id="exact",
        label="Exact",
        style=Style("#8A8A86", "solid", "star"),
        promise="exact",
        summary="Enumeration, variable elimination or bipartite enumeration, whichever is cheapest on this model.",
        paper="",
        why_not=lambda potentials: _choice(potentials.structure)[1],
    )

    def solve(self, potentials: Potentials) -> Solution:
        """A proved maximum; raises Refusal where none of the three is tractable."""
        return self.solve_batch(potentials, potentials.unary[None])[0]

    def solve_batch(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> list[Solution]:
        """All by the same of the three."""
        return self._chosen(potentials).solve_batch(potentials, unary)

    def solve_factors(self, factors: Factors) -> Solution:
        """By elimination where its tables are small enough, else by the list of all states."""
        log_states = float(np.log2(np.array(factors.card, np.float64)).sum())
        small = on_factors.why_not_eliminate(factors) is not None and log_states <= MAX_LISTED
        return (Enumeration() if small else Elimination()).solve_factors(factors)

    def decode(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> Int8[np.ndarray, "b n"]:
        """All by the same of the three."""
        return self._chosen(potentials).decode(potentials, unary)

    def _chosen(self, potentials: Potentials) -> MapOracle:
        oracle, reason = _choice(potentials.structure)
        if oracle is None:
            raise Refusal(reason or "")
        return oracle


def _choose(structure: Structure) -> tuple[MapOracle | None, str | None]:
    log_states = float(np.log2(np.array(structure.card, np.float64)).sum())
    refused = _refusal(structure)
    costs: list[tuple[float, MapOracle]] = []
    if log_states <= MAX_LISTED:
        features = 2.0**log_states * structure.states * (structure.n + len(structure.i) * structure.states)
        # Features that are not kept are made anew for every call, which takes far longer than adding them up.
        costs.append((features / 8 if features <= KEPT_FEATURES else 5 * features, Enumeration()))
    if refused is None:
        # Every bucket costs about as much as 2^14 additions before it has added anything.
        costs.append((structure.n * 2.0**14 + _order(structure).entries * 4, Elimination()))
    if structure.binary and not_bipartite(structure) is None and structure.sides is not None:
        small = min(int(structure.sides.sum()), int((~structure.sides).sum()))
        # It is solved one by one, and sets out anew each time.
        costs.append((2.0**small * (structure.n - small) * 4 + 2.0**18, BipartiteEnumeration()))
    if not costs:
        return None, refused
    return min(costs, key=lambda cost: cost[0])[1], None


_choice: Prepared[tuple[MapOracle | None, str | None]] = Prepared(_choose)

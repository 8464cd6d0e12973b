"""Exact MAP by enumeration, by variable elimination, and by summing over one side of a bipartite model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact import elimination
from pmpviz.exact.order import Order, best_order
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Prepared, Solution
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Refusal

# log2 of the states that are listed, of the side that is listed, and of the cells worked on at once.
MAX_LISTED, MAX_SIDE, BLOCK = 20, 22, 1 << 16
# Cells of the features of all states (int8 as float64) that are kept for a structure.
KEPT_FEATURES = 1 << 21


@dataclass(frozen=True)
class Enumeration(MapOracle):
    """argmax over the list of all states: theta = F [unary, table], F the states' indicators."""

    spec = OracleSpec(
        id="enumeration",
        label="Enumeration",
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
        _insist(_too_many(potentials.structure))
        states = _states_of(potentials.structure)
        best, place = np.full(len(unary), -np.inf), np.zeros(len(unary), np.int64)
        for start, ones, pairs in states.blocks():
            value = ones @ unary.reshape(len(unary), -1).T + (pairs @ potentials.table.reshape(-1))[:, None]
            rows = value.argmax(0)
            top = value[rows, np.arange(len(unary))]
            place = np.where(top > best, start + rows, place)
            best = np.maximum(top, best)
        shift = {"states": float(states.total)}
        return [
            Solution.proved(potentials.with_values(one), states.state(at), **shift)
            for one, at in zip(unary, place.tolist(), strict=True)
        ]


class _States:
    """The list of all states of a structure, with their indicators in blocks, kept where they are few."""

    def __init__(self, structure: Structure):
        self.structure = structure
        self.total = int(np.prod([float(c) for c in structure.card]))
        k = structure.states
        self.width = structure.n * k + len(structure.i) * k * k
        self._kept = list(self._make()) if self.total * self.width <= KEPT_FEATURES else None

    def blocks(self):
        """(first state, indicators of states [m, n k], of pairs of states [m, e k k]) in turn."""
        return iter(self._kept) if self._kept is not None else self._make()

    def _make(self):
        rows = max(1, KEPT_FEATURES // max(self.width, 1))
        for start in range(0, self.total, rows):
            x = self.state(np.arange(start, min(start + rows, self.total)))
            one = np.eye(self.structure.states)[x]
            pair = one[:, self.structure.i, :, None] * one[:, self.structure.j, None, :]
            yield start, one.reshape(len(x), -1), pair.reshape(len(x), -1)

    def state(self, index: int | np.ndarray) -> Int[np.ndarray, "... n"]:
        """The configurations at some places of the list."""
        if not self.structure.n:
            return np.zeros((*np.shape(index), 0), np.int64)
        return np.stack(np.unravel_index(index, self.structure.card), -1)


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
        _insist(_refusal(potentials.structure))
        plan = _plan_of(potentials.structure)
        rows = max(1, int(BLOCK // 2.0**plan.order.largest))
        parts = [plan.maximise(unary[at : at + rows], potentials.table) for at in range(0, len(unary), rows)]
        found = np.concatenate(parts) if parts else np.zeros((0, potentials.n), np.int64)
        width = {"width": float(plan.order.width)}
        return [Solution.proved(potentials.with_values(one), x, **width) for one, x in zip(unary, found, strict=True)]


class _Plan:
    """Which factors and messages meet in which bucket, worked out once for a structure."""

    def __init__(self, structure: Structure):
        self.structure, self.order = structure, _order(structure)
        place = {v: k for k, v in enumerate(self.order.variables)}
        self.scopes = [tuple(sorted(place[v] for v in scope)) for scope in self.order.scopes]
        self.card = [structure.card[v] for v in self.order.variables]
        self.edges: list[list[tuple[int, int, bool]]] = [[] for _ in self.scopes]
        for e, (a, b) in enumerate(zip(structure.i.tolist(), structure.j.tolist(), strict=True)):
            first, second = sorted((place[a], place[b]))
            self.edges[first].append((e, second, place[a] > place[b]))
        self.children: list[list[int]] = [[] for _ in self.scopes]
        for k, scope in enumerate(self.scopes):
            if len(scope) > 1:
                self.children[scope[1]].append(k)

    def maximise(self, unary: Float[np.ndarray, "b n k"], table: Float[np.ndarray, "e k k"]) -> np.ndarray:
        """Maximising configurations [b, n]."""
        messages: list[np.ndarray] = []
        choices: list[np.ndarray] = []
        for k in range(len(self.scopes)):
            total = self._bucket(k, unary, table, messages)
            choices.append(total.argmax(1).astype(np.int8))
            messages.append(np.take_along_axis(total, choices[-1][:, None].astype(np.int64), 1)[:, 0])
        return self._decode(choices, len(unary))

    def _bucket(self, k: int, unary, table, messages) -> np.ndarray:
        """Sum of what meets in bucket k: [b, states of k, states of the later variables of its scope]."""
        scope, v = self.scopes[k], self.order.variables[k]
        total = np.zeros((len(unary), *(self.card[u] for u in scope)))
        total += unary[:, v, : self.card[k]].reshape(len(unary), -1, *[1] * (len(scope) - 1))
        for e, other, swapped in self.edges[k]:
            values = table[e].T if swapped else table[e]
            total += self._spread((k, other), values[: self.card[k], : self.card[other]][None], scope)
        for child in self.children[k]:
            total += self._spread(self.scopes[child][1:], messages[child], scope)
        return total

    def _spread(self, own: tuple[int, ...], values: np.ndarray, scope: tuple[int, ...]) -> np.ndarray:
        kept = set(own)
        return values.reshape(len(values), *(self.card[u] if u in kept else 1 for u in scope))

    def _decode(self, choices: list[np.ndarray], count: int) -> np.ndarray:
        state, rows = np.zeros((count, len(self.scopes)), np.int64), np.arange(count)
        for k in reversed(range(len(self.scopes))):
            state[:, k] = choices[k][(rows, *(state[:, u] for u in self.scopes[k][1:]))]
        found = np.zeros_like(state)
        found[:, self.order.variables] = state
        return found


_plan_of = Prepared(_Plan)


def _order(structure: Structure) -> Order:
    return best_order(structure.card, np.stack([structure.i, structure.j], 1))


def _refusal(structure: Structure) -> str | None:
    return elimination.refusal(_order(structure), structure.n)


@dataclass(frozen=True)
class BipartiteEnumeration(MapOracle):
    """max over a of own.a + sum_b max(0, c_b + a.W_b): the smaller side listed, the other maximised unit by unit."""

    spec = OracleSpec(
        id="bipartite",
        label="Bipartite enumeration",
        promise="exact",
        summary="Lists the states of the smaller side of a bipartite binary model, such as an RBM.",
        paper="",
        why_not=lambda potentials: _not_bipartite(potentials.structure),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The maximum; the listed side is split in two halves whose fields are added, which touches little memory."""
        _insist(_not_bipartite(potentials.structure))
        listed, own, other, cross = _sides(potentials)
        middle = len(own) // 2
        left, right = _fields(own[:middle], cross[:middle]), _fields(own[middle:], cross[middle:])
        best, state = -np.inf, (0, 0)
        rows = max(1, BLOCK // len(right[0]))
        for start in range(0, len(left[0]), rows):
            part = slice(start, start + rows)
            total = left[0][part, None] + right[0]
            for b, bias in enumerate(other):
                field = left[1][part, b, None] + (right[1][:, b] + bias)
                total += np.maximum(field, 0.0, out=field)
            at = int(total.argmax())
            if total.flat[at] > best:
                best, state = float(total.flat[at]), (start + at // len(right[0]), at % len(right[0]))
        a = np.concatenate([_bits(middle)[state[0]], _bits(len(own) - middle)[state[1]]])
        x = np.zeros(potentials.n, np.int8)
        x[listed], x[~listed] = a, (other + a @ cross) > 0
        return Solution.proved(potentials, x, states=2.0 ** len(own))


def _sides(potentials: Potentials):
    """(which variables are listed, their biases, the others' biases, weights between)."""
    s = potentials.structure
    listed = s.sides
    assert listed is not None
    if listed.sum() * 2 > s.n:
        listed = ~listed
    bias, w, _ = potentials.quadratic()
    matrix = np.zeros((s.n, s.n))
    matrix[s.i, s.j] = matrix[s.j, s.i] = w
    return listed, bias[listed], bias[~listed], matrix[np.ix_(listed, ~listed)]


def _bits(count: int) -> np.ndarray:
    return ((np.arange(1 << count)[:, None] >> np.arange(count)) & 1).astype(np.float64)


def _fields(own: np.ndarray, cross: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    states = _bits(len(own))
    return states @ own, np.asfortranarray(states @ cross)


def _not_bipartite(structure: Structure) -> str | None:
    if not structure.binary:
        return "bipartite enumeration needs two-state variables; this model has others"
    if structure.sides is None:
        return "bipartite enumeration needs a model whose edges all run between two groups; this one has an odd cycle"
    small = min(int(structure.sides.sum()), int((~structure.sides).sum()))
    if small <= MAX_SIDE:
        return None
    return f"bipartite enumeration would list 2^{small} states of the smaller side; it lists at most 2^{MAX_SIDE}"


@dataclass(frozen=True)
class Exact(MapOracle):
    """The cheapest of the three that is tractable."""

    spec = OracleSpec(
        id="exact",
        label="Exact",
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
        oracle, reason = _choice(potentials.structure)
        if oracle is None:
            raise Refusal(reason or "")
        return oracle.solve_batch(potentials, unary)


def _choose(structure: Structure) -> tuple[MapOracle | None, str | None]:
    log_states = float(np.log2(np.array(structure.card, np.float64)).sum())
    refused = _refusal(structure)
    costs: list[tuple[float, MapOracle]] = []
    if log_states <= MAX_LISTED:
        costs.append((2.0**log_states * (structure.n + len(structure.i)) / 8, Enumeration()))
    if refused is None:
        # Every bucket costs about as much as 2^14 additions before it has added anything.
        costs.append((structure.n * 2.0**14 + _order(structure).entries * 4, Elimination()))
    if structure.binary and _not_bipartite(structure) is None and structure.sides is not None:
        small = min(int(structure.sides.sum()), int((~structure.sides).sum()))
        costs.append(((2.0**small * (structure.n - small)) * 4, BipartiteEnumeration()))
    if not costs:
        return None, refused
    return min(costs, key=lambda cost: cost[0])[1], None


_choice: Prepared[tuple[MapOracle | None, str | None]] = Prepared(_choose)


def _insist(reason: str | None) -> None:
    if reason is not None:
        raise Refusal(reason)


__all__ = ["BipartiteEnumeration", "Elimination", "Enumeration", "Exact"]

"""Minimum cuts: exact MAP of attractive two-state models, and roof duality (QPBO) for all others.

theta(x) = b.x + sum w x_i x_j + c is -E, and E is a sum of positive terms over literals (x_i, 1 - x_i):
- attractive (w >= 0): -w x_i x_j = -w x_i + w x_i (1 - x_j), a cut between x_i on the source's side and x_j on the
  sink's (Greig, Porteous and Seheult 1989);
- in general every variable has two nodes, one for each literal, and a term a u v cuts u from the complement of v and v
  from the complement of u, by a / 2 each (Boros and Hammer 2002; Kolmogorov and Rother 2007).

Variables whose own field outweighs all that their neighbours can do are settled first, again and again; the cut is
left with the others.

The flow is found in whole numbers of 64 bits: capacities are scaled by a power of two and rounded *down*, so that it is
one of the real capacities and proves a bound, short of the best by less than 2^-59 of what can flow at most, an arc.
The result is called exact only where that bound meets the configuration's value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Int8

from pmpviz.oracles.icm import descend, unary_argmax
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Solution
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import Style

# log2 of what the flow is at most in whole numbers.
BITS = 60
# Weights below this share of the largest are rounding, not repulsion.
NEGLIGIBLE = 1e-12
# Rounds in which variables are settled before the cut: later ones settle few.
SETTLING = 12


def minimum_cut(
    nodes: int, tail: Int[np.ndarray, " a"], head: Int[np.ndarray, " a"], capacity: Float[np.ndarray, " a"]
) -> tuple[Bool[np.ndarray, " nodes"], float]:
    """(nodes on the source's side, value of a feasible flow) between source nodes - 2 and sink nodes - 1.

    The side is what the source still reaches, the smallest of all minimum cuts, up to that rounding. The flow is by the
    push-relabel of OR-tools (Goldberg and Tarjan 1988).
    """
    from ortools.graph.python import max_flow

    source, sink = nodes - 2, nodes - 1
    most = min(capacity[tail == source].sum(), capacity[head == sink].sum()) or capacity.max(initial=0.0) or 1.0
    # A power of two, so that whole numbers and halves of them lose nothing, and ties stay ties.
    scale = np.exp2(np.floor(min(BITS - np.log2(most), 1000)))
    graph = max_flow.SimpleMaxFlow()
    # What is wider than all that can flow is never full.
    whole = (np.minimum(capacity, 2.0 * most) * scale).astype(np.int64)
    graph.add_arcs_with_capacity(tail.astype(np.int32), head.astype(np.int32), whole)
    # It knows the nodes that it has seen: an arc of nothing shows it both ends.
    graph.add_arc_with_capacity(source, sink, 0)
    status = graph.solve(source, sink)
    if status != graph.OPTIMAL:
        raise ArithmeticError(f"no maximum flow was found: {status.name}")
    side = np.arange(nodes) == source
    side[graph.get_source_side_min_cut()] = True
    return side, float(graph.optimal_flow() / scale)


@dataclass(frozen=True, eq=False)
class Core:
    """What is left of theta(x) = bias.x + sum w x_i x_j + constant when all is settled that can be by itself.

    `label` holds the settled states of all variables, -1 elsewhere; `free` are the others, which `bias` and the edges
    i, j, w are about, by their number among them; `constant` is with what the settled ones give.
    """

    label: Int8[np.ndarray, " n"]
    free: Int[np.ndarray, " m"]
    bias: Float[np.ndarray, " m"]
    i: Int[np.ndarray, " e"]
    j: Int[np.ndarray, " e"]
    w: Float[np.ndarray, " e"]
    constant: float

    @classmethod
    def of(cls, bias: np.ndarray, i: np.ndarray, j: np.ndarray, w: np.ndarray, constant: float) -> Core:
        """A variable is 1 where b_i + sum of its negative w > 0, and 0 where b_i + sum of its positive w < 0.

        It has that state in every maximum; its neighbours' biases take up w x_i, and may settle them in turn.
        """
        n, bias = len(bias), bias.copy()
        label = np.full(n, -1, np.int8)
        for _ in range(SETTLING):
            down, up = (
                np.bincount(i, part, n) + np.bincount(j, part, n) for part in (np.minimum(w, 0), np.maximum(w, 0))
            )
            margin = NEGLIGIBLE * (np.abs(bias) + up - down)
            one = (bias + down > margin) & (label < 0)
            new = one | ((bias + up < -margin) & (label < 0))
            if not new.any():
                break
            label[new] = one[new]
            first, second = new[i], new[j]
            constant += float(bias[one].sum() + w[one[i] & one[j]].sum())
            tells, told = one[i] & ~second, one[j] & ~first
            bias += np.bincount(j[tells], w[tells], n) + np.bincount(i[told], w[told], n)
            held = ~(first | second)
            i, j, w = i[held], j[held], w[held]
        free = np.flatnonzero(label < 0)
        number = np.zeros(n, np.int64)
        number[free] = np.arange(len(free))
        return cls(label, free, bias[free], number[i], number[j], w, constant)

    def labelled(self, found: Int[np.ndarray, " m"]) -> Int8[np.ndarray, " n"]:
        """All labels, those of the free ones being `found`."""
        label = self.label.copy()
        label[self.free] = found
        return label


def _terminals(cost: Float[np.ndarray, " n"], source: int, sink: int, place: np.ndarray):
    """(tail, head, capacity) of the unary cost of being on the source's side: to the sink, or from the source."""
    up = cost > 0
    tail, head = np.where(up, place, source), np.where(up, sink, place)
    return tail, head, np.abs(cost)


def _not_attractive(potentials: Potentials) -> str | None:
    s = potentials.structure
    if not s.binary:
        v = next(v for v, states in enumerate(s.card) if states != 2)
        return f"a graph cut needs two-state variables; variable {v} has {s.card[v]} states"
    _, w, _ = potentials.quadratic()
    repelled = np.flatnonzero(w < -NEGLIGIBLE * np.abs(w).max(initial=0))
    if not len(repelled):
        return None
    e = repelled[0]
    edges = "edge" if len(repelled) == 1 else "edges"
    return (
        f"a graph cut needs an attractive model; {len(repelled)} {edges} repel, the first between "
        f"{s.i[e]} and {s.j[e]} (w = {w[e]:.3g}): use QPBO"
    )


def _not_binary(potentials: Potentials) -> str | None:
    s = potentials.structure
    v = next((v for v, states in enumerate(s.card) if states != 2), None)
    return None if v is None else f"QPBO needs two-state variables; variable {v} has {s.card[v]} states"


@dataclass(frozen=True)
class GraphCut(MapOracle):
    """min E = a minimum cut between a source (1) and a sink (0)."""

    spec = OracleSpec(
        id="graph_cut",
        label="Graph cut",
        style=Style("#7D7D79", "dot", "square"),
        promise="exact",
        summary="A minimum cut: the maximum of attractive two-state models, up to rounding that is checked.",
        paper="Greig, Porteous and Seheult 1989",
        why_not=_not_attractive,
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The cut's configuration, and the flow's bound on the maximum."""
        self.insist(potentials)
        s, (bias, w, constant) = potentials.structure, potentials.quadratic()
        core = Core.of(bias, s.i, s.j, np.maximum(w, 0.0), constant)
        n = len(core.free)
        cost = -core.bias - np.bincount(core.i, core.w, n)
        tail, head, capacity = _terminals(cost, n, n + 1, np.arange(n))
        arcs = (np.concatenate(parts) for parts in ((tail, core.i), (head, core.j), (capacity, core.w)))
        side, flow = minimum_cut(n + 2, *arcs)
        upper = core.constant - float(np.minimum(cost, 0.0).sum()) - flow
        return Solution.bounded(potentials, core.labelled(side[:n]), upper)


@dataclass(frozen=True)
class Qpbo(MapOracle):
    """Roof duality: variables whose two literals a minimum cut separates keep their state in some maximum."""

    spec = OracleSpec(
        id="qpbo",
        label="QPBO",
        style=Style("#B9B9B5", "longdash", "square"),
        promise="bound",
        summary="Labels the variables that roof duality decides; ICM completes the others. The bound is the LP's.",
        paper="Boros and Hammer 2002; Kolmogorov and Rother 2007",
        why_not=_not_binary,
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The labelled variables (note `labelled`: their share), the others by ICM, and the roof dual."""
        self.insist(potentials)
        label, upper = roof(potentials)
        labelled = label >= 0
        x = np.where(labelled, label, unary_argmax(potentials))
        if not labelled.all():
            # Giving the labelled variables their labels back never loses, whatever the others are (persistency).
            x = np.where(labelled, label, descend(potentials, x))
        return Solution.bounded(potentials, x, upper, labelled=float(labelled.mean()) if potentials.n else 1.0)


def roof(potentials: Potentials) -> tuple[Int8[np.ndarray, " n"], float]:
    """(label of every variable, -1 where roof duality decides none; the roof dual, an upper bound of the maximum).

    A variable is labelled where the source reaches one of its two literals.
    """
    s, (bias, w, constant) = potentials.structure, potentials.quadratic()
    held = np.abs(w) > NEGLIGIBLE * np.abs(w).max(initial=0)
    core = Core.of(bias, s.i[held], s.j[held], w[held], constant)
    i, j, w, n = core.i, core.j, core.w, len(core.free)
    # E = cost.x + sum over w > 0 of w x_i (1 - x_j) + sum over w < 0 of |w| x_i x_j - c.
    cost = -core.bias - np.bincount(i, np.maximum(w, 0.0), n)
    own = _terminals(cost / 2, 2 * n, 2 * n + 1, np.arange(n))
    mirrored = _terminals(-cost / 2, 2 * n, 2 * n + 1, n + np.arange(n))
    other, back = np.where(w > 0, j, n + j), np.where(w > 0, n + j, j)
    pairs = (i, other, np.abs(w) / 2), (back, n + i, np.abs(w) / 2)
    tail, head, capacity = (np.concatenate(parts) for parts in zip(own, mirrored, *pairs, strict=True))
    side, flow = minimum_cut(2 * n + 2, tail, head, capacity)
    own, complement = side[:n], side[n : 2 * n]
    label = core.labelled(np.where(own == complement, -1, own))
    return label, core.constant - float(np.minimum(cost, 0.0).sum()) - flow


__all__ = ["Core", "GraphCut", "Qpbo", "minimum_cut", "roof"]

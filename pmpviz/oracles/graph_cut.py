"""Minimum cuts: exact MAP of attractive two-state models, and roof duality (QPBO) for all others.

theta(x) = b.x + sum w x_i x_j + c is -E, and E is a sum of positive terms over literals (x_i, 1 - x_i):
- attractive (w >= 0): -w x_i x_j = -w x_i + w x_i (1 - x_j), a cut between x_i on the source's side and x_j on the
  sink's (Greig, Porteous and Seheult 1989);
- in general every variable has two nodes, one for each literal, and a term a u v cuts u from the complement of v and v
  from the complement of u, by a / 2 each (Boros and Hammer 2002; Kolmogorov and Rother 2007).

scipy's maximum flow takes whole numbers of 32 bits. Capacities are scaled and rounded *down*, so that every flow found
is one of the real capacities and proves a bound in double precision; what is left of them is scaled up and solved again
until nothing is lost. The result is called exact only where that bound meets the configuration's value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Bool, Float, Int, Int8

from pmpviz.oracles.icm import descend, unary_argmax
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Solution
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import Style

# The flow of a round stays below this whole number, and so does every capacity. Rounds end when no more than this
# share of the capacity can still flow.
LARGEST, ROUNDS, NOTHING = (1 << 30) - 1, 4, 1e-13
# Weights below this share of the largest are rounding, not repulsion.
NEGLIGIBLE = 1e-12


def minimum_cut(
    nodes: int, tail: Int[np.ndarray, " a"], head: Int[np.ndarray, " a"], capacity: Float[np.ndarray, " a"]
) -> tuple[Bool[np.ndarray, " nodes"], float]:
    """(nodes on the source's side, value of a feasible flow) between source nodes - 2 and sink nodes - 1.

    The side is what the source still reaches, the smallest of all minimum cuts, up to the scaling of the last round.
    """
    source, sink, flow = nodes - 2, nodes - 1, 0.0
    rest = scipy.sparse.csr_array((capacity, (tail, head)), shape=(nodes, nodes))
    total = float(min(rest[[source]].sum(), rest[:, [sink]].sum()))
    least, side = NOTHING * total, _reached(rest, source, 0.0)
    for _ in range(ROUNDS):
        if total <= least:
            break
        scale = LARGEST / total
        rounded = np.minimum(rest.data * scale, LARGEST).astype(np.int32)
        sent = scipy.sparse.csgraph.maximum_flow(
            scipy.sparse.csr_array((rounded, rest.indices, rest.indptr), rest.shape), source, sink
        )
        flow += sent.flow_value / scale
        taken = scipy.sparse.csr_array((sent.flow.data / scale, sent.flow.indices, sent.flow.indptr), rest.shape)
        rest = scipy.sparse.csr_array(rest - taken)
        rest.data = np.maximum(rest.data, 0.0)
        # What was lost by rounding, less than 1 / scale on every arc across the cut, can still flow.
        side = _reached(rest, source, 1.0 / scale)
        rows = np.repeat(np.arange(nodes), np.diff(rest.indptr))
        total = float(rest.data[side[rows] & ~side[rest.indices]].sum())
    return side, flow


def _reached(rest: scipy.sparse.csr_array, source: int, least: float) -> Bool[np.ndarray, " nodes"]:
    """Nodes that the source reaches over arcs of at least this capacity."""
    open_arcs = rest.copy()
    open_arcs.data = ((rest.data >= least) & (rest.data > 0)).astype(np.int32)
    open_arcs.eliminate_zeros()
    side = np.zeros(rest.shape[0], bool)
    side[scipy.sparse.csgraph.breadth_first_order(open_arcs, source, return_predecessors=False)] = True
    return side


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
    """min E = a minimum cut between a source (1) and a sink (0), by Dinic's maximum flow."""

    spec = OracleSpec(
        id="graph_cut",
        label="Graph cut",
        style=Style("#7D7D79", "dot", "square"),
        promise="exact",
        summary="A minimum cut: the maximum of attractive two-state models, up to rounding that is checked.",
        paper="Greig, Porteous and Seheult 1989; Dinic 1970",
        why_not=_not_attractive,
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The cut's configuration, and the flow's bound on the maximum."""
        self.insist(potentials)
        s, n = potentials.structure, potentials.n
        bias, w, constant = potentials.quadratic()
        w = np.maximum(w, 0.0)
        cost = -bias - np.bincount(s.i, w, n)
        tail, head, capacity = _terminals(cost, n, n + 1, np.arange(n))
        arcs = (np.concatenate(parts) for parts in ((tail, s.i), (head, s.j), (capacity, w)))
        side, flow = minimum_cut(n + 2, *arcs)
        upper = constant - float(np.minimum(cost, 0.0).sum()) - flow
        return Solution.bounded(potentials, side[:n], upper)


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
    s, n = potentials.structure, potentials.n
    bias, w, constant = potentials.quadratic()
    w = np.where(np.abs(w) > NEGLIGIBLE * np.abs(w).max(initial=0), w, 0.0)
    # E = cost.x + sum over w > 0 of w x_i (1 - x_j) + sum over w < 0 of |w| x_i x_j - c.
    cost = -bias - np.bincount(s.i, np.maximum(w, 0.0), n)
    own = _terminals(cost / 2, 2 * n, 2 * n + 1, np.arange(n))
    mirrored = _terminals(-cost / 2, 2 * n, 2 * n + 1, n + np.arange(n))
    other, back = np.where(w > 0, s.j, n + s.j), np.where(w > 0, n + s.j, s.j)
    pairs = (s.i, other, np.abs(w) / 2), (back, n + s.i, np.abs(w) / 2)
    tail, head, capacity = (np.concatenate(parts) for parts in zip(own, mirrored, *pairs, strict=True))
    side, flow = minimum_cut(2 * n + 2, tail, head, capacity)
    own, complement = side[:n], side[n : 2 * n]
    label = np.where(own == complement, -1, own).astype(np.int8)
    return label, constant - float(np.minimum(cost, 0.0).sum()) - flow


__all__ = ["GraphCut", "Qpbo", "minimum_cut", "roof"]

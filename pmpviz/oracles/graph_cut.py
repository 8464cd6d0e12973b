"""Minimum cuts: exact MAP of attractive two-state models, and roof duality (QPBO) for all others.

theta(x) = b.x + sum w x_i x_j + c is -E, and E is a sum of positive terms over literals (x_i, 1 - x_i):
- attractive (w >= 0): -w x_i x_j = -w x_i + w x_i (1 - x_j), a cut between x_i on the source's side and x_j on the
  sink's (Greig, Porteous and Seheult 1989);
- in general every variable has two nodes, one for each literal, and a term a u v cuts u from the complement of v and v
  from the complement of u, by a / 2 each (Boros and Hammer 2002; Kolmogorov and Rother 2007).

Variables whose own field outweighs all that their neighbours can do are settled first, again and again; the cut is
left with the others.

scipy's maximum flow takes whole numbers of 32 bits. Capacities are scaled and rounded *down*, so that every flow found
is one of the real capacities and proves a bound in double precision; what is left of them is scaled up and solved again
until nothing is lost. Nodes between which far more is left than can still flow are one node by then, and few remain.
The result is called exact only where that bound meets the configuration's value.
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
# Rounds in which variables are settled before the cut: later ones settle few.
SETTLING = 12


def minimum_cut(
    nodes: int, tail: Int[np.ndarray, " a"], head: Int[np.ndarray, " a"], capacity: Float[np.ndarray, " a"]
) -> tuple[Bool[np.ndarray, " nodes"], float]:
    """(nodes on the source's side, value of a feasible flow) between source nodes - 2 and sink nodes - 1.

    The side is what the source still reaches, the smallest of all minimum cuts, up to the scaling of the last round.
    """
    rest, place, flow = _graph(nodes, tail, head, capacity), np.arange(nodes), 0.0
    total = float(min(rest[[nodes - 2]].sum(), rest[:, [nodes - 1]].sum()))
    least, side = NOTHING * total, _reached(rest, 0.0)
    for _ in range(ROUNDS):
        if total <= least:
            break
        # A power of two, so that whole numbers and halves of them lose nothing, and ties stay ties.
        scale = 2.0 ** np.floor(np.log2(LARGEST / total))
        sent, rest = _augmented(rest, scale)
        flow += sent / scale
        # What was lost by rounding, less than 1 / scale on every arc across the cut, can still flow.
        reached = _reached(rest, 1.0 / scale)
        tail, head = _ends(rest)
        side, total = reached[place], float(rest.data[reached[tail] & ~reached[head]].sum())
        rest, merged = _merged(rest, 2.0 * total)
        place = merged[place]
    return side, flow


def _graph(nodes: int, tail: np.ndarray, head: np.ndarray, capacity: np.ndarray) -> scipy.sparse.csr_array:
    return scipy.sparse.csr_array((capacity, (tail, head)), shape=(nodes, nodes))


def _ends(graph: scipy.sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """(tail, head) of every arc."""
    return np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr)), graph.indices


def _augmented(graph: scipy.sparse.csr_array, scale: float) -> tuple[int, scipy.sparse.csr_array]:
    """(the largest flow of the capacities times `scale`, in whole numbers; what capacity it leaves)."""
    nodes = graph.shape[0]
    rounded = np.minimum(graph.data * scale, LARGEST).astype(np.int32)
    whole = scipy.sparse.csr_array((rounded, graph.indices, graph.indptr), graph.shape)
    sent = scipy.sparse.csgraph.maximum_flow(whole, nodes - 2, nodes - 1)
    taken = scipy.sparse.csr_array((sent.flow.data / scale, sent.flow.indices, sent.flow.indptr), graph.shape)
    rest = scipy.sparse.csr_array(graph - taken)
    rest.data = np.maximum(rest.data, 0.0)
    return sent.flow_value, rest


def _merged(graph: scipy.sparse.csr_array, large: float) -> tuple[scipy.sparse.csr_array, Int[np.ndarray, " nodes"]]:
    """(the graph with one node for all that reach each other over arcs of more than `large`, which of them each is).

    A flow of at most large / 2 is then as large in both: it enters such a node somewhere and leaves it elsewhere, and
    a tree of those arcs towards one of its members, and one back, carry all of it at once. Nothing is gained by a flow
    into the source or out of the sink, so that what the source reaches, or what reaches the sink, is one node too.
    """
    nodes = graph.shape[0]
    (tail, head), every = _ends(graph), np.arange(nodes)
    wide = graph.data > large
    tails = np.concatenate([tail[wide], every, np.full(nodes, nodes - 1)])
    heads = np.concatenate([head[wide], np.full(nodes, nodes - 2), every])
    links = _graph(nodes, tails, heads, np.ones(len(tails), np.int8))
    count, member = scipy.sparse.csgraph.connected_components(links, connection="strong")
    for end in (nodes - 2, nodes - 1):
        # Source and sink come last.
        member[member == member[end]] = count + end
    _, member = np.unique(member, return_inverse=True)
    tail, head = member[tail], member[head]
    kept = (tail != head) & (graph.data > 0)
    count = int(member.max()) + 1
    return _graph(count, tail[kept], head[kept], graph.data[kept]), member


def _reached(rest: scipy.sparse.csr_array, least: float) -> Bool[np.ndarray, " nodes"]:
    """Nodes that the source reaches over arcs of at least this capacity."""
    tail, head = _ends(rest)
    wide = (rest.data >= least) & (rest.data > 0)
    nodes = rest.shape[0]
    links = _graph(nodes, tail[wide], head[wide], np.ones(int(wide.sum()), np.int8))
    side = np.zeros(nodes, bool)
    side[scipy.sparse.csgraph.breadth_first_order(links, nodes - 2, return_predecessors=False)] = True
    return side


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

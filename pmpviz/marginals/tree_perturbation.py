"""Pairwise perturbations on trees, with copies of the variables (Hazan, Maji and Jaakkola's theorem)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float

from pmpviz.oracles.potentials import Potentials
from pmpviz.types import InputError, Refusal

# Gumbel numbers drawn at once.
CELLS = 1 << 22


@dataclass(frozen=True)
class TreePair:
    """`probability[k, k]` that the perturbed maximum takes each pair of states on one edge, with standard errors.

    `value[d]` is the expected maximum of the edge's component over the edge's own noise, for every draw of the others.
    """

    probability: Float[np.ndarray, "k k"]
    standard_error: Float[np.ndarray, "k k"]
    value: Float[np.ndarray, " d"]

    def error(self, marginal: Float[np.ndarray, "k k"]) -> float:
        """max over pairs |log P(x_r, x_s) - log p(x_r, x_s)|: what the theorem bounds by epsilon n."""
        return float(np.abs(np.log(self.probability) - np.log(marginal)).max())


def tree_pair(potentials: Potentials, edge: int, copies: int, draws: int, rng: np.random.Generator) -> TreePair:
    """Law of (x_r, x_s) at the maximum of theta with pairwise Gumbel noise and `copies` copies of every variable.

    The edge (r, s) itself has one noise gamma_rs(x_r, x_s) and is not inflated. Every other edge (i, j), j being the
    farther from (r, s), enters as the mean over m copies of j,

        M_j(x_i) = 1/m sum_c max_{x_j} theta_ij(x_i, x_j) + theta_j(x_j) + sum_k M_k(x_j) + gamma_ij,c(x_i, x_j),

    whose expectation is the log of the sum over the subtree where its own messages are exact: with m the maximum's law
    tends to the marginal, |log P - log p| <= epsilon n with a probability of at least 1 - pi^2 / (6 m epsilon^2) an
    edge and state (the poster prints pi for pi^2, and leaves the noise uncentred). gamma_rs is integrated out: given
    the messages the pair's law is a softmax. The copies of a variable share the noise of the subtrees behind them.
    Raises Refusal where the model has a cycle.
    """
    s = potentials.structure
    if not 0 <= edge < len(s.i):
        raise InputError(f"edge {edge} does not exist; give one from 0 to {len(s.i) - 1}")
    if copies < 1 or draws < 2:
        raise InputError(f"{copies} copies and {draws} draws; give at least 1 copy and 2 draws")
    r, t = int(s.i[edge]), int(s.j[edge])
    if has_cycle(potentials):
        raise Refusal("the theorem is of trees; this model has a cycle")
    rows = max(1, CELLS // max(copies * s.states**2, s.n * s.states))
    laws, values = [], []
    for start in range(0, draws, rows):
        count = min(rows, draws - start)
        first = _field(potentials, r, t, copies, count, rng)
        second = _field(potentials, t, r, copies, count, rng)
        score = potentials.table[edge] + first[:, :, None] + second[:, None, :]
        score = np.where(s.valid_pairs[edge], score, -np.inf)
        values.append(scipy.special.logsumexp(score, (1, 2)))
        laws.append(np.exp(score - values[-1][:, None, None]))
    law = np.concatenate(laws)
    return TreePair(law.mean(0), law.std(0, ddof=1) / np.sqrt(draws), np.concatenate(values))


def _field(potentials: Potentials, root: int, parent: int, copies: int, count: int, rng) -> Float[np.ndarray, "d k"]:
    """theta_i(x_i) + sum of the messages into i = `root` but that of its `parent`, for every draw.

    Subtree after subtree from the leaves, without recursion: a chain may be thousands of variables long.
    """
    s, tables = potentials.structure, potentials.table
    totals: dict[int, np.ndarray] = {}
    for e, j, i, first in _inwards(potentials, root, parent):
        behind = totals.pop(j, potentials.unary[j][None])
        sent = _message(tables[e] if first else tables[e].T, behind, s.card[j], copies, count, rng)
        totals[i] = totals[i] + sent if i in totals else potentials.unary[i] + sent
    return totals.get(root, np.repeat(potentials.unary[root][None], count, 0))


def _inwards(potentials: Potentials, root: int, parent: int) -> list[tuple[int, int, int, bool]]:
    """(edge, farther variable j, nearer one i, whether i is the edge's first) of the tree behind `root`, each once all
    that is behind j has been."""
    neighbours = potentials.structure.neighbours
    found, stack = [], [(root, parent)]
    while stack:
        i, before = stack.pop()
        behind = [(e, j, i, first) for e, j, first in neighbours[i] if j != before]
        found += behind
        stack += [(j, i) for _, j, _, _ in behind]
    return found[::-1]


def _message(table: np.ndarray, behind: np.ndarray, states: int, copies: int, count: int, rng):
    """Mean over the copies of j of the maximum over its states, [d, k]."""
    noise = rng.gumbel(-np.euler_gamma, 1.0, (count, copies, len(table), states))
    value = table[None, :, :states] + behind[:, None, :states]
    return (value[:, None] + noise).max(3).mean(1)


def has_cycle(potentials: Potentials) -> bool:
    """Whether the graph is no forest."""
    s = potentials.structure
    joined = scipy.sparse.coo_array((np.ones(len(s.i)), (s.i, s.j)), shape=(s.n, s.n))
    return len(s.i) != s.n - scipy.sparse.csgraph.connected_components(joined, directed=False)[0]

"""Pseudo-marginals as flat vectors: one cell for each state of each variable, and each pair of states of each edge."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from jaxtyping import Float, Int

from pmpviz.oracles.potentials import Potentials, Structure


def dot(a: Float[np.ndarray, "... m"], b: Float[np.ndarray, " m"]) -> Float[np.ndarray, "..."]:
    """a . b on this thread alone.

    `@` spreads tens of thousands of numbers over all cores; where a browser or other lanes use those too, it then waits
    for them several times longer than it computes.
    """
    return np.einsum("...m,m", a, b)


@dataclass(frozen=True, eq=False)
class Cells:
    """Where the cells of a structure lie: d = n K + e K^2, variables first; states that do not exist hold 0."""

    structure: Structure

    @cached_property
    def split(self) -> int:
        """The first cell of the edges."""
        return self.structure.n * self.structure.states

    @property
    def size(self) -> int:
        """d: cells of nodes, then of edges."""
        return self.split + len(self.structure.i) * self.structure.states**2

    def flat(self, unary: Float[np.ndarray, "n k"], table: Float[np.ndarray, "e k k"]) -> Float[np.ndarray, " d"]:
        """One vector of both."""
        return np.concatenate([np.reshape(unary, -1), np.reshape(table, -1)])

    def unary(self, mu: Float[np.ndarray, " d"]) -> Float[np.ndarray, "n k"]:
        """mu_i(x_i)."""
        return mu[: self.split].reshape(self.structure.n, self.structure.states)

    def table(self, mu: Float[np.ndarray, " d"]) -> Float[np.ndarray, "e k k"]:
        """mu_ij(x_i, x_j)."""
        k = self.structure.states
        return mu[self.split :].reshape(len(self.structure.i), k, k)

    def vertex(self, x: Int[np.ndarray, " n"]) -> Float[np.ndarray, " d"]:
        """The indicators of a configuration: a vertex of the marginal polytope."""
        s, k = self.structure, self.structure.states
        mu = np.zeros(self.size)
        x = np.asarray(x, np.int64)
        mu[np.arange(s.n) * k + x] = 1.0
        mu[self.split + (np.arange(len(s.i)) * k + x[s.i]) * k + x[s.j]] = 1.0
        return mu

    def features(self, mu: Float[np.ndarray, " d"]) -> Float[np.ndarray, " f"]:
        """The cells that no constraint of the local polytope gives: those of states from 1 on that exist."""
        return np.concatenate([self.unary(mu)[:, 1:].reshape(-1), self.table(mu)[:, 1:, 1:].reshape(-1)])[
            self._existing
        ]

    @cached_property
    def _existing(self) -> slice | Int[np.ndarray, " f"]:
        """Which of the cells of states from 1 on exist."""
        s = self.structure
        held = np.concatenate([s.valid[:, 1:].reshape(-1), s.valid_pairs[:, 1:, 1:].reshape(-1)])
        return slice(None) if held.all() else np.flatnonzero(held)

    def expand(self, features: Float[np.ndarray, "... f"]) -> Float[np.ndarray, "... d"]:
        """All cells from the `features`, by the constraints of the local polytope."""
        s, front = self.structure, features.shape[:-1]
        rest, count = s.states - 1, s.n * (s.states - 1)
        wide = np.zeros((*front, count + len(s.i) * rest**2))
        wide[..., self._existing] = features
        features = wide
        one = features[..., :count].reshape(*front, s.n, rest)
        both = features[..., count:].reshape(*front, len(s.i), rest, rest)
        unary = np.concatenate([1.0 - one.sum(-1, keepdims=True), one], -1)
        table = np.empty((*front, len(s.i), s.states, s.states))
        table[..., 1:, 1:] = both
        table[..., 1:, 0] = one[..., s.i, :] - both.sum(-1)
        table[..., 0, 1:] = one[..., s.j, :] - both.sum(-2)
        table[..., 0, 0] = unary[..., s.i, 0] - table[..., 0, 1:].sum(-1)
        return np.concatenate([unary.reshape(*front, -1), table.reshape(*front, -1)], -1)

    def reduce(self, vector: Float[np.ndarray, " d"]) -> Float[np.ndarray, " f"]:
        """r with vector . mu = r . features(mu) + a constant for every mu of the local polytope."""
        return self._reduction @ vector

    @cached_property
    def _reduction(self) -> scipy.sparse.csr_array:
        """r as a matrix: state k less state 0 at a variable, with its edges' (k, 0) less (0, 0); at an edge (k, l) less
        (k, 0) less (0, l) plus (0, 0)."""
        s, k = self.structure, self.structure.states
        cell = np.arange(self.size)
        one, both = cell[: self.split].reshape(s.n, k), cell[self.split :].reshape(len(s.i), k, k)
        row = np.arange(s.n * (k - 1)).reshape(s.n, k - 1)
        pair = row.size + np.arange(len(s.i) * (k - 1) ** 2).reshape(len(s.i), k - 1, k - 1)
        parts: list[tuple[np.ndarray, np.ndarray, float]] = [(row, one[:, 1:], 1.0), (row, one[:, :1], -1.0)]
        for ends, tied in ((s.i, both[:, 1:, 0]), (s.j, both[:, 0, 1:])):
            parts += [(row[ends], tied, 1.0), (row[ends], both[:, :1, 0], -1.0)]
        corners = ((both[:, 1:, 1:], 1.0), (both[:, 1:, :1], -1.0), (both[:, :1, 1:], -1.0), (both[:, :1, :1], 1.0))
        parts += [(pair, cells, sign) for cells, sign in corners]
        wide = [(rows.reshape(-1), np.broadcast_to(cells, rows.shape).reshape(-1), sign) for rows, cells, sign in parts]
        rows, columns = np.concatenate([w[0] for w in wide]), np.concatenate([w[1] for w in wide])
        signs = np.concatenate([np.full(len(w[0]), w[2]) for w in wide])
        whole = scipy.sparse.csr_array((signs, (rows, columns)), shape=(row.size + pair.size, self.size))
        return whole if isinstance(self._existing, slice) else scipy.sparse.csr_array(whole[self._existing])

    @cached_property
    def uniform(self) -> Float[np.ndarray, " d"]:
        """u_0: the marginals of the uniform distribution."""
        card = np.array(self.structure.card, np.float64)
        s = self.structure
        unary = s.valid / card[:, None]
        table = s.valid_pairs / (card[s.i] * card[s.j])[:, None, None]
        return self.flat(unary, table)

    def theta(self, potentials: Potentials) -> Float[np.ndarray, " d"]:
        """The potentials as a vector: theta(x) = theta . vertex(x) + constant."""
        return self.flat(potentials.unary, potentials.table)

    def potentials(self, vector: Float[np.ndarray, " d"]) -> Potentials:
        """A vector as potentials, to be maximised over configurations."""
        return Potentials(self.structure, self.unary(vector), self.table(vector))

    def spread(self, per_edge: Float[np.ndarray, " e"]) -> Float[np.ndarray, " d"]:
        """TRW's coefficients of -mu log mu: 1 - sum_j rho_ij at the variables, rho_ij at the edges."""
        s, k = self.structure, self.structure.states
        node = np.ones(s.n)
        np.subtract.at(node, s.i, per_edge)
        np.subtract.at(node, s.j, per_edge)
        return np.concatenate([np.repeat(node, k), np.repeat(per_edge, k * k)])


__all__ = ["Cells", "dot"]

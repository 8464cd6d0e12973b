"""Enumeration: binary pairwise models up to 24 free variables by halves that meet, others as one joint table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact.elimination import choose, sum_out
from pmpviz.exact.problem import Problem
from pmpviz.models.tables import Quadratic

MAX_FREE = 24
MAX_LOG_STATES = 20
ROWS = 256
SAMPLE_CELLS = 1 << 22


class SecondMoments:
    """What follows from E x_i x_j of binary variables, `second[i, j]`, whose diagonal holds p(x_i = 1)."""

    @property
    def second(self) -> Float[np.ndarray, "n n"]:
        """E x_i x_j."""
        raise NotImplementedError

    def marginals(self) -> list[np.ndarray]:
        """p(x_i) of every variable."""
        return [np.array([1 - p, p]) for p in np.clip(np.diag(self.second), 0.0, 1.0)]

    def pair_marginals(self, pairs: Int[np.ndarray, "p 2"]) -> Float[np.ndarray, "p 2 2"]:
        """p(x_i, x_j) of pairs of different variables."""
        i, j = pairs.T
        both, one, other = self.second[i, j], self.second[i, i], self.second[j, j]
        rows = np.stack([1 - one - other + both, other - both, one - both, both], 1)
        return np.clip(rows, 0.0, 1.0).reshape(-1, 2, 2)


@dataclass(frozen=True)
class Halves(SecondMoments):
    """log weight of (a, b) = left[a] + right[b] + states(a)' cross states(b): 2^n states from two lists of 2^(n/2).

    `log_rows[a]` is log p(a), `log_z` includes the constant, `second[i, j] = E x_i x_j`.
    """

    left: Float[np.ndarray, " a"]
    right: Float[np.ndarray, " b"]
    states_left: Float[np.ndarray, "a l"]
    states_right: Float[np.ndarray, "b r"]
    cross: Float[np.ndarray, "l r"]
    constant: float

    @classmethod
    def of(cls, quadratic: Quadratic) -> Halves:
        """Split the variables into 0..n/2-1 and the rest."""
        bias, i, j, w, constant = quadratic
        n, middle = len(bias), len(bias) // 2
        matrix = np.zeros((n, n))
        np.add.at(matrix, (i, j), w)
        matrix += matrix.T
        lists = []
        for part in (slice(0, middle), slice(middle, n)):
            states = _binary_states(len(bias[part]))
            lists.append((states, states @ bias[part] + ((states @ matrix[part, part]) * states).sum(1) / 2))
        (xa, left), (xb, right) = lists
        return cls(left, right, xa, xb, matrix[:middle, middle:], constant)

    def _block(self, rows) -> Float[np.ndarray, "rows b"]:
        """Log weights (without the constant) of some left halves with all right halves.

        Each right variable doubles the row, which touches far less memory than the product of the lists.
        """
        field = self.states_left[rows] @ self.cross
        block = self.left[rows][:, None]
        for k in range(field.shape[1]):
            block = np.concatenate([block, block + field[:, k : k + 1]], 1)
        return block + self.right

    @cached_property
    def _sums(self) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """(log of the sum, p(a), p(b), sum over a, b of p(a, b) states(a) states(b)'), with a running maximum."""
        top, columns, mixed = -np.inf, np.zeros(len(self.right)), np.zeros_like(self.cross)
        tops, rows = [], []
        for start in range(0, len(self.left), ROWS):
            block = self._block(slice(start, start + ROWS))
            new = max(top, float(block.max()))
            block -= new
            np.exp(block, out=block)
            shrink = np.exp(top - new)
            columns = columns * shrink + block.sum(0)
            ones, row = _fold(block)
            mixed = mixed * shrink + self.states_left[start : start + ROWS].T @ ones
            tops.append(np.full(len(block), new))
            rows.append(row)
            top = new
        total = columns.sum()
        row = np.concatenate(rows) * np.exp(np.concatenate(tops) - top) / total
        return top + float(np.log(total)), row, columns / total, mixed / total

    @property
    def log_z(self) -> float:
        """log Z, with the constant of the weight."""
        return self._sums[0] + self.constant

    @cached_property
    def second(self) -> Float[np.ndarray, "n n"]:
        """E x_i x_j; the diagonal holds p(x_i = 1)."""
        _, row, column, mixed = self._sums
        left = (self.states_left * row[:, None]).T @ self.states_left
        right = (self.states_right * column[:, None]).T @ self.states_right
        return np.block([[left, mixed], [mixed.T, right]])

    def sample(self, seed: int, count: int) -> Int[np.ndarray, "count n"]:
        """`count` exact draws: the left half by its marginal law, then the right half given it."""
        u = np.random.default_rng(seed).random((count, 2))
        a = _invert(self._sums[1], u[:, 0])
        b, size = np.empty(count, np.int64), max(1, SAMPLE_CELLS // len(self.right))
        for start in range(0, count, size):
            rows = slice(start, start + size)
            b[rows] = choose(self._block(a[rows]).T, u[rows, 1])
        return np.concatenate([self.states_left[a], self.states_right[b]], 1).astype(np.int8)


@dataclass(frozen=True)
class Joint:
    """The probabilities of all joint states as one table with an axis a variable."""

    log_z: float
    p: np.ndarray

    @classmethod
    def of(cls, problem: Problem) -> Joint:
        """Multiply all factors out; at most 2^20 states."""
        log = log_weights(problem)
        top = float(log.max())
        if np.isneginf(top):
            return cls(-np.inf, log)
        p = np.exp(log - top)
        return cls(problem.constant + top + float(np.log(p.sum())), p / p.sum())

    def marginals(self) -> list[np.ndarray]:
        """p(x_i) of every variable."""
        return [sum_out(self.p, tuple(a for a in range(self.p.ndim) if a != i)) for i in range(self.p.ndim)]

    def pair_marginals(self, pairs: Int[np.ndarray, "p 2"]) -> Float[np.ndarray, "p k k"]:
        """p(x_i, x_j) of pairs of different variables, padded with zeros to the largest cardinality."""
        found = np.zeros((len(pairs), max(self.p.shape), max(self.p.shape)))
        for row, (i, j) in zip(found, pairs.tolist(), strict=True):
            table = sum_out(self.p, tuple(a for a in range(self.p.ndim) if a not in (i, j)))
            table = table if i < j else table.T
            row[: table.shape[0], : table.shape[1]] = table
        return found

    def sample(self, seed: int, count: int) -> Int[np.ndarray, "count n"]:
        """`count` exact draws by inversion."""
        place = _invert(self.p.reshape(-1), np.random.default_rng(seed).random(count))
        return np.stack(np.unravel_index(place, self.p.shape), 1).astype(np.int8)


def log_weights(problem: Problem) -> Float[np.ndarray, "..."]:
    """The log weight of every joint state of the free variables but for the constant, with an axis a variable."""
    log = np.zeros(problem.free_card)
    for scope, table in problem.factors:
        rising = np.argsort(scope)
        shape = [c if v in scope else 1 for v, c in enumerate(problem.free_card)]
        log = log + np.transpose(table, rising).reshape(shape)
    return log


def _binary_states(n: int) -> Float[np.ndarray, "2^n n"]:
    return ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def _fold(block: Float[np.ndarray, "rows b"]) -> tuple[Float[np.ndarray, "rows r"], Float[np.ndarray, " rows"]]:
    """(sum over the states where variable k is 1, for each k; sum over all) of every row. Overwrites `block`."""
    ones = []
    while block.shape[1] > 1:
        half = block.shape[1] // 2
        ones.append(block[:, half:].sum(1))
        block = np.add(block[:, :half], block[:, half:], out=block[:, :half])
    return np.stack([np.zeros(len(block)), *ones[::-1]], 1)[:, 1:], block[:, 0]


def _invert(p: Float[np.ndarray, " m"], u: Float[np.ndarray, " s"]) -> Int[np.ndarray, " s"]:
    below = np.cumsum(p)
    return np.searchsorted(below / below[-1], u, side="right")

"""Boltzmann machines with layers: one layer is enumerated, the other summed out site by site."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact.enumeration import SecondMoments
from pmpviz.exact.problem import Problem
from pmpviz.models.rbm import LayeredModel

MAX_ENUMERATED = 22
# States enumerated times sites summed out: about a minute on one core.
MAX_TERMS = 1 << 32
CELLS = 1 << 22


@dataclass(frozen=True)
class Layers(SecondMoments):
    """log weight of (a, b) = inner(a) + (own + a'cross).b, a enumerated, b without couplings within.

    `listed` and `summed` are the free variables' numbers of a and b; `inner` is a.bias + a'matrix a / 2.
    """

    listed: Int[np.ndarray, " a"]
    summed: Int[np.ndarray, " b"]
    bias: Float[np.ndarray, " a"]
    matrix: Float[np.ndarray, "a a"]
    own: Float[np.ndarray, " b"]
    cross: Float[np.ndarray, "a b"]
    constant: float

    @classmethod
    def of(cls, model: LayeredModel, problem: Problem) -> Layers | None:
        """The cheaper split of the free variables, or None where neither layer is small enough."""
        assert problem.quadratic is not None
        hidden = problem.free >= model.visible
        # With lateral couplings only the hidden layer can be summed out.
        choices = [~hidden] if model.couplings.lateral is not None else [~hidden, hidden]
        listed = min(choices, key=lambda chosen: (int(chosen.sum()), int((~chosen).sum())))
        count, rest = int(listed.sum()), int((~listed).sum())
        if count > MAX_ENUMERATED or (max(rest, 1) << count) > MAX_TERMS:
            return None
        return cls._split(problem, np.flatnonzero(listed), np.flatnonzero(~listed))

    @classmethod
    def _split(cls, problem: Problem, listed, summed) -> Layers:
        assert problem.quadratic is not None
        bias, i, j, w, constant = problem.quadratic
        matrix = np.zeros((len(bias), len(bias)))
        np.add.at(matrix, (i, j), w)
        matrix += matrix.T
        block = matrix[np.ix_(listed, listed)]
        return cls(listed, summed, bias[listed], block, bias[summed], matrix[np.ix_(listed, summed)], constant)

    @property
    def method(self) -> str:
        """How it was computed, in words."""
        return f"enumeration of 2^{len(self.listed)} states of one layer"

    def _blocks(self):
        """(first state, states [m, a], log weight of a with b summed out [m], fields of b [m, b]) in turn."""
        total, rows = 1 << len(self.listed), max(1, CELLS // max(len(self.summed), 1))
        for start in range(0, total, rows):
            index = np.arange(start, min(start + rows, total))
            a = ((index[:, None] >> np.arange(len(self.listed))) & 1).astype(np.float64)
            field = self.own + a @ self.cross
            log = a @ self.bias + ((a @ self.matrix) * a).sum(1) / 2 + np.logaddexp(0.0, field).sum(1)
            yield start, a, log, field

    @cached_property
    def log_rows(self) -> Float[np.ndarray, " states"]:
        """log weight of every state of the enumerated layer, without the constant."""
        return np.concatenate([log for _, _, log, _ in self._blocks()])

    @cached_property
    def _log_sum(self) -> float:
        top = float(self.log_rows.max())
        return top + float(np.log(np.exp(self.log_rows - top).sum()))

    @property
    def log_z(self) -> float:
        """log of the sum over all states."""
        return self._log_sum + self.constant

    @cached_property
    def second(self) -> Float[np.ndarray, "n n"]:
        """E x_i x_j over the free variables in their own numbering; the diagonal holds p(x_i = 1)."""
        aa = np.zeros((len(self.listed), len(self.listed)))
        ab = np.zeros((len(self.listed), len(self.summed)))
        bb, mean = np.zeros((len(self.summed), len(self.summed))), np.zeros(len(self.summed))
        for _, a, log, field in self._blocks():
            p, s = np.exp(log - self._log_sum), _sigmoid(field)
            weighted = a * p[:, None]
            aa += weighted.T @ a
            ab += weighted.T @ s
            bb += (s * p[:, None]).T @ s
            mean += p @ s
        np.fill_diagonal(bb, mean)
        found = np.zeros((len(aa) + len(bb),) * 2)
        found[np.ix_(self.listed, self.listed)], found[np.ix_(self.summed, self.summed)] = aa, bb
        found[np.ix_(self.listed, self.summed)], found[np.ix_(self.summed, self.listed)] = ab, ab.T
        return found

    def sample(self, seed: int, count: int) -> Int[np.ndarray, "count n"]:
        """`count` exact draws: the enumerated layer by inversion, then the other given it."""
        rng, width = np.random.default_rng(seed), len(self.summed)
        u = rng.random((count, 1 + width))
        below = np.cumsum(np.exp(self.log_rows - self._log_sum))
        state = np.minimum(np.searchsorted(below / below[-1], u[:, 0], side="right"), len(below) - 1)
        a = (state[:, None] >> np.arange(len(self.listed))) & 1
        x = np.zeros((count, len(self.listed) + width), np.int64)
        x[:, self.listed] = a
        x[:, self.summed] = u[:, 1:] < _sigmoid(self.own + a @ self.cross)
        return x


def _sigmoid(field):
    return 0.5 * (1.0 + np.tanh(0.5 * field))

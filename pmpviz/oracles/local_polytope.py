"""MAP by the linear program over the local polytope, solved by HiGHS, whose basis is kept for the next numbers.

    maximise  sum_i theta_i . mu_i + sum_e theta_e . mu_e
    subject to  sum_k mu_i(k) = 1,  sum_l mu_e(k, l) = mu_i(k),  sum_k mu_e(k, l) = mu_j(l),  mu >= 0.

Two-state models take the reduced program of perturb-and-max-product, Appendix D.1, in x_i = mu_i(1), z_e = mu_e(1, 1):
its double sum lacks the factor 1/2, and D.2's "i != j" must be all pairs; here each edge is counted once. Its rows are
z <= x_i and z <= x_j where w > 0 and x_i + x_j - z <= 1 where w < 0; the others cannot bind.
"""

from __future__ import annotations

import importlib.util
import math
import threading
from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float

from pmpviz.oracles.oracle import MapOracle, OracleSpec, Prepared, Solution
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Refusal, Style

MOST_COLUMNS = 200_000
# HiGHS keeps its constraints to 1e-7; the vertices of the binary program are multiples of 1/2 (Padberg 1989).
TOLERANCE = 1e-5
# log2 of the largest gain that HiGHS is given.
USUAL = 6


@dataclass(frozen=True)
class Rows:
    """rows . y <= limit, and equal to it where `tight`, for 0 <= y <= 1; rows of infinite limit do not count."""

    matrix: scipy.sparse.csc_array
    limit: Float[np.ndarray, " r"]
    tight: bool

    @classmethod
    def of(cls, entries, columns: int, limit: np.ndarray, tight: bool) -> Rows:
        """From (row, column, value) arrays."""
        row, column, value = (
            np.concatenate([np.ravel(part) for part in parts]) for parts in zip(*entries, strict=True)
        )
        return cls(scipy.sparse.csc_array((value, (row, column)), shape=(len(limit), columns)), limit, tight)

    def bound(self, gain: np.ndarray, price: np.ndarray, limit: np.ndarray) -> float:
        """limit . price + sum max(0, gain - rows' price): no feasible y gains more, whatever the prices are."""
        held = np.isfinite(limit)
        price = np.where(held, price if self.tight else np.maximum(price, 0.0), 0.0)
        rest = gain - self.matrix.T @ price
        return float(np.where(held, limit, 0.0) @ price + np.maximum(rest, 0.0).sum())


class _Scipy:
    """One program after another by scipy's own HiGHS, each from the start."""

    def __init__(self, rows: Rows):
        self.rows = rows

    def maximise(self, gain: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(maximiser, price of every row)."""
        held = np.isfinite(limit)
        matrix, kept = (self.rows.matrix.tocsr()[held], limit[held]) if held.any() else (None, None)
        names = ("A_eq", "b_eq") if self.rows.tight else ("A_ub", "b_ub")
        found = scipy.optimize.linprog(
            -gain, bounds=(0.0, 1.0), method="highs", **dict(zip(names, (matrix, kept), strict=True))
        )
        if found.x is None:
            raise Refusal(f"the linear program was not solved: {str(found.message).splitlines()[0][:120]}")
        price = np.zeros(len(limit))
        price[held] = -(found.eqlin if self.rows.tight else found.ineqlin).marginals
        return found.x, price


class _Highs:
    """One HiGHS object; gains and limits change, the basis stays."""

    def __init__(self, rows: Rows):
        import highspy

        class Silent(highspy.Highs):
            def enableCallbacks(self):  # Called as the object is made, this prints the library's version.
                self.silent()
                super().enableCallbacks()

        program, self.rows, self.limit = highspy.HighsLp(), rows, rows.limit.copy()
        program.num_row_, program.num_col_ = rows.matrix.shape
        program.col_cost_ = np.zeros(program.num_col_)
        program.col_lower_, program.col_upper_ = np.zeros(program.num_col_), np.ones(program.num_col_)
        program.row_lower_ = rows.limit if rows.tight else np.full(len(rows.limit), -highspy.kHighsInf)
        program.row_upper_ = rows.limit
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_, program.a_matrix_.index_ = rows.matrix.indptr, rows.matrix.indices
        program.a_matrix_.value_ = rows.matrix.data
        self.highs, self.optimal = Silent(), highspy.HighsModelStatus.kOptimal
        for name, value in (("output_flag", False), ("threads", 1)):
            self.highs.setOptionValue(name, value)
        self.highs.passModel(program)
        self.lock = threading.Lock()

    def maximise(self, gain: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(maximiser, price of every row)."""
        with self.lock:
            for row in np.flatnonzero(limit != self.limit).tolist():
                self.highs.changeRowBounds(row, -np.inf, limit[row])
            self.limit = limit.copy()
            self.highs.changeColsCost(len(gain), np.arange(len(gain), dtype=np.int32), -gain)
            self.highs.run()
            if self.highs.getModelStatus() != self.optimal:
                self.highs.clearSolver()
                self.highs.run()
            if (status := self.highs.getModelStatus()) != self.optimal:
                raise Refusal(f"the linear program was not solved: {self.highs.modelStatusToString(status)[:120]}")
            found = self.highs.getSolution()
            return np.array(found.col_value), -np.array(found.row_dual)


def _scaled(solver, gain: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(maximiser, prices) with gains of HiGHS's own size, whose tolerances are absolute; a power of 2 loses nothing."""
    largest = float(np.abs(gain).max(initial=0))
    scale = 2.0 ** (USUAL - math.frexp(largest)[1]) if largest > 0 else 1.0
    found, price = solver.maximise(gain * scale, limit)
    return found, price / scale


def _solver(rows: Rows) -> _Highs | _Scipy:
    return _Highs(rows) if importlib.util.find_spec("highspy") else _Scipy(rows)


class _Binary:
    """The reduced program: columns x then z; rows z - x_i, z - x_j <= 0 and x_i + x_j - z <= 1 of every edge."""

    def __init__(self, structure: Structure):
        self.n, self.i, self.j, e = structure.n, structure.i, structure.j, len(structure.i)
        z, row, one = structure.n + np.arange(e), np.arange(e), np.ones(e)
        below = [
            (row + shift, at, v * one)
            for shift, x in ((0, structure.i), (e, structure.j))
            for at, v in ((z, 1), (x, -1))
        ]
        above = [(row + 2 * e, at, v * one) for at, v in ((structure.i, 1), (structure.j, 1), (z, -1))]
        rows = Rows.of(below + above, structure.n + e, np.repeat([0.0, 0.0, 1.0], e), tight=False)
        self.rows, self.solver = rows, _solver(rows)

    def solve(self, potentials: Potentials):
        """(mu_i, mu_e, upper bound)."""
        bias, w, constant = potentials.quadratic()
        gain = np.concatenate([bias, w])
        limit = np.where(np.concatenate([w > 0, w > 0, w < 0]), self.rows.limit, np.inf)
        found, price = _scaled(self.solver, gain, limit)
        x = np.clip(found[: self.n], 0.0, 1.0)
        half = np.round(2 * x) / 2
        x = np.where(np.abs(x - half) < TOLERANCE, half, x)
        a, b = x[self.i], x[self.j]
        z = np.where(w < 0, np.maximum(0.0, a + b - 1), np.minimum(a, b))
        pairs = np.stack([1 - a - b + z, b - z, a - z, z], 1).reshape(-1, 2, 2)
        return np.stack([1 - x, x], 1), pairs, constant + self.rows.bound(gain, price, limit)


class _General:
    """The full program: a column for every state of a variable and every pair of states of an edge."""

    def __init__(self, structure: Structure):
        s = structure
        self.site, self.pair = s.valid, s.valid_pairs
        count = int(self.site.sum())
        site, pair = np.full(self.site.shape, -1), np.full(self.pair.shape, -1)
        site[self.site] = np.arange(count)
        pair[self.pair] = count + np.arange(int(self.pair.sum()))
        entries = [(np.nonzero(self.site)[0], site[self.site], np.ones(count))]
        height = s.n
        for ends, axis in ((s.i, 1), (s.j, 2)):
            row = np.full((len(ends), s.states), -1)
            valid = self.site[ends]
            row[valid] = height + np.arange(int(valid.sum()))
            height += int(valid.sum())
            spread = np.broadcast_to(np.expand_dims(row, 3 - axis), pair.shape)
            entries.append((spread[self.pair], pair[self.pair], np.ones(int(self.pair.sum()))))
            entries.append((row[valid], site[ends][valid], -np.ones(int(valid.sum()))))
        limit = np.zeros(height)
        limit[: s.n] = 1.0
        self.rows = Rows.of(entries, count + int(self.pair.sum()), limit, tight=True)
        self.solver = _solver(self.rows)

    def solve(self, potentials: Potentials):
        """(mu_i, mu_e, upper bound)."""
        gain = np.concatenate([potentials.unary[self.site], potentials.table[self.pair]])
        found, price = _scaled(self.solver, gain, self.rows.limit)
        found = np.where(np.abs(found - np.round(found)) < TOLERANCE, np.round(found), found)
        one, two = np.zeros(self.site.shape), np.zeros(self.pair.shape)
        count = int(self.site.sum())
        one[self.site], two[self.pair] = found[:count], found[count:]
        return one, two, potentials.constant + self.rows.bound(gain, price, self.rows.limit)


_program: Prepared[_Binary | _General] = Prepared(lambda s: _Binary(s) if s.binary else _General(s))


def _too_large(structure: Structure) -> str | None:
    card = np.array(structure.card, np.int64)
    pairs = card[structure.i] * card[structure.j]
    columns = structure.n + len(pairs) if structure.binary else int(card.sum() + pairs.sum())
    if columns <= MOST_COLUMNS:
        return None
    return f"the linear program would have {columns:,} columns; it is solved for at most {MOST_COLUMNS:,}"


@dataclass(frozen=True)
class LocalPolytope(MapOracle):
    """max theta . mu over the local polytope, rounded; exact where the optimum is integral."""

    spec = OracleSpec(
        id="linear_program",
        label="LP relaxation",
        style=Style("#6F6F6B", "dash", "square"),
        promise="bound",
        summary="Maximises over locally consistent marginals: an upper bound, and the maximum itself where no variable "
        "stays fractional.",
        paper="Perturb-and-max-product, Appendix D; Wainwright and Jordan 2008, section 8",
        why_not=lambda potentials: _too_large(potentials.structure),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The rounded optimum (a half becomes 0, as numpy rounds it), its bound, and the optimum as `relaxed`."""
        self.insist(potentials)
        if not potentials.n:
            return Solution.proved(potentials, np.zeros(0, np.int8))
        one, two, upper = _program(potentials.structure).solve(potentials)
        inside = ((one > TOLERANCE) & (one < 1 - TOLERANCE)).any(1)
        # What is not clearly larger is a tie: the smaller state, so that the last bits do not decide.
        x = (one > one.max(1, keepdims=True) - TOLERANCE).argmax(1)
        return Solution.bounded(potentials, x, upper, relaxed=(one, two), fractional=float(inside.mean()))


__all__ = ["LocalPolytope"]

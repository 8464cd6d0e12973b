"""The local polytope's linear program of a binary pairwise model, solved by HiGHS.

    maximise  b.x + sum_{(i, j)} w_ij z_ij   subject to  z_ij <= x_i,  z_ij <= x_j,  z_ij >= x_i + x_j - 1,  z_ij >= 0,

0 <= x <= 1, each edge once: the reduced program of perturb-and-max-product, Appendix D.1, whose double sum over i and j
lacks the factor 1/2 (the authors' code has it). A positive weight pulls z up, so that only the first two constraints
can bind, a negative one only the last two. The maximum is never below that over configurations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Float, Int

from pmpviz.models.ising import Ising
from pmpviz.types import Refusal

MOST_EDGES = 20_000
# HiGHS keeps its constraints to 1e-7; vertices of this polytope are multiples of 1/2 (Padberg 1989).
TOLERANCE = 1e-5


@dataclass(frozen=True)
class Relaxed:
    """A solution: `x[n]` within [0, 1], its `value`, and the share of the variables that are neither 0 nor 1."""

    x: Float[np.ndarray, " n"]
    value: float
    fractional: float

    @property
    def rounded(self) -> Int[np.ndarray, " n"]:
        """The nearest configuration, int8; a half becomes 0, as numpy rounds it."""
        return (self.x > 0.5 + TOLERANCE).astype(np.int8)


@dataclass(frozen=True)
class LinearProgram:
    """The constraints of one set of weights, to be solved for many unaries: rows . (x, z) <= limit."""

    n: int
    weight: Float[np.ndarray, " e"]
    rows: scipy.sparse.csr_array
    limit: Float[np.ndarray, " r"]

    @classmethod
    def of(cls, n: int, i: Int[np.ndarray, " e"], j: Int[np.ndarray, " e"], w: Float[np.ndarray, " e"]):
        """From edges, each once; those of weight 0 are left out. Raises Refusal for more than 20,000."""
        if len(w) > MOST_EDGES:
            raise Refusal(_refusal(len(w)))
        w = np.asarray(w, np.float64)
        i, j, w = (np.asarray(part)[w != 0] for part in (i, j, w))
        z = n + np.arange(len(w))
        up, down = np.flatnonzero(w > 0), np.flatnonzero(w < 0)
        raised, both = 2 * len(up), 2 * len(up) + len(down)
        first, last = np.arange(raised), np.arange(raised, both)
        # z - x_i <= 0 and z - x_j <= 0 where w > 0; x_i + x_j - z <= 1 where w < 0.
        row = np.concatenate([first, first, last, last, last])
        column = np.concatenate([z[up], z[up], i[up], j[up], i[down], j[down], z[down]])
        sign = np.repeat([1.0, -1.0, 1.0, -1.0], [raised, raised, 2 * len(down), len(down)])
        limit = np.repeat([0.0, 1.0], [raised, len(down)])
        return cls(n, w, scipy.sparse.csr_array((sign, (row, column)), shape=(both, n + len(w))), limit)

    @classmethod
    def of_model(cls, model: Ising) -> LinearProgram:
        """The program of a model's couplings."""
        _, i, j, w = model.pairwise()
        return cls.of(model.n, i, j, w)

    def solve(self, unary: Float[np.ndarray, " n"]) -> Relaxed:
        """A maximiser for these unaries b; raises Refusal where HiGHS gives up."""
        gain = np.concatenate([np.asarray(unary, np.float64), self.weight])
        rows, limit = (self.rows, self.limit) if len(self.limit) else (None, None)
        found = scipy.optimize.linprog(-gain, A_ub=rows, b_ub=limit, bounds=(0.0, 1.0), method="highs")
        if found.x is None:
            raise Refusal(f"the linear program was not solved: {str(found.message).splitlines()[0][:120]}")
        x = np.clip(found.x[: self.n], 0.0, 1.0)
        inside = (x > TOLERANCE) & (x < 1 - TOLERANCE)
        return Relaxed(x, float(-found.fun), float(inside.mean()))


def why_not(model: Ising) -> str | None:
    """Why a model is too large, with its number of edges; None where it is not."""
    edges = model.couplings.possible_edges()
    return _refusal(edges) if edges > MOST_EDGES else None


def _refusal(edges: int) -> str:
    return f"the linear program would have {edges:,} edges; it is solved for at most {MOST_EDGES:,}"


__all__ = ["LinearProgram", "Relaxed", "why_not"]

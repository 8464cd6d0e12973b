"""What a lane knew after each of its steps, for those who look back: of many variables in one byte each."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, UInt8

from pmpviz.capabilities.marginals.plan import MANY
from pmpviz.marginals.solver import Answer

# So many steps, the last ones, are sent with what was known then: the picture may be a few steps behind.
LAST_STEPS = 24
NO_TABLE = np.zeros((0, 2, 2))
NO_ROWS = np.zeros((0, 2))
# A byte is the interval of p that this many make up: multiples of 0.02, as 0.1, 0.5 and 0.9, are ends of some.
INTERVALS = 250


@dataclass(frozen=True, eq=False)
class Then:
    """What a lane knew after a step, without the edges' tables: its answer, the weights of the vertices, rho.

    Of many variables, all of two states, `coarse` has the interval of each p(x_i = 1), and `known` no marginals.
    """

    known: Answer
    weights: Float[np.ndarray, " v"]
    rho: Float[np.ndarray, " e"] | None
    coarse: UInt8[np.ndarray, " n"] | None = None

    @classmethod
    def of(cls, answer: Answer, weights: Float[np.ndarray, " v"], rho: Float[np.ndarray, " e"] | None) -> Then:
        """What is kept of an answer."""
        if len(answer.unary) <= MANY:
            return cls(replace(answer, table=NO_TABLE), weights, rho)
        coarse = np.clip(np.floor(INTERVALS * answer.unary[:, 1]), 0, INTERVALS - 1).astype(np.uint8)
        return cls(replace(answer, table=NO_TABLE, unary=NO_ROWS), weights, rho, coarse)

    @property
    def answer(self) -> Answer:
        """The answer, each coarse marginal in the middle of its interval."""
        if self.coarse is None:
            return self.known
        p1 = (self.coarse + 0.5) / INTERVALS
        return replace(self.known, unary=np.stack([1.0 - p1, p1], 1))

    @property
    def size(self) -> int:
        """How many bytes are kept; rho is the same array at every step until it changes."""
        return self.known.unary.nbytes + self.weights.nbytes + (0 if self.coarse is None else self.coarse.nbytes)


__all__ = ["Then"]

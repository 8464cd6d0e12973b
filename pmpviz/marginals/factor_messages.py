"""Sum-product on the factors of any graph as they are: zeros, any number of variables, mixed numbers of states."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from pmpviz.marginals.solver import Record
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.on_factors import Passing, log_sum


@dataclass(frozen=True, eq=False)
class FactorMessages:
    """Messages of belief propagation on factors; `reason` says why it ended."""

    passing: Passing
    residual: float = np.inf
    trace: tuple[Record, ...] = ()
    reason: str = ""

    @classmethod
    def of(cls, factors: Factors) -> FactorMessages:
        """All messages 0."""
        return cls(Passing(factors, maximum=False))

    def swept(self, damping: float, shown: bool) -> FactorMessages:
        """After one parallel update of all messages; the estimate of log Z is recorded where it is `shown`."""
        begin = time.perf_counter()
        passing, residual = self.passing.sweep(damping)
        after = replace(self, passing=passing, residual=residual)
        record = {
            "call": len(self.trace) + 1,
            "residual": residual,
            "objective": after.log_z() if shown else None,
            "seconds": time.perf_counter() - begin + (self.trace[-1]["seconds"] if self.trace else 0.0),
        }
        return replace(after, trace=(*self.trace, record))

    def marginals(self) -> Float[np.ndarray, "n k"]:
        """b_i, which sums to 1."""
        log = self.passing.beliefs()
        log = log - log.max(1, keepdims=True, initial=-np.inf)
        p = np.exp(log)
        return p / p.sum(1, keepdims=True)

    def log_z(self) -> float | None:
        """sum_f log Z_f + sum_i log Z_i - sum_fi log Z_fi: minus Bethe's free energy at a fixed point.

        Z_f sums a factor's table times the messages into it, Z_i the messages into a variable, Z_fi the product of the
        two of an edge (Yedidia, Freeman and Weiss 2005). None where the messages leave a factor nothing possible.
        """
        passing = self.passing
        total = passing.beliefs()
        found = passing.factors.constant + float(log_sum(total).sum())
        for (table, sent), out in zip(passing.incoming(total), passing.out, strict=True):
            joint = table
            for a, (message, back) in enumerate(zip(sent, out, strict=True)):
                joint = joint + message.reshape(len(message), *(-1 if b == a else 1 for b in range(len(sent))))
                found -= float(log_sum(message + back).sum())
            found += float(log_sum(joint.reshape(len(joint), -1)).sum())
        return found if found > passing.floor / 2 and np.isfinite(found) else None


__all__ = ["FactorMessages"]

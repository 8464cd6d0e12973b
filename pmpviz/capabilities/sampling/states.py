"""How often each joint state of a small model was counted, beside its exact probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, prod, sqrt

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact.enumeration import Joint
from pmpviz.exact.problem import Problem
from pmpviz.metrics.marginals import total_variation_floor
from pmpviz.runs import run as running
from pmpviz.types import InputError, Refusal

MOST_STATES = 32
# A share of sets of exact draws that is told from the law by mistake.
MISTAKEN = 1e-3


@dataclass(frozen=True)
class StatesView:
    """`names[s]` are the states of the free variables, `law[s]` their exact p, `shares[s]` those of `count` draws."""

    names: tuple[str, ...]
    law: Float[np.ndarray, " states"]
    shares: Float[np.ndarray, " states"]
    count: int

    @property
    def distance(self) -> float:
        """Total variation between the shares and the law."""
        return float(np.abs(self.shares - self.law).sum() / 2)

    @property
    def floor(self) -> float:
        """The distance that as many independent exact draws have on average."""
        return total_variation_floor(self.law, max(self.count, 1))

    @property
    def beyond(self) -> bool:
        """Whether independent draws of the law are that far off in one of 1,000 sets at most (McDiarmid)."""
        return self.count > 0 and self.distance > self.floor + sqrt(-log(MISTAKEN) / (2 * self.count))


class StateCounts:
    """Counts the configurations of all chains at the end of each chunk of a run, under one setting.

    Of independent draws each is counted at most once.
    """

    def __init__(self, run: running.Run, problem: Problem):
        self._free, self._card = problem.free, problem.free_card
        self._law = Joint.of(problem).p.ravel()
        states = np.stack(np.unravel_index(np.arange(len(self._law)), self._card), 1)
        self._names = tuple("".join(map(str, state)) for state in states.tolist())
        self._counts: Int[np.ndarray, " states"] = np.zeros(len(self._law), np.int64)
        self._drawn = running.draws_done(run)

    @classmethod
    def of(cls, run: running.Run) -> StateCounts | None:
        """None for a model of more than 32 states that the evidence allows, or of one, or without finite tables."""
        try:
            problem = Problem.of(run.target) if run.target.n <= 64 else None
        except (InputError, Refusal):
            return None
        return cls(run, problem) if problem is not None and 1 < prod(problem.free_card) <= MOST_STATES else None

    def add(self, run: running.Run) -> None:
        """Count the run's configurations, of draws only where new ones are complete."""
        drawn = running.draws_done(run)
        if drawn is not None and drawn == self._drawn:
            return
        self._drawn = drawn
        x = running.counted(run)[:, self._free]
        places = np.ravel_multi_index(tuple(x.T.astype(np.int64)), self._card)
        self._counts += np.bincount(places, minlength=len(self._counts))

    def view(self) -> StatesView:
        """The shares of this moment."""
        count = int(self._counts.sum())
        return StatesView(self._names, self._law, self._counts / max(count, 1), count)

"""How often each joint state of a small model was counted, beside its exact probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod, sqrt

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact.enumeration import Joint
from pmpviz.exact.problem import Problem
from pmpviz.metrics.marginals import total_variation_floor
from pmpviz.runs import run as running
from pmpviz.types import InputError, Refusal

MOST_STATES = 32
# Standard deviations beyond the mean distance of exact draws from which on one doubts that draws are such, and from
# which on they are not. Of sixteen states with two hills 1 look in 140 and 1 in 10,000 is as far off by chance alone.
DOUBTED, BEYOND = 3.0, 5.0
LEAST_SPREAD = 1e-9
# Sets of normal numbers that these standard deviations are of.
SETS = 4000


@dataclass(frozen=True)
class StatesView:
    """`names[s]` are the states of the free variables, `law[s]` their exact p, `shares[s]` those of `count` draws.

    `spread` is the standard deviation of the distance of one exact draw's shares, divided by the root of their number
    that of as many.
    """

    names: tuple[str, ...]
    law: Float[np.ndarray, " states"]
    shares: Float[np.ndarray, " states"]
    count: int
    spread: float

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
        """Whether independent draws of the law are hardly ever that far off."""
        return self._deviations > BEYOND

    @property
    def doubted(self) -> bool:
        """Whether independent draws of the law are mostly nearer."""
        return self._deviations > DOUBTED

    @property
    def _deviations(self) -> float:
        """Standard deviations beyond the mean distance of as many exact draws."""
        # Of a law with one state left there is none; any other state is beyond it.
        return (self.distance - self.floor) * sqrt(self.count) / max(self.spread, LEAST_SPREAD)

    @property
    def reversible(self) -> bool:
        """Whether every state of two-state variables is as likely as its reverse, by exact probabilities."""
        binary = len(self.law) == 2 ** len(self.names[0])
        return binary and bool(np.allclose(self.law, self.law[::-1], rtol=1e-6))


def spread_of(law: Float[np.ndarray, " states"]) -> float:
    """Standard deviation of sqrt(N) times the total variation between a law and the shares of N independent draws of
    it, N large: these are normal with covariance diag(p) - p p', of which so many sets are drawn."""
    z = np.random.default_rng(0).normal(size=(SETS, len(law))) * np.sqrt(law)
    return float((np.abs(z - z.sum(1, keepdims=True) * law).sum(1) / 2).std())


class StateCounts:
    """Counts the configurations of all chains at the end of each chunk of a run, under one setting.

    Of independent draws each is counted at most once.
    """

    def __init__(self, run: running.Run, problem: Problem):
        self._free, self._card = problem.free, problem.free_card
        self._law = Joint.of(problem).p.ravel()
        states = np.stack(np.unravel_index(np.arange(len(self._law)), self._card), 1)
        self._spread = spread_of(self._law)
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
        return StatesView(self._names, self._law, self._counts / max(count, 1), count, self._spread)

"""One lane of the Text page: a run of chains, or a solver, and the marginals that it says by now."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jaxtyping import Float, Int8

from pmpviz.capabilities.text.plan import SOLVERS, TextPlan
from pmpviz.live.plan import Choice
from pmpviz.oracles.potentials import Potentials
from pmpviz.runs import run as running
from pmpviz.types import Target

CHUNK_SECONDS, MOST_SWEEPS = 0.1, 64
MOST_POINTS, FIRST_KEPT, MOST_PAST = 256, 64, 2048


@dataclass(frozen=True, eq=False)
class TextLaneView:
    """An immutable picture of a lane: p(x_i = 1) by now, and the configuration of its first chain.

    `points` are (sweeps, seconds) of the marginals `history`, the first since the last change and then about evenly
    chosen ones, and `past` has (sweeps, seconds, error) of those before it. `averaged` is how many of the last
    sweeps p1 is the mean of, over all chains; 0 of a solver.
    """

    algorithm: str
    label: str
    guarantee: str
    count: int
    seconds: float
    unit: str
    p1: Float[np.ndarray, " n"]
    sample: Int8[np.ndarray, " n"]
    points: Float[np.ndarray, "k 2"]
    history: Float[np.ndarray, "k n"]
    past: Float[np.ndarray, "j 3"]
    chains: int
    done: bool
    averaged: int = 0


class TextLane:
    """What both kinds share; only the worker touches it. Statistics belong to one setting."""

    unit = "sweeps"

    def __init__(self, choice: Choice, plan: TextPlan, target: Target):
        self.choice, self.plan, self.spec = choice, plan, choice.spec
        self.warmed, self.seconds, self.since = False, 0.0, 0
        self._past = np.zeros((0, 3))
        self.begin(target)
        self._forget()

    @property
    def algorithm(self) -> str:
        """The algorithm's id."""
        return self.choice.algorithm

    def show(self, epoch: int) -> None:
        """There are no frames whose epoch would have to be told."""

    def change(self, choice: Choice, target: Target, exact: Float[np.ndarray, " n"] | None = None) -> None:
        """Take up other weights, words that were labelled, or knobs; statistics begin anew, and of what was `exact`
        until now the errors stay."""
        if exact is not None and self._points:
            points, history = self._curve()
            self._past = np.concatenate([self._past, np.column_stack([points, errors(history, exact)])])[-MOST_PAST:]
        self.choice = choice
        self.retarget(target)
        self._forget()

    def _curve(self) -> tuple[Float[np.ndarray, "k 2"], Float[np.ndarray, "k n"]]:
        points = np.array([each[:2] for each in self._points], np.float64).reshape(-1, 2)
        return points, np.array([each[2] for each in self._points])

    def _forget(self) -> None:
        self.since, self._every = self.count, 1
        self._points: list[tuple[float, float, np.ndarray]] = []

    def advance(self, most: int) -> None:
        """A chunk of at most so many sweeps."""
        self.seconds += self.work(most)
        done, last = self.count - self.since, self._points[-1][0] - self.since if self._points else -1
        if done // self._every > last // self._every:
            self._points.append((self.count, self.seconds, self.p1().astype(np.float32)))
        if len(self._points) >= MOST_POINTS:
            # How soon p came near is told of the first ones.
            self._points, self._every = self._points[:FIRST_KEPT] + self._points[FIRST_KEPT + 1 :: 2], 2 * self._every

    def view(self, label: str, done: bool) -> TextLaneView:
        """What pages see, called `label`."""
        points, history = self._curve()
        p1 = self.p1()
        words = (self.algorithm, label, self.spec.guarantee, self.count, self.seconds, self.unit)
        curves = points, history.reshape(-1, len(p1)), self._past
        return TextLaneView(*words, p1, self.sample(), *curves, self.chains, done, self.averaged)

    # Given by the kinds.

    chains = 1

    @property
    def averaged(self) -> int:
        """How many of the last sweeps the marginals are the mean of; 0 where they are none."""
        return 0

    @property
    def count(self) -> int:
        """Sweeps or steps done."""
        raise NotImplementedError

    @property
    def over(self) -> bool:
        """Whether there is nothing more to do."""
        return False

    def begin(self, target: Target) -> None:
        """Make the state; raises InputError where the algorithm cannot run on this target."""
        raise NotImplementedError

    def retarget(self, target: Target) -> None:
        """Go on under another target."""
        raise NotImplementedError

    def warm(self) -> None:
        """Compile, and do once what the first time takes longer; the state stays as it is."""
        raise NotImplementedError

    def work(self, most: int) -> float:
        """Go on; the seconds of computing, without what is compiled and looked at."""
        raise NotImplementedError

    def p1(self) -> Float[np.ndarray, " n"]:
        """p(x_i = 1) by what was learnt since the last change."""
        raise NotImplementedError

    def sample(self) -> Int8[np.ndarray, " n"]:
        """A configuration of this moment."""
        raise NotImplementedError


class SamplerLane(TextLane):
    """Chains. Its marginals are averaged over them and over the later half, and more, of the sweeps."""

    def begin(self, target: Target) -> None:
        """All chains from random labels."""
        self.chains, self._rate = self.plan.chains, 0.0
        self._run = running.start(self.choice.build(), target, jax.random.key(self.plan.seed), self.plan.chains)
        self._restart()

    def retarget(self, target: Target) -> None:
        """The chains stay where they are."""
        self._run = running.retarget(self._run, target, self.choice.build())
        self._restart()

    def _restart(self) -> None:
        self._marks: list[tuple[int, Any]] = [(0, 0.0)]

    @property
    def count(self) -> int:
        """Sweeps done."""
        return self._run.sweep

    def warm(self) -> None:
        """Compile a chunk; the second one is as all later ones are."""
        ahead = self._run
        for _ in range(2):
            ahead, _ = running.advance(ahead, self._run.quanta, record=False, mean=True)
        self._sampled = running.positions(self._run)[0]
        self.warmed = True

    def work(self, most: int) -> float:
        """As many sweeps as take about a tenth of a second, few at first."""
        before = self._run
        sweeps = max(1, min(most, MOST_SWEEPS, before.averaged + 1, round(self._rate * CHUNK_SECONDS)))
        self._run, _ = running.advance(before, sweeps * before.quanta, record=False, mean=True)
        took = self._run.seconds - before.seconds
        self._rate = sweeps / max(took, 1e-6)
        self._sampled = running.positions(self._run)[0]
        if self._run.averaged >= 2 * max(self._marks[-1][0], 1):
            self._marks = [*self._marks[-1:], (self._run.averaged, self._run.total)]
        return took

    def p1(self) -> Float[np.ndarray, " n"]:
        """Since half of the sweeps or earlier: what the start has left behind is forgotten."""
        if self._run.total is None:
            return self._sampled.astype(np.float64) if self.warmed else np.full(self._run.target.n, 0.5)
        return (self._run.total - self._marks[0][1]) / self.averaged

    @property
    def averaged(self) -> int:
        """Sweeps since the earlier mark."""
        return self._run.averaged - self._marks[0][0]

    def sample(self) -> Int8[np.ndarray, " n"]:
        """The first chain's labels."""
        return self._sampled if self.warmed else np.zeros(self._run.target.n, np.int8)


class SolverLane(TextLane):
    """Frank-Wolfe or belief propagation; its sample is the likelier label of every word."""

    def begin(self, target: Target) -> None:
        """The state before the first step."""
        self._algorithm, self.unit = self.choice.build(), "steps"
        self._free, self._value = ~np.asarray(target.evidence.mask), np.asarray(target.evidence.value, np.float64)
        self._state, self._done = self._algorithm.start(Potentials.of_target(target)[0]), 0

    retarget = begin

    @property
    def count(self) -> int:
        """Steps done."""
        return len(self._state.trace)

    @property
    def over(self) -> bool:
        """Whether the solver has ended."""
        return bool(self._state.reason)

    def warm(self) -> None:
        """Compile, by a step that is not kept."""
        self._algorithm.step(self._state)
        self.warmed = True

    def work(self, most: int) -> float:
        """One step."""
        begin = time.perf_counter()
        self._state = self._algorithm.step(self._state)
        return time.perf_counter() - begin

    def p1(self) -> Float[np.ndarray, " n"]:
        """Of a labelled word its label."""
        found = self._value.copy()
        found[self._free] = self._algorithm.answer(self._state).unary[:, 1]
        return found

    def sample(self) -> Int8[np.ndarray, " n"]:
        """The likelier label of every word."""
        return (self.p1() > 0.5).astype(np.int8)


def errors(history: Float[np.ndarray, "k n"], exact: Float[np.ndarray, " n"]) -> Float[np.ndarray, " k"]:
    """The root mean square error of marginals over all words."""
    return np.sqrt(((history - exact) ** 2).mean(-1))


def lane_of(choice: Choice, plan: TextPlan, target: Target) -> TextLane:
    """The lane of an algorithm."""
    solvers = {cls.spec.id for cls in SOLVERS}
    return (SolverLane if choice.algorithm in solvers else SamplerLane)(choice, plan, target)


__all__ = ["TextLane", "TextLaneView", "errors", "lane_of"]

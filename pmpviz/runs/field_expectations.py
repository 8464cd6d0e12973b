"""Expected statistics of a log-linear field: by a marginal solver's marginals, by elimination, or by samples.

What an expectation carries from one learning step to the next (chains, messages, a walk's point and vertices) is its
state; it goes on from there under the next parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from jaxtyping import Array, Float

from pmpviz import exact
from pmpviz.marginals.exact_solver import ExactMarginals
from pmpviz.marginals.shared import SharedPotentials
from pmpviz.marginals.solver import Answer, MarginalSolver
from pmpviz.runs.run import sample
from pmpviz.types import Refusal, Target


@dataclass(frozen=True, eq=False)
class Expected:
    """E[phi] with its standard error (0 where nothing is drawn), every variable's marginals, and what is known of
    log Z: `lower` <= log Z <= `bound`, where they are not None. `state` is where the next one goes on."""

    statistics: Float[np.ndarray, " p"]
    error: Float[np.ndarray, " p"]
    marginals: tuple[Float[np.ndarray, " k"], ...]
    log_z: float | None
    bound: float | None
    lower: float | None
    state: Any = None


class Expectation(Protocol):
    """How E[phi] under the model of the moment is come by."""

    def why_not(self, shared: SharedPotentials) -> str | None:
        """Why it cannot be had for this field; None where it can."""
        ...

    def of(self, shared: SharedPotentials, theta: Float[np.ndarray, " p"], key: Array, state: Any) -> Expected:
        """At these parameters, from the state of the last time (None at first)."""
        ...


@dataclass(frozen=True)
class BySolver:
    """The marginals of Frank-Wolfe, TRBP, belief propagation, ..., after at most `steps` steps of each time.

    With marginals mu that maximise a bound B(theta) >= log Z, as Frank-Wolfe's and TRBP's do in the end,
    phi(x) - <phi>_mu is the gradient of theta . phi(x) - B(theta), which is at most the log-likelihood (Danskin).
    """

    solver: MarginalSolver
    steps: int = 100

    def why_not(self, shared: SharedPotentials) -> str | None:
        """The solver's own reason."""
        return self.solver.why_not(shared.base)

    def of(self, shared, theta, key, state) -> Expected:
        """The answer, from the last one's point on."""
        potentials = shared.potentials(theta)
        now = self.solver.start(potentials) if state is None else self.solver.resume(state, potentials)
        for _ in range(self.steps):
            if now.reason:
                break
            now = self.solver.step(now)
        return _of_answer(shared, self.solver.answer(now), now)


def _of_answer(shared: SharedPotentials, answer: Answer, state: Any) -> Expected:
    statistics = shared.expected(answer)
    known = answer.log_z, answer.bound, answer.lower
    return Expected(statistics, np.zeros_like(statistics), shared.marginals(answer), *known, state)


@dataclass(frozen=True)
class Exactly:
    """By enumeration or elimination in float64: the gradient of the log-likelihood itself, where that is tractable."""

    def why_not(self, shared: SharedPotentials) -> str | None:
        """The width found, where it is too large."""
        if shared.factors is not None:
            return ExactMarginals().why_not(shared.base)
        return exact.why_not(self._target(shared, np.ones(shared.field.size)))

    def of(self, shared, theta, key, state) -> Expected:
        """Raises Refusal where it is not tractable."""
        if shared.factors is not None:
            return BySolver(ExactMarginals()).of(shared, theta, key, None)
        s = shared.structure
        solution = exact.solve(self._target(shared, theta), shared.field.tables(theta))
        if solution.marginals is None or solution.pair_marginals is None:
            raise Refusal("only log Z is known exactly; use a sampler, or another method for marginals")
        unary = np.stack([np.pad(row, (0, s.states - len(row))) for row in solution.marginals])
        table = solution.pair_marginals(np.stack([s.i, s.j], 1)) if len(s.i) else np.zeros((0, s.states, s.states))
        return _of_answer(shared, Answer(unary, table, *3 * (solution.log_z,)), None)

    def _target(self, shared: SharedPotentials, theta: np.ndarray) -> Target:
        """The form that says how its sites lie, by which lattices are eliminated row after row."""
        return Target.of(shared.field.model(theta))


@dataclass(frozen=True)
class BySampler:
    """The mean over chains of any registered sampler: `sweeps` sweeps a time, from where they were (`persistent`) or
    from new random states. Of samplers that draw independently every time is a new draw of so many sweeps.

    The standard error is that of independent chains.
    """

    algorithm: Any
    chains: int = 100
    sweeps: int = 10
    persistent: bool = True

    def why_not(self, shared: SharedPotentials) -> str | None:
        """The sampler's own reason."""
        return self.algorithm.spec.why_not(Target.of(shared.field.model(np.ones(shared.field.size))))

    def of(self, shared, theta, key, state) -> Expected:
        """What the chains say now."""
        graph = shared.field
        start = state if self.persistent else None
        x = sample(self.algorithm, Target.of(graph.model(theta)), key, self.chains, self.sweeps, start)
        found = graph.statistics(x)
        error = found.std(0, ddof=1) / np.sqrt(len(x)) if len(x) > 1 else np.full(graph.size, np.nan)
        marginals = tuple((x[:, i, None] == np.arange(states)).mean(0) for i, states in enumerate(graph.base.card))
        return Expected(found.mean(0), error, marginals, None, None, None, x)


__all__ = ["BySampler", "BySolver", "Exactly", "Expectation", "Expected"]

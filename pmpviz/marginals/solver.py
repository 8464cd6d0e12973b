"""What an algorithm for marginals is: potentials in, one step at a time, marginals and what is known of log Z out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Protocol

import numpy as np
from jaxtyping import Float

from pmpviz.exact.problem import Problem
from pmpviz.marginals.anytime import Limit
from pmpviz.marginals.polytope import Cells
from pmpviz.models.tables import TableModel
from pmpviz.oracles.factors import Factors, is_pairwise
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.oracles.reduction import Reduction, reduced
from pmpviz.types import Spec, Target

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Answer:
    """Marginals of all free variables, `unary[n, k]`, and of the edges, `table[e, k, k]`, with what is known of log Z.

    `log_z` is the estimate, None where there is none; `bound` >= log Z >= `lower` hold where they are not None.
    `mean_maximum` is a mean of perturbed maxima, or of upper bounds of them, with its `standard_error`: it is above
    log Z on average, and neither an estimate nor a bound of it.
    """

    unary: Float[np.ndarray, "n k"]
    table: Float[np.ndarray, "e k k"]
    log_z: float | None
    bound: float | None
    lower: float | None = None
    gap: float | None = None
    oracle_calls: int = 0
    standard_error: float | None = None
    mean_maximum: float | None = None


def unknown(structure: Structure) -> Answer:
    """The answer of those who have not begun: the uniform distribution's marginals, and nothing of log Z."""
    cells = Cells(structure)
    return Answer(cells.unary(cells.uniform), cells.table(cells.uniform), None, None)


class SolverState(Protocol):
    """A state is a value; `trace` has a record a step, `reason` says why it ended or is empty."""

    @property
    def trace(self) -> tuple[Record, ...]:
        """What was recorded at each step so far."""
        ...

    @property
    def reason(self) -> str:
        """Why it came to its end; empty while it has not."""
        ...


class MarginalSolver:
    """Base of the algorithms: frozen dataclasses whose fields are their knobs."""

    spec: ClassVar[Spec]

    def why_not(self, potentials: Potentials) -> str | None:
        """Why this algorithm, with these knobs, cannot run on these potentials; None where it can."""
        return None

    def unhurried(self) -> MarginalSolver:
        """The same algorithm where nothing waits for a step, which may then take minutes."""
        return self

    def start(self, potentials: Potentials) -> Any:
        """The state before the first step; raises Refusal where the potentials do not fit."""
        raise NotImplementedError

    def start_factors(self, factors: Factors) -> Any:
        """The same on any factor graph: as pairs of variables, unless the algorithm brings a form of its own.

        Its answer's first marginals are those of the factors' variables. Raises Refusal where that is too large.
        """
        return self.start(Reduction.of(factors).potentials)

    def begin(self, given: Potentials | Factors) -> Any:
        """The state before the first step, of either; a method that has another way left takes it, and says so."""
        return self.start_factors(given) if isinstance(given, Factors) else self.start(given)

    def resume(self, state: Any, potentials: Potentials) -> Any:
        """The first state under other numbers of the same structure, as near to an ended state's answer as it can be.

        Nothing that was known of log Z is kept.
        """
        return self.start(potentials)

    def step(self, state: Any) -> Any:
        """The state after one more step; the same state where it has ended."""
        raise NotImplementedError

    def answer(self, state: Any) -> Answer:
        """What the state says by now."""
        raise NotImplementedError


@dataclass(frozen=True)
class Inferred:
    """An answer over all variables of a target: `marginals[i][k] = p(x_i = k)`, a delta where clamped.

    `words` say what became of zeros and of factors of three and more variables, where there are any.
    """

    marginals: tuple[Float[np.ndarray, " k"], ...]
    answer: Answer
    trace: tuple[Record, ...]
    reason: str
    seconds: float
    words: str = ""


def stream(algorithm: MarginalSolver, potentials: Potentials) -> Iterator[Any]:
    """All states, the first before any step, the last the one that has ended."""
    state = algorithm.start(potentials)
    yield state
    while not state.reason:
        state = algorithm.step(state)
        yield state


def infer(
    algorithm: MarginalSolver,
    target: Target,
    tables: TableModel | None = None,
    progress: Callable[[Any], None] = lambda state: None,
    limit: Limit | None = None,
) -> Inferred:
    """Run to the end, or to the limit, on a target: clamped variables are put in first, and reported as deltas.

    Models with zeros or with factors of three and more variables are given as factors (`start_factors`). Raises Refusal
    for what the algorithm refuses, and InputError where zeros and evidence leave no state possible.
    """
    begin, limit = time.perf_counter(), limit or Limit()
    problem = Problem.of(target, tables)
    factors = None if is_pairwise(problem) else Factors.of_problem(problem)
    given: Any = Potentials.of_problem(problem) if factors is None else factors
    state = _last_state(algorithm, given, progress, limit)
    answer = _nothing_done(given) if state is None else algorithm.answer(state)
    if factors is None:
        free = [row[:states] for row, states in zip(answer.unary, problem.free_card, strict=True)]
    else:
        free = factors.free_rows(answer.unary, problem.free_card)
    trace, reason = (state.trace, state.reason) if state is not None else ((), "")
    words = _words(factors, state)
    seconds = time.perf_counter() - begin
    return Inferred(problem.all_marginals(free), answer, trace, reason or limit.reason, seconds, words)


def _last_state(algorithm: MarginalSolver, given: Any, progress: Callable[[Any], None], limit: Limit) -> Any:
    """The state that ended, or the last before the limit; None where that was reached before there was one."""
    state: Any = None
    while not limit.reached() and not (state is not None and state.reason):
        work = partial(algorithm.begin, given) if state is None else partial(algorithm.step, state)
        state = limit.attempt(work, state)
        if state is not None:
            progress(state)
    return state


def _words(factors: Factors | None, state: Any) -> str:
    potentials, more = getattr(state, "potentials", None), getattr(state, "words", "")
    if factors is None:
        return more
    words = reduced(factors, potentials) if isinstance(potentials, Potentials) else "the factors are taken as they are"
    return f"{words}; {more}" if more else words


def _nothing_done(given: Potentials | Factors) -> Answer:
    """The uniform distribution's marginals; of potentials also its lower bound E theta + entropy (Jensen)."""
    if isinstance(given, Factors):
        return unknown(Structure(given.card, *np.zeros((2, 0), np.int64)))
    cells = Cells(given.structure)
    lower = float(cells.theta(given) @ cells.uniform) + given.constant
    lower += float(np.log(np.array(given.structure.card, np.float64)).sum())
    return replace(unknown(given.structure), log_z=lower, lower=lower)


__all__ = ["Answer", "Inferred", "MarginalSolver", "Record", "SolverState", "infer", "stream", "unknown"]

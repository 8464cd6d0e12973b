"""What an algorithm for marginals is: potentials in, one step at a time, marginals and what is known of log Z out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from jaxtyping import Float

from pmpviz.marginals.polytope import Cells
from pmpviz.models.tables import TableModel
from pmpviz.oracles.potentials import Potentials, Structure
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
    def trace(self) -> tuple[Record, ...]: ...

    @property
    def reason(self) -> str: ...


class MarginalSolver:
    """Base of the algorithms: frozen dataclasses whose fields are their knobs."""

    spec: ClassVar[Spec]

    def why_not(self, potentials: Potentials) -> str | None:
        """Why this algorithm, with these knobs, cannot run on these potentials; None where it can."""
        return None

    def start(self, potentials: Potentials) -> Any:
        """The state before the first step; raises Refusal where the potentials do not fit."""
        raise NotImplementedError

    def step(self, state: Any) -> Any:
        """The state after one more step; the same state where it has ended."""
        raise NotImplementedError

    def answer(self, state: Any) -> Answer:
        """What the state says by now."""
        raise NotImplementedError


@dataclass(frozen=True)
class Inferred:
    """An answer over all variables of a target: `marginals[i][k] = p(x_i = k)`, a delta where clamped."""

    marginals: tuple[Float[np.ndarray, " k"], ...]
    answer: Answer
    trace: tuple[Record, ...]
    reason: str
    seconds: float


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
) -> Inferred:
    """Run to the end on a target: clamped variables are put in first, and reported as deltas.

    Raises Refusal for factors of more than two variables, states of probability 0 and what the algorithm refuses.
    """
    begin = time.perf_counter()
    potentials, problem = Potentials.of_target(target, tables)
    state: Any = None
    for state in stream(algorithm, potentials):
        progress(state)
    answer = algorithm.answer(state)
    free = [row[:states] for row, states in zip(answer.unary, problem.free_card, strict=True)]
    seconds = time.perf_counter() - begin
    return Inferred(problem.all_marginals(free), answer, state.trace, state.reason, seconds)


__all__ = ["Answer", "Inferred", "MarginalSolver", "Record", "SolverState", "infer", "stream", "unknown"]

"""Which states the zeros of a model leave possible: by consistency of its factors, and by a small elimination."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
from jaxtyping import Bool, Int

from pmpviz.exact.elimination import Buckets
from pmpviz.exact.order import best_order
from pmpviz.exact.problem import Problem
from pmpviz.models.tables import TableModel
from pmpviz.types import InputError, Refusal, Target

NOTHING_POSSIBLE = "every state has probability 0; change the evidence or the zeros of the tables"
# Entries in all tables of an elimination that is done only to see whether anything is possible.
CHECKED = 1 << 20
MOST_TRIED = 20_000

Domains = list[Bool[np.ndarray, " k"]]


def forbids(problem: Problem) -> bool:
    """Whether a table has a zero, or the constant is one."""
    return problem.quadratic is None and (
        bool(np.isneginf(problem.constant)) or any(np.isneginf(table).any() for _, table in problem.tables)
    )


def insist_possible(target: Target, tables: TableModel | None = None) -> None:
    """Raise InputError where evidence and zeros forbid every state: proved by consistency or by a small elimination.

    Nothing is raised where neither decides, nor for a model without tables.
    """
    try:
        problem = Problem.of(target, tables)
    except Refusal:
        return
    if not forbids(problem):
        return
    domains(problem)
    order = best_order(problem.free_card, problem.edges)
    if order.complete and order.entries <= CHECKED and np.isneginf(Buckets.of(problem, order).collect()[0]):
        raise InputError(NOTHING_POSSIBLE)


def domains(problem: Problem) -> Domains:
    """Of every free variable the states that each of its factors allows with states that are left of the others.

    Every state of positive probability is among them (generalised arc consistency, to its fixed point). Raises
    InputError where a variable has none left.
    """
    return _Zeros(problem).found


def possible_state(problem: Problem) -> Int[np.ndarray, " free"]:
    """A state of positive probability, by depth-first search: variable after variable, consistency after each.

    The same one always. Raises InputError where every state is forbidden, and Refusal where 20,000 states of variables
    have been tried.
    """
    zeros, choices, v, tries = _Zeros(problem), list[tuple[int, list[int], int]](), 0, 0
    while True:
        while v < len(zeros.found) and zeros.found[v].sum() == 1:
            v += 1
        if v == len(zeros.found):
            return np.array([left.argmax() for left in zeros.found], np.int64)
        choices.append((v, np.flatnonzero(zeros.found[v])[::-1].tolist(), len(zeros.trail)))
        while not (choices[-1][1] and zeros.holds(v, choices[-1][1].pop())):
            tries += 1
            if tries > MOST_TRIED:
                raise Refusal(f"no configuration of positive probability was found in {tries - 1:,} tries")
            while choices and not choices[-1][1]:
                choices.pop()
            if not choices:
                raise InputError(NOTHING_POSSIBLE)
            v = choices[-1][0]
            zeros.undo(choices[-1][2])


class _Zeros:
    """The factors with zeros, what they leave of every free variable, and how to take it back.

    Raises InputError where a variable has no state left. `trail` holds what was left before each change.
    """

    def __init__(self, problem: Problem):
        self.found: Domains = [np.ones(states, bool) for states in problem.free_card]
        self.trail: list[tuple[int, Bool[np.ndarray, " k"]]] = []
        zeros = [(scope, ~np.isneginf(table)) for scope, table in problem.factors]
        self._zeros = [(scope, allowed) for scope, allowed in zeros if not allowed.all()]
        self._users: list[list[int]] = [[] for _ in self.found]
        for number, (scope, _) in enumerate(self._zeros):
            for v in scope:
                self._users[v].append(number)
        if np.isneginf(problem.constant) or not self._consistent(range(len(self._zeros))):
            raise InputError(NOTHING_POSSIBLE)

    def holds(self, v: int, state: int) -> bool:
        """Whether consistency leaves every variable a state with variable v in this one, which it is in from now on."""
        self._keep(v, np.arange(len(self.found[v])) == state)
        return self._consistent(self._users[v])

    def undo(self, length: int) -> None:
        """Take back all changes but this many."""
        while len(self.trail) > length:
            v, left = self.trail.pop()
            self.found[v] = left

    def _keep(self, v: int, left: Bool[np.ndarray, " k"]) -> None:
        self.trail.append((v, self.found[v]))
        self.found[v] = left

    def _consistent(self, numbers: Iterable[int]) -> bool:
        """Whether every variable has a state left when these factors, and what follows from them, are heeded."""
        queue = deque(numbers)
        waiting = set(queue)
        while queue:
            number = queue.popleft()
            waiting.discard(number)
            lost = self._narrowed(*self._zeros[number])
            if lost is None:
                return False
            fresh = {other for v in lost for other in self._users[v]} - waiting - {number}
            waiting |= fresh
            queue.extend(sorted(fresh))
        return True

    def _narrowed(self, scope: tuple[int, ...], allowed: np.ndarray) -> list[int] | None:
        """Take out what one factor leaves no way for; the variables that lost a state, None where one lost all."""
        left = allowed
        for axis, v in enumerate(scope):
            left = left & self.found[v].reshape([-1 if a == axis else 1 for a in range(len(scope))])
        lost = []
        for axis, v in enumerate(scope):
            keep = left.any(tuple(a for a in range(len(scope)) if a != axis))
            if not keep.any():
                return None
            if (self.found[v] & ~keep).any():
                self._keep(v, self.found[v] & keep)
                lost.append(v)
        return lost


__all__ = ["NOTHING_POSSIBLE", "domains", "forbids", "insist_possible", "possible_state"]

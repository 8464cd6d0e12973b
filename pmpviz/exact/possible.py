"""Which states the zeros of a model leave possible: by consistency of its factors, and by a small elimination."""

from __future__ import annotations

from collections import deque

import numpy as np
from jaxtyping import Bool

from pmpviz.exact.elimination import Buckets
from pmpviz.exact.order import best_order
from pmpviz.exact.problem import Problem
from pmpviz.models.tables import TableModel
from pmpviz.types import InputError, Refusal, Target

NOTHING_POSSIBLE = "every state has probability 0; change the evidence or the zeros of the tables"
# Entries in all tables of an elimination that is done only to see whether anything is possible.
CHECKED = 1 << 20

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
    found = [np.ones(states, bool) for states in problem.free_card]
    zeros = [(scope, ~np.isneginf(table)) for scope, table in problem.factors]
    zeros = [(scope, allowed) for scope, allowed in zeros if not allowed.all()]
    users: list[list[int]] = [[] for _ in found]
    for number, (scope, _) in enumerate(zeros):
        for v in scope:
            users[v].append(number)
    if np.isneginf(problem.constant):
        raise InputError(NOTHING_POSSIBLE)
    waiting, queue = [True] * len(zeros), deque(range(len(zeros)))
    while queue:
        number = queue.popleft()
        waiting[number] = False
        for v in _narrowed(*zeros[number], found):
            for other in users[v]:
                if not waiting[other] and other != number:
                    waiting[other] = True
                    queue.append(other)
    return found


def _narrowed(scope: tuple[int, ...], allowed: np.ndarray, found: Domains) -> list[int]:
    """Take out of `found` what one factor leaves no way for; the variables that lost a state."""
    left = allowed
    for axis, v in enumerate(scope):
        left = left & found[v].reshape([-1 if a == axis else 1 for a in range(len(scope))])
    lost = []
    for axis, v in enumerate(scope):
        keep = left.any(tuple(a for a in range(len(scope)) if a != axis))
        if not keep.any():
            raise InputError(NOTHING_POSSIBLE)
        if (found[v] & ~keep).any():
            found[v] = found[v] & keep
            lost.append(v)
    return lost


__all__ = ["NOTHING_POSSIBLE", "domains", "forbids", "insist_possible"]

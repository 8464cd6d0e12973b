"""MAP on factors as they are: descent, annealing, elimination and max-product, without auxiliary variables."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Int

from pmpviz.exact import elimination
from pmpviz.exact.elimination import Buckets
from pmpviz.exact.order import best_order
from pmpviz.oracles.factors import Factors
from pmpviz.types import Refusal

# A move must gain more than this share of the largest potential.
LEAST_GAIN = 1e-12


def fields(factors: Factors, v: int, x: Int[np.ndarray, "n s"]) -> Float[np.ndarray, "k s"]:
    """theta(x_v = k | the others) of one variable in several configurations, up to a constant of each."""
    total = np.zeros((factors.card[v], x.shape[1]))
    for f, axis in factors.of_variable[v]:
        scope, table = factors.finite[f]
        place = tuple(slice(None) if a == axis else x[u] for a, u in enumerate(scope))
        rows = table[place]
        # Indices before the axis of the states, or on both sides of it, come out in front of it.
        total += rows[:, None] if len(scope) == 1 else rows if axis == 0 else rows.T
    return total


def greedy(factors: Factors) -> Int[np.ndarray, " n"]:
    """argmax_k of the tables' maxima over the other variables, one after another given those decided before."""
    x = np.full(factors.n, -1)
    for v in sorted(range(factors.n), key=lambda v: (factors.card[v], v)):
        score = np.zeros(factors.card[v])
        for f, axis in factors.of_variable[v]:
            scope, table = factors.finite[f]
            given = table[tuple(slice(None) if a == axis or x[u] < 0 else x[u] for a, u in enumerate(scope))]
            own = sum(1 for u in scope[:axis] if x[u] < 0)
            score += given.max(tuple(a for a in range(given.ndim) if a != own))
        x[v] = score.argmax()
    return x


def descend(factors: Factors, x: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """A configuration that no change of a single variable improves, reached from x; a forbidden entry is a penalty."""
    x = np.array(x, np.int64)[:, None]
    least = LEAST_GAIN * max((float(np.abs(table).max()) for _, table in factors.finite), default=0.0)
    waiting = np.ones(factors.n, bool)
    while waiting.any():
        for v in np.flatnonzero(waiting).tolist():
            waiting[v] = False
            score = fields(factors, v, x)[:, 0]
            if score.max() <= score[x[v, 0]] + least:
                continue
            x[v, 0] = int(score.argmax())
            for f, _ in factors.of_variable[v]:
                waiting[list(factors.factors[f][0])] = True
    return x[:, 0]


def anneal(factors: Factors, x: Int[np.ndarray, "n s"], temperatures, rng: np.random.Generator) -> np.ndarray:
    """Heat-bath sweeps of all columns at each of the temperatures, in units of a typical move."""
    x = np.array(x, np.int64)
    finite = [float(np.std(table[np.isfinite(table)])) for _, table in factors.factors]
    scale = (float(np.mean(finite)) if finite else 0.0) or 1.0
    for temperature in temperatures:
        for v in range(factors.n):
            score = fields(factors, v, x)
            x[v] = (score / (temperature * scale) + rng.gumbel(size=score.shape)).argmax(0)
    return x


def random_states(factors: Factors, rng: np.random.Generator, count: int) -> Int[np.ndarray, "count n"]:
    """Uniform configurations, forbidden ones among them."""
    return rng.integers(0, np.array(factors.card, np.int64), (count, factors.n))


def why_not_eliminate(factors: Factors) -> str | None:
    """Why the factors' tables grow too large, or None."""
    problem = factors.problem()
    return elimination.refusal(best_order(problem.free_card, problem.edges), factors.n)


def eliminate(factors: Factors) -> tuple[Int[np.ndarray, " n"], int]:
    """(a maximum, width): variables maximised out one by one; raises Refusal where the tables grow too large."""
    problem = factors.problem()
    order = best_order(problem.free_card, problem.edges)
    if (reason := elimination.refusal(order, factors.n)) is not None:
        raise Refusal(reason)
    buckets = Buckets.of(problem, order)
    messages: dict[int, np.ndarray] = {}
    for k in range(factors.n):
        messages[k] = np.asarray(buckets.table(k, messages).max(0))
    x = np.zeros(factors.n, np.int64)
    for k in reversed(range(factors.n)):
        score = np.zeros(buckets.card[k])
        for scope, table in buckets.parts(k, messages):
            score = score + table[(slice(None), *(x[v] for v in scope[1:]))]
        x[k] = int(score.argmax())
    found = np.zeros(factors.n, np.int64)
    found[buckets.variable] = x
    return found, order.width


class Passing:
    """Messages of a factor graph in logs, factors of one shape side by side: max-product or sum-product.

    `out[g][a]` [f, k_a] is the message of a group's factors to the variable in place a, largest entry 0 and none below
    `floor`, which stands for a zero. One sweep updates all at once.
    """

    def __init__(self, factors: Factors, maximum: bool):
        self.factors, self.maximum = factors, maximum
        shapes: dict[tuple[int, ...], list[int]] = {}
        for f, (_, table) in enumerate(factors.factors):
            shapes.setdefault(table.shape, []).append(f)
        self.scope = [np.array([factors.factors[f][0] for f in group], np.int64) for group in shapes.values()]
        self.table = [np.stack([factors.factors[f][1] for f in group]) for group in shapes.values()]
        self.most = max(factors.card, default=1)
        self.missing = np.where(np.arange(self.most) < np.array(factors.card, np.int64)[:, None], 0.0, -np.inf)
        self.floor = -4.0 * factors.penalty
        self.out = [[np.zeros((len(s), k)) for k in t.shape[1:]] for s, t in zip(self.scope, self.table, strict=True)]

    def beliefs(self) -> Float[np.ndarray, "n k"]:
        """Sums of the messages into every variable, -inf where a state does not exist."""
        total = np.zeros(self.missing.shape)
        for scope, out in zip(self.scope, self.out, strict=True):
            for axis, message in enumerate(out):
                np.add.at(total[:, : message.shape[1]], scope[:, axis], message)
        return total + self.missing

    def incoming(self, total: np.ndarray) -> Iterator[tuple[np.ndarray, list[np.ndarray]]]:
        """(table, messages into it) of every group, each with its largest entry at 0."""
        for scope, table, out in zip(self.scope, self.table, self.out, strict=True):
            sent = [total[scope[:, a], : m.shape[1]] - m for a, m in enumerate(out)]
            yield table, [np.maximum(m - m.max(1, keepdims=True), self.floor) for m in sent]

    def sweep(self, damping: float) -> tuple[Passing, float]:
        """All messages once, and the largest change of one that is no zero, before damping."""
        residual = 0.0
        fresh: list[list[np.ndarray]] = []
        for (table, sent), out in zip(self.incoming(self.beliefs()), self.out, strict=True):
            fresh.append([])
            for axis, old in enumerate(out):
                new = self._message(table, sent, axis)
                change = np.where((new <= self.floor) & (old <= self.floor), 0.0, new - old)
                residual = max(residual, float(np.abs(change).max(initial=0.0)))
                # What is certain is said at once: damped it would take many sweeps.
                certain = (new <= self.floor / 2) | (old <= self.floor / 2)
                fresh[-1].append(np.where(certain, new, old + (1.0 - damping) * (new - old)))
        after = copy.copy(self)
        after.out = fresh
        return after, residual

    def _message(self, table: np.ndarray, sent: list[np.ndarray], axis: int) -> np.ndarray:
        total = table
        for a, message in enumerate(sent):
            if a != axis:
                total = total + message.reshape(len(message), *(-1 if b == a else 1 for b in range(len(sent))))
        flat = np.moveaxis(total, axis + 1, 1).reshape(*sent[axis].shape, -1)
        new = flat.max(2) if self.maximum else log_sum(flat)
        top = new.max(1, keepdims=True)
        return np.maximum(new - np.where(np.isfinite(top), top, 0.0), self.floor)


def log_sum(values: Float[np.ndarray, "... c"]) -> Float[np.ndarray, "..."]:
    """log sum exp over the last axis; -inf where all is."""
    top = values.max(-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(values - top).sum(-1)) + top[..., 0]


__all__ = [
    "Passing",
    "anneal",
    "descend",
    "eliminate",
    "fields",
    "greedy",
    "log_sum",
    "random_states",
    "why_not_eliminate",
]

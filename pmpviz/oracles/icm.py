"""Iterated conditional modes: site after site takes its best state given the others, until none moves (Besag 1986)."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Int8

from pmpviz.oracles import on_factors
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Solution
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import Param, Style

# A move must gain more than this share of the largest potential: rounding alone then never starts a circle.
LEAST_GAIN = 1e-12
# Beyond so many variables of two states only those are looked at that can move: writing out all takes longer.
MANY = 512


def descend(potentials: Potentials, x: Int[np.ndarray, " n"]) -> Int8[np.ndarray, " n"]:
    """A configuration that no change of a single variable improves, reached from x; theta never falls on the way.

    Sites are visited in order until a round changes nothing. The fields theta(x_i = k | rest) of all sites are kept up
    to date, so that a round without moves costs n comparisons and a move costs the site's degree.
    """
    if potentials.n > MANY and potentials.structure.binary:
        return np.array(_settle_two(potentials, np.asarray(x).tolist()), np.int8)
    field = fields(potentials, np.asarray(x, np.int64)).tolist()
    ahead = potentials.table.tolist()
    back = potentials.table.swapaxes(1, 2).tolist()
    found = _settle(field, np.asarray(x).tolist(), potentials.structure.neighbours, ahead, back, slack(potentials))
    return np.array(found, np.int8)


def _settle(field, x, neighbours, ahead, back, least) -> list[int]:
    # Lists, not arrays: a site has a handful of numbers, and an array's overhead is larger than the work on them.
    moved = True
    while moved:
        moved = False
        for v, scores in enumerate(field):
            best, old = max(scores), x[v]
            if best <= scores[old] + least:
                continue
            x[v], moved = scores.index(best), True
            for e, u, first in neighbours[v]:
                table = ahead[e] if first else back[e]
                theirs = field[u]
                for k, (gain, loss) in enumerate(zip(table[x[v]], table[old], strict=True)):
                    theirs[k] += gain - loss
    return x


def _settle_two(potentials: Potentials, x: list[int]) -> list[int]:
    """The same rounds in the same order, of two states, by log-odds; only variables that can move are looked at."""
    (bias, w, _), s, least = potentials.quadratic(), potentials.structure, slack(potentials)
    at = np.array(x, np.int64)
    heard = np.bincount(s.i, w * at[s.j], s.n) + np.bincount(s.j, w * at[s.i], s.n)
    odds, weight, neighbours = (bias + heard).tolist(), w.tolist(), s.neighbours
    here = np.flatnonzero((1 - 2 * at) * np.array(odds) > least).tolist()
    while here:
        later = set[int]()
        while here:
            v = heapq.heappop(here)
            if (odds[v] if not x[v] else -odds[v]) <= least:
                continue
            x[v] = 1 - x[v]
            for e, u, _ in neighbours[v]:
                odds[u] += weight[e] if x[v] else -weight[e]
                if (odds[u] if not x[u] else -odds[u]) > least:
                    if u > v:
                        heapq.heappush(here, u)
                    else:
                        later.add(u)
        here = sorted(later)
    return x


def fields(potentials: Potentials, x: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n k"]:
    """theta(x_i = k | the others as in x) up to a constant of i; -inf for states that do not exist."""
    s = potentials.structure
    e, sites = np.arange(len(s.i)), np.concatenate([s.i, s.j])
    sent = np.concatenate([potentials.table[e, :, x[s.j]], potentials.table[e, x[s.i]]])
    place = (sites[:, None] * s.states + np.arange(s.states)).reshape(-1)
    total = np.bincount(place, sent.reshape(-1), s.n * s.states).reshape(s.n, s.states) + potentials.unary
    return np.where(s.valid, total, -np.inf)


def slack(potentials: Potentials) -> float:
    """The least gain that counts as one."""
    return LEAST_GAIN * float(np.abs(potentials.unary).max(initial=0) + np.abs(potentials.table).max(initial=0))


def unary_argmax(potentials: Potentials) -> Int[np.ndarray, " n"]:
    """argmax_k theta_i(k) + sum_j mean_l theta_ij(k, l) of every variable; ties go to the smaller state.

    The tables' means make it the same however potentials are split between unaries and tables: for two states it is
    the sign of the field in spin form.
    """
    s = potentials.structure
    held = s.valid_pairs
    total = np.where(held, potentials.table, 0.0)
    first, second = total.sum(2) / np.maximum(held.sum(2), 1), total.sum(1) / np.maximum(held.sum(1), 1)
    sites = np.concatenate([s.i, s.j])
    place = (sites[:, None] * s.states + np.arange(s.states)).reshape(-1)
    told = np.bincount(place, np.concatenate([first, second]).reshape(-1), s.n * s.states)
    score = potentials.unary + told.reshape(s.n, s.states)
    return np.where(s.valid, score, -np.inf).argmax(1)


def random_states(potentials: Potentials, rng: np.random.Generator, count: int) -> Int[np.ndarray, "count n"]:
    """Uniform configurations."""
    return rng.integers(0, np.array(potentials.structure.card, np.int64), (count, potentials.n))


@dataclass(frozen=True)
class Icm(MapOracle):
    """x_i <- argmax_k theta(x_i = k | rest), i = 1, 2, ..., n again and again, from the fields' argmax."""

    spec = OracleSpec(
        id="icm",
        label="ICM",
        style=Style("#0072B2", "dash", "square"),
        promise="heuristic",
        summary="Iterated conditional modes: site after site takes its best state, until none moves.",
        paper="Besag 1986, On the statistical analysis of dirty pictures",
    )

    def solve(self, potentials: Potentials) -> Solution:
        """A local maximum."""
        return self.solve_from(potentials, unary_argmax(potentials))

    def solve_from(self, potentials: Potentials, x: Int[np.ndarray, " n"]) -> Solution:
        """The local maximum above x."""
        return Solution.found(potentials, descend(potentials, x))

    def solve_factors(self, factors: Factors) -> Solution:
        """A local maximum, on the factors as they are, from a configuration that is built up greedily."""
        return Solution.on_factors(factors, on_factors.descend(factors, on_factors.greedy(factors)))


@dataclass(frozen=True)
class MultiStart(MapOracle):
    """The best of several ICM descents: from the argmax of the fields, and from uniform random configurations."""

    starts: int = 32
    seed: int = 0

    spec = OracleSpec(
        id="multi_start",
        label="ICM from many starts",
        style=Style("#56B4E9", "dash", "triangle"),
        promise="heuristic",
        summary="Iterated conditional modes from several random configurations; the best end is kept.",
        paper="Besag 1986, On the statistical analysis of dirty pictures",
        params=(
            Param("starts", "starts", 1, 10_000, 32, scale="int", help="descents, the first from the fields' argmax"),
            Param("seed", "seed", 0, 2**31 - 1, 0, scale="int", help="of the random starts", advanced=True),
        ),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The best local maximum; the note says how many starts came to its value."""
        rng = np.random.default_rng(int(self.seed))
        starts = [unary_argmax(potentials), *random_states(potentials, rng, int(self.starts) - 1)]
        ends = np.stack([descend(potentials, start) for start in starts])
        values = potentials.value(ends)
        best = int(values.argmax())
        alike = float(np.mean(values >= values[best] - slack(potentials) * (1 + potentials.n)))
        return Solution.found(potentials, ends[best], **{"share of starts": alike})

    def solve_factors(self, factors: Factors) -> Solution:
        """The same on the factors as they are; the first start is built up greedily."""
        rng = np.random.default_rng(int(self.seed))
        starts = [on_factors.greedy(factors), *on_factors.random_states(factors, rng, int(self.starts) - 1)]
        ends = np.stack([on_factors.descend(factors, start) for start in starts])
        return Solution.on_factors(factors, ends[int(factors.value(ends).argmax())])


__all__ = ["Icm", "MultiStart", "descend"]

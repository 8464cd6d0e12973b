"""Inflated graphs: variables in several copies, of which the perturbed maximum is taken (Hazan and Jaakkola 2012).

A perturbed maximum exceeds log Z on average because every variable sees one draw of its noise instead of the mean over
many. Copies bring the mean in: max over the copies of a mean is the mean of their maxima as long as no two copies of
one variable depend on each other. Where copies share neighbours that are copied too, they do, and the promise is lost.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy
from jaxtyping import Bool, Float, Int

from pmpviz.marginals.perturbation import perturbed_maxima
from pmpviz.marginals.tree_perturbation import tree_pair
from pmpviz.oracles import MapOracle
from pmpviz.oracles.perturbed import gumbels
from pmpviz.oracles.potentials import Potentials, Structure


@dataclass(frozen=True, eq=False)
class Found:
    """Maxima under some perturbations, an upper bound of each (nan where none is proved), and mean marginals."""

    value: Float[np.ndarray, " m"]
    upper: Float[np.ndarray, " m"]
    unary: Float[np.ndarray, "n k"]
    table: Float[np.ndarray, "e k k"]


class Inflation(Protocol):
    """Copies of a model's variables; `inflated` is what is maximised over, `bounds` says whether the expected maximum
    is at least log Z."""

    @property
    def inflated(self) -> Potentials:
        """The potentials of the model in copies."""
        ...

    @property
    def bounds(self) -> bool:
        """Whether the mean of its maxima is never below log Z."""
        ...

    def found(self, rng: np.random.Generator, count: int, oracle: MapOracle) -> Found:
        """Under so many new perturbations."""
        ...


def independent(s: Structure) -> Bool[np.ndarray, " n"]:
    """Variables of which no two interact: a side of a graph of two sides, else greedily those of the fewest."""
    if (sides := s.sides) is not None:
        return sides if 2 * sides.sum() >= s.n else ~sides
    chosen, barred = np.zeros(s.n, bool), np.zeros(s.n, bool)
    for v in sorted(range(s.n), key=lambda v: len(s.neighbours[v])):
        if not barred[v]:
            chosen[v] = True
            barred[[u for _, u, _ in s.neighbours[v]]] = True
    return chosen


@dataclass(frozen=True, eq=False)
class Apart:
    """Variables B that do not interact in m copies, each joined to the one copy of all others, A:

        U_m = E max_{x_A} theta_A + gamma_A + 1/m sum_c max_{x_B} theta_B(x_A, x_B) + gamma_B,c(x_B)  >=  log Z.

    Given x_A the mean over copies has the expectation log sum_{x_B} exp theta_B, and a maximum is convex: U_m is a
    bound for every m, U_1 the one without copies, and it falls with m to E max_{x_A} log sum_{x_B} exp theta + gamma_A.
    Variables from number `perturbed` on are auxiliary, and have no noise.
    """

    original: Potentials
    inflated: Potentials
    member: Int[np.ndarray, "m n"]
    noisy: Float[np.ndarray, " inflated"]
    bounds: bool = True

    @classmethod
    def of(cls, potentials: Potentials, copies: int, perturbed: int) -> Apart:
        """The graph of n + (m - 1) |B| variables: what touches a copy counts 1 / m."""
        s, alone = potentials.structure, independent(potentials.structure)
        count, rank = int(alone.sum()), np.cumsum(alone) - 1
        extra = s.n + (np.arange(copies)[:, None] - 1) * count + rank
        member = np.where(alone & (np.arange(copies) > 0)[:, None], extra, np.arange(s.n))
        owner = np.concatenate([np.arange(s.n), np.tile(np.flatnonzero(alone), copies - 1)])
        weight = np.where(alone[owner], 1 / copies, 1.0)
        inflated = _inflated(potentials, alone, member, owner, weight)
        return cls(potentials, inflated, member, np.where(owner < perturbed, weight, 0.0))

    def found(self, rng: np.random.Generator, count: int, oracle: MapOracle) -> Found:
        """By the oracle on the inflated graph; a variable's marginal is the share of its copies."""
        noise = gumbels(rng, count, self.inflated.structure) * self.noisy[:, None]
        maxima, s = perturbed_maxima(self.inflated, noise, oracle), self.original.structure
        one = np.eye(s.states)[maxima.x.astype(np.int64)]
        unary, table = np.zeros((s.n, s.states)), np.zeros((len(s.i), s.states, s.states))
        for row in self.member:
            held = one[:, row]
            unary += held.mean(0)
            table += np.einsum("mek,mel->ekl", held[:, s.i], held[:, s.j]) / count
        return Found(maxima.value, maxima.upper, unary / len(self.member), table / len(self.member))


def _inflated(potentials: Potentials, alone, member, owner, weight) -> Potentials:
    """Edges of copied variables once a copy, the others once."""
    s = potentials.structure
    split = alone[s.i] | alone[s.j]
    edge = np.concatenate([np.flatnonzero(~split), np.tile(np.flatnonzero(split), len(member))])
    copy = np.concatenate([np.zeros((~split).sum(), int), np.repeat(np.arange(len(member)), split.sum())])
    i, j = member[copy, s.i[edge]], member[copy, s.j[edge]]
    turned = i > j
    table = potentials.table[edge] * np.where(split[edge], 1 / len(member), 1.0)[:, None, None]
    forbidden = None if s.forbidden is None else _turned(s.forbidden[edge], turned)
    card = tuple(np.array(s.card, np.int64)[owner].tolist())
    structure = Structure(card, np.minimum(i, j), np.maximum(i, j), forbidden)
    unary = potentials.unary[owner] * weight[:, None]
    return Potentials(structure, unary, _turned(table, turned), potentials.constant)


def _turned(table: np.ndarray, turned: np.ndarray) -> np.ndarray:
    return np.where(turned[:, None, None], table.transpose(0, 2, 1), table)


@dataclass(frozen=True, eq=False)
class Joined:
    """All variables in m copies, every copy joined to every copy of its neighbours with theta / m^2.

    The graph of the code that was published with Barrier Frank-Wolfe (whose figures are made without copies). Copies of
    one variable are alike but for their noise: those with the largest differences take state 1 first, so that the
    number of copies in state 1 is a variable of m + 1 states, and the maximum is one over n of those. With m it tends
    to max_q <theta, q> + sum_i H(q_i) over product laws: naive mean field's, which is below log Z. Two states only.
    """

    original: Potentials
    inflated: Potentials
    copies: int
    noisy: Bool[np.ndarray, " n"]
    bounds: bool

    @classmethod
    def of(cls, potentials: Potentials, copies: int, perturbed: int) -> Joined:
        """The model of the shares 0, 1/m, ..., 1."""
        s, q = potentials.structure, np.arange(copies + 1) / copies
        weights = np.stack([1 - q, q])
        table = np.einsum("ka,ekl,lb->eab", weights, potentials.table, weights)
        structure = Structure((copies + 1,) * s.n, s.i, s.j)
        inflated = Potentials(structure, np.zeros((s.n, copies + 1)), table, potentials.constant)
        return cls(potentials, inflated, copies, np.arange(s.n) < perturbed, copies == 1)

    def found(self, rng: np.random.Generator, count: int, oracle: MapOracle) -> Found:
        """By the oracle on the shares; a pair of variables is as often in two states as their copies' pairs are."""
        s = self.original.structure
        noise = rng.gumbel(-np.euler_gamma, 1.0, (count, s.n, self.copies, 2)) * self.noisy[:, None, None]
        value = self.original.unary[:, None] + noise
        gain = -np.sort(value[..., 0] - value[..., 1], axis=2)
        unary = np.concatenate([np.zeros((count, s.n, 1)), gain.cumsum(2)], 2) + value[..., :1].sum(2)
        maxima = perturbed_maxima(self.inflated, unary / self.copies, oracle)
        one = np.stack([self.copies - maxima.x, maxima.x], 2) / self.copies
        table = np.einsum("mek,mel->ekl", one[:, s.i], one[:, s.j]) / count
        return Found(maxima.value, maxima.upper, one.mean(0), table)


@dataclass(frozen=True, eq=False)
class Nested:
    """Hazan, Maji and Jaakkola's theorem: pairwise noise on a tree, and m copies of a variable behind its neighbour.

    Every edge is the root of its own marginal (`tree_pair`), one edge of every component that of the maximum, whose
    root noise is integrated out. A bound for every m that falls to log Z.
    """

    original: Potentials
    copies: int
    label: Int[np.ndarray, " n"]
    bounds: bool = True

    @property
    def inflated(self) -> Potentials:
        """A variable at a time is maximised over: the tree itself."""
        return self.original

    @classmethod
    def of(cls, potentials: Potentials, copies: int, perturbed: int) -> Nested:
        """The components; where there is a cycle `found` raises Refusal."""
        s = potentials.structure
        joined = scipy.sparse.coo_array((np.ones(len(s.i)), (s.i, s.j)), shape=(s.n, s.n))
        return cls(potentials, copies, scipy.sparse.csgraph.connected_components(joined, directed=False)[1])

    def found(self, rng: np.random.Generator, count: int, oracle: MapOracle) -> Found:
        """By maxima over a variable at a time: no oracle is asked."""
        s, one = self.original.structure, self.original.unary
        unary = np.where(s.valid, np.exp(one - one.max(1, keepdims=True)), 0.0)
        unary /= unary.sum(1, keepdims=True)
        value, table = np.full(count, self.original.constant), np.zeros((len(s.i), s.states, s.states))
        rooted: set[int] = set()
        for e, (i, j) in enumerate(zip(s.i.tolist(), s.j.tolist(), strict=True)):
            pair = tree_pair(self.original, e, self.copies, count, rng)
            table[e], unary[i], unary[j] = pair.probability, pair.probability.sum(1), pair.probability.sum(0)
            if (component := int(self.label[i])) not in rooted:
                rooted.add(component)
                value = value + pair.value
        for v in range(s.n):
            if int(self.label[v]) not in rooted:
                value = value + np.logaddexp.reduce(one[v, : s.card[v]])
        return Found(value, value, unary, table)


INFLATIONS = {"one side": Apart.of, "all": Joined.of, "tree": Nested.of}

__all__ = ["INFLATIONS", "Apart", "Found", "Inflation", "Joined", "Nested", "independent"]

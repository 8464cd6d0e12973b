"""Any factor graph as pairs of variables, exactly: a factor's halves become auxiliary variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from pmpviz.oracles.factors import Factors, lowered
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import MAX_CARDINALITY, Refusal

# Cells of all padded tables.
MOST_CELLS = 1 << 24
NATIVE = "`infer --algorithm bp` and `exact`, `map --oracle` exact, max_product, icm, multi_start and annealing take it"

Half = tuple[tuple[int, ...], Int[np.ndarray, "c h"]]


@dataclass(frozen=True, eq=False)
class Reduction:
    """`potentials` over the variables of `factors`, then the auxiliary ones; `words` say what was done.

    The scope of a factor of three or more variables is cut into two halves. A half of several variables becomes an
    auxiliary variable whose states are the half's possible configurations, joined to each of them by a table that is 0
    where they agree; the factor is a table between its halves. Every configuration has one extension that agrees, of
    the same weight: log Z, marginals and maxima are those of the factors. Zeros lie `Factors.penalty` below.
    """

    factors: Factors
    potentials: Potentials
    words: str

    @classmethod
    def of(cls, factors: Factors) -> Reduction:
        """Raises Refusal where a half has more configurations than a variable may have states, or all is too large."""
        halves: list[Half] = []
        edges: list[tuple[int, int, np.ndarray]] = []
        ones: list[tuple[int, np.ndarray]] = []
        for scope, table in factors.factors:
            if len(scope) == 1:
                ones.append((scope[0], table))
            elif len(scope) == 2:
                edges.append((scope[0], scope[1], table))
            else:
                edges.append(_split(factors, scope, table, halves))
        edges += _agreements(factors, halves)
        card = (*factors.card, *(len(configurations) for _, configurations in halves))
        potentials = _assembled(factors, card, ones, edges)
        return cls(factors, potentials, reduced(factors, potentials))


def _split(factors: Factors, scope: tuple[int, ...], table: np.ndarray, halves: list[Half]) -> tuple:
    """(variable, variable, table between them) of one factor; new halves are appended."""
    sizes = np.log([factors.card[v] for v in scope])
    cut = 1 + int(np.argmin([max(sizes[:c].sum(), sizes[c:].sum()) for c in range(1, len(scope))]))
    rows = int(np.prod(table.shape[:cut]))
    flat, ends = table.reshape(rows, -1), []
    for part, axis in ((scope[:cut], 0), (scope[cut:], 1)):
        if len(part) == 1:
            ends.append(part[0])
            continue
        possible = np.flatnonzero(np.isfinite(flat).any(1 - axis))
        if len(possible) > MAX_CARDINALITY:
            raise Refusal(
                f"a factor of {len(scope)} variables has {len(possible):,} configurations in half of them, and an "
                f"auxiliary variable at most {MAX_CARDINALITY} states; {NATIVE}"
            )
        flat = flat.take(possible, axis)
        halves.append((part, np.stack(np.unravel_index(possible, [factors.card[v] for v in part]), 1)))
        ends.append(factors.n + len(halves) - 1)
    return ends[0], ends[1], flat


def _agreements(factors: Factors, halves: list[Half]) -> list[tuple[int, int, np.ndarray]]:
    """Tables between each variable of a half and its auxiliary variable: 0 where they agree, -inf elsewhere."""
    found = []
    for number, (part, configurations) in enumerate(halves):
        for place, v in enumerate(part):
            agree = np.arange(factors.card[v])[:, None] == configurations[:, place]
            found.append((v, factors.n + number, np.where(agree, 0.0, -np.inf)))
    return found


def _assembled(factors: Factors, card: tuple[int, ...], ones, edges) -> Potentials:
    k, penalty = max(card, default=1), factors.penalty
    if len(edges) * k * k > MOST_CELLS:
        raise Refusal(
            f"as pairs of variables of up to {k} states this model has tables of {len(edges) * k * k:,} entries, and "
            f"{MOST_CELLS:,} are the most; {NATIVE}"
        )
    # Sorted, each edge from the smaller number to the larger.
    edges = sorted(((a, b, t) if a < b else (b, a, t.T) for a, b, t in edges), key=lambda edge: edge[:2])
    unary, table = np.zeros((len(card), k)), np.zeros((len(edges), k, k))
    certain = np.zeros(table.shape, bool)
    for v, values in ones:
        unary[v, : len(values)] += values
    for e, (_, _, values) in enumerate(edges):
        rows, columns = values.shape
        table[e, :rows, :columns] = lowered(values, penalty)
        certain[e, :rows, :columns] = np.isneginf(values)
    i, j = np.array([edge[:2] for edge in edges], np.int64).reshape(-1, 2).T
    structure = Structure(card, i, j, certain, len(card) - factors.n)
    return Potentials(structure, unary, table, factors.constant)


def reduced(factors: Factors, potentials: Potentials) -> str:
    """In words, what the factors became."""
    auxiliary = potentials.n - factors.n
    if not auxiliary:
        return "zeros are a large finite penalty"
    large = sum(len(scope) > 2 for scope, _ in factors.factors)
    return f"{large:,} factors of three or more variables became pairs with {auxiliary:,} auxiliary variables, exactly"


__all__ = ["Reduction", "reduced"]

"""Random table models and their law by brute force, for the tests of exact answers and of files."""

from __future__ import annotations

import itertools

import numpy as np

from pmpviz.models.tables import TableModel


def random_factors(rng: np.random.Generator, most_states: int = 4, n: int = 6, zeros: float = 0.15):
    """(card, factors, constant): mixed cardinalities (1 included), arities 0 to 4 in any order of the variables,
    repeated scopes, and forbidden states that leave at least one state possible."""
    card = rng.integers(1, most_states + 1, n).tolist()
    possible = [int(rng.integers(c)) for c in card]
    factors = []
    for _ in range(2 * n):
        scope = tuple(rng.permutation(n)[: rng.integers(0, 5)].tolist())
        table = rng.normal(0, 1.5, [card[v] for v in scope])
        if scope:
            table[rng.random(table.shape) < zeros] = -np.inf
            table[tuple(possible[v] for v in scope)] = rng.normal()
        factors.append((scope, table))
    factors += factors[:2]
    return card, factors, float(rng.normal())


def random_model(seed: int, **options) -> TableModel:
    """The model of `random_factors`."""
    return TableModel.of(*random_factors(np.random.default_rng(seed), **options))


def brute_force(card, factors, constant=0.0, beta=1.0, clamped=None):
    """(states, log weights) of all states that agree with `clamped`, term by term."""
    clamped = clamped or {}
    states = np.array(list(itertools.product(*map(range, card))), np.int64).reshape(-1, len(card))
    keep = np.all([states[:, v] == value for v, value in clamped.items()] or [np.ones(len(states), bool)], axis=0)
    states = states[keep]
    log = np.full(len(states), beta * constant)
    for scope, table in factors:
        entries = np.asarray(table)[tuple(states[:, v] for v in scope)]
        log += np.where(np.isneginf(entries), -np.inf, beta * np.where(np.isneginf(entries), 0, entries))
    return states, log


def answers(card, states, log):
    """(log Z, marginals, pair table function, p) of a brute-force law."""
    top = log.max()
    log_z = top + np.log(np.exp(log - top).sum())
    p = np.exp(log - log_z)
    marginals = [np.bincount(states[:, v], p, c) for v, c in enumerate(card)]

    def pair(i, j):
        found = np.zeros((max(card), max(card)))
        np.add.at(found, (states[:, i], states[:, j]), p)
        return found

    return log_z, marginals, pair, p

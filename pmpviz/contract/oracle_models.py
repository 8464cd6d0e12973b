"""Random potentials of every kind that an oracle may meet, and their maxima by brute force."""

from __future__ import annotations

import itertools

import numpy as np

from pmpviz.models import build_spec
from pmpviz.oracles import Potentials, Structure
from pmpviz.types import Target


def random_potentials(seed: int, states: int = 4, attractive: bool = False) -> Potentials:
    """Mixed cardinalities (two states only where `states` is 2), weak to strong, often with ties, zero couplings,
    several components, single variables, none at all."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0 if seed % 50 == 0 else 1, 9 if states == 2 else 6))
    card = tuple(rng.integers(1 if states > 2 else 2, states + 1, n).tolist())
    i, j = np.triu_indices(n, 1)
    kept = rng.random(len(i)) < rng.choice([0.0, 0.3, 0.6, 1.0])
    structure = Structure(card, i[kept], j[kept])
    strength, integral = float(rng.choice([0.1, 1.0, 5.0, 40.0])), rng.random() < 0.25
    unary = np.where(structure.valid, rng.normal(0, 1, structure.valid.shape), 0.0)
    table = np.where(structure.valid_pairs, strength * rng.normal(0, 1, structure.valid_pairs.shape), 0.0)
    table[rng.random(len(table)) < 0.1] = 0.0
    if integral:
        unary, table = np.round(unary), np.round(table)
    if attractive and n:
        w = table[:, 1, 1] - table[:, 1, 0] - table[:, 0, 1] + table[:, 0, 0]
        table[:, 1, 1] += np.where(w < 0, -2 * w, 0.0)
    return Potentials(structure, unary, table, float(rng.normal()))


def brute_force(potentials: Potentials) -> tuple[np.ndarray, float]:
    """(a maximum, its value) term by term."""
    states = np.array(list(itertools.product(*map(range, potentials.structure.card))), np.int64)
    states = states.reshape(len(states), potentials.n)
    values = np.full(len(states), potentials.constant)
    for v in range(potentials.n):
        values = values + potentials.unary[v, states[:, v]]
    for table, a, b in zip(potentials.table, potentials.structure.i, potentials.structure.j, strict=True):
        values = values + table[states[:, a], states[:, b]]
    return states[values.argmax()], float(values.max())


def of_spec(spec: str) -> Potentials:
    """The potentials of a builder's model."""
    return Potentials.of_target(Target.of(build_spec(spec)))[0]

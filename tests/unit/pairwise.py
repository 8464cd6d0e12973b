"""Random pairwise potentials and their exact answers by brute force, for the tests of oracles and marginals."""

from __future__ import annotations

import itertools

import numpy as np

from pmpviz.oracles import Potentials, Structure


def random_pairwise(seed, n=5, states=2, density=0.7, strength=1.5, tree=False) -> Potentials:
    """Cardinalities from 2 to `states`, normal potentials; a random tree, or every pair with the given chance."""
    rng = np.random.default_rng(seed)
    card = tuple(int(c) for c in rng.integers(2, states + 1, n))
    if tree:
        pairs = [(int(rng.integers(v)), v) for v in range(1, n)]
    else:
        pairs = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < density]
    i, j = np.array(pairs, np.int64).reshape(-1, 2).T
    structure = Structure(card, i, j)
    unary = np.where(structure.valid, rng.normal(size=structure.valid.shape), 0.0)
    table = np.where(structure.valid_pairs, strength * rng.normal(size=structure.valid_pairs.shape), 0.0)
    return Potentials(structure, unary, table, float(rng.normal()))


def all_states(structure: Structure) -> np.ndarray:
    """Every configuration."""
    return np.array(list(itertools.product(*map(range, structure.card))), np.int64).reshape(-1, structure.n)


def solved(potentials: Potentials) -> tuple[float, np.ndarray, np.ndarray]:
    """(log Z, p(x_i), p(x_i, x_j) of the edges) from all states."""
    s, x = potentials.structure, all_states(potentials.structure)
    log = potentials.value(x)
    log_z = log.max() + np.log(np.exp(log - log.max()).sum())
    p, one = np.exp(log - log_z), np.eye(s.states)[x]
    return float(log_z), np.einsum("m,mik->ik", p, one), np.einsum("m,mek,mel->ekl", p, one[:, s.i], one[:, s.j])

"""Random factor graphs without loops, of all kinds of factors, and random evidence that they allow."""

from __future__ import annotations

import dataclasses

import numpy as np

from pmpviz import exact
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor
from pmpviz.types import Evidence, InputError, Target

# Kinds and arities of a tree's factors; cardinalities follow. All trees of a recipe have the same shapes.
RECIPES = (
    (("table", 2), ("table", 2), ("or", 4), ("and", 3), ("cardinality", 3), ("table", 3)),
    (("table", 2), ("table", 2), ("table", 2), ("cardinality", 4), ("or", 3), ("and", 3), ("table", 4)),
)


def random_tree(rng: np.random.Generator, recipe) -> FactorGraph:
    """A tree of these factors: each joins one variable that is there to new ones; tables have up to three states."""
    order = rng.permutation(len(recipe))
    # Table variables of three states come last, so that all trees of a recipe have the same cardinalities.
    many = sum(arity - 1 for kind, arity in recipe if kind == "table") // 2
    n = 1 + sum(arity - 1 for _, arity in recipe)
    card = (2,) * (n - many) + (3,) * many
    fresh = {2: list(rng.permutation(np.arange(1, n - many))), 3: list(rng.permutation(np.arange(n - many, n)))}
    needed = sum(arity - 1 for kind, arity in recipe if kind != "table")
    there, scopes = [0], {}
    for f in order:
        kind, arity = recipe[f]
        joined = int(rng.choice([v for v in there if kind == "table" or card[v] == 2]))
        new = []
        for _ in range(arity - 1):
            pool = fresh[3] if kind == "table" and (not len(fresh[2]) > needed or fresh[3]) else fresh[2]
            new.append(int(pool.pop()))
        needed -= arity - 1 if kind != "table" else 0
        scopes[f] = tuple(rng.permutation([joined, *new]).tolist())
        there += new
    factors = [random_factor(rng, kind, scopes[f], card) for f, (kind, _) in enumerate(recipe)]
    unary = rng.normal(0, 1, (n, 3))
    return FactorGraph.of(card, unary, [factors[f] for f in order], float(rng.normal()))


def random_factor(rng: np.random.Generator, kind: str, scope: tuple[int, ...], card):
    """A factor of this kind; a tenth of a table's entries are forbidden."""
    if kind == "or":
        return OrFactor(scope[:-1], scope[-1])
    if kind == "and":
        return AndFactor(scope[:-1], scope[-1])
    if kind == "cardinality":
        low, high = sorted(rng.integers(0, len(scope) + 1, 2).tolist())
        return CardinalityFactor(scope, low, high)
    table = rng.normal(0, 1.5, [card[v] for v in scope])
    table[rng.random(table.shape) < 0.1] = -np.inf
    return TableFactor(scope, table)


def random_target(seed: int, beta: float = 1.0) -> Target:
    """A tree in which some state is possible, every other one with a quarter of its variables clamped to one."""
    rng = np.random.default_rng(seed)
    while True:
        target = Target.of(random_tree(rng, RECIPES[seed % len(RECIPES)]), None, beta)
        try:
            solved = exact.solve(target)
        except InputError:
            continue
        if seed // 2 % 2:
            x, n = solved.sample(seed, 1)[0], target.n
            clamped = rng.choice(n, n // 4, replace=False)
            target = dataclasses.replace(target, evidence=Evidence.of(n, {int(v): int(x[v]) for v in clamped}))
        return target

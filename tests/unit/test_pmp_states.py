"""Perturb-and-max-product on factor graphs: maxima of the same perturbations by brute force, and the law's laws."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz import keys
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import TableModel
from pmpviz.runs import run as running
from pmpviz.samplers import make_sampler
from pmpviz.samplers.perturb_and_map import PerturbAndMap
from pmpviz.types import Evidence, Target

# Of each kind of tree twenty: twelve have every pair of form, evidence and beta, and each compiles anew.
TREES, CHAINS, SWEEPS = 60, 4, 12
CARDS = {"alike": (3,) * 7, "mixed": (4, 2, 3, 1, 3, 2, 4), "many": (6, 5, 6, 4)}


def random_tree(rng: np.random.Generator, card: tuple[int, ...]) -> TableModel:
    """Every variable but the first hangs on one before it; with potentials of their own."""
    order = rng.permutation(len(card)).tolist()
    scopes = [(order[v], order[int(rng.integers(v))]) for v in range(1, len(card))] + [(v,) for v in order]
    return TableModel.of(card, [(scope, rng.normal(0, 1.5, [card[v] for v in scope])) for scope in scopes])


def maxima(target: Target, noise: np.ndarray, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(best configuration, its lead over the second) of each chain's noise [t, n, K]."""
    model = target.model if isinstance(target.model, TableModel) else target.model.to_tables()
    with np.errstate(invalid="ignore"):
        parts = [np.asarray(table)[tuple(states[:, v] for v in scope)] for scope, table in model.factors]
    weight = np.where(np.isneginf(np.sum(parts, 0)), -np.inf, float(target.beta) * np.sum(parts, 0))
    mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
    weight = np.where((states[:, mask] == value[mask]).all(1), weight, -np.inf)
    total = weight + noise[:, np.arange(states.shape[1]), states].sum(-1)
    ranked = np.sort(total, axis=1)
    return states[total.argmax(1)], ranked[:, -1] - ranked[:, -2]


def all_states(card: tuple[int, ...]) -> np.ndarray:
    return np.array(list(itertools.product(*map(range, card))))


@jax.jit
def _decoded(algorithm, target, chain_keys, x0):
    state = algorithm.init_tile(chain_keys, target, x0)
    state = jax.lax.fori_loop(0, SWEEPS, lambda _, s: algorithm.step_tile(chain_keys, target, s)[0], state)
    return algorithm.position_tile(target, state), state.perturbation


def decoded(target: Target, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """(configurations, perturbations) of a few chains after as many sweeps as news needs to cross the tree."""
    algorithm = make_sampler("pmp", damping=0.0)
    chain_keys = keys.of_chains(jax.random.key(seed), jnp.arange(CHAINS))
    x0 = np.zeros((CHAINS, target.n), np.int8)
    x, noise = _decoded(algorithm, running.prepared(algorithm, target), chain_keys, x0)
    return np.asarray(x), np.asarray(noise, np.float64)


def agree(target: Target, seed: int, states: np.ndarray) -> None:
    x, noise = decoded(target, seed)
    wanted, lead = maxima(target, noise, states)
    # What single precision cannot tell apart is no maximum missed.
    clear = lead > 1e-3
    assert clear.any() and (x[clear] == wanted[clear]).all()


@pytest.mark.brief
@pytest.mark.parametrize("name", CARDS)
def test_trees_of_k_states_are_decoded_to_the_maximum(name):
    card, rng = CARDS[name], np.random.default_rng(5)
    states = all_states(card)
    for seed in range(-(-TREES // len(CARDS))):
        tree = random_tree(rng, card)
        model = Pairwise.from_tables(tree) if seed % 2 else tree
        evidence = Evidence.of(len(card), {2: 1}) if seed % 3 == 0 else None
        agree(Target.of(model, evidence, 0.5 + seed % 4), seed, states)


def and_or() -> FactorGraph:
    """Two ANDs of two inputs each, an OR of the two, beside a three-state variable and a count: a tree."""
    table = TableFactor((6, 7), np.array([[0.0, 1.2, -0.4], [0.9, -0.7, 0.3]]))
    factors = [
        AndFactor((0, 1), 4),
        AndFactor((2, 3), 5),
        OrFactor((4, 5), 6),
        table,
        CardinalityFactor((0, 8, 9), 1, 2),
    ]
    unary = [[0.0, 0.3], [0.0, -0.2], [0.0, 0.5], [0.0, 0.1], *[[0.0, 0.0]] * 3, [0.0, 0.2, 0.1], *[[0.0, -0.3]] * 2]
    return FactorGraph.of((2,) * 7 + (3, 2, 2), unary, factors)


@pytest.mark.parametrize("clamped", [{}, {6: 1}, {6: 0, 9: 1}])
def test_and_or_factors_are_decoded_to_the_maximum(clamped):
    graph = and_or()
    states = all_states(graph.card)
    for seed in range(20):
        target = Target.of(graph, Evidence.of(graph.n, clamped), 1.5)
        x, noise = decoded(target, seed)
        full = graph.to_tables()
        wanted, lead = maxima(Target.of(full, target.evidence, 1.5), noise, states)
        clear = lead > 1e-3
        assert (x[clear] == wanted[clear]).all()
        assert np.isfinite(np.asarray(jax.vmap(graph.log_weight)(x))).all()


def test_perturb_and_map_hears_the_same_noise():
    model = Pairwise.from_tables(random_tree(np.random.default_rng(0), CARDS["alike"]))
    target, key = Target.of(model), jax.random.key(3)
    found = [np.asarray(running.sample(a, target, key, 32, 64)) for a in (make_sampler("pmp"), PerturbAndMap(0))]
    # On a tree both find the maximum: PMP's draw of 64 sweeps is its first, which is perturb-and-MAP's draw 0.
    first = running.positions(running.start(PerturbAndMap(0), target, key, 32))
    assert (found[0] == first).mean() > 0.99 and found[1].shape == found[0].shape


def test_a_model_without_edges_has_the_exact_law():
    unary = np.array([[0.4, -0.6, 0.1], [1.0, 0.0, -1.0]])
    model = FactorGraph.of((3, 3), unary)
    x = np.asarray(running.sample(make_sampler("pmp"), Target.of(model, beta=1.5), jax.random.key(1), 20_000, 1))
    p = np.exp(1.5 * unary) / np.exp(1.5 * unary).sum(1, keepdims=True)
    shares = np.stack([(x == state).mean(0) for state in range(3)], 1)
    assert np.abs(shares - p).max() < 5 * np.sqrt(0.25 / 20_000)

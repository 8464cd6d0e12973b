"""Factor graphs: what they weigh, what they refuse, their tables and their files."""

import itertools
import json

import jax
import numpy as np
import pytest
from factor_trees import RECIPES, random_tree
from table_models import brute_force, random_model

from pmpviz import exact
from pmpviz.capabilities.messages.recording import truth
from pmpviz.io import load_model, load_model_bytes, save_model
from pmpviz.io.json_model import model_from_json, model_to_json
from pmpviz.io.npz import model_from_npz, model_to_npz
from pmpviz.io.uai import write_uai
from pmpviz.messages import Topology
from pmpviz.models import RBM, FactorGraph, build_spec, model_hash
from pmpviz.models.factor_graph import as_graph, from_ising, from_tables
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor
from pmpviz.models.small_graphs import SMALL_GRAPHS
from pmpviz.types import Evidence, InputError, Refusal, Target


def graphs():
    yield from (graph.build() for graph in SMALL_GRAPHS)
    for seed in range(4):
        yield random_tree(np.random.default_rng(seed), RECIPES[seed % 2])
    yield FactorGraph.of((3, 1), [[-0.0, -np.inf, 5e-324], [0.1]], [], -np.inf)
    yield FactorGraph.of((), None, [], 0.25)
    yield FactorGraph.of((2,) * 40, None, [OrFactor(tuple(range(39)), 39), CardinalityFactor(tuple(range(40)), 0, 7)])


def weight_by_hand(graph, x):
    total = float(graph.constant) + sum(graph.unary[v, k] for v, k in enumerate(x))
    for factor in graph.factors():
        state = [x[v] for v in factor.scope]
        if factor.kind == "table":
            total += factor.log_table[tuple(state)]
        elif factor.kind == "cardinality":
            total += 0.0 if factor.low <= sum(state) <= factor.high else -np.inf
        else:
            rule = any if factor.kind == "or" else all
            total += 0.0 if rule(state[:-1]) == bool(state[-1]) else -np.inf
    return total


@pytest.mark.parametrize("id", ["potts", "and_or", "cardinality", "or_factor"])
def test_weights_tables_and_exact_answers_are_those_of_all_states(id):
    graph = next(g for g in SMALL_GRAPHS if g.id == id).build()
    states = np.array(list(itertools.product(*map(range, graph.card))), np.int8)
    expected = np.array([weight_by_hand(graph, x) for x in states.tolist()])
    for model in (graph, graph.to_tables(), from_tables(graph.to_tables())):
        found = np.asarray(jax.jit(jax.vmap(model.log_weight))(states))
        np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
        np.testing.assert_allclose(found, expected, atol=1e-5)
    evidence = Evidence.of(graph.n, {0: 1})
    kept = np.where(states[:, 0] == 1, 0.6 * np.where(np.isneginf(expected), -1e9, expected), -np.inf)
    target = Target.of(graph, evidence, 0.6)
    solved, answers = exact.solve(target), truth(target)
    beta = float(target.beta) / 0.6
    log_z = np.logaddexp.reduce(beta * kept)
    assert abs(solved.log_z - log_z) < 1e-9 and abs(answers.log_z - log_z) < 1e-9
    for v in range(graph.n):
        for k in range(graph.card[v]):
            at = states[:, v] == k
            p = np.exp(np.logaddexp.reduce(beta * kept[at]) - log_z)
            assert abs(solved.marginals[v][k] - p) < 1e-9
            best = beta * (kept[at].max() - kept.max())
            if best > -1e6:
                assert abs(answers.log_max_marginals[v, k] - best) < 1e-9
            else:
                assert answers.log_max_marginals[v, k] == -np.inf
    assert abs(answers.maximum - beta * kept.max()) < 1e-9


@pytest.mark.parametrize("way", ["json", "npz"])
def test_files_bring_every_bit_back(way):
    for graph in graphs():
        again = model_from_npz(model_to_npz(graph)) if way == "npz" else model_from_json(model_to_json(graph))
        assert jax.tree.structure(graph) == jax.tree.structure(again)
        for a, b in zip(jax.tree.leaves(graph), jax.tree.leaves(again), strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
        assert model_hash(graph) == model_hash(again)
        assert [f.scope for f in graph.factors()] == [f.scope for f in again.factors()]


def test_loaded_files_give_a_graph_and_what_other_algorithms_use(tmp_path):
    logical = next(g for g in SMALL_GRAPHS if g.id == "and_or").build()
    spins = next(g for g in SMALL_GRAPHS if g.id == "lattice").build()
    large = FactorGraph.of((2,) * 30, None, [OrFactor(tuple(range(29)), 29)])
    for name, graph in (("logical", logical), ("spins", spins), ("large", large)):
        save_model(tmp_path / f"{name}.json", graph)
        loaded = load_model(tmp_path / f"{name}.json")
        assert model_hash(loaded.as_graph()) == model_hash(graph)
        if name == "spins":
            assert loaded.why_not_ising is None and loaded.model.pairwise()[3].size == 12
        elif name == "logical":
            assert loaded.model is loaded.tables and "joins 3 variables" in loaded.why_not_ising
        else:
            assert loaded.model is loaded.graph and "2^30 entries" in loaded.why_not_ising
    save_model(tmp_path / "logical.uai", logical)
    loaded = load_model(tmp_path / "logical.uai")
    target, again = Target.of(logical), Target.of(loaded.as_graph())
    np.testing.assert_allclose(exact.solve(target).log_z, exact.solve(again).log_z, atol=1e-12)
    assert {f.kind for f in loaded.as_graph().factors()} == {"table"}
    with pytest.raises(Refusal, match=r"2\^30 entries"):
        save_model(tmp_path / "large.uai", large)


def test_many_logical_factors_are_not_written_out_though_each_is_small():
    def graph(count):
        return FactorGraph.of((2,) * 20, None, [OrFactor(tuple(range(19)), 19)] * count)

    assert len(graph(4).to_tables().factors) == 4
    loaded = load_model_bytes("many.json", model_to_json(graph(120)).encode())
    assert loaded.tables is None and loaded.model is loaded.graph and "125,829,120 entries" in loaded.why_not_ising
    for ask in (lambda g: exact.solve(Target.of(g)), lambda g: truth(Target.of(g)), write_uai):
        with pytest.raises(Refusal, match="fewer or smaller factors"):
            ask(graph(120))


def test_tables_of_the_same_variables_become_one_and_those_of_one_variable_none():
    for seed in range(20):
        model = random_model(seed, most_states=3)
        graph = from_tables(model)
        scopes = [factor.scope for factor in graph.factors()]
        assert len(set(scopes)) == len(scopes) and all(len(scope) > 1 for scope in scopes)
        (_, expected), (_, found) = (
            brute_force(m.card, m.factors, float(m.constant)) for m in (model, graph.to_tables())
        )
        np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_ising_and_rbm_as_graphs():
    rng = np.random.default_rng(0)
    for model in (build_spec("square:3x3,h=0.3"), RBM.of_layers(rng.normal(0, 1, (2, 3)), rng.normal(0, 1, 3))):
        graph = from_ising(model)
        assert model_hash(as_graph(model)) == model_hash(graph)
        states = np.array(list(itertools.product((0, 1), repeat=model.n)), np.int8)
        found, expected = (np.asarray(jax.vmap(m.log_weight)(states)) for m in (graph, model))
        np.testing.assert_allclose(found, expected, atol=1e-5)
    with pytest.raises(Refusal):
        as_graph(object())


@pytest.mark.parametrize(
    ("card", "unary", "factors", "words"),
    [
        ((2, 200), None, [], "variable 1 has 200 states"),
        ((2, 2), [[0, 0]], [], "1 rows; give one for each of the 2"),
        ((2, 3), [[0, 0], [0, 0]], [], "unary of variable 1 has shape"),
        ((2,), [[0, np.nan]], [], "no number"),
        ((2,), [[0, np.inf]], [], "infinite"),
        ((2, 2), None, [TableFactor((0, 2), np.zeros((2, 2)))], "variable 2, but the model has 2"),
        ((2, 2), None, [TableFactor((0, 0), np.zeros((2, 2)))], "variable 0 twice"),
        ((2, 3), None, [TableFactor((0, 1), np.zeros((2, 2)))], r"shape \(2, 2\); its variables need \(2, 3\)"),
        ((2, 2), None, [TableFactor((0, 1), [[0, np.nan], [0, 0]])], "no number"),
        ((2, 2), None, [TableFactor((0, 1), [[0, 1e39], [0, 0]])], "table of factor 0 holds a value beyond 1e"),
        ((2, 2), None, [TableFactor((), np.array(-1e39))], "table of factor 0 holds a value beyond 1e"),
        ((2,), [[0.0, -1e39]], [], "unary of variable 0 holds a value beyond 1e.*scale it down"),
        ((2, 3), None, [OrFactor((0,), 1)], "needs two-state variables; variable 1 has 3"),
        ((2, 2), None, [AndFactor((), 1)], "no top variables"),
        ((2, 2), None, [OrFactor((0, 1), 1)], "variable 1 twice"),
        ((2, 2), None, [CardinalityFactor((0, 1), 1, 0)], "0 <= low <= high <= 2"),
        ((2, 2), None, [CardinalityFactor((0, 1), 0, 3)], "0 <= low <= high <= 2"),
        ((2, 2), None, [CardinalityFactor((), 0, 0)], "give a variable"),
        ((2, 2), None, [((0, 1), np.zeros((2, 2)))], "tuple is no factor"),
        ((127, 127) + (2,) * 9, None, [TableFactor(tuple(range(2, 6)), np.zeros((2,) * 4))], "padded to 127 states"),
    ],
)
def test_what_makes_no_graph_is_refused_in_one_sentence(card, unary, factors, words):
    with pytest.raises(InputError, match=words) as error:
        FactorGraph.of(card, unary, factors)
    assert "\n" not in str(error.value) and len(str(error.value)) < 200


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("factor", [0, 1, 9], "no kind"),
        ("limits", [0, 0], "what its shape says|differ in length"),
        ("arity", [3, 3, 4], "add up"),
        ("unary", [0.0], "what its shape says|give 14"),
        ("variables", [0, 2, 4, 1, 3, 5, 4, 5, 5], "twice"),
        ("values", [0.0], "left over|what its shape says"),
        ("card", [2, 2], "unary has 14 numbers; give 4"),
    ],
)
def test_damaged_files_are_refused_in_one_sentence(name, data, words):
    content = json.loads(model_to_json(next(g for g in SMALL_GRAPHS if g.id == "and_or").build()))
    array = content["arrays"][name]
    array["data"], array["shape"] = data, [len(data)] if name != "limits" else [1, 2]
    with pytest.raises(InputError, match=words):
        load_model_bytes("a.json", json.dumps(content).encode())


def has_loop(scopes, n):
    """Whether the factor graph has a loop: more edges than a forest of its components has."""
    parent = list(range(n + len(scopes)))

    def root(a):
        while parent[a] != a:
            a = parent[a]
        return a

    for f, scope in enumerate(scopes):
        for v in scope:
            a, b = root(n + f), root(v)
            if a == b:
                return True
            parent[a] = b
    return False


def test_loops_are_found_exactly_where_there_are_any_and_their_variables_form_one():
    rng = np.random.default_rng(1)
    seen = {True: 0, False: 0}
    for _ in range(400):
        n = int(rng.integers(2, 9))
        scopes = [rng.permutation(n)[: rng.integers(2, 4)].tolist() for _ in range(rng.integers(1, 6))]
        clamped = rng.random(n) < 0.2
        factors = [TableFactor(tuple(scope), np.zeros((2,) * len(scope))) for scope in scopes]
        topology = Topology.of(FactorGraph.of((2,) * n, None, factors), clamped)
        free = [[v for v in scope if not clamped[v]] for scope in scopes]
        looped = has_loop(free, n)
        seen[looped] += 1
        assert topology.is_tree == (not looped)
        if looped:
            loop = topology.loop
            assert len(set(loop)) == len(loop) >= 2 and not clamped[list(loop)].any()
            pairs = list(zip(loop, (*loop[1:], loop[0]), strict=True))
            assert all(any(a in scope and b in scope for scope in free) for a, b in pairs)
            with pytest.raises(Refusal, match="form one"):
                topology.events("two_pass")
        else:
            events = topology.events("two_pass")
            assert sorted(events) == [(e, way) for e in range(len(topology.edge_factor)) for way in (False, True)]
            check_order(topology, events)
    assert min(seen.values()) > 50


def check_order(topology, events):
    """Every message of two passes is sent after all those that it is made of."""
    at = {event: place for place, event in enumerate(events)}
    for edge, to_variable in events:
        if to_variable:
            needed = [e for e in topology.edges_of_factor[topology.edge_factor[edge]] if e != edge]
        elif topology.clamped[topology.edge_variable[edge]]:
            needed = []
        else:
            needed = [e for e in topology.edges_of_variable[topology.edge_variable[edge]] if e != edge]
        assert all(at[e, not to_variable] < at[edge, to_variable] for e in needed)

"""Recordings of messages: exact where they must be, oscillating where they must, each event what it says it is."""

import tracemalloc

import numpy as np
import pytest

from pmpviz.capabilities.messages.recording import Settings, record, truth
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import OrFactor, TableFactor
from pmpviz.models.small_graphs import SMALL_GRAPHS, build_small_graph, format_small_graph, parse_small_graph
from pmpviz.types import Evidence, InputError, Target

TREES = ("chain:length=9", "tree", "or_factor", "and_or", "cardinality")


def target_of(text, **evidence):
    model = build_small_graph(text)
    return Target.of(model, Evidence.of(model.n, {int(v[1:]): x for v, x in evidence.items()}), 0.8)


@pytest.mark.parametrize("temperature", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("text", TREES)
def test_trees_are_exact_in_two_passes_and_in_as_many_parallel_sweeps_as_the_diameter(text, temperature):
    target = target_of(text, v1=1)
    for schedule, needed in (("two_pass", 1), ("parallel", None)):
        run = record(target, Settings(schedule, 0.0, temperature, 20))
        needed = run.diameter if needed is None else needed
        assert run.is_tree and run.loop is None and run.converged == needed and run.period is None
        expected = truth(target, temperature)
        np.testing.assert_allclose(run.beliefs[needed], expected.beliefs, atol=1e-12)
        np.testing.assert_array_equal(run.beliefs[needed], run.beliefs[-1])
        if needed > 1:
            assert np.abs(run.beliefs[needed - 1] - expected.beliefs).max() > 1e-6
        if temperature == 1.0:
            np.testing.assert_allclose(run.bethe[needed:], expected.log_z, atol=1e-12)
        else:
            assert np.isnan(run.bethe).all()


@pytest.mark.parametrize(("text", "schedule"), [("tree", "two_pass"), ("chain", "parallel"), ("lattice", "sequential")])
def test_bethe_is_measured_after_every_message_of_a_short_run_and_meets_the_sweeps(text, schedule):
    target = target_of(text)
    run = record(target, Settings(schedule, sweeps=3))
    assert run.bethe_sent.shape == (len(run.edge) + 1,)
    np.testing.assert_allclose(run.bethe_sent[:: run.events_per_sweep], run.bethe, atol=1e-12)
    # A message to a factor changes no belief; one to a variable that says something new does.
    steps = np.diff(run.bethe_sent[: run.events_per_sweep + 1])
    down = run.to_variable[: run.events_per_sweep]
    assert (steps[~down] == 0).all() and (np.abs(steps[down]) > 1e-6).sum() > 2
    assert record(target, Settings("parallel", sweeps=25)).bethe_sent is None
    assert record(target, Settings("parallel", 0.0, 0.0, 3)).bethe_sent is None


def test_clamping_one_variable_opens_a_loop():
    free, clamped = target_of("triangle"), target_of("triangle", v2=1)
    assert not record(free, Settings()).is_tree
    with pytest.raises(InputError, match="variables 2 - 0 - 1 - 2 form one"):
        record(free, Settings("two_pass"))
    run, expected = record(clamped, Settings("two_pass", sweeps=3)), truth(clamped)
    assert run.is_tree and run.converged == 1
    np.testing.assert_allclose(run.beliefs[1], expected.marginals, atol=1e-12)
    np.testing.assert_allclose(run.bethe[1], expected.log_z, atol=1e-12)


@pytest.mark.parametrize(("text", "period"), [("triangle:J=1.0", 6), ("cycle", 8)])
def test_frustrated_cycles_oscillate_undamped_and_settle_damped(text, period):
    target = target_of(text)
    undamped = record(target, Settings("parallel", 0.0, 0.0, 60))
    assert undamped.period == period and undamped.converged is None and undamped.residual[-1] > 1e-3
    again = record(target, Settings("parallel", 0.0, 0.0, 60 - period))
    np.testing.assert_allclose(undamped.beliefs[-1], again.beliefs[-1], atol=1e-9)
    damped = record(target, Settings("parallel", 0.5, 0.0, 200))
    assert damped.period is None and damped.residual[damped.converged] < 1e-6
    if text.startswith("triangle"):
        assert damped.residual[50] < 1e-4


@pytest.mark.parametrize(
    ("schedule", "text"),
    [
        ("parallel", "potts"),
        ("sequential", "potts"),
        ("sequential", "tree"),
        ("two_pass", "tree"),
        ("two_pass", "and_or"),
    ],
)
@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_every_event_follows_from_those_before_it(schedule, text, temperature):
    """Played one message at a time, with the update equations written out over all states of a factor."""
    target = target_of(text)
    run = record(target, Settings(schedule, 0.4, temperature, 3))
    graph, states = target.model, target.model.states
    held = {True: np.zeros((len(run.edge_factor), states)), False: np.zeros((len(run.edge_factor), states))}
    factors = graph.factors()
    for t in range(len(run.edge)):
        edge, to_variable = run.edge[t], bool(run.to_variable[t])
        f, v = run.edge_factor[edge], run.edge_variable[edge]
        if to_variable:
            table = 0.8 * np.where(np.isneginf(factors[f].expanded()), -1e30, factors[f].expanded())
            slots = np.flatnonzero(run.edge_factor == f)
            for slot, e in enumerate(slots):
                if e != edge:
                    table = table + held[False][e].reshape([-1 if a == slot else 1 for a in range(table.ndim)])
            axis = tuple(a for a, e in enumerate(slots) if e != edge)
            fresh = np.logaddexp.reduce(np.moveaxis(table, axis, range(len(axis))).reshape(-1, states), 0)
            fresh = fresh if temperature else table.max(axis)
        else:
            near = (run.edge_variable == v) & (np.arange(len(run.edge_factor)) != edge)
            fresh = 0.8 * graph.unary[v] + held[True][near].sum(0)
        before = held[to_variable][edge]
        np.testing.assert_allclose(run.before[t], before, atol=1e-12)
        fresh = np.maximum(fresh - fresh.max(), -1e9)
        np.testing.assert_allclose(run.undamped[t], fresh, atol=1e-9)
        mixed = 0.4 * before + 0.6 * fresh if to_variable else fresh
        held[to_variable][edge] = mixed - mixed.max()
        np.testing.assert_allclose(run.after[t], held[to_variable][edge], atol=1e-9)
    assert len(run.edge) == 3 * run.events_per_sweep


def test_residual_is_the_change_of_the_log_ratio_that_is_asked_for():
    run = record(target_of("lattice"), Settings("parallel", 0.5, 1.0, 5))
    ratio = (run.undamped - run.before)[:, 1] - (run.undamped - run.before)[:, 0]
    for sweep in range(5):
        at = (run.sweep == sweep) & run.to_variable
        np.testing.assert_allclose(run.residual[sweep], np.abs(ratio[at]).max(), rtol=1e-12)


def test_impossible_states_stay_finite_and_missing_ones_are_nan():
    graph = FactorGraph.of(
        (2, 3, 2),
        [[0.0, 0.3], [0.0, -np.inf, 0.2], [0.0, 0.0]],
        [TableFactor((0, 1), [[0.0, 1.0, -np.inf], [-np.inf, 0.0, 0.5]]), OrFactor((0,), 2)],
    )
    target = Target.of(graph, Evidence.of(3, {2: 1}))
    for temperature in (0.0, 0.3, 1.0):
        run, expected = record(target, Settings("parallel", 0.5, temperature, 120)), truth(target, temperature)
        np.testing.assert_allclose(run.beliefs[-1], expected.beliefs, atol=1e-12)
        assert run.converged is not None and (run.residual < 2e4).all()
        missing = np.isnan(run.after)
        assert missing[:, :2].sum() == 0 and missing[run.edge_variable[run.edge] == 1].sum() == 0
        assert missing[run.edge_variable[run.edge] != 1, 2].all() and not np.isinf(run.after).any()


def test_settings_out_of_range_are_refused():
    target = target_of("chain")
    for settings in (
        Settings("random"),
        Settings(damping=1.0),
        Settings(damping=-0.1),
        Settings(temperature=-1.0),
        Settings(temperature=float("nan")),
        Settings(sweeps=201),
    ):
        with pytest.raises(InputError):
            record(target, settings)
    with pytest.raises(InputError, match="state from 0 to 1"):
        record(Target.of(target.model, Evidence.of(6, {0: 2})), Settings())


@pytest.mark.parametrize("sweeps", [0, 1, 200])
def test_graphs_too_large_are_refused_before_anything_is_made(sweeps):
    star = FactorGraph.of((2,) * 10_001, None, [OrFactor((0,), v) for v in range(1, 10_001)])
    tracemalloc.start()
    with pytest.raises(InputError, match="numbers"):
        record(Target.of(star), Settings(sweeps=sweeps))
    assert tracemalloc.get_traced_memory()[1] < 1 << 24
    tracemalloc.stop()
    assert record(Target.of(build_small_graph("tree")), Settings(sweeps=0)).beliefs.shape[0] == 1


def test_a_variable_of_one_state_closes_no_loop():
    pairs = [(0, 1), (1, 2), (2, 0)]
    rng = np.random.default_rng(3)
    card = (2, 1, 3)
    graph = FactorGraph.of(card, None, [TableFactor((a, b), rng.normal(0, 1, (card[a], card[b]))) for a, b in pairs])
    run, expected = record(Target.of(graph), Settings("two_pass", sweeps=2)), truth(Target.of(graph))
    assert run.is_tree and run.loop is None and run.converged == 1
    np.testing.assert_allclose(run.beliefs[1], expected.marginals, atol=1e-12)
    np.testing.assert_allclose(run.bethe[1], expected.log_z, atol=1e-12)


NONE = np.full((2, 2), -np.inf)


@pytest.mark.parametrize("temperature", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    ("graph", "evidence"),
    [
        (FactorGraph.of((2, 2), None, [OrFactor((0,), 1)]), {0: 1, 1: 0}),
        (FactorGraph.of((2, 2, 2), None, [OrFactor((0,), 1), OrFactor((1,), 2)]), {0: 1, 2: 0}),
        (FactorGraph.of((2, 2), [[0, -np.inf], [0, 0]], [OrFactor((0,), 1)]), {0: 1}),
        (FactorGraph.of((2, 2), None, [TableFactor((0, 1), NONE)]), {}),
        (FactorGraph.of((3, 2), [[0, 0, -np.inf], [0, 0]]), {0: 2}),
    ],
)
def test_no_possible_state_is_said(graph, evidence, temperature):
    target = Target.of(graph, Evidence.of(graph.n, evidence))
    for ask in (lambda: truth(target), lambda: record(target, Settings("parallel", 0.5, temperature, 20))):
        with pytest.raises(InputError, match="every state has probability 0; change the evidence"):
            ask()


@pytest.mark.parametrize("graph", SMALL_GRAPHS, ids=lambda graph: graph.id)
def test_small_graphs_are_read_from_text(graph):
    model = graph.build()
    assert model.n <= 16 and len(graph.places()) == model.n
    assert parse_small_graph(graph.id) == (graph, graph.resolve({}))
    assert format_small_graph(graph) == graph.id
    for param in graph.params:
        for value in (param.low, param.high):
            values = {param.name: int(value) if param.scale == "int" else value}
            if graph.id == "cardinality" and param.name != "h" and value in (0, 4):
                values = {"low": value, "high": value}
            text = format_small_graph(graph, values)
            again, read = parse_small_graph(text)
            assert again is graph and read == graph.resolve(values) and format_small_graph(again, read) == text
            assert len(graph.places(**read)) == graph.build(**read).n


@pytest.mark.parametrize(
    "text", ["", "pentagon", "triangle:J", "triangle:J=1,J=1", "triangle:K=1", "triangle:J=9", "tree:J=nan", "x" * 999]
)
def test_bad_texts_are_refused_in_one_sentence(text):
    with pytest.raises(InputError) as error:
        build_small_graph(text)
    assert len(str(error.value)) < 250 and "\n" not in str(error.value)

"""The compiled engine in single precision against recordings in double precision, sweep by sweep."""

import numpy as np
import pytest

from pmpviz import messages
from pmpviz.capabilities.messages.recording import Settings, record
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor
from pmpviz.models.small_graphs import build_small_graph
from pmpviz.types import Evidence, Target

pytestmark = pytest.mark.brief
SWEEPS = 8


def mixed_graph() -> FactorGraph:
    """All kinds of factors, three states among them, forbidden entries; no loops, so that every schedule is for it."""
    rng = np.random.default_rng(2)
    edges = [(0, 8), (8, 4), (8, 5), (7, 11)]
    tables = [rng.normal(0, 1.5, [3 if v == 8 else 2 for v in edge]) for edge in edges]
    tables[0][0, 2] = tables[1][1, 0] = -np.inf
    factors = [TableFactor(edge, table) for edge, table in zip(edges, tables, strict=True)]
    factors[2:2] = [OrFactor((0, 1, 2), 3), AndFactor((4, 6), 7)]
    factors += [CardinalityFactor((5, 9, 10), 1, 2)]
    unary = [rng.normal(0, 1, 3 if v == 8 else 2) for v in range(12)]
    return FactorGraph.of([3 if v == 8 else 2 for v in range(12)], unary, factors, 0.4)


@pytest.mark.parametrize("schedule", ["parallel", "sequential", "two_pass"])
def test_messages_beliefs_and_bethe_agree_sweep_by_sweep(schedule):
    """Sure odds beyond 10^4 count as such: those of clamped variables in single precision are known no better."""
    step = {"parallel": messages.sweep, "sequential": messages.sequential, "two_pass": messages.two_pass}[schedule]
    graph = mixed_graph()
    for evidence in ({}, {3: 1, 0: 0, 8: 1}):
        target = Target.of(graph, Evidence.of(12, evidence), 0.9)
        for temperature in (0.0, 0.3, 1.0):
            for damping in (0.0, 0.5):
                compare(target, step, Settings(schedule, damping, temperature, SWEEPS))


def compare(target, step, settings):
    run, state = record(target, settings), messages.initial(target)
    for sweep in range(SWEEPS):
        state, residual = step(target, state, np.float32(settings.damping), np.float32(settings.temperature))
        at = (run.sweep == sweep) & run.to_variable
        expected = np.nan_to_num(run.after[at][np.argsort(run.edge[at])], nan=-1e9)
        found = by_edge(target.model, state)
        np.testing.assert_allclose(np.maximum(found, -1e4), np.maximum(expected, -1e4), atol=3e-5)
        if run.residual[sweep] < 100:
            np.testing.assert_allclose(residual, run.residual[sweep], atol=1e-4)
        beliefs = messages.beliefs(target, state, settings.temperature)
        np.testing.assert_allclose(beliefs, run.beliefs[sweep + 1], atol=5e-5)
        if settings.temperature == 1.0:
            np.testing.assert_allclose(messages.bethe_log_z(target, state), run.bethe[sweep + 1], atol=5e-5)


def by_edge(graph, state):
    """Messages to variables in the order of a recording's edges."""
    rows = {}
    for group, table in zip(graph.groups, state.messages, strict=True):
        rows.update(zip(group.position.tolist(), np.asarray(table), strict=True))
    return np.concatenate([rows[f] for f in range(len(rows))])


def test_a_graph_that_oscillates_agrees_too():
    target = Target.of(build_small_graph("triangle"), None, 1.2)
    for temperature in (0.0, 0.7, 1.0):
        compare(target, messages.sweep, Settings("parallel", 0.0, temperature, SWEEPS))
        compare(target, messages.sequential, Settings("sequential", 0.3, temperature, SWEEPS))

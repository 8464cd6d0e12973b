"""The compiled engine in single precision against recordings in double precision, sweep by sweep."""

import numpy as np
import pytest

from pmpviz import messages
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.factors import AndFactor, CardinalityFactor, OrFactor, TableFactor
from pmpviz.models.small_graphs import build_small_graph
from pmpviz.runs.message_recording import Settings, record
from pmpviz.types import Evidence, Target

SWEEPS = 8


def mixed_graph(loops: bool) -> FactorGraph:
    """All kinds of factors, three states among them, forbidden entries; with loops or without."""
    rng = np.random.default_rng(2)
    tables = [rng.normal(0, 1.5, shape) for shape in ((2, 3), (3, 2, 2), (2, 2))]
    tables[0][0, 2] = tables[1][1, 0, 1] = -np.inf
    factors = [
        TableFactor((0, 8), tables[0]),
        OrFactor((0, 1, 2), 3),
        TableFactor((8, 4, 5), tables[1]),
        AndFactor((4, 6), 7),
        CardinalityFactor((5, 9, 10), 1, 2),
        TableFactor((7, 11), tables[2]),
    ]
    if loops:
        factors += [TableFactor((3, 6), rng.normal(0, 1, (2, 2))), CardinalityFactor((2, 4, 10, 11), 0, 2)]
    unary = [rng.normal(0, 1, 3 if v == 8 else 2) for v in range(12)]
    return FactorGraph.of([3 if v == 8 else 2 for v in range(12)], unary, factors, 0.4)


@pytest.mark.parametrize("schedule", ["parallel", "sequential", "two_pass"])
def test_messages_beliefs_and_bethe_agree_sweep_by_sweep(schedule):
    """Sure odds beyond 10^4 count as such: those of clamped variables in single precision are known no better."""
    step = {"parallel": messages.sweep, "sequential": messages.sequential, "two_pass": messages.two_pass}[schedule]
    graph = mixed_graph(schedule != "two_pass")
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
        asked = residual * (1 - settings.damping)
        if run.residual[sweep] < 100:
            np.testing.assert_allclose(asked, run.residual[sweep], atol=1e-4)
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


@pytest.mark.parametrize("text", ["triangle", "wrong_model"])
def test_loopy_spins_agree_in_all_schedules(text):
    target = Target.of(build_small_graph(text), None, 1.2)
    for schedule, step in (("parallel", messages.sweep), ("sequential", messages.sequential)):
        for temperature in (0.0, 0.7, 1.0):
            compare(target, step, Settings(schedule, 0.3, temperature, SWEEPS))

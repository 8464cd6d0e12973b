"""Metric sweeps and budgets do not depend on the chunks."""

import jax
import pytest

from pmpviz import runs
from pmpviz.models import build_spec
from pmpviz.runs.schedule import Budget, is_metric_sweep, next_metric_sweep
from pmpviz.samplers import make_sampler
from pmpviz.types import Target


def begin(algorithm="colour_gibbs", **knobs):
    target = Target.of(build_spec("square:4x4,J=0.3"))
    return runs.start(make_sampler(algorithm, **knobs), target, jax.random.key(0), 3)


def test_metric_sweeps_are_powers_of_two_and_then_every_64():
    taken = [s for s in range(300) if is_metric_sweep(s)]
    assert taken == [0, 1, 2, 4, 8, 16, 32, 64, 128, 192, 256]


@pytest.mark.parametrize("sweep", range(200))
def test_next_metric_sweep_is_the_first_one_after(sweep):
    assert next_metric_sweep(sweep) == next(s for s in range(sweep + 1, 400) if is_metric_sweep(s))


@pytest.mark.parametrize("chunk", [1, 3, 7, 64])
@pytest.mark.parametrize("algorithm", ["colour_gibbs", "gwg", "pmp"])
def test_every_chunking_stops_at_every_metric_sweep_and_at_the_budget(chunk, algorithm):
    run, budget, stops = begin(algorithm), Budget("sweeps", 100), []
    while not budget.spent(run):
        run, _ = runs.advance(run, budget.chunk(run, chunk))
        if run.quantum % run.quanta == 0 and is_metric_sweep(run.sweep):
            stops.append(run.sweep)
    assert run.sweep == 100 and run.quantum == 100 * run.quanta
    assert stops == [1, 2, 4, 8, 16, 32, 64]


def test_a_budget_in_updates_ends_at_the_first_quantum_that_reaches_it():
    run, budget = begin(), Budget("updates", 100)
    while not budget.spent(run):
        run, _ = runs.advance(run, budget.chunk(run, 64))
    assert run.updates == 112  # 16 sites: 7 sweeps are the first to reach 100 updates


def test_a_budget_in_seconds_counts_compiled_calls_only():
    run, budget = begin(), Budget("seconds", 1e-9)
    assert not budget.spent(run)
    run, trace = runs.advance(run, budget.chunk(run, 1))
    assert budget.spent(run) and run.seconds == trace.run_seconds


def test_no_budget_is_never_spent():
    run, _ = runs.advance(begin(), 50)
    assert not Budget("sweeps", 0).spent(run)

"""Zeros, factors of up to four variables and up to five states: every method of `infer` and `map` by brute force."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from command_line import cache, call, found, in_a_folder_of_its_own, refused, write  # noqa: F401
from table_models import answers, brute_force, random_factors

from pmpviz import exact
from pmpviz.exact.order import best_order
from pmpviz.exact.problem import Problem
from pmpviz.experiments.maximise import solve
from pmpviz.marginals import SOLVERS, anytime, infer, make_solver
from pmpviz.marginals.barrier_frank_wolfe import BarrierFrankWolfe
from pmpviz.models.tables import TableModel
from pmpviz.oracles import ORACLES, make_oracle
from pmpviz.oracles.exact import _order
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.reduction import Reduction
from pmpviz.types import InputError, Refusal, Target
from tests.thorough import case

pytestmark = pytest.mark.brief

SEEDS = range(4)
# These need variables of two states, which an auxiliary variable seldom has.
BINARY = {"bipartite", "graph_cut", "qpbo"}
QUICK = {"perturb_and_map": {"perturbations": 50}, "expected_maxima": {"perturbations": 50}}


def drawn(seed: int):
    """(target, states, their log weights, cardinalities)."""
    card, factors, constant = random_factors(np.random.default_rng(seed), 5, 5, (0.05, 0.3)[seed % 2])
    return Target.of(TableModel.of(card, factors, constant)), *brute_force(card, factors, constant), card


# Each seed is of other shapes, which compile anew: every day a solver has one with few zeros and one with many.
OF_SOLVERS = [
    case(cls.spec.id, seed, name=f"{cls.spec.id}-{seed}", everyday=seed // 2 == place % 2)
    for place, cls in enumerate(SOLVERS)
    for seed in SEEDS
]


@pytest.mark.parametrize("name, seed", OF_SOLVERS)
def test_marginals_and_bounds_by_brute_force(name, seed):
    target, states, log, card = drawn(seed)
    log_z, marginals, _, _ = answers(card, states, log)
    got = infer(make_solver(name, **QUICK.get(name, {})), target)
    answer = got.answer
    for row, states_of in zip(got.marginals, card, strict=True):
        assert len(row) == states_of and row.sum() == pytest.approx(1) and (row >= -1e-12).all()
    if answer.bound is not None:
        assert answer.bound >= log_z - 1e-8 and (answer.log_z is None or answer.log_z <= answer.bound)
    assert answer.lower is None or answer.lower <= log_z + 1e-8
    if name == "exact":
        assert answer.log_z == pytest.approx(log_z)
        for row, expected in zip(got.marginals, marginals, strict=True):
            np.testing.assert_allclose(row, expected, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", [cls.spec.id for cls in ORACLES if cls.spec.id not in BINARY])
def test_maxima_by_brute_force(name, seed):
    target, states, log, _ = drawn(seed)
    try:
        x, solution = solve(make_oracle(name), target)
    except Refusal as reason:
        assert "extra" in str(reason), reason
        return
    value = log[(states == x).all(1)][0]
    assert solution.value == pytest.approx(value)
    assert solution.upper is None or solution.upper >= log.max() - 1e-6
    if solution.exact or name in ("exact", "elimination", "enumeration"):
        assert value == pytest.approx(log.max())


@pytest.mark.parametrize("seed", range(20))
def test_the_reduction_has_every_possible_state_once(seed):
    target, _, log, _ = drawn(seed)
    factors = Factors.of_problem(Problem.of(target))
    potentials = Reduction.of(factors).potentials
    card = potentials.structure.card
    if np.prod(card) > 200_000:
        return
    x = np.stack(np.unravel_index(np.arange(int(np.prod(card))), card), -1) if card else np.zeros((1, 0), int)
    value = potentials.value(x)
    possible = np.sort(value[value > value.max() - factors.penalty / 2])
    np.testing.assert_allclose(possible, np.sort(log[np.isfinite(log)]), atol=1e-8)


@pytest.mark.parametrize("seed", range(12))
def test_a_walk_among_possible_configurations(seed):
    """Where tables hold zeros nothing forbidden ever has a share of mu, and a bound stands from the first call on."""
    target, states, log, card = drawn(seed)
    log_z = answers(card, states, log)[0]
    algorithm = make_solver("barrier_frank_wolfe", rho_updates=1, calls_per_rho=40)
    factors = Factors.of_problem(Problem.of(target))
    state = algorithm.start_factors(factors)
    barred = state.objective.barred
    assert barred is not None and state.best_bound >= log_z - 1e-9 >= state.lower - 2e-9
    while not state.reason:
        state = algorithm.step(state)
        assert not state.mu[barred].any() and (state.mu >= 0).all()
        assert factors.value(state.solution.x[: factors.n]) > -np.inf
        assert state.best_bound >= log_z - 1e-9


def test_where_exact_calls_are_too_large_relaxations_bound(monkeypatch):
    target, states, log, card = drawn(1)
    monkeypatch.setattr(BarrierFrankWolfe, "why_not", lambda self, _: "too large" if self.oracle == "exact" else None)
    got = infer(make_solver("barrier_frank_wolfe", rho_updates=0, calls_per_rho=5), target)
    assert got.answer.bound >= answers(card, states, log)[0] and "TRW-S's upper bounds" in got.words


@pytest.mark.parametrize("seed", [1, 3, 5])
@pytest.mark.parametrize("oracle", ["exact", "trws"])
def test_a_walk_that_is_stopped_early_says_nothing_that_is_known_to_be_wrong(seed, oracle):
    """An estimate lies between the bounds at every step; there is none where mu has a share in what is forbidden."""
    target, states, log, card = drawn(seed)
    log_z = answers(card, states, log)[0]
    algorithm, given = make_solver("barrier_frank_wolfe", oracle=oracle), Factors.of_problem(Problem.of(target))
    state = algorithm.begin(given)
    for _ in range(12):
        state = algorithm.step(state)
        answer = algorithm.answer(state)
        assert answer.lower is None or answer.lower <= log_z + 1e-9
        if answer.log_z is None:
            assert answer.table[state.potentials.structure.forbidden].sum() > 0
        else:
            assert (answer.lower or -np.inf) - 1e-9 <= answer.log_z <= answer.bound


def test_a_large_model_of_pairs_is_bounded_too():
    few = ("--calls-per-rho", "1", "--rho-updates", "0")
    said = call("infer", "square:18x18,J=0.2,h=0.1", "--algorithm", "barrier_frank_wolfe", *few)[1]
    assert "TRW-S's upper bounds take their place" in said and "log Z at most" in said


def test_trees_of_large_factors_are_exact_by_messages():
    rng = np.random.default_rng(3)
    card = (3, 2, 4, 5, 2, 3)
    scopes = [(0, 1, 2), (2, 3), (3, 4, 5)]
    tables = [np.where(rng.random(s) < 0.2, -np.inf, rng.normal(size=s)) for s in [(3, 2, 4), (4, 5), (5, 2, 3)]]
    target = Target.of(TableModel.of(card, list(zip(scopes, tables, strict=True))))
    truth, got = exact.solve(target), infer(make_solver("bp", tolerance=1e-10), target)
    assert got.answer.log_z == pytest.approx(truth.log_z, abs=1e-6)
    for row, expected in zip(got.marginals, truth.marginals, strict=True):
        np.testing.assert_allclose(row, expected, atol=1e-6)
    x, _ = solve(make_oracle("max_product"), target)
    assert float(target.model.log_weight(x)) == pytest.approx(solve(make_oracle("exact"), target)[1].value, abs=1e-5)


def contradictory() -> str:
    """x0 = x1 = x2 by tables with zeros; the evidence says x0 = 0 and x2 = 1."""
    equal = np.where(np.eye(3) > 0, 0.0, -np.inf)
    Path("never.evid").write_text("2 0 0 2 1")
    return write(TableModel.of((3, 3, 3), [((0, 1), equal), ((1, 2), equal)]), "equal.uai")


@pytest.mark.parametrize("command", ["exact", "infer", "map", "sample"])
def test_impossible_evidence_is_refused_by_every_command(command):
    assert "every state has probability 0" in refused(command, contradictory(), "--evidence", "never.evid")


def test_a_parity_that_consistency_does_not_see_is_refused_too():
    odd = np.where(np.add.outer(range(2), range(2)) % 2 == 1, 0.0, -np.inf)
    target = Target.of(TableModel.of((2, 2, 2), [((0, 1), odd), ((1, 2), odd), ((0, 2), odd)]))
    with pytest.raises(InputError, match="probability 0"):
        exact.insist_possible(target)


def test_what_is_too_large_for_pairs_names_the_methods_that_take_it():
    rng = np.random.default_rng(0)
    wide = TableModel.of((2,) * 16, [(tuple(range(16)), rng.normal(size=(2,) * 16))])
    assert "--algorithm bp" in refused("infer", write(wide, "wide.json"), "--algorithm", "trbp")
    assert np.shape(found("infer", "wide.json", "--algorithm", "bp")["marginals"]) == (16, 2)
    assert "as pairs" not in found("map", "wide.json", "--oracle", "icm")["notes"]


def test_what_was_done_is_said():
    triple = TableModel.of((2, 2, 2), [((0, 1, 2), np.random.default_rng(0).normal(size=(2, 2, 2)))])
    write(triple, "triple.json")
    assert "1 factors of three or more variables" in call("infer", "triple.json", "--algorithm", "trbp")[1]
    assert "as they are" in call("infer", "triple.json", "--algorithm", "bp")[1]


def test_the_estimate_never_exceeds_the_bound():
    for seed in range(2):
        spec = f"complete:8,J=2,seed={seed}"
        for name in ("barrier_frank_wolfe", "trbp"):
            got = found("infer", spec, "--algorithm", name, "--rho-updates", "3")
            assert got["log_z"] <= got["log_z_bound"]


def test_a_time_limit_gives_the_best_by_then():
    got = found("infer", "square:6x6,J=0.5", "--tolerance", "0.0001", "--seconds", "0.3", "--out", "out.MAR")
    assert "limit of 0.3 s" in got["ended"] and np.shape(got["marginals"]) == (36, 2)
    assert Path("out.MAR").read_text().startswith("MAR")
    assert got["log_z_bound"] is None or got["log_z"] <= got["log_z_bound"]


# One that is walked in this process and one whose sweeps are compiled; a third goes through the same limit.
@pytest.mark.parametrize("name", ["barrier_frank_wolfe", pytest.param("trbp", marks=pytest.mark.thorough), "bp"])
def test_an_interrupt_at_any_moment_gives_an_answer_and_a_file(name):
    script = (
        "import runpy, sys; from pmpviz.marginals import anytime\n"
        "enter = anytime.Limit.__enter__\n"
        "def said(self):\n    enter(self); print('begun', file=sys.stderr, flush=True); return self\n"
        "anytime.Limit.__enter__ = said\n"
        "runpy.run_module('pmpviz', run_name='__main__')"
    )
    long = ("--tolerance", "0.0001" if name == "barrier_frank_wolfe" else "1e-12")
    argv = ("infer", "square:9x9,J=0.6", "--algorithm", name, *long, "--out", "out.MAR", "--json")
    process = subprocess.Popen(
        [sys.executable, "-c", script, *argv], stdout=-1, stderr=-1, text=True, env={**os.environ}
    )
    assert process.stderr.readline() == "begun\n"
    time.sleep(random.Random(name).uniform(0, 1.5))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert '"marginals"' in out and len(Path("out.MAR").read_text().split()) == 2 + 81 * 3


@pytest.mark.parametrize("unbuffered", ["1", ""])
def test_an_interrupt_while_the_answer_is_waited_for_does_not_cut_it(unbuffered):
    """The reader has taken one byte of more than a pipe holds: the process is in the middle of writing."""
    argv = (sys.executable, "-m", "pmpviz", "infer", "square:50x60,J=0.1", "--algorithm", "bp", "--json")
    process = subprocess.Popen(argv, stdout=-1, bufsize=0, env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
    first = process.stdout.read(1)
    process.send_signal(signal.SIGINT)
    out = first + process.communicate(timeout=120)[0]
    assert process.returncode == 0 and len(out) > 1 << 16
    assert len(json.loads(out)["marginals"]) == 3000


def test_a_signal_while_work_is_handed_over_is_not_raised():
    """However close to the end of a piece of work the limit falls, it never escapes as an exception."""
    with anytime.Limit(0.25) as limit:
        count = 0
        while not limit.reached():
            count = limit.attempt(partial(int.__add__, count, 1), count)
    assert count > 0 and "0.25 s" in limit.reason


def ring_of_fours(seed: int) -> TableModel:
    """60 variables around a ring and 60 factors of four that lie close together, three of ten entries zero."""
    rng, factors = np.random.default_rng(seed), []
    for _ in range(60):
        first = int(rng.integers(60))
        scope = tuple(((first + rng.choice(12, 4, replace=False)) % 60).tolist())
        table = np.where(rng.random((2,) * 4) < 0.3, -np.inf, rng.normal(size=(2,) * 4))
        table[0, 0, 0, 0] = 0.0
        factors.append((scope, table))
    return TableModel.of([2] * 60, factors)


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_pairs_take_no_larger_tables_than_the_factors_that_they_are_made_of(seed):
    target = Target.of(ring_of_fours(seed))
    factors = Factors.of_problem(Problem.of(target))
    problem, potentials = factors.problem(), Reduction.of(factors).potentials
    assert _order(potentials.structure).largest <= best_order(problem.free_card, problem.edges).largest
    found, expected = (make_oracle("elimination").solve(potentials), solve(make_oracle("elimination"), target)[1])
    assert found.value == pytest.approx(expected.value)


def test_max_product_takes_pairs_of_any_number_of_states():
    """On a chain of three states, as on factors, it is right."""
    rng = np.random.default_rng(0)
    card = (3, 3, 2, 3)
    pairs = [((v, v + 1), rng.normal(size=(card[v], card[v + 1]))) for v in range(3)]
    target = Target.of(TableModel.of(card, pairs))
    x, solution = solve(make_oracle("max_product"), target)
    assert solution.value == pytest.approx(solve(make_oracle("exact"), target)[1].value)
    assert float(target.model.log_weight(x)) == pytest.approx(solution.value, abs=1e-5)

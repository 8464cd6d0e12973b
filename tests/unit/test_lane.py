"""A lane shows whole sweeps, however long they take."""

import time

import jax
import numpy as np
import pytest

from pmpviz import runs
from pmpviz.capabilities.sampling import lane
from pmpviz.capabilities.sampling.lane import Lane
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.live import worker
from pmpviz.models import build_spec
from pmpviz.runs.schedule import Budget
from pmpviz.samplers import make_sampler
from pmpviz.types import Target
from tests.compilations import compiled
from tests.thorough import case

MODEL = build_spec("square:8x8,J=0.3")


QUANTA = {"square:8x8": 16, "square:6x6": 9, "square:5x5": 6, "chain:12": 3}


@pytest.fixture
def parts(monkeypatch):
    """Every call takes too long, and so a quantum is a call."""
    monkeypatch.setattr(lane, "LIVE_CHUNK_SECONDS", 0.0)


def begin(beta: float = 1.0):
    return runs.start(make_sampler("gwg"), Target.of(MODEL, beta=beta), jax.random.key(5), 3)


def whole_sweep(run):
    """Advance to the end of the sweep, of sixteen quanta at most."""
    assert any(run.advance(Budget(), 1) for _ in range(16))


def swept(run, sweeps: int):
    return runs.advance(run, sweeps * run.quanta - run.quantum % run.quanta)[0]


@pytest.mark.as_shipped
def test_a_sweep_in_parts_is_that_in_one_and_shows_when_it_is_whole(parts):
    run = Lane(sampler("gwg"), begin())
    run.warm()
    quanta = run.run.quanta
    with compiled() as meanwhile:
        for sweep in (1, 2):
            for quantum in range(quanta):
                assert run.count == sweep - 1 and len(run.ring.since(-1, 99).sweeps) == sweep
                assert run.advance(Budget(), 64) == (quantum == quanta - 1)
    assert not meanwhile
    whole = swept(begin(), 2)
    assert np.array_equal(runs.positions(run.run), runs.positions(whole)) and run.run.quantum == whole.quantum
    frame = np.packbits(np.asarray(runs.positions(whole))[:1] > 0, axis=1)
    assert run.ring.since(-1, 99).sweeps.tolist() == [0, 1, 2] and np.array_equal(run.ring.last(1), frame)
    assert [counted.moment[0] for counted in run.waiting] == [0, 1, 2]


def test_what_is_done_in_mid_sweep_is_done_to_the_last_whole_one(parts):
    run, kept = Lane(sampler("gwg"), begin()), np.asarray(runs.positions(begin()))
    for _ in range(5):
        assert not run.advance(Budget(), 1)
    assert np.array_equal(runs.positions(run.run), kept)
    run.change(sampler("gwg"), Target.of(MODEL, beta=0.5))
    whole_sweep(run)
    assert np.array_equal(runs.positions(run.run), runs.positions(swept(begin(beta=0.5), 1)))
    run.advance(Budget(), 1)
    before = np.asarray(runs.positions(run.run))
    run.flip([7])
    assert np.flatnonzero(np.asarray(runs.positions(run.run))[0] != before[0]).tolist() == [7]
    assert run.run.quantum == run.run.quanta
    whole_sweep(run)
    assert run.count == 2


@pytest.mark.parametrize(("unit", "amount", "quanta"), [("seconds", 1e-9, 16), ("updates", 10, 3), ("sweeps", 1, 16)])
def test_a_budget_ends_where_its_unit_does(parts, unit, amount, quanta):
    run, budget = Lane(sampler("gwg"), begin()), Budget(unit, amount)
    calls = [run.advance(budget, 64) for _ in range(quanta)]
    assert calls == [False] * (quanta - 1) + [True]
    assert budget.spent(run.run) and run.run.quantum == quanta
    assert [counted.moment[0] for counted in run.waiting] == [0, 1][: 1 + quanta // 16]


@pytest.mark.parametrize(
    "spec", [case(spec, name=spec, everyday=spec in ("square:6x6", "chain:12")) for spec in QUANTA]
)
def test_a_fast_sampler_comes_to_the_largest_chunk(monkeypatch, spec):
    """Whatever the quanta of a sweep are, an odd number too."""
    assert make_sampler("gwg").spec.quanta(build_spec(spec)) == QUANTA[spec]
    monkeypatch.setattr(lane, "LIVE_CHUNK_SECONDS", 1e9)
    target = Target.of(build_spec(spec))
    run = Lane(sampler("gwg"), runs.start(make_sampler("gwg"), target, jax.random.key(5), 3))
    before = []
    for _ in range(40):
        before.append(run.run.quantum)
        run.advance(Budget(), 64)
    # From one metric sweep to the next.
    assert before[-1] - before[-2] == 64 * run.run.quanta


def test_the_pace_holds_no_sweep_that_is_begun(parts):
    def calls(live):
        live.lanes[0].warm()
        live._play()
        # A lane that is far behind is allowed one sweep, then the time of one must pass.
        live._paces = {id(live.lanes[0]): (time.monotonic() - 3600.0, 0)}
        return [live._advance_one() for _ in range(40)]

    live = LiveRun(Plan(model="square:8x8,J=0.3", chains=3, lanes=(sampler("gwg"),)), speed=0.01)
    try:
        assert live.ask(calls, wait=60.0) == [True] * 16 + [False] * 24
    finally:
        live.close()


def test_a_step_is_a_whole_sweep_of_every_lane(parts):
    live = LiveRun(Plan(model="square:8x8,J=0.3", chains=3, lanes=(sampler("gwg"), sampler("colour_gibbs"))))
    try:
        live.touch()
        live.step()
        until = time.monotonic() + 180
        while live.busy and time.monotonic() < until:
            live.touch()
            time.sleep(0.05)
        assert [each.sweep for each in live.view.lanes] == [1, 1]
        assert live.ask(lambda live: [each.run.quantum for each in live.lanes], wait=10.0) == [16, 1]
    finally:
        live.close()


def test_a_race_at_its_end_runs_its_length_again_under_other_settings():
    """It was told to press Play, which did nothing. A lane whose settings stay is at its end still."""
    plan = Plan(model="square:4x4", chains=3, budget=6.0, lanes=(sampler("gibbs"), sampler("pmp")))
    live = LiveRun(plan)

    def over(live):
        for each in live.lanes:
            each.warm()
        live._play()
        while live._advance_one():
            pass
        return [each.count for each in live.lanes]

    def under(plan):
        live.ask(lambda live: live._adopt(plan), wait=60.0)
        return live.ask(over, wait=60.0)

    try:
        assert live.ask(over, wait=60.0) == [6, 6]
        warmer = plan.replace(beta=0.5)
        assert under(warmer) == [12, 12]
        damped = warmer.replace(lanes=(sampler("gibbs"), sampler("pmp", damping=0.9)))
        assert under(damped) == [12, 18]
        # A unit that is chosen later counts from the same moment.
        assert under(damped.replace(unit="updates", budget=16.0 * 8))[0] == 14
    finally:
        live.close()


def test_where_many_wait_every_lane_goes_on_in_each_turn():
    names = ("gwg", "colour_gibbs")
    live = LiveRun(Plan(model="square:8x8,J=0.3", chains=3, lanes=tuple(map(sampler, names))))

    def turns(live):
        for each in live.lanes:
            each.warm()
            each._chunk, each.rate = 64 * each.run.quanta, 1000.0
        live._play()
        live._slice = worker.SLICE_SECONDS / 4
        crowded = [live._allowance(each) for each in live.lanes]
        live._slice = worker.SLICE_SECONDS
        return crowded, [live._allowance(each) for each in live.lanes]

    try:
        crowded, alone = live.ask(turns, wait=60.0)
        assert crowded == [5, 5] and alone == [64, 64]
    finally:
        live.close()


def test_summaries_take_no_more_than_their_share_where_many_wait(monkeypatch):
    live = LiveRun(Plan(model="square:8x8,J=0.3", chains=3, lanes=(sampler("colour_gibbs"),)))

    def summaries(live, waiting):
        asked = []
        live._summarised, live._summary_seconds = time.monotonic() - 2.0, 0.01
        with monkeypatch.context() as patch:
            patch.setattr(worker.worker(), "waiting", waiting)
            patch.setattr(live.lanes[0], "view", lambda done, layer, summarise, name: asked.append(summarise))
            live._lanes_view()
        return asked

    try:
        assert live.ask(lambda live: summaries(live, 1), wait=60.0) == [True]
        assert live.ask(lambda live: summaries(live, 40), wait=60.0) == [False]
    finally:
        live.close()

"""What visitors have left is given back: the run, what it is compared with, and what was computed from that."""

import gc
import time
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from pmpviz.app import session
from pmpviz.app.session import Held
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.live import memory
from pmpviz.live.limits import Limits
from pmpviz.live.memory import LEAST_SECONDS, SHARE, Tidy
from pmpviz.metrics.mmd import Reference
from pmpviz.metrics.noise import noise_band

WAIT_SECONDS = 60


@pytest.fixture
def clock(monkeypatch):
    """The time that tidying sees, what it has done, and how long that takes: now, done, takes."""
    state = SimpleNamespace(now=100.0, done=[], takes=0.0)

    def doing(what):
        def do(*_):
            state.done.append(what)
            state.now += state.takes

        return do

    monkeypatch.setattr(memory, "time", SimpleNamespace(monotonic=lambda: state.now))
    monkeypatch.setattr(memory, "settle", doing("settle"))
    monkeypatch.setattr(memory, "give_back", doing("give back"))
    return state


def test_it_is_tidied_up_once_for_all_who_ask_and_thoroughly_where_one_has_left(clock):
    tidy = Tidy(lambda: True)
    assert tidy.due() is None
    tidy.ask(left=False)
    first = tidy.due()
    clock.now += 1
    tidy.ask(left=True)
    tidy.ask(left=False)
    assert tidy.due() == first == 100 + LEAST_SECONDS
    tidy.work(0.0)
    assert clock.done == ["give back"] and tidy.due() is None
    tidy.ask(left=False)
    tidy.work(0.0)
    assert clock.done == ["give back", "settle"]


def test_tidying_takes_no_more_than_its_share_of_the_time(clock):
    tidy, clock.takes = Tidy(lambda: True), 2.0
    tidy.ask(left=True)
    tidy.work(0.0)
    tidy.ask(left=True)
    assert tidy.due() == pytest.approx(102 + 2 / SHARE)


def test_what_was_moved_out_of_sight_is_collected_once_somebody_has_left():
    class Circle:
        pass

    one = Circle()
    one.itself, gone = one, weakref.ref(one)
    memory.settle()
    del one
    gc.collect()
    assert gone() is not None
    memory.give_back()
    assert gone() is None


def test_compiled_programs_are_let_go_once_there_are_many(monkeypatch):
    made, cleared = [0], []
    monkeypatch.setattr(memory, "_let_go", [0])
    monkeypatch.setattr(memory, "_at_rest", [0])
    monkeypatch.setattr(memory, "resident", lambda: 0)
    monkeypatch.setattr(memory, "limits", lambda: Limits(programs=3))
    monkeypatch.setattr(memory, "compile_clock", SimpleNamespace(compilations=lambda: made[0]))
    monkeypatch.setattr(memory, "jax", SimpleNamespace(clear_caches=lambda: cleared.append(made[0])))
    monkeypatch.setattr(memory, "_hand_back", lambda: None)
    for made[0] in range(8):
        memory.give_back()
    assert cleared == [3, 6]


@pytest.mark.parametrize(
    "alone, compiled, megabytes, cleared", [(1, 9, 200, 1), (0, 9, 200, 0), (1, 9, 50, 0), (1, 0, 200, 0)]
)
def test_programs_of_large_models_are_let_go_once_nobody_is_left(monkeypatch, alone, compiled, megabytes, cleared):
    calls, resident = [], [(300 + megabytes) << 20]

    def clear():
        calls.append(resident[0])
        resident[0] = 350 << 20

    monkeypatch.setattr(memory, "_let_go", [0])
    monkeypatch.setattr(memory, "_at_rest", [300 << 20])
    monkeypatch.setattr(memory, "resident", lambda: resident[0])
    monkeypatch.setattr(memory, "compile_clock", SimpleNamespace(compilations=lambda: compiled))
    monkeypatch.setattr(memory, "jax", SimpleNamespace(clear_caches=clear))
    monkeypatch.setattr(memory, "_hand_back", lambda: None)
    memory.give_back(bool(alone))
    memory.give_back(bool(alone))
    assert len(calls) == cleared


def test_memory_at_rest_is_what_the_process_took_when_it_was_first_tidied(monkeypatch):
    monkeypatch.setattr(memory, "_at_rest", [0])
    memory.settle()
    first = memory.resident()
    assert abs(memory._at_rest[0] - first) < 64 << 20 and first > 50 << 20
    memory.settle()
    assert abs(memory._at_rest[0] - first) < 64 << 20


def test_nothing_of_a_run_is_left_once_its_page_is_given_up():
    plan = Plan(model="square:6x6", chains=8, lanes=(sampler("colour_gibbs"), sampler("pmp")))
    holder = Held(live=LiveRun(plan))
    holder.live.touch()
    holder.live.play()
    lanes = _moving(holder.live)
    left = [weakref.ref(holder.live), *map(weakref.ref, lanes), *(weakref.ref(lane.ring) for lane in lanes)]
    del lanes
    holder.close()
    assert holder.live is None
    until = time.monotonic() + WAIT_SECONDS  # The worker may have a slice of it in hand.
    while any(ref() is not None for ref in left) and time.monotonic() < until:
        time.sleep(0.05)
        memory.give_back()
    assert [ref() for ref in left] == [None] * len(left)


def _moving(run):
    until = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < until:
        run.touch()
        lanes = run.view.lanes
        if lanes and all(lane.sweep for lane in lanes):
            return run.ask(lambda job: list(job.lanes), wait=WAIT_SECONDS)
        time.sleep(0.05)
    raise AssertionError(run.view.trouble or "no lane has moved")


def test_the_noise_band_keeps_no_reference_and_is_made_once():
    reference = Reference.of(np.random.default_rng(0).integers(0, 2, (40, 6)).astype(np.int8))
    band, gone = noise_band(reference, 8), weakref.ref(reference)
    assert noise_band(reference, 8) is band
    del reference
    gc.collect()
    assert gone() is None


def test_what_a_session_held_waits_for_it_a_moment_and_is_then_given_up(monkeypatch):
    monkeypatch.setattr(session, "AWAY_SECONDS", 0.5)
    closed = []
    gone, back, other = (Held(live=SimpleNamespace(close=partial(closed.append, n)), owner=("s", n)) for n in "abc")
    for each in (back, other, gone):
        each.leave()
    known, others = session._come_back(back.owner)
    assert others == ["c", "a"] and session._come_back(other.owner) == (other, ["a"])
    assert session._come_back(("another", "a")) == (None, [])
    until = time.monotonic() + WAIT_SECONDS
    while gone.live is not None and time.monotonic() < until:
        time.sleep(0.01)
    assert closed == ["a"] and known is back and back.live is not None
    assert gone.owner not in session._away
    session._give_up(back)  # A timer that was too late to be cancelled finds nobody away.
    assert closed == ["a"]

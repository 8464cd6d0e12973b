"""What a person does on a player: answered once, and never lost to a run that ends early or a worker that is late."""

from __future__ import annotations

import threading
import time

import pytest
import streamlit as st

from pmpviz.app.player import Event, answer_events, answered, waits
from pmpviz.app.session import Held
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.page.stage import point
from pmpviz.capabilities.sampling.plan import Plan, sampler

KEY = "player-under-test"


@pytest.fixture
def sent():
    """Puts events into the outbox of a player, as its browser does: `sent(mount, (number, type), ...)`."""

    def put(mount, *events):
        raw = [{"number": number, "type": kind} for number, kind in events]
        st.session_state[KEY] = {"outbox": {"mount": mount, "events": raw}}

    yield put
    st.session_state.clear()


def test_each_event_is_answered_once_however_often_it_comes(sent):
    said = []
    sent("a", (1, "play"), (2, "step"))
    assert waits(KEY)
    assert answer_events(KEY, lambda event: said.append(event.type)) == [None, None]
    sent("a", (1, "play"), (2, "step"), (3, "no such thing"), (4, "pause"))
    answer_events(KEY, lambda event: said.append(event.type))
    assert said == ["play", "step", "pause"]
    assert not waits(KEY)
    assert answered(KEY) == ("a", 4)
    sent("b", (1, "reset"))
    answer_events(KEY, lambda event: said.append(event.type))
    assert said[-1] == "reset"


def test_an_event_in_whose_answer_the_run_ends_is_answered_by_the_next_run(sent):
    said = []

    def answer(event: Event) -> None:
        if event.type == "step" and "broken off" not in said:
            said.append("broken off")
            raise KeyboardInterrupt
        said.append(event.type)

    sent("a", (1, "play"), (2, "step"), (3, "pause"))
    with pytest.raises(KeyboardInterrupt):
        answer_events(KEY, answer)
    assert answered(KEY) == ("a", 1)
    answer_events(KEY, answer)
    assert said == ["play", "broken off", "step", "pause"]


def test_what_is_known_of_a_site_comes_late_from_a_worker_that_is_busy():
    live = LiveRun(Plan(model="square:4x4,J=0.3", chains=3, lanes=(sampler("gibbs"),)))
    holder, busy = Held(live=live), threading.Event()
    try:
        live.step()
        until = time.monotonic() + 180
        while not live.view.lanes or live.busy:
            assert time.monotonic() < until
            live.touch()
            time.sleep(0.02)
        live.post(busy.wait, wait=0.0)
        point(holder, Event("hover", site=5))
        assert holder.hover is None
        busy.set()
        while holder.hover is None:
            assert time.monotonic() < until
            time.sleep(0.02)
        assert holder.hover[:2] == (0, 5)
        assert any(line.startswith("site 6: x = ") for line in holder.hover[2])
        point(holder, Event("hover", site=16))
        assert holder.hover is None
        # Of a model that is gone by the time that the worker comes to it nothing is said, and nothing breaks.
        busy.clear()
        live.post(busy.wait, wait=0.0)
        live.set_plan(live.plan.replace(model="square:3x3,J=0.3"))
        point(holder, Event("hover", site=15))
        busy.set()
        until = time.monotonic() + 180
        while live.busy or live.view.model.n != 9:
            assert time.monotonic() < until, live.view.trouble
            live.touch()
            time.sleep(0.02)
        assert holder.hover is None and not live.view.trouble
    finally:
        busy.set()
        live.close()

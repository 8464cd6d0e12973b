"""A page's script ends when what it has drawn is on its way to the browser."""

from __future__ import annotations

import asyncio
import threading
import time
from types import SimpleNamespace

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from pmpviz.app import delivery


@pytest.fixture
def session(monkeypatch):
    """A session whose loop turns in a thread, and whose messages nobody sends yet."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    session = SimpleNamespace(_event_loop=loop, _browser_queue=ForwardMsgQueue())
    monkeypatch.setattr(delivery, "_session", lambda: session)
    yield session
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def test_a_run_waits_until_its_messages_are_flushed(session):
    # The loop is busy: what the run has drawn is not even in the queue yet.
    session._event_loop.call_soon_threadsafe(time.sleep, 0.1)
    session._event_loop.call_soon_threadsafe(session._browser_queue.enqueue, ForwardMsg())
    flushed = []

    def flush():
        flushed.append(len(session._browser_queue.flush()))

    session._event_loop.call_soon_threadsafe(lambda: session._event_loop.call_later(0.2, flush))
    assert delivery.deliver()
    assert flushed == [1]


def test_a_run_does_not_wait_for_ever(session):
    session._browser_queue.enqueue(ForwardMsg())
    assert not delivery.deliver(0.1)
    session._browser_queue.flush()
    go_on = threading.Event()
    session._event_loop.call_soon_threadsafe(go_on.wait, 60)
    assert not delivery.deliver(0.1)
    go_on.set()


def test_without_a_session_nothing_is_waited_for():
    assert delivery.deliver()

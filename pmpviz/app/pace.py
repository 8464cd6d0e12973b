"""How often a page's player is fed: often while few look on, less often where the server could not keep up.

The browser plays the frames of an update over the time to the next one, so that what moves goes on moving.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterator

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState

# Of the time of one processor, the share that updates may take: Streamlit needs as much around them, on threads of
# which one at a time runs, and the worker what is left.
SHARE = 0.25
# Streamlit sends a message in each turn of the server's loop, for all pages one after another, and forgets those of an
# update that are not sent before the page's next one; so many belong to an update, with room for some delay.
MESSAGES = 8
MOST_SECONDS = 3.0
RECENT_SECONDS = 5.0
MEMORY = 0.1
# A page that asks more often than that is made to wait, but not for so long that a click in the meantime is felt.
MOST_WAIT_SECONDS = 0.3
# Timers are not set anew for less than this.
NOTEWORTHY = 1.2
LOOK_SECONDS = 0.25
LOOK_TURNS, LOOKS = 4, 12
# So long a page waits for its turn to be drawn, and so long for one that takes longer than pages do.
TURN_SECONDS, LONG_SECONDS = 6.0, 0.6


class Pace:
    """The time between two updates of a page, the same for all: what all of them need, from what was measured of late.

    With n pages, a mean of c seconds of processor an update and l seconds for a turn of the server's loop it is the
    larger of n c / SHARE and n MESSAGES l. A loop that waits for other threads or other programs turns more slowly;
    l is the median of the last looks at it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock, self._lock = clock, threading.Lock()
        self._seen: dict[Hashable, float] = {}
        self._cost, self._turns = 0.0, deque([0.0], LOOKS)

    def took(self, page: Hashable, cost: float) -> None:
        """An update of this page has taken so many seconds of processor."""
        with self._lock:
            now = self._clock()
            self._cost += (cost - self._cost) * (MEMORY if self._seen else 1.0)
            self._seen = {each: when for each, when in self._seen.items() if now - when < RECENT_SECONDS}
            self._seen[page] = now

    def turned(self, seconds: float) -> None:
        """A turn of the server's loop has taken so long."""
        self._turns.append(seconds)

    def seconds(self, least: float) -> float:
        """Between two updates of a page that would like to be fed every `least` seconds."""
        with self._lock:
            now = self._clock()
            pages = sum(now - when < RECENT_SECONDS for when in self._seen.values())
            wanted = pages * max(self._cost / SHARE, MESSAGES * statistics.median(self._turns))
            return min(max(least, wanted), max(least, MOST_SECONDS))

    def wait(self, page: Hashable, least: float) -> float:
        """Seconds that an update of this page is to wait for, which has come much too early.

        Timers are set by messages, which a server that is overrun does not send in time. While a page's update waits
        Streamlit makes one of all that the page asks for meanwhile.
        """
        before, wanted = self._seen.get(page), self.seconds(least)
        if before is None or wanted <= least:
            return 0.0
        return min(max(before + wanted / NOTEWORTHY - self._clock(), 0.0), MOST_WAIT_SECONDS)


pace = Pace()


class Turns:
    """Pages are drawn one after another, in the order in which they are asked for.

    Drawn all at once, the pages of a class that comes in would all be ready when the last one is, and the server's loop
    would wait for every one of them. For a page that takes long the others do not wait.
    """

    def __init__(self, most: float = TURN_SECONDS, long: float = LONG_SECONDS):
        self._most, self._long = most, long
        self._next, self._since = threading.Condition(), -math.inf
        self._drawing = False

    @contextlib.contextmanager
    def __call__(self) -> Iterator[None]:
        """Wait for the turn, which ends with the block."""
        until = time.monotonic() + self._most
        with self._next:
            while self._drawing and (left := min(until, self._since + self._long) - time.monotonic()) > 0:
                self._next.wait(left)
            mine = not self._drawing
            if mine:
                self._drawing, self._since = True, time.monotonic()
        try:
            yield
        finally:
            if mine:
                with self._next:
                    self._drawing = False
                    self._next.notify()


in_turn = Turns()


async def watch_loop() -> None:
    """Tell the pace how long turns of the loop take that this runs in, until it is cancelled."""
    while True:
        begun = time.monotonic()
        for _ in range(LOOK_TURNS):
            await asyncio.sleep(0)
        pace.turned((time.monotonic() - begun) / LOOK_TURNS)
        await asyncio.sleep(LOOK_SECONDS)


def timed(least: float | None, now: float | None = None) -> float | None:
    """The pace's seconds, or those of the timer as it is `now` where they are nearly the same; None for no timer."""
    if least is None:
        return None
    wanted = pace.seconds(least)
    return now if now is not None and now / NOTEWORTHY < wanted < now * NOTEWORTHY else wanted


def of_fragment() -> bool:
    """Whether this run is of fragments alone, not of the page."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def this_fragment() -> str:
    """The id of the fragment that runs; empty where none does."""
    return ThreadState.get().fragment_id or ""


def set_timer(fragment: str, seconds: float) -> None:
    """Have the browser run that fragment every so many seconds from now on, as `run_every` does at a full run."""
    context = get_script_run_ctx()
    if context is not None and fragment:
        message = ForwardMsg()
        message.auto_rerun.fragment_id, message.auto_rerun.interval = fragment, seconds
        context.enqueue(message)

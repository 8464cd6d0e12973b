"""What is watched, whatever it computes: advanced by the worker, commanded and read by pages."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pmpviz.live.worker import LEASE_SECONDS, worker
from pmpviz.types import InputError

log = logging.getLogger(__name__)

POST_WAIT_SECONDS = 0.5
SETTLE_SECONDS = 3.0
PACE_SECONDS = 0.1
WAIT_SECONDS = 0.2
PUBLISH_SECONDS = 0.1

_numbers = itertools.count()
_compiling = threading.Lock()


def warm(lanes: list[Any]) -> None:
    """Compile side by side what the first lane of each algorithm needs; the others then find it compiled.

    One call at a time: a second one for the same programs finds them compiled.
    """
    first = list({lane.algorithm: lane for lane in reversed(lanes)}.values())
    with _compiling, ThreadPoolExecutor(len(first)) as pool:
        list(pool.map(lambda lane: lane.warm(), first))


class LiveJob:
    """Commands from pages, a lease, play, pause and step, and a pace; a subclass owns the lanes and the view.

    `queue` names the worker that serves it. Pages call `post`, `play`, ... and read `view`, which is replaced by one
    assignment; only the worker touches the rest. A subclass gives `_restart`, `_adopt`, `_publish`, `_advance_one`,
    and may give `_waiting` and `_look_around`.
    """

    view: Any
    queue = "live"

    def __init__(self, plan: Any, speed: float):
        self.plan, self.speed = plan, speed
        self._wanted, self._number = plan, next(_numbers)
        self._commands: deque[tuple[Callable[[], None], threading.Event]] = deque()
        self._serving, self._stepped = False, threading.Event()
        self._touched = time.monotonic()
        self._trouble: str | None = None
        self._playing, self._epoch, self._begun, self._steps = False, 0, 0, 0
        self._pace_start, self._pace_count, self._next_due, self._published = 0.0, 0, 0.0, 0.0
        self._marks: list[tuple[int, str]] = []
        self._lanes: list[Any] = []

    # Called by pages.

    def touch(self) -> None:
        """Keep the lease: what nobody looks at for 6 s stops."""
        self._touched = time.monotonic()
        worker(self.queue).wake()

    def post(self, command: Callable[[], None], wait: float = POST_WAIT_SECONDS) -> None:
        """Have the worker do this between chunks, first in first out; waits a moment for it."""
        done = threading.Event()
        self._commands.append((command, done))
        worker(self.queue).wake()
        if wait:
            done.wait(wait)

    def play(self, wait: float = POST_WAIT_SECONDS) -> None:
        """Go on."""
        self.post(self._play, wait)

    def pause(self) -> None:
        """Stop after the chunk in hand."""
        self.post(self._pause)

    def step(self) -> None:
        """One step of every lane; waits a moment for it."""
        self._stepped.clear()
        self.post(self._step, wait=0.0)
        self._stepped.wait(POST_WAIT_SECONDS)

    @property
    def busy(self) -> bool:
        """Whether something that was asked for is not in the view yet."""
        return bool(self._commands) or self._serving or self._steps > 0

    @property
    def settled(self) -> bool:
        """Whether the view has been as it is for so long that every page has had time to draw it."""
        return time.monotonic() - self._published > SETTLE_SECONDS

    def reset(self) -> None:
        """Back to the start with the same seed."""
        self.post(self._restart)

    def set_speed(self, speed: float) -> None:
        """Steps a second of every lane; 0 is as fast as it goes."""
        if speed != self.speed:
            self.speed = speed
            self.post(self._repace)

    def set_plan(self, plan: Any) -> None:
        """Adopt new settings: in mid-run where the shape allows it, else from the start.

        While the worker is busy only the last of several settings is adopted.
        """
        if plan != self._wanted:
            self._wanted = plan
            self.post(lambda: self._adopt(self._wanted))

    def ask(self, question: Callable[[Any], Any], wait: float = POST_WAIT_SECONDS) -> Any:
        """The worker's answer to a question about its state, or None where it takes longer than `wait`."""
        answers: list[Any] = []
        self.post(lambda: answers.append(question(self)), wait)
        return answers[0] if answers else None

    def publish(self) -> None:
        """Bring the view up to date (worker thread only)."""
        self._publish()

    def close(self) -> None:
        """Give up the place in the worker's queue."""
        worker(self.queue).remove(self)

    # Called by the worker only.

    @property
    def lanes(self) -> list[Any]:
        """The lanes (worker thread only)."""
        return self._lanes

    def due(self) -> float | None:
        """At once with commands; while playing when the pace allows; never when unwatched."""
        if self._commands:
            return 0.0
        if time.monotonic() - self._touched > LEASE_SECONDS:
            return None
        if self._cold():
            return 0.0
        if self._steps or self._playing:
            return self._next_due
        return self._published + WAIT_SECONDS if self._waiting() else None

    def work(self, seconds: float) -> None:
        """Commands first, then compile what is new, then chunks until the time is over, then publish."""
        while self._commands:
            self._serving = True
            self._obey(*self._commands.popleft())
        if cold := self._cold():
            warm(cold)
            self._repace()
        until = time.monotonic() + seconds
        self._serving = self._steps > 0
        try:
            while (self._playing or self._steps) and self._advance_one() and time.monotonic() < until:
                pass
            self._look_around()
            if not self._playing or time.monotonic() - self._published > PUBLISH_SECONDS:
                self._publish()
        finally:
            self._serving = False
        if not self._steps:
            self._stepped.set()

    def fail(self, error: Exception) -> None:
        """Stop and say so; the settings stay."""
        self._halt(f"the computation stopped: {str(error)[:200] or type(error).__name__}; change a setting or reset")

    def _cold(self) -> list[Any]:
        return [] if self._trouble else [lane for lane in self._lanes if not lane.warmed]

    def _waiting(self) -> bool:
        return False

    def _look_around(self) -> None:
        """What is to be done after each slice, before it is published."""

    def _obey(self, command: Callable[[], None], done: threading.Event) -> None:
        try:
            command()
        except InputError as error:
            self._halt(str(error))
        except Exception as error:  # Before the poster goes on: its page is to say so.
            log.exception("a command failed")
            self.fail(error)
        finally:
            self._publish()
            self._serving = False
            done.set()

    def _halt(self, sentence: str) -> None:
        self._playing, self._steps = False, 0
        self._publish(trouble=sentence)
        self._trouble = sentence

    def _begin_anew(self) -> None:
        """A new epoch without lanes, marks and trouble."""
        self._trouble, self._epoch, self._marks, self._steps = None, self._epoch + 1, [], 0
        self._begun, self._lanes = self._epoch, []

    def _play(self) -> None:
        self._playing = self._trouble is None
        self._repace()

    def _pause(self) -> None:
        self._playing, self._steps = False, 0

    def _step(self) -> None:
        self._playing, self._steps = False, self._lanes_to_step()
        self._next_due = 0.0

    def _lanes_to_step(self) -> int:
        """How many lanes one step is for."""
        return len(self._lanes)

    def _repace(self) -> None:
        self._pace_start, self._next_due = time.monotonic(), 0.0
        self._pace_count = min((lane.count for lane in self._lanes), default=0)

    def _allowed(self, count: int) -> int:
        """Steps that the pace allows a lane that has made `count`."""
        if not self.speed:
            return 10**9
        passed = min(time.monotonic() - self._pace_start, 3600.0)
        allowed = int(passed * self.speed) - (count - self._pace_count)
        if allowed > max(self.speed, 1):
            self._repace()  # The lane can't keep the pace: do not let it run after a debt.
            return 1
        if allowed < 1:
            self._next_due = time.monotonic() + PACE_SECONDS
        return allowed

    def _mark(self, text: str) -> None:
        count = max((lane.count for lane in self._lanes), default=0)
        self._marks.append((count, text))
        self._epoch += 1
        for lane in self._lanes:
            lane.show(self._epoch)

    # Given by the subclass.

    def _restart(self) -> None:
        raise NotImplementedError

    def _adopt(self, plan: Any) -> None:
        raise NotImplementedError

    def _advance_one(self) -> bool:
        raise NotImplementedError

    def _publish(self, trouble: str | None = None) -> None:
        raise NotImplementedError

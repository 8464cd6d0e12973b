"""A run that may be stopped at any moment, by hand or by a time limit, and still gives what it has found."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from pmpviz.types import Refusal

T = TypeVar("T")

BY_HAND = "stopped by hand: the best by then"


class Stopped(BaseException):
    """Raised out of work that is given up; no `except Exception` takes it for a failure."""


class Limit:
    """Within `with Limit(seconds)`, SIGINT and the end of the time stop work that is done by `attempt`.

    Elsewhere a signal is remembered in `reason`, which is empty until then: a file is never cut short. `over` says that
    the work is, and what is left is to give the answer.
    In other threads than the main one, which have no signals, the time is only asked for.
    """

    def __init__(self, seconds: float | None = None):
        self.seconds, self.reason = seconds, ""
        self._open = False
        self._kept: dict[signal.Signals, Any] = {}
        self._end = None if seconds is None else time.monotonic() + seconds

    def __enter__(self) -> Limit:
        if threading.current_thread() is threading.main_thread():
            self._kept[signal.SIGINT] = signal.signal(signal.SIGINT, lambda *_: self._stop(BY_HAND))
            if self.seconds is not None and hasattr(signal, "setitimer"):
                self._kept[signal.SIGALRM] = signal.signal(signal.SIGALRM, lambda *_: self._stop(self._over))
                signal.setitimer(signal.ITIMER_REAL, max(self.seconds, 1e-3))
        return self

    def __exit__(self, *_) -> None:
        if self._kept and hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0.0)
        for number, handler in self._kept.items():
            signal.signal(number, handler)

    def over(self) -> None:
        """The work is over: to the end of the `with` no signal is heard any more.

        Not even a handler that does nothing may run: it ends a write to a pipe that is waited for, of which `print` to
        an unbuffered stream loses the rest.
        """
        for number in self._kept:
            signal.signal(number, signal.SIG_IGN)

    @property
    def _over(self) -> str:
        return f"the limit of {self.seconds:g} s is reached: the best by then"

    def _stop(self, reason: str) -> None:
        self.reason = self.reason or reason
        if self._open:
            self._open = False
            raise Stopped

    def reached(self) -> bool:
        """Whether the work is to end."""
        if not self.reason and self._end is not None and time.monotonic() >= self._end:
            self.reason = self._over
        return bool(self.reason)

    def attempt(self, work: Callable[[], T], otherwise: T) -> T:
        """What the work gives, or `otherwise` where a signal ended it."""
        try:
            try:
                self._open = True
                return work()
            finally:
                # A signal up to here raises what is caught below; from here on it is remembered only.
                self._open = False
        except (Stopped, KeyboardInterrupt, Refusal):
            # A solver's process that got the same signal has ended: no failure of its own.
            if not self.reason:
                raise
        return otherwise


__all__ = ["BY_HAND", "Limit", "Stopped"]

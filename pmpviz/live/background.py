"""References made in the background, shared by all sessions of the process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from typing import Any

from pmpviz.live import memory
from pmpviz.live.limits import limits
from pmpviz.live.worker import LEASE_SECONDS, worker

# What failed is tried again for whoever asks for it so much later: a busy machine may be idle by then.
AGAIN_SECONDS = 60.0
# As much again as was computed is twice that in all, and may take half as long again.
AGAIN = 3
# What nobody has wanted for so long is not worked on any more until somebody wants it again.
WANTED_SECONDS = 10 * LEASE_SECONDS


class Beside:
    """What the background's worker serves: in turn while it is looked at, behind others once nobody looks."""

    def __init__(self) -> None:
        self._touched = self._worked = time.monotonic()

    @property
    def unfinished(self) -> bool:
        """Whether there is something to work out."""
        raise NotImplementedError

    def touch(self) -> None:
        """Somebody still wants it."""
        self._touched = time.monotonic()

    def due(self) -> float | None:
        """Since it was last served, or now where nobody looks; never once nobody has wanted it for a minute."""
        now = time.monotonic()
        if not self.unfinished or now - self._touched > WANTED_SECONDS:
            return None
        return self._worked if now - self._touched < LEASE_SECONDS else now


class TruthJob(Beside):
    """Makes one result; `share` is the part done, `truth` the result, `trouble` the words where it failed.

    `steps` yields the part done and returns the result; it is sent whether there is time for as much again. `seconds`
    are those of computing: what others on the machine took of a step's time is not counted.
    """

    def __init__(self, steps: Generator[float, bool | None, Any]):
        super().__init__()
        self.share = 0.0
        self.truth: Any = None
        self.trouble: str | None = None
        self._steps: Generator[float, bool | None, Any] | None = steps
        self.seconds = 0.0
        # When there was a share first, how much, and after how many seconds of computing.
        self._first: tuple[float, float, float] | None = None

    @property
    def unfinished(self) -> bool:
        """Whether there is neither a result nor a failure."""
        return self.truth is None and self.trouble is None

    def work(self, seconds: float) -> None:
        """One step of the generator, which is given up where it takes too long."""
        assert self._steps is not None
        begun, computed = time.monotonic(), time.process_time()
        try:
            self.share = self._steps.send(self._affords)
        except StopIteration as stop:
            self.truth, self.share, self._steps = stop.value, 1.0, None
        finally:
            self._worked = time.monotonic()
        self.seconds += min(self._worked - begun, time.process_time() - computed)
        if self._first is None and self.share:
            self._first = self._worked, self.share, self.seconds
        if self.unfinished:
            limits().check_seconds(self.seconds, self.share, self._expected)

    @property
    def _affords(self) -> bool | None:
        """Whether as much computing again is well within what it is given; None before it has begun."""
        return AGAIN * self.seconds <= limits().reference_seconds if self.seconds else None

    @property
    def left(self) -> float | None:
        """Seconds until the result, at the pace since there was a share of it first; None where that says nothing."""
        if self._first is None or not self.unfinished or self.share <= self._first[1]:
            return None
        return (self._worked - self._first[0]) * self._ahead

    @property
    def _expected(self) -> float:
        """Seconds of computing that all of it will have taken, as far as that can be said."""
        if self._first is None or self.share <= self._first[1]:
            return self.seconds
        return self.seconds + (self.seconds - self._first[2]) * self._ahead

    @property
    def _ahead(self) -> float:
        """How many times what was done since there was a share first is still to be done."""
        assert self._first is not None
        return (1 - self.share) / (self.share - self._first[1])

    def fail(self, error: Exception) -> None:
        """Keep the reason, and nothing that was computed."""
        self.trouble, self._steps = str(error)[:200] or type(error).__name__, None

    @property
    def stale(self) -> bool:
        """Whether it failed so long ago that it is worth another try."""
        return self.trouble is not None and time.monotonic() - self._worked > AGAIN_SECONDS

    @property
    def bytes(self) -> int:
        """Memory of the result."""
        return int(getattr(self.truth, "bytes", 0))

    @property
    def wanted(self) -> bool:
        """Whether somebody looks at it."""
        return time.monotonic() - self._touched < LEASE_SECONDS


_jobs: OrderedDict[str, TruthJob] = OrderedDict()
_lock = threading.Lock()


def request(key: str, steps: Callable[[], Generator[float, bool | None, Any]]) -> TruthJob:
    """The job that makes (or has made) the result of this key; begins `steps()` where it is new, or failed long ago."""
    with _lock:
        job = _jobs.get(key)
        if job is not None and job.stale:
            worker("background").remove(_jobs.pop(key))
            job = None
        if job is None:
            job = _jobs[key] = TruthJob(steps())
            worker("background").add(job)
        _jobs.move_to_end(key)
        job.touch()
        _shrink()
    worker("background").wake()
    return job


def forget() -> None:
    """Let go of results that nobody looks at any more and that are too large to be kept for the next one."""
    with _lock:
        _shrink()


def _shrink() -> None:
    """Oldest first; what somebody looks at stays where only memory is short."""
    for key, job in list(_jobs.items()):
        idle = sum(other.bytes for other in _jobs.values() if not other.wanted)
        if len(_jobs) > limits().references or (idle > limits().reference_bytes and not job.wanted):
            worker("background").remove(_jobs.pop(key))


memory.forgetting.append(forget)

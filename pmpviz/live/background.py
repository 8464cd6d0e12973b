"""References made in the background, shared by all sessions of the process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from typing import Any

from pmpviz.live.worker import LEASE_SECONDS, worker

KEPT = 16


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
        if not self.unfinished or now - self._touched > 10 * LEASE_SECONDS:
            return None
        return self._worked if now - self._touched < LEASE_SECONDS else now


class TruthJob(Beside):
    """Makes one result; `share` is the part done, `truth` the result, `trouble` the words where it failed.

    `steps` yields the part done and returns the result.
    """

    def __init__(self, steps: Generator[float, None, Any]):
        super().__init__()
        self.share = 0.0
        self.truth: Any = None
        self.trouble: str | None = None
        self._steps = steps

    @property
    def unfinished(self) -> bool:
        """Whether there is neither a result nor a failure."""
        return self.truth is None and self.trouble is None

    def work(self, seconds: float) -> None:
        """One step of the generator."""
        try:
            self.share = next(self._steps)
        except StopIteration as stop:
            self.truth, self.share = stop.value, 1.0
        finally:
            self._worked = time.monotonic()

    def fail(self, error: Exception) -> None:
        """Keep the reason."""
        self.trouble = str(error)[:200] or type(error).__name__


_jobs: OrderedDict[str, TruthJob] = OrderedDict()
_lock = threading.Lock()


def request(key: str, steps: Callable[[], Generator[float, None, Any]]) -> TruthJob:
    """The job that makes (or has made) the result of this key; begins `steps()` where it is new."""
    with _lock:
        job = _jobs.get(key)
        if job is None:
            job = _jobs[key] = TruthJob(steps())
            worker("background").add(job)
            while len(_jobs) > KEPT:
                worker("background").remove(_jobs.popitem(last=False)[1])
        _jobs.move_to_end(key)
    job.touch()
    worker("background").wake()
    return job

"""References made in the background, shared by all sessions of the process."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict

from pmpviz.live.worker import LEASE_SECONDS, worker
from pmpviz.runs import truth as truths
from pmpviz.types import Target

KEPT = 16


class TruthJob:
    """Makes one Truth; `share` is the part done, `truth` the result, `trouble` the sentence where it failed."""

    def __init__(self, target: Target):
        self.share = 0.0
        self.truth: truths.Truth | None = None
        self.trouble: str | None = None
        self._steps = truths.build(target)
        self._touched = self._worked = time.monotonic()

    def touch(self) -> None:
        """Somebody still wants it."""
        self._touched = time.monotonic()

    def due(self) -> float | None:
        """While wanted and unfinished: in turn with others that are looked at, and behind them once nobody looks."""
        now = time.monotonic()
        if self.truth is not None or self.trouble is not None or now - self._touched > 10 * LEASE_SECONDS:
            return None
        return self._worked if now - self._touched < LEASE_SECONDS else now

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
        self.trouble = f"no reference could be made: {str(error)[:200]}"


_jobs: OrderedDict[str, TruthJob] = OrderedDict()
_lock = threading.Lock()


def request(target: Target) -> TruthJob:
    """The job that makes (or has made) the truth of this target; starts it where it is new."""
    key = truths.truth_key(target)
    with _lock:
        job = _jobs.get(key)
        if job is None:
            job = _jobs[key] = TruthJob(target)
            worker("background").add(job)
            while len(_jobs) > KEPT:
                worker("background").remove(_jobs.popitem(last=False)[1])
        _jobs.move_to_end(key)
    job.touch()
    worker("background").wake()
    return job

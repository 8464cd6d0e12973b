"""One thread a device that advances jobs in slices of time, the job that is due first first."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
from typing import Protocol

from pmpviz.live import memory
from pmpviz.runs import compile_clock
from pmpviz.types import InputError

log = logging.getLogger(__name__)

LEASE_SECONDS = 6.0
SLICE_SECONDS = 0.04
SHARED_SECONDS = 0.1
STOP_SECONDS = 30.0
PATIENT_NICENESS = 10
# A patient worker rests this many times as long as it has worked while others have something to do, ...
REST = 1.0
MOST_REST_SECONDS = 1.0


class Job(Protocol):
    """Something that a worker advances. Only the worker calls `work`; `due` must be cheap."""

    def due(self) -> float | None:
        """When it next wants to be served (time.monotonic), or None while it has nothing to do."""

    def work(self, seconds: float) -> None:
        """Advance for about that long."""

    def fail(self, error: Exception) -> None:
        """Take note of an error that `work` raised; the job is not served again until it is due once more."""


class Worker:
    """Serves jobs fairly: of those that are due, the one that has been due longest.

    A `patient` worker leaves the processor to everything else, where the system knows threads of lower priority, and
    rests between its slices while a worker that is not patient has something to do: while a thread of lower priority
    holds the interpreter's lock and has to wait for the processor, all others wait for it.
    """

    def __init__(self, name: str, patient: bool = False):
        self._patient = patient
        self._jobs: list[Job] = []
        self._wake = threading.Condition()
        self._stopped = False
        self.waiting = 1
        """Jobs that were due when the one at work was chosen, itself among them."""
        self._thread = threading.Thread(target=self._loop, name=name, daemon=True)
        self._thread.start()

    def add(self, job: Job) -> None:
        """Serve this job from now on."""
        with self._wake:
            if job not in self._jobs:
                self._jobs.append(job)
            self._wake.notify()

    def remove(self, job: Job) -> None:
        """Serve this job no more."""
        with self._wake:
            if job in self._jobs:
                self._jobs.remove(job)

    def wake(self) -> None:
        """Look again at what is due."""
        with self._wake:
            self._wake.notify()

    def stop(self) -> None:
        """End the thread after the slice in hand; no compiled call may outlive the interpreter."""
        with self._wake:
            self._stopped = True
            self._wake.notify()
        self._thread.join(STOP_SECONDS)

    def _next(self) -> tuple[Job, float] | None:
        with self._wake:
            while not self._stopped:
                due = [(when, i) for i, job in enumerate(self._jobs) if (when := job.due()) is not None]
                now = time.monotonic()
                if due and min(due)[0] <= now:
                    self.waiting = sum(when <= now for when, _ in due)
                    return self._jobs[min(due)[1]], min(SLICE_SECONDS, SHARED_SECONDS / self.waiting)
                self._wake.wait(min(max(min(due)[0] - now, 0.001), 1.0) if due else 1.0)
            return None

    @property
    def jobs(self) -> list[Job]:
        """All that it serves, also what is not due."""
        with self._wake:
            return list(self._jobs)

    @property
    def busy(self) -> bool:
        """Whether a job is due."""
        now = time.monotonic()
        return any((when := job.due()) is not None and when <= now for job in self._jobs)

    def _rest(self, worked: float) -> None:
        """Let the others go on for as long as this one has worked."""
        if any(each.busy for each in list(_workers.values()) if each is not self):
            time.sleep(min(REST * worked, MOST_REST_SECONDS))

    def _give_up(self, job: Job, error: Exception) -> None:
        """Have the job say what happened; one that cannot even do that is served no more."""
        try:
            job.fail(error)
        except Exception:
            log.exception("a job could not say that it failed")
            self.remove(job)

    def _loop(self) -> None:
        if self._patient and sys.platform == "linux":
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PATIENT_NICENESS)
        compiled = compile_clock.compilations()
        while (served := self._next()) is not None:
            job, seconds = served
            begun = time.monotonic()
            try:
                job.work(seconds)
            except Exception as error:  # The thread must outlive any job.
                if not isinstance(error, InputError):
                    log.exception("a job failed")
                self._give_up(job, error)
            if compile_clock.compilations() != compiled:
                compiled = compile_clock.compilations()
                tidy(left=False)
            if self._patient:
                self._rest(time.monotonic() - begun)


_workers: dict[str, Worker] = {}
_lock = threading.Lock()


def worker(name: str = "live") -> Worker:
    """The process-wide worker of that name: `live` for what is watched, `background` for references."""
    with _lock:
        if name not in _workers:
            _workers[name] = Worker(name, patient=name == "background")
        return _workers[name]


def waiting(name: str = "live") -> int:
    """Jobs that were due when that worker chose the one at work; 1 where there is no such worker."""
    found = _workers.get(name)  # None is begun for this while the program ends.
    return 1 if found is None else found.waiting


class Watched(Job):
    """What the worker named `queue` serves while somebody looks at it."""

    queue = "live"

    def __init__(self) -> None:
        self._touched = time.monotonic()

    def touch(self) -> None:
        """Keep the lease: what nobody looks at for 6 s stops."""
        self._touched = time.monotonic()
        worker(self.queue).wake()

    @property
    def watched(self) -> bool:
        """Whether somebody looks at it."""
        return time.monotonic() - self._touched < LEASE_SECONDS

    def begin(self) -> None:
        """Take a place in the worker's queue."""
        worker(self.queue).add(self)

    def close(self) -> None:
        """Give up the place in the worker's queue."""
        worker(self.queue).remove(self)


@atexit.register
def _stop_all() -> None:
    while _workers:  # A slice in hand may still ask for another worker.
        with _lock:
            _, each = _workers.popitem()
        each.stop()


def _alone() -> bool:
    return "live" in _workers and _workers["live"].jobs == [_tidy]


_tidy = memory.Tidy(_alone)


def tidy(left: bool = True) -> None:
    """Have memory tidied up soon: somebody has left, or something was compiled."""
    _tidy.ask(left)
    if (live := _workers.get("live")) is not None:  # None is begun for this while the program ends.
        live.add(_tidy)

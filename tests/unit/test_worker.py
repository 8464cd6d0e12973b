"""The worker's thread outlives whatever its jobs do."""

import threading

import pytest

from pmpviz.live.worker import Worker


class Job:
    """Due until it has been served; what it does then is given."""

    def __init__(self, work, fail):
        self._work, self._fail, self.served = work, fail, threading.Event()

    def due(self):
        return None if self.served.is_set() else 0.0

    def work(self, seconds):
        self._work()
        self.served.set()

    def fail(self, error):
        self._fail()
        self.served.set()


def stumble():
    raise ValueError("no luck")


@pytest.fixture
def worker():
    made = Worker("stumbling")
    yield made
    made.stop()


@pytest.mark.parametrize("fail", [lambda: None, stumble], ids=["says so", "cannot even say so"])
def test_a_job_that_fails_takes_no_other_with_it(worker, fail):
    bad, good = Job(stumble, fail), Job(lambda: None, stumble)
    worker.add(bad)
    worker.add(good)
    assert good.served.wait(10)

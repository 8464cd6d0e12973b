"""Which reference is made first where several are wanted."""

from collections import OrderedDict
from types import SimpleNamespace

import pytest

from pmpviz.live import background
from pmpviz.live.background import TruthJob
from pmpviz.live.worker import LEASE_SECONDS
from pmpviz.models import build_spec
from pmpviz.runs import truth
from pmpviz.types import Target


@pytest.fixture
def clock(monkeypatch):
    """The time that jobs see, in seconds: a list of one."""
    now = [100.0]
    monkeypatch.setattr(background, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def first(jobs):
    """The job that is served next."""
    return min((job for job in jobs if job.due() is not None), key=lambda job: job.due())


def test_those_that_are_looked_at_take_turns_and_come_before_those_that_are_not(clock):
    left, here, beside = jobs = [TruthJob(truth.build(Target.of(build_spec("square:16x16")))) for _ in range(3)]
    clock[0] += LEASE_SECONDS + 1
    here.touch()
    beside.touch()
    served = []
    for job in (here, beside, here):
        clock[0] += 0.01
        served.append(first(jobs))
        job._worked = clock[0]
    assert served == [here, beside, here]
    here.truth = beside.truth = object()
    assert first(jobs) is left
    clock[0] += 10 * LEASE_SECONDS
    assert left.due() is None
    left.touch()
    assert left.due() == left._worked


def failing():
    yield 0.5
    raise ValueError("out of states")


def test_a_result_is_made_once_for_all_who_ask_and_a_failure_is_kept(monkeypatch):
    inert = SimpleNamespace(add=lambda job: None, remove=lambda job: None, wake=lambda: None)
    monkeypatch.setattr(background, "worker", lambda name: inert)
    monkeypatch.setattr(background, "_jobs", OrderedDict())
    job = background.request("states", failing)
    assert background.request("states", failing) is job is not background.request("others", failing)
    job.work(0.0)
    assert job.share == 0.5 and job.due() is not None
    with pytest.raises(ValueError, match="out of states") as raised:
        job.work(0.0)
    job.fail(raised.value)
    assert job.trouble == "out of states" and job.due() is None

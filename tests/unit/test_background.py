"""Which reference is made first where several are wanted."""

from collections import OrderedDict
from types import SimpleNamespace

import pytest

from pmpviz.live import background
from pmpviz.live.background import TruthJob
from pmpviz.live.limits import Limits
from pmpviz.live.worker import LEASE_SECONDS
from pmpviz.models import build_spec
from pmpviz.runs import truth
from pmpviz.types import InputError, Target


@pytest.fixture
def clock(monkeypatch):
    """The time that jobs see, in seconds: a list of one."""
    now = [100.0]
    monkeypatch.setattr(background, "time", SimpleNamespace(monotonic=lambda: now[0], process_time=lambda: now[0]))
    return now


def first(jobs):
    """The job that is served next."""
    return min((job for job in jobs if job.due() is not None), key=lambda job: job.due())


def test_what_is_left_follows_from_the_pace_since_there_was_a_share(clock):
    job = TruthJob(share for share in (0.0, 0.1, 0.1, 0.3))
    left = []
    for seconds in (5.0, 50.0, 3.0, 5.0):  # It took 55 s to compile, then 0.2 in 8 s.
        clock[0] += seconds
        job.work(0.1)
        left.append(job.left)
    assert left == [None, None, None, pytest.approx(0.7 / 0.2 * 8)]


def test_what_could_go_on_is_told_whether_there_is_time_for_as_much_again(monkeypatch):
    """A reference that went on past its time was given up whole."""
    clock = iter(range(1, 100))
    monkeypatch.setattr(background, "limits", lambda: Limits(reference_seconds=7))
    moving = SimpleNamespace(monotonic=lambda: next(clock), process_time=lambda: next(clock))
    monkeypatch.setattr(background, "time", moving)
    told = []

    def steps():
        for share in (0.2, 0.5, 0.9):
            told.append((yield share))
        return "all that there was time for"

    job = TruthJob(steps())
    while job.unfinished:
        job.work(0.1)
    # Two seconds a step by this clock: as much again is 4 of 7 and, with what may come between, within; then it is not.
    assert told == [True, False, False] and job.truth == "all that there was time for"


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


@pytest.fixture
def jobs(monkeypatch, clock):
    """The results that are kept, none yet, and a worker that serves nobody."""
    kept = OrderedDict()
    inert = SimpleNamespace(add=lambda job: None, remove=lambda job: None, wake=lambda: None)
    monkeypatch.setattr(background, "worker", lambda name: inert)
    monkeypatch.setattr(background, "_jobs", kept)
    return kept


def asked(key, size):
    job = background.request(key, lambda: iter(()))
    job.truth = SimpleNamespace(bytes=size)
    return job


def test_large_results_are_let_go_once_nobody_looks_at_them_and_small_ones_are_kept(jobs, clock, monkeypatch):
    monkeypatch.setattr(background, "limits", lambda: Limits(reference_bytes=100))
    old, small, seen = asked("old", 90), asked("small", 20), asked("seen", 1000)
    background.forget()
    assert list(jobs.values()) == [old, small, seen]
    clock[0] += LEASE_SECONDS + 1
    seen.touch()
    background.forget()
    assert list(jobs.values()) == [small, seen]
    clock[0] += LEASE_SECONDS + 1
    background.forget()
    assert not jobs or list(jobs.values()) == [small]
    assert sum(job.bytes for job in jobs.values()) <= 100


def test_no_more_results_are_kept_than_the_limit(jobs, monkeypatch):
    monkeypatch.setattr(background, "limits", lambda: Limits(references=3))
    made = [asked(str(k), 1) for k in range(5)]
    assert list(jobs.values()) == made[2:]


def making(clock, shares, seconds=4.0):
    """Steps of so many seconds each."""
    for share in shares:
        clock[0] += seconds
        yield share


def given_up(job):
    """Work until it is given up; the words."""
    with pytest.raises(InputError) as raised:
        while True:
            job.work(0.0)
    job.fail(raised.value)
    return job.trouble


def test_a_result_that_takes_too_long_is_given_up_with_a_sentence(clock, monkeypatch):
    monkeypatch.setattr(background, "limits", lambda: Limits(reference_seconds=7))
    job = TruthJob(making(clock, iter(lambda: 0.25, None)))
    words = given_up(job)
    assert "no more than 7 seconds of computing, in which 25% of it was done: choose a smaller model" in words
    assert not job.unfinished


def test_what_would_take_far_too_long_is_given_up_early(clock, monkeypatch):
    monkeypatch.setattr(background, "limits", lambda: Limits(reference_seconds=100))
    begun = clock[0]
    job = TruthJob(making(clock, (0.01 * k for k in range(100))))
    assert "some 404 seconds" in given_up(job) and clock[0] - begun < 20
    job = TruthJob(making(clock, (0.03 * k for k in range(33))))
    assert "no more than 100" in given_up(job) and job.seconds > 100


def test_what_others_on_the_machine_take_is_not_counted(clock, monkeypatch):
    monkeypatch.setattr(background, "limits", lambda: Limits(reference_seconds=7))
    monkeypatch.setattr(background.time, "process_time", lambda: clock[0] / 10)
    job = TruthJob(making(clock, (0.1, 0.2, 0.3)))
    for _ in range(3):
        job.work(0.0)
    assert job.seconds == pytest.approx(1.2) and job.unfinished


def test_a_failure_is_tried_again_after_a_minute(jobs, clock):
    job = background.request("states", failing)
    job.fail(ValueError("busy"))
    clock[0] += background.AGAIN_SECONDS / 2
    assert background.request("states", failing) is job
    clock[0] += background.AGAIN_SECONDS
    again = background.request("states", failing)
    assert again is not job and again.unfinished and list(jobs.values()) == [again]

"""Live runs that end with the test, and a lab that is ready."""

import pytest

from pmpviz.capabilities.perturbation.live import bench_of
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.plan import Plan
from tests.unit.labs import CLIQUE
from tests.unit.races import PLAN, wait


@pytest.fixture
def begin():
    """Jobs that end with the test."""
    jobs: list[LiveRun] = []

    def start(plan: Plan, speed: float = 0.0) -> LiveRun:
        jobs.append(LiveRun(plan, speed=speed))
        return jobs[-1]

    yield start
    for each in jobs:
        each.close()


@pytest.fixture
def idle(begin):
    return wait(begin(PLAN), lambda view: view.lanes and all(lane.cold is None for lane in view.lanes))


@pytest.fixture(scope="module")
def bench():
    """The lab's model, ready to be perturbed."""
    return bench_of(CLIQUE)

"""What a lane measures against its reference."""

from dataclasses import replace

import numpy as np
import pytest

from pmpviz.capabilities.sampling.measures import Counted, measured
from pmpviz.metrics.marginals import marginal_l1
from pmpviz.metrics.mmd import Reference, mmd2
from pmpviz.models import build_spec
from pmpviz.runs.truth import build, finish
from pmpviz.types import Target


@pytest.fixture
def truth():
    return finish(build(Target.of(build_spec("square:3x3"), beta=0.4)))


def counted(space, seed: int, sweep: int = 1) -> Counted:
    x = np.random.default_rng(seed).integers(0, 2, (16, 9), np.int8)
    return Counted((sweep, 0.5, 9.0 * sweep), (-1.0, 0.1), space.pack(x))


def test_many_who_watch_one_run_have_it_measured_once(truth, monkeypatch):
    space, compared, times = build_spec("square:3x3").space, Reference.histograms, []
    monkeypatch.setattr(Reference, "histograms", lambda own, x: times.append(len(x)) or compared(own, x))
    first, again = measured(counted(space, 0), truth, space), measured(counted(space, 0, sweep=3), truth, space)
    other = measured(counted(space, 1), truth, space)
    assert times == [16, 16]
    assert replace(first, sweep=3, updates=27.0) == again  # Each at its own moment.
    for point, seed in ((first, 0), (other, 1)):
        x = space.unpack(counted(space, seed).bits)
        assert point.mmd2 == mmd2(*compared(truth.reference, x))
        assert point.marginal_l1 == marginal_l1(x, truth.marginals)
    assert first.mmd2 != other.mmd2


def test_of_another_law_the_same_configurations_are_measured_again(truth):
    space = build_spec("square:3x3").space
    cold = finish(build(Target.of(build_spec("square:3x3"), beta=1.5)))
    assert measured(counted(space, 0), truth, space).mmd2 != measured(counted(space, 0), cold, space).mmd2
    assert measured(counted(space, 0), truth, space) == measured(counted(space, 0), truth, space)


def test_one_configuration_is_not_measured(truth):
    space = build_spec("square:3x3").space
    one = counted(space, 0)
    assert measured(replace(one, bits=one.bits[:1]), truth, space) is None

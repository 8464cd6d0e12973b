"""Every planted bug of a learner is caught by the check that it names, in a single run."""

import dataclasses

import jax
import numpy as np
import pytest

from pmpviz.contract import learning_detectors as detectors
from pmpviz.contract.learning_fixtures import BY_NAME
from pmpviz.learning import make_learner
from tests.contract.learning_mutants import MUTANTS
from tests.thorough import case

pytestmark = pytest.mark.brief
KEY = jax.random.key(12)


# A bug of each check and learner that bugs are planted for: the others of the two are found by the same look.
FIRST = {(m.detector, m.learner.__mro__[1]): m for m in reversed(MUTANTS)}.values()


@pytest.mark.parametrize("mutant", [case(m, name=str(m), everyday=m in FIRST) for m in MUTANTS])
def test_the_named_detector_catches(mutant):
    verdict = mutant.run(KEY)
    assert not verdict.passed, f"{mutant} survives: {verdict.found}"


def test_chunks_catch_keys_that_count_from_the_chunk(monkeypatch):
    real = detectors.training.advance
    monkeypatch.setattr(
        detectors.training, "advance", lambda trained, count: real(dataclasses.replace(trained, iteration=0), count)
    )
    assert not detectors.chunks(make_learner("exact"), BY_NAME["srbm"], KEY).passed


def test_adjusted_catches_what_is_lost(monkeypatch):
    real = detectors.training.adjust

    def forgets(trained, learner=None, optimiser=None):
        fresh = jax.tree.map(np.zeros_like, trained.optimiser_state)
        return dataclasses.replace(real(trained, learner, optimiser), optimiser_state=fresh)

    monkeypatch.setattr(detectors.training, "adjust", forgets)
    assert not detectors.adjusted(make_learner("exact"), BY_NAME["srbm"], KEY).passed

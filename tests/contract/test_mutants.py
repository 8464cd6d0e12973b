"""Every planted bug is caught by the check that it names, in a single run."""

import dataclasses

import jax
import numpy as np
import pytest

from pmpviz.contract import detectors
from pmpviz.contract.claims import capabilities
from pmpviz.contract.fixtures import BY_NAME
from pmpviz.contract.laws import bowker, chi_square
from pmpviz.runs import advance
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.types import Evidence
from tests.contract.brought_mutants import MUTANTS
from tests.contract.mutants import MODEL_MUTANTS, as_mutant
from tests.contract.spread import EVERYDAY_MUTANTS
from tests.thorough import case

pytestmark = pytest.mark.brief
KEY_SEED = 11


@pytest.mark.parametrize("mutant", [case(m, name=str(m), everyday=m in EVERYDAY_MUTANTS) for m in MUTANTS])
def test_the_named_detector_catches(mutant):
    verdict = mutant.run(jax.random.key(KEY_SEED))
    assert not verdict.passed, f"{mutant} survives {mutant.detector.__name__}: {verdict.found}"


def test_every_check_catches_something_every_day():
    assert {m.detector for m in EVERYDAY_MUTANTS} == {m.detector for m in MUTANTS}


@pytest.mark.parametrize("cls", MODEL_MUTANTS, ids=lambda cls: cls.__name__)
def test_capabilities_catch_a_bugged_model(cls):
    model = as_mutant(BY_NAME["six_sparse"].target.model, cls)
    assert not capabilities(model, Evidence.of(6, {1: 1}), 0.7).passed


def _quantum_lost(run, count, record=True):
    return advance(dataclasses.replace(run, quantum=0), count, record)


def test_chunks_catch_keys_that_count_from_the_chunk(monkeypatch):
    monkeypatch.setattr(detectors, "advance", _quantum_lost)
    assert not detectors.chunks(Gibbs(), BY_NAME["six_lattice"], jax.random.key(1)).passed


@pytest.mark.parametrize("lost", ["quantum", "key", "state"])
def test_resumed_catches_a_checkpoint_that_loses_something(monkeypatch, lost):
    real = detectors.checkpoint.load

    def load(path, fresh):
        run = real(path, fresh)
        return dataclasses.replace(run, **{lost: jax.random.key(99) if lost == "key" else getattr(fresh, lost)})

    monkeypatch.setattr(detectors.checkpoint, "load", load)
    assert not detectors.resumed(Gibbs(), BY_NAME["six_lattice"], jax.random.key(1)).passed


def test_a_disturbed_law_is_rejected_and_the_law_itself_is_not():
    rng = np.random.default_rng(3)
    p = np.array([0.5, 0.3, 0.2 - 2e-5, 2e-5])
    assert chi_square(rng.multinomial(100_000, p), p) > 1e-6
    assert chi_square(rng.multinomial(100_000, [0.51, 0.29, 0.2, 0.0]), p) < 1e-6
    assert chi_square(np.array([1, 0]), np.array([0.0, 1.0])) == 0
    joint = np.array([[0.3, 0.1], [0.1, 0.5]])
    assert bowker(rng.multinomial(100_000, joint.ravel()).reshape(2, 2)) > 1e-6
    assert bowker(rng.multinomial(100_000, [0.3, 0.11, 0.09, 0.5]).reshape(2, 2)) < 1e-6

"""More than two states: registered samplers have the exact law or refuse in a sentence; one of one's own has it too."""

import dataclasses
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

from pmpviz.contract import detectors
from pmpviz.contract.fixtures import BY_NAME, STATE_FIXTURES
from pmpviz.models.tables import TableModel
from pmpviz.samplers import SAMPLERS, make_sampler
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.types import pytree

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from metropolis import Metropolis  # noqa: E402

# What takes more than two states today; all but the first where no factor has three free variables.
ANY_STATES = {"gaussian_gibbs", "gaussian_hmc", "exact", "gumbel_table", "unbiased", "perturb_and_map"}
ANY_FACTORS = {"exact"}
NAMES = [fixture.name for fixture in STATE_FIXTURES]
BITS = (
    detectors.chain_count,
    detectors.chunks,
    detectors.resumed,
    detectors.seeds,
    detectors.compiles_once,
    detectors.finite,
    detectors.clamped_stay,
)


@pytest.mark.parametrize("name", NAMES)
def test_every_sampler_takes_more_states_or_says_why_not(name):
    target = BY_NAME[name].target
    for cls in SAMPLERS:
        reason = cls.spec.why_not(target)
        takes = cls.spec.id in (ANY_FACTORS if name == "mixed" else ANY_STATES)
        assert (reason is None) == takes, (cls.spec.id, reason)
        assert takes or ("\n" not in reason and ". " not in reason)


CASES = [("exact", "mixed"), ("exact", "three_clamped"), ("gumbel_table", "three"), ("unbiased", "mixed_clamped")]


@pytest.mark.parametrize(("algorithm", "name"), CASES)
def test_exact_samplers_draw_from_the_law(algorithm, name):
    verdict = detectors.draws_law(make_sampler(algorithm), BY_NAME[name], jax.random.key(20_240_602))
    assert verdict.passed, verdict.found


def cold_start(algorithm, fixture, key):
    """With a quarter of the chains, each of which is slow; small errors are for the 2^17 draws of `exact_start`.

    The first look at a start's 2^11 chains sees a law at a chi-square distance of 0.05 in 99 of 100 runs.
    """
    return detectors.cold_start(algorithm, fixture, key, chains=1 << 13)


@pytest.mark.parametrize("name", ["three", "mixed_clamped"])
@pytest.mark.parametrize("check", [detectors.exact_start, cold_start, detectors.symmetry], ids=lambda c: c.__name__)
def test_metropolis_keeps_the_law(check, name):
    verdict = check(Metropolis(), BY_NAME[name], jax.random.key(20_240_603))
    assert verdict.passed, verdict.found


@pytest.mark.parametrize("name", ["three_clamped", "mixed_clamped"])
@pytest.mark.parametrize("algorithm", ["gaussian_gibbs", "gaussian_hmc"])
@pytest.mark.parametrize("check", [detectors.exact_start, detectors.symmetry], ids=lambda c: c.__name__)
def test_gaussians_keep_the_law(check, algorithm, name):
    for form in ("auto", "edges"):
        verdict = check(make_sampler(algorithm, map=form), BY_NAME[name], jax.random.key(20_240_605))
        assert verdict.passed, (form, verdict.found)


@pytree
class TablesTransposed(GaussianGibbs):
    """A planted bug: every table is read with its variables in the other order."""

    def prepare(self, target):
        model = target.model
        turned = [(scope, table.T if len(scope) == 2 else table) for scope, table in model.factors]
        return super().prepare(dataclasses.replace(target, model=TableModel.of(model.card, turned)))


def test_transposed_tables_are_caught():
    assert not detectors.exact_start(TablesTransposed(), BY_NAME["three"], jax.random.key(20_240_604)).passed


@pytree
class OneWay(Metropolis):
    """A planted bug: always the next state is proposed, which is not as likely as the way back."""

    def shift(self, key, states):
        return jnp.int32(1)


@pytree
class TwoStatesOnly(Metropolis):
    """A planted bug: the last state is never proposed, as where K is taken for its largest state."""

    def shift(self, key, states):
        return 1 + jax.random.randint(key, (), 0, jnp.maximum(states - 2, 1))


@pytest.mark.parametrize("mutant", [OneWay, TwoStatesOnly])
def test_planted_bugs_are_caught(mutant):
    assert not detectors.exact_start(mutant(), BY_NAME["three"], jax.random.key(20_240_604)).passed


@pytest.mark.as_shipped
@pytest.mark.parametrize("check", BITS, ids=lambda c: c.__name__)
def test_metropolis_is_a_sampler_like_any_other(check):
    verdict = check(Metropolis(), BY_NAME["mixed_clamped"], jax.random.key(5))
    assert verdict.passed, verdict.found

"""More than two states: registered samplers have the exact law or refuse in a sentence; one of one's own has it too."""

import dataclasses
import sys
import zlib
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz.contract import detectors, forms
from pmpviz.contract.fixtures import BY_NAME, STATE_FIXTURES
from pmpviz.contract.maxima import local_maximum
from pmpviz.models.order import SweepOrder
from pmpviz.models.tables import TableModel
from pmpviz.samplers import SAMPLERS, make_sampler
from pmpviz.samplers.colour_gibbs import ColourGibbs
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.samplers.perturb_and_descend import PerturbAndDescend
from pmpviz.types import pytree
from tests.thorough import case

sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))
from metropolis import Metropolis  # noqa: E402

# What takes more than two states: any factors; tables where none has three free variables; pairs; Potts models.
ANY_FACTORS = {"exact", "pmp", "gibbs", "colour_gibbs", "gumbel_table"}
TABLES = ANY_FACTORS | {"unbiased", "perturb_and_map", "gaussian_gibbs", "gaussian_hmc"}
PAIRS = TABLES | {"gwg", "perturb_and_descend"}
POTTS = PAIRS | {"swendsen_wang"}
TAKES = {
    "triples": ANY_FACTORS,
    "zeros": ANY_FACTORS,
    "mixed": ANY_FACTORS,
    "three": TABLES,
    "pairs": PAIRS,
    "clock": PAIRS,
    "potts": POTTS,
}
NAMES = [fixture.name for fixture in STATE_FIXTURES]
# Fixtures of each layout and kind of table, with and without evidence.
OF_PAIRS = ("pairs", "pairs_clamped", "pairs_mixed", "pairs_mixed_clamped", "clock")
OF_FACTORS = ("mixed", "mixed_clamped", "zeros")
CHAINS = [(name, fixture) for name in ("gibbs", "colour_gibbs", "gwg") for fixture in OF_PAIRS]
CHAINS += [
    (name, fixture)
    for name in ("colour_gibbs", "gibbs", "gwg", "swendsen_wang")
    for fixture in ("potts", "potts_clamped")
]
CHAINS += [(name, fixture) for name in ("gibbs", "colour_gibbs") for fixture in OF_FACTORS]
# With or without evidence, which is traced, the program is the same: every day it is the one or the other.
WITH_EVIDENCE = {
    ("gibbs", "pairs"),
    ("colour_gibbs", "pairs_mixed"),
    ("gwg", "pairs"),
    ("gibbs", "potts"),
    ("swendsen_wang", "potts"),
    ("colour_gibbs", "mixed"),
}


# The two Gibbs samplers draw from the same tables: each has every other model. Gradients' proposals are of pairs and of
# Potts models.
LEFT_OUT = {("colour_gibbs", "pairs"), ("gibbs", "pairs_mixed"), ("colour_gibbs", "clock"), ("gwg", "clock")}
LEFT_OUT |= {("colour_gibbs", "potts"), ("gibbs", "mixed"), ("colour_gibbs", "zeros"), ("gwg", "pairs_mixed")}


def _everyday(algorithm: str, name: str) -> bool:
    free, clamped = name.removesuffix("_clamped"), name.endswith("_clamped")
    if (algorithm, free) in LEFT_OUT:
        return False
    return f"{free}_clamped" not in BY_NAME or clamped == ((algorithm, free) in WITH_EVIDENCE)


COLD = [("gibbs", "zeros"), ("colour_gibbs", "mixed_clamped")]
COLD += [("gibbs", "pairs_clamped"), ("colour_gibbs", "clock"), ("gwg", "pairs_mixed"), ("swendsen_wang", "potts")]
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
        kind = "three" if name == "mixed_clamped" else name if name == "mixed" else name.split("_")[0]
        takes = cls.spec.id in TAKES[kind]
        assert (reason is None) == takes, (cls.spec.id, reason)
        assert takes or ("\n" not in reason and ". " not in reason)


CASES = [("exact", "mixed"), ("exact", "three_clamped"), ("unbiased", "mixed_clamped")]
CASES += [("gumbel_table", name) for name in ("three", "mixed", "zeros")]


@pytest.mark.parametrize(("algorithm", "name"), CASES)
def test_exact_samplers_draw_from_the_law(algorithm, name):
    verdict = detectors.draws_law(make_sampler(algorithm), BY_NAME[name], jax.random.key(20_240_602))
    assert verdict.passed, verdict.found


def key_of(*words: str):
    return jax.random.fold_in(jax.random.key(20_240_606), zlib.crc32("-".join(words).encode()))


@pytest.mark.parametrize(
    ("algorithm", "name"), [case(*pair, name="-".join(pair), everyday=_everyday(*pair)) for pair in CHAINS]
)
def test_chains_keep_the_law(algorithm, name):
    sampler, fixture = make_sampler(algorithm), BY_NAME[name]
    checks = [detectors.exact_start, *([detectors.symmetry] if sampler.spec.reversible else [])]
    for check in checks:
        verdict = check(sampler, fixture, key_of(algorithm, name))
        assert verdict.passed, (check.__name__, verdict.found)


@pytest.mark.parametrize(("algorithm", "name"), COLD)
def test_chains_come_to_the_law(algorithm, name):
    verdict = detectors.cold_start(make_sampler(algorithm), BY_NAME[name], key_of(algorithm, name))
    assert verdict.passed, verdict.found


BITS_OF = [(name, "pairs_mixed_clamped") for name in ("gibbs", "colour_gibbs", "gwg", "pmp", "perturb_and_descend")]
BITS_OF += [("swendsen_wang", "potts_clamped"), ("gibbs", "triples"), ("colour_gibbs", "triples")]
# Of the two Gibbs samplers one has factors of three every day, the other one pairs; both have their law there.
RARER = {("gibbs", "triples"), ("colour_gibbs", "pairs_mixed_clamped")}
OF_BITS = [case(*pair, name="-".join(pair), everyday=pair not in RARER) for pair in BITS_OF]


@pytest.mark.brief
@pytest.mark.parametrize(("algorithm", "name"), OF_BITS)
def test_bits_of_more_states(algorithm, name):
    sampler = make_sampler(algorithm)
    for check in (*BITS, forms.brought, *([forms.tile_forms] if forms.has_both_forms(type(sampler)) else [])):
        verdict = check(sampler, BY_NAME[name], key_of(algorithm, name))
        assert verdict.passed, (check.__name__, verdict.found)


# A clock's table is that of a pair, with as many states for all.
OF_DESCENT = [
    case(name, name=name, everyday=name in ("pairs_mixed", "potts_clamped"))
    for name in ("pairs_clamped", "pairs_mixed", "potts_clamped", "clock")
]


@pytest.mark.parametrize("name", OF_DESCENT)
def test_descent_of_more_states_ends_in_a_local_maximum_of_the_noise_that_all_solvers_hear(name):
    verdict = local_maximum(make_sampler("perturb_and_descend"), BY_NAME[name], key_of("descent", name))
    assert verdict.passed, verdict.found


def test_a_descent_that_stops_after_its_first_sweep_is_caught():
    assert not local_maximum(OneSweep(), BY_NAME["pairs_mixed"], key_of("descent", "pairs_mixed")).passed


@pytree
class OneSweep(PerturbAndDescend):
    """A planted bug: after the first sweep nothing moves any more."""

    def step_tile(self, chain_keys, target, state):
        moved, info = super().step_tile(chain_keys, target, state)
        return jax.tree.map(lambda new, old: jnp.where(state.age > 0, old, new), moved, state), info


@pytree
class Transposed(ColourGibbs):
    """A planted bug: every edge's table is read the other way round."""

    def step_tile(self, chain_keys, target, state):
        held = target.model.interactions
        turned = dataclasses.replace(held, first=~jnp.asarray(held.first))
        model = dataclasses.replace(target.model, interactions=turned)
        return super().step_tile(chain_keys, dataclasses.replace(target, model=model), state)


@pytest.mark.parametrize("name", ["pairs", "pairs_mixed"])
def test_a_transposed_table_is_caught(name):
    assert not detectors.exact_start(Transposed(), BY_NAME[name], jax.random.key(20_240_605)).passed


@pytree
class OneColour(ColourGibbs):
    """A planted bug: variables that share a factor are drawn at once."""

    def prepare(self, target):
        prepared = super().prepare(target)
        order = SweepOrder.of_levels(np.zeros(target.n, int))
        return dataclasses.replace(prepared, factors=dataclasses.replace(prepared.factors, colour_order=order))


def test_variables_of_a_factor_in_one_colour_are_caught():
    assert not detectors.exact_start(OneColour(), BY_NAME["mixed"], jax.random.key(20_240_607)).passed


# Both models have their law every day; the other checks have one of them each.
OF_METROPOLIS = [
    case(check, name, name=f"{check.__name__}-{name}", everyday=check is detectors.exact_start or name == usual)
    for check, usual in (
        (detectors.exact_start, ""),
        (detectors.cold_start, "mixed_clamped"),
        (detectors.symmetry, "three"),
    )
    for name in ("three", "mixed_clamped")
]


@pytest.mark.parametrize("check, name", OF_METROPOLIS)
def test_metropolis_keeps_the_law(check, name):
    verdict = check(Metropolis(), BY_NAME[name], jax.random.key(20_240_603))
    assert verdict.passed, verdict.found


# Each algorithm has one of the models every day, for its law and for balance, which share their programs.
EACH_ITS_OWN = {("gaussian_gibbs", "mixed_clamped"), ("gaussian_hmc", "three_clamped")}
OF_GAUSSIANS = [
    case(
        check,
        algorithm,
        name,
        name=f"{check.__name__}-{algorithm}-{name}",
        everyday=(algorithm, name) in EACH_ITS_OWN,
    )
    for check in (detectors.exact_start, detectors.symmetry)
    for algorithm in ("gaussian_gibbs", "gaussian_hmc")
    for name in ("three_clamped", "mixed_clamped")
]


@pytest.mark.parametrize("check, algorithm, name", OF_GAUSSIANS)
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


@pytest.mark.brief
@pytest.mark.parametrize("check", BITS, ids=lambda c: c.__name__)
def test_metropolis_is_a_sampler_like_any_other(check):
    verdict = check(Metropolis(), BY_NAME["mixed_clamped"], jax.random.key(5))
    assert verdict.passed, verdict.found

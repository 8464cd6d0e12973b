"""Bits depend on the key, the chain and the quantum alone; nothing recompiles; nothing overflows; clamps hold."""

import jax
import pytest

from pmpviz.contract import forms
from pmpviz.contract.clauses import BITS, OF_BITS
from pmpviz.contract.fixtures import BY_NAME, cases
from tests.thorough import case

# The models of `BITS` are one of each layout: evidence and beta are traced, so others run the same program. Algorithms
# that know no layout, for they list all states or ask a solver, have the others in thorough runs.
PAIRS = [case for case in cases() if case[1].name in BITS]
LAYOUTLESS = frozenset({"exact", "gumbel_table", "perturb_and_map", "unbiased"})


def _case(cls, fixture):
    everyday = cls.spec.id not in LAYOUTLESS or fixture.name == BITS[0]
    return case(cls, fixture, name=f"{cls.spec.id}-{fixture.name}", everyday=everyday)


@pytest.mark.as_shipped
@pytest.mark.parametrize("check", OF_BITS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("cls, fixture", [_case(*pair) for pair in PAIRS])
def test_determinism(cls, fixture, check):
    verdict = check(cls(), fixture, jax.random.key(5))
    assert verdict.passed, f"{cls.spec.id} on {fixture.name}: {verdict.found}"


BOTH_FORMS = [_case(*pair) for pair in PAIRS if forms.has_both_forms(pair[0])]


@pytest.mark.brief
@pytest.mark.parametrize("cls, fixture", BOTH_FORMS)
def test_a_tile_gives_the_numbers_of_single_chains(cls, fixture):
    verdict = forms.tile_forms(cls(), fixture, jax.random.key(7))
    assert verdict.passed, f"{cls.spec.id} on {fixture.name}: {verdict.found}"


def test_algorithms_without_both_forms_are_those_of_the_host():
    from pmpviz.samplers import SAMPLERS

    assert all(forms.has_both_forms(cls) is cls.spec.jit for cls in SAMPLERS)


def test_every_algorithm_is_covered():
    from pmpviz.samplers import SAMPLERS

    assert {cls for cls, _ in PAIRS} == set(SAMPLERS)
    assert BY_NAME.keys() >= {fixture.name for _, fixture in PAIRS}

"""Bits depend on the key, the chain and the quantum alone; nothing recompiles; nothing overflows; clamps hold."""

import jax
import pytest

from pmpviz.contract import forms
from pmpviz.contract.clauses import BITS, OF_BITS
from pmpviz.contract.fixtures import BY_NAME, cases
from tests.contract.spread import PLANTED, has_turn, kind
from tests.thorough import LAYOUTLESS, case

# The models of `BITS` are one of each layout: evidence and beta are traced, so others run the same program. Algorithms
# that know no layout have the others in thorough runs.
PAIRS = [case for case in cases() if case[1].name in BITS]
# A fault of ours, in keys, tiles or chunks, shows however a program is compiled; but compiled briefly, what is
# recorded of a sampler of Gaussians is rounded otherwise. One of the compiler, which may round otherwise where it
# fuses otherwise, shows in what the app runs: of that every algorithm has lattices every day, in `test_runs.py`, or
# matrices here, whose products depend most on shapes; some have both, and the others are for thorough runs.
SHIPPED = "six_dense_clamped"
# These draw by a site's field or by clusters, as those that have matrices as shipped do: theirs are compiled briefly.
ALIKE = frozenset({"gibbs", "colour_gibbs", "swendsen_wang", "perturb_and_descend"})


def _case(cls, fixture, everyday: bool):
    return case(cls, fixture, name=f"{cls.spec.id}-{fixture.name}", everyday=everyday)


def _shipped(cls, fixture) -> bool:
    return cls.spec.id not in ALIKE and fixture.name == (BITS[0] if cls.spec.id in LAYOUTLESS else SHIPPED)


def _everyday(cls, fixture, check) -> bool:
    """Beside the layout that is compiled as shipped, or its like, every other algorithm has one of the others, for all
    checks, which share their programs; which one goes round. Where a bug is planted, its check is there."""
    if cls.spec.id in LAYOUTLESS or _shipped(cls, fixture):
        return False
    if fixture.name == SHIPPED:
        return True
    others = tuple(name for name in BITS if name != SHIPPED)
    if cls.spec.id in ALIKE:
        return (cls, kind(fixture.name), check) in PLANTED
    return has_turn(cls, fixture.name, check, (*others, "", ""), 4)


def _parted(cls, fixture, check):
    name, everyday = f"{cls.spec.id}-{fixture.name}-{check.__name__}", _everyday(cls, fixture, check)
    marks = [] if everyday else [pytest.mark.thorough]
    if not cls.spec.id.startswith("gaussian"):
        marks.append(pytest.mark.brief)
    return pytest.param(cls, fixture, check, id=name, marks=marks)


PARTED = [_parted(*pair, check) for check in OF_BITS for pair in PAIRS]


@pytest.mark.parametrize("cls, fixture, check", PARTED)
def test_determinism(cls, fixture, check):
    verdict = check(cls(), fixture, jax.random.key(5))
    assert verdict.passed, f"{cls.spec.id} on {fixture.name}: {verdict.found}"


@pytest.mark.as_shipped
@pytest.mark.parametrize("check", OF_BITS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("cls, fixture", [_case(*pair, _shipped(*pair)) for pair in PAIRS])
def test_determinism_as_shipped(cls, fixture, check):
    test_determinism(cls, fixture, check)


# What the forms have to do with layouts, each tile's law has every day: a layout for each algorithm goes round.
BOTH_FORMS = [
    _case(*pair, has_turn(pair[0], pair[1].name, forms.tile_forms, BITS, 3))
    for pair in PAIRS
    if forms.has_both_forms(pair[0])
]


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
    shipped = {pair[0] for pair in PAIRS if _shipped(*pair)}
    assert {cls.spec.id for cls in set(SAMPLERS) - shipped} == ALIKE
    assert all(
        _everyday(*pair, check)
        for check in OF_BITS
        for pair in PAIRS
        if pair[0].spec.id in ALIKE and pair[1].name == SHIPPED
    )
    assert BY_NAME.keys() >= {fixture.name for _, fixture in PAIRS}

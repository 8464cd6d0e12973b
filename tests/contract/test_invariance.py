"""Every registered sampler has the law that its spec guarantees: chi-square from exact and from cold starts."""

import pytest

from pmpviz.contract import detectors, suite
from pmpviz.contract.fixtures import COLD, EVERYDAY, fixtures_of
from pmpviz.samplers import SAMPLERS
from tests.contract.spread import PLANTED, has_turn, kind
from tests.thorough import LAYOUTLESS, case

# What algorithms that know no layout are given is the list of edges that every layout gives, which is held against the
# layout's own sums in `test_capabilities.py`: every other one has a free model of each purpose, the rest clamped ones.
OF_THE_LAYOUTLESS = {"odd_torus_clamped", "edgeless_srbm", "tree_rbm"}, {"rbm", "edgeless_sparse", "tree_lattice"}
# Each algorithm has its law on every other layout every day, and each layout that of every other algorithm; the rest of
# what is said of a law is of one of those layouts, whose program it shares. Draws have a third of theirs.
# Wherever a bug is planted, its check is there every day.
FIXTURES = tuple(sorted(EVERYDAY))
OF_CHAINS = tuple(sorted(COLD | {"srbm_clamped"}))
ALONE = {detectors.cold_start: 0, detectors.symmetry: 1}


def _own(cls) -> list[str]:
    """Fixtures on which a chain algorithm has its law every day: every other one that it takes."""
    names = {fixture.name for fixture in fixtures_of(cls)}
    return [name for name in OF_CHAINS if name in names][SAMPLERS.index(cls) % 2 :: 2]


def _its_turn(cls, name: str, check: detectors.Detector) -> bool:
    """Whether this is the algorithm's one fixture of a check that is taken of one of its own, which go round."""
    cold = [own for own in _own(cls) if own in COLD]
    return name == cold[(SAMPLERS.index(cls) + ALONE[check]) % len(cold)]


def _everyday(check: suite.Case) -> bool:
    name, cls = check.fixture.name, check.algorithm
    if cls.spec.id in LAYOUTLESS:
        return name in OF_THE_LAYOUTLESS[sorted(LAYOUTLESS).index(cls.spec.id) % 2]
    if (cls, kind(name), check.detector) in PLANTED:
        return name in EVERYDAY
    if cls.spec.kind == "chain":
        return _its_turn(cls, name, check.detector) if check.detector in ALONE else name in _own(cls)
    return name in EVERYDAY and has_turn(cls, name, check.detector, FIXTURES, 3)


CHECKS = [case(check, name=str(check), everyday=_everyday(check)) for check in suite.law_cases()]


@pytest.mark.parametrize("check", CHECKS)
def test_law(check):
    verdict = check.run(seed=20_240_601)
    assert verdict.passed, f"{check}: {verdict.found}"

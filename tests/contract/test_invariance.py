"""Every registered sampler has the law that its spec guarantees: chi-square from exact and from cold starts."""

import pytest

from pmpviz.contract import suite
from pmpviz.contract.fixtures import EVERYDAY
from tests.thorough import LAYOUTLESS, case

# What algorithms that know no layout are given is the list of edges that every layout gives, which is held against the
# layout's own sums in `test_capabilities.py`: they have a free and a clamped model of each purpose, one with layers.
OF_THE_LAYOUTLESS = frozenset(
    {"rbm", "odd_torus_clamped", "edgeless_sparse", "edgeless_srbm", "tree_lattice", "tree_rbm"}
)


def _everyday(check: suite.Case) -> bool:
    return check.fixture.name in (OF_THE_LAYOUTLESS if check.algorithm.spec.id in LAYOUTLESS else EVERYDAY)


CHECKS = [case(check, name=str(check), everyday=_everyday(check)) for check in suite.law_cases()]


@pytest.mark.parametrize("check", CHECKS)
def test_law(check):
    verdict = check.run(seed=20_240_601)
    assert verdict.passed, f"{check}: {verdict.found}"

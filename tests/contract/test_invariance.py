"""Every registered sampler has the law that its spec guarantees: chi-square from exact and from cold starts."""

import pytest

from pmpviz.contract import detectors, suite
from pmpviz.contract.fixtures import EVERYDAY
from tests.contract.spread import has_turn
from tests.thorough import LAYOUTLESS, case

# What algorithms that know no layout are given is the list of edges that every layout gives, which is held against the
# layout's own sums in `test_capabilities.py`: they have a free and a clamped model of each purpose, one with layers.
OF_THE_LAYOUTLESS = frozenset(
    {"rbm", "odd_torus_clamped", "edgeless_sparse", "edgeless_srbm", "tree_lattice", "tree_rbm"}
)
# Each algorithm has its law on every layout every day: chains by one sweep from exact draws, draws by the maximum that
# they are. What else is said of a law goes round: every day each algorithm has each check, and each check each fixture.
GOES_ROUND = {
    (detectors.cold_start, "law"): 3,
    (detectors.symmetry, "law"): 3,
    (detectors.draws_law, "edgeless"): 3,
}
FIXTURES = tuple(sorted(EVERYDAY))


def _everyday(check: suite.Case) -> bool:
    name, cls = check.fixture.name, check.algorithm
    if cls.spec.id in LAYOUTLESS:
        return name in OF_THE_LAYOUTLESS
    # The second of the lattices goes round too.
    every = 2 if name == "odd_torus_clamped" else GOES_ROUND.get((check.detector, check.fixture.purpose), 1)
    return name in EVERYDAY and has_turn(cls, name, check.detector, FIXTURES, every)


CHECKS = [case(check, name=str(check), everyday=_everyday(check)) for check in suite.law_cases()]


@pytest.mark.parametrize("check", CHECKS)
def test_law(check):
    verdict = check.run(seed=20_240_601)
    assert verdict.passed, f"{check}: {verdict.found}"

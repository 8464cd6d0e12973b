"""Every registered sampler has the law that its spec guarantees: chi-square from exact and from cold starts."""

import pytest

from pmpviz.contract import suite
from pmpviz.contract.fixtures import EVERYDAY
from tests.thorough import case

CHECKS = [case(check, name=str(check), everyday=check.fixture.name in EVERYDAY) for check in suite.law_cases()]


@pytest.mark.parametrize("check", CHECKS)
def test_law(check):
    verdict = check.run(seed=20_240_601)
    assert verdict.passed, f"{check}: {verdict.found}"

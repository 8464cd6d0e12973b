"""Every registered sampler has the law that its spec guarantees: chi-square from exact and from cold starts."""

import pytest

from tests.contract import suite


@pytest.mark.parametrize("case", suite.law_cases(), ids=str)
def test_law(case):
    verdict = case.run(seed=20_240_601)
    assert verdict.passed, f"{case}: {verdict.found}"

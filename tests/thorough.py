"""Cases of tests that are taken every day, and those that only `-m thorough` takes."""

import pytest

# Algorithms that know no layout: they list all states or ask a solver.
LAYOUTLESS = frozenset({"exact", "gumbel_table", "perturb_and_map", "unbiased"})


def case(*values, name: str, everyday: bool):
    """The values of one case as a parameter of a test of that name."""
    return pytest.param(*values, id=name, marks=() if everyday else pytest.mark.thorough)

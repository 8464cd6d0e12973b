"""Models with a visible and a hidden layer on the pages: what they are, where they are drawn, what is said of them."""

from __future__ import annotations

import pytest

from pmpviz import exact
from pmpviz.models import build_spec
from pmpviz.types import Target


@pytest.mark.parametrize("spec", ["rbm:8x8x16", "rbm:6x10x16", "rbm:8x8x16,strength=8"])
def test_the_hidden_units_of_bars_are_on_a_few_at_a_time(spec):
    model = build_spec(spec)
    x = exact.solve(Target.of(model)).sample(1, 500)
    on = x[:, model.visible :].sum(1)
    assert 0.5 < on.mean() < 4 and (on <= 7).all()

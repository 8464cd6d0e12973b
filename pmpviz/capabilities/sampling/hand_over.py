"""What other slices may ask of this one: to open a model on the Playground or the Race."""

from __future__ import annotations

from collections.abc import Sequence

from pmpviz.app.page import show_plan
from pmpviz.capabilities.sampling.plan import Plan, sampler


def open_model(page: str, model: str, algorithms: Sequence[str], chains: int) -> None:
    """Make `page` show this model's text under these algorithms, with their default knobs, when it is next drawn."""
    show_plan(page, Plan(model=model, lanes=tuple(sampler(name) for name in algorithms), chains=chains))

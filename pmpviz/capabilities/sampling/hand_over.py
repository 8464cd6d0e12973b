"""What other slices may ask of this one: to open a model on the Playground or the Race, and the race on Home."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Int8

from pmpviz.app.page import show_plan
from pmpviz.capabilities.sampling.live import compile_ahead as compile_race
from pmpviz.capabilities.sampling.page import race_on_home
from pmpviz.capabilities.sampling.page.completion import with_upper_half
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.capabilities.sampling.presets import HOME


def open_model(
    page: str,
    model: str,
    algorithms: Sequence[str],
    chains: int,
    picture: Int8[np.ndarray, "h w"] | None = None,
) -> None:
    """Make `page` show this model's text under these algorithms, with their default knobs, when it is next drawn.

    The upper half of the pixels is clamped to that of `picture` where one is given.
    """
    clamp = () if picture is None else with_upper_half((), picture)
    show_plan(page, Plan(model=model, lanes=tuple(map(sampler, algorithms)), chains=chains, clamp=clamp))


__all__ = ["HOME", "compile_race", "open_model", "race_on_home"]

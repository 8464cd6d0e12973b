"""How a run begins: named starts, and a field painted onto a model."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from pmpviz.models.ising import Ising
from pmpviz.types import InputError

STARTS = ("random", "zeros", "ones", "stripes")


def with_field(model: Any, field: tuple[tuple[int, float], ...]) -> Any:
    """An Ising model with h (spin units) added at some sites: bias += 2 h, constant -= sum h."""
    if not field:
        return model
    if not isinstance(model, Ising):
        raise InputError("a field can be painted on binary models only")
    bias, total = np.array(model.bias, np.float64), 0.0
    for site, h in field:
        if not 0 <= site < model.n:
            raise InputError(f"a field is painted on site {site}, but the model has sites 0 to {model.n - 1}")
        bias[site] += 2 * h
        total += h
    return dataclasses.replace(model, bias=bias.astype(np.float32), constant=np.float32(model.constant - total))


def start_configuration(start: str, model: Any, chains: int) -> np.ndarray | None:
    """x0 int8 [chains, n] of a named start; None for `random`, which every run draws from its own START key.

    `stripes` fills half of the sites: on a lattice two bands along the first side, elsewhere the first half.
    """
    if start == "random":
        return None
    row = np.full(model.n, int(start == "ones"), np.int8)
    if start == "stripes":
        row[: model.n // 2] = 1
    return np.broadcast_to(row, (chains, model.n))

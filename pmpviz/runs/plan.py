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

    `stripes` are bands of every state, the last state first: of two states half of the sites each, on a lattice along
    its first side. `ones` leaves variables of a single state at 0.
    """
    if start == "random":
        return None
    card, n = np.array(model.space.card, int), model.n
    rows = {"zeros": np.zeros(n, int), "ones": np.minimum(1, card - 1), "stripes": np.arange(n)[::-1] * card // n}
    return np.broadcast_to(rows[start].astype(np.int8), (chains, n))

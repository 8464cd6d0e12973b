"""What a reproduction of a paper's experiment is, and what comes out of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pmpviz.experiments.reproductions.keep import Keep


@dataclass(frozen=True)
class Row:
    """One quantity: the paper's figure (None where it gives none), ours as a mean over the seeds, and their standard
    deviation (None of one seed)."""

    quantity: str
    paper: float | None
    ours: float
    spread: float | None = None


@dataclass(frozen=True)
class Request:
    """How much is to be done: the small setting or the paper's, and how many seeds (0, 1, ...); what keeps its
    trainings, so that an interrupted reproduction goes on (None: nothing is kept)."""

    quick: bool
    seeds: int
    keep: Keep | None = None


@dataclass(frozen=True)
class Outcome:
    """Rows, a plotly figure, and what a reader of them must know."""

    rows: tuple[Row, ...]
    figure: Any
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reproduction:
    """An experiment: its settings and those of `--quick` in words, how many seeds each takes unless told, whether
    it trains models for so long that they can be kept, another name that it is found by, and the address of the page
    and preset that show it, like race?preset=gaussians (empty where none does)."""

    id: str
    title: str
    settings: str
    quick_settings: str
    seeds: int
    quick_seeds: int
    run: Callable[[Request], Outcome]
    keeps: bool = False
    alias: str = ""
    shown: str = ""


def row(quantity: str, values: Iterable[float], paper: float | None = None) -> Row:
    """The mean of one value a seed, with their standard deviation."""
    found = np.array(list(values), np.float64)
    spread = float(found.std(ddof=1)) if len(found) > 1 else None
    return Row(quantity, paper, float(found.mean()), spread)


def rows_of(found: Iterable[Mapping[str, float]], paper: Mapping[str, float] | None = None) -> tuple[Row, ...]:
    """One row a quantity from one mapping a seed."""
    listed = list(found)
    return tuple(row(name, (each[name] for each in listed), (paper or {}).get(name)) for name in listed[0])

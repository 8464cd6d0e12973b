"""Builders of lattices of K states: Potts and clock models, random tables.

log p(x) = sum_edges psi_ij(x_i, x_j) + fields, x_i in {0, ..., q - 1}: J [x_i = x_j] of Potts,
J cos(2 pi (x_i - x_j) / q) of clock models, each edge once. Potts of two
states with coupling J are Ising spins with J / 2.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Float

from pmpviz.models import topologies
from pmpviz.models.builder import (
    COUPLING_STREAM,
    FIELD_STREAM,
    SEED,
    Builder,
    Values,
    generator,
    periodic,
    strengths,
)
from pmpviz.models.couplings import Shape, ShiftCouplings
from pmpviz.models.interactions import Interactions, Own, Potts, Shared
from pmpviz.models.pairwise import Pairwise
from pmpviz.types import MAX_CARDINALITY, InputError, Param

# Entries of the random tables of all edges.
MAX_TABLE_SITES = 1 << 14


def critical_potts(q: int) -> float:
    """The critical coupling log(1 + sqrt(q)) of the square lattice (Potts 1952): where it is its own dual."""
    return math.log(1 + math.sqrt(q))


def _couplings(shape: Shape, values: Values, J: Callable[[Shape], np.ndarray]) -> ShiftCouplings:
    shifts, present = topologies.lattice("square", shape, values["periodic"])
    return ShiftCouplings(np.where(present, J(present.shape), 0.0).astype(np.float32), shape, shifts)


def _fields(values: Values, n: int) -> Float[np.ndarray, "n q"]:
    """Log potentials: none, h of state 0 on all sites or the first, or uniform on [-h, h] of every state."""
    q, kind, strength = values["q"], values["field"], values["h"]
    if kind == "random":
        return generator(values, FIELD_STREAM).uniform(-abs(strength), abs(strength), (n, q))
    unary = np.zeros((n, q))
    unary[: {"uniform": n, "first": 1}.get(kind, 0), 0] = strength
    return unary


def _model(values: Values, interactions: Interactions) -> Pairwise:
    n = interactions.couplings.n
    return Pairwise.of((values["q"],) * n, _fields(values, n), interactions)


def _potts(shape: Shape, values: Values) -> Pairwise:
    if values["couplings"] == "critical":
        return _model(values, Potts(_couplings(shape, values, lambda all: np.full(all, critical_potts(values["q"])))))
    return _model(values, Potts(_couplings(shape, values, lambda all: strengths(values, all))))


def _clock(shape: Shape, values: Values) -> Pairwise:
    angle = 2 * np.pi * np.arange(values["q"]) / values["q"]
    couplings = _couplings(shape, values, lambda all: strengths(values, all))
    return _model(values, Shared(couplings, np.cos(angle[:, None] - angle)))


def _random_tables(shape: Shape, values: Values) -> Pairwise:
    q, spread = values["q"], values["spread"]
    if q**2 * math.prod(shape) > MAX_TABLE_SITES * 16:
        raise InputError(f"{math.prod(shape)} sites of {q} states have too many tables; give fewer sites or states")
    couplings = _couplings(shape, values, np.ones)
    count = len(couplings.edges()[0])
    tables = spread * generator(values, COUPLING_STREAM).standard_normal((count, q, q))
    return _model(values, Own.of(couplings, tables))


def _q(default: int) -> Param:
    return Param("q", "States q", 2, MAX_CARDINALITY, default, "int", "States of every site, numbered from 0.")


_FIELD = (
    Param(
        "field",
        "Field",
        0,
        0,
        "none",
        "choice",
        "uniform: h for state 0 on every site; random: uniform on -h to h for every state; first: on one site only.",
        choices=("none", "uniform", "random", "first"),
    ),
    Param("h", "Field strength h", -10, 10, 0.1, help="Added to the log potential of state 0."),
    periodic(True, "Opposite borders are joined (a torus)."),
    SEED,
)
_KINDS = "uniform: J on every edge; glass: +J or -J at random; gaussian: normal with spread sigma"


def _strength_knobs(J: float, help: str, *kinds: str) -> tuple[Param, ...]:
    words = f"{_KINDS}; critical: log(1 + sqrt q)." if "critical" in kinds else f"{_KINDS}."
    return (
        Param("couplings", "Couplings", 0, 0, kinds[0], "choice", words, choices=kinds),
        Param("J", "Coupling J", -10, 10, J, help=help),
        Param("sigma", "Coupling spread", 0, 10, 1.0, help="Standard deviation of J."),
    )


STATE_BUILDERS: tuple[Builder, ...] = (
    Builder(
        "potts",
        "Potts lattice",
        "Sites of q states gain J for every neighbour in the same state; by default at the critical coupling.",
        ("height", "width"),
        (64, 64),
        (
            _q(3),
            *_strength_knobs(1.0, "Gained per edge of equal states.", "critical", "uniform", "glass", "gaussian"),
            *_FIELD,
        ),
        _potts,
    ),
    Builder(
        "clock",
        "Clock lattice",
        "States are q directions; neighbours gain J times the cosine of the angle between them.",
        ("height", "width"),
        (64, 64),
        (_q(6), *_strength_knobs(1.0, "Times the cosine, per edge.", "uniform", "glass", "gaussian"), *_FIELD),
        _clock,
    ),
    Builder(
        "random_tables",
        "Random tables",
        "A lattice whose every edge has its own table of normal log potentials.",
        ("height", "width"),
        (8, 8),
        (_q(3), Param("spread", "Spread", 0, 10, 1.0, help="Standard deviation of the tables' entries."), *_FIELD),
        _random_tables,
        MAX_TABLE_SITES,
    ),
)

"""Factors: what they are on the host, one by one, and the groups of like factors that message passing works on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.models.tables import check_scope
from pmpviz.types import InputError, Refusal, pytree

# Entries of a logical factor's table, and of all tables of a graph once they are padded to its largest cardinality.
MAX_EXPANDED, MAX_PADDED = 1 << 20, 1 << 24
# Log potentials are no larger: sums of many stay finite in single precision.
LARGEST = 1e30


@dataclass(frozen=True, eq=False)
class TableFactor:
    """log psi(x_scope) = log_table[x_scope]; -inf forbids a state."""

    scope: tuple[int, ...]
    log_table: Float[np.ndarray, "..."]
    kind: ClassVar[str] = "table"

    def expanded(self) -> Float[np.ndarray, "..."]:
        """The table itself."""
        return np.asarray(self.log_table, np.float64)


@dataclass(frozen=True)
class OrFactor:
    """The bottom variable is 1 if and only if at least one top is 1 (perturb-and-max-product, Appendix C.3)."""

    tops: tuple[int, ...]
    bottom: int
    kind: ClassVar[str] = "or"

    @property
    def scope(self) -> tuple[int, ...]:
        """The tops, then the bottom."""
        return (*self.tops, self.bottom)

    def expanded(self) -> Float[np.ndarray, "..."]:
        """0 where the factor allows the states, else -inf; raises Refusal beyond 2^20 entries."""
        states = _binary_states(self)
        return _allowed(states[..., :-1].any(-1) == states[..., -1])


@dataclass(frozen=True)
class AndFactor:
    """The bottom variable is 1 if and only if all tops are 1 (perturb-and-max-product, Appendix C.3)."""

    tops: tuple[int, ...]
    bottom: int
    kind: ClassVar[str] = "and"

    @property
    def scope(self) -> tuple[int, ...]:
        """The tops, then the bottom."""
        return (*self.tops, self.bottom)

    def expanded(self) -> Float[np.ndarray, "..."]:
        """0 where the factor allows the states, else -inf; raises Refusal beyond 2^20 entries."""
        states = _binary_states(self)
        return _allowed(states[..., :-1].all(-1) == states[..., -1])


@dataclass(frozen=True)
class CardinalityFactor:
    """At least `low` and at most `high` of the variables are 1: at most k is (0, k), exactly k is (k, k)."""

    variables: tuple[int, ...]
    low: int
    high: int
    kind: ClassVar[str] = "cardinality"

    @property
    def scope(self) -> tuple[int, ...]:
        """The variables."""
        return self.variables

    def expanded(self) -> Float[np.ndarray, "..."]:
        """0 where the factor allows the states, else -inf; raises Refusal beyond 2^20 entries."""
        count = _binary_states(self).sum(-1)
        return _allowed((count >= self.low) & (count <= self.high))


Factor = TableFactor | OrFactor | AndFactor | CardinalityFactor


def _binary_states(factor: Factor) -> np.ndarray:
    """All states of the factor's variables, along the last axis."""
    size = len(factor.scope)
    if 2**size > MAX_EXPANDED:
        raise Refusal(f"the table of this {factor.kind} factor of {size} variables has 2^{size} entries; at most 2^20")
    return np.moveaxis(np.indices((2,) * size, np.int8), 0, -1).astype(bool)


def _allowed(allowed: np.ndarray) -> Float[np.ndarray, "..."]:
    return np.where(allowed, 0.0, -np.inf)


def check_factor(card: Sequence[int], place: int, factor: Factor) -> None:
    """Raise InputError where factor number `place` does not fit variables of these cardinalities."""
    check_scope(card, place, factor.scope)
    if isinstance(factor, TableFactor):
        _check_table(card, place, factor)
        return
    for v in factor.scope:
        if card[v] != 2:
            raise InputError(f"the {factor.kind} factor {place} needs two-state variables; variable {v} has {card[v]}")
    if isinstance(factor, CardinalityFactor):
        size = len(factor.variables)
        if not 0 <= factor.low <= factor.high <= size or not size:
            raise InputError(
                f"factor {place} allows {factor.low} to {factor.high} of {size} variables; "
                f"give a variable or more and 0 <= low <= high <= {size}"
            )
    elif not factor.tops:
        raise InputError(f"the {factor.kind} factor {place} has no top variables; give one or more")


def _check_table(card: Sequence[int], place: int, factor: TableFactor) -> None:
    table, shape = np.asarray(factor.log_table, np.float64), tuple(card[v] for v in factor.scope)
    if table.shape != shape:
        raise InputError(f"the table of factor {place} has shape {table.shape}; its variables need {shape}")
    check_values(table, f"the table of factor {place}")


def check_values(values: np.ndarray, name: str) -> None:
    """Raise InputError for nan, +inf and numbers beyond 1e30; -inf is allowed."""
    if np.isnan(values).any() or (values == np.inf).any():
        raise InputError(f"{name} holds a value that is no number or infinite; mend it")
    if (np.abs(values[np.isfinite(values)]) > LARGEST).any():
        raise InputError(f"{name} holds a value beyond {LARGEST:g}, too large for single precision; scale it down")


# Values, of each factor of a group its first one, and of each variable the stride: the log potential at x is
# values[first + sum of stride x]. Logical factors go by the number of their variables that are 1.
Strided = tuple[Float[np.ndarray, " entries"], Int[np.ndarray, " f"], Int[np.ndarray, " k"]]


@pytree
class Tables:
    """f tables of k variables each, padded with -inf to the graph's largest cardinality K.

    `position[f]` is a factor's number in its graph.
    """

    scope: Int[Array, "f k"]
    log_table: Float[Array, "f ..."]
    position: Int[Array, " f"]
    kind: ClassVar[str] = "table"

    def strided(self) -> Strided:
        """The tables as they lie."""
        size, (count, arity) = self.log_table.shape[-1], self.scope.shape
        return np.asarray(self.log_table).reshape(-1), size**arity * np.arange(count), size ** np.arange(arity)[::-1]

    @classmethod
    def of(cls, factors: Sequence[TableFactor], position: Sequence[int], states: int) -> Tables:
        """The group of these factors, all of the same arity."""
        arity = len(factors[0].scope)
        table = np.full((len(factors), *(states,) * arity), -np.inf)
        for row, factor in zip(table, factors, strict=True):
            row[tuple(slice(0, side) for side in np.shape(factor.log_table))] = factor.log_table
        return cls(_scopes(factors), table, np.array(position, np.int32))

    def factors(self, card: Sequence[int]) -> list[Factor]:
        """The factors one by one, without padding."""
        found = []
        for scope, table in zip(np.asarray(self.scope).tolist(), np.asarray(self.log_table), strict=True):
            found.append(TableFactor(tuple(scope), table[tuple(slice(0, card[v]) for v in scope)]))
        return found

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, " f"]:
        """The entry of each factor's table at x."""
        states, table = self.log_table.shape[-1], jnp.asarray(self.log_table)
        place = jnp.zeros(self.scope.shape[0], jnp.int32)
        for slot in range(self.scope.shape[1]):
            place = place * states + jnp.asarray(x, jnp.int32)[self.scope[:, slot]]
        return jnp.take_along_axis(table.reshape(len(place), -1), place[:, None], 1)[:, 0]

    def conditional(self, x: Int8[Array, " n"], states: int) -> Float[Array, "f k states"]:
        """The entry at x with one of its variables set to each state, for each variable."""
        size, arity = self.log_table.shape[-1], self.scope.shape[1]
        strides = size ** np.arange(arity)[::-1]
        steps = strides * jnp.asarray(x, jnp.int32)[self.scope]
        rest = steps.sum(1, keepdims=True) - steps
        place = rest[..., None] + strides[:, None] * jnp.minimum(jnp.arange(states), size - 1)
        first = size**arity * jnp.arange(len(steps))[:, None, None]
        return jnp.asarray(self.log_table).reshape(-1)[first + place]


@pytree
class Or:
    """f OR factors of k tops each; the last variable of a scope is the bottom."""

    scope: Int[Array, "f k"]
    position: Int[Array, " f"]
    kind: ClassVar[str] = "or"

    def strided(self) -> Strided:
        """One table of the bottom and the number of tops that are 1, for all."""
        tops = self.scope.shape[1] - 1
        count = np.arange(tops + 1)
        table = _allowed(np.array([[False], [True]]) == (count > 0)).reshape(-1)
        return table, np.zeros(len(self.scope), int), np.append(np.ones(tops, int), tops + 1)

    @classmethod
    def of(cls, factors: Sequence[OrFactor], position: Sequence[int], states: int) -> Or:
        """The group of these factors, all of the same arity."""
        return cls(_scopes(factors), np.array(position, np.int32))

    def factors(self, card: Sequence[int]) -> list[Factor]:
        """The factors one by one."""
        return [OrFactor(tuple(scope[:-1]), scope[-1]) for scope in np.asarray(self.scope).tolist()]

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, " f"]:
        """0 where the factor allows x, else -inf."""
        on = jnp.asarray(x)[self.scope] > 0
        return jnp.where(on[:, :-1].any(1) == on[:, -1], 0.0, -jnp.inf)

    def conditional(self, x: Int8[Array, " n"], states: int) -> Float[Array, "f k states"]:
        """0 where the factor allows x with one of its variables set to each state, else -inf, for each variable."""
        on = jnp.asarray(x)[self.scope] > 0
        others = on[:, :-1].sum(1, keepdims=True) - on[:, :-1]
        state = jnp.arange(states) > 0
        tops = (others > 0)[..., None] | state
        bottom = on[:, :-1].any(1)[:, None, None] == state
        return _zero_or_forbidden(jnp.concatenate([tops == on[:, -1:, None], bottom], 1))


@pytree
class And:
    """f AND factors of k tops each; the last variable of a scope is the bottom."""

    scope: Int[Array, "f k"]
    position: Int[Array, " f"]
    kind: ClassVar[str] = "and"

    def strided(self) -> Strided:
        """One table of the bottom and the number of tops that are 1, for all."""
        tops = self.scope.shape[1] - 1
        count = np.arange(tops + 1)
        table = _allowed(np.array([[False], [True]]) == (count == tops)).reshape(-1)
        return table, np.zeros(len(self.scope), int), np.append(np.ones(tops, int), tops + 1)

    @classmethod
    def of(cls, factors: Sequence[AndFactor], position: Sequence[int], states: int) -> And:
        """The group of these factors, all of the same arity."""
        return cls(_scopes(factors), np.array(position, np.int32))

    def factors(self, card: Sequence[int]) -> list[Factor]:
        """The factors one by one."""
        return [AndFactor(tuple(scope[:-1]), scope[-1]) for scope in np.asarray(self.scope).tolist()]

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, " f"]:
        """0 where the factor allows x, else -inf."""
        on = jnp.asarray(x)[self.scope] > 0
        return jnp.where(on[:, :-1].all(1) == on[:, -1], 0.0, -jnp.inf)

    def conditional(self, x: Int8[Array, " n"], states: int) -> Float[Array, "f k states"]:
        """0 where the factor allows x with one of its variables set to each state, else -inf, for each variable."""
        on = jnp.asarray(x)[self.scope] > 0
        others = (~on[:, :-1]).sum(1, keepdims=True) - ~on[:, :-1]
        state = jnp.arange(states) > 0
        tops = (others == 0)[..., None] & state
        bottom = on[:, :-1].all(1)[:, None, None] == state
        return _zero_or_forbidden(jnp.concatenate([tops == on[:, -1:, None], bottom], 1))


@pytree
class Cardinality:
    """f factors that allow low[f] to high[f] of their k variables to be 1."""

    scope: Int[Array, "f k"]
    low: Int[Array, " f"]
    high: Int[Array, " f"]
    position: Int[Array, " f"]
    kind: ClassVar[str] = "cardinality"

    def strided(self) -> Strided:
        """A table of the number of variables that are 1, for each."""
        factors, arity = self.scope.shape
        count, low, high = np.arange(arity + 1), np.asarray(self.low)[:, None], np.asarray(self.high)[:, None]
        table = _allowed((count >= low) & (count <= high)).reshape(-1)
        return table, (arity + 1) * np.arange(factors), np.ones(arity, int)

    @classmethod
    def of(cls, factors: Sequence[CardinalityFactor], position: Sequence[int], states: int) -> Cardinality:
        """The group of these factors, all of the same arity."""
        low, high = np.array([(factor.low, factor.high) for factor in factors], np.int32).T
        return cls(_scopes(factors), low, high, np.array(position, np.int32))

    def factors(self, card: Sequence[int]) -> list[Factor]:
        """The factors one by one."""
        rows = zip(np.asarray(self.scope).tolist(), np.asarray(self.low), np.asarray(self.high), strict=True)
        return [CardinalityFactor(tuple(scope), int(low), int(high)) for scope, low, high in rows]

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, " f"]:
        """0 where the factor allows x, else -inf."""
        count = (jnp.asarray(x)[self.scope] > 0).sum(1)
        return jnp.where((count >= self.low) & (count <= self.high), 0.0, -jnp.inf)

    def conditional(self, x: Int8[Array, " n"], states: int) -> Float[Array, "f k states"]:
        """0 where the factor allows x with one of its variables set to each state, else -inf, for each variable."""
        on = jnp.asarray(x)[self.scope] > 0
        count = (on.sum(1, keepdims=True) - on)[..., None] + (jnp.arange(states) > 0)
        low, high = (jnp.asarray(limit)[:, None, None] for limit in (self.low, self.high))
        return _zero_or_forbidden((count >= low) & (count <= high))


def _zero_or_forbidden(allowed: Bool[Array, "..."]) -> Float[Array, "..."]:
    return jnp.where(allowed, 0.0, -jnp.inf)


Group = Tables | Or | And | Cardinality
GROUPS: dict[str, Any] = {"table": Tables, "or": Or, "and": And, "cardinality": Cardinality}


def _scopes(factors: Sequence[Factor]) -> Int[np.ndarray, "f k"]:
    return np.array([factor.scope for factor in factors], np.int32)


def grouped(factors: Sequence[Factor], states: int) -> tuple[Group, ...]:
    """One group for each kind and arity, in an order of their own; `states` is the graph's K.

    Graphs with as many factors of each kind and arity are alike to JAX, in whatever order their factors are given.
    Raises InputError where the padded tables would hold more than 2^24 entries.
    """
    places: dict[tuple[str, int], list[int]] = {}
    for place, factor in enumerate(factors):
        places.setdefault((factor.kind, len(factor.scope)), []).append(place)
    entries = sum(len(at) * float(states) ** arity for (kind, arity), at in places.items() if kind == "table")
    if entries > MAX_PADDED:
        raise InputError(
            f"tables padded to {states} states hold 2^{math.log2(entries):.1f} entries; at most 2^24: give smaller ones"
        )
    kinds = sorted(places, key=lambda key: (list(GROUPS).index(key[0]), key[1]))
    return tuple(GROUPS[key[0]].of([factors[f] for f in places[key]], places[key], states) for key in kinds)


__all__ = [
    "And",
    "AndFactor",
    "Cardinality",
    "CardinalityFactor",
    "Factor",
    "Group",
    "Or",
    "OrFactor",
    "TableFactor",
    "Tables",
    "check_factor",
    "check_values",
    "grouped",
]

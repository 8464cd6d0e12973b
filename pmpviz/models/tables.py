"""Discrete models as tables: any cardinalities, any arity, zeros allowed, in float64 on the host."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz.models.ising import Ising
from pmpviz.models.space import Space, pairs_of
from pmpviz.types import MAX_CARDINALITY, InputError, pytree

MAX_ENTRIES = 1 << 26
MAX_VARIABLES = 1 << 20

Factor = tuple[tuple[int, ...], np.ndarray]
Quadratic = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]


@pytree(static=("card",))
class TableModel:
    """log_weight(x) = constant + sum_f log_table_f[x_scope(f)], x_i in {0, ..., card_i - 1}.

    The tables lie one after another in `values`, the last variable of a scope varying fastest: the entry of factor
    f is `values[offset[f] + sum_k stride[f, k] * x[variable[f, k]]]`. Factors of fewer variables than the largest
    are padded with variable 0 and stride 0; `arity[f]` says how many count. -inf stands for probability 0.
    Repeated scopes multiply. Made by `of`, kept in float64; JAX traces it in float32.
    """

    values: Float[Array, " entries"]
    variable: Int[Array, "f k"]
    stride: Int[Array, "f k"]
    offset: Int[Array, " f"]
    arity: Int[Array, " f"]
    constant: Float[Array, ""]
    card: tuple[int, ...]

    @classmethod
    def of(cls, card: Sequence[int], factors: Iterable[Factor], constant: float = 0.0) -> TableModel:
        """Model of (scope, log table) pairs; tables without variables are added to the constant.

        Raises InputError for a cardinality outside 1 to 127, a variable that does not exist or comes twice in a
        scope, a table of the wrong shape, and entries that are nan or +inf.
        """
        card = tuple(int(c) for c in card)
        check_card(card)
        kept: list[Factor] = []
        for place, (scope, table) in enumerate(factors):
            scope, table = tuple(int(v) for v in scope), np.asarray(table, np.float64)
            _check_factor(card, place, scope, table)
            if scope:
                kept.append((scope, table))
            else:
                constant = constant + float(table)
        return cls._packed(card, kept, constant)

    @classmethod
    def _packed(cls, card: tuple[int, ...], factors: list[Factor], constant: float) -> TableModel:
        arity = np.array([len(scope) for scope, _ in factors], np.int32)
        if len(factors) * int(arity.max(initial=0)) > MAX_ENTRIES:
            raise InputError(f"{len(factors)} factors of up to {arity.max()} variables are too many; give fewer")
        variable = np.zeros((len(factors), int(arity.max(initial=0))), np.int32)
        stride = np.zeros_like(variable)
        for f, (scope, _) in enumerate(factors):
            variable[f, : len(scope)] = scope
            stride[f, : len(scope)] = _strides([card[v] for v in scope])
        sizes = np.array([table.size for _, table in factors], np.int64)
        offset = (np.cumsum(sizes) - sizes).astype(np.int32)
        values = np.concatenate([table.reshape(-1) for _, table in factors] or [np.zeros(0)])
        return cls(values, variable, stride, offset, arity, np.array(constant, np.float64), card)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.card)

    @property
    def space(self) -> Space:
        """Variables of these cardinalities."""
        return Space.of(self.card)

    @property
    def factors(self) -> list[Factor]:
        """(scope, log table) of every factor, the tables as views of `values` (host arrays)."""
        values, found = np.asarray(self.values), []
        rows = zip(np.asarray(self.variable).tolist(), self.arity.tolist(), self.offset.tolist(), strict=True)
        for row, arity, start in rows:
            shape = tuple(self.card[v] for v in row[:arity])
            found.append((tuple(row[:arity]), values[start : start + int(np.prod(shape))].reshape(shape)))
        return found

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """constant + sum of the factors' log table entries at x; -inf where a factor forbids x."""
        if not len(self.arity):
            return jnp.asarray(self.constant)
        place = self.offset + (self.stride * jnp.asarray(x, jnp.int32)[self.variable]).sum(1)
        return jnp.asarray(self.values)[place].sum() + self.constant

    def conditional_logits(self, x: Int8[Array, " n"]) -> Float[Array, "n k"]:
        """log p(x_i = k given the rest), but for a constant of each i; states that do not exist hold any number.

        Sum over the factors of i of the entries at x with x_i set to k: -inf where one of them forbids it.
        """
        states, found = self.space.states, jnp.zeros((self.n, self.space.states))
        if not len(self.arity):
            return found
        steps = self.stride * jnp.asarray(x, jnp.int32)[self.variable]
        rest = self.offset[:, None] + steps.sum(1, keepdims=True) - steps
        place = rest[..., None] + self.stride[..., None] * jnp.arange(states)
        entries = jnp.asarray(self.values)[jnp.minimum(place, len(self.values) - 1)]
        counts = jnp.arange(self.variable.shape[1]) < jnp.asarray(self.arity)[:, None]
        return found.at[self.variable].add(jnp.where(counts[..., None], entries, 0.0))

    def pairs(self) -> Int[np.ndarray, "m 2"]:
        """Pairs of variables that share a factor (of at most 64 variables), each once."""
        rows = zip(np.asarray(self.variable).tolist(), np.asarray(self.arity).tolist(), strict=True)
        return pairs_of([row[:arity] for row, arity in rows])

    def quadratic(self) -> Quadratic:
        """(bias, i, j, w, constant) in float64: log_weight = b.x + sum_{edges} w x_i x_j + constant.

        Exact for two states, at most two variables a factor and finite tables; raises InputError naming the first
        variable or factor that doesn't fit.
        """
        self._check_quadratic()
        bias, constant = np.zeros(self.n), float(self.constant)
        pairs: dict[tuple[int, int], float] = {}
        for scope, table in self.factors:
            t = table.reshape(-1).tolist()
            constant += t[0]
            if len(scope) == 1:
                bias[scope[0]] += t[1] - t[0]
                continue
            i, j = scope
            bias[i] += t[2] - t[0]
            bias[j] += t[1] - t[0]
            edge = (min(i, j), max(i, j))
            pairs[edge] = pairs.get(edge, 0.0) + t[3] - t[2] - t[1] + t[0]
        edges = np.array(sorted(pairs), np.int64).reshape(-1, 2)
        w = np.array([pairs[edge] for edge in sorted(pairs)], np.float64)
        return bias, edges[:, 0], edges[:, 1], w, constant

    def _check_quadratic(self) -> None:
        for v, states in enumerate(self.card):
            if states != 2:
                word = "state" if states == 1 else "states"
                raise InputError(f"variable {v} has {states} {word}; an Ising model holds binary variables only")
        if not np.isfinite(self.constant):
            raise InputError("a constant factor is 0, so every state is forbidden; an Ising model forbids none")
        large = np.flatnonzero(np.asarray(self.arity) > 2)
        if len(large):
            raise InputError(
                f"factor {large[0]} joins {self.arity[large[0]]} variables; an Ising model holds pairs at most"
            )
        forbidden = np.flatnonzero(~np.isfinite(self.values))
        if len(forbidden):
            f = int(np.searchsorted(self.offset, forbidden[0], side="right")) - 1
            raise InputError(f"factor {f} forbids a state (probability 0); an Ising model gives every state some")

    def to_ising(self) -> Ising:
        """The same model as `Ising` (its arrays are float32); raises InputError as `quadratic` does.

        Weights that are exactly 0 become no edge. Raises InputError also for weights beyond float32.
        """
        bias, i, j, w, constant = self.quadratic()
        limit = float(np.finfo(np.float32).max)
        if max(np.abs(bias).max(initial=0), np.abs(w).max(initial=0), abs(constant)) > limit:
            raise InputError(f"a weight exceeds {limit:.3g}, the largest number of single precision; scale it down")
        keep = w != 0
        return Ising.from_edges(bias, i[keep], j[keep], w[keep], constant)


def from_ising(model: Ising) -> TableModel:
    """The tables of a binary pairwise model: one for each site and each edge, from its float32 arrays, in float64."""
    bias, i, j, w = model.pairwise()
    unary = [((v,), table) for v, table in enumerate(np.stack([np.zeros_like(bias), bias], 1))]
    tables = np.zeros((len(w), 2, 2))
    tables[:, 1, 1] = w
    pairs = [((a, b), table) for a, b, table in zip(i.tolist(), j.tolist(), tables, strict=True)]
    return TableModel._packed(model.card, [*unary, *pairs], float(model.constant))


def check_card(card: Sequence[int]) -> None:
    """Raise InputError where there are too many variables or one has more than 127 states or none."""
    if len(card) > MAX_VARIABLES:
        raise InputError(f"the model has {len(card)} variables; give at most {MAX_VARIABLES}")
    for v, states in enumerate(card):
        if not 1 <= states <= MAX_CARDINALITY:
            raise InputError(f"variable {v} has {states} states; give 1 to {MAX_CARDINALITY}")


def check_scope(card: Sequence[int], place: int, scope: Sequence[int]) -> None:
    """Raise InputError where factor number `place` names a variable twice, or one that does not exist."""
    for v in scope:
        if not 0 <= v < len(card):
            raise InputError(f"factor {place} names variable {v}, but the model has {len(card)} variables")
    if len(set(scope)) != len(scope):
        twice = next(v for v in scope if list(scope).count(v) > 1)
        raise InputError(f"factor {place} names variable {twice} twice; name it once")


def _check_factor(card: tuple[int, ...], place: int, scope: tuple[int, ...], table: np.ndarray) -> None:
    check_scope(card, place, scope)
    shape = tuple(card[v] for v in scope)
    if table.shape != shape:
        raise InputError(f"the table of factor {place} has shape {table.shape}; its variables need {shape}")
    if np.isnan(table).any() or (table == np.inf).any():
        raise InputError(f"the table of factor {place} holds a value that is no number or infinite; mend it")


def _strides(card: Sequence[int]) -> list[int]:
    strides = [1] * len(card)
    for k in range(len(card) - 2, -1, -1):
        strides[k] = strides[k + 1] * card[k + 1]
    return strides

"""Factor graphs: variables of any cardinality, their own potentials, and groups of like factors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz.models.factors import (
    MAX_EXPANDED,
    AndFactor,
    CardinalityFactor,
    Factor,
    Group,
    OrFactor,
    TableFactor,
    check_factor,
    check_values,
    grouped,
)
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.space import Space, pairs_of
from pmpviz.models.tables import Factor as Table
from pmpviz.models.tables import TableModel, check_card
from pmpviz.types import InputError, Refusal, pytree

# Entries of the tables of all logical factors together.
MAX_TOTAL = 1 << 22


@pytree(static=("card",))
class FactorGraph:
    """log_weight(x) = constant + sum_i unary[i, x_i] + sum_f log psi_f(x_scope(f)), x_i in {0, ..., card_i - 1}.

    `unary[n, K]` is -inf where a state does not exist or is forbidden. `groups` hold the logical factors and the tables
    of two variables or more, those of a kind and arity together; their index arrays are traced, so that graphs of the
    same sizes share one compiled program. Made by `of`, kept in float64; JAX traces it in float32.
    """

    unary: Float[Array, "n k"]
    groups: tuple[Group, ...]
    constant: Float[Array, ""]
    card: tuple[int, ...]

    @classmethod
    def of(
        cls,
        card: Sequence[int],
        unary: Sequence[Sequence[float]] | np.ndarray | None = None,
        factors: Iterable[Factor] = (),
        constant: float = 0.0,
    ) -> FactorGraph:
        """Graph of these cardinalities, one row of log potentials a variable (zero where None), and factors.

        Tables of one variable are added to its own potentials, tables of none to the constant. Raises InputError for
        a cardinality outside 1 to 127, a variable that does not exist or comes twice in a factor, a table of the wrong
        shape, a logical factor on variables of other than two states, limits out of order, and values that are nan,
        +inf or finite and beyond 1e30.
        """
        card = tuple(int(c) for c in card)
        check_card(card)
        own, kept, constant = _own(card, unary), [], float(constant)
        for place, factor in enumerate(map(_plain, factors)):
            check_factor(card, place, factor)
            if isinstance(factor, TableFactor) and not factor.scope:
                constant += float(factor.log_table)
            elif isinstance(factor, TableFactor) and len(factor.scope) == 1:
                own[factor.scope[0], : card[factor.scope[0]]] += factor.log_table
            else:
                kept.append(factor)
        check_values(np.array(constant), "the constant")
        return cls(own, grouped(kept, max(card, default=1)), np.array(constant, np.float64), card)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.card)

    @property
    def space(self) -> Space:
        """Variables of these cardinalities."""
        return Space.of(self.card)

    @property
    def states(self) -> int:
        """The largest cardinality K; arrays over states are padded to it."""
        return max(self.card, default=1)

    def factors(self) -> list[Factor]:
        """The logical factors and the tables of two variables or more in the order in which they were given (host)."""
        found: list[tuple[int, Factor]] = []
        for group in self.groups:
            found += zip(np.asarray(group.position).tolist(), group.factors(self.card), strict=True)
        return [factor for _, factor in sorted(found, key=lambda pair: pair[0])]

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """constant + sum of all potentials at x; -inf where a factor forbids x."""
        state = jnp.asarray(x, jnp.int32)[:, None]
        own = jnp.take_along_axis(jnp.asarray(self.unary), state, 1).sum()
        return own + sum(group.log_weight(x).sum() for group in self.groups) + self.constant

    def conditional_logits(self, x: Int8[Array, " n"]) -> Float[Array, "n k"]:
        """log p(x_i = k given the rest), but for a constant of each i; states that do not exist hold any number.

        The variable's own potential and, of each of its factors, what it gives x with x_i set to k.
        """
        states = self.space.states
        own = jnp.asarray(self.unary)
        found = jnp.pad(own, ((0, 0), (0, states - own.shape[1])))
        for group in self.groups:
            found = found.at[group.scope].add(group.conditional(x, states))
        return found

    def pairs(self) -> Int[np.ndarray, "m 2"]:
        """Pairs of variables that share a factor (of at most 64 variables), each once."""
        return pairs_of([scope for group in self.groups for scope in np.asarray(group.scope).tolist()])

    def to_tables(self) -> TableModel:
        """The same model as tables, logical factors written out.

        Raises Refusal where one of those has more than 2^20 entries, or all together more than 2^22.
        """
        _check_expansion(self.groups)
        unary = np.asarray(self.unary, np.float64)
        tables: list[Table] = [
            ((v,), unary[v, :states]) for v, states in enumerate(self.card) if unary[v, :states].any()
        ]
        tables += [(factor.scope, factor.expanded()) for factor in self.factors()]
        return TableModel.of(self.card, tables, float(self.constant))


def _check_expansion(groups: Iterable[Group]) -> None:
    """Raise Refusal where the tables of logical factors, each small enough, are too much together."""
    sizes = [group.scope.shape for group in groups if group.kind != "table"]
    entries = sum(count << arity for count, arity in sizes if 1 << min(arity, 64) <= MAX_EXPANDED)
    if entries > MAX_TOTAL:
        raise Refusal(
            f"the tables of the logical factors have {entries:,} entries together, at most {MAX_TOTAL:,} are written "
            "out; give fewer or smaller factors"
        )


def _own(card: tuple[int, ...], unary) -> Float[np.ndarray, "n k"]:
    own = np.full((len(card), max(card, default=1)), -np.inf)
    rows = [np.zeros(states) for states in card] if unary is None else list(unary)
    if len(rows) != len(card):
        raise InputError(f"unary has {len(rows)} rows; give one for each of the {len(card)} variables")
    for v, (states, row) in enumerate(zip(card, rows, strict=True)):
        values = np.asarray(row, np.float64)
        if values.ndim != 1 or len(values) not in (states, own.shape[1]):
            raise InputError(f"the unary of variable {v} has shape {values.shape}; give its {states} log potentials")
        check_values(values[:states], f"the unary of variable {v}")
        own[v, :states] = values[:states]
    return own


def _plain(factor: Factor) -> Factor:
    """The factor with plain whole numbers, so that what is read back is what was given."""
    if isinstance(factor, TableFactor):
        return TableFactor(_whole(factor.scope), np.asarray(factor.log_table, np.float64))
    if isinstance(factor, CardinalityFactor):
        return CardinalityFactor(_whole(factor.variables), int(factor.low), int(factor.high))
    if isinstance(factor, (OrFactor, AndFactor)):
        return type(factor)(_whole(factor.tops), int(factor.bottom))
    raise InputError(f"{type(factor).__name__} is no factor; give a table, OR, AND or cardinality factor")


def _whole(variables: Iterable[int]) -> tuple[int, ...]:
    return tuple(int(v) for v in variables)


def from_tables(model: TableModel) -> FactorGraph:
    """The graph of a table model: tables of one variable become its own potentials, tables of the same variables one.

    Two factors on the same variables would be a loop, which makes belief propagation approximate for no reason.
    """
    merged: dict[tuple[int, ...], np.ndarray] = {}
    for scope, table in model.factors:
        axes = np.argsort(scope)
        key, table = tuple(scope[a] for a in axes), table.transpose(axes)
        merged[key] = merged[key] + table if key in merged else table
    factors = [TableFactor(scope, table) for scope, table in merged.items()]
    return FactorGraph.of(model.card, None, factors, float(model.constant))


def from_ising(model: Ising) -> FactorGraph:
    """The graph of a binary pairwise model (Ising, RBM or SRBM) in the 0/1 form: its biases, one table for each edge.

    The zero messages of this graph are those of perturb-and-max-product's Appendix C.1.
    """
    bias, i, j, w = model.pairwise()
    tables = np.zeros((len(w), 2, 2))
    tables[:, 1, 1] = w
    factors = [TableFactor((a, b), table) for a, b, table in zip(i.tolist(), j.tolist(), tables, strict=True)]
    unary = np.stack([np.zeros_like(bias), bias], 1)
    return FactorGraph.of(model.card, unary, factors, float(model.constant))


def as_graph(model: FactorGraph | Ising | Pairwise | TableModel) -> FactorGraph:
    """The factor graph of a model that has one; raises Refusal for others."""
    if isinstance(model, FactorGraph):
        return model
    if isinstance(model, Pairwise):
        model = model.to_tables()
    if isinstance(model, TableModel):
        return from_tables(model)
    if isinstance(model, Ising):
        return from_ising(model)
    raise Refusal(f"{type(model).__name__} is no factor graph; give one, a table model or an Ising model")


__all__ = ["FactorGraph", "as_graph", "from_ising", "from_tables"]

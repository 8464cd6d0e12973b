"""What remains of a target when the clamped variables are put in and beta multiplied out, in float64."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.ising import Ising, merge_edges
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import Factor, Quadratic, TableModel
from pmpviz.types import InputError, Refusal, Target


@dataclass(frozen=True)
class Problem:
    """log weight over the free variables, numbered 0, 1, ... in order of the model's.

    `card` and `value` are of all n variables (value of the free ones is 0), `free` the model's numbers of the free
    ones. The weight is either `quadratic` (bias, i, j, w, constant: binary, pairwise, finite) or `tables` with
    `constant`. Variables of a single state count as clamped.
    """

    card: tuple[int, ...]
    value: Int[np.ndarray, " n"]
    free: Int[np.ndarray, " free"]
    quadratic: Quadratic | None
    tables: tuple[Factor, ...]
    constant: float

    @classmethod
    def of(cls, target: Target, tables: TableModel | None = None) -> Problem:
        """The problem of a target; `tables` are the model's own values in float64 where a file gave them.

        Raises InputError where evidence names a state that doesn't exist, or where it forbids every state, and
        Refusal for a model that is neither `Ising`, `Pairwise`, `TableModel` nor `FactorGraph`, and for logical
        factors whose tables would be too large.
        """
        model = target.model if tables is None else tables
        if isinstance(model, FactorGraph):
            model = model.to_tables()
        if not isinstance(model, (Ising, Pairwise, TableModel)):
            raise Refusal(f"{type(model).__name__} has no tables to eliminate; use a pairwise or a table model")
        if tuple(model.card) != tuple(target.model.card):
            raise InputError("the float64 tables belong to another model; give those of the target's own file")
        mask, value = _clamped(target)
        beta = float(target.beta)
        free = np.flatnonzero(~mask)
        number = np.full(target.n, -1)
        number[free] = np.arange(len(free))
        if (quadratic := _quadratic_of(model)) is not None:
            reduced = _clamp_quadratic(quadratic, beta, mask, value, number)
            return cls(tuple(model.card), value, free, reduced, (), reduced[4])
        clamp = _clamp_pairs if isinstance(model, Pairwise) else _clamp_factors
        factors, constant = clamp(model, beta, mask, value, number)
        return cls(tuple(model.card), value, free, None, factors, constant)

    @property
    def free_card(self) -> tuple[int, ...]:
        """Number of states of each free variable."""
        return tuple(self.card[v] for v in self.free)

    @property
    def edges(self) -> Int[np.ndarray, "e 2"]:
        """Pairs of free variables that share a factor, each once."""
        if self.quadratic is not None:
            return np.stack([self.quadratic[1], self.quadratic[2]], 1)
        pairs = {(min(a, b), max(a, b)) for scope, _ in self.tables for a in scope for b in scope if a != b}
        return np.array(sorted(pairs), np.int64).reshape(-1, 2)

    @property
    def factors(self) -> tuple[Factor, ...]:
        """(scope, log table) over the free variables; the constant is apart."""
        if self.quadratic is None:
            return self.tables
        bias, i, j, w, _ = self.quadratic
        unary = [((v,), np.array([0.0, b])) for v, b in enumerate(bias)]
        tables = np.zeros((len(w), 2, 2))
        tables[:, 1, 1] = w
        return (*unary, *(((a, b), t) for a, b, t in zip(i.tolist(), j.tolist(), tables, strict=True)))

    def all_marginals(self, free: list[np.ndarray]) -> tuple[np.ndarray, ...]:
        """Marginals of all n variables from those of the free ones: a delta where clamped."""
        rows = [np.eye(states)[v] for states, v in zip(self.card, self.value, strict=True)]
        for v, row in zip(self.free, free, strict=True):
            rows[v] = row
        return tuple(rows)

    def all_states(self, x: Int[np.ndarray, "count free"]) -> Int[np.ndarray, "count n"]:
        """int8 configurations of all n variables from those of the free ones."""
        full = np.repeat(self.value.astype(np.int8)[None], len(x), 0)
        full[:, self.free] = x
        return full

    def all_pairs(
        self, marginals: tuple[np.ndarray, ...], inner: Callable[[np.ndarray], Float[np.ndarray, "p k k"]], pairs
    ) -> Float[np.ndarray, "p k k"]:
        """Pair marginals [p, K, K], K the largest cardinality, padded with zeros.

        `inner` gives those of pairs of different free variables; the others follow from the `marginals`.
        """
        pairs = check_pairs(pairs, len(self.card))
        found = np.zeros((len(pairs), max(self.card, default=1), max(self.card, default=1)))
        number = np.full(len(self.card), -1)
        number[self.free] = np.arange(len(self.free))
        inside = (number[pairs] >= 0).all(1) & (pairs[:, 0] != pairs[:, 1])
        for p in np.flatnonzero(~inside):
            i, j = pairs[p]
            table = np.diag(marginals[i]) if i == j else np.outer(marginals[i], marginals[j])
            found[p, : table.shape[0], : table.shape[1]] = table
        if inside.any():
            inner_found = inner(number[pairs[inside]])
            found[inside, : inner_found.shape[1], : inner_found.shape[2]] = inner_found
        return found


def check_pairs(pairs, n: int) -> Int[np.ndarray, "p 2"]:
    """`pairs` as whole numbers [p, 2]; raises InputError where one does not exist."""
    pairs = np.asarray(pairs, np.int64).reshape(-1, 2)
    if pairs.size and (pairs.min() < 0 or pairs.max() >= n):
        raise InputError(f"a pair names a variable outside 0 to {n - 1}; give existing variables")
    return pairs


def _clamped(target: Target) -> tuple[np.ndarray, np.ndarray]:
    mask = np.array(target.evidence.mask, bool)
    card = np.array(target.model.card, np.int64)
    value = np.where(mask, np.asarray(target.evidence.value, np.int64), 0)
    wrong = np.flatnonzero(mask & ((value < 0) | (value >= card)))
    if len(wrong):
        v = wrong[0]
        raise InputError(f"evidence gives variable {v} the value {value[v]}; give a state from 0 to {card[v] - 1}")
    return mask | (card == 1), value


def _quadratic_of(model: Ising | Pairwise | TableModel) -> Quadratic | None:
    if isinstance(model, Pairwise):
        return model.quadratic() if model.space.binary else None
    if isinstance(model, Ising):
        bias, i, j, w = model.pairwise()
        i, j, w = merge_edges(i, j, w)
        return bias, i, j, w, float(model.constant)
    try:
        return model.quadratic()
    except InputError:
        return None


def _clamp_quadratic(quadratic: Quadratic, beta: float, mask, value, number) -> Quadratic:
    bias, i, j, w, constant = quadratic
    bias = bias.copy()
    for a, b in ((i, j), (j, i)):
        half = mask[b] & ~mask[a]
        np.add.at(bias, a[half], w[half] * value[b[half]])
    both = mask[i] & mask[j]
    constant += float(bias[mask] @ value[mask] + (w[both] * value[i[both]]) @ value[j[both]])
    keep = ~mask[i] & ~mask[j] & (beta * w != 0)
    return beta * bias[~mask], number[i[keep]], number[j[keep]], beta * w[keep], beta * constant


def _clamp_factors(model: TableModel, beta: float, mask, value, number) -> tuple[tuple[Factor, ...], float]:
    found, constant = [], _times(beta, np.asarray(model.constant, np.float64))
    for scope, table in model.factors:
        table = _times(beta, table[tuple(value[v] if mask[v] else slice(None) for v in scope)])
        rest = tuple(int(number[v]) for v in scope if not mask[v])
        if rest:
            found.append((rest, table))
        else:
            constant = constant + table
    return tuple(found), float(constant)


def _clamp_pairs(model: Pairwise, beta: float, mask, value, number) -> tuple[tuple[Factor, ...], float]:
    """As `_clamp_factors`, without a Python step for every edge and state."""
    card, (i, j, table) = model.card, model.edges()
    unary, table = np.where(model.space.mask, model.unary, 0.0) * beta, table * beta
    constant = beta * float(model.constant) + unary[mask, value[mask]].sum()
    for a, b, rows in ((i, j, table), (j, i, table.swapaxes(1, 2))):
        half = mask[b] & ~mask[a]
        np.add.at(unary, a[half], rows[half, :, value[b[half]]])
    both, keep = mask[i] & mask[j], ~mask[i] & ~mask[j]
    constant += table[both, value[i[both]], value[j[both]]].sum()
    own = [((k,), unary[v, : card[v]]) for k, v in enumerate(np.flatnonzero(~mask).tolist())]
    joint = zip(i[keep].tolist(), j[keep].tolist(), table[keep], strict=True)
    pairs = [((int(number[a]), int(number[b])), rows[: card[a], : card[b]]) for a, b, rows in joint]
    return (*own, *pairs), float(constant)


def _times(beta: float, table: np.ndarray) -> np.ndarray:
    """beta * table; a forbidden state stays forbidden at beta = 0 too."""
    forbidden = np.isneginf(table)
    return np.where(forbidden, -np.inf, beta * np.where(forbidden, 0.0, table))

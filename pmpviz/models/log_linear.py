"""Factor graphs whose tables share a few parameters: what maximum likelihood learns when weights are tied."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy
from jaxtyping import Float, Int

from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import TableModel
from pmpviz.types import InputError

# (scope, table of features): the last axis of the table counts the parameters.
Featured = tuple[Sequence[int], np.ndarray]


@dataclass(frozen=True, eq=False)
class LogLinear:
    """log_weight(x; theta) = base(x) + sum_k theta_k phi_k(x), phi_k(x) = sum_f features_f[x_scope(f), k].

    Of a conditional random field p(x | y) this is one y: the features hold what y says. `base` holds the scopes and
    what is not learned, -inf where a factor forbids a state; `features[entry, k]` lie as its `values` do. Any
    cardinalities, any arity. Made by `of`.
    """

    base: TableModel
    features: Float[np.ndarray, "entries p"]
    names: tuple[str, ...]

    @classmethod
    def of(
        cls,
        card: Sequence[int],
        names: Sequence[str],
        factors: Iterable[Featured],
        base: Iterable[np.ndarray] | None = None,
    ) -> LogLinear:
        """Factors as (scope, features [states..., p]); `base` gives each of them a log table of its own, 0 where None.

        Raises InputError for tables that do not fit, features that are not finite, and a number of parameters that is
        not that of the names.
        """
        names, kept = tuple(names), [(tuple(scope), np.asarray(table, np.float64)) for scope, table in factors]
        if not names or not kept:
            raise InputError("there is nothing to learn: give at least one parameter and one factor")
        for place, (scope, table) in enumerate(kept):
            if table.ndim < 2 or table.ndim != len(scope) + 1 or table.shape[-1] != len(names):
                raise InputError(
                    f"the features of factor {place} have shape {table.shape}; give a side for each of its "
                    f"{len(scope)} variables, and a last one of the {len(names)} parameters"
                )
            if not np.isfinite(table).all():
                raise InputError(f"the features of factor {place} hold a value that is no finite number; mend it")
        own = [np.zeros(table.shape[:-1]) for _, table in kept] if base is None else list(base)
        if len(own) != len(kept):
            raise InputError(f"{len(own)} log tables were given for {len(kept)} factors; give one for each")
        for place, ((_, table), given) in enumerate(zip(kept, own, strict=True)):
            if np.shape(given) != table.shape[:-1]:
                raise InputError(
                    f"the log table of factor {place} has shape {np.shape(given)}; its features have another"
                )
        model = TableModel.of(card, [(scope, table) for (scope, _), table in zip(kept, own, strict=True)])
        return cls(model, np.concatenate([table.reshape(-1, len(names)) for _, table in kept]), names)

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.base.n

    @property
    def size(self) -> int:
        """The number of parameters."""
        return len(self.names)

    def check(self, theta: Float[np.ndarray, " p"]) -> Float[np.ndarray, " p"]:
        """The parameters in float64; raises InputError where they are not as many, or not finite."""
        theta = np.asarray(theta, np.float64)
        if theta.shape != (self.size,) or not np.isfinite(theta).all():
            raise InputError(f"give {self.size} finite parameters: {', '.join(self.names)}")
        return theta

    def tables(self, theta: Float[np.ndarray, " p"]) -> TableModel:
        """The model of some parameters, as tables."""
        return replace(self.base, values=self.base.values + self.features @ self.check(theta))

    def model(self, theta: Float[np.ndarray, " p"]) -> Any:
        """The same in the form that samplers take: pairs of variables where there are none but finite pairs."""
        found = self.tables(theta)
        pairs = int(found.arity.max(initial=0)) <= 2 and np.isfinite(found.values).all()
        return Pairwise.from_tables(found) if pairs else found

    def statistics(self, x: Int[np.ndarray, "... n"]) -> Float[np.ndarray, "... p"]:
        """phi(x) of one configuration or of many."""
        x = np.asarray(x, np.int64)
        shape, rows = x.shape[:-1], x.reshape(-1, self.n)
        place = self.base.offset + (self._strided @ rows.T).T
        return np.stack([self.features[row].sum(0) for row in place]).reshape(*shape, self.size)

    @cached_property
    def _strided(self) -> Any:
        """[factors, n]: how far each variable's state moves within each factor's table."""
        count, arity = self.base.variable.shape
        rows = np.repeat(np.arange(count), arity)
        entries = (np.asarray(self.base.stride, np.int64).reshape(-1), (rows, self.base.variable.reshape(-1)))
        return scipy.sparse.coo_array(entries, shape=(count, self.n)).tocsr()

    def base_weight(self, x: Int[np.ndarray, " n"]) -> float:
        """base(x): -inf where a factor forbids it."""
        entries = self.base.values[self.base.offset + self._strided @ np.asarray(x, np.int64)]
        return float(entries.sum()) + float(self.base.constant)

    def check_states(self, x: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        """A configuration of this graph; raises InputError for other sizes, other states, and forbidden ones."""
        x = np.asarray(x, np.int64)
        if x.shape != (self.n,):
            raise InputError(f"what was observed has shape {x.shape}; this graph has {self.n} variables")
        bad = np.flatnonzero((x < 0) | (x >= np.array(self.base.card)))
        if len(bad):
            raise InputError(f"variable {bad[0]} was observed in state {x[bad[0]]}; it has {self.base.card[bad[0]]}")
        if np.isneginf(self.base_weight(x)):
            raise InputError("what was observed is forbidden by a factor, whatever the parameters are")
        return x


__all__ = ["Featured", "LogLinear"]

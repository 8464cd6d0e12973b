"""What a MAP oracle is: potentials in; a configuration, its value, an upper bound where there is one, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Generic, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Float, Int, Int8

from pmpviz.exact.possible import NOTHING_POSSIBLE
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.oracles.reduction import Reduction
from pmpviz.types import InputError, Param, Refusal, Style

T = TypeVar("T")

# Share of the potentials' size by which a bound may miss the value that it proves.
TOLERANCE = 1e-9

PROMISES = {
    "exact": "finds a maximum, and proves it",
    "bound": "gives an upper bound of the maximum, and a configuration that may fall short of it",
    "heuristic": "gives a configuration, without any bound",
}


@dataclass(frozen=True)
class OracleSpec:
    """What an oracle says of itself. `promise` is a key of `PROMISES`: the best that it can hold on any model.

    `why_not(potentials)` is None or the sentence that the user reads, also where an optional library is missing.
    `timed` says that it may take all of a time limit for one problem.
    """

    id: str
    label: str
    promise: str
    summary: str
    paper: str
    params: tuple[Param, ...] = ()
    why_not: Callable[[Potentials], str | None] = lambda potentials: None
    style: Style | None = None
    timed: bool = False


@dataclass(frozen=True)
class Solution:
    """A configuration `x`, its `value` theta(x), and `upper` >= max theta where the oracle proves one, else None.

    `exact` says that `value` is proved to be the maximum, up to `TOLERANCE` of its size; `upper` is then that value or
    above it by no more than that. `notes` holds what else is to be shown (share of variables labelled or fractional,
    sweeps, "timed out"). A linear program adds its optimum over the local polytope as `relaxed` = (mu_i [n, k],
    mu_ij [e, k, k]).
    """

    x: Int8[np.ndarray, " n"]
    value: float
    upper: float | None = None
    exact: bool = False
    notes: Mapping[str, float | str] = field(default_factory=dict)
    relaxed: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def proved(cls, potentials: Potentials, x: np.ndarray, **notes: float | str) -> Solution:
        """A maximum that the oracle has proved."""
        value = float(potentials.value(x))
        return cls(np.asarray(x, np.int8), value, value, True, notes)

    @classmethod
    def found(cls, potentials: Potentials, x: np.ndarray, upper: float | None = None, **notes) -> Solution:
        """A configuration without a proof; `upper` bounds the maximum where it is known."""
        return cls(np.asarray(x, np.int8), float(potentials.value(x)), upper, False, notes)

    @classmethod
    def on_factors(cls, factors: Factors, x: np.ndarray, exact: bool = False, **notes: float | str) -> Solution:
        """A configuration of a factor graph; `exact` where it is proved to be a maximum.

        Raises InputError where a proved maximum is forbidden.
        """
        value = float(factors.value(x))
        if exact and not np.isfinite(value):
            raise InputError(NOTHING_POSSIBLE)
        return cls(np.asarray(x, np.int8), value, value if exact else None, exact, notes)

    @classmethod
    def bounded(cls, potentials: Potentials, x: np.ndarray, upper: float, relaxed=None, **notes) -> Solution:
        """A configuration and a bound that may meet: exact where they differ by rounding alone."""
        value = float(potentials.value(x))
        met = upper - value <= TOLERANCE * potentials.size
        return cls(np.asarray(x, np.int8), value, max(float(upper), value), bool(met), notes, relaxed)


class MapOracle:
    """Base of the oracles: frozen dataclasses whose fields are their knobs."""

    spec: ClassVar[OracleSpec]

    def solve(self, potentials: Potentials) -> Solution:
        """A configuration of large theta; raises Refusal where `spec.why_not` gives a reason."""
        raise NotImplementedError

    def solve_from(self, potentials: Potentials, x: Int[np.ndarray, " n"]) -> Solution:
        """The same where x is a configuration that may be close: those who climb start there, others need none."""
        return self.solve(potentials)

    def solve_factors(self, factors: Factors) -> Solution:
        """The same on any factor graph: as pairs of variables, unless the oracle brings a form of its own.

        `value` is -inf where the configuration is forbidden. Raises Refusal where the reduction is too large, and
        InputError where it is proved that nothing is possible.
        """
        reduction = Reduction.of(factors)
        found = self.solve(reduction.potentials)
        x = found.x[: factors.n]
        value = float(factors.value(x))
        if found.exact and not np.isfinite(value):
            raise InputError(NOTHING_POSSIBLE)
        upper = None if found.upper is None else max(found.upper, value)
        return Solution(x, value, upper, found.exact, {**found.notes, "as pairs": reduction.words})

    def insist(self, potentials: Potentials) -> None:
        """Raise Refusal where this oracle cannot take these potentials."""
        if (reason := self.spec.why_not(potentials)) is not None:
            raise Refusal(reason)

    def solve_batch(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> list[Solution]:
        """One solution for each of several unaries in place of the potentials' own."""
        return [self.solve(potentials.with_values(one)) for one in unary]

    def decode(self, potentials: Potentials, unary: Float[np.ndarray, "b n k"]) -> Int8[np.ndarray, "b n"]:
        """The configurations of `solve_batch` alone, for samplers, which want nothing else."""
        found = [solution.x for solution in self.solve_batch(potentials, unary)]
        return np.array(found, np.int8).reshape(len(unary), potentials.n)


class Prepared(Generic[T]):
    """What an oracle keeps for a structure, as long as the structure lives: it must not hold the structure itself."""

    def __init__(self, make: Callable[[Structure], T]):
        self._make, self._kept = make, WeakKeyDictionary[Structure, T]()

    def __call__(self, structure: Structure) -> T:
        if structure not in self._kept:
            self._kept[structure] = self._make(structure)
        return self._kept[structure]


__all__ = ["PROMISES", "TOLERANCE", "MapOracle", "OracleSpec", "Prepared", "Solution"]

"""Simulated annealing: heat-bath sweeps at falling temperature from several starts (Kirkpatrick et al. 1983)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from jaxtyping import Int

from pmpviz.models.couplings import colouring
from pmpviz.oracles import on_factors
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.icm import descend, random_states
from pmpviz.oracles.oracle import MapOracle, OracleSpec, Prepared, Solution
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Param, Style


def _groups(structure: Structure) -> tuple[np.ndarray, ...]:
    """The variables by colour: those of one colour do not see one another and move at once."""
    colour = colouring(structure.n, structure.i, structure.j) if structure.n else np.zeros(0, np.int64)
    return tuple(np.flatnonzero(colour == c) for c in np.unique(colour))


_groups_of = Prepared(_groups)


class _Fields:
    """theta(x_i = k | the others) of all variables of a colour at once, from the indicators of x: rows are (i, k)."""

    def __init__(self, potentials: Potentials):
        s, table = potentials.structure, potentials.table
        k = s.states
        first = np.broadcast_to((s.i[:, None] * k + np.arange(k))[:, :, None], table.shape).ravel()
        second = np.broadcast_to((s.j[:, None] * k + np.arange(k))[:, None], table.shape).ravel()
        both = np.concatenate([first, second]), np.concatenate([second, first])
        matrix = scipy.sparse.csr_array((np.tile(table.ravel(), 2), both), shape=(s.n * k, s.n * k))
        unary = np.where(s.valid, potentials.unary, -np.inf)
        self.groups = []
        for group in _groups_of(s):
            rows = (group[:, None] * k + np.arange(k)).ravel()
            self.groups.append((group, scipy.sparse.csr_array(matrix[rows]), unary[group][..., None]))

    def sweep(self, x: Int[np.ndarray, "n s"], ones: np.ndarray, temperature: float, rng: np.random.Generator) -> None:
        """Draw every variable given the others, in place, colour after colour."""
        starts = np.arange(x.shape[1])
        for group, matrix, unary in self.groups:
            field = (matrix @ ones.reshape(-1, x.shape[1])).reshape(len(group), -1, x.shape[1]) + unary
            # The largest of field / T plus Gumbel noise is a draw from the heat bath.
            noise = -np.log(rng.exponential(size=field.shape))
            x[group] = (field / temperature + noise).argmax(1)
            ones[group] = 0.0
            ones[group[:, None], x[group], starts] = 1.0


def _scale(potentials: Potentials, states: np.ndarray) -> float:
    """The typical change of theta when one variable moves: what temperatures are measured by."""
    rows, moved = np.arange(len(states)), states.copy()
    sites = rows % potentials.n
    moved[rows, sites] = (states[rows, sites] + 1) % np.array(potentials.structure.card)[sites]
    return float(np.abs(potentials.value(moved) - potentials.value(states)).mean()) or 1.0


@dataclass(frozen=True)
class Annealing(MapOracle):
    """Heat-bath sweeps at T = hottest ... coldest, evenly in log T, in units of a typical move, then ICM.

    All starts move side by side, variables of one colour at once.
    """

    sweeps: int = 500
    starts: int = 16
    hottest: float = 3.0
    coldest: float = 0.05
    seed: int = 0

    spec = OracleSpec(
        id="annealing",
        label="Simulated annealing",
        style=Style("#009E73", "dot", "diamond"),
        promise="heuristic",
        summary="Heat-bath sweeps while the temperature falls, from several starts; the best end is kept.",
        paper="Kirkpatrick, Gelatt and Vecchi 1983",
        params=(
            Param("sweeps", "sweeps", 1, 100_000, 500, scale="int", help="of all variables, from hottest to coldest"),
            Param("starts", "starts", 1, 10_000, 16, scale="int", help="random configurations, annealed side by side"),
            Param("hottest", "hottest", 0.001, 1000.0, 3.0, scale="log", help="first temperature, in typical moves"),
            Param("coldest", "coldest", 0.0001, 100.0, 0.05, scale="log", help="last temperature, in typical moves"),
            Param("seed", "seed", 0, 2**31 - 1, 0, scale="int", help="of starts and moves", advanced=True),
        ),
    )

    def solve(self, potentials: Potentials) -> Solution:
        """The best of all starts' ends; the note says how many came to its value."""
        rng = np.random.default_rng(int(self.seed))
        states = random_states(potentials, rng, int(self.starts))
        if potentials.n:
            states = self._anneal(potentials, states, rng)
        ends = np.stack([descend(potentials, state) for state in states])
        values = potentials.value(ends)
        best = int(values.argmax())
        alike = float(np.mean(values >= values[best] - 1e-9 * potentials.size))
        return Solution.found(potentials, ends[best], **{"share of starts": alike})

    def solve_factors(self, factors: Factors) -> Solution:
        """The same on the factors as they are, one variable after another."""
        rng = np.random.default_rng(int(self.seed))
        states = on_factors.random_states(factors, rng, int(self.starts)).T
        states = on_factors.anneal(factors, states, self._temperatures(), rng)
        ends = np.stack([on_factors.descend(factors, state) for state in states.T])
        return Solution.on_factors(factors, ends[int(factors.value(ends).argmax())])

    def _temperatures(self) -> list[float]:
        return np.geomspace(float(self.hottest), float(self.coldest), int(self.sweeps)).tolist()

    def _anneal(self, potentials: Potentials, states: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        scale, fields = _scale(potentials, states), _Fields(potentials)
        x = np.ascontiguousarray(states.T)
        ones = np.zeros((potentials.n, potentials.structure.states, len(states)))
        ones[np.arange(potentials.n)[:, None], x, np.arange(len(states))] = 1.0
        for temperature in self._temperatures():
            fields.sweep(x, ones, temperature * scale, rng)
        return x.T


__all__ = ["Annealing"]

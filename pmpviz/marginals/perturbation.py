"""Marginals and bounds of log Z from maxima under shared random perturbations.

Everywhere gamma_i(x_i) is centred Gumbel noise, one number a state of a variable, and a bank of m of them is shared by
all that is estimated from it, so that differences of maxima carry little of its noise (Hazan and Jaakkola 2012; Hazan,
Maji and Jaakkola 2013).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int8

from pmpviz.oracles import MapOracle, Solution, make_oracle
from pmpviz.oracles.perturbed import CELLS, gumbels, table_of
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import InputError

# log2 of the states whose perturbed values are listed rather than asked from an oracle, clamp by clamp.
LISTED = 14


@dataclass(frozen=True)
class Estimate:
    """A mean over a noise bank with its standard error."""

    mean: float
    standard_error: float

    @classmethod
    def of(cls, values: Float[np.ndarray, " m"]) -> Estimate:
        """Mean and standard error of independent values."""
        return cls(
            float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else np.inf
        )


@dataclass(frozen=True)
class EstimatedMarginals:
    """`marginals[n, k]` of the free variables, each with its `standard_error[n, k]`; 0 for states that don't exist."""

    marginals: Float[np.ndarray, "n k"]
    standard_error: Float[np.ndarray, "n k"]


@dataclass(frozen=True)
class PerturbedMaxima:
    """What one oracle found under a bank of noise: configurations, their perturbed values, upper bounds of the maxima.

    `upper[m]` is nan where the oracle proves none; `exact[m]` says where `value` is proved to be the maximum.
    """

    x: Int8[np.ndarray, "m n"]
    value: Float[np.ndarray, " m"]
    upper: Float[np.ndarray, " m"]
    exact: Bool[np.ndarray, " m"]

    def marginals(self, potentials: Potentials) -> EstimatedMarginals:
        """Perturb-and-MAP marginals: the frequencies of the argmaxes (Papandreou and Yuille 2011)."""
        states = np.arange(potentials.structure.states)
        share = (self.x[:, :, None] == states).mean(0)
        return EstimatedMarginals(share, np.sqrt(share * (1 - share) / len(self.x)))

    @property
    def mean_value(self) -> Estimate:
        """Mean of the values found: of exact maxima it estimates a bound of log Z, of others it bounds nothing."""
        return Estimate.of(self.value)

    @property
    def log_z_bound(self) -> Estimate | None:
        """log Z <= E max_x theta(x) + sum_i gamma_i(x_i) <= E upper, where every maximum has an upper bound.

        The estimate's expectation is a bound of log Z; the estimate itself may fall below it by its standard error.
        With MPLP the upper bounds are its duals. None where one is missing.
        """
        return None if np.isnan(self.upper).any() else Estimate.of(self.upper)


def perturbed_maxima(
    potentials: Potentials, noise: Float[np.ndarray, "m n k"], oracle: MapOracle | None = None
) -> PerturbedMaxima:
    """argmax_x theta(x) + sum_i gamma_i(x_i) for every noise of the bank, by an oracle (exact unless given)."""
    solver = make_oracle("exact") if oracle is None else oracle
    return gathered(solver.solve_batch(potentials, potentials.unary + _checked(potentials, noise)), potentials.n)


def gathered(solutions: list[Solution], n: int) -> PerturbedMaxima:
    """An oracle's solutions as arrays."""
    return PerturbedMaxima(
        np.array([s.x for s in solutions], np.int8).reshape(len(solutions), n),
        np.array([s.value for s in solutions], np.float64),
        np.array([np.nan if s.upper is None else s.upper for s in solutions], np.float64),
        np.array([s.exact for s in solutions], bool),
    )


def clamped_marginals(
    potentials: Potentials, noise: Float[np.ndarray, "m n k"], oracle: MapOracle | None = None
) -> EstimatedMarginals:
    """Marginals from ratios of expected maxima (Hazan and Jaakkola 2012, barrier Frank-Wolfe's Figure 1e, f):

        p(x_i = k) proportional to exp E max_{x: x_i = k} theta(x) + sum_{j != i} gamma_j(x_j),

    all under the same noise. With two states the standard error is that of the difference of the two maxima, by the
    delta method; with more, of each against the log of the sum of the others. Small models are listed; otherwise the
    oracle is asked m times for every state of every variable.
    """
    noise = _checked(potentials, noise)
    listed = lists_clamps(potentials, oracle)
    maxima = _listed_clamps(potentials, noise) if listed else _asked_clamps(potentials, noise, oracle)
    maxima = np.where(potentials.structure.valid, maxima, -np.inf)
    expected = maxima.mean(0)
    p = np.exp(expected - expected.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    # log p_k = U_k - log sum exp U: its derivative by U_l is (k == l) - p_l.
    finite = np.where(potentials.structure.valid, maxima, 0.0)
    spread = (finite - (finite * p).sum(2, keepdims=True)).std(0, ddof=1) if len(noise) > 1 else np.inf
    return EstimatedMarginals(p, p * spread / np.sqrt(len(noise)))


def lists_clamps(potentials: Potentials, oracle: MapOracle | None = None) -> bool:
    """Whether `clamped_marginals` lists all states and asks no oracle."""
    return _log_states(potentials) <= LISTED and (oracle is None or oracle.spec.promise == "exact")


def _listed_clamps(potentials: Potentials, noise: np.ndarray) -> Float[np.ndarray, "m n k"]:
    """max over the states with x_i = k of all perturbed values, less gamma_i(k), by a table of all states."""
    table, s = np.atleast_1d(table_of(potentials)), potentials.structure
    found, rows = np.zeros(noise.shape), max(1, CELLS // table.size)
    for start in range(0, len(noise), rows):
        bank = noise[start : start + rows]
        values = np.broadcast_to(table, (len(bank), *table.shape)).copy()
        for i, states in enumerate(s.card):
            values += bank[:, i, :states].reshape(len(bank), *[states if v == i else 1 for v in range(s.n)])
        for i, states in enumerate(s.card):
            split = np.moveaxis(values, i + 1, 1).reshape(len(bank), states, -1)
            found[start : start + rows, i, :states] = split.max(2) - bank[:, i, :states]
    return found


def _asked_clamps(potentials: Potentials, noise: np.ndarray, oracle: MapOracle | None) -> Float[np.ndarray, "m n k"]:
    """The same by an oracle: the other states of the clamped variable get a unary that none of the rest outweighs."""
    solver, s = make_oracle("exact") if oracle is None else oracle, potentials.structure
    found = np.zeros(noise.shape)
    for i, states in enumerate(s.card):
        # Auxiliary variables are not perturbed, and no one asks for them.
        for k in range(states if noise[:, i].any() else 0):
            unary = potentials.unary + noise
            unary[:, i] -= noise[:, i] + _outweighing(potentials, noise, i)
            unary[:, i, k] = potentials.unary[i, k]
            found[:, i, k] = [solution.value for solution in solver.solve_batch(potentials, unary)]
    return found


def _outweighing(potentials: Potentials, noise: np.ndarray, i: int) -> float:
    """More than any change of the other variables can gain."""
    s = potentials.structure
    own = (s.i == i) | (s.j == i)
    return 1.0 + 2 * float(
        np.abs(potentials.table[own]).sum() + np.abs(potentials.unary[i]).sum() + np.abs(noise).max()
    )


def _log_states(potentials: Potentials) -> float:
    return float(np.log2(np.array(potentials.structure.card, np.float64)).sum())


def _checked(potentials: Potentials, noise) -> Float[np.ndarray, "m n k"]:
    noise = np.asarray(noise, np.float64)
    if noise.shape[1:] != potentials.unary.shape or not len(noise):
        shape = " x ".join(map(str, potentials.unary.shape))
        raise InputError(f"the noise has shape {noise.shape}; give perturbations of {shape} numbers each, at least one")
    return noise


__all__ = [
    "Estimate",
    "EstimatedMarginals",
    "PerturbedMaxima",
    "clamped_marginals",
    "gathered",
    "gumbels",
    "lists_clamps",
    "perturbed_maxima",
]

"""log Z by how often Gibbs sampling reaches one configuration: by Chib, and by Murray and Salakhutdinov."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy.special import logsumexp

from pmpviz.marginals.log_z_estimates import log_mean
from pmpviz.marginals.solver import Answer, MarginalSolver, Record, unknown
from pmpviz.oracles.icm import MultiStart
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import Param, Refusal, Spec, Style

CHAINS, BATCH = 16, 25
ESTIMATORS = ("chib", "unbiased")
STATES = ("icm", "zero")
MOST_VARIABLES = 4096


@dataclass(frozen=True, eq=False)
class Sites:
    """Of every variable its neighbours and the tables with them, its own state first."""

    potentials: Potentials
    others: tuple[Int[np.ndarray, " d"], ...]
    tables: tuple[Float[np.ndarray, "d k k"], ...]

    @classmethod
    def of(cls, potentials: Potentials) -> Sites:
        """The lists of these potentials."""
        table = potentials.table
        found = [
            ([u for _, u, _ in row], [table[e] if first else table[e].T for e, _, first in row])
            for row in potentials.structure.neighbours
        ]
        states = potentials.structure.states
        others = tuple(np.array(u, np.int64) for u, _ in found)
        return cls(potentials, others, tuple(np.array(t).reshape(-1, states, states) for _, t in found))

    def log_conditional(self, site: int, x: Int[np.ndarray, "c n"]) -> Float[np.ndarray, "c k"]:
        """log p(x_site = k | the rest) for each row."""
        others = self.others[site]
        sent = self.tables[site][np.arange(len(others)), :, x[:, others]].sum(1)
        logits = np.where(self.potentials.structure.valid[site], self.potentials.unary[site] + sent, -np.inf)
        return logits - logsumexp(logits, axis=1, keepdims=True)

    def sweep(
        self, x: Int[np.ndarray, "c n"], rng: np.random.Generator, back: bool = False
    ) -> Float[np.ndarray, "c n k"]:
        """Draw every site in turn, from the last to the first if `back`; x is changed. Returns the conditionals."""
        n = x.shape[1]
        found = np.zeros((*x.shape, self.potentials.structure.states))
        for site in range(n)[:: -1 if back else 1]:
            log = self.log_conditional(site, x)
            found[:, site] = np.exp(log)
            x[:, site] = (log + rng.gumbel(size=log.shape)).argmax(1)
        return found

    def log_reach(self, x: Int[np.ndarray, "c n"], goal: Int[np.ndarray, " n"]) -> Float[np.ndarray, " c"]:
        """log T(goal <- x): the probability that one forward sweep takes x there."""
        y, total = x.copy(), np.zeros(len(x))
        for site, state in enumerate(goal):
            total += self.log_conditional(site, y)[:, state]
            y[:, site] = state
        return total


@dataclass(frozen=True, eq=False)
class ChibState:
    """Sixteen chains, how much of each direction is left, log T(s* <- x) of every sweep, and sums of conditionals."""

    sites: Sites
    goal: Int[np.ndarray, " n"]
    x: Int[np.ndarray, "c n"]
    reach: tuple[Float[np.ndarray, " c"], ...] = ()
    means: Float[np.ndarray, "n k"] | None = None
    trace: tuple[Record, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Chib(MarginalSolver):
    """Z = weight(s*) / p(s*), p(s*) = E_x T(s* <- x): the mean probability that a Gibbs sweep from x ends in s*.

    `chib` averages over chains in equilibrium. `unbiased` starts each chain of Murray and Salakhutdinov (2009) with a
    reversed sweep from s* at a random place of its length, and continues forth and back from there: then weight(s*) /
    mean T(s* <- x) has the expectation Z. s* is the best of 20 descents of ICM, or 0 everywhere, which shows how much
    hangs on it. Errors: of batch means, or between the sixteen chains.
    """

    estimator: int | str = "chib"
    state: int | str = "icm"
    sweeps: int = 250
    burn_in: int = 100
    seed: int = 0

    spec = Spec(
        id="chib",
        label="Chib's estimate by Gibbs",
        style=Style("#0072B2", "dash", "square"),
        kind="solver",
        guarantee="approximate",
        reversible=False,
        summary="Averages the probability that a Gibbs sweep ends in one good configuration, which says log Z with an "
        "error bar; the conditionals' means are the marginals.",
        paper="Chib 1995; Murray and Salakhutdinov 2009",
        update="25 sweeps of 16 chains",
        jit=False,
        metrics=("objective",),
        params=(
            Param("estimator", "Estimator", 0, 0, "chib", "choice",
                  "chib: chains in equilibrium; unbiased: Murray and Salakhutdinov's, begun at the configuration.",
                  choices=ESTIMATORS),
            Param("state", "Configuration", 0, 0, "icm", "choice", "s*: the best of 20 descents, or 0 everywhere.",
                  choices=STATES),
            Param("sweeps", "Sweeps", 50, 100_000, 250, "int", "Of each of sixteen chains."),
            Param("burn_in", "Burn-in", 0, 100_000, 100, "int", "Sweeps before the first that counts, of chib."),
            Param("seed", "Seed", 0, 2**31 - 1, 0, "int", "Of the chains."),
        ),
    )  # fmt: skip

    def why_not(self, potentials: Potentials) -> str | None:
        """Sites are visited one after another in Python: at most 4,096."""
        if potentials.n > MOST_VARIABLES:
            return f"this estimate visits the variables one by one; {potentials.n:,} are more than {MOST_VARIABLES:,}"
        return None

    @property
    def _unbiased(self) -> bool:
        return self.estimator in ("unbiased", 1)

    def start(self, potentials: Potentials) -> ChibState:
        """The configuration s*, and the chains after their burn-in."""
        if (reason := self.why_not(potentials)) is not None:
            raise Refusal(reason)
        rng, sites = self._rng(0), Sites.of(potentials)
        zero = np.zeros(potentials.n, np.int64)
        goal = zero if self.state in ("zero", 1) else np.asarray(MultiStart(20).solve(potentials).x, np.int64)
        x = rng.integers(0, np.array(potentials.structure.card, np.int64), (CHAINS, potentials.n))
        for _ in range(0 if self._unbiased else self.burn_in):
            sites.sweep(x, rng)
        return ChibState(sites, goal, x)

    def _rng(self, number: int) -> np.random.Generator:
        """Of one step: a state may be stepped again."""
        return np.random.default_rng((self.seed, number))

    def step(self, state: ChibState) -> ChibState:
        """Twenty-five more sweeps of all chains; of the unbiased form all of a chain, for it knows no time."""
        if state.reason:
            return state
        begin = time.perf_counter()
        state = self._whole(state) if self._unbiased else self._more(state)
        done = len(state.reach)
        log_z, error = self._estimate(state)
        record = {
            "call": done,
            "objective": log_z,
            "standard_error": error,
            "seconds": time.perf_counter() - begin + (state.trace[-1]["seconds"] if state.trace else 0.0),
        }
        reason = f"{done:,} sweeps are done" if done >= self.sweeps else ""
        return replace(state, trace=(*state.trace, record), reason=reason)

    def _more(self, state: ChibState) -> ChibState:
        sites, x, rng = state.sites, state.x.copy(), self._rng(1 + len(state.reach))
        reach, means = [], np.zeros(state.sites.potentials.unary.shape)
        for _ in range(min(BATCH, self.sweeps - len(state.reach))):
            reach.append(sites.log_reach(x, state.goal))
            means = means + sites.sweep(x, rng).mean(0)
        means = means if state.means is None else state.means + means
        return replace(state, x=x, reach=(*state.reach, *reach), means=means)

    def _whole(self, state: ChibState) -> ChibState:
        """All places of every chain: a reversed sweep from s* at a random one, forth and back from it."""
        sites, rng = state.sites, self._rng(1)
        place = rng.integers(0, self.sweeps, CHAINS)
        first = np.repeat(state.goal[None], CHAINS, 0)
        sites.sweep(first, rng, back=True)
        states, rows = np.zeros((self.sweeps, *first.shape), np.int64), np.arange(CHAINS)
        means = np.zeros(state.sites.potentials.unary.shape)
        states[place, rows] = first
        for back in (False, True):
            x, at = first.copy(), place.copy()
            for _ in range(self.sweeps - 1):
                means = means + sites.sweep(x, rng, back).mean(0)
                at = at + (-1 if back else 1)
                held = (at >= 0) & (at < self.sweeps)
                states[at[held], rows[held]] = x[held]
        reach = tuple(sites.log_reach(x, state.goal) for x in states)
        # Sweeps beyond either end are as good as any for the means.
        return replace(state, reach=reach, means=means / (2 * (self.sweeps - 1)) * self.sweeps)

    def _estimate(self, state: ChibState) -> tuple[float, float]:
        weight = float(state.sites.potentials.value(state.goal))
        reach = np.stack(state.reach)
        if not self._unbiased:
            found = log_mean(reach.reshape(-1))
            return weight - found.log, found.error
        # Of each chain Z without bias: their mean has none either.
        logs = weight - (logsumexp(reach, axis=0) - np.log(len(reach)))
        log_z = float(logsumexp(logs) - np.log(CHAINS))
        return log_z, float(np.exp(logs - log_z).std(ddof=1) / np.sqrt(CHAINS))

    def answer(self, state: ChibState) -> Answer:
        """Means of the conditionals, edges as if independent, and log Z so far."""
        s = state.sites.potentials.structure
        if state.means is None:
            return unknown(s)
        unary = state.means / len(state.reach)
        table = unary[s.i][:, :, None] * unary[s.j][:, None, :]
        last = state.trace[-1] if state.trace else {}
        log_z, error = last.get("objective"), last.get("standard_error")
        return Answer(unary, table, log_z, None, standard_error=error)


__all__ = ["Chib"]

"""Exact sequential sampling from expected perturbed maxima, with rejection (Hazan, Maji and Jaakkola, Algorithm 1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz.exact.problem import Problem
from pmpviz.oracles.perturbed import expected_maxima, gumbels, table_of
from pmpviz.oracles.potentials import Potentials
from pmpviz.samplers._host import DrawState, Hashed, HostDraws
from pmpviz.samplers.gumbel_table import too_many_states
from pmpviz.types import Info, Param, Refusal, Spec, Style, Target, pytree

MAX_LOG_STATES = 12
MOST_RESTARTS = 1e5
# Attempts that a chain makes at once: the later ones are thrown away where an earlier one was accepted.
MOST_AT_ONCE = 64
REPAIRS = ("margin", "maximum")


def _why_not(target: Target) -> str | None:
    return too_many_states(target, MAX_LOG_STATES, "the unbiased sampler verifies the bounds of all prefixes")


SPEC = Spec(
    id="unbiased",
    label="Unbiased sampler",
    kind="draw",
    guarantee="exact",
    reversible=False,
    summary="Fixes one variable after another by ratios of expected perturbed maxima; what is missing to 1 rejects.",
    paper="Hazan, Maji and Jaakkola, Algorithm 1",
    metrics=("restarts",),
    update="variable drawn",
    jit=False,
    tile=lambda model: 256,
    why_not=_why_not,
    params=(
        Param(
            "bank",
            "Noise bank",
            100,
            20_000,
            1000,
            scale="int",
            unit="perturbations",
            help="Perturbations that every expected maximum is averaged over. More of them need less repair.",
        ),
        Param(
            "repair",
            "Repair",
            0,
            len(REPAIRS) - 1,
            "margin",
            scale="choice",
            choices=REPAIRS,
            advanced=True,
            help="Averages break the bounds here and there. margin adds the largest violation for every variable left;"
            " maximum raises only the bounds that are broken, and rejects less.",
        ),
    ),
    style=Style("#8A8A86", "dashdot", "square"),
)


@dataclass(frozen=True)
class Prefixes:
    """U of every prefix of the free variables: `bound[j]` has one axis for each of the first j, `bound[n]` is theta.

    `violations` of the `total` inequalities log sum_k exp U(prefix, k) <= U(prefix) did not hold for the averages;
    `margin` is the largest violation. Of the `bound` they all hold.
    """

    bound: list[Float[np.ndarray, "..."]]
    violations: int
    total: int
    margin: float

    @classmethod
    def of(cls, potentials: Potentials, noise: Float[np.ndarray, "m n k"], repair: str = "margin") -> Prefixes:
        """Average over the bank, count the violations, and repair.

        margin: U = U_hat + eps (variables left), eps the largest violation (or 0). maximum: U = max(U_hat, log sum exp
        U(children)), from the last variable to the first, which lies below it everywhere.
        """
        found, _ = expected_maxima(np.asarray(table_of(potentials)), noise)
        excess = [_log_sum(child) - own for own, child in zip(found, found[1:], strict=False)]
        margin = max((float(each.max()) for each in excess), default=0.0)
        violated = int(sum((each > 0).sum() for each in excess))
        if repair == "margin":
            eps, n = max(margin, 0.0), len(found) - 1
            bound = [each + eps * (n - j) for j, each in enumerate(found)]
        else:
            bound = [found[-1]]
            for own in reversed(found[:-1]):
                bound.insert(0, np.maximum(own, _log_sum(bound[0])))
        return cls(bound, violated, sum(each.size for each in excess), margin)

    @property
    def log_z(self) -> float:
        """Of the free variables, by enumeration."""
        return float(np.logaddexp.reduce(self.bound[-1], axis=None))

    @property
    def acceptance(self) -> float:
        """Z / exp(U(root)): the probability that an attempt reaches the last variable."""
        return float(np.exp(self.log_z - self.bound[0]))

    @property
    def shares(self) -> Float[np.ndarray, " n+1"]:
        """sum exp U over all prefixes of j variables, as a share of exp U(root): how many attempts get so far."""
        return np.exp([np.logaddexp.reduce(each, axis=None) - self.bound[0] for each in self.bound])

    def attempt(self, u: Float[np.ndarray, "a n"]) -> tuple[Int[np.ndarray, " a"], Int[np.ndarray, " a"]]:
        """(variables fixed before the rejection, or n; number of the state) of attempts with these uniforms."""
        depth, path = self.walk(u)
        return depth, path[:, -1]

    def walk(self, u: Float[np.ndarray, "a n"]) -> tuple[Int[np.ndarray, " a"], Int[np.ndarray, "a n+1"]]:
        """(variables fixed, number of the prefix of each length on the way; 0 beyond the rejection)."""
        path, depth = np.zeros((len(u), len(self.bound)), np.int64), np.full(len(u), len(self.bound) - 1)
        alive = np.ones(len(u), bool)
        for j, (own, child) in enumerate(zip(self.bound, self.bound[1:], strict=False)):
            states, place = child.shape[-1], path[:, j]
            rows = child.reshape(-1, states)[place]
            below = np.exp(rows - own.reshape(-1)[place][:, None]).cumsum(1)
            chosen = (u[:, j, None] >= below).sum(1)
            rejected = alive & (chosen == states)
            depth[rejected] = j
            alive &= ~rejected
            path[:, j + 1] = np.where(alive, place * states + np.minimum(chosen, states - 1), 0)
        return depth, path


@pytree
class UnbiasedSampler(HostDraws):
    """p_j(x_j) = exp U(x_1..x_j) / exp U(x_1..x_{j-1}), and rejection with the rest of the probability.

    One stored value a prefix serves as numerator and as the next denominator, U of a full configuration is theta, and
    log sum exp U(children) <= U(prefix) is verified on all prefixes: an accepted x then has probability
    exp(theta(x) - U(root)), in proportion to exp theta(x), whatever the noise bank is. `restarts` counts the
    rejections before each draw; an attempt is accepted with probability Z / exp(U(root)).
    """

    bank: Int[Array, ""] = 1000
    repair: Int[Array, ""] = 0
    spec = SPEC

    def step_tile(self, keys: Array, target: Target, state: DrawState) -> tuple[DrawState, Info]:
        """The next draw, and the rejections before it."""
        state, _ = super().step_tile(keys, target, state)
        info: dict[str, Any] = {"restarts": self._draws(target, state)[1].astype(np.float32)}
        return state, info

    def position_tile(self, target: Target, state: DrawState) -> Int8[np.ndarray, "t n"]:
        """The draws; raises Refusal beyond 2^12 states and where an attempt is hardly ever accepted."""
        return self._draws(target, state)[0]

    def prefixes(self, target: Target, words: Int[np.ndarray, " 2"]) -> Prefixes:
        """The bounds of a tile whose first chain has these key words."""
        seed = (int(words[0]), int(words[1]))
        return _prefixes(Hashed(target), seed, int(self.bank), REPAIRS[int(self.repair)])[1]

    def _draws(self, target: Target, state: DrawState) -> tuple[np.ndarray, np.ndarray]:
        seed = (int(state.words[0, 0]), int(state.words[0, 1]))
        bank = int(self.bank), REPAIRS[int(self.repair)]
        return _draws(Hashed(target), seed, *bank, int(state.draw), len(state.words))


def _log_sum(children: Float[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    """log sum_k exp over the last axis."""
    return np.logaddexp.reduce(children, axis=-1)


@lru_cache(maxsize=256)
def _prefixes(hashed: Hashed, seed: tuple[int, int], bank: int, repair: str) -> tuple[Problem, Prefixes]:
    if reason := _why_not(hashed.target):
        raise Refusal(reason)
    potentials, problem = Potentials.of_target(hashed.target)
    noise = gumbels(np.random.default_rng([*seed, 0]), bank, potentials.structure)
    prefixes = Prefixes.of(potentials, noise, repair)
    if prefixes.acceptance * MOST_RESTARTS < 1:
        raise Refusal(f"one attempt in {1 / prefixes.acceptance:,.0f} would be accepted; enlarge the noise bank")
    return problem, prefixes


@lru_cache(maxsize=256)
def _draws(hashed: Hashed, seed: tuple[int, int], bank: int, repair: str, draw: int, chains: int):
    """(configurations [t, n], rejections before them [t]), from one generator a tile and draw."""
    problem, prefixes = _prefixes(hashed, seed, bank, repair)
    rng, n = np.random.default_rng([*seed, 1, draw]), len(prefixes.bound) - 1
    ahead = int(min(MOST_AT_ONCE, np.ceil(1 / prefixes.acceptance)))
    place, restarts = np.zeros(chains, np.int64), np.zeros(chains, np.int64)
    waiting = np.arange(chains)
    while len(waiting):
        depth, last = prefixes.attempt(rng.random((len(waiting) * ahead, n)))
        accepted = (depth == n).reshape(-1, ahead)
        done, first = accepted.any(1), accepted.argmax(1)
        restarts[waiting] += np.where(done, first, ahead)
        place[waiting[done]] = last.reshape(-1, ahead)[done, first[done]]
        waiting = waiting[~done]
    states = np.stack(np.unravel_index(place, prefixes.bound[-1].shape), 1) if n else np.zeros((chains, 0))
    x = problem.all_states(states)
    x.setflags(write=False)
    return x, restarts

"""Exact draws by one Gumbel number for every state (Papandreou and Yuille 2011; Hazan and Jaakkola 2012)."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float, Int8

from pmpviz.exact.enumeration import log_weights
from pmpviz.exact.possible import NOTHING_POSSIBLE
from pmpviz.exact.problem import Problem
from pmpviz.oracles.potentials import Potentials
from pmpviz.samplers._host import DrawState, Hashed, HostDraws
from pmpviz.types import InputError, Refusal, Spec, Style, Target, pytree

MAX_LOG_STATES = 16
REASON = "full-table Gumbel draws one number for each"
# Numbers drawn at once: chains x states.
CELLS = 1 << 20


def _why_not(target: Target) -> str | None:
    if found := _too_many(target, MAX_LOG_STATES, REASON):
        return found
    try:
        _table(Hashed(target))
    except InputError as refused:
        return str(refused)
    return None


def too_many_states(target: Target, most: int, reason: str) -> str | None:
    """Why a target of pairs has no table of at most 2^most states; None where it has. `reason` says what for."""
    if found := _too_many(target, most, reason):
        return found
    try:
        problem = Problem.of(target)
        if problem.quadratic is None:
            Potentials.of_problem(problem)
    except InputError as refused:
        return str(refused)
    return None


def _too_many(target: Target, most: int, reason: str) -> str | None:
    space, free = getattr(target.model, "space", None), ~np.asarray(target.evidence.mask)
    log_states = 0.0 if space is None else float(np.log2(np.array(space.card, np.float64)[free]).sum())
    if log_states <= most:
        return None
    return f"{reason} of the 2^{log_states:.0f} states of this model; it can for at most 2^{most}"


SPEC = Spec(
    id="gumbel_table",
    label="Full-table Gumbel",
    kind="draw",
    guarantee="exact",
    reversible=False,
    summary="Adds an independent Gumbel number to the log-weight of every state and takes the largest.",
    paper="Hazan, Maji and Jaakkola 2013, MAP perturbations and Gibbs distributions",
    update="state weighed",
    jit=False,
    tile=lambda model: 64,
    why_not=_why_not,
    style=Style("#8A8A86", "dot", "diamond"),
)


@pytree
class GumbelTable(HostDraws):
    """x = argmax over all states of theta(x) + gamma(x), gamma(x) ~ Gumbel: then p(x) = exp(theta(x)) / Z exactly.

    The perturbation has as many dimensions as there are states, so that a model of 16 spins takes 65,536 numbers a
    draw: what perturb-and-MAP saves by perturbing single variables, at the price of its exactness.
    """

    spec = SPEC

    def position_tile(self, target: Target, state: DrawState) -> Int8[np.ndarray, "t n"]:
        """The draws, from one generator a tile and draw; raises Refusal beyond 2^16 states."""
        problem, theta = _table(Hashed(target))
        rng = np.random.default_rng([*state.words[0].tolist(), int(state.draw)])
        rows = max(1, CELLS // theta.size)
        chains = len(state.words)
        parts = [_best(rng, theta.ravel(), min(rows, chains - at)) for at in range(0, chains, rows)]
        return problem.all_states(np.stack(np.unravel_index(np.concatenate(parts), theta.shape), 1))


def _best(rng: np.random.Generator, theta: Float[np.ndarray, " states"], count: int) -> np.ndarray:
    return (theta + rng.gumbel(size=(count, len(theta)))).argmax(1)


@lru_cache(maxsize=8)
def _table(hashed: Hashed) -> tuple[Problem, Float[np.ndarray, "..."]]:
    """The free variables' problem and theta of all their states but for the constant."""
    if found := _too_many(hashed.target, MAX_LOG_STATES, REASON):
        raise Refusal(found)
    problem = Problem.of(hashed.target)
    theta = np.atleast_1d(log_weights(problem))
    if np.isneginf(theta + problem.constant).all():
        raise InputError(NOTHING_POSSIBLE)
    return problem, theta

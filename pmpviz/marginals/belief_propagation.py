"""Loopy belief propagation and its tree-reweighted form, parallel and damped, any number of states."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy
from jaxtyping import Float, Int

from pmpviz.marginals.factor_messages import FactorMessages
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.solver import Answer, MarginalSolver, Record
from pmpviz.marginals.trw import TreeReweighted, best_tree, edge_strength, is_forest, matrix_tree
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.potentials import Potentials, Structure
from pmpviz.types import Param, Spec, Style

# No edge is lighter than this share of the heaviest when spanning trees are drawn.
LEAST_WEIGHT = 1e-6
# How it begins to be said that messages were stopped before they came to rest.
UNSETTLED = "the messages still change"
# The objective is recorded after each of the first sweeps, then now and then.
DENSE, SPARSE = 64, 32

_SHARED = (
    Param("damping", "Damping", 0.0, 0.99, 0.5, help="Share of the old log message that is kept."),
    Param("sweeps", "Most sweeps", 1, 20_000, 5_000, "int", "Parallel updates of all messages, for each rho."),
    Param("tolerance", "Tolerance", 1e-12, 1.0, 1e-6, "log", "Ends where no log message changes by more than this."),
)


@dataclass(frozen=True, eq=False)
class Messages:
    """Directed edges of a structure: 2 e of them, edge k from i to j first, then all the other way.

    `into[n, 2e]` sums messages at their receivers; `reverse[d]` is the same edge the other way.
    """

    structure: Structure

    @cached_property
    def sender(self) -> Int[np.ndarray, " d"]:
        """The node that each message comes from: those along the edges, then those against them."""
        return np.concatenate([self.structure.i, self.structure.j])

    @cached_property
    def receiver(self) -> Int[np.ndarray, " d"]:
        """The node that each message goes to."""
        return np.concatenate([self.structure.j, self.structure.i])

    @cached_property
    def reverse(self) -> Int[np.ndarray, " d"]:
        """The place of the message the other way along the same edge."""
        return np.roll(np.arange(len(self.sender)), len(self.structure.i))

    @cached_property
    def into(self) -> scipy.sparse.csr_array:
        """What adds messages up at the nodes they go to."""
        count = len(self.receiver)
        return scipy.sparse.csr_array(
            (np.ones(count), (self.receiver, np.arange(count))), shape=(self.structure.n, count)
        )

    @cached_property
    def missing(self) -> Float[np.ndarray, "n k"]:
        """-inf where a state does not exist."""
        return np.where(self.structure.valid, 0.0, -np.inf)


@dataclass(frozen=True, eq=False)
class MessageState:
    """Log messages [2e, K] into the receivers, each with maximum 0, at one rho; `reason` says why it ended."""

    potentials: Potentials
    layout: Messages
    rho: Float[np.ndarray, " e"]
    message: Float[np.ndarray, "d k"]
    sweeps: int = 0
    sweeps_here: int = 0
    rho_update: int = 0
    residual: float = np.inf
    best_bound: float = np.inf
    best_rho: Float[np.ndarray, " e"] | None = None
    trace: tuple[Record, ...] = ()
    reason: str = ""

    @cached_property
    def exponent(self) -> Float[np.ndarray, " d"]:
        """rho of every directed edge."""
        return np.concatenate([self.rho, self.rho])

    @cached_property
    def pull(self) -> Float[np.ndarray, "n k"]:
        """theta_i + sum_k rho_ki m_ki, -inf where a state does not exist."""
        gathered = self.layout.into @ (self.exponent[:, None] * self.message)
        return self.potentials.unary + gathered + self.layout.missing

    @cached_property
    def table(self) -> Float[np.ndarray, "d k k"]:
        """theta_ij / rho_ij of every directed edge, the sender's state first."""
        scaled = self.potentials.table / self.rho[:, None, None]
        return np.concatenate([scaled, scaled.swapaxes(1, 2)])

    def updated(self) -> Float[np.ndarray, "d k"]:
        """m_ij(x_j) = log sum_{x_i} exp(theta_ij / rho_ij + theta_i + sum_k rho_ki m_ki - m_ji), maximum 0."""
        sent = self.pull[self.layout.sender] - self.message[self.layout.reverse]
        total = sent[:, :, None] + self.table
        top = total.max(1, keepdims=True, initial=-np.inf)
        top[np.isneginf(top)] = 0.0
        with np.errstate(divide="ignore"):
            fresh = np.log(np.exp(total - top).sum(1)) + top[:, 0]
        fresh -= fresh.max(1, keepdims=True, initial=-np.inf)
        return np.where(self.potentials.structure.valid[self.layout.receiver], fresh, 0.0)

    def beliefs(self) -> tuple[Float[np.ndarray, "n k"], Float[np.ndarray, "e k k"]]:
        """Pseudo-marginals of the variables and of the edges; they agree with each other at a fixed point."""
        return np.exp(self.log_node), np.exp(self.log_edge)

    @cached_property
    def log_node(self) -> Float[np.ndarray, "n k"]:
        """log b_i, up to b_i's sum of 1."""
        return _log_normalised(self.pull)

    @cached_property
    def log_edge(self) -> Float[np.ndarray, "e k k"]:
        """log b_ij: theta_ij / rho_ij and what each end is told by all but the other."""
        s, half = self.potentials.structure, len(self.rho)
        left, right = self.pull[s.i] - self.message[half:], self.pull[s.j] - self.message[:half]
        log = self.table[:half] + left[:, :, None] + right[:, None, :]
        return _log_normalised(log.reshape(half, s.states**2)).reshape(log.shape)

    def bound(self) -> float:
        """An upper bound of log Z by any messages, at rest or not, for rho in the spanning tree polytope.

        theta(x) = C + E_T log p_T(x), p_T = prod b_i prod_T b_ij / (b_i b_j), is exact for the beliefs of any messages,
        so that log Z <= C + E_T log Z_T. Summed out from the leaves, an edge of a tree brings at most the largest
        sum_{x_j} b_ij / b_i or sum_{x_i} b_ij / b_j, which is 1 at a fixed point.
        """
        s, half = self.potentials.structure, len(self.rho)
        node, edge = self.log_node, self.log_edge
        x = node.argmax(1)
        own, pairs = node[np.arange(s.n), x], edge[np.arange(half), x[s.i], x[s.j]]
        constant = float(self.potentials.value(x)) - float(own.sum() + self.rho @ (pairs - own[s.i] - own[s.j]))
        with np.errstate(invalid="ignore"):
            ratios = (np.logaddexp.reduce(edge, 2) - node[s.i], np.logaddexp.reduce(edge, 1) - node[s.j])
        pairs_of = zip((s.i, s.j), ratios, strict=True)
        excess = [np.where(s.valid[v], ratio, -np.inf).max(1, initial=-np.inf) for v, ratio in pairs_of]
        return constant + float(self.rho @ np.maximum(*excess))

    def log_z(self) -> float:
        """<theta, mu> + entropy at the beliefs: Bethe's where all rho are 1, otherwise TRW's."""
        cells = Cells(self.potentials.structure)
        objective = TreeReweighted.of(self.potentials, self.rho)
        return objective.value(cells.flat(*self.beliefs()))


def _log_normalised(log: Float[np.ndarray, "r c"]) -> Float[np.ndarray, "r c"]:
    return log - np.logaddexp.reduce(log, 1, keepdims=True)


@dataclass(frozen=True)
class BeliefPropagation(MarginalSolver):
    """Sum-product with damping, m <- damping m + (1 - damping) m' in logs; log Z is minus Bethe's free energy.

    Exact on trees; elsewhere approximate, without any bound, and it need not converge. Raises nothing of its own.
    """

    damping: float = 0.5
    sweeps: int = 5_000
    tolerance: float = 1e-6
    spec = Spec(
        id="bp",
        label="Belief propagation",
        short="BP",
        style=Style("#A0522D", "dot", "triangle"),
        kind="solver",
        guarantee="approximate",
        reversible=False,
        summary="Sends sum-product messages until they stop changing; its log Z is Bethe's, and bounds nothing.",
        paper="Pearl 1988; Yedidia, Freeman and Weiss 2001",
        update="sweep of all messages",
        jit=False,
        metrics=("residual", "objective"),
        params=_SHARED,
    )

    def start(self, potentials: Potentials) -> MessageState:
        """All messages 0."""
        return _start(potentials, np.ones(len(potentials.structure.i)))

    def start_factors(self, factors: Factors) -> FactorMessages:
        """All messages 0, on the factors as they are."""
        return FactorMessages.of(factors)

    def resume(self, state: MessageState, potentials: Potentials) -> MessageState:
        """The messages that there are."""
        return replace(self.start(potentials), message=state.message, layout=state.layout)

    def step(self, state: MessageState | FactorMessages) -> MessageState | FactorMessages:
        """One parallel update of all messages."""
        if state.reason:
            return state
        if isinstance(state, FactorMessages):
            state = state.swept(self.damping, _is_shown(len(state.trace) + 1))
        else:
            state = _sweep(state, self.damping)
        if state.residual <= self.tolerance:
            return replace(state, reason="the messages have stopped changing")
        if len(state.trace) >= self.sweeps:
            return replace(state, reason=_unsettled(state.residual, len(state.trace)))
        return state

    def answer(self, state: MessageState | FactorMessages) -> Answer:
        """The beliefs and Bethe's log Z."""
        if isinstance(state, FactorMessages):
            unary = state.marginals()
            return Answer(unary, np.zeros((0, *unary.shape[1:] * 2)), state.log_z(), None)
        unary, table = state.beliefs()
        return Answer(unary, table, state.log_z(), None)


@dataclass(frozen=True)
class TreeReweightedBeliefPropagation(MarginalSolver):
    """Tree-reweighted belief propagation (Wainwright, Jaakkola and Willsky 2005): TRW over the local polytope.

    Messages at rest maximise the objective; a bound on log Z holds at every sweep (see `MessageState.bound`). After
    convergence rho takes a step 2 / (i + 3) to the spanning tree of largest mutual information, `rho_updates` times;
    the best bound of all is kept.
    """

    damping: float = 0.5
    sweeps: int = 5_000
    tolerance: float = 1e-6
    rho_updates: int = 0
    spec = Spec(
        id="trbp",
        label="Tree-reweighted belief propagation",
        short="TRBP",
        style=Style("#1B8A8A", "dash", "square"),
        kind="solver",
        guarantee="bound",
        reversible=False,
        summary="Messages that maximise the tree-reweighted objective over the local polytope; a bound at every sweep.",
        paper="Wainwright, Jaakkola and Willsky 2005",
        update="sweep of all messages",
        jit=False,
        metrics=("residual", "objective", "bound"),
        params=(*_SHARED, Param("rho_updates", "Updates of rho", 0, 100, 0, "int", "Steps to better spanning trees.")),
    )

    def start(self, potentials: Potentials) -> MessageState:
        """All messages 0, rho by the matrix-tree theorem; no edge is left out, since its table is divided by rho."""
        strength = edge_strength(potentials)
        weight = np.maximum(strength, LEAST_WEIGHT * strength.max(initial=0.0))
        weight = weight if weight.any() else np.ones(len(weight))
        return _start(potentials, matrix_tree(potentials.structure, weight))

    def resume(self, state: MessageState, potentials: Potentials) -> MessageState:
        """The messages and the rho that there are."""
        return replace(_start(potentials, state.rho), message=state.message, layout=state.layout)

    def step(self, state: MessageState) -> MessageState:
        """One parallel update of all messages, or a new rho where they have stopped changing."""
        if state.reason:
            return state
        if state.residual <= self.tolerance:
            return self._tighten(state)
        state = _sweep(state, self.damping)
        settled = state.residual <= self.tolerance
        over = state.sweeps_here >= self.sweeps or settled
        state = _with_bound(state) if over or _is_shown(state.sweeps) else state
        if settled and (state.rho_update >= self.rho_updates or is_forest(state.rho)):
            return replace(state, reason="the messages have stopped changing")
        if state.sweeps_here >= self.sweeps and not settled:
            return replace(state, reason=_unsettled(state.residual, state.sweeps_here))
        return state

    def _tighten(self, state: MessageState) -> MessageState:
        structure = state.potentials.structure
        cells, objective = Cells(structure), TreeReweighted.of(state.potentials, state.rho)
        tree = best_tree(structure, objective.information(cells.flat(*state.beliefs())))
        rho = state.rho + 2.0 / (state.rho_update + 3.0) * (tree - state.rho)
        begun = {"rho": rho, "rho_update": state.rho_update + 1, "sweeps_here": 0, "residual": np.inf}
        return replace(state, **begun)

    def answer(self, state: MessageState) -> Answer:
        """The beliefs, the best bound of all sweeps, and the objective of its rho at the beliefs, at most the bound.

        Only beliefs at rest are locally consistent: before, the objective may exceed its maximum over those that are.
        """
        unary, table = state.beliefs()
        if not np.isfinite(state.best_bound) or state.best_rho is None:
            return Answer(unary, table, state.log_z(), None)
        log_z = TreeReweighted.of(state.potentials, state.best_rho).value(
            Cells(state.potentials.structure).flat(unary, table)
        )
        return Answer(unary, table, min(log_z, state.best_bound), state.best_bound)


def _with_bound(state: MessageState) -> MessageState:
    """The state with the bound, and the best so far, in its last record."""
    bound = state.bound()
    best_rho = state.rho if bound < state.best_bound else state.best_rho
    best = min(bound, state.best_bound)
    record = {**state.trace[-1], "bound": bound, "best_bound": best}
    return replace(state, best_bound=best, best_rho=best_rho, trace=(*state.trace[:-1], record))


def _start(potentials: Potentials, rho: Float[np.ndarray, " e"]) -> MessageState:
    layout = Messages(potentials.structure)
    message = np.zeros((2 * len(rho), potentials.structure.states))
    return MessageState(potentials, layout, rho, message)


def _sweep(state: MessageState, damping: float) -> MessageState:
    begin = time.perf_counter()
    fresh = state.updated()
    residual = float(np.abs(fresh - state.message).max(initial=0.0))
    mixed = state.message + (1.0 - damping) * (fresh - state.message)
    before = state.trace[-1]["seconds"] if state.trace else 0.0
    counts = {"sweeps": state.sweeps + 1, "sweeps_here": state.sweeps_here + 1}
    state = replace(state, message=mixed, residual=residual, **counts)
    record = {
        "call": state.sweeps,
        "rho_update": state.rho_update,
        "residual": residual,
        "objective": state.log_z() if _is_shown(state.sweeps) else None,
        "seconds": before + time.perf_counter() - begin,
    }
    return replace(state, trace=(*state.trace, record))


def _is_shown(sweep: int) -> bool:
    """Whether the objective is worked out after this sweep: it costs more than the sweep."""
    return sweep <= DENSE or sweep % SPARSE == 0


def _unsettled(residual: float, sweeps: int) -> str:
    return f"{UNSETTLED} by {residual:.2g} after {sweeps} sweeps"


__all__ = ["UNSETTLED", "BeliefPropagation", "TreeReweightedBeliefPropagation"]

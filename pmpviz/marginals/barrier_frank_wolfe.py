"""Barrier Frank-Wolfe: the tree-reweighted objective maximised by MAP calls (Krishnan, Lacoste-Julien, Sontag 2015)."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from pmpviz.marginals.active_set import ActiveSet
from pmpviz.marginals.frank_wolfe_state import FrankWolfeState, began_possible, called, inside, visited_with
from pmpviz.marginals.polytope import dot
from pmpviz.marginals.solver import Answer, MarginalSolver
from pmpviz.marginals.trw import TreeReweighted, best_tree, first_rho, is_forest
from pmpviz.oracles import ORACLES, make_oracle, oracle_class
from pmpviz.oracles.factors import Factors
from pmpviz.oracles.icm import descend
from pmpviz.oracles.oracle import MapOracle
from pmpviz.oracles.potentials import Potentials
from pmpviz.oracles.reduction import Reduction
from pmpviz.types import Param, Refusal, Spec, Style

CONTRACTIONS = ("adaptive", "fixed", "none")
CORRECTIONS = ("every step", "after rho", "never")
POLYTOPES = ("marginal", "local")
RHO_STEPS = ("fixed", "line search")
# Halvings of the interval of a step of rho.
HALVINGS = 6
LOCAL_GAP = 0.5
# Where the gap falls below this many tolerances, corrections are made finer.
CLOSE, FINER = 2.0, 0.2
INSTEAD = "exact MAP calls would be too large: TRW-S's upper bounds take their place"
# The last correction: at most this contraction, and the tolerance as a share of the gap's.
LAST_DELTA, LAST = 1e-4, 0.01

SPEC = Spec(
    id="barrier_frank_wolfe",
    label="Barrier Frank-Wolfe",
    short="FW",
    style=Style("#7B4FB5", "solid", "circle"),
    kind="solver",
    guarantee="bound",
    reversible=False,
    summary="Walks between best (MAP) configurations inside the marginal polytope; exact calls prove log Z ≤ a bound.",
    paper="Barrier Frank-Wolfe for Marginal Inference, Algorithms 1 and 2",
    update="MAP call",
    jit=False,
    metrics=("gap", "found_gap", "bound", "objective", "lower", "delta"),
    params=(
        Param("oracle", "MAP oracle", 0, 0, "exact", "choice", "Solves the linear problem of every step.",
              choices=ORACLES.ids),
        Param("contraction", "Barrier", 0, 0, "adaptive", "choice",
              "Keeps the iterates off the faces by a contraction: delta shrinks by Algorithm 1, stays, or is 0.",
              choices=CONTRACTIONS),
        Param("delta", "Contraction delta", 1e-8, 0.25, 0.05, "log",
              "Where delta starts (adaptive), or what it is (fixed)."),
        Param("correction", "Correction", 0, 0, "every step", "choice",
              "When the weights of the visited vertices are reoptimised.", choices=CORRECTIONS),
        Param("local_search", "Local search", 0, 1, False, "bool",
              "Adds vertices by iterated conditional modes between MAP calls."),
        Param("local_steps", "Local steps", 1, 30, 30, "int", "Of the local search between two MAP calls, at most.",
              advanced=True),
        Param("polytope", "Polytope", 0, 0, "marginal", "choice",
              "The marginal polytope by the oracle, or the local polytope by its linear program.", choices=POLYTOPES),
        Param("seconds", "Time limit", 0.1, 3600.0, 10.0, "log",
              "Of each MAP call, for oracles that keep to one (toulbar2, SCIP).", "s", advanced=True),
        Param("tolerance", "Gap to reach", 1e-4, 100.0, 0.5, "log", "A rho is done when its gap is at most this."),
        Param("rho_updates", "Updates of rho", 0, 100, 10, "int", "Steps towards better spanning trees."),
        Param("rho_step", "Step of rho", 0, 0, "fixed", "choice",
              "2 / (i + 3), or as far as lowers the maximum over the visited vertices the most.", choices=RHO_STEPS,
              advanced=True),
        Param("calls_per_rho", "MAP calls a rho", 1, 10_000, 200, "int", "A rho is given up after this many."),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class BarrierFrankWolfe(MarginalSolver):
    """max over mu in M of TRW(mu; theta, rho), mu_{k+1} = mu_k + gamma ((1 - delta) s + delta u_0 - mu_k), with
    s = argmax over configurations of <grad TRW(mu_k), s> from a MAP oracle and gamma from an exact line search.

    At one mu, with the gap g = <grad, s - mu> over the whole polytope, log Z <= TRW(mu) + g where the oracle is exact,
    log Z <= TRW(mu) + u - <grad, mu> where it proves the upper bound u only (Appendix J), and nothing otherwise.
    The walk itself goes by the gap towards the vertex found (`found_gap`), which is that gap with an exact oracle and
    says nothing with a heuristic. After each that is within `tolerance`, rho takes a Frank-Wolfe step 2 / (i + 3) to
    the spanning tree of largest mutual information (the paper prints i / (i + 2), whose first step is empty; its code
    has this one), or by `rho_step` = line search as far as lowers the maximum over the visited vertices the most.
    Choices may be given by name or by number.
    """

    oracle: int | str = "exact"
    contraction: int | str = "adaptive"
    delta: float = 0.05
    correction: int | str = "every step"
    local_search: bool = False
    local_steps: int = 30
    polytope: int | str = "marginal"
    seconds: float = 10.0
    tolerance: float = 0.5
    rho_updates: int = 10
    rho_step: int | str = "fixed"
    calls_per_rho: int = 200
    spec = SPEC

    def __post_init__(self):
        for param in SPEC.params:
            value = getattr(self, param.name)
            if param.scale == "choice" and not isinstance(value, str):
                object.__setattr__(self, param.name, param.choices[value])

    def solver(self) -> MapOracle:
        """The oracle of the polytope that is walked in."""
        name = "linear_program" if self.polytope == "local" else str(self.oracle)
        limited = any(param.name == "seconds" for param in oracle_class(name).spec.params)
        return make_oracle(name, seconds=self.seconds) if limited else make_oracle(name)

    def why_not(self, potentials: Potentials) -> str | None:
        """The oracle's own reason."""
        oracle = self.solver()
        if oracle.spec.id == "graph_cut":
            return "a graph cut cannot follow this walk, whose gradients repel where the model attracts; choose qpbo"
        reason = oracle.spec.why_not(potentials)
        return None if reason is None else f"{oracle.spec.label} cannot run here: {reason}"

    def start(self, potentials: Potentials) -> FrankWolfeState:
        """The uniform point, with the first rho; raises Refusal with the oracle's reason.

        Where tables hold zeros and the oracle is exact, a possible configuration, at which nothing forbidden has a
        share; raises InputError where there is none.
        """
        if (reason := self.why_not(potentials)) is not None:
            raise Refusal(reason)
        rho = first_rho(potentials)
        oracle = self.solver()
        delta = 0.0 if self.contraction == "none" else self.delta
        if (
            potentials.structure.forbidden is not None
            and oracle.spec.promise == "exact"
            and self.polytope == "marginal"
        ):
            solution = oracle.solve(potentials)
            if solution.exact:
                return began_possible(
                    FrankWolfeState(oracle, potentials, *inside(potentials, rho, solution), delta), solution
                )
        objective = TreeReweighted.of(potentials, rho)
        active = ActiveSet.uniform(objective.cells)
        return FrankWolfeState(oracle, potentials, objective, active, active.point, delta)

    def begin(self, given: Potentials | Factors) -> FrankWolfeState:
        """The same of factors too, as pairs; where all is too large for exact calls, TRW-S proves bounds."""
        potentials = Reduction.of(given).potentials if isinstance(given, Factors) else given
        if self.oracle == "exact" and self.polytope == "marginal" and self.why_not(potentials) is not None:
            return replace(replace(self, oracle="trws").start(potentials), words=INSTEAD)
        return self.start(potentials)

    def resume(self, state: FrankWolfeState, potentials: Potentials) -> FrankWolfeState:
        """The walk goes on from its mu, its best rho and the visited vertices that mu is made of."""
        rho = state.objective.rho if state.best_rho is None else state.best_rho
        objective, active = TreeReweighted.of(potentials, rho, state.objective.barred), state.active.used()
        delta = 0.0 if self.contraction == "none" else self.delta
        return FrankWolfeState(
            state.oracle, potentials, objective, active, active.point, delta, solution=state.solution
        )

    def step(self, state: FrankWolfeState) -> FrankWolfeState:
        """One MAP call and what follows from it: a step in mu, or a new rho where the gap is small enough."""
        if state.reason:
            return state
        begin = time.perf_counter()
        before = state
        gradient = state.objective.gradient(state.mu)
        state, gap = called(state, gradient, self.polytope == "local")
        state, gamma, corrected = self._advance(state.attaining(before.mu), gap, gradient)
        state = state.attaining(state.mu)
        record = self._record(before, state, gap) | {"gamma": gamma, "corrections": corrected}
        record["seconds"] = time.perf_counter() - begin + (before.trace[-1]["seconds"] if before.trace else 0.0)
        return replace(state, trace=(*state.trace, record))

    def _advance(self, state: FrankWolfeState, gap: float, gradient) -> tuple[FrankWolfeState, float, int]:
        if gap <= self.tolerance or state.calls_here >= self.calls_per_rho:
            return *self._tighten(state, gap), 0
        return self._move(state, gap, gradient)

    def _tighten(self, state: FrankWolfeState, gap: float) -> tuple[FrankWolfeState, float]:
        """A new rho, with mu reoptimised over the visited vertices; or the end, on a forest at once."""
        if state.rho_update >= self.rho_updates or is_forest(state.objective.rho):
            return self._polish(replace(state, reason=self._ending(state, gap))), 0.0
        s, rho = state.objective.cells.structure, state.objective.rho
        tree = best_tree(s, state.objective.information(state.mu))
        searched = self.rho_step == "line search"
        step = self.rho_search(state, tree) if searched else 2.0 / (state.rho_update + 3.0)
        rho = rho + step * (tree - rho)
        objective = state.objective.with_rho(rho)
        state = replace(state, objective=objective, rho_update=state.rho_update + 1, calls_here=0)
        if self.correction == "never":
            return state, 0.0
        return self._correct(state, gap)[0], 0.0

    def rho_search(self, state: FrankWolfeState, tree: Float[np.ndarray, " e"]) -> float:
        """argmin over t in [0, 1] of F(t) = max over mu of TRW(mu; theta, rho + t (tree - rho)), no MAP call.

        mu goes over the visited vertices alone. F is convex, with the slope -<tree - rho, I(mu(t))> at the maximum
        mu(t) (Danskin), I being the edges' mutual information: the interval is halved by its sign.
        """
        low, high, active, rho = 0.0, 1.0, state.active, state.objective.rho
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            objective = state.objective.with_rho(rho + middle * (tree - rho))
            active, _, _ = active.correct(objective, state.delta, FINER * self.tolerance)
            falling = float((tree - rho) @ objective.information(active.point)) > 0
            low, high = (middle, high) if falling else (low, middle)
        return (low + high) / 2

    def _ending(self, state: FrankWolfeState, gap: float) -> str:
        assert state.solution is not None
        if gap > self.tolerance:
            return f"the gap is still {gap:.3g} after {state.calls_here} MAP calls at this rho"
        if self.polytope == "local" or state.solution.exact:
            return f"the gap is within {self.tolerance:g}"
        return "the oracle finds no better configuration, which is no proof that there is none"

    def _move(self, state: FrankWolfeState, gap: float, gradient) -> tuple[FrankWolfeState, float, int]:
        if self.contraction == "adaptive":
            state = replace(state, delta=_adapted(state, gap, gradient))
        delta = state.delta
        vertex = (1.0 - delta) * state.active.points[state.row] + delta * state.active.points[0]
        direction = vertex - state.mu
        gamma = state.objective.line_search(state.mu, direction, 1.0)
        state = replace(state, active=state.active.step(state.row, gamma, delta), mu=state.mu + gamma * direction)
        corrected = 0
        if self.correction == "every step":
            state, corrected = self._correct(state, gap)
        if self.local_search and self.polytope == "marginal":
            state = _local_search(state, int(self.local_steps))
        return state, gamma, corrected

    def _correct(self, state: FrankWolfeState, gap: float) -> tuple[FrankWolfeState, int]:
        fine = FINER if abs(gap) <= CLOSE * self.tolerance else 1.0
        active, left, steps = state.active.correct(state.objective, state.delta, fine * self.tolerance)
        return replace(state, active=active, mu=active.point, correction_gap=left), steps

    def _polish(self, state: FrankWolfeState) -> FrankWolfeState:
        """The end: mu reoptimised finely over the visited vertices. No MAP call, no new bound.

        Where the contraction adapts it is let go of further, closer to the faces.
        """
        if self.correction == "never":
            return state
        delta = min(state.delta, LAST_DELTA) if self.contraction == "adaptive" else state.delta
        active, left, _ = state.active.correct(state.objective, delta, LAST * self.tolerance)
        return replace(state, active=active, mu=active.point, correction_gap=left)

    def _record(self, before: FrankWolfeState, state: FrankWolfeState, gap: float) -> dict:
        """What was found at the iterate that the MAP call was made at."""
        assert state.solution is not None
        value, bound = before.objective.value(before.mu), state.bound
        return {
            "call": state.calls,
            "rho_update": before.rho_update,
            "objective": value,
            "gap": None if bound is None else bound - value,
            "found_gap": gap,
            "bound": bound,
            "best_bound": state.best_bound if np.isfinite(state.best_bound) else None,
            "lower": state.lower,
            "delta": before.delta,
            "next_delta": state.delta,
            "exact": state.solution.exact,
            "notes": dict(state.solution.notes),
            "vertex": state.row,
            "new": len(state.active.weight) > len(before.active.weight),
            "vertices": len(state.active.weight) - 1,
        }

    def answer(self, state: FrankWolfeState) -> Answer:
        """The iterate's marginals; the bound is the best so far, log Z the objective of the bound's rho at the iterate.

        Of that rho the bound is above all values of the objective: the estimate never exceeds it. Nor is it below what
        the visited configurations weigh together, as the objective of a walk that is stopped early may be. None where
        mu has a share in what zeros forbid, of which the objective says nothing.
        """
        cells = state.objective.cells
        bound = state.best_bound if np.isfinite(state.best_bound) else None
        gap = state.trace[-1]["gap"] if state.trace else None
        unary, table = cells.unary(state.mu), cells.table(state.mu)
        objective = state.objective if state.best_rho is None else state.objective.with_rho(state.best_rho)
        lower, forbidden = state.lower, cells.structure.forbidden
        log_z: float | None = min(max(objective.value(state.mu), -np.inf if lower is None else lower), state.best_bound)
        if forbidden is not None and table[forbidden].any():
            log_z = None
        return Answer(unary, table, log_z, bound, lower, gap, state.calls)


def _adapted(state: FrankWolfeState, gap: float, gradient) -> float:
    """Algorithm 1: delta at most g / (-4 g_u) where the uniform gap g_u = <grad, u_0 - mu> is negative.

    It then falls to that or to half, whichever is less. A heuristic's gap may be negative: the last gap over the
    visited vertices, which is not, takes its place where it is larger.
    """
    uniform = float(dot(gradient, state.active.points[0] - state.mu))
    proposal = max(gap, state.correction_gap, 0.0) / (-4.0 * uniform) if uniform < 0 else np.inf
    return min(proposal, state.delta / 2.0) if proposal < state.delta else state.delta


def _local_search(state: FrankWolfeState, steps: int) -> FrankWolfeState:
    """Frank-Wolfe steps with iterated conditional modes for the oracle (Algorithm 6), from the last vertex on.

    At most so many, 30 in the paper's code; it ends where a vertex repeats or the gap falls under 0.5.
    """
    cells, x, seen = state.objective.cells, state.solution.x if state.solution is not None else None, set()
    for _ in range(steps):
        gradient = state.objective.gradient(state.mu)
        x = descend(state.objective.linear(gradient), x)
        vertex = cells.vertex(x)
        if not state.active.covers(vertex):
            break
        gap = float(dot(gradient, vertex - state.mu))
        if gap < LOCAL_GAP or x.tobytes() in seen:
            break
        seen.add(x.tobytes())
        active, row = state.active.with_vertex(vertex)
        contracted = (1.0 - state.delta) * vertex + state.delta * state.active.points[0]
        gamma = state.objective.line_search(state.mu, contracted - state.mu, 1.0)
        active = active.step(row, gamma, state.delta)
        state = replace(
            state, active=active, mu=state.mu + gamma * (contracted - state.mu), visited=visited_with(state, x)
        )
    return state


__all__ = ["BarrierFrankWolfe", "FrankWolfeState"]

"""An iterate of barrier Frank-Wolfe, and what a MAP call adds to it: a vertex, a bound, a configuration visited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float, Int8

from pmpviz.exact.possible import NOTHING_POSSIBLE
from pmpviz.marginals.active_set import ActiveSet
from pmpviz.marginals.polytope import Cells, dot
from pmpviz.marginals.solver import Record
from pmpviz.marginals.trw import TreeReweighted, is_forest
from pmpviz.oracles.oracle import MapOracle, Solution
from pmpviz.oracles.potentials import Potentials
from pmpviz.types import InputError


@dataclass(frozen=True, eq=False)
class FrankWolfeState:
    """One iterate. `visited` holds the log weights of the distinct configurations; `reason` says why it ended.

    `rho_update` counts the updates of rho, `calls` all MAP calls, `calls_here` those at this rho. `solution` is the
    oracle's last answer, `bound` what it certified, `row` its vertex in the active set, `correction_gap` the last gap
    over the visited vertices; `attained` is the best lower bound by the objective; `words` say what was done in place
    of what was asked for.
    """

    oracle: MapOracle
    potentials: Potentials
    objective: TreeReweighted
    active: ActiveSet
    mu: Float[np.ndarray, " d"]
    delta: float
    rho_update: int = 0
    calls: int = 0
    calls_here: int = 0
    bound: float | None = None
    best_bound: float = np.inf
    best_rho: Float[np.ndarray, " e"] | None = None
    correction_gap: float = 0.0
    visited: Mapping[bytes, float] = field(default_factory=dict)
    attained: float = -np.inf
    solution: Solution | None = None
    row: int = 0
    trace: tuple[Record, ...] = field(default=())
    reason: str = ""
    words: str = ""

    @property
    def lower(self) -> float | None:
        """A lower bound of log Z, at no cost: the log sum of the weights of the distinct configurations visited, or
        the best objective where that is one."""
        found = [np.logaddexp.reduce(list(self.visited.values()))] if self.visited else []
        best = max([*found, self.attained], default=-np.inf)
        return float(best) if np.isfinite(best) else None

    def attaining(self, mu: Float[np.ndarray, " d"]) -> FrankWolfeState:
        """The state that knows the objective at mu as a lower bound of log Z, where it is one.

        Without a loop mu are the marginals of one distribution q, q(x) = prod_i mu_i prod_ij mu_ij / (mu_i mu_j), and
        with all rho = 1 the objective is E_q[theta] + H(q) = log Z - KL(q || p). Not where q has a share in what zeros
        forbid.
        """
        s = self.potentials.structure
        if not is_forest(self.objective.rho):
            return self
        if s.forbidden is not None and self.objective.cells.table(mu)[s.forbidden].any():
            return self
        return replace(self, attained=max(self.attained, self.objective.value(mu)))


def inside(potentials: Potentials, rho, solution: Solution) -> tuple[TreeReweighted, ActiveSet, np.ndarray]:
    """Where a walk among possible configurations begins: objective, visited vertices, mu."""
    cells, forbidden = Cells(potentials.structure), potentials.structure.forbidden
    barred = cells.flat(np.zeros_like(potentials.unary), forbidden) > 0
    vertex = cells.vertex(solution.x)
    if barred[vertex > 0].any():
        raise InputError(NOTHING_POSSIBLE)
    active = ActiveSet.possible(cells, vertex)
    return TreeReweighted.of(potentials, rho, barred), active, active.point


def began_possible(state: FrankWolfeState, solution: Solution) -> FrankWolfeState:
    """log Z is at most the maximum and the log of the number of states, at least the weight of what was found."""
    states = np.log(np.array(state.potentials.structure.card, np.float64)).sum()
    assert solution.upper is not None
    bound = solution.upper + float(states)
    visited = visited_with(state, solution.x)
    return replace(state, solution=solution, visited=visited, calls=1, best_bound=bound, best_rho=state.objective.rho)


def called(state: FrankWolfeState, gradient, local: bool) -> tuple[FrankWolfeState, float]:
    """The oracle's vertex at this gradient put into the active set, and the gap towards it."""
    cells = state.objective.cells
    linear, last = state.objective.linear(gradient), state.solution
    solution = state.oracle.solve(linear) if last is None else state.oracle.solve_from(linear, last.x)
    if local and solution.relaxed is not None:
        vertex = cells.flat(*solution.relaxed)
    else:
        vertex = cells.vertex(solution.x)
    possible = state.objective.barred is None or not state.objective.barred[vertex > 0].any()
    active, row = state.active.with_vertex(vertex) if possible else (state.active, state.row)
    if not (local or solution.exact) and len(active.points) > 1:
        # A vertex visited before may be better than what a heuristic finds.
        row = 1 + int(active.slopes(gradient)[1:].argmax())
    gap = float(dot(gradient, active.points[row] - state.mu))
    bound = _bound(state, gradient, solution)
    if possible and not active.covers(vertex):
        # mu has no share yet in what this configuration has: no slope there, and no bound.
        active, bound = active.covered(vertex), None
    better = bound is not None and bound < state.best_bound
    return replace(
        state,
        bound=bound,
        active=active,
        mu=active.point if active.covering > state.active.covering else state.mu,
        row=row,
        solution=solution,
        visited=state.visited if local or not possible else visited_with(state, solution.x),
        calls=state.calls + 1,
        calls_here=state.calls_here + 1,
        best_bound=bound if better and bound is not None else state.best_bound,
        best_rho=state.objective.rho if better else state.best_rho,
    ), gap


def _bound(state: FrankWolfeState, gradient, solution: Solution) -> float | None:
    """TRW(mu) + u - <grad, mu>, u the proved upper bound of the linear problem; None where there is none.

    u - <grad, mu> is how much TRW can still rise, at most.
    """
    if solution.upper is None:
        return None
    return state.objective.value(state.mu) + solution.upper - float(dot(gradient, state.mu))


def visited_with(state: FrankWolfeState, x: Int8[np.ndarray, " n"]) -> Mapping[bytes, float]:
    """With a configuration among those visited; one that zeros forbid weighs nothing."""
    s, name = state.potentials.structure, x.tobytes()
    if s.forbidden is not None and s.forbidden[np.arange(len(s.i)), x[s.i], x[s.j]].any():
        return state.visited
    return state.visited if name in state.visited else {**state.visited, name: float(state.potentials.value(x))}


__all__ = ["FrankWolfeState", "began_possible", "called", "inside", "visited_with"]

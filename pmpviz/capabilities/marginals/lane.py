"""One lane of a live inference: its state, the configurations that it has met, and its path through the polytope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Int8

from pmpviz.capabilities.marginals.kept import Then
from pmpviz.capabilities.marginals.plan import MANY
from pmpviz.live.plan import Choice
from pmpviz.live.store import FrameRing
from pmpviz.marginals.frank_wolfe_state import FrankWolfeState
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.projection import Projection
from pmpviz.marginals.solver import Answer, MarginalSolver, Record, unknown
from pmpviz.oracles.potentials import Potentials
from pmpviz.player.numbers import configuration

MOST_PATH = 2048
# Of a vertex entries so near to 0 or 1 are whole; a name has at most so many letters.
WHOLE, MOST_LETTERS = 1e-6, 12
# Of what is known at each step so many bytes are kept, the newest: all of most walks.
MOST_KEPT = 8_000_000


@dataclass(frozen=True, eq=False)
class InferenceLaneView:
    """An immutable picture of a lane for pages.

    `path` are the iterates' coordinates, each with its number in `steps`, the last one the present, and `corners` those
    of the visited vertices, with their `weights`, `configurations` and `names`; `rho` are the edges' appearance
    probabilities where the algorithm has them. `objective` is a walk's TRW(mu; rho) at its last point and of the
    `rho_update`-th rho, nan before the first step and of what does not walk. `shown` is the configuration found last (a
    message passer's: the most probable state of each variable). `kept` is what was known after each step, by its
    number, of the last ones at least; `errors` are the mean |p(x_i = 1) - exact| at the start and
    after the steps, where known.
    """

    algorithm: str
    label: str
    guarantee: str
    promise: str
    update: str
    count: int
    seconds: float
    reason: str
    trace: tuple[Record, ...]
    answer: Answer
    path: Float[np.ndarray, "k 3"]
    steps: Int[np.ndarray, " k"]
    corners: Float[np.ndarray, "v 3"]
    weights: Float[np.ndarray, " v"]
    configurations: Int8[np.ndarray, "v n"]
    names: tuple[str, ...]
    rho: Float[np.ndarray, " e"] | None
    objective: float
    rho_update: int
    shown: Int8[np.ndarray, " n"]
    ring: FrameRing
    kept: Mapping[int, Then]
    errors: Mapping[int, float]

    @property
    def done(self) -> bool:
        """Whether the walk has ended, for whatever reason."""
        return bool(self.reason)

    @property
    def p1(self) -> Float[np.ndarray, " n"]:
        """p(x_i = 1) as it is now."""
        return self.answer.unary[:, 1]


class InferenceLane:
    """Worker-side state of a lane; `advance` makes one step."""

    warmed = True

    def __init__(self, plan: Choice, potentials: Potentials, projection: Projection, epoch: int, label: str = ""):
        self.plan, self.label = plan, label or plan.label
        self.algorithm, self.projection = plan.build(), projection
        self.cells = Cells(potentials.structure)
        self.state: Any = self.algorithm.start(potentials)
        self.ring = FrameRing(-(-potentials.n // 8))
        self._kept: dict[int, Then] = {}
        self._bytes = 0
        self._errors: dict[int, float] = {}
        self._path, self._every = {0: self._place(self._answer())}, 1
        self._corners: list[np.ndarray] = []
        self._configurations: list[np.ndarray] = []
        self._names: list[str] = []
        self.epoch, self.since = epoch, 0
        self.show(epoch)

    @property
    def count(self) -> int:
        """Steps done: MAP calls, or sweeps of messages."""
        return len(self.state.trace)

    @property
    def seconds(self) -> float:
        """Seconds within the steps."""
        return float(self.state.trace[-1]["seconds"]) if self.state.trace else 0.0

    def show(self, epoch: int) -> None:
        """The configuration of this moment, the first of an epoch."""
        self.epoch = epoch
        self._append()

    def met(self, goal: str) -> bool:
        """Whether a goal has been reached by a step after the `since`-th: the end, a small gap, another rho."""
        if self.state.reason:
            return True
        records = self.state.trace[self.since :]
        if goal == "gap":
            return any(self._is_small(record) for record in records)
        if goal == "rho":
            return any(record.get("rho_update") != getattr(self.state, "rho_update", None) for record in records)
        return False

    def _is_small(self, record: Record) -> bool:
        size = record.get("found_gap", record.get("residual", np.inf))
        return size <= getattr(self.algorithm, "tolerance", 0.0)

    def advance(self) -> None:
        """One MAP call, or one sweep of messages."""
        self.state = self.algorithm.step(self.state)
        answer = self._answer()
        self._lengthen(answer)
        self._keep(answer)
        self._append()

    def _answer(self) -> Answer:
        """Before the first step nothing is computed, whatever messages that are 0 would answer."""
        return self.algorithm.answer(self.state) if self.count else unknown(self.cells.structure)

    def _keep(self, answer: Answer) -> None:
        """What is known now, in place of the oldest where it is too much."""
        active = getattr(self.state, "active", None)
        weights = np.zeros(0) if active is None else active.weight[1:]
        self._kept[self.count] = then = Then.of(answer, weights, self._rho())
        self._bytes += then.size
        while self._bytes > MOST_KEPT and len(self._kept) > 1:
            self._bytes -= self._kept.pop(next(iter(self._kept))).size

    def _objective(self) -> float:
        state = self.state
        return state.objective.value(state.mu) if self.count and isinstance(state, FrankWolfeState) else np.nan

    def _rho(self) -> Float[np.ndarray, " e"] | None:
        return None if self.algorithm.spec.id == "bp" else rho_of(self.state)

    def _lengthen(self, answer: Answer) -> None:
        """One more point of the path; a full one keeps every second, and the present always."""
        if len(self._path) > MOST_PATH:
            self._every *= 2
            self._path = {step: at for step, at in self._path.items() if step % self._every == 0}
        elif (self.count - 1) % self._every:
            self._path.pop(self.count - 1, None)
        self._path[self.count] = self._place(answer)

    def _measure(self, exact: Float[np.ndarray, " n"]) -> None:
        """How far off the marginals of the steps were that have come since it was measured last; not of so many
        variables that they are kept coarsely."""
        if self.cells.structure.n > MANY:
            return
        if not self._errors:
            self._errors[0] = float(np.abs(unknown(self.cells.structure).unary[:, 1] - exact).mean())
        if not self._kept:
            return
        first = max(next(reversed(self._errors)) + 1, next(iter(self._kept)))
        for step in range(first, self.count + 1):
            self._errors[step] = float(np.abs(self._kept[step].known.unary[:, 1] - exact).mean())

    def view(self, exact: Float[np.ndarray, " n"] | None = None) -> InferenceLaneView:
        """What pages see; with the errors of its marginals where p(x_i = 1) is known exactly."""
        if exact is not None:
            self._measure(exact)
        spec, state = self.algorithm.spec, self.state
        corners, weights, configurations = self._visited()
        return InferenceLaneView(
            algorithm=spec.id,
            label=self.label,
            guarantee=spec.guarantee,
            promise=promise(self.algorithm, state),
            update=spec.update,
            count=self.count,
            seconds=self.seconds,
            reason=state.reason,
            trace=state.trace,
            answer=self._answer(),
            path=np.array(list(self._path.values())),
            steps=np.array(list(self._path)),
            corners=corners,
            weights=weights,
            configurations=configurations,
            names=tuple(self._names),
            rho=self._rho(),
            objective=self._objective(),
            rho_update=getattr(state, "rho_update", 0),
            shown=self._shown(),
            ring=self.ring,
            kept=dict(self._kept),
            errors=dict(self._errors),
        )

    def _visited(self) -> tuple[Float[np.ndarray, "v 3"], Float[np.ndarray, " v"], Int8[np.ndarray, "v n"]]:
        """Places, weights and configurations of the visited vertices; each is projected, read and named once."""
        active = getattr(self.state, "active", None)
        points = () if active is None else active.points[1:]
        for point in points[len(self._corners) :]:
            self._corners.append(self.projection.of(point))
            self._configurations.append(self._decoded(point[None])[0])
            self._names.append(self._named(point, self._configurations[-1]))
        read = np.array(self._configurations, np.int8).reshape(-1, self.cells.structure.n)
        weights = np.zeros(0) if active is None else active.weight[1:]
        return np.array(self._corners).reshape(-1, 3), weights, read

    def _named(self, vertex: Float[np.ndarray, " d"], decoded: Int8[np.ndarray, " n"]) -> str:
        """A vertex by its configuration; one of the local polytope alone is none, and says so."""
        if np.abs(vertex - self.cells.vertex(decoded)).max() < WHOLE:
            return configuration(decoded)
        sure = self.cells.unary(vertex).max(1) > 1 - WHOLE
        if sure.all():
            return f"{configuration(decoded)}, pairs fractional"
        text = "".join(str(int(v)) if whole else "½" for v, whole in zip(decoded, sure, strict=True))
        return f"fractional {text}" if len(text) <= MOST_LETTERS else "fractional"

    def _decoded(self, vertices: np.ndarray) -> Int8[np.ndarray, "v n"]:
        """Configurations of vertices; a fractional variable of the local polytope shows its likelier state."""
        s = self.cells.structure
        rows = vertices[:, : self.cells.split].reshape(len(vertices), s.n, s.states)
        return rows.argmax(2).astype(np.int8)

    def _place(self, answer: Answer) -> Float[np.ndarray, " 3"]:
        return self.projection.of(self.cells.flat(answer.unary, answer.table))

    def _shown(self) -> Int8[np.ndarray, " n"]:
        if isinstance(self.state, FrankWolfeState) and self.state.calls:
            return self._decoded(self.state.active.points[self.state.row][None])[0]
        return self._answer().unary.argmax(1).astype(np.int8)

    def _append(self) -> None:
        self.ring.append(np.array([self.count]), np.packbits(self._shown()[None] > 0, axis=1), self.epoch)


def rho_of(state: Any) -> Float[np.ndarray, " e"] | None:
    """The edge appearance probabilities of a state that has them."""
    objective = getattr(state, "objective", None)
    return objective.rho if objective is not None else getattr(state, "rho", None)


def promise(algorithm: MarginalSolver, state: Any) -> str:
    """What the bound on log Z rests on, in a few words."""
    if not isinstance(state, FrankWolfeState):
        return {"bound": "relaxed bound", "exact": "exact"}.get(algorithm.spec.guarantee, "no bound")
    if getattr(algorithm, "polytope", "") == "local":
        return "relaxed bound"
    if state.solution is None:
        return {"exact": "certified", "bound": "oracle's bound", "heuristic": "no bound"}[state.oracle.spec.promise]
    if not np.isfinite(state.best_bound):
        return "no bound"
    return "certified" if state.solution.exact else "oracle's bound"


__all__ = ["InferenceLane", "InferenceLaneView", "promise", "rho_of"]

"""An inference plan: every setting from which a walk of marginal inference follows. Links carry one."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from pmpviz.live.plan import BETA
from pmpviz.marginals import MarginalSolver, make_solver, solver_class
from pmpviz.types import Param, Target

MAX_LANES = 4
SETTINGS = (BETA,)


@dataclass(frozen=True)
class SolverPlan:
    """One algorithm and its knobs by name; knobs left out have their defaults."""

    algorithm: str
    knobs: tuple[tuple[str, Any], ...] = ()

    def build(self) -> MarginalSolver:
        """The algorithm with these knobs; raises InputError."""
        return make_solver(self.algorithm, **dict(self.knobs))

    @property
    def full_knobs(self) -> dict[str, Any]:
        """Every knob of the algorithm with its value."""
        given = dict(self.knobs)
        return {p.name: given.get(p.name, p.default) for p in solver_class(self.algorithm).spec.params}

    @property
    def label(self) -> str:
        """The algorithm's label, with what is chosen otherwise than by default."""
        spec = solver_class(self.algorithm).spec
        known = {p.name: p for p in spec.params if p.scale in ("choice", "bool")}
        told = [_told(known[k], v) for k, v in self.knobs if k in known and v != known[k].default]
        return ", ".join([spec.label, *told])


def _told(param: Param, value: Any) -> str:
    if param.scale == "bool":
        return param.label.lower()
    label = param.label[:1].lower() + param.label[1:] if param.label[1:2].islower() else param.label
    return f"{value} {label}" if param.name == "polytope" else f"{label} {value}"


@dataclass(frozen=True)
class InferencePlan:
    """Model (a builder's spec, or `file:` and a content hash), inverse temperature, and one lane an algorithm."""

    model: str = "complete:3,J=-1"
    beta: float = 1.0
    lanes: tuple[SolverPlan, ...] = (SolverPlan("barrier_frank_wolfe"),)

    def replace(self, **changes) -> InferencePlan:
        """The same plan with some settings changed."""
        return dataclasses.replace(self, **changes)

    def target(self, model: Any) -> Target:
        """The target on `model` (as resolved from `self.model`)."""
        return Target.of(model, None, self.beta)


__all__ = ["MAX_LANES", "SETTINGS", "InferencePlan", "SolverPlan"]

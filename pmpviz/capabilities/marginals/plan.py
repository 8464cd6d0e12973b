"""An inference plan: every setting from which a walk of marginal inference follows. Links carry one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pmpviz.app.models import model_of
from pmpviz.live.plan import BETA, Catalogue, Choice, Lanes, Settings, Text, setting
from pmpviz.marginals import SOLVERS, solver_class
from pmpviz.models import Ising
from pmpviz.models.beyond_ising import beyond_ising
from pmpviz.types import InputError, Target

MOST_SITES, MOST_EDGES = 1 << 14, 1 << 15
# Up to so many variables any algorithm is tried; beyond, those whose steps and memory are in proportion to the edges.
MANY, IN_PROPORTION = 1024, ("barrier_frank_wolfe", "trbp", "bp")
# Those that go from corner to corner, and have a gap and a rho.
WALKERS = ("barrier_frank_wolfe",)
# Those that have marginals of single variables alone: the pairs they count are of something else.
UNPAIRED = ("expected_maxima",)


def not_walked(model: Any) -> str:
    """Why the page does not walk in a model, with the remedy."""
    return (
        f"this page walks in models of two-state variables with pairwise factors, and this one has "
        f"{beyond_ising(model)}; `python -m pmpviz infer` takes it"
    )


def check_model(text: str) -> None:
    """Raise InputError where the page does not walk in this model."""
    model = model_of(text)
    if not isinstance(model, Ising):
        raise InputError(not_walked(model))
    edges = len(model.pairwise()[1])
    if model.n > MOST_SITES or edges > MOST_EDGES:
        size = f"{model.n:,} variables and {edges:,} edges"
        raise InputError(
            f"this page walks in models of up to {MOST_SITES:,} variables and {MOST_EDGES:,} edges, not {size}"
        )


solver = Catalogue(SOLVERS, solver_class)
MODEL = Text("model", "model was", check_model)
LANES = Lanes(solver, 4)


@dataclass(frozen=True)
class InferencePlan(Settings):
    """Model (a builder's spec, or `file:` and a content hash), inverse temperature, and one lane an algorithm."""

    model: str = MODEL.field("complete:3,J=-1")
    beta: float = setting(BETA)
    lanes: tuple[Choice, ...] = LANES.field((solver("barrier_frank_wolfe"),))

    def target(self, model: Any) -> Target:
        """The target on `model` (as resolved from `self.model`)."""
        return Target.of(model, None, self.beta)


def check_lane(lane: Choice, variables: int) -> None:
    """Raise InputError where an algorithm would take too long, or too much memory, for so many variables."""
    if variables > MANY and lane.algorithm not in IN_PROPORTION:
        fitting = ", ".join(solver(name).spec.label for name in IN_PROPORTION)
        raise InputError(
            f"{lane.spec.label} runs here on up to {MANY:,} variables, not {variables:,}: choose one of {fitting}"
        )


__all__ = ["MANY", "UNPAIRED", "WALKERS", "InferencePlan", "check_lane", "check_model", "solver"]

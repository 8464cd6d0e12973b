"""An inference plan as a link: to query and back, every value clamped with a notice, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pmpviz.app.address import VERSION
from pmpviz.app.link_values import lane_text, read_checked, read_named, read_plain, text_of
from pmpviz.app.models import model_of
from pmpviz.capabilities.marginals.plan import MAX_LANES, SETTINGS, InferencePlan, SolverPlan
from pmpviz.marginals import solver_class
from pmpviz.models import Ising
from pmpviz.types import InputError

LANES = tuple(f"lane{i + 1}" for i in range(MAX_LANES))
KEYS = ("v", "model", *(p.name for p in SETTINGS), *LANES)
MOST_SITES, MOST_EDGES = 1024, 20_000


def plan_to_query(plan: InferencePlan) -> dict[str, str]:
    """The plan as query parameters: `v`, `model`, `beta`, `lane1` = `barrier_frank_wolfe;tolerance=0.01`."""
    query = {"v": VERSION, "model": plan.model}
    query |= {p.name: text_of(getattr(plan, p.name)) for p in SETTINGS}
    return query | {name: lane_text(lane.algorithm, lane.knobs) for name, lane in zip(LANES, plan.lanes, strict=False)}


def plan_from_query(params: Mapping[str, str], default: InferencePlan) -> tuple[InferencePlan, list[str]]:
    """(plan, notices) of a link; what is missing comes from `default`; never raises."""
    given = {str(key): str(value) for key, value in params.items()}
    notices: list[str] = []
    values = read_plain(given, SETTINGS, KEYS, default, notices)
    lanes = [_read_lane(given[name], name, notices) for name in LANES if name in given]
    kept = tuple(lane for lane in lanes if lane is not None) or default.lanes
    named = given.get("model", default.model)
    model = read_checked("model was", named, default.model, lambda text: check_model(model_of(text)), notices)
    return default.replace(model=model, lanes=kept, **values), notices


def check_model(model: Any) -> None:
    """Raise InputError where the page does not walk in this model."""
    if not isinstance(model, Ising):
        raise InputError("this page walks in models of two-state variables; use `python -m pmpviz infer` for others")
    edges = len(model.pairwise()[1])
    if model.n > MOST_SITES or edges > MOST_EDGES:
        size = f"{model.n:,} variables and {edges:,} edges"
        raise InputError(
            f"this page walks in models of up to {MOST_SITES:,} variables and {MOST_EDGES:,} edges, not {size}"
        )


def _read_lane(text: str, lane: str, notices: list[str]) -> SolverPlan | None:
    found = read_named(text, lane, solver_class, notices)
    return None if found is None else SolverPlan(*found)


__all__ = ["check_model", "plan_from_query", "plan_to_query"]

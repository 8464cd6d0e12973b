"""A plan of the lab as a link: to query and back, every value clamped with a notice, never an exception."""

from __future__ import annotations

from collections.abc import Mapping

from pmpviz.app.address import VERSION
from pmpviz.app.link_values import quote, read_checked, read_plain, text_of
from pmpviz.app.models import model_of
from pmpviz.capabilities.perturbation.plan import KNOWN, MOST_SITES, SETTINGS, SOLVERS, LabPlan
from pmpviz.capabilities.perturbation.scenes import PREFIX, scene_of
from pmpviz.models import Ising
from pmpviz.types import InputError

KEYS = ("v", "model", "solvers", *(p.name for p in SETTINGS))
MOST_EDGES = 20_000


def plan_to_query(plan: LabPlan) -> dict[str, str]:
    """The plan as query parameters: `v`, `model`, `solvers` = `max_product,exact`, `seed`, `draw`, ..."""
    query = {"v": VERSION, "model": plan.model, "solvers": ",".join(plan.solvers)}
    return query | {p.name: text_of(getattr(plan, p.name)) for p in SETTINGS}


def plan_from_query(params: Mapping[str, str], default: LabPlan) -> tuple[LabPlan, list[str]]:
    """(plan, notices) of a link; what is missing comes from `default`; never raises."""
    given = {str(key): str(value) for key, value in params.items()}
    notices: list[str] = []
    values = read_plain(given, SETTINGS, KEYS, default, notices)
    model = read_checked("model was", given.get("model", default.model), default.model, check_model, notices)
    solvers = _read_solvers(given["solvers"], default.solvers, notices) if "solvers" in given else default.solvers
    return default.replace(model=model, solvers=solvers, **values), notices


def _read_solvers(text: str, fallback: tuple[str, ...], notices: list[str]) -> tuple[str, ...]:
    names = text.split(",")[:16]
    for name in names:
        if name not in KNOWN:
            notices.append(f"there is no solver {quote(name)}, which was left out")
    kept = tuple(dict.fromkeys(name for name in names if name in KNOWN))[:SOLVERS]
    return kept or fallback


def check_model(text: str) -> None:
    """Raise InputError where the lab does not perturb this model."""
    model = scene_of(text).model if text.startswith(PREFIX) else model_of(text)
    if not isinstance(model, Ising):
        raise InputError("the lab perturbs models of two-state variables; this one has others")
    edges = len(model.pairwise()[1])
    if not 2 <= model.n <= MOST_SITES or edges > MOST_EDGES:
        size = f"{model.n:,} variables and {edges:,} edges"
        most = f"{MOST_SITES:,} variables and {MOST_EDGES:,} edges"
        raise InputError(f"the lab perturbs models of two variables or more, up to {most}, not {size}")


__all__ = ["check_model", "plan_from_query", "plan_to_query"]

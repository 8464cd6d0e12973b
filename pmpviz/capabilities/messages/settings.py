"""A plan of the Messages page as a link: to query and back, every value clamped with a notice, never an exception."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any

from pmpviz.app.address import VERSION
from pmpviz.app.link_values import quote, read_checked, read_plain, text_of
from pmpviz.app.uploads import UploadStore, uploaded
from pmpviz.capabilities.messages.plan import MOST_VARIABLES, SETTINGS, MessagePlan
from pmpviz.messages.schedule import Topology
from pmpviz.models.factor_graph import FactorGraph, as_graph
from pmpviz.models.small_graphs import build_small_graph
from pmpviz.types import Evidence, InputError, Refusal, Target

KEYS = ("v", "graph", *(p.name for p in SETTINGS), "evidence")
FILE = "file:"
# Files brought to this page, as graphs: other pages have the same files as tables, without OR, AND and counts.
GRAPHS = UploadStore()


def plan_to_query(plan: MessagePlan) -> dict[str, str]:
    """The plan as query parameters: `v`, `graph` = `triangle:J=1.0`, `schedule`, ..., `evidence` = `0:1,3:0`."""
    query = {"v": VERSION, "graph": plan.graph}
    query |= {p.name: text_of(getattr(plan, p.name)) for p in SETTINGS}
    if plan.evidence:
        query["evidence"] = ",".join(f"{variable}:{value}" for variable, value in plan.evidence)
    return query


def plan_from_query(params: Mapping[str, str], default: MessagePlan) -> tuple[MessagePlan, list[str]]:
    """(plan, notices) of a link; what is missing comes from `default`; never raises."""
    given = {str(key): str(value) for key, value in params.items()}
    notices: list[str] = []
    values = read_plain(given, SETTINGS, KEYS, default, notices)
    text = given.get("graph", default.graph)
    graph = read_checked("graph was", text, default.graph, graph_of, notices)
    held = given.get("evidence", "") if "graph" in given or "evidence" in given else None
    plan = default.replace(graph=graph, **values)
    evidence = default.evidence if held is None else _read_evidence(held, graph, notices)
    plan, notice = mended(plan.replace(evidence=evidence))
    return plan, [*notices, *notice]


def _read_evidence(text: str, graph: str, notices: list[str]) -> tuple[tuple[int, int], ...]:
    """Pairs `variable:value`; those that the graph does not have are left out with a notice."""
    try:
        card = graph_of(graph).card
    except InputError:
        return ()  # A file that is asked for.
    held: dict[int, int] = {}
    for part in [part for part in text.split(",")[: 2 * MOST_VARIABLES] if part.strip()]:
        found = re.fullmatch(r"\s*(\d{1,4}):(\d{1,4})\s*", part)
        if not found or int(found[1]) >= len(card) or int(found[2]) >= card[int(found[1])]:
            notices.append(f"evidence {quote(part)} names no variable and state of this graph and was left out")
            continue
        held[int(found[1])] = int(found[2])
    return tuple(sorted(held.items()))


def graph_of(text: str) -> FactorGraph:
    """The graph of a plan's text, from a small cache; of an uploaded file from the store; raises InputError."""
    if text.startswith(FILE):
        brought = GRAPHS.find(text.removeprefix(FILE))
        return checked(uploaded(text.removeprefix(FILE)) if brought is None else brought.model)
    return _built(text)


@functools.lru_cache(maxsize=64)
def _built(text: str) -> FactorGraph:
    return checked(build_small_graph(text))


def check_size(model: Any) -> None:
    """Raise Refusal with its size for a model that is too large to be drawn."""
    if model.n > MOST_VARIABLES:
        raise Refusal(f"the page draws graphs of up to {MOST_VARIABLES} variables, and this one has {model.n:,}")


def checked(model: Any) -> FactorGraph:
    """The model as a graph that the page can draw; raises Refusal where it is too large or has no factors."""
    check_size(model)
    return as_graph(model)


def target_of(plan: MessagePlan) -> Target:
    """The plan's graph with its evidence; raises InputError."""
    graph = graph_of(plan.graph)
    return Target.of(graph, Evidence.of(graph.n, dict(plan.evidence)))


def mended(plan: MessagePlan) -> tuple[MessagePlan, list[str]]:
    """(plan with a schedule that its graph allows, notices): two passes need a graph without a loop."""
    if plan.schedule != "two_pass":
        return plan, []
    try:
        target = target_of(plan)
    except InputError:
        return plan, []
    loop = Topology.of(target.model, target.evidence.mask).loop
    if loop is None:
        return plan, []
    names = ", ".join(f"x{v}" for v in loop)
    notice = f"two passes need a graph without a loop, and {names} form one; the schedule was set to parallel"
    return plan.replace(schedule="parallel"), [notice]


__all__ = [
    "FILE",
    "GRAPHS",
    "check_size",
    "checked",
    "graph_of",
    "mended",
    "plan_from_query",
    "plan_to_query",
    "target_of",
]

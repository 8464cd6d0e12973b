"""Graphs and evidence of the Messages page: what a plan's texts name, and what fits together."""

from __future__ import annotations

import functools
import re
from typing import Any

from pmpviz.app.uploads import UploadStore, uploaded
from pmpviz.live.link import quote
from pmpviz.live.plan import Special, Text
from pmpviz.messages.schedule import Topology
from pmpviz.models.factor_graph import FactorGraph, as_graph
from pmpviz.models.small_graphs import build_small_graph
from pmpviz.types import Evidence, InputError, Refusal, Target

MOST_VARIABLES, MANY, MOST_EDGES = 64, 16, 600
FILE = "file:"
# Files brought to this page, as graphs: other pages have the same files as tables, without OR, AND and counts.
GRAPHS = UploadStore()


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
    """The model as a graph that the page can draw; raises Refusal where it is too large."""
    check_size(model)
    graph = as_graph(model)
    edges = sum(len(factor.scope) for factor in graph.factors())
    if graph.n > MANY and edges > MOST_EDGES:
        raise Refusal(
            f"the page draws up to {MOST_EDGES} edges of more than {MANY} variables, and this graph has {edges:,}"
        )
    return graph


def target_of(plan: Any) -> Target:
    """The plan's graph with its evidence; raises InputError."""
    graph = graph_of(plan.graph)
    return Target.of(graph, Evidence.of(graph.n, dict(plan.evidence)))


def mended(plan: Any) -> tuple[Any, list[str]]:
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
    names = ", ".join(f"x{v + 1}" for v in loop)
    notice = f"two passes need a graph without a loop, and {names} form one; the schedule was set to parallel"
    return plan.replace(schedule="parallel"), [notice]


class Held(Special):
    """The field `evidence`, pairs of variable and value: `0:1,3:0` in links."""

    keys = ("evidence",)

    def write(self, plan: Any) -> dict[str, str]:
        """Nothing where nothing is held."""
        held = ",".join(f"{variable}:{value}" for variable, value in plan.evidence)
        return {"evidence": held} if held else {}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """A link that names a graph begins without evidence, and what the graph does not have is left out."""
        if "graph" not in given and "evidence" not in given:
            return plan
        try:
            card = graph_of(plan.graph).card
        except InputError:
            return plan.replace(evidence=())  # A file that is asked for.
        held: dict[int, int] = {}
        for part in [part for part in given.get("evidence", "").split(",")[: 2 * MOST_VARIABLES] if part.strip()]:
            found = re.fullmatch(r"\s*(\d{1,4}):(\d{1,4})\s*", part)
            if not found or int(found[1]) >= len(card) or int(found[2]) >= card[int(found[1])]:
                notices.append(f"evidence {quote(part)} names no variable and state of this graph and was left out")
                continue
            held[int(found[1])] = int(found[2])
        return plan.replace(evidence=tuple(sorted(held.items())))


GRAPH, HELD = Text("graph", "graph was", graph_of), Held()

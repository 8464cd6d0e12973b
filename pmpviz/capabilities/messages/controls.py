"""The controls of the Messages page: preset, graph, schedule, sum or max, held variables."""

from __future__ import annotations

from typing import Any

from pmpviz.app.file_controls import taken
from pmpviz.app.uploads import STORE
from pmpviz.app.widgets import bind, param_control, select, settings_control
from pmpviz.app.words import as_text
from pmpviz.capabilities.messages.plan import ORDERS, MessagePlan
from pmpviz.capabilities.messages.settings import (
    FILE,
    GRAPHS,
    MANY,
    MOST_VARIABLES,
    check_size,
    checked,
    graph_of,
    mended,
)
from pmpviz.models.small_graphs import SMALL_GRAPHS, format_small_graph, parse_small_graph
from pmpviz.types import InputError

FREE = "free"
OWN_FILE = "file"
NAMES = {"parallel": "parallel", "sequential": "sequential", "two_pass": "two passes"}
KEY = "messages"


def graph_controls(plan: MessagePlan, box: Any) -> MessagePlan:
    """The plan with the chosen small graph and its knobs, or with the file that was just brought."""
    above, below = box.container(), box.container()
    text = _small_graph(_from_file(plan.graph, below), above)
    return plan if text == plan.graph else plan.replace(graph=text, evidence=(), places=())


def _small_graph(text: str, box: Any) -> str:
    is_file = text.startswith(FILE)
    labels = {g.id: g.label for g in SMALL_GRAPHS} | ({OWN_FILE: "From a file"} if is_file else {})
    graph, values = (None, {}) if is_file else parse_small_graph(text)
    now = OWN_FILE if graph is None else graph.id
    chosen = bind("messages_graph", now)
    select(box, "Graph", labels, "messages_graph")
    if chosen == OWN_FILE:
        return text
    if graph is None or chosen != graph.id:
        graph, values = parse_small_graph(chosen)
    box.caption(as_text(graph.help))
    given = {p.name: param_control(p, f"messages_{graph.id}_{p.name}", values[p.name], box) for p in graph.params}
    return text if chosen == now and given == values else format_small_graph(graph, given)


def _from_file(text: str, box: Any) -> str:
    """The graph's text, or that of a file that was just brought; its fault is shown as long as it is there."""
    wanted = text.removeprefix(FILE) if text.startswith(FILE) else ""
    held = (GRAPHS.find(wanted) or STORE.find(wanted)) if wanted else None
    fold = box.expander("From a file", expanded=bool(wanted and held is None))
    if held is not None:
        fold.caption(f"{as_text(held.name)}: {held.model.n} variables")
    file = fold.file_uploader(
        f"Graph of up to {MOST_VARIABLES} variables", type=["uai", "json", "npz"], key="messages_file"
    )
    brought = taken(file, "messages_file", fold, lambda file: GRAPHS.add(file.name, file.getvalue(), _load))
    return text if brought is None else f"{FILE}{brought.sha256}"


def _load(name: str, data: bytes) -> Any:
    from pmpviz.io import load_model_bytes

    loaded = load_model_bytes(name, data)
    check_size(loaded.model)
    return checked(loaded.as_graph())


def message_controls(plan: MessagePlan, box: Any) -> tuple[MessagePlan, list[str]]:
    """(plan with schedule, rule, damping and sweeps, notices)."""
    plan = settings_control(plan, ("rule",), KEY, box)
    plan = settings_control(plan, ("beta",) if plan.rule == "between" else (), KEY, box)
    schedule = bind(f"{KEY}_schedule", plan.schedule)
    select(box, "Schedule", NAMES, f"{KEY}_schedule", help=ORDERS)
    return mended(settings_control(plan.replace(schedule=schedule), ("damping", "sweeps"), KEY, box))


def evidence_controls(plan: MessagePlan, box: Any) -> MessagePlan:
    """Which variables are held, and at what: as clicking them in the picture, or as a file says."""
    try:
        card = graph_of(plan.graph).card
    except InputError:
        return plan
    file = box.file_uploader("Evidence (UAI's evid)", type=["evid"], key="messages_evidence")
    brought = taken(file, "messages_evidence", box, lambda file: _evidence(file.name, file.getvalue(), card))
    held = dict(plan.evidence) if brought is None else brought
    variables = _held(held, card, box)
    columns, chosen = box.columns(2), {}
    for variable in variables:
        states = card[variable]
        key = f"messages_hold_{variable}_{states}"
        chosen[variable] = bind(key, str(held.get(variable, FREE)))
        select(columns[variable % 2], f"x{variable + 1}", [FREE, *map(str, range(states))], key)
    evidence = tuple((v, int(value)) for v, value in chosen.items() if value != FREE)
    return plan.replace(evidence=evidence)


def _held(held: dict[int, int], card: tuple[int, ...], box: Any) -> list[int]:
    """The variables that have a control: all of a few, of many those that are chosen, which are then held."""
    if len(card) <= MANY:
        return list(range(len(card)))
    key = f"messages_held_{len(card)}"
    chosen = bind(key, sorted(held))
    box.multiselect("Held", range(len(card)), format_func=lambda variable: f"x{variable + 1}", key=key)
    for variable in set(chosen) - set(held):
        held[variable] = 0
    return sorted(chosen)


def _evidence(name: str, data: bytes, card: tuple[int, ...]) -> dict[int, int]:
    from pmpviz.io.files import decode
    from pmpviz.io.uai import parse_evid

    return parse_evid(decode(data, name), card, name)


__all__ = ["evidence_controls", "graph_controls", "message_controls"]

"""A recorded run of message passing as one blob for the message microscope in the browser.

The wire format is that of `views.frames.encode`. The JSON:

    {run: another one begins anew, play: message | sweep | run, rule, schedule, temperature, damping, tolerance,
     limit: log-ratio of the full colours, period, verdict, exactWords, logZ, alt, states: K,
     places: [[variable, x, y]] of those that were dragged, as shares of the picture,
     milestones: [[sweep, status, words]], ends: events up to the end of each sweep,
     variables: [{name, words, card, evidence: -1 or the value, x, y}],
     factors: [{kind, label, words, joint: number of joint states, scope, x, y, table: float64 blob or null}],
     edgeFactor, edgeVariable: one entry an edge,
     edge: int32 [T], toVariable: uint8 [T], undamped, after: float64 [T, K],
     unary: float64 [n, K], residual: float64 [S], errors: float64 [S + 1], beliefs: float64 [S + 1, n, K],
     exact: float64 [n, K] or null, bethe: float64 [S + 1], [T + 1] of a short run, or null}
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.capabilities.messages.layout import layout
from pmpviz.capabilities.messages.plan import MessagePlan, knobs_of
from pmpviz.capabilities.messages.recording import TOLERANCE, Recording, Settings, Truth, record, truth
from pmpviz.capabilities.messages.words import (
    Milestone,
    ends,
    explaining_away,
    milestones,
    verdict,
)
from pmpviz.models.small_graphs import parse_small_graph
from pmpviz.player.numbers import significant
from pmpviz.player.wire import Payload, encode
from pmpviz.types import Evidence, Refusal, Target

MOST_TABLE = 4096
TWO_PASS_SWEEPS = 1
IMPOSSIBLE = -1e30
OR_FACTOR = "or_factor"
LEAST_LIMIT, MOST_LIMIT = 0.1, 12.0
EXACT_WORDS = {"sum": "exact marginals", "max": "exact max-marginals", "between": "exact marginals at message β"}


@dataclass(frozen=True, eq=False)
class Story:
    """A recording with what it is compared to: `truth` is None where it is out of reach, and `no_truth` says why.

    `answer` is what the exact answer says of the page's question, told once the run has come to it; `undamped` is the
    period that the messages of a damped run would have without damping.
    """

    plan: MessagePlan
    record: Recording
    truth: Truth | None = None
    positions: Float[np.ndarray, "n 2"] | None = None
    no_truth: str = ""
    answer: str = ""
    undamped: int | None = None

    @property
    def target(self) -> Target:
        """The graph with its evidence."""
        return self.record.target

    @property
    def exact(self) -> Float[np.ndarray, "n k"] | None:
        """What the beliefs should be."""
        return None if self.truth is None else self.truth.beliefs

    @property
    def log_z(self) -> float | None:
        """The exact log Z."""
        return None if self.truth is None else float(self.truth.log_z)

    @property
    def errors(self) -> Float[np.ndarray, " sweeps_1"] | None:
        """Largest |belief - exact| after each sweep, from sweep 0 on."""
        if self.exact is None:
            return None
        away = np.abs(np.asarray(self.record.beliefs) - self.exact[None])
        return np.nan_to_num(away).max((1, 2))

    @property
    def steps(self) -> list[Milestone]:
        """What can be said from which sweep on."""
        steps = milestones(self.record, self.errors)
        if self.answer and steps[-1].status == "exact":
            steps[-1] = replace(steps[-1], words=self.answer)
        if self.undamped and steps[-1].status == "converged":
            more = f" Undamped these messages oscillate with period {self.undamped}."
            steps[-1] = replace(steps[-1], words=steps[-1].words + more)
        return steps


def tell(plan: MessagePlan, target: Target, positions: Float[np.ndarray, "n 2"] | None = None) -> Story:
    """The plan's run on its target, with the exact answer where it is in reach.

    Raises InputError for a run that cannot be recorded, and where evidence and factors leave no state possible.
    Two undamped passes are a sweep, after which nothing changes: no other one is recorded.
    """
    once = plan.schedule == "two_pass" and not plan.damping
    sweeps = min(plan.sweeps, TWO_PASS_SWEEPS) if once else plan.sweeps
    found = record(target, Settings(plan.schedule, plan.damping, plan.temperature, sweeps))
    try:
        exact = truth(target, plan.temperature)
        answer = _causes(plan, target, exact)
        return Story(plan, found, exact, positions, answer=answer, undamped=_undamped(found))
    except Refusal as error:
        return Story(plan, found, None, positions, str(error), undamped=_undamped(found))


def _undamped(found: Recording) -> int | None:
    """Of a damped run that has converged, the period of its messages without damping; None where they have none."""
    settings = found.settings
    if not settings.damping or found.converged is None or found.is_tree:
        return None
    return record(found.target, replace(settings, damping=0.0)).period


def _causes(plan: MessagePlan, target: Target, exact: Truth) -> str:
    """Of the OR factor by sum-product, its effect held at 1: what that says of the causes, and they of one another."""
    held, effect = dict(plan.evidence), target.n - 1
    if plan.graph.split(":")[0] != OR_FACTOR or plan.rule != "sum" or held.pop(effect, 0) != 1:
        return ""
    known = [truth(Target.of(target.model, Evidence.of(target.n, of))) for of in ({}, {effect: 1})]
    before, seen, now = (each.marginals[:effect, 1] for each in (*known, exact))
    return explaining_away(held, before, seen, now)


def places_of(text: str) -> Float[np.ndarray, "n 2"]:
    """Where a small graph wants its variables; raises InputError where the text names none."""
    graph, values = parse_small_graph(text)
    return np.array(graph.places(**values))


def limit_of(story: Story) -> float:
    """The log-ratio that has the full colours: the largest of the run, either way, between 0.1 and 12."""
    return float(np.clip(_largest(story), LEAST_LIMIT, MOST_LIMIT))


def _largest(story: Story) -> float:
    """The largest log-ratio of a message that leaves no state impossible."""
    rows = np.asarray(story.record.after)
    ratios = np.abs(rows[..., 1:] - rows[..., :1]) if rows.size else np.zeros(1)
    return float(ratios[np.isfinite(ratios) & (ratios < 1e6)].max(initial=0.0))


def blob(story: Story) -> bytes:
    """The recording, its layout and its words for the browser."""
    payload, record, plan = Payload(), story.record, story.plan
    errors, steps = story.errors, story.steps
    bethe = np.asarray(record.bethe if record.bethe_sent is None else record.bethe_sent, np.float64)
    words = {
        "run": run_of(plan),
        "play": plan.play,
        "rule": plan.rule,
        "schedule": plan.schedule,
        "temperature": float(plan.temperature),
        "damping": float(plan.damping),
        "tolerance": TOLERANCE,
        "limit": limit_of(story),
        "beyond": _largest(story) > MOST_LIMIT,
        "period": record.period,
        "verdict": verdict(record, errors, steps),
        "exactWords": EXACT_WORDS[plan.rule],
        "logZ": story.log_z,
        "states": int(record.after.shape[1]),
        "milestones": [[m.sweep, m.status, m.words] for m in steps],
        "ends": ends(record).tolist(),
        **_nodes(story, payload),
        "alt": alt(story),
        "knobs": [handle.words for handle in knobs_of(plan, record.is_tree)],
        "places": [list(place) for place in plan.places if place[0] < story.target.model.n],
        "edge": payload.add(record.edge, "<i4"),
        "toVariable": payload.add(record.to_variable, "u1"),
        "undamped": payload.add(_plain(record.undamped), "<f8"),
        "after": payload.add(_plain(record.after), "<f8"),
        "residual": payload.add(record.residual, "<f8"),
        "beliefs": payload.add(np.nan_to_num(record.beliefs), "<f8"),
        "exact": None if story.exact is None else payload.add(np.nan_to_num(story.exact), "<f8"),
        "errors": None if errors is None else payload.add(errors, "<f8"),
        "bethe": payload.add(bethe, "<f8") if np.isfinite(bethe).any() else None,
    }
    return encode(words, payload.blobs)


def run_of(plan: MessagePlan) -> str:
    """A name for what is recorded: the browser begins anew where it is another one."""
    return hashlib.sha256(repr(plan.computed).encode()).hexdigest()[:16]


def _plain(values: np.ndarray) -> np.ndarray:
    """Impossible and missing states as a very small finite number: float32 has it too."""
    return np.where(np.isfinite(values), np.maximum(values, IMPOSSIBLE), IMPOSSIBLE)


def _nodes(story: Story, payload: Payload) -> dict[str, Any]:
    record, target = story.record, story.target
    graph = target.model
    places, squares = layout(graph.n, record.factor_scope, story.positions)
    unary = own_potentials(target)
    variables = [
        {"name": f"x{v + 1}", "words": _own_words(unary[v, :card], held), "card": card, "evidence": held,
         "x": float(places[v, 0]), "y": float(places[v, 1])}
        for v, (card, held) in enumerate(zip(graph.card, held_values(target), strict=True))
    ]  # fmt: skip
    factors = [
        {"kind": factor.kind, "label": label_of(factor), "words": words_of(factor), "scope": list(factor.scope),
         "joint": _joint(factor, graph.card), "x": float(at[0]), "y": float(at[1]),
         "table": _table(factor, graph.card, float(target.beta), payload)}
        for factor, at in zip(graph.factors(), squares, strict=True)
    ]  # fmt: skip
    return {
        "variables": variables,
        "factors": factors,
        "edgeFactor": np.asarray(record.edge_factor).tolist(),
        "edgeVariable": np.asarray(record.edge_variable).tolist(),
        "unary": payload.add(_plain(unary), "<f8"),
    }


def held_values(target: Target) -> list[int]:
    """The value at which each variable is held, -1 for a free one."""
    mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
    return [int(v) if held else -1 for held, v in zip(mask, value, strict=True)]


def own_potentials(target: Target) -> Float[np.ndarray, "n k"]:
    """beta times the variables' own log potentials; -inf for a state that is not there or that evidence rules out."""
    unary = float(target.beta) * np.asarray(target.model.unary, np.float64)
    for variable, value in enumerate(held_values(target)):
        if value >= 0:
            unary[variable, np.arange(unary.shape[1]) != value] = -np.inf
    return unary


def label_of(factor: Any) -> str:
    """What stands on a factor's square after its name; nothing of a table."""
    if factor.kind == "cardinality":
        size = len(factor.scope)
        if factor.low == factor.high:
            return f"= {factor.low}"
        return f"≤ {factor.high}" if factor.low == 0 else f"≥ {factor.low}" if factor.high == size else "card"
    return {"table": "", "or": "OR", "and": "AND"}[factor.kind]


def words_of(factor: Any) -> str:
    """A factor in a few words."""
    *tops, bottom = (f"x{v + 1}" for v in factor.scope)
    if factor.kind in ("or", "and"):
        return f"{bottom} = {f' {factor.kind.upper()} '.join(tops)}"
    if factor.kind == "cardinality":
        count = f"exactly {factor.low}" if factor.low == factor.high else f"{factor.low} to {factor.high}"
        return f"{count} of {', '.join([*tops, bottom])} on"
    return f"table of {', '.join([*tops, bottom])}"


def _own_words(unary: Float[np.ndarray, " k"], held: int) -> str:
    if held >= 0:
        return f"held at {held}"
    if len(unary) == 2:
        return f"own log-odds {significant(float(unary[1] - unary[0]))}" if unary.any() else "no field of its own"
    return f"own log potentials {', '.join(significant(float(u)) for u in unary)}"


def _joint(factor: Any, card: tuple[int, ...]) -> int:
    return int(np.prod([card[v] for v in factor.scope], dtype=object))


def _table(factor: Any, card: tuple[int, ...], beta: float, payload: Payload) -> int | None:
    if _joint(factor, card) > MOST_TABLE:
        return None
    return payload.add(_plain(beta * factor.expanded()), "<f8")


def alt(story: Story) -> str:
    """The graph in words, for those who cannot see it."""
    graph, kinds = story.target.model, story.record.factor_kind
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds))
    held = [f"x{v + 1} at {value}" for v, value in enumerate(held_values(story.target)) if value >= 0]
    evidence = f" Held: {', '.join(held)}." if held else ""
    return f"Factor graph of {graph.n} variables and {len(kinds)} factors ({counts}).{evidence}"


__all__ = [
    "Story",
    "alt",
    "blob",
    "held_values",
    "label_of",
    "limit_of",
    "own_potentials",
    "places_of",
    "run_of",
    "tell",
    "words_of",
]

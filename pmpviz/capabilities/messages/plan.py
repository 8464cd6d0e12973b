"""What the Messages page is set to: a small graph, a schedule, damping, sum or max, evidence, sweeps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from pmpviz.capabilities.messages.settings import GRAPH, HELD, mended
from pmpviz.live.handles import Handle, handle_of, turned
from pmpviz.live.places import PLACES, Places
from pmpviz.live.plan import Settings, choice, knob

MOST_SWEEPS = 200
SCHEDULES = ("parallel", "sequential", "two_pass")
RULES = ("sum", "max", "between")
PLAYS = ("message", "sweep", "run")

ORDERS = (
    "Parallel: all messages at once from the last sweep's. Sequential: factor after factor, from the newest. Two-pass: "
    "from the leaves to the root and back, for graphs without a loop."
)
SUM_OR_MAX = "Sum-product gives marginals, max-product max-marginals; between them lies any message temperature."
MOST = "How many sweeps are computed and recorded; of two undamped passes, after which nothing changes, one."


@dataclass(frozen=True)
class MessagePlan(Settings):
    """`graph` is a small graph's text, or `file:` and a content hash; `evidence` pairs of variable and value.

    `places` are the variables that were dragged.
    """

    graph: str = GRAPH.field("tree")
    schedule: str = choice("Schedule", SCHEDULES, ORDERS, "two_pass")
    damping: float = knob("Damping", 0.0, 0.95, 0.0, help="The share of the old message that is kept; 0 is undamped.")
    rule: str = choice("Messages", RULES, SUM_OR_MAX)
    beta: float = knob("Message β", 1.0, 100.0, 3.0, "log", "1/β is the messages' temperature: 1 is sum, ∞ is max.")
    sweeps: int = knob("Sweeps", 1, MOST_SWEEPS, 60, "int", MOST)
    play: str = choice("Played by", PLAYS, "How the recording is played.")
    evidence: tuple[tuple[int, int], ...] = HELD.field(())
    places: Places = PLACES.field(())

    def mended(self, default: Any) -> tuple[MessagePlan, list[str]]:
        """The plan with a schedule that its graph allows."""
        return mended(self)

    @property
    def temperature(self) -> float:
        """Of the messages (perturb-and-max-product, section 2.3): 1 is sum-product, 0 max-product."""
        return {"sum": 1.0, "max": 0.0}.get(self.rule, 1 / self.beta)

    @property
    def computed(self) -> tuple:
        """What the recording depends on."""
        return self.graph, self.schedule, self.damping, self.temperature, self.sweeps, self.evidence


def knobs_of(plan: MessagePlan, is_tree: bool) -> list[Handle]:
    """The knob beneath the picture: of sum-product on loops message beta, up to max-product, elsewhere the damping."""
    if plan.schedule == "two_pass":
        return []
    handle = handle_of(plan, "damping" if is_tree or plan.rule == "max" else "beta")
    assert handle is not None
    return [replace(handle, value=1.0) if handle.name == "beta" and plan.rule == "sum" else handle]


def with_knob(plan: MessagePlan, name: str, value: float) -> MessagePlan:
    """The plan with such a knob turned; message beta 1 is sum-product."""
    if name not in ("beta", "damping") or not math.isfinite(value):
        return plan
    plan = turned(plan, name, value)
    return plan if name != "beta" else plan.replace(rule="between" if plan.beta > 1 else "sum")


def next_value(evidence: tuple[tuple[int, int], ...], variable: int, card: int) -> tuple[tuple[int, int], ...]:
    """The evidence after a click on a variable: free, held at 0, at 1, ..., free again."""
    held = dict(evidence)
    value = held.pop(variable, -1) + 1
    if value < card:
        held[variable] = value
    return tuple(sorted(held.items()))

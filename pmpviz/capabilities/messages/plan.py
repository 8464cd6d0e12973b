"""What the Messages page is set to: a small graph, a schedule, damping, sum or max, evidence, sweeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pmpviz.capabilities.messages.settings import GRAPH, HELD, MOST_VARIABLES, mended
from pmpviz.live.plan import Settings, setting
from pmpviz.types import Param

MOST_SWEEPS = 200
SCHEDULES = ("parallel", "sequential", "two_pass")
RULES = ("sum", "max", "between")
PLAYS = ("message", "sweep", "run")

SCHEDULE = Param(
    "schedule", "Schedule", 0, 0, "parallel", "choice",
    "Parallel: all messages at once from the last sweep's. Sequential: factor after factor, from the newest. Two-pass: "
    "from the leaves to the root and back, for graphs without a loop.", choices=SCHEDULES,
)  # fmt: skip
DAMPING = Param("damping", "Damping", 0.0, 0.95, 0.0, help="The share of the old message that is kept; 0 is undamped.")
RULE = Param(
    "rule", "Messages", 0, 0, "sum", "choice",
    "Sum-product gives marginals, max-product max-marginals; between them lies any message temperature.",
    choices=RULES,
)  # fmt: skip
BETA = Param("beta", "Message β", 1.0, 100.0, 3.0, "log", "1/β is the messages' temperature: 1 is sum, ∞ is max.")
SWEEPS = Param(
    "sweeps", "Sweeps", 1, MOST_SWEEPS, 60, "int",
    "How many sweeps are computed and recorded; of two undamped passes, which are one sweep, at most two.",
)  # fmt: skip
PLAY = Param("play", "Played by", 0, 0, "message", "choice", "How the recording is played.", choices=PLAYS)


@dataclass(frozen=True)
class MessagePlan(Settings):
    """`graph` is a small graph's text, or `file:` and a content hash; `evidence` pairs of variable and value."""

    graph: str = GRAPH.field("tree")
    schedule: str = setting(SCHEDULE, "two_pass")
    damping: float = setting(DAMPING)
    rule: str = setting(RULE)
    beta: float = setting(BETA)
    sweeps: int = setting(SWEEPS)
    play: str = setting(PLAY)
    evidence: tuple[tuple[int, int], ...] = HELD.field(())

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


def next_value(evidence: tuple[tuple[int, int], ...], variable: int, card: int) -> tuple[tuple[int, int], ...]:
    """The evidence after a click on a variable: free, held at 0, at 1, ..., free again."""
    held = dict(evidence)
    value = held.pop(variable, -1) + 1
    if value < card:
        held[variable] = value
    return tuple(sorted(held.items()))


__all__ = [
    "BETA",
    "DAMPING",
    "MOST_SWEEPS",
    "MOST_VARIABLES",
    "PLAY",
    "PLAYS",
    "RULE",
    "RULES",
    "SCHEDULE",
    "SCHEDULES",
    "SWEEPS",
    "MessagePlan",
    "next_value",
]

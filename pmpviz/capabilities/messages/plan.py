"""What the Messages page is set to: a small graph, a schedule, damping, sum or max, evidence, sweeps."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from pmpviz.types import Param

MOST_VARIABLES, MOST_SWEEPS = 16, 200
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
SETTINGS = (SCHEDULE, DAMPING, RULE, BETA, SWEEPS, PLAY)


@dataclass(frozen=True)
class MessagePlan:
    """`graph` is a small graph's text, or `file:` and a content hash; `evidence` pairs of variable and value."""

    graph: str = "tree"
    schedule: str = "two_pass"
    damping: float = 0.0
    rule: str = "sum"
    beta: float = 3.0
    sweeps: int = 60
    evidence: tuple[tuple[int, int], ...] = ()
    play: str = "message"

    def replace(self, **changes) -> MessagePlan:
        """The same plan with some settings changed."""
        return dataclasses.replace(self, **changes)

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
    "SETTINGS",
    "SWEEPS",
    "MessagePlan",
    "next_value",
]

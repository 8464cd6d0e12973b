"""When metrics are taken, and what a budget allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pmpviz.runs.run import MAX_CHUNK_SWEEPS, Run

METRIC_EVERY = 64


def is_metric_sweep(sweep: int) -> bool:
    """Sweeps 0, 1, 2, 4, ..., 64 and then every 64, whatever the chunks are."""
    return sweep % METRIC_EVERY == 0 if sweep > METRIC_EVERY else sweep & (sweep - 1) == 0


def next_metric_sweep(sweep: int) -> int:
    """First metric sweep after `sweep`."""
    if sweep >= METRIC_EVERY:
        return (sweep // METRIC_EVERY + 1) * METRIC_EVERY
    return 1 << sweep.bit_length() if sweep else 1


def uses(run: Run) -> dict[str, float]:
    """What a run has used, in every unit of a budget."""
    return {"sweeps": run.quantum / run.quanta, "seconds": run.seconds, "updates": run.updates}


@dataclass(frozen=True)
class Budget:
    """How much each lane may use: `sweeps`, `seconds` in compiled calls, or `updates` per chain; 0 is no limit.

    It is counted from what the lane had used `before`, in every unit.
    """

    unit: str = "sweeps"
    amount: float = 0.0
    before: Mapping[str, float] = field(default_factory=dict)

    def used(self, run: Run) -> float:
        """What the run has used, in this unit."""
        return uses(run)[self.unit]

    def left(self, run: Run) -> float:
        """What the run may use still, in this unit; not more than 0 once the budget is reached."""
        return self.amount - (self.used(run) - self.before.get(self.unit, 0.0))

    def spent(self, run: Run) -> bool:
        """Whether the run has reached the budget."""
        return self.amount > 0 and self.left(run) <= 0

    def ends_within_sweeps(self, run: Run) -> bool:
        """Whether the run has reached a budget that need not end with a sweep: one in seconds does."""
        return self.unit != "seconds" and self.spent(run)

    def chunk(self, run: Run, sweeps: int) -> int:
        """Quanta to advance next: at most `sweeps` sweeps, not past a metric sweep nor the budget."""
        until_metric = next_metric_sweep(run.sweep) * run.quanta - run.quantum
        count = min(max(sweeps, 1), MAX_CHUNK_SWEEPS) * run.quanta - run.quantum % run.quanta
        count = min(count, until_metric)
        if self.amount > 0 and self.unit != "seconds":
            rate = self.used(run) / run.quantum if run.quantum else self._per_quantum(run)
            count = min(count, max(int(-(-self.left(run) // rate)), 1))
        return count

    def _per_quantum(self, run: Run) -> float:
        per_sweep = run.algorithm.spec.updates_per_sweep(run.target.model) if self.unit == "updates" else 1
        return per_sweep / run.quanta

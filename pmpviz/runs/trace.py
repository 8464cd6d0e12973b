"""What a run reports: plain host arrays, the same for pages, command line, tests and benchmarks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pmpviz.models.space import Space


@dataclass(frozen=True)
class Trace:
    """Record of some sweeps of a run.

    `sweeps[m]`: number of each recorded sweep; `energies[m, chains]` = -log_weight(x) (without beta);
    `statistics[m, chains, ...]` = mean of x over the sites, or for more than two states the share of sites in each
    (`Space.statistic`); `info[name][m, chains]`: what the algorithm reports (residual, acceptance, ...);
    `frames[m, tiles, bytes]`: configuration of the first chain of each tile, as `space` packs it;
    `fingerprints[m, 4]`: projections of the first chain's messages, where the algorithm passes messages;
    `seconds[m]`: time inside compiled calls when that sweep was done, compilation excluded;
    `metrics[name]`: (sweep, seconds, value) triples taken at the metric schedule.
    """

    space: Space
    sweeps: np.ndarray
    energies: np.ndarray
    statistics: np.ndarray
    info: dict[str, np.ndarray]
    frames: np.ndarray
    fingerprints: np.ndarray | None
    seconds: np.ndarray
    run_seconds: float
    compile_seconds: float
    metrics: dict[str, list[tuple[int, float, float]]] = field(default_factory=dict)

    def frame(self, index: int, tile: int = 0) -> np.ndarray:
        """Configuration int8[n] of the first chain of `tile` at recorded sweep `index`."""
        return self.space.unpack(self.frames[index, tile])

    @property
    def means(self) -> np.ndarray | None:
        """Mean of x over the sites, [m, chains]; None where a variable has more than two states."""
        return self.statistics if self.space.binary else None

    @property
    def shares(self) -> np.ndarray:
        """Share of the sites in each state, [m, chains, K]."""
        return np.stack([1 - self.statistics, self.statistics], -1) if self.space.binary else self.statistics


def join(traces: list[Trace]) -> Trace:
    """One trace of consecutive ones."""
    first = traces[0]
    metrics: dict[str, list] = {}
    for trace in traces:
        for name, points in trace.metrics.items():
            metrics.setdefault(name, []).extend(points)
    return Trace(
        first.space,
        np.concatenate([t.sweeps for t in traces]),
        np.concatenate([t.energies for t in traces]),
        np.concatenate([t.statistics for t in traces]),
        {name: np.concatenate([t.info[name] for t in traces]) for name in first.info},
        np.concatenate([t.frames for t in traces]),
        None if first.fingerprints is None else np.concatenate([t.fingerprints for t in traces]),
        np.concatenate([t.seconds for t in traces]),
        sum(t.run_seconds for t in traces),
        sum(t.compile_seconds for t in traces),
        metrics,
    )

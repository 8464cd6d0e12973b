"""What is counted of one lane under its present settings: effective draws, R-hat, autocorrelation, periods."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pmpviz.live.store import Window
from pmpviz.metrics import chains as chain_metrics
from pmpviz.metrics.oscillation import find_period
from pmpviz.metrics.reading import Reading
from pmpviz.runs import run as running
from pmpviz.runs.trace import Trace

WINDOW_SWEEPS = 1024
WINDOW_CHAINS = 128
LEAST_COUNTED = 64
"""Sweeps: of fewer even chains of the very law differ by what each of them has not forgotten yet."""
MANY_TIMES = 50
"""So many autocorrelation times are to be counted for one to be known to some per cent (Goodman and Weare, Sokal)."""
AGREE = 1.1
"""R-hat up to which chains agree well enough for what they are worth to be told."""
PERIOD_SWEEPS = 64
PERIOD_TOLERANCE = 1e-4


@dataclass(frozen=True)
class Summary:
    """Effective draws of all chains, those a second, R-hat and autocorrelation time in sweeps; None where n/a.

    Of chains they are of the last `counted` sweeps; `keeps` says whether what a chain differs by from the others at
    their beginning it still does at their end: R-hat alone is large of few sweeps, too. `sweep` and `seconds` of
    computing are of the moment that it was taken at.
    """

    ess: float | None = None
    ess_rate: float | None = None
    rhat: float | None = None
    time: float | None = None
    counted: int = 0
    keeps: bool = True
    sweep: int | None = None
    seconds: float = 0.0

    @property
    def brief(self) -> bool:
        """Whether R-hat is of too few sweeps to say that chains disagree."""
        return self.counted < LEAST_COUNTED

    @property
    def rough(self) -> bool:
        """Whether the autocorrelation time is of too few times itself to be relied on."""
        return self.time is not None and self.counted < MANY_TIMES * self.time

    @property
    def apart(self) -> bool:
        """Whether chains disagree so much that they are no stretches of one law."""
        return self.rhat is not None and self.rhat > AGREE and self.keeps


class Statistics:
    """Statistics of a run since one of its sweeps, at which it began or its settings last changed.

    A change of beta, field, clamps or knobs makes new ones: what was counted under other settings has another law.
    """

    def __init__(self, run: running.Run):
        self.since, self.begun, self._clock = run.sweep, run.seconds, run.seconds
        self._drawn = running.draws_done(run) or 0
        self._energies = Window(WINDOW_SWEEPS, min(run.chains, WINDOW_CHAINS))
        self._durations = Window(WINDOW_SWEEPS, 1)
        self._messages = Window(PERIOD_SWEEPS, running.FINGERPRINT)

    def append(self, trace: Trace) -> None:
        """Count the sweeps of a trace."""
        self._energies.append(trace.energies)
        self._durations.append(np.diff(trace.seconds, prepend=self._clock)[:, None])
        self._clock = float(trace.seconds[-1])
        if trace.fingerprints is not None:
            self._messages.append(trace.fingerprints)

    def draws(self, run: running.Run) -> int | None:
        """Draws that a chain has completed since then; None of what makes no independent draws."""
        done = running.draws_done(run)
        return None if done is None else done - self._drawn

    def summary(self, run: running.Run) -> Summary:
        """Of draws: completed ones, over all seconds since then. Of chains: see `_of_chains`. Of solvers: nothing."""
        draws = self.draws(run)
        if draws == 0:
            return Summary()  # Nothing has been drawn yet that could be counted.
        if draws is not None:
            ess = Reading(float(draws * run.chains))
            return Summary(ess.value, chain_metrics.ess_per_second(ess, run.seconds - self.begun).value)
        return self._of_chains(run.chains) if run.algorithm.spec.kind == "chain" else Summary()

    def _of_chains(self, chains: int) -> Summary:
        """Of the energy, over the second half of the last 1,024 sweeps; what the recorded chains show holds of all."""
        rows, durations = (_second_half(window.ordered()) for window in (self._energies, self._durations))
        values = rows.T
        ess = chain_metrics.of_all_chains(chain_metrics.bulk_ess(values), len(values), chains)
        rate = chain_metrics.ess_per_second(ess, float(durations.sum(dtype=np.float64)))
        tau = chain_metrics.integrated_time(values)
        keeps = chain_metrics.keep_apart(values)
        return Summary(ess.value, rate.value, chain_metrics.rhat(values).value, tau.value, len(rows), keeps)

    def period(self) -> int | None:
        """Sweeps after which the messages repeat, or None."""
        rows = self._messages.ordered()
        return find_period(rows, PERIOD_TOLERANCE) if len(rows) >= 8 else None


def _second_half(rows: np.ndarray) -> np.ndarray:
    return rows[len(rows) // 2 :]

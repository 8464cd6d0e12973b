"""One lane of a live run: its run value, the frames and numbers it has shown, and its metrics."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import nan
from typing import Any

import numpy as np

from pmpviz.capabilities.sampling.draws import Draws, DrawsView
from pmpviz.capabilities.sampling.first_right import right_since
from pmpviz.capabilities.sampling.measures import Counted, MetricPoint, measured
from pmpviz.capabilities.sampling.states import StateCounts, StatesView
from pmpviz.capabilities.sampling.statistics import Statistics, Summary
from pmpviz.live.plan import Choice
from pmpviz.live.store import FrameRing, Series
from pmpviz.models.space import Space
from pmpviz.runs import run as running
from pmpviz.runs.schedule import Budget, is_metric_sweep, uses
from pmpviz.runs.trace import Trace
from pmpviz.runs.truth import Truth

LIVE_CHUNK_SECONDS = 0.04
MAGNETISATION = ("magnetisation", "absolute_magnetisation")
# Of so many earlier settings metrics are kept.
MOST_EARLIER = 200


def bands(space: Space) -> tuple[str, ...]:
    """What is counted over the chains beside what the algorithm reports: of more than two states the shares of each."""
    return ("energy", *(MAGNETISATION if space.binary else map(share_name, range(space.states))))


def stretch(points: Sequence[MetricPoint], since: int) -> list[tuple[MetricPoint, ...]]:
    """What was measured under settings that held from a sweep on, apart from where they began; none of nothing."""
    measured = tuple(point for point in points if point.sweep > since or not since)
    return [measured] if measured else []


def share_name(state: int) -> str:
    """The series of the share of sites in a state."""
    return f"share of state {state}"


@dataclass(frozen=True)
class LaneView:
    """An immutable picture of a lane for pages: numbers, copies of the series, and the ring of frames.

    `period`, `summary`, `completed_draws` and `points` are statistics of the present settings, which hold since sweep
    `since`.
    """

    algorithm: str
    label: str
    kind: str
    guarantee: str
    knobs: dict[str, Any]
    sweep: int
    seconds: float
    updates: float
    rate: float
    compile_seconds: float
    done: bool
    series: Series
    draws: DrawsView | None
    points: tuple[MetricPoint, ...]
    ring: FrameRing
    strip: np.ndarray
    period: int | None
    summary: Summary
    completed_draws: int | None
    since: int
    since_seconds: float
    layer: np.ndarray | None
    frequencies: np.ndarray | None = None  # Of each state of each variable, where there are more than two.
    states: StatesView | None = None  # Of the joint states, where there are few.
    cold: float | None = None  # On the monotonic clock: since when it is compiled; None once it is.
    right: tuple[int, int] | None = None  # After which sweeps its energy first was right, by `right_since`.
    earlier: tuple[tuple[MetricPoint, ...], ...] = ()  # The metrics under each of the settings before these.
    past: bool = False  # Whether it is of a moment that is looked back at, of which not everything was kept.

    @property
    def point(self) -> MetricPoint | None:
        """The last metrics of the present settings."""
        return self.points[-1] if self.points else None

    def at(self, sweep: int) -> LaneView:
        """The lane as it was measured at an earlier sweep; what was not kept is left out."""
        sweep = min(sweep, self.sweep)
        points = tuple(p for p in self.points if p.sweep <= sweep)
        kept = self.series.bins(sweep, sweep)
        sweeps, times = ([end[name][-1:] for end in (kept.least, kept.most)] for name in ("sweep", "seconds"))
        time = float(np.interp(sweep, np.concatenate(sweeps), np.concatenate(times))) if len(kept) else 0.0
        own = {"points": points, "earlier": self.earlier, "frequencies": self.frequencies}
        # What took as many sweeps again to be known was not known before.
        if self.right is not None and 2 * self.right[1] <= sweep - self.since:
            own["right"] = self.right
        return dataclasses.replace(self.bare(), **own, seconds=time, sweep=sweep, rate=0.0, past=True)

    def bare(self) -> LaneView:
        """The lane without the statistics of its settings; its curves stay."""
        early = {"points": (), "summary": Summary(), "completed_draws": None, "period": None, "right": None}
        curve = (*self.earlier, *stretch(self.points, self.since))
        return dataclasses.replace(self, **early, earlier=curve, layer=None, frequencies=None, states=None)

    @property
    def before_settings(self) -> bool:
        """Whether it is of a moment before its present settings, whose statistics are not kept."""
        return self.past and 0 < self.since >= self.sweep

    @property
    def moved(self) -> bool:
        """Whether a sweep is done under the present settings."""
        return self.sweep > self.since

    @cached_property
    def judged(self) -> MetricPoint | None:
        """The last metrics since it has moved: those at its start say nothing of the algorithm."""
        return self.points[-1] if self.points and self.points[-1].sweep > self.since else None

    @cached_property
    def begins_within(self) -> bool:
        """Whether it is within the noise from its start, or from the first of draws that take a sweep each."""
        if not self.points or not self.points[0].within:
            return False
        return self.points[0].sweep == self.since or (self.draws is not None and self.draws.length == 1)

    @cached_property
    def passage(self) -> MetricPoint | None:
        """The first metrics, once it has moved, that are within the noise of a reference that it was beyond before."""
        moved = (p for p in self.points if p.sweep > self.since and not self.begins_within)
        return next((p for p in moved if p.within), None)

    @property
    def making(self) -> tuple[int, int] | None:
        """(sweeps done, of how many) of the first draw under the present settings; None once it is done."""
        draws, done = self.draws, self.sweep - self.since
        if draws is None or draws.length == 1 or self.completed_draws or self.points:
            return None
        if self.completed_draws is None:  # A moment that is looked back at.
            return (done, draws.length) if done < draws.length and not self.since else None
        age = draws.age if draws.whole else 0
        return (age, draws.length) if age < draws.length else None

    @property
    def before_making(self) -> int:
        """Sweeps until that draw begins, where the one in the making was begun under other settings."""
        return self.draws.before if self.making and self.draws is not None and self.completed_draws is not None else 0


class Lane:
    """Worker-side state of a lane; `advance` computes one chunk, `view` publishes.

    `run` is at the end of a sweep, unless its budget ended before. A sweep that takes longer than a chunk should is
    computed in parts of so many quanta, apart from `run`: a pause need not wait for it, and what is done to the run in
    the middle of a sweep is done to its last whole one.
    """

    def __init__(self, plan: Choice, run: running.Run, epoch: int = 0):
        self.plan, self.run, self.epoch = plan, run, epoch
        info = tuple(run.algorithm.spec.metrics)
        stats = tuple(f"{n}:{s}" for n in (*bands(self.space), *info) for s in ("mean", "low", "high"))
        names = ("sweep", "seconds", "updates", "first_energy", "flips", "energy:error", *stats)
        self.series = Series(names)
        self.draws = Draws(names) if run.algorithm.spec.kind == "draw" else None
        self.ring = FrameRing(self.space.frame_bytes)
        self.statistics, self._summary = Statistics(run), Summary()
        self.states = StateCounts.of(run)
        self.points: list[MetricPoint] = []
        self.earlier: list[tuple[MetricPoint, ...]] = []
        self.waiting: list[Counted] = []
        self.frequencies: np.ndarray | None = None
        self.right: tuple[int, int] | None = None
        self._part: running.Run | None = None
        self._others: tuple[running.Run | None, np.ndarray] = None, np.zeros((0, self.space.frame_bytes), np.uint8)
        self._chunk, self.rate, self.compile_seconds = 1, 0.0, 0.0
        self._lately = [0.0, 0.0]  # Quanta and their seconds, less and less of what is long ago.
        self.stopped = self.warmed = False
        self._made = time.monotonic()
        self.before: dict[str, float] = {}  # What had been used when its settings last changed.
        self.later, self.head_start = False, 0.0  # Compiled elsewhere; what it is taken to have used at its start.
        self.show(epoch)
        self._metrics_due()

    @property
    def algorithm(self) -> str:
        """The algorithm's id: lanes of one algorithm share their programs."""
        return self.plan.algorithm

    @property
    def space(self) -> Space:
        """Of the model's configurations."""
        return self.run.target.model.space

    @property
    def count(self) -> int:
        """Sweeps done."""
        return self.run.sweep

    @property
    def midway(self) -> bool:
        """Whether a part of the next sweep is done."""
        return self._part is not None

    def show(self, epoch: int) -> None:
        """The frame of this moment, the first of an epoch: what a person has changed shows before the next sweep."""
        self.epoch = epoch
        x = running.positions(self.run)
        self.ring.append(np.array([self.run.sweep]), self.space.pack(x[:1]), epoch)

    def warm(self) -> None:
        """Compile the program that `advance` runs, and advance by nothing."""
        seconds = self.run.seconds
        self.run, trace = running.advance(self.run, 0, donate=True)
        assert trace is not None
        self.run = dataclasses.replace(self.run, seconds=seconds)
        self.compile_seconds += trace.compile_seconds
        self.warmed = True

    def advance(self, budget: Budget, most_sweeps: int) -> bool:
        """One compiled chunk, sized to take about 40 ms, then its numbers; whether it ended a sweep or the budget."""
        run, quanta = self._part or self.run, self.run.quanta
        count = budget.chunk(run, min(max(self._chunk // quanta, 1), most_sweeps))
        count = min(count, self._whole_chunk())
        if self._part is None and (run.quantum + count) % quanta:
            run = running.copied(run)
        run, trace = running.advance(run, count, donate=True)
        assert trace is not None
        self.compile_seconds += trace.compile_seconds
        self._pace(trace, count)
        if run.quantum % quanta and not budget.ends_within_sweeps(run):
            self._part = run
            return False
        ended, self.run, self._part = run.sweep > self.run.sweep, run, None
        if ended:
            self._append(trace)
            if is_metric_sweep(run.sweep) or budget.spent(run):
                self._metrics_due()
        return True

    def _whole_chunk(self) -> int:
        """Quanta of a chunk: whole sweeps where it has more than one."""
        quanta = self.run.quanta
        return self._chunk if self._chunk < quanta else self._chunk // quanta * quanta

    def _pace(self, trace: Trace, count: int) -> None:
        self._lately = [0.7 * old + new for old, new in zip(self._lately, (count, trace.run_seconds), strict=True)]
        self.rate = self._lately[0] / self.run.quanta / self._lately[1]
        if trace.run_seconds > 1.5 * LIVE_CHUNK_SECONDS:
            self._chunk = max(self._chunk // 2, 1)
        elif trace.run_seconds < 0.5 * LIVE_CHUNK_SECONDS and count >= self._whole_chunk():
            self._chunk = min(self._chunk * 2, running.MAX_CHUNK_SWEEPS * self.run.quanta)

    def _append(self, trace: Trace) -> None:
        shown = np.concatenate([self.ring.last(1), trace.frames[:, 0]])
        flips = self.space.differing(shown[1:], shown[:-1]) / self.run.target.n
        per_sweep = self.run.algorithm.spec.updates_per_sweep(self.run.target.model)
        columns = {
            "sweep": trace.sweeps,
            "seconds": trace.seconds,
            "updates": trace.sweeps * per_sweep,
            "first_energy": trace.energies[:, 0],
            "flips": flips,
            "energy:error": _standard_errors(trace.energies),
        }
        counted = dict(zip(bands(self.space), (trace.energies, *_counts(trace)), strict=True)) | trace.info
        rows = np.stack(list(counted.values()))
        low, high = np.percentile(rows, (10, 90), axis=2)
        for name, *values in zip(counted, rows.mean(2), low, high, strict=True):
            columns |= {f"{name}:{kind}": value for kind, value in zip(("mean", "low", "high"), values, strict=True)}
        self.series.append(columns)
        if self.draws is not None:
            self.draws.append(columns, self.run.algorithm.draw_sweeps())
        self.ring.append(trace.sweeps, trace.frames[:, 0], self.epoch)
        self.statistics.append(trace)
        if self.states is not None:
            self.states.add(self.run)

    def _metrics_due(self) -> None:
        if not running.countable(self.run):
            return
        run, draws = self.run, self.draws
        last = (self.series if draws is None else draws.series).last
        energy = last.get("energy:mean", nan), last.get("energy:error", nan)
        bits = self.space.pack(running.counted(run))
        self.waiting.append(Counted((run.sweep, run.seconds, run.updates), energy, bits))

    def measure(self, truth: Truth | None) -> None:
        """Metrics of all configurations that wait for the reference."""
        if truth is None:
            return
        for counted in self.waiting:
            if not self.space.binary:
                self.frequencies = self.space.frequencies(self.space.unpack(counted.bits))
            if point := measured(counted, truth, self.space):
                self.points.append(point)
        self.waiting.clear()

    def note_right(self, law: tuple[float, float] | None) -> None:
        """Look whether the energy has been right by now, until it has: `law` is the right one with its error."""
        run = self.run
        if law is not None and self.right is None and run.algorithm.spec.kind == "chain":
            self.right = right_since(self.series, self.statistics.since, run.sweep, law, run.chains)

    def change(self, plan: Choice, target) -> None:
        """New knobs, weights, beta or evidence from here on; the statistics begin anew."""
        self.earlier = [*self.earlier, *stretch(self.points, self.statistics.since)][-MOST_EARLIER:]
        self.plan, self._part = plan, None
        self.run = running.retarget(self.run, target, plan.build())
        self.statistics, self._summary, self.stopped = Statistics(self.run), Summary(), False
        self.before = uses(self.run)
        self.states = StateCounts.of(self.run)
        self.points.clear()
        self.waiting.clear()
        self.frequencies = self.right = None
        if self.draws is not None:
            self.draws.renew()

    def flip(self, sites: Sequence[int]) -> None:
        """Flip sites of chain 0, each to its next state (chains only)."""
        x = np.array(running.positions(self.run))
        for site in sites:
            x[0, site] = self.space.flipped(x[0], site)
        fresh = running.start(self.run.algorithm, self.run.target, self.run.key, self.run.chains, x)
        self.run, self._part = dataclasses.replace(self.run, state=fresh.state), None

    def _strip(self) -> np.ndarray:
        """The other chains that are shown, packed; kept for as long as the run is where it is."""
        run, packed = self._others
        if run is not self.run:
            packed = self.space.pack(running.positions(self.run)[1:9])
            self._others = self.run, packed
        return packed

    def check_stop(self, stop: str, threshold: float) -> None:
        """Stop the lane where residual, MMD^2 or R-hat, under the present settings, is at or below the threshold."""
        value = {"residual": self._residual, "mmd": self._mmd2, "rhat": lambda: self._summary.rhat}.get(stop)
        found = None if value is None else value()
        self.stopped = found is not None and bool(found <= threshold)

    def _residual(self) -> float | None:
        last = self.series.last
        return last.get("residual:high") if last and last["sweep"] > self.statistics.since else None

    def _mmd2(self) -> float | None:
        return self.points[-1].mmd2 if self.points else None

    def view(self, done: bool, layer: np.ndarray | None, summarise: bool, name: str = "") -> LaneView:
        """The picture of this moment; `name` is what the lane is called among others."""
        run, spec = self.run, self.run.algorithm.spec
        if summarise:
            self._summary = dataclasses.replace(self.statistics.summary(run), sweep=run.sweep, seconds=run.seconds)
        return LaneView(
            spec.id,
            name or spec.label,
            spec.kind,
            spec.guarantee,
            self.plan.full_knobs,
            run.sweep,
            run.seconds,
            run.updates,
            self.rate,
            self.compile_seconds,
            done,
            self.series,
            None if self.draws is None else self.draws.view(run.algorithm.draw_sweeps()),
            tuple(self.points),
            self.ring,
            self._strip(),
            self.statistics.period(),
            self._summary,
            self.statistics.draws(run),
            self.statistics.since,
            self.statistics.begun,
            layer,
            self.frequencies,
            self.states.view() if self.states is not None else None,
            None if self.warmed else self._made,
            self.right,
            tuple(self.earlier),
        )


def _standard_errors(rows: np.ndarray) -> np.ndarray:
    """Of the mean over independent chains, for each row; 0 of one chain, where it is not known."""
    chains = rows.shape[1]
    return rows.std(axis=1, ddof=1) / np.sqrt(chains) if chains > 1 else np.zeros(len(rows))


def _counts(trace: Trace) -> tuple[np.ndarray, ...]:
    if trace.means is None:
        return tuple(np.moveaxis(trace.shares, -1, 0))
    magnetisation = 2 * trace.means - 1
    return magnetisation, np.abs(magnetisation)

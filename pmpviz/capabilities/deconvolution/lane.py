"""One lane of the deconvolution page: a run, frames of what it has reached, and how often glyphs were found."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Int8, Int32, UInt8

from pmpviz.capabilities.deconvolution import posterior as deconvolution
from pmpviz.capabilities.deconvolution.plan import DeconvolutionPlan, Problem
from pmpviz.live.plan import Choice
from pmpviz.live.store import Series

MOST_FRAMES = 480
# What is told of all samples of a frame: their mean, least and most.
MEASURES = ("wrong", "explained", "energy", "residual", "hidden_wrong", "sharpness")
MOST_SHOWN = 36
MOST_SWEEPS = 10
CHUNK_SECONDS = 0.12
REST = 1e-5
# Max-product's beliefs soon are dozens of nats: at a quarter of them grey levels tell unsure from certain. Beyond 16
# nats single precision says 1.
SOFTNESS, CERTAIN = 4.0, 16.0
# Single sweeps at first: what a class is to see happens within them.
SLOW_SWEEPS = 20


@dataclass(frozen=True, eq=False)
class Found:
    """A generating glyph: the feature that shows it (None where none does), its shift, and pixels that differ."""

    feature: int | None
    shift: tuple[int, int]
    mismatches: int


@dataclass(frozen=True, eq=False)
class Frame:
    """What one moment looked like: beliefs in 255 grey levels, reconstructions of the shown images in bits.

    `places` are the locations that are on, of the shown images: indices into S of all samples, [m, shown, f, h, w].
    `sharpness` is the mean distance of the grey levels from the middle: 0 knows nothing, 1/2 is certain.
    `found` says of every sample what became of every generating glyph; it is empty where these are not known.
    `order[sample]` says which feature stands at each place: under a glyph the one that shows it.
    """

    number: int
    sweep: float
    seconds: float
    belief: UInt8[np.ndarray, "m c f a b"]
    picture: UInt8[np.ndarray, " bytes"]
    places: Int32[np.ndarray, " on"]
    wrong: tuple[int, ...]
    explained: tuple[int, ...]
    energy: tuple[float, ...]
    residual: float
    hidden_wrong: tuple[int, ...]
    sharpness: float
    found: tuple[tuple[Found, ...], ...] = ()
    order: tuple[tuple[int, ...], ...] = ()

    @property
    def found_counts(self) -> tuple[int, ...]:
        """Generating glyphs that stand among the features of each sample, pixel by pixel."""
        return tuple(sum(each.mismatches == 0 for each in sample) for sample in self.found)


@dataclass(frozen=True, eq=False)
class DeconvolutionLaneView:
    """An immutable picture of a lane; `order[sample]` says which feature stands at each place.

    `series` has the measures of every frame there was, `explained_at` is the first (sweep, seconds) at which a sample
    explained every pixel. `belief` is that of each pixel of the features to be ink.
    """

    plan: Choice
    algorithm: str
    label: str
    guarantee: str
    samples: int
    sweep: float
    seconds: float
    compile_seconds: float
    frames: tuple[Frame, ...]
    series: Series
    explained_at: tuple[float, float] | None
    order: tuple[tuple[int, ...], ...]
    features: Int8[np.ndarray, "m c f a b"] | None
    locations: Int8[np.ndarray, "m n f h w"] | None
    belief: Float[np.ndarray, "m c f a b"] | None
    done: bool
    rested: bool

    @property
    def last(self) -> Frame | None:
        """The newest frame."""
        return self.frames[-1] if self.frames else None


class DeconvolutionLane:
    """Owns a run; only the worker touches it."""

    def __init__(self, plan: Choice, settings: DeconvolutionPlan, problem: Problem):
        self.plan, self._settings, self._problem = plan, settings, problem
        self.spec = plan.spec
        self._algorithm = plan.build()
        self.run: Any = None
        self.warmed, self.seconds, self.compile_seconds = False, 0.0, 0.0
        self._frames: list[Frame] = []
        told = (f"{name}:{part}" for name in MEASURES for part in ("mean", "low", "high"))
        self.series = Series(("sweep", "seconds", *told))
        self._explained_at: tuple[float, float] | None = None
        self._snapshot: Any = None
        self._order: tuple[tuple[int, ...], ...] = ()
        self._found: tuple[tuple[Found, ...], ...] = ()
        self._compared = b""
        self._number, self._rate = 0, 0.0
        self._idle = 0.0  # Seconds of the call that computes nothing but the start.

    @property
    def quanta(self) -> int:
        """Quanta of a sweep."""
        return self.spec.quanta(self._problem.target.model)

    @property
    def algorithm(self) -> str:
        """The algorithm's id: lanes of one algorithm share their programs."""
        return self.plan.algorithm

    @property
    def count(self) -> float:
        """Sweeps done, also parts of one."""
        return self.run.quantum / self.quanta if self.run is not None else 0.0

    def warm(self) -> None:
        """Begin, compile, and keep what the start looks like."""
        begin = time.perf_counter()
        run = deconvolution.begin(self._algorithm, self._problem.target, self._settings.seed, self._settings.samples)
        self.run, snapshot = deconvolution.advance(run, 0)
        self.compile_seconds = time.perf_counter() - begin
        self.warmed, self._idle = True, float(snapshot.seconds)
        self._take(snapshot)

    @property
    def rested(self) -> bool:
        """Whether messages have stopped changing: further sweeps would compute the same."""
        return bool(self._frames) and self._frames[-1].residual < REST

    def show(self, epoch: int) -> None:
        """Epochs do not mark this lane's frames."""

    def advance(self, most_sweeps: float, seconds: float = CHUNK_SECONDS) -> None:
        """A chunk of about that long, of at most ten sweeps and at least one quantum."""
        before = self.run.quantum
        begin = time.perf_counter()
        self.run, snapshot = deconvolution.advance(self.run, self._chunk(most_sweeps, seconds))
        took = max(time.perf_counter() - begin, 1e-6)
        self._rate = (self.run.quantum - before) / took
        self.compile_seconds = max(self.compile_seconds, snapshot.compile_seconds)
        self._take(snapshot)

    def _chunk(self, most_sweeps: float, seconds: float) -> int:
        """Quanta of the next chunk: by the rate so far, one sweep (or part of one) at a time while it is early."""
        sweeps = 1.0 if self.count < SLOW_SWEEPS else min(MOST_SWEEPS, 1 + self.count / SLOW_SWEEPS)
        timed = self._rate * seconds if self._rate else 1
        return max(1, int(min(min(sweeps, most_sweeps) * self.quanta, max(timed, 1))))

    def _take(self, snapshot: Any) -> None:
        self._snapshot = snapshot
        self.seconds = float(snapshot.seconds) - self._idle
        self._compare(np.asarray(snapshot.features), np.asarray(snapshot.locations).sum((1, 3, 4), dtype=int))
        frame = self._frame(snapshot)
        self._frames.append(frame)
        self.series.append({name: np.array([value]) for name, value in measures(frame).items()})
        if self._explained_at is None and min(frame.wrong) == 0:
            self._explained_at = frame.sweep, frame.seconds
        self._number += 1
        if len(self._frames) > MOST_FRAMES:
            del self._frames[superfluous(self._frames)]

    def _frame(self, snapshot: Any) -> Frame:
        problem = self._problem
        shown = np.asarray(snapshot.reconstruction)[:, :MOST_SHOWN]
        hidden = np.asarray(snapshot.reconstruction) != problem.images
        residual = np.asarray(snapshot.residual, float)
        grey = grey_levels(np.asarray(snapshot.belief), self.spec.kind)
        return Frame(
            self._number,
            self.count,
            self.seconds,
            grey,
            np.packbits(shown > 0),
            np.flatnonzero(np.asarray(snapshot.locations)[:, :MOST_SHOWN]).astype(np.int32),
            tuple(np.asarray(snapshot.wrong).tolist()),
            tuple(np.asarray(snapshot.explained).tolist()),
            tuple(np.asarray(snapshot.energy, float).tolist()),
            float(residual.max()) if np.isfinite(residual).all() else float("nan"),
            tuple((hidden & ~problem.seen).sum((1, 2, 3, 4)).tolist()),
            float(np.abs(grey / 255.0 - 0.5).mean()),
            self._found,
            self._order,
        )

    def view(self, done: bool = False, name: str = "") -> DeconvolutionLaneView:
        """What pages may see of it, called `name`."""
        features = None if self._snapshot is None else np.asarray(self._snapshot.features)
        return DeconvolutionLaneView(
            plan=self.plan,
            algorithm=self.plan.algorithm,
            label=name or self.spec.label,
            guarantee=self.spec.guarantee,
            samples=self._settings.samples,
            sweep=self.count,
            seconds=self.seconds,
            compile_seconds=self.compile_seconds,
            frames=tuple(self._frames),
            series=self.series,
            explained_at=self._explained_at,
            order=self._order,
            features=features,
            locations=None if features is None else np.asarray(self._snapshot.locations),
            belief=None if features is None else np.asarray(self._snapshot.belief),
            done=done,
            rested=self.rested,
        )

    def _compare(self, features: np.ndarray, uses: np.ndarray) -> None:
        """Order and find the features anew where they have changed, or which of them is used more."""
        state = features.tobytes() + np.argsort(-uses, axis=1, kind="stable").tobytes()
        if state == self._compared:
            return
        self._found = found_in(features, self._problem, uses)
        aligned = orders(features, self._problem.glyphs)
        self._order = tuple(under(*each) for each in zip(self._found, aligned, strict=True))
        self._compared = state


def grey_levels(belief: Float[np.ndarray, "m c f a b"], kind: str) -> UInt8[np.ndarray, "m c f a b"]:
    """Levels 0 to 255: of a chain its state, of a draw sigmoid(log-ratio / 4), so stretched that 16 nats are black."""
    if kind == "draw":
        belief = belief.astype(np.float64)
        with np.errstate(divide="ignore"):
            ratio = np.clip(np.log(belief) - np.log1p(-belief), -CERTAIN, CERTAIN)
        belief = 0.5 + 0.5 * np.tanh(ratio / (2 * SOFTNESS)) / np.tanh(CERTAIN / (2 * SOFTNESS))
    return np.rint(255 * belief).astype(np.uint8)


def found_in(
    features: Int8[np.ndarray, "m c f a b"], problem: Problem, uses: Int[np.ndarray, "m f"] | None = None
) -> tuple[tuple[Found, ...], ...]:
    """For every sample what became of every generating glyph; nothing where the glyphs are not known.

    Of features that are alike it is the one that stands at more places, `uses`: what images are explained by. A feature
    that shows one glyph better shows no other one: it stands under one of them.
    """
    if problem.glyphs is None:
        return tuple(() for _ in features)
    ink = problem.glyphs.sum((0, 2, 3))
    return tuple(
        _each_once(
            Found(near.feature if 2 * near.mismatches < ink[g] else None, near.shift, near.mismatches)
            for g, near in enumerate(deconvolution.recovered(sample, problem.glyphs, used))
        )
        for sample, used in zip(features, [None] * len(features) if uses is None else uses, strict=True)
    )


def _each_once(found: Iterable[Found]) -> tuple[Found, ...]:
    """The same, a feature being that of the glyph alone to which it is nearest, the first of equals.

    Two generating glyphs that are the very same keep the one feature that is both.
    """
    told, taken = list(found), set[int | None]()
    for glyph in sorted(range(len(told)), key=lambda g: told[g].mismatches):
        one = told[glyph]
        if one.mismatches and one.feature in taken:
            told[glyph] = replace(one, feature=None)
        taken.add(one.feature)
    return tuple(told)


def orders(
    features: Int8[np.ndarray, "m c f a b"], glyphs: Int8[np.ndarray, "c g gh gw"] | None
) -> tuple[tuple[int, ...], ...]:
    """Features of every sample in the order of the generating glyphs, or where they are not known of sample 1.

    The model does not know an order: any permutation of the features is as probable. Where there are fewer glyphs
    than features the others come last; of more glyphs the first ones are taken.
    """
    count = features.shape[2]
    reference = features[0]
    if glyphs is not None:
        kept = glyphs[:, :count]
        reference = np.pad(kept, ((0, 0), (0, count - kept.shape[1]), (0, 0), (0, 0)))
    return tuple(tuple(int(place) for place in deconvolution.align(sample, reference)) for sample in features)


def under(found: tuple[Found, ...], order: tuple[int, ...]) -> tuple[int, ...]:
    """The order with the feature that shows a glyph under it, the nearest one of several; the others as they were."""
    places: dict[int, int] = {}
    for glyph in sorted(range(min(len(found), len(order))), key=lambda g: found[g].mismatches):
        feature = found[glyph].feature
        if feature is not None and feature not in places.values():
            places[glyph] = feature
    left = iter(feature for feature in order if feature not in places.values())
    return tuple(places[place] if place in places else next(left) for place in range(len(order)))


def measures(frame: Frame) -> dict[str, float]:
    """Sweep and seconds of a frame, and mean, least and most of each measure over the samples."""
    told = {"sweep": frame.sweep, "seconds": frame.seconds}
    for name in MEASURES:
        values = np.asarray(getattr(frame, name), float)
        told |= {f"{name}:mean": values.mean(), f"{name}:low": values.min(), f"{name}:high": values.max()}
    return told


def superfluous(frames: Sequence[Frame]) -> int:
    """Place of the frame that is missed least: early ones stand close, and none is moved in time."""
    times = np.log1p([frame.sweep for frame in frames])
    return int(np.argmin(times[2:] - times[:-2])) + 1


__all__ = [
    "DeconvolutionLane",
    "DeconvolutionLaneView",
    "Found",
    "Frame",
    "found_in",
    "grey_levels",
    "measures",
    "orders",
    "under",
]

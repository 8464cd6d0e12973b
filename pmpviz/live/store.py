"""Flat memory for what a live run has shown: a ring of bit-packed frames, and series of numbers in nested bins."""

from __future__ import annotations

import copy
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

FRAME_BYTES = 16 * 2**20
MOST_FRAMES = 4096
FIRST_FRAMES = 64
FAN = 4
HALF_BINS = 1024
# Rows that graded bins show one by one: a later bin is no wider than a sixteenth of all that lies before it.
FINE_ROWS = 64


@dataclass(frozen=True)
class Frames:
    """Some frames of a ring: running numbers, sweeps and epochs int64 [m], bits uint8 [m, bytes]."""

    numbers: np.ndarray
    sweeps: np.ndarray
    epochs: np.ndarray
    bits: np.ndarray


class FrameRing:
    """The first and the last frames of one lane in one preallocated block; safe to read from other threads.

    Frames are numbered as they come. Each has the sweep that it shows, and the epoch of the settings that made it. The
    first ones stay, 64 or a quarter of what there is room for: how a run began is what is looked back at most.
    """

    def __init__(self, frame_bytes: int):
        self.capacity = int(np.clip(FRAME_BYTES // max(frame_bytes, 1), 64, MOST_FRAMES))
        self.first = min(FIRST_FRAMES, self.capacity // 4)
        self._frames = np.zeros((self.capacity, frame_bytes), np.uint8)
        self._sweeps = np.full(self.capacity, -1, np.int64)
        self._epochs = np.zeros(self.capacity, np.int64)
        self._count = 0
        self._lock = threading.Lock()

    def append(self, sweeps: np.ndarray, frames: np.ndarray, epoch: int = 0) -> None:
        """Add frames uint8 [m, bytes] of the given sweeps; the oldest but the first ones make room."""
        with self._lock:
            before, self._count = self._count, self._count + len(sweeps)
            held = self._held()
            new = held[held >= before]
            slots, rows = self._slots(new), new - before
            self._frames[slots], self._sweeps[slots], self._epochs[slots] = frames[rows], sweeps[rows], epoch

    def _held(self) -> np.ndarray:
        """Numbers of the frames that are held, in order."""
        last = max(self._count - (self.capacity - self.first), self.first)
        return np.concatenate([np.arange(min(self.first, self._count)), np.arange(last, self._count)])

    def _slots(self, numbers: np.ndarray) -> np.ndarray:
        """Where frames of these numbers are: the first ones before a ring of the others."""
        round_about = self.first + (numbers - self.first) % (self.capacity - self.first)
        return np.where(numbers < self.first, numbers, round_about)

    def since(self, number: int, most: int, dense_until: int = 0, until: float = np.inf) -> Frames:
        """Frames after that `number`: all up to sweep `dense_until`, then at most `most` evenly chosen, last in.

        None of a sweep after `until`.
        """
        with self._lock:
            held = self._held()
            new = held[(held > number) & (self._sweeps[self._slots(held)] <= until)]
            dense = int((self._sweeps[self._slots(new)] <= dense_until).sum())
            later = new[dense:]
            if len(later) > most:
                later = later[np.linspace(0, len(later) - 1, most).round().astype(int)]
            chosen = np.concatenate([new[:dense], later])
            slots = self._slots(chosen)
            return Frames(chosen, self._sweeps[slots], self._epochs[slots], self._frames[slots])

    def last(self, count: int) -> np.ndarray:
        """The last `count` frames that are held, oldest first."""
        with self._lock:
            return self._frames[self._slots(self._held()[-count:])].copy()


@dataclass(frozen=True, eq=False)
class Bins:
    """A stretch of a series in bins of `width` rows: mean, smallest and largest value of each column, [bins] each.

    The last bin may have fewer rows; of one row they are all three its value.
    """

    width: int
    mean: dict[str, np.ndarray]
    least: dict[str, np.ndarray]
    most: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(next(iter(self.mean.values())))

    def table(self) -> dict[str, np.ndarray]:
        """The means by name; of bins of several rows `NAME_min` and `NAME_max` too."""
        found = dict(self.mean)
        if self.width > 1:
            found |= {f"{name}_min": values for name, values in self.least.items()}
            found |= {f"{name}_max": values for name, values in self.most.items()}
        return found


class Series:
    """Named columns, one row for each sweep (the first column counts them), whose past never changes as it grows.

    Beside the rows there are bins of 4, 16, 64, ... rows, counted from row 0, with mean, minimum and maximum, made
    once when they are full. Of each kind the first 1,024 and the last 1,024 are kept: whatever begins at row 0 can be
    shown in at most 1,024 bins that are the same ones at any later moment. Safe to read from other threads.
    """

    def __init__(self, names: tuple[str, ...]):
        self.names = names
        self._levels = [_Level(len(names))]
        self._last: np.ndarray | None = None
        self._lock = threading.Lock()

    def append(self, columns: dict[str, np.ndarray]) -> None:
        """Add one row for each entry of the columns."""
        rows = np.stack([np.asarray(columns[name], np.float64) for name in self.names], axis=1)
        if len(rows):
            with self._lock:
                self._last = rows[-1]
                self._cascade(np.repeat(rows[:, None], 3, axis=1).astype(np.float32))

    def copy(self) -> Series:
        """The series as it is now; what is added to either is not to the other."""
        with self._lock:
            other = Series(self.names)
            other._last, other._levels = self._last, [level.copy() for level in self._levels]
        return other

    def _cascade(self, bins: np.ndarray) -> None:
        for depth in range(64):
            if depth == len(self._levels):
                self._levels.append(_Level(len(self.names)))
            bins = self._levels[depth].take(bins)
            if not len(bins):
                return

    @property
    def last(self) -> dict[str, float]:
        """The last row by name; empty before the first."""
        row = self._last
        return {} if row is None else dict(zip(self.names, row.tolist(), strict=True))

    def bins(self, first: float = -np.inf, last: float = np.inf, most: int = HALF_BINS) -> Bins:
        """The finest bins, at most `most` (of 4 to 1,024), that hold all rows from `first` to `last`."""
        with self._lock:
            for depth, level in enumerate(self._levels):
                found = self._between(level, depth, first, last)
                if found is not None and len(found) <= most:
                    break
        assert found is not None
        return self._told(found, depth)

    def graded(self, most: int = HALF_BINS) -> Bins:
        """All rows in at most `most` bins (of 480 to 1,024), the first ones finest: for an axis that is a logarithm.

        The first 64 rows stand alone, and bins grow fourfold as rows do, up to `width`: none is seen to be wide. Of
        more than some millions of rows the bins are all alike.
        """
        with self._lock:
            for depth, level in enumerate(self._levels):
                found = self._between(level, depth, -np.inf, np.inf)
                if found is not None and len(found) <= most - (FINE_ROWS - FINE_ROWS // FAN) * depth:
                    return self._told(self._finer_at_first(found, depth), depth)
        return self.bins(most=most)

    def _told(self, found: np.ndarray, depth: int) -> Bins:
        mean, least, largest = ({n: found[:, k, i] for i, n in enumerate(self.names)} for k in range(3))
        return Bins(FAN**depth, mean, least, largest)

    def _finer_at_first(self, bins: np.ndarray, depth: int) -> np.ndarray:
        """All bins of a level, with those of finer levels in the place of the first ones."""
        if not depth:
            return bins
        again = FINE_ROWS // FAN  # As many bins of a level are what the finer ones before it show.
        finer = [level.kept()[0][again if k else 0 : FINE_ROWS] for k, level in enumerate(self._levels[:depth])]
        return np.concatenate([*finer, bins[again:]])

    def _between(self, level: _Level, depth: int, first: float, last: float) -> np.ndarray | None:
        """Bins of a level that meet the stretch, that in the making among them; None where it has forgotten some."""
        head, tail = level.kept()
        if len(tail) and head[-1, 2, 0] < last and tail[0, 1, 0] > first and level.forgotten:
            return None
        held = np.concatenate([head, tail, self._in_making(depth)])
        return held[(held[:, 2, 0] >= first) & (held[:, 1, 0] <= last)]

    def _in_making(self, depth: int) -> np.ndarray:
        """The bin of a level that is not full yet, from what the finer levels have not passed on."""
        waiting = [(FAN**k, self._levels[k].waiting) for k in reversed(range(depth)) if len(self._levels[k].waiting)]
        if not waiting:
            return np.zeros((0, 3, len(self.names)), np.float32)
        parts = np.concatenate([bins for _, bins in waiting])
        weights = np.concatenate([np.full(len(bins), width) for width, bins in waiting])
        return _joined(parts, weights)[None].astype(np.float32)


class _Level:
    """Bins of one width, [bins, (mean, least, most), columns]: the first and the last, and those to be passed on."""

    def __init__(self, columns: int):
        empty = np.zeros((0, 3, columns), np.float32)
        self._first, self._ring, self._count = empty, empty, 0
        self.waiting = empty

    def copy(self) -> _Level:
        other = copy.copy(self)
        other._ring = self._ring.copy()  # The rest is replaced as it grows, never written to.
        return other

    @property
    def forgotten(self) -> bool:
        """Whether bins between the first and the last are gone."""
        return self._count > 2 * HALF_BINS

    def take(self, bins: np.ndarray) -> np.ndarray:
        """Keep these; the bins of the next level that are full now."""
        self._keep(bins)
        bins = np.concatenate([self.waiting, bins])
        full = len(bins) // FAN
        self.waiting = bins[full * FAN :]
        groups = bins[: full * FAN].reshape(full, FAN, *bins.shape[1:]).astype(np.float64)
        return np.stack([groups[:, :, 0].mean(1), groups[:, :, 1].min(1), groups[:, :, 2].max(1)], axis=1).astype(
            np.float32
        )

    def _keep(self, bins: np.ndarray) -> None:
        room = HALF_BINS - len(self._first)
        self._first = np.concatenate([self._first, bins[:room]]) if room else self._first
        self._count += len(bins)
        late = bins[room:][-HALF_BINS:]
        if not len(late):
            return
        if len(self._ring) < HALF_BINS:
            self._ring = np.concatenate(
                [self._ring, np.zeros((HALF_BINS - len(self._ring), *late.shape[1:]), np.float32)]
            )
        slots = (self._count - HALF_BINS - len(late) + np.arange(len(late))) % HALF_BINS
        self._ring[slots] = late

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """The first bins, and the last of those after them, in order."""
        late = self._count - len(self._first)
        order = np.arange(max(late - HALF_BINS, 0), late) % HALF_BINS
        return self._first, self._ring[order] if late else self._first[:0]


def _joined(parts: np.ndarray, weights: np.ndarray) -> np.ndarray:
    mean = np.average(parts[:, 0], axis=0, weights=weights)
    return np.stack([mean, parts[:, 1].min(0), parts[:, 2].max(0)])


def folded(columns: Mapping[str, Any], most: int) -> dict[str, np.ndarray]:
    """Columns of equal length in at most `most` bins of 1, 4, 16, ... entries, counted from the first.

    `x` and `y` become means, `low` the smallest and `high` the largest, and `least` and `most` those of `y`.
    """
    values = {name: np.asarray(column, np.float64) for name, column in columns.items()}
    count, width = len(values["x"]), 1
    while -(-count // width) > most:
        width *= FAN
    if width == 1:
        return values
    values = {"least": values["y"], "most": values["y"], **values}
    starts = np.arange(0, count, width)
    sizes = np.diff(starts, append=count)
    fold = {"low": np.minimum, "least": np.minimum, "high": np.maximum, "most": np.maximum}
    return {
        name: fold[name].reduceat(v, starts) if name in fold else np.add.reduceat(v, starts) / sizes
        for name, v in values.items()
    }


class Window:
    """The last rows of a per-chain quantity, [rows, chains], for R-hat, ESS and periods."""

    def __init__(self, rows: int, chains: int):
        self._block = np.zeros((rows, chains), np.float32)
        self._count = 0

    def append(self, rows: np.ndarray) -> None:
        """Add rows [m, chains] (more chains than the window holds are left out)."""
        rows = rows[-len(self._block) :, : self._block.shape[1]]
        slots = (self._count + np.arange(len(rows))) % len(self._block)
        self._block[slots] = rows
        self._count += len(rows)

    def ordered(self) -> np.ndarray:
        """The rows held, oldest first."""
        held = np.arange(max(self._count - len(self._block), 0), self._count) % len(self._block)
        return self._block[held].copy()

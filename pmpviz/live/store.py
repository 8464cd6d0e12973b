"""Flat memory for what a live run has shown: a ring of bit-packed frames and capped series of numbers."""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

FRAME_BYTES = 16 * 2**20
MOST_FRAMES = 4096
MOST_POINTS = 4096


@dataclass(frozen=True)
class Frames:
    """Some frames of a ring: running numbers, sweeps and epochs int64 [m], bits uint8 [m, bytes]."""

    numbers: np.ndarray
    sweeps: np.ndarray
    epochs: np.ndarray
    bits: np.ndarray


class FrameRing:
    """The last frames of one lane in one preallocated block; safe to read from other threads.

    Frames are numbered as they come. Each has the sweep that it shows, and the epoch of the settings that made it.
    """

    def __init__(self, frame_bytes: int):
        self.capacity = int(np.clip(FRAME_BYTES // max(frame_bytes, 1), 64, MOST_FRAMES))
        self._frames = np.zeros((self.capacity, frame_bytes), np.uint8)
        self._sweeps = np.full(self.capacity, -1, np.int64)
        self._epochs = np.zeros(self.capacity, np.int64)
        self._count = 0
        self._lock = threading.Lock()

    def append(self, sweeps: np.ndarray, frames: np.ndarray, epoch: int = 0) -> None:
        """Add frames uint8 [m, bytes] of the given sweeps; the oldest make room."""
        sweeps, frames = sweeps[-self.capacity :], frames[-self.capacity :]
        with self._lock:
            slots = (self._count + np.arange(len(sweeps))) % self.capacity
            self._frames[slots], self._sweeps[slots], self._epochs[slots] = frames, sweeps, epoch
            self._count += len(sweeps)

    def since(self, number: int, most: int, dense_until: int = 0) -> Frames:
        """Frames after that `number`: all up to sweep `dense_until`, then at most `most` evenly chosen, last in."""
        with self._lock:
            new = np.arange(max(self._count - self.capacity, number + 1), self._count)
            dense = int((self._sweeps[new % self.capacity] <= dense_until).sum())
            later = new[dense:]
            if len(later) > most:
                later = later[np.linspace(0, len(later) - 1, most).round().astype(int)]
            chosen = np.concatenate([new[:dense], later])
            slots = chosen % self.capacity
            return Frames(chosen, self._sweeps[slots], self._epochs[slots], self._frames[slots])

    def last(self, count: int) -> np.ndarray:
        """The last `count` frames that are held, oldest first."""
        with self._lock:
            held = np.arange(max(self._count - min(count, self.capacity), 0), self._count) % self.capacity
            return self._frames[held].copy()


class Series:
    """Named columns over sweeps with at most 4,096 rows: when full, every second row is dropped and fewer are taken."""

    def __init__(self, names: tuple[str, ...]):
        self.names = names
        self._rows = np.zeros((MOST_POINTS, len(names) + 1))  # the last column is the row's number
        self._count, self._stride, self._seen = 0, 1, 0

    def append(self, columns: dict[str, np.ndarray]) -> None:
        """Add one row for each entry of the columns."""
        block = np.stack([columns[name] for name in self.names], axis=1)
        number = self._seen + np.arange(len(block))
        self._seen += len(block)
        keep = np.column_stack([block, number])[number % self._stride == 0]
        while self._count + len(keep) > MOST_POINTS:
            self._stride *= 2
            held = self._rows[: self._count]
            held = held[held[:, -1] % self._stride == 0]
            self._rows[: len(held)], self._count = held, len(held)
            keep = keep[keep[:, -1] % self._stride == 0]
        self._rows[self._count : self._count + len(keep)] = keep
        self._count += len(keep)

    def columns(self) -> dict[str, np.ndarray]:
        """A copy of every column."""
        rows = self._rows[: self._count].copy()
        return {name: rows[:, i] for i, name in enumerate(self.names)}


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

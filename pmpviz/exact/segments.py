"""Messages that are too many to be kept: made anew piece by piece, from those that lead over the pieces' borders."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

Held = dict[int, np.ndarray]
Run = Callable[[range, Held], None]

# Entries of messages that are kept as they are.
KEPT_WHOLE = 1 << 23


@dataclass(frozen=True)
class Pieces:
    """Buckets cut into pieces that begin at `starts`; `peak` entries of messages are held at once, at most.

    Going back, the messages of one piece are held beside those that lead over the border in front of any piece.
    """

    starts: tuple[int, ...]
    peak: float

    @classmethod
    def of(cls, sizes: Float[np.ndarray, " n"], parents: Int[np.ndarray, " n"]) -> Pieces:
        """The cut that holds the fewest, of pieces of equal sizes; one piece where the messages are few.

        `sizes` are the messages' entries, `parents[k]` the bucket that k sends its own to, n where it sends none.
        """
        total = float(sizes.sum())
        if total <= KEPT_WHOLE:
            return cls((0,), total)
        # What leads over the border in front of each bucket.
        change = np.zeros(len(sizes) + 1)
        change[1:] += sizes
        np.subtract.at(change, np.minimum(parents, len(sizes) - 1) + 1, np.where(parents < len(sizes), sizes, 0.0))
        over = np.cumsum(change)
        best = cls((0,), total)
        for halvings in range(1, 12):
            starts = _cut(sizes, total / 2.0**halvings)
            bounds = [*starts, len(sizes)]
            largest = max(float(sizes[a:b].sum()) for a, b in zip(bounds, bounds[1:], strict=False))
            peak = largest + float(over[list(starts)].sum())
            if peak < best.peak:
                best = cls(starts, peak)
        return best

    def of_bucket(self, k: int) -> int:
        """The piece that bucket k is in."""
        return bisect_right(self.starts, k) - 1


def _cut(sizes: np.ndarray, most: float) -> tuple[int, ...]:
    """Where pieces begin, each as long as its entries are within `most`, or of one bucket."""
    starts, held = [0], 0.0
    for k, size in enumerate(sizes.tolist()):
        if held + size > most and k > starts[-1]:
            starts.append(k)
            held = 0.0
        held += size
    return tuple(starts)


@dataclass
class Messages:
    """The messages of all buckets, for one who goes back from the last: `at(k)` has those of bucket k and to it.

    `run(buckets, held)` makes the messages of some buckets out of those `held`, adds them, and lets go of those that
    have been used where they are of earlier pieces.
    """

    pieces: Pieces
    parents: Int[np.ndarray, " n"]
    run: Run
    borders: list[Held] = field(default_factory=list)
    _piece: int = -1
    _held: Held = field(default_factory=dict)

    @cached_property
    def _bounds(self) -> list[int]:
        return [*self.pieces.starts, len(self.parents)]

    def collect(self) -> Held:
        """All messages once from the first; those of the last piece stay, and the roots' are returned."""
        held: Held = {}
        roots: Held = {}
        for piece, (start, end) in enumerate(zip(self._bounds, self._bounds[1:], strict=False)):
            # What has been used is let go of; what leads on is the border of this piece.
            held = {k: message for k, message in held.items() if start <= self.parents[k] < len(self.parents)}
            self.borders.append(dict(held))
            self.run(range(start, end), held)
            roots |= {k: held[k] for k in range(start, end) if self.parents[k] == len(self.parents)}
            self._piece, self._held = piece, held
        return roots

    def at(self, k: int) -> Held:
        """Messages among which are that of bucket k and those of its children."""
        piece = self.pieces.of_bucket(k)
        if piece != self._piece:
            self._held = {}
            held = dict(self.borders[piece])
            self.run(range(self._bounds[piece], self._bounds[piece + 1]), held)
            self._piece, self._held = piece, held
        return self._held


__all__ = ["KEPT_WHOLE", "Messages", "Pieces"]

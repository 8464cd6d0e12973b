"""The independent draws that a lane has finished, and the one that it is making."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pmpviz.live.store import Series


@dataclass(frozen=True)
class DrawsView:
    """`series` has a row for each finished draw (of `done`); the one in the making has had `age` of `length` sweeps,
    and is `whole` where it was begun under the present settings. `changes` are (the last sweep, the draws done) under
    each of the earlier ones."""

    series: Series
    done: int
    age: int
    length: int
    whole: bool = True
    changes: tuple[tuple[int, int], ...] = ()

    @property
    def before(self) -> int:
        """Sweeps until a draw that counts begins: those left of one that was begun under other settings."""
        return 0 if self.whole else max(self.length - self.age, 0)

    def being_made(self, at: int) -> tuple[int, int] | None:
        """(sweep before the first one, number) of the draw that was being made at a sweep; None where it is not
        known."""
        ended = self.series.bins(at - 2 * self.length, at - 1)
        before = np.flatnonzero(ended.most["sweep"] < at)
        if ended.width > 1 or not len(before):
            return (0, 1) if at <= self.length else None
        return int(ended.most["sweep"][before[-1]]), int(ended.most["draw"][before[-1]]) + 1

    def done_before(self, since: int) -> int:
        """How many draws were done under settings that ended at sweep `since`, or before."""
        return max((done for sweep, done in self.changes if sweep <= since), default=0)


class Draws:
    """Counts the sweeps of each draw, as the algorithm does, and keeps what a lane shows at the end of each.

    A draw that was begun under other settings than those it ends under is of neither, and is left out.
    """

    def __init__(self, names: Sequence[str]):
        self.series = Series(("sweep", "draw", *(name for name in names if name != "sweep")))
        self.done, self._age, self._whole = 0, 0, True
        self._sweep, self._changes = 0, dict[int, int]()

    def append(self, columns: dict[str, np.ndarray], length: int) -> None:
        """The next sweeps of a lane, where a draw takes `length` of them."""
        self._sweep = int(columns["sweep"][-1])
        ends = [place for place in range(len(columns["sweep"])) if self._ends(length)]
        numbers = self.done + 1 + np.arange(len(ends))
        self.done += len(ends)
        self.series.append({name: values[ends] for name, values in columns.items()} | {"draw": numbers})

    def _ends(self, length: int) -> bool:
        if self._age >= length:
            self._age, self._whole = 0, True
        self._age += 1
        return self._age == length and self._whole

    def renew(self) -> None:
        """Settings have changed."""
        self._whole = self._age == 0
        self._changes[self._sweep] = self.done

    def view(self, length: int) -> DrawsView:
        """The draws of this moment."""
        return DrawsView(self.series, self.done, self._age, length, self._whole, tuple(self._changes.items()))

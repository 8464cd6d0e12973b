"""What pages see of a live job: one immutable picture, published by one assignment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, eq=False, kw_only=True)
class View:
    """The head that every live view carries; a capability adds what is its own.

    `run` numbers the jobs of this process. `epoch` goes up with every change of the settings and with every restart;
    `begun` is the epoch of the last restart, since which the frames belong together. `marks` are (count, words) of
    what a person has changed in mid-run.
    """

    run: int
    plan: Any
    epoch: int = 0
    begun: int = 0
    playing: bool = False
    status: str = ""
    trouble: str | None = None
    lanes: tuple[Any, ...] = ()
    marks: tuple[tuple[int, str], ...] = ()


def status_of(lanes: tuple[Any, ...], playing: bool) -> str:
    """`done` where all lanes are, else `running` or `paused`."""
    if lanes and all(lane.done for lane in lanes):
        return "done"
    return "running" if playing else "paused"

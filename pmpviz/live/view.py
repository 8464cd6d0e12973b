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


# Seconds of computing, all lanes' together, which one press of play may take away.
SOON = 300.0


def over(view: View) -> bool:
    """Whether all lanes have come to their end."""
    return _ended(view.lanes)


def again(view: View) -> bool:
    """Whether play begins anew what has come to its end; not what took minutes."""
    return over(view) and view.trouble is None and sum(lane.seconds for lane in view.lanes) <= SOON


def _ended(lanes: tuple[Any, ...]) -> bool:
    return bool(lanes) and all(lane.done for lane in lanes)


def status_of(lanes: tuple[Any, ...], playing: bool) -> str:
    """`done` where all lanes are, else `running` or `paused`."""
    if _ended(lanes):
        return "done"
    return "running" if playing else "paused"

"""A session's live runs: one a page, kept over page switches and lost connections, given up when the session ends."""

from __future__ import annotations

import importlib
import sys
import threading
import uuid
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pmpviz.live.memory import settle
from pmpviz.live.worker import tidy
from pmpviz.player.update import Cursors
from pmpviz.runs import device

# After so long a thread lets another one go on, a tenth of Python's own: the server's loop, which sends one message in
# each of its turns, waits for the threads of pages and of the worker in every one of them.
SWITCH_SECONDS = 0.0005
ANEW = "anew:{}"
OWNER = "what this session is known by while its connection is lost"
# A browser whose connection is lost comes back as the same session, mostly at once: what it held waits for it so long.
AWAY_SECONDS = 20.0
_away: dict[tuple[str, str], tuple[Held, threading.Timer]] = {}
_coming_and_going = threading.Lock()


@dataclass
class Held:
    """What a page holds: its live run or training, and what it has sent to the browser so far.

    Its `owner` is the session and the page.
    The page would like to be fed `every` so many seconds and its `timer` is of so many, both None where nothing is fed;
    `slow` are the fragments beside the player; `window` is what of the curves is zoomed into, `at` the sweep that
    is looked back at, `kept` the curves that are drawn behind those of the run; `beneath` are the words that the page
    had under the player when it was `drawn` last; `empty` says that there were no lanes then.
    """

    live: Any = None
    owner: tuple[str, str] = ("", "")
    begun: int = -1
    sent: Cursors = field(default_factory=Cursors)
    hover: tuple[int, int, tuple[str, ...]] | None = None
    mounted_by: str = ""
    window: tuple[float, float] | None = None
    at: int | None = None
    kept: tuple[Any, ...] = ()
    every: float | None = None
    timer: float | None = None
    slow: set[str] = field(default_factory=set)
    beneath: str = ""
    drawn: float = 0.0
    empty: bool = True

    def seen_by(self, begun: int) -> None:
        """Begin anew what is sent where another visit of the page, or another start of the run, looks on."""
        visit = str(st.session_state.get("visit"))
        if (self.mounted_by, self.begun) != (visit, begun):
            self.sent.clear()
            self.window = self.at = None
        self.mounted_by, self.begun = visit, begun

    def close(self) -> None:
        """Give up the run."""
        if self.live is not None:
            self.live.close()
            self.live = None
            tidy()

    def leave(self) -> None:
        """The connection is lost, or the session has ended, which nobody can tell: give up the run if nobody comes."""
        timer = threading.Timer(AWAY_SECONDS, _give_up, (self,))
        timer.daemon = True
        with _coming_and_going:
            _away[self.owner] = self, timer
        timer.start()


def _give_up(gone: Held) -> None:
    """Nobody came for it."""
    with _coming_and_going:
        if _away.get(gone.owner, (None,))[0] is not gone:
            return
        del _away[gone.owner]
    gone.close()


def _come_back(owner: tuple[str, str]) -> tuple[Held | None, list[str]]:
    """(what this session held on this page, if it was away for a moment only; its pages of which more waits)"""
    with _coming_and_going:
        known, timer = _away.pop(owner, (None, None))
        others = [page for session, page in _away if session == owner[0]]
    if timer is not None:
        timer.cancel()
    return known, others


@st.cache_resource(scope="session", show_spinner=False, on_release=Held.leave)
def held(page: str) -> Held:
    """This session's holder for a page: the one that it had, where it was away for a moment only."""
    session = st.session_state.setdefault(OWNER, uuid.uuid4().hex)
    known, others = _come_back((session, page))
    for other in others:  # What its other pages hold is this session's again, too.
        held(other)
    return known or Held(owner=(session, page))


def held_live(page: str, make: Callable[[], Any], plan: Any, speed: float | None = None, playing: bool = False) -> Any:
    """This session's job of a page: made, and where asked playing, at the first call, afterwards told what is new."""
    holder = held(page)
    if holder.live is None:
        holder.live = make()
        if playing:
            holder.live.play(wait=0.0)
    else:
        holder.live.set_plan(plan)
        if speed is not None:
            holder.live.set_speed(speed)
    holder.live.touch()
    return holder.live


def begin_anew(page: str) -> None:
    """The plan that the run is told next is another experiment, and begins, even where it differs by a knob alone."""
    st.session_state[ANEW.format(page)] = True


def begins_anew(page: str) -> bool:
    """Whether that was said since this was asked last."""
    return st.session_state.pop(ANEW.format(page), False)


@st.cache_resource(show_spinner=False)
def prepare(modules: tuple[str, ...]) -> bool:
    """Once a process: the compilation cache, and `modules` and all they import out of the garbage collector's way."""
    for module in modules:
        importlib.import_module(module)
    device.prepare()
    sys.setswitchinterval(SWITCH_SECONDS)
    warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
    settle()
    return True

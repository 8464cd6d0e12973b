"""A page's live player: what was done on it is answered, then it is shown an update, and the next one is timed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from pmpviz.app.address import keep_plan, kept_plan
from pmpviz.app.asked import ask_for
from pmpviz.app.player import Event, answered, events, player
from pmpviz.app.session import held
from pmpviz.live.job import LiveJob
from pmpviz.player.update import Desk

TICK_SECONDS = 0.4


class Turn:
    """One run of the fragment that holds the player of a page.

    It begins by answering what was done; `answer` says of each event whether the whole page must be drawn again, which
    is then so of the turn: `changed`. `view`, `sent` and `desk` are what an update is made of; see `show`.
    """

    def __init__(self, page: str, answer: Callable[[Event], bool]) -> None:
        holder = held(page)
        self.live, self.sent = holder.live, holder.sent
        self.live.touch()
        self._key, self._answer = f"player-{page}", answer
        self.changed = any([answer(event) for event in events(self._key)])
        self._answered = None if self.live.busy else answered(self._key)
        self.view = self.live.view
        holder.seen_by(self.view.begun)

    def desk(self, bar: tuple[str, ...], speed: float) -> Desk:
        """What is beside the picture."""
        return Desk(bar, speed, self._answered)

    def show(self, update: bytes, component: str = "player") -> None:
        """Show an update, and answer what has come meanwhile."""
        late = [self._answer(event) for event in player(update, key=self._key, component=component)]
        self.changed = self.changed or any(late)


def answer(page: str, event: Event, to_query: Callable[[Any], Mapping[str, str]] | None = None) -> bool:
    """Do what any player may ask for; True where the whole page must be drawn again.

    `to_query` writes a plan into the address, and is None where the page's plan has no seed.
    """
    live = held(page).live
    if event.type in ("play", "pause", "step", "reset"):
        getattr(live, event.type)()
        return event.type in ("play", "pause")
    if event.type == "mount":
        held(page).sent.clear()
    elif event.type == "seed" and to_query is not None:
        plan = kept_plan(page, live.view.plan)
        change(page, plan.replace(seed=(plan.seed + 1) % 2**31), to_query)
        return True
    elif event.type == "speed":
        st.session_state[f"speed:{page}"] = event.speed
        live.set_speed(event.speed)
        return True
    elif event.type in ("share", "code", "export"):
        ask_for(event.type, page, live)
        return True
    return False


def change(page: str, plan: Any, to_query: Callable[[Any], Mapping[str, str]]) -> None:
    """Keep another plan, and have the page's run adopt it."""
    keep_plan(page, plan, to_query)
    held(page).live.set_plan(plan)


def speed_of(page: str, at_first: float = 0.0) -> float:
    """Sweeps, iterations or steps a second, as chosen on the page; 0 is as fast as it goes."""
    return st.session_state.get(f"speed:{page}", at_first)


def tick(live: LiveJob, waiting: bool = False, slow: float = TICK_SECONDS) -> float | None:
    """Seconds to the next update, None where nothing will be new.

    Few while something moves, or what was asked for or the first picture come; `slow` while the page is `waiting` for
    something else, or a browser may not have drawn the last of it.
    """
    view = live.view
    if live.busy or view.playing or (not view.lanes and view.trouble is None):
        return TICK_SECONDS
    return slow if waiting or not live.settled else None


__all__ = ["Turn", "answer", "change", "speed_of", "tick"]

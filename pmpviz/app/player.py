"""The live player: mounts the component, hands it one update, and returns what the person did on it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import streamlit as st

from pmpviz.models.space import MOST_SHOWN

TYPES = (
    *("play", "pause", "step", "reset", "seed", "speed", "share", "code", "export"),
    *("click", "paint", "clear", "place", "undo", "redo", "hover", "mount", "mode", "knob", "class"),
    *("zoom", "look", "live", "keep", "drop", "best"),
)
TOOLS = ("none", "flip", "field+", "field-", *(f"clamp{state}" for state in range(MOST_SHOWN)), "free")
MOST_SITES = 4096
MOST_EVENTS = 64
MOST_INDEX = 2**24
MOST_SPEED = 1e6
MOST_NAME = 60
WIDE = 1e12
_SEEN = "_player_seen"


@dataclass(frozen=True)
class Event:
    """One thing that a person did: `sites` and `site` (-1 for none) are indices, `sweep` is the one on screen, `window`
    what of the curves is zoomed into.

    `x` and `y` are a place in the picture, as shares of its sides.
    A knob has a `name` and a `value` (not a number where none was sent), and is `done` once it was let go.
    """

    type: str
    lane: int = 0
    site: int = -1
    sites: tuple[int, ...] = ()
    tool: str = "none"
    speed: float = 0.0
    sweep: int = 0
    name: str = ""
    value: float = math.nan
    done: bool = False
    x: float = 0.0
    y: float = 0.0
    window: tuple[float, float] | None = None


@cache
def _component(name: str) -> Any:
    # Packaged components are known only once a server runs, so this waits for the first page.
    return st.components.v2.component(f"pmpviz.{name}", js=f"{name}.js", css=f"{name}.css", isolate_styles=False)


def player(blob: bytes, *, key: str, answer: Callable[[Event], Any], component: str = "player") -> list[Any]:
    """Show an update (see `player.wire.encode`) in the player of this key; what `answer` says of its new events.

    `component` is `player`, or the name of a capability that has a component of its own. It is mounted once for each
    key and updated in place. Every event is answered once, here or by `answer_events`, oldest first.
    """
    result = _component(component)(key=key, data=blob, on_outbox_change=_nothing)
    return _answer_new(key, result.get("outbox"), answer)


def answer_events(key: str, answer: Callable[[Event], Any]) -> list[Any]:
    """The same of what waits at the player of this key before it is drawn, so that one run answers and shows it."""
    return _answer_new(key, _outbox(key), answer)


def waits(key: str) -> bool:
    """Whether an event waits at the player of this key."""
    return bool(_new(_outbox(key), answered(key))[1])


def answered(key: str) -> tuple[str, int]:
    """(mount, number) of the last event that was answered; an update that carries it has come after the answer."""
    return st.session_state.get(_SEEN, {}).get(key, ("", 0))


def _nothing() -> None:
    """Streamlit keeps a component's state only under a name that has a callback."""


def _outbox(key: str) -> Any:
    state = st.session_state.get(key)
    return state.get("outbox") if state is not None and hasattr(state, "get") else None


def _answer_new(key: str, outbox: Any, answer: Callable[[Event], Any]) -> list[Any]:
    """An event counts as answered once it is: Streamlit may end a run for another wherever it asks for its state."""
    seen = st.session_state.setdefault(_SEEN, {})
    mount, new = _new(outbox, seen.get(key, ("", 0)))
    said = []
    for number, event in new:
        if event is not None:
            said.append(answer(event))
        seen[key] = (mount, number)
    return said


def _new(outbox: Any, seen: tuple[str, int]) -> tuple[str, list[tuple[int, Event | None]]]:
    """(mount, [(number, event, None where it is none)]) of those that are not answered."""
    if not isinstance(outbox, dict) or not isinstance(outbox.get("events"), list):
        return seen[0], []
    mount = str(outbox.get("mount"))[:40]
    last = seen[1] if seen[0] == mount else 0
    found = []
    for raw in outbox["events"][-MOST_EVENTS:]:
        number = _whole(raw.get("number"), 2**53) if isinstance(raw, dict) else 0
        if number > last:
            last = number
            found.append((number, parse(raw)))
    return mount, found


def parse(raw: Any) -> Event | None:
    """An event from arbitrary JSON: capped, clipped, and None where its type is unknown."""
    if not isinstance(raw, dict) or raw.get("type") not in TYPES:
        return None
    sites = raw.get("sites")
    sites = [_whole(site, MOST_INDEX, -1) for site in sites[:MOST_SITES]] if isinstance(sites, list) else []
    tool = raw.get("tool")
    return Event(
        type=raw["type"],
        lane=_whole(raw.get("lane"), 7),
        site=_whole(raw.get("site"), MOST_INDEX, -1),
        sites=tuple(dict.fromkeys(site for site in sites if site >= 0)),
        tool=tool if tool in TOOLS else "none",
        speed=_number(raw.get("speed"), MOST_SPEED),
        sweep=_whole(raw.get("sweep"), 2**53),
        name=str(raw.get("name", ""))[:MOST_NAME],
        value=_number(raw.get("value"), WIDE, -WIDE, math.nan),
        done=raw.get("done") is True,
        x=_number(raw.get("x"), 1.0, 0.0, 0.0),
        y=_number(raw.get("y"), 1.0, 0.0, 0.0),
        window=_window(raw.get("window")),
    )


def _window(value: Any) -> tuple[float, float] | None:
    if not isinstance(value, list) or len(value) != 2:
        return None
    first, last = (_number(each, 2.0**53) for each in value)
    return (first, last) if first < last else None


def _whole(value: Any, high: int, low: int = 0) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return low
    return int(min(max(value, low), high))


def _number(value: Any, high: float, low: float = 0.0, otherwise: float = 0.0) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return otherwise
    return float(min(max(value, low), high))

"""A page's plan and its address: read when a person goes there, kept over page switches, written back.

A session's address changes by hand in two ways: Back and Forward of the browser, and a link of the app to another page.
At any other time what the browser sends is what the server has written, at times what it had written before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qsl

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pmpviz.live.link import from_query, quote, to_query
from pmpviz.live.plan import Preset

PRESET = "preset"
MOST_UNDONE = 50
CLASS_MODE = "class"
WRITTEN = "addresses written"
# What an address says of the frame that the app is shown in, and no page.
OF_FRAME = ("embed", "embed_options")


def class_mode() -> bool:
    """Whether this session is shown to a class: so it was opened (`?class=1`), or so it was chosen since."""
    known = st.session_state.get(CLASS_MODE)
    return st.session_state.setdefault(CLASS_MODE, address().get(CLASS_MODE) == "1") if known is None else known


def address() -> dict[str, str]:
    """What the address says in this run.

    `st.query_params` are the session's: while a page is left, a last run of it may still set them to its own address.
    """
    context = get_script_run_ctx()
    said = dict(parse_qsl(context.query_string, keep_blank_values=True)) if context else {}
    return {name: value for name, value in said.items() if name.lower() not in OF_FRAME}


def open_plan(page: str, default: Any, presets: Sequence[Preset] = ()) -> tuple[Any, list[str]]:
    """This page's plan: from the address where a person has gone there, else as `keep_plan` left it, else `default`.

    An address that says `preset=ID` begins as that preset of `presets`. Call it first in a page's script. The notices
    stay until the plan changes.
    """
    st.session_state.setdefault(f"default:{page}", default)
    kept, query = st.session_state.get(f"plan:{page}"), _of_plan(address())
    if navigated(page) and query and query != st.session_state.get(f"query:{page}") and not _of_another(page, query):
        kept = _of_preset(page, query, default, presets) if PRESET in query else from_query(query, default)
        st.session_state[f"plan:{page}"], st.session_state[f"query:{page}"] = kept, query
    return kept or (default, [])


def navigated(page: str) -> bool:
    """Whether this run is the first of a visit of the page, or one that Back or Forward asked for."""
    context, visit, key = get_script_run_ctx(), st.session_state.get("visit"), f"opened:{page}"
    came = key not in st.session_state or st.session_state[key] != visit
    st.session_state[key] = visit
    return came or (context is not None and context.is_history_navigation)


def _of_another(page: str, query: dict[str, str]) -> bool:
    """Whether another page has written this address, now or a while ago: what it wrote last, or what stood there before
    its last change, may be the browser's still when it has already gone on."""
    own, written = f"query:{page}", st.session_state.get(WRITTEN, {})
    return PRESET not in query and any(
        str(key).startswith("query:")
        and key != own
        and (st.session_state[key] == query or query in written.get(key, ()))
        for key in list(st.session_state)
    )


def _of_preset(page: str, query: dict, default: Any, presets: Sequence[Preset]) -> tuple[Any, list[str]]:
    rest = {name: value for name, value in query.items() if name != PRESET}
    known = {preset.id: preset for preset in presets}
    preset = known.get(query[PRESET])
    if preset is None:
        plan, notices = from_query(rest, default)
        return plan, [f"there is no preset {quote(query[PRESET])} here; choose from {', '.join(known)}", *notices]
    st.session_state[f"preset:{page}"] = preset.id
    if preset.speed is not None:
        st.session_state[f"speed:{page}"] = preset.speed
    if preset.layer:
        st.session_state[f"layer:{page}"] = preset.layer
    return from_query(rest, preset.plan)


def keep_plan(page: str, plan: Any) -> None:
    """Keep the plan over page switches, and in the address: one without settings stands for the page's default."""
    note_plan(page, plan)
    query = to_query(plan)
    shown, there = query | ({CLASS_MODE: "1"} if class_mode() else {}), address()
    if there != shown and (there or class_mode() or plan != st.session_state.get(f"default:{page}")):
        st.query_params.from_dict(shown)
    st.session_state[f"query:{page}"] = query
    _note_written(f"query:{page}", query)


def _note_written(key: str, query: dict[str, str]) -> None:
    before = st.session_state.setdefault(WRITTEN, {})
    rest = [each for each in before.get(key, ()) if each != query]
    before[key] = [*rest[1 - MOST_UNDONE :], query]


def note_plan(page: str, plan: Any, gesture: str = "") -> None:
    """Keep the plan, and what it was before to be undone; the page's next run writes it into the address.

    Changes in a row by one `gesture`, such as a knob that is being dragged, are undone as one.
    """
    before, last = kept_plan(page, None), st.session_state.get(f"gesture:{page}", "")
    if before == plan:
        return
    st.session_state[f"plan:{page}"], st.session_state[f"gesture:{page}"] = (plan, []), gesture
    if before is not None and not (gesture and gesture == last):
        done, _ = _stacks(page)
        st.session_state[f"undo:{page}"] = [*done[1 - MOST_UNDONE :], before], []


def end_gesture(page: str) -> None:
    """What comes next is undone by itself."""
    st.session_state.pop(f"gesture:{page}", None)


def turn_back(page: str, forward: bool = False) -> Any | None:
    """Undo the last change of the page's plan, or do `forward` what was undone last: the plan, None for nothing."""
    (taken, given), now = _stacks(page)[:: -1 if forward else 1], kept_plan(page, None)
    if not taken or now is None:
        return None
    plan, stacks = taken[-1], (taken[:-1], [*given, now])
    st.session_state[f"undo:{page}"] = stacks[:: -1 if forward else 1]
    st.session_state[f"plan:{page}"] = (plan, [])
    return plan


def _stacks(page: str) -> tuple[list[Any], list[Any]]:
    """(what can be undone, what can be done again), each the next one last."""
    return st.session_state.get(f"undo:{page}", ([], []))


def _of_plan(query: Any) -> dict[str, str]:
    return {name: value for name, value in query.items() if name != CLASS_MODE}


def kept_plan(page: str, default: Any) -> Any:
    """The plan as it was noted last."""
    kept = st.session_state.get(f"plan:{page}")
    return kept[0] if kept else default

"""A page's plan and its address: read when it changes, kept over page switches, written back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pmpviz.app.echo import is_echo, replace
from pmpviz.live.link import from_query, quote, to_query
from pmpviz.live.plan import Preset

PRESET = "preset"
CLASS_MODE = "class"


def class_mode() -> bool:
    """Whether this session is shown to a class: so it was opened (`?class=1`), or so it was chosen since."""
    return st.session_state.setdefault(CLASS_MODE, st.query_params.get(CLASS_MODE) == "1")


def open_plan(page: str, default: Any, presets: Sequence[Preset] = ()) -> tuple[Any, list[str]]:
    """This page's plan: from the address where it has changed, else as `keep_plan` left it, else `default`.

    An address that says `preset=ID` begins as that preset of `presets`. Call it first in a page's script. The notices
    stay until the plan changes.
    """
    kept, query = st.session_state.get(f"plan:{page}"), _of_plan(st.query_params)
    if query and query != st.session_state.get(f"query:{page}") and not is_echo(f"query:{page}", query):
        kept = _of_preset(page, query, default, presets) if PRESET in query else from_query(query, default)
        st.session_state[f"plan:{page}"], st.session_state[f"query:{page}"] = kept, query
    return kept or (default, [])


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
    return from_query(rest, preset.plan)


def keep_plan(page: str, plan: Any) -> None:
    """Keep the plan over page switches, and in the address."""
    before = st.session_state.get(f"plan:{page}")
    if before is None or before[0] != plan:
        st.session_state[f"plan:{page}"] = (plan, [])
    query, last = to_query(plan), st.session_state.get(f"query:{page}")
    if last and last != query:
        replace(f"query:{page}", last)
    shown = query | ({CLASS_MODE: "1"} if class_mode() else {})
    if dict(st.query_params) != shown:
        st.query_params.from_dict(shown)
    st.session_state[f"query:{page}"] = query


def _of_plan(query: Any) -> dict[str, str]:
    return {name: value for name, value in query.items() if name != CLASS_MODE}


def kept_plan(page: str, default: Any) -> Any:
    """The plan as `keep_plan` left it."""
    kept = st.session_state.get(f"plan:{page}")
    return kept[0] if kept else default

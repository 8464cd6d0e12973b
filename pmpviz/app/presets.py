"""The choice of a preset."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pmpviz.app.address import class_mode
from pmpviz.app.session import begin_anew
from pmpviz.app.widgets import edited, select, show
from pmpviz.live.plan import Preset


def preset_of(presets: Sequence[Preset], identity: str) -> Preset | None:
    """The one of a page's presets with that id, or None."""
    return next((p for p in presets if p.id == identity), None)


def preset_like(presets: Sequence[Preset], plan: Any, like: Callable[[Any, Any], bool] = operator.eq) -> Preset | None:
    """The preset of this very plan, else the first whose plan is `like` it, or None."""
    same = next((preset for preset in presets if preset.plan == plan), None)
    return same or next((preset for preset in presets if like(preset.plan, plan)), None)


def preset_control(
    presets: Sequence[Preset],
    label: str,
    page: str,
    plan: Any,
    box: Any,
    like: Callable[[Any, Any], bool] = operator.eq,
    key: str = "",
) -> tuple[Any, Callable[[Any], None]]:
    """(the plan of the preset that was just chosen, with its speed, else the plan as it is; what draws the choice here)

    What draws it is called with the plan that the page's other controls leave, and shows the preset of that, else the
    one that is `like` it, as the page's question is. The widget's key is `key` or `page`_preset.
    """
    key, into = key or f"{page}_preset", box.container()
    chosen = preset_of(presets, st.session_state[key]) if edited(key) else None
    if chosen is not None:
        plan = chosen.plan
        begin_anew(page)
        if chosen.speed is not None:
            st.session_state[f"speed:{page}"] = chosen.speed

    def draw(plan: Any) -> None:
        shown = preset_like(presets, plan, like)
        draw_choice(presets, label, shown.id if shown else "", into, key)

    return plan, draw


def draw_choice(presets: Sequence[Preset], label: str, shown: str, box: Any, key: str) -> None:
    """The list of the presets, which shows the one of that id, or a plan of one's own.

    Before a class, where the side bar is folded away, it stands beside the question.
    """
    beside = st.container(key="class-presets")
    into, visible = (beside, "collapsed") if class_mode() else (box, "visible")
    show(key, shown)
    names = {"": "Your own", **{preset.id: preset.label for preset in presets}}
    select(into, label, names, key, label_visibility=visible)


__all__ = ["draw_choice", "preset_control", "preset_like", "preset_of"]

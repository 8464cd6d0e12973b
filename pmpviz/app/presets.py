"""The choice of a preset."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from pmpviz.app.widgets import edited, select, show
from pmpviz.live.plan import Preset


def preset_of(presets: Sequence[Preset], identity: str) -> Preset | None:
    """The one of a page's presets with that id, or None."""
    return next((p for p in presets if p.id == identity), None)


def preset_control(
    presets: Sequence[Preset],
    label: str,
    page: str,
    plan: Any,
    box: Any,
    like: Callable[[Any, Any], bool] = operator.eq,
    key: str = "",
) -> Any:
    """The plan of the preset that was just chosen, with its speed, else the plan as it is.

    The widget, whose key is `key` or `page`_preset, shows the preset whose plan is like the page's.
    """
    key = key or f"{page}_preset"
    chosen = preset_of(presets, st.session_state[key]) if edited(key) else None
    if chosen is not None:
        plan = chosen.plan
        if chosen.speed is not None:
            st.session_state[f"speed:{page}"] = chosen.speed
    labels = {"": "Your own", **{preset.id: preset.label for preset in presets}}
    show(key, next((preset.id for preset in presets if like(preset.plan, plan)), ""))
    select(box, label, labels, key)
    return plan


__all__ = ["preset_control", "preset_of"]

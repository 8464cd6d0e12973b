"""Echoes: what the browser sends back because it has not heard yet that the server has changed it.

Every run that the browser asks for, also those of a fragment's timer, carries the values of all widgets as the browser
knows them. What the server replaced a moment ago must not be taken for a person's choice.
"""

from __future__ import annotations

import time
from typing import Any

import streamlit as st

ECHO_SECONDS = 1.5
MOST_KEPT = 8
REPLACED = "what was replaced a moment ago"


def replace(key: str, value: Any) -> None:
    """Note that the server has just replaced this value of `key`."""
    replaced = st.session_state.setdefault(REPLACED, {})
    replaced[key] = [*replaced.get(key, [])[1 - MOST_KEPT :], (time.monotonic(), value)]


def is_echo(key: str, value: Any) -> bool:
    """Whether `value` was replaced so short a time ago that the browser may not know of it."""
    replaced = st.session_state.get(REPLACED, {}).get(key, ())
    return any(old == value and time.monotonic() - when < ECHO_SECONDS for when, old in replaced)

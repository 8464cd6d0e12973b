"""Echoes: what the browser sends back because it has not heard yet that the server has changed it.

Every run that the browser asks for, also those of a fragment's timer, carries the values of all widgets as the browser
knows them. What the server replaced a moment ago must not be taken for a person's choice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pmpviz.app.pace import of_fragment

ECHO_SECONDS = 1.5
MOST_KEPT = 8
REPLACED = "what was replaced a moment ago"


@dataclass
class Replaced:
    """A value that the server has replaced, when, and whether the browser was sent the new one since; what a fragment
    draws is sent at once."""

    value: Any
    when: float
    sent: bool


def replace(key: str, value: Any) -> None:
    """Note that the server has just replaced this value of `key`; the browser hears of it when the run is `sent`."""
    replaced = st.session_state.setdefault(REPLACED, {})
    replaced[key] = [*replaced.get(key, [])[1 - MOST_KEPT :], Replaced(value, time.monotonic(), of_fragment())]


def sent() -> None:
    """All that the page's run has drawn is on its way: until now the browser knew the old values, however long the run
    took."""
    for entries in st.session_state.get(REPLACED, {}).values():
        for entry in entries:
            if not entry.sent:
                entry.when, entry.sent = time.monotonic(), True


def is_echo(key: str, value: Any) -> bool:
    """Whether `value` was replaced so short a time ago that the browser may not know of it."""
    replaced = st.session_state.get(REPLACED, {}).get(key, ())
    return any(old.value == value and time.monotonic() - old.when < ECHO_SECONDS for old in replaced)

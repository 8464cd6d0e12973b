"""A dialog that a page's player has asked for, with the view of that moment.

It is drawn by the page, not by the fragment that plays, whose next run would take it away again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pmpviz.app.widgets import ASKED, forget_outlet
from pmpviz.live.job import LiveJob

ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class Asked:
    """Which dialog, on which page, what was to be seen when it was asked for, and what else was noted then."""

    name: str
    page: str
    view: Any = None
    more: Any = None


def ask_for(name: str, page: str, live: LiveJob | None = None, more: Callable[[Any], Any] = lambda run: None) -> None:
    """Have the page's next run open a dialog on what the job has reached by now, and on `more` of it."""
    view, noted = (None, None) if live is None else snapshot(live, more)
    st.session_state[ASKED] = Asked(name, page, view, noted)


def asked_on(page: str) -> Asked | None:
    """The dialog that was asked for on this page; one of another page is forgotten."""
    asked = st.session_state.get(ASKED)
    if asked is not None and asked.page != page:
        forget_outlet()
        return None
    return asked


def snapshot(live: LiveJob, more: Callable[[Any], Any] = lambda run: None) -> tuple[Any, Any]:
    """The job's view, brought up to date by its worker, and `more` of it; the last view where that takes too long."""

    def question(run: LiveJob) -> tuple[Any, Any]:
        run.publish()
        return run.view, more(run)

    return live.ask(question, wait=ANSWER_SECONDS) or (live.view, None)


__all__ = ["Asked", "ask_for", "asked_on", "snapshot"]

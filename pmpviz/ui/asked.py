"""A dialog that a page's player has asked for, with the view of that moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from pmpviz.runs.live_job import LiveJob
from pmpviz.ui.widgets import ASKED, forget_outlet

ANSWER_SECONDS = 5.0


@dataclass(frozen=True)
class Asked:
    """Which dialog, on which page, and what was to be seen when it was asked for."""

    name: str
    view: Any
    page: str


def ask_for(name: str, page: str, live: LiveJob) -> None:
    """Have the page's next run open a dialog on what the job has reached by now."""
    st.session_state[ASKED] = Asked(name, snapshot(live), page)


def asked_on(page: str) -> Asked | None:
    """The dialog that was asked for on this page; one of another page is forgotten."""
    asked = st.session_state.get(ASKED)
    if asked is not None and asked.page != page:
        forget_outlet()
        return None
    return asked


def snapshot(live: LiveJob) -> Any:
    """The job's view, brought up to date by its worker; the last one where that takes too long."""

    def question(run: LiveJob) -> Any:
        run.publish()
        return run.view

    return live.ask(question, wait=ANSWER_SECONDS) or live.view


__all__ = ["Asked", "ask_for", "asked_on", "snapshot"]

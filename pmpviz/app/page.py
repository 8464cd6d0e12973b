"""What every page begins with: its style, the number of the visit, the plan that it is to show next."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

STYLE = """<style>
.stMainBlockContainer { padding-top: 3.25rem; padding-bottom: 3rem; max-width: 1500px; }
.stSidebar [data-testid="stSidebarHeader"] { height: 2.5rem; }
.stMainBlockContainer table { font-variant-numeric: tabular-nums; font-size: 0.8125rem; }
.stMainBlockContainer :is(td, th) { white-space: nowrap; padding: 0.3rem 0.5rem; }
.stMainBlockContainer [data-testid="stMarkdownContainer"]:has(table) { overflow-x: auto; }
</style>"""


def enter(identity: str) -> None:
    """Style, and the number of the visit: another one has a player that has seen nothing yet."""
    _through_the_entrance()
    st.html(STYLE)
    if st.session_state.get("page now") != identity:
        st.session_state["page now"] = identity
        st.session_state["visit"] = st.session_state.get("visit", 0) + 1


def _through_the_entrance() -> None:
    """Have app.py run first.

    Streamlit takes a folder `pages` beside app.py for its older kind of app until st.navigation is called, so that a
    link to a page, opened before anything else in this process, runs that page's script by itself.
    """
    if PagesManager.uses_pages_directory:
        PagesManager.uses_pages_directory = False
        st.rerun()


def show_plan(identity: str, plan: Any) -> None:
    """Make a page show this plan the next time it is drawn."""
    st.session_state.pop(f"speed:{identity}", None)
    st.session_state[f"plan:{identity}"] = (plan, [])
    st.session_state.pop(f"query:{identity}", None)

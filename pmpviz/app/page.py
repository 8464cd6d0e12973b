"""What a page is before it draws: its style, the number of the visit, its plan, its presets, its link."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pmpviz.app.address import CLASS_MODE, class_mode, keep_plan, note_plan, open_plan
from pmpviz.app.share import link_dialog
from pmpviz.live.link import to_query
from pmpviz.live.plan import Preset

STYLE = """<style>
.stMainBlockContainer { padding-top: 3.25rem; padding-bottom: 3rem; max-width: 1500px; }
.stSidebar [data-testid="stSidebarHeader"] { height: 2.5rem; }
.stMainBlockContainer table { font-variant-numeric: tabular-nums; font-size: 0.8125rem; }
.stMainBlockContainer :is(td, th) { white-space: nowrap; padding: 0.3rem 0.5rem; }
.stMainBlockContainer th { white-space: normal; vertical-align: bottom; }
.stMainBlockContainer [data-testid="stMarkdownContainer"]:has(table) { overflow-x: auto; }
[data-testid="stElementContainer"]:has(> .stHtml > script) { display: none; }
</style>"""

CLASS_STYLE = """<style>
html { font-size: 25.6px; }
.stSidebar, [data-testid="stExpandSidebarButton"] { display: none; }
.stMainBlockContainer { padding: 0.5rem 1rem 2rem; max-width: none; }
.stMainBlockContainer h4 { padding: 0; font-size: 1.25rem; }
.stMainBlockContainer :is([data-testid="stLayoutWrapper"], .stElementContainer):has(.stButtonGroup) { display: none; }
</style>"""

# Streamlit makes every new address a step of the browser's history: Back would have to be pressed twice on each page,
# and once for each setting that was moved. Here a step is a page; settings have an undo of their own. And a page that
# answers late, when Back was pressed again meanwhile, would be pushed over the one that is wanted.
ONE_STEP = """<script>
if (!history.onePage) {
  history.onePage = true;
  let back = false;
  addEventListener("popstate", () => (back = true), true);
  addEventListener("pointerdown", (event) => (back = back && event.button > 2), true);
  addEventListener("keydown", (event) => (back = back && event.altKey), true);
  const push = history.pushState;
  history.pushState = (state, title, address) => {
    const same = new URL(address ?? "", location).pathname === location.pathname;
    if (same || !back) (same ? history.replaceState : push).call(history, state, title, address);
  };
}
</script>"""


@dataclass(frozen=True)
class Page:
    """A page: its id (its address, and its file in `pages/`) and its presets."""

    id: str
    presets: tuple[Preset, ...]

    def open(self, default: Any = None) -> tuple[Any, list[str]]:
        """Begin the page's script: (its plan from the address, else as it was left, else `default`; notices).

        By default that is the first preset's.
        """
        enter(self.id)
        return open_plan(self.id, default or self.presets[0].plan, self.presets)

    def keep(self, plan: Any) -> None:
        """Keep the plan over page switches and in the address."""
        keep_plan(self.id, plan)

    def ask(self, plan: Any, otherwise: str, like: Callable[[Any, Any], bool] = operator.eq) -> Any:
        """The question that the page answers, as its head; the preset whose plan is `like` the page's, or None."""
        preset = next((preset for preset in self.presets if like(preset.plan, plan)), None)
        st.markdown(f"#### {preset.question if preset else otherwise}")
        return preset

    def share(self, plan: Any, sentences: Sequence[str], commands: Sequence[str] = ()) -> None:
        """The dialog with the page's link."""
        link_dialog(to_query(plan), self.id, sentences, commands)


def enter(identity: str) -> None:
    """Style, and the number of the visit: another one has a player that has seen nothing yet."""
    _through_the_entrance()
    st.html(STYLE + (CLASS_STYLE if class_mode() else ""))
    st.html(ONE_STEP, unsafe_allow_javascript=True)
    if st.session_state.get("page now") != identity:
        st.session_state["page now"] = identity
        st.session_state["visit"] = st.session_state.get("visit", 0) + 1


def switch_class_mode() -> None:
    """Into class mode or out of it."""
    st.session_state[CLASS_MODE] = not class_mode()


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
    note_plan(identity, plan)
    st.session_state.pop(f"query:{identity}", None)

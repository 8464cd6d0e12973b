"""What a page is before it draws: its style, the number of the visit, its plan, its presets, its link."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pmpviz.app.address import CLASS_MODE, class_mode, keep_plan, kept_plan, note_plan, open_plan
from pmpviz.app.presets import preset_like
from pmpviz.app.share import link_dialog
from pmpviz.app.widgets import kept, take_again
from pmpviz.live.link import to_query
from pmpviz.live.plan import Preset

STYLE = """<style>
.stMainBlockContainer { padding-top: 2.5rem; padding-bottom: 3rem; max-width: 1500px; }
@media (max-width: 1100px) { .stMainBlockContainer { padding-top: 4rem; } }
@media (max-width: 1500px) { .stMainBlockContainer .stButtonGroup [role="radio"] { padding-inline: 0.5rem; } }
.stMainBlockContainer [data-testid="stMarkdownContainer"]:has(h4) { container-type: inline-size; }
.stMainBlockContainer h4 { font-size: clamp(0.875rem, calc(198cqi / var(--letters, 1)), 1.5rem); }
.stMainBlockContainer [data-testid="stMarkdownContainer"]:has(h4):has(p) h4 {
  height: 1.8rem;
  padding: 0;
  display: flex;
  align-items: center;
  line-height: 1.12;
}
.stMainBlockContainer [data-testid="stMarkdownContainer"]:has(h4) > p { line-height: 1.3; margin: 0.2rem 0 0; }
[data-testid="stHeader"] { background: transparent; pointer-events: none; }
[data-testid="stHeader"] button { pointer-events: auto; }
.stSidebar [data-testid="stSidebarHeader"] { height: 2.5rem; }
.stMainBlockContainer table { font-variant-numeric: tabular-nums; font-size: 0.8125rem; }
.stMainBlockContainer :is(td, th) { white-space: nowrap; padding: 0.3rem 0.4rem; }
.stMainBlockContainer td:first-child { white-space: normal; min-width: 9rem; }
.stMainBlockContainer th { white-space: normal; vertical-align: bottom; }
.stMainBlockContainer .stExpander td { white-space: normal; }
@media (max-width: 1400px) {
  .stMainBlockContainer table { font-size: 0.75rem; }
  .stMainBlockContainer :is(td, th) { padding: 0.3rem 0.2rem; }
  .stMainBlockContainer td:first-child { min-width: 7.5rem; }
}
.stMainBlockContainer :is([data-testid="stMarkdownContainer"]:has(table), .katex-display) {
  overflow-x: auto;
  mask: linear-gradient(to right, #000 85%, transparent) no-repeat left / 120% 100%;
  animation: pv-fade linear;
  animation-timeline: scroll(self inline);
}
@keyframes pv-fade { from { mask-size: 100% 100%; } to { mask-size: 120% 100%; } }
[data-testid="stElementContainer"]:has(> .stHtml > script) { display: none; }
[data-testid="stElementContainer"][data-stale="true"] { opacity: 1; transition: none; }
.stMain[data-testid="stMain"]:focus-visible::before { content: none; }
</style>"""

# Leave stands at the same corner of every page, whatever is scrolled: once one scrolls on a band of ground, beneath
# which words go as beyond the window's edge. The presets beside it, at the question's end, go with the question.
CLASS_STYLE = """<style>
html { font-size: 25.6px; }
.stSidebar, [data-testid="stExpandSidebarButton"], [data-testid="stHeader"] { display: none; }
.stMainBlockContainer { position: relative; padding: 0.5rem 1rem 2rem; max-width: none; }
.stMainBlockContainer h4 { font-size: clamp(0.92rem, calc(198cqi / var(--letters, 1)), 1.125rem); }
.stMainBlockContainer h4, .stMainBlockContainer [data-testid="stMarkdownContainer"]:has(h4):has(p) h4 {
  height: auto;
  padding: 0 0 0.4rem;
}
.stMainBlockContainer [data-testid="stMarkdownContainer"]:has(h4) { padding-right: 6rem; }
.stMainBlockContainer:has(.st-key-class-presets) [data-testid="stMarkdownContainer"]:has(h4) { padding-right: 20.5rem; }
.stMainBlockContainer:has(.st-key-class-presets) .stAlert { margin-right: 20.5rem; }
.st-key-class_mode { position: fixed; z-index: 10; top: 0.3rem; right: 0.4rem; width: auto; }
.st-key-class_mode.st-key-class_mode .stButton { line-height: 0; }
.st-key-class_mode.st-key-class_mode .stButton button { padding: 0 0.35rem; height: 1.1rem; border-radius: 6px; }
.st-key-class_mode.st-key-class_mode button p { display: block; font-size: 0.5625rem; line-height: 1; margin: 0; }
@supports (animation-timeline: scroll()) {
  .stMainBlockContainer::after {
    content: "";
    position: fixed;
    z-index: 9;
    inset: 0 0 auto;
    height: 1.7rem;
    background: light-dark(#FBFAF7, #141412);
    opacity: var(--pv-band, 0);
    pointer-events: none;
  }
  .stMainBlockContainer {
    animation: pv-band linear forwards;
    animation-timeline: scroll(nearest block);
    animation-range: 0 0.3rem;
  }
}
@keyframes pv-band { to { --pv-band: 1; } }
[data-testid="stLayoutWrapper"]:has(> .st-key-class-presets) {
  position: absolute;
  z-index: 10;
  top: 0.2rem;
  right: 6rem;
  width: 14rem;
}
.st-key-class-presets .react-aria-ComboBox > div { min-height: 0; height: 1.5rem; }
@media (max-width: 1199px) {
  [data-testid="stLayoutWrapper"]:has(> .st-key-class-presets) { zoom: 0.8; right: 7.5rem; width: 13.2rem; }
  .stMainBlockContainer:has(.st-key-class-presets) [data-testid="stMarkdownContainer"]:has(h4) { padding-right: 17rem; }
}
.st-key-class-presets .react-aria-ComboBox > div > * { height: 100%; padding-block: 0; }
/* Names in full: the list grows to the left of its box, which is near the window's edge. */
body:has(.st-key-class-presets [aria-expanded="true"]) [data-testid="stSelectboxVirtualDropdown"] {
  left: auto !important;
  right: 6rem;
  width: min(17rem, 90vw) !important;
}
.stMainBlockContainer [data-testid="stMarkdownContainer"]:has(h4) > p { display: none; }
.stMainBlockContainer :is([data-testid="stLayoutWrapper"], .stElementContainer):has(.stButtonGroup) { display: none; }
.stMainBlockContainer :is([class*="st-key-tool"], .st-key-lab_share, .st-key-lab_export) { display: none; }
.stMainBlockContainer [data-testid="stLayoutWrapper"]:has(> [class*="st-key-class-fold"]) { display: none; }
.stMainBlockContainer [data-testid="stLayoutWrapper"]:has(> [class*="st-key-class-beneath"]) { order: 1; }
.stMainBlockContainer .stButton button { min-height: 0; padding: 0.15rem 0.6rem; }
</style>"""

# Streamlit folds the side bar on a telephone only; a window this narrow has no room for it either.
FOLD = """<script>
if (!window.sideBarFolds) {
  window.sideBarFolds = matchMedia("(max-width: 1100px)");
  const fold = () => {
    if (!window.sideBarFolds.matches) return true;
    const button = document.querySelector("[data-testid=stSidebarCollapseButton] button");
    if (button?.getAttribute("aria-expanded") === "true") button.click();
    return Boolean(button);
  };
  const until = (left) => fold() || (left && setTimeout(until, 100, left - 1));
  window.sideBarFolds.addEventListener("change", () => fold());
  until(50);
}
</script>"""


# A button low on its page leaves it scrolled there, the picture off the screen, when all is larger.
TO_TOP = "<script>document.querySelector('[data-testid=stMain]').scrollTo(0, 0)</script>"


@dataclass(frozen=True)
class Page:
    """A page: its id (its address, and its file in `pages/`), its presets, and what moves on it and why, in a sentence
    that is true of all of them."""

    id: str
    presets: tuple[Preset, ...]
    lead: str = ""

    def open(self, default: Any = None) -> tuple[Any, list[str]]:
        """Begin the page's script: (its plan from the address, else as it was left, else `default`; notices).

        By default that is the first preset's.
        """
        enter(self.id)
        take_again()
        return open_plan(self.id, default or self.presets[0].plan, self.presets)

    def keep(self, plan: Any) -> None:
        """Keep the plan over page switches and in the address."""
        keep_plan(self.id, plan)
        kept()

    def note(self, plan: Any, event: Any, after: Callable[[Any, Any], Any]) -> None:
        """Keep what the plan, where none is kept yet `plan`, is `after` an event; the page's next run shows it."""
        note_plan(self.id, after(kept_plan(self.id, plan), event))

    def ask(self, plan: Any, otherwise: str, like: Callable[[Any, Any], bool] = operator.eq) -> Any:
        """The question that the page answers, as its head; the preset whose plan is `like` the page's, or None."""
        preset = self.preset_like(plan, like)
        self.head(preset.question if preset else otherwise, preset.lead if preset else "")
        return preset

    def preset_like(self, plan: Any, like: Callable[[Any, Any], bool] = operator.eq) -> Any:
        """The preset of this very plan, else the first whose plan is `like` it, or None."""
        return preset_like(self.presets, plan, like)

    def head(self, question: str, lead: str = "") -> None:
        """The question, and under it what the page shows: its own sentence, or `lead` where that depends on the plan.

        A question of many letters is written smaller: in a second line it would push the picture down in mid-run.
        """
        lead = lead or self.lead
        with st.container(key="question"):
            st.html(f"<style>.st-key-question {{ --letters: {len(question)}; }}</style>")
            st.markdown(f"#### {question}" + (f"\n\n:small[:gray[{lead}]]" if lead else ""))

    def share(self, plan: Any, sentences: Sequence[str], commands: Sequence[str] = ()) -> None:
        """The dialog with the page's link."""
        link_dialog(to_query(plan), self.id, sentences, commands)


def enter(identity: str) -> None:
    """Style, and the number of the visit: another one has a player that has seen nothing yet."""
    _through_the_entrance()
    st.html(STYLE + (CLASS_STYLE if class_mode() else ""))
    st.html(FOLD, unsafe_allow_javascript=True)
    if st.session_state.get("page now") != identity:
        st.session_state["page now"] = identity
        st.session_state["visit"] = st.session_state.get("visit", 0) + 1


def switch_class_mode() -> None:
    """Into class mode or out of it."""
    st.session_state[CLASS_MODE] = not class_mode()


def class_button() -> None:
    """A button for it, of a page whose player has none."""
    words = "Leave class mode" if class_mode() else "Class mode"
    if st.button(words, key="class_mode", on_click=switch_class_mode):
        st.html(TO_TOP, unsafe_allow_javascript=True)


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
    kept()
    st.session_state.pop(f"query:{identity}", None)

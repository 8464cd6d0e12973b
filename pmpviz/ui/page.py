"""What a page is made of before it draws: its plan, speed and live run, and the preset that it shows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

from pmpviz.experiments.presets import HOME, PLAYGROUND, RACE, PagePreset, preset_of
from pmpviz.runs.live import LiveRun
from pmpviz.runs.plan import MAX_LANES, LanePlan, Plan
from pmpviz.samplers import SAMPLERS
from pmpviz.types import InputError, Target
from pmpviz.ui.session import live_run
from pmpviz.ui.settings import keep_plan, model_of, open_plan, show_notices
from pmpviz.ui.widgets import edited, select, show

STYLE = """<style>
.stMainBlockContainer { padding-top: 3.25rem; padding-bottom: 3rem; max-width: 1500px; }
.stSidebar [data-testid="stSidebarHeader"] { height: 2.5rem; }
.stMainBlockContainer table { font-variant-numeric: tabular-nums; font-size: 0.8125rem; }
.stMainBlockContainer :is(td, th) { white-space: nowrap; padding: 0.3rem 0.5rem; }
.stMainBlockContainer [data-testid="stMarkdownContainer"]:has(table) { overflow-x: auto; }
</style>"""
PRESETS: dict[str, tuple[PagePreset, ...]] = {"home": (HOME,), "playground": PLAYGROUND, "race": RACE}


@dataclass(frozen=True)
class Page:
    """A page of this session: its id (and path), the plan on screen and the preset that the plan began as."""

    id: str
    preset: PagePreset
    plan: Plan
    autoplay: bool
    notices: tuple[str, ...] = ()

    @property
    def speed(self) -> float:
        """Sweeps a second; 0 is as fast as it goes."""
        return st.session_state.get(f"speed:{self.id}", self.preset.speed)

    @property
    def live(self) -> LiveRun | None:
        """The live run, told the plan; None where the plan's model is not here (a file that must be brought)."""
        if self.target(self.plan) is None:
            return None
        return live_run(self.id, self.plan, self.speed, self.autoplay)

    def target(self, plan: Plan) -> Target | None:
        """The target of a plan, or None where it cannot be built."""
        try:
            return plan.target(model_of(plan.model))
        except InputError:
            return None

    def with_plan(self, plan: Plan, notices: list[str] | tuple[str, ...] = ()) -> Page:
        """The page with the plan that its controls give, kept and written into the address."""
        keep_plan(self.id, plan)
        show_notices([*self.notices, *notices])
        return replace(self, plan=plan)

    @property
    def as_begun(self) -> bool:
        """Whether model and start are still the preset's."""
        return (self.plan.model, self.plan.start) == (self.preset.plan.model, self.preset.plan.start)

    def question(self) -> str:
        """The question that the page answers."""
        if self.as_begun:
            return self.preset.question
        names = [label_of(lane.algorithm) for lane in self.plan.lanes]
        return f"How does {names[0]} work on this model?" if len(names) == 1 else "Which sampler gets there first?"


def label_of(algorithm: str) -> str:
    """The label of a registered algorithm."""
    return next(cls.spec.label for cls in SAMPLERS if cls.spec.id == algorithm)


def open_page(identity: str, default: PagePreset, autoplay: bool = False) -> Page:
    """Begin a page's script: its plan from the address, else as it was left, else the default preset's."""
    _through_the_entrance()
    presets = PRESETS[identity]
    plan, notices = open_plan(identity, (_begun(identity) or default).plan, presets=presets)
    preset = _begun(identity) or default
    enter(identity)
    return Page(identity, preset, plan, autoplay, tuple(notices))


def _begun(identity: str) -> PagePreset | None:
    return preset_of(PRESETS[identity], st.session_state.get(f"preset:{identity}", ""))


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


def open_preset(identity: str, preset: PagePreset) -> None:
    """Make a page show this preset the next time it is drawn."""
    st.session_state[f"preset:{identity}"] = preset.id
    show_plan(identity, preset.plan)


def show_plan(identity: str, plan: Any) -> None:
    """Make a page show this plan the next time it is drawn."""
    st.session_state.pop(f"speed:{identity}", None)
    st.session_state[f"plan:{identity}"] = (plan, [])
    st.session_state.pop(f"query:{identity}", None)


def preset_control(page: Page, presets: tuple[PagePreset, ...], box) -> Plan:
    """The choice of a race: a newly chosen one is opened, else the page's plan is given back."""
    labels = {"": "Your own", **{preset.id: preset.label for preset in presets}}
    key = f"{page.id}_preset_choice"
    chosen = preset_of(presets, st.session_state[key]) if edited(key) else None
    if chosen is not None:
        open_preset(page.id, chosen)
        show(key, chosen.id)
        st.query_params.clear()
        st.rerun()
    show(key, page.preset.id if page.as_begun else "")
    select(box, "Race", labels, key)
    return page.plan


def lanes_control(plan: Plan, box) -> list[LanePlan]:
    """Two to four lanes: added ones take the first algorithms that are not in the race yet."""
    lanes = list(plan.lanes)
    plus, minus = box.columns(2)
    spare = [c.spec.id for c in SAMPLERS if c.spec.id not in {lane.algorithm for lane in lanes}] or ["gibbs"]
    if plus.button("Add lane", disabled=len(lanes) >= MAX_LANES, width="stretch", key="race_add"):
        lanes.append(LanePlan(spare[0]))
    if minus.button("Remove", disabled=len(lanes) <= 2, width="stretch", key="race_remove"):
        lanes.pop()
    return lanes

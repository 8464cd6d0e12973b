"""What a page is made of before it draws: its plan, speed and live run, and the preset that it shows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from pmpviz.app.address import keep_plan, open_plan
from pmpviz.app.models import model_of
from pmpviz.app.page import _through_the_entrance, enter, show_plan
from pmpviz.app.presets import preset_of
from pmpviz.app.session import held_live
from pmpviz.app.uploads import uploaded
from pmpviz.app.widgets import edited, select, show
from pmpviz.app.words import show_notices
from pmpviz.capabilities.sampling.live import LiveRun
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.capabilities.sampling.presets import HOME, PLAYGROUND, RACE
from pmpviz.live.plan import Preset
from pmpviz.samplers import SAMPLERS
from pmpviz.types import InputError, Target

PRESETS: dict[str, tuple[Preset, ...]] = {"home": (HOME,), "playground": PLAYGROUND, "race": RACE}


@dataclass(frozen=True)
class Page:
    """A page of this session: its id (and path), the plan on screen and the preset that the plan began as."""

    id: str
    preset: Preset
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
        return held_live(
            self.id, lambda: LiveRun(self.plan, uploaded, self.speed), self.plan, self.speed, self.autoplay
        )

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


def open_page(identity: str, default: Preset, autoplay: bool = False) -> Page:
    """Begin a page's script: its plan from the address, else as it was left, else the default preset's."""
    _through_the_entrance()
    presets = PRESETS[identity]
    plan, notices = open_plan(identity, (_begun(identity) or default).plan, presets)
    preset = _begun(identity) or default
    enter(identity)
    return Page(identity, preset, plan, autoplay, tuple(notices))


def _begun(identity: str) -> Preset | None:
    return preset_of(PRESETS[identity], st.session_state.get(f"preset:{identity}", ""))


def open_preset(identity: str, preset: Preset) -> None:
    """Make a page show this preset the next time it is drawn."""
    st.session_state[f"preset:{identity}"] = preset.id
    show_plan(identity, preset.plan)


def preset_control(page: Page, presets: tuple[Preset, ...], box) -> Plan:
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

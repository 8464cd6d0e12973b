"""The stage of Home, the Playground and the Race: what a person does on the player, and the words beneath it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from pmpviz.app.address import class_mode, kept_plan
from pmpviz.app.asked import Asked
from pmpviz.app.export import ExportFile
from pmpviz.app.models import model_of
from pmpviz.app.page import Page
from pmpviz.app.player import Event
from pmpviz.app.session import Held, held
from pmpviz.app.share import ALWAYS, changed
from pmpviz.app.stage import Stage, Turn
from pmpviz.app.widgets import bind, select, show
from pmpviz.app.words import show_notices
from pmpviz.capabilities.sampling import outlets, table
from pmpviz.capabilities.sampling import picture as payload
from pmpviz.capabilities.sampling import words as sentences
from pmpviz.capabilities.sampling.kept import Kept, keep, of_model
from pmpviz.capabilities.sampling.layers import SiteReport, layers_of, site_report
from pmpviz.capabilities.sampling.live import LiveRun, LiveView
from pmpviz.capabilities.sampling.page.share import code_dialog
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.capabilities.sampling.settings import share_limits
from pmpviz.live.places import moved
from pmpviz.live.plan import Preset
from pmpviz.live.view import View
from pmpviz.models import Ising, Space
from pmpviz.player.layered import site_words
from pmpviz.player.numbers import integer, significant
from pmpviz.types import InputError, Target

TOOLS = {
    "none": "Look",
    "flip": "Flip",
    "field+": "Field +",
    "field-": "Field −",
    "clamp1": "Clamp 1",
    "clamp0": "Clamp 0",
    "free": "Clear",
}
EDITS = (
    "Flip changes one site of one configuration. Field + pulls the sites that are painted towards 1, Field − towards "
    "0, by log-odds of 2 at β = 1; Clamp 1 and Clamp 0 hold them there. A field or a clamp makes another model: "
    "statistics begin anew, and a reference for it has to be made, which may take minutes. The exact line goes until "
    "it is there."
)
FIELD_STEP = 1.0
MOST_EDITS = 20_000
HOVER_SECONDS = 0.3
# What the numbers are of comes first: beneath a stage that is not there yet they would be seen, and jump.
BENEATH = "<style>.stMainBlockContainer:not(:has(.pv-bar)) .st-key-class-fold-table { visibility: hidden; }</style>"


class SamplingStage(Stage):
    """The stage of one run of a page's script: the plan on screen, and the preset that the plan began as."""

    job = LiveRun
    bar = ("play", "step", "reset", "seed", "speed", "share", "code", "export", "class")
    tells_lanes = True
    # Whether it begins by itself once somebody has it before their eyes.
    opens = False

    def __init__(self, page: Page, preset: Preset, plan: Plan, notices: Sequence[str] = ()):
        super().__init__(page)
        self.preset, self.plan, self.notices = preset, plan, notices
        self.first_speed = preset.speed
        self._kept: tuple[Kept, ...] = ()

    @property
    def live(self) -> LiveRun | None:
        """The live run, told the plan; None where the plan's model is not here (a file that must be brought)."""
        return None if self.target(self.plan) is None else self.job_of(self.plan)

    def target(self, plan: Plan) -> Target | None:
        """The target of a plan, or None where it cannot be built."""
        try:
            return plan.target(model_of(plan.model))
        except InputError:
            return None

    def knobs(self, plan: Plan) -> list[str]:
        """Temperature, and of a single algorithm its first knob."""
        own = [p.name for p in plan.lanes[0].spec.params if not p.advanced] if len(plan.lanes) == 1 else []
        return ["T", *(f"lane1.{name}" for name in own[:1])]

    def take(self, plan: Plan, notices: Sequence[str] = ()) -> None:
        """Take the plan that the page's controls give, keep it and write it into the address; ask the question."""
        self.page.keep(plan)
        show_notices([*self.notices, *notices])
        self.plan = plan
        self.page.head(self.question(), sentences.lead(self.id, plan))

    @property
    def as_begun(self) -> bool:
        """Whether the plan still is the preset's: in model, start, temperature, edits and algorithms."""
        return _what(self.plan) == _what(self.preset.plan)

    def question(self) -> str:
        """The question that the page answers; while somebody looks back, that of the moment on screen."""
        plan = self._plan_on_screen()
        if _what(plan) == _what(self.preset.plan):
            return self.preset.question
        target = self.target(plan)
        return sentences.headline(None if target is None else target.model, plan)

    def _plan_on_screen(self) -> Plan:
        holder = held(self.id)
        if holder.at is None or holder.live is None or holder.live.waits_for(self.plan):
            return self.plan
        return holder.live.view.at(holder.at).plan

    def show(self) -> None:
        """The player, or what is missing for it."""
        if self.live is None:
            st.info("This plan's model is a file. Bring it under “From a file” in the side bar, and the run begins.")
        else:
            self.draw(self.plan)

    def _update(self, turn: Turn) -> bytes:
        tool = st.session_state.get(f"tool:{self.id}", "none")
        tools = tools_of(turn.view.model)
        return payload.update(turn.view, turn.sent, turn.desk, tool, turn.hover, turn.kept, tools, self.opens)

    def _waiting(self, view: LiveView) -> bool:
        return view.truth is None and view.truth_trouble is None or any(lane.cold is not None for lane in view.lanes)

    def _below(self, view: View) -> None:
        super()._below(view)
        if not class_mode() and not self._beneath(view):
            st.caption(sentences.reference_words(view))

    def _beneath(self, view: LiveView) -> str:
        settled = not view.coming and (view.truth is not None or bool(view.truth_trouble))
        return sentences.reference_words(view) if settled and not class_mode() else ""

    def _more_of(self, job: Any) -> Any:
        return outlets.note(job, self._kept)

    def _files(self, asked: Asked) -> list[ExportFile]:
        return outlets.files(asked)

    def _moment(self, view: LiveView) -> str:
        return f"The run as it was at {outlets.sweeps_in_words(view)}."

    def _show_code(self, asked: Asked) -> None:
        model = asked.view.model
        sweeps = [lane.sweep for lane in asked.view.lanes]
        states = 2 if model is None else model.space.states
        code_dialog(asked.view.plan, sweeps, states, changed(asked.view.marks))

    def _shared(self, plan: Plan) -> tuple[list[str], list[str]]:
        return [ALWAYS, *share_limits(plan)], []

    def answer(self, event: Event) -> bool:
        """Also strokes and clicks on the picture, hovering, kept curves and looking back."""
        holder = held(self.id)
        # The worker, which notes them for an export, is in no session.
        self._kept = of_model(holder.kept, self.plan.model)
        if event.type in ("click", "paint"):
            return self._edit(holder.live, event)
        if event.type == "place":
            plan = kept_plan(self.id, self.plan)
            self.change(plan.replace(places=moved(plan.places, event.site, event.x, event.y)))
            return True
        if event.type == "clear":
            self.change(kept_plan(self.id, self.plan).replace(field=(), clamp=()))
            return True
        if event.type == "hover":
            point(holder, event)
            return False
        if event.type == "keep" and event.lane < len(holder.live.view.lanes):
            view = holder.live.view
            holder.kept = keep(holder.kept, view, event.lane, payload.styles(view)[event.lane])
            return False
        if event.type == "drop":
            dropped = of_model(holder.kept, holder.live.view.plan.model)[event.lane : event.lane + 1]
            holder.kept = tuple(kept for kept in holder.kept if kept not in dropped)
            return False
        # What is written beside the player is of the moment that is looked back at, too.
        return super().answer(event) or event.type in ("look", "live")

    def _edit(self, live: LiveRun, event: Event) -> bool:
        plan, model = kept_plan(self.id, self.plan), live.view.model
        if model is None or event.tool == "none" or event.tool not in tools_of(model):
            return False
        sites = [site for site in event.sites or (event.site,) if 0 <= site < model.n]
        if event.tool.startswith("clamp"):
            sites = _with_state(sites, int(event.tool.removeprefix("clamp")), model.space)
        if not sites:
            return False
        if event.tool == "flip":
            live.flip(sites)
            return False
        field, clamp = dict(plan.field), dict(plan.clamp)
        for site in sites:
            if event.tool in ("field+", "field-"):
                field[site] = FIELD_STEP if event.tool == "field+" else -FIELD_STEP
            elif event.tool.startswith("clamp"):
                clamp[site] = int(event.tool.removeprefix("clamp"))
            else:
                field.pop(site, None)
                clamp.pop(site, None)
        if len(field) + len(clamp) > MOST_EDITS:
            st.toast(f"More than {integer(MOST_EDITS)} painted sites: clear some first.")
            return False
        self.change(plan.replace(field=tuple(field.items()), clamp=tuple(clamp.items())))
        return True

    def table(self) -> None:
        """The lanes' numbers and what they say, brought up to date once a second."""
        if (live := self.live) is not None:
            st.html(BENEATH)
            self.beside("table", self._table, self.tick(live))

    def _table(self) -> None:
        moment, at = held(self.id).live.seen, held(self.id).at
        if moment is not None and moment.lanes:
            # A class has the curve and the verdict; so many columns are for a desk.
            fold = st.container(key="class-fold-table")
            fold.markdown(table.markdown(moment if at is None else moment.at(at)))
            fold.caption(table.IN_SHORT, help=table.HELP)


def _what(plan: Plan) -> tuple[Any, ...]:
    """What a preset's words are about."""
    algorithms = tuple(lane.algorithm for lane in plan.lanes)
    return plan.model, plan.start, plan.beta, plan.field, plan.clamp, algorithms


def tools_of(model: Any) -> dict[str, str]:
    """What a click or a stroke may do on this model, by its id, in words; a field is of two-state pairwise models."""
    if model is None or isinstance(model, Ising):
        return TOOLS
    clamps = {f"clamp{state}": f"Clamp {state}" for state in range(model.space.states)}
    flip = "Flip" if model.space.states == 2 else "Next state of a site"
    return {"none": "Look", "flip": flip, **clamps, "free": "Clear"}


def _with_state(sites: list[int], state: int, space: Space) -> list[int]:
    """Those of the sites that have the state; of the others a word is said."""
    kept = [site for site in sites if space.holds(site, state)]
    if sites and not kept:
        has = space.card_at(sites[0])
        st.toast(
            f"Site {sites[0] + 1} has {has} state{'s' if has > 1 else ''}, from 0: it cannot be clamped to {state}."
        )
    return kept


def point(holder: Held, event: Event) -> None:
    """Have the worker note what is known of the site under the pointer, as lines of text; waits a moment for it.

    Nothing is noted where the run has another model by then.
    """
    live, view = holder.live, holder.live.view
    holder.hover = None
    if view.model is None or not 0 <= event.site < view.model.n or not 0 <= event.lane < len(view.lanes):
        return

    def tell() -> None:
        if live.model is view.model and event.lane < len(live.lanes):
            report = site_report(event.site, live.lanes[event.lane].run, view.truth)
            holder.hover = event.lane, event.site, tuple(_known(report, view))

    live.post(tell, HOVER_SECONDS)


def _known(report: SiteReport, view: LiveView) -> list[str]:
    text = view.plan.model
    told = [f"message from {site_words(view.model, text, i)}: {significant(v)}" for i, v in report.messages[:6]]
    return [*_site_lines(report), *told]


def _site_lines(report: SiteReport) -> list[str]:
    source = "exact" if report.exact else "reference"
    if report.field is not None:
        lines = [
            f"site {report.site + 1}: x = {report.value}",
            f"share of chains at 1: {significant(report.shares[1])}",
        ]
        if report.marginals is not None:
            lines.append(f"{source} p(x = 1): {significant(report.marginals[1])}")
        return [*lines, f"local field: {significant(report.field)}"]
    lines = [f"site {report.site + 1}: state {report.value}", f"shares of chains: {_numbers(report.shares)}"]
    if report.marginals is not None:
        lines.append(f"{source} p(x = k): {_numbers(report.marginals)}")
    return [*lines, f"p(x = k | the rest): {_numbers(report.conditional)}"]


def _numbers(values: tuple[float, ...]) -> str:
    return " · ".join(significant(value, 2) for value in values)


def layer_control(page: SamplingStage, box) -> None:
    """What is laid over the picture."""
    if (live := page.live) is not None:
        options, key = _layers(page, live, (lane.algorithm for lane in page.plan.lanes))
        box.segmented_control("Show", options, default=st.session_state[key], key=key, required=True, wrap=True)


def layer_choice(page: SamplingStage, box) -> None:
    """What is laid over the pictures of all lanes: what lanes of any algorithm have."""
    if (live := page.live) is not None:
        options, key = _layers(page, live)
        select(box, "Show on the pictures", options, key)


def _layers(page: SamplingStage, live: LiveRun, algorithms: Iterable[str] = ()) -> tuple[tuple[str, ...], str]:
    """The layers there are, and the key of the widget that shows the one that is chosen, which is laid over."""
    target, kept, key = page.target(page.plan), f"layer:{page.id}", f"layer_shown:{page.id}"
    options = layers_of(algorithms, None if target is None else target.model)
    chosen = bind(key, st.session_state.get(kept, "none"))
    if chosen not in options:
        chosen = "none"
        show(key, chosen)
    st.session_state[kept] = chosen
    live.set_layer(chosen)
    return options, key


def tool_control(page: SamplingStage, box) -> None:
    """What a click or a stroke on the picture does."""
    target, key = page.target(page.plan), f"tool:{page.id}"
    tools = tools_of(None if target is None else target.model)
    if st.session_state.get(key) not in tools:
        st.session_state[key] = "none"
    if tools is not TOOLS:  # One for each state: they have no room side by side.
        box.selectbox("Click or drag to", list(tools), format_func=tools.__getitem__, key=key, help=EDITS)
        return
    words = tools.__getitem__
    box.segmented_control(
        "Click or drag to",
        list(tools),
        format_func=words,
        key=key,
        default="none",
        required=True,
        wrap=True,
        help=EDITS,
    )

"""Home, the Playground and the Race: their controls, and what stands around the stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import streamlit as st

from pmpviz.app.address import class_mode
from pmpviz.app.lanes import lane_control, lanes_control, refusals
from pmpviz.app.model_picker import model_controls
from pmpviz.app.models import model_of
from pmpviz.app.page import Page, show_plan
from pmpviz.app.presets import draw_choice, preset_of
from pmpviz.app.session import begin_anew, held
from pmpviz.app.widgets import edited, pressed, show
from pmpviz.app.words import as_text
from pmpviz.capabilities.sampling.controls import adopt, run_controls
from pmpviz.capabilities.sampling.page.completion import half_picture
from pmpviz.capabilities.sampling.page.explain import explanation
from pmpviz.capabilities.sampling.page.filters import weights
from pmpviz.capabilities.sampling.page.stage import SamplingStage, layer_choice, layer_control, tool_control
from pmpviz.capabilities.sampling.plan import Plan, sampler
from pmpviz.capabilities.sampling.presets import HOME, PLAYGROUND, RACE
from pmpviz.live.lane_names import lane_names
from pmpviz.live.plan import Preset
from pmpviz.player.numbers import integer
from pmpviz.samplers import SAMPLERS

# Three pictures side by side take the page's margins, where a window has little room.
MANY = "<style>@media (max-width: 1500px) { .stMainBlockContainer { padding-inline: 2.5rem; } }</style>"
MOST_OFFERED = 4
ONE = (
    "Each picture is a configuration: low energy makes it likely. "
    "A sampler is right when all come as often as the model says, and the mean energy is then the exact one."
)
PAGES = {page.id: page for page in (Page("home", (HOME,)), Page("playground", PLAYGROUND, ONE), Page("race", RACE))}


def race_on_home(above: Callable[[], None]) -> None:
    """Two samplers that race once they are seen, under what `above` draws."""
    stage = open_stage("home")
    above()
    stage.opens, stage.tells_lanes, stage.patience = True, False, 0.1
    stage.take(stage.plan)
    stage.show()
    # Before a class it would be cut off by the window's edge.
    st.container(key="class-fold-race").caption(
        "Gibbs redraws each spin by itself, given its neighbours; Swendsen-Wang turns whole clusters of like spins at "
        "once. Each picture is one configuration of a magnet, of spins that are black or white, from one random "
        "start. T\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}1 is the critical temperature. Neither colour is likelier: one "
        "picture may be mostly white, the other black. A sweep updates every spin once. MMD² says how far the samples "
        "are from the model's law, 0 where they follow it. Space pauses, N steps, and the slider under the pictures "
        "goes back in time. "
        f"Here {integer(HOME.plan.chains)} chains run at once; the {integer(RACE[0].plan.chains)} of the same race on "
        "the page Race see smaller errors, and are within them later."
    )


def playground() -> None:
    """Build a model, pick an algorithm, watch it work."""
    stage, side = open_stage("playground"), st.sidebar
    box = side.container()
    plan = chosen_preset(stage)
    side.markdown("##### Model")
    plan, notices = model_controls(plan, side, key="playground_model", run_key="playground_run", adopt=adopt)
    side.markdown("##### Algorithm")
    target = stage.target(plan)
    plan = plan.replace(lanes=(lane_control(plan.lanes[0], "playground_lane", side, target),))
    side.markdown("##### Run")
    plan = run_controls(plan, side, key="playground_run", model=model_of(plan.model) if target is not None else None)
    stage.autoplay = plan == stage.preset.plan  # Settings of one's own wait for Play.
    refused = refusals(sampler, target)
    usable = {c.spec.id: c.spec.label for c in SAMPLERS if c.spec.id not in refused}
    usable |= {plan.lanes[0].algorithm: usable.pop(plan.lanes[0].algorithm, plan.lanes[0].spec.label)}  # Itself last.
    carry(stage, side, "Race it against", usable, "race", lambda rival: (plan.lanes[0], sampler(rival)), plan)
    stage.take(plan, notices)
    list_presets(stage, "Experiment", box)
    left, right = st.columns([1.1, 1], vertical_alignment="bottom")
    layer_control(stage, left)
    tool_control(stage, right)
    stage.show()
    instead(stage, refused)
    half_picture(stage)
    weights(stage)
    explanation(stage)


def race() -> None:
    """Two to four samplers on the same model, from the same start, on one budget."""
    stage, side = open_stage("race"), st.sidebar
    box = side.container()
    plan = chosen_preset(stage)
    side.markdown("##### Lanes")
    target = stage.target(plan)
    plan = lanes_control(plan, "race", side, target, least=2, opened=2, add="Add lane")
    with side.expander("Model"):
        plan, notices = model_controls(plan, st, key="race_model", run_key="race_run", adopt=adopt)
    side.markdown("##### Run")
    plan = run_controls(plan, side, key="race_run", model=model_of(plan.model) if target is not None else None)
    names = dict(enumerate(_told_apart(plan)))
    carry(stage, side, "Look closer at", names, "playground", lambda place: (plan.lanes[place],), plan)
    stage.take(plan, notices)
    layer_choice(stage, side)
    list_presets(stage, "Race", box)
    if len(plan.lanes) > 2 and not class_mode():
        st.html(MANY)
    tool_control(stage, st)
    stage.show()
    instead(stage, refusals(sampler, target))
    stage.table()
    explanation(stage)


def _told_apart(plan: Any) -> list[str]:
    """What each lane is called, without its algorithm where it is told apart without."""
    names = lane_names(plan.lanes)
    brief = [name.split(" · ", 1)[-1] for name in names]
    return brief if len(set(brief)) == len(names) else names


def instead(stage: SamplingStage, refused: dict[str, str]) -> None:
    """Under the refusal of a lane's algorithm, those that run on the model, each a button that takes its place."""
    lanes = stage.plan.lanes
    raced = {lane.algorithm for lane in lanes}
    usable = [c.spec for c in SAMPLERS if c.spec.id not in refused]
    usable.sort(key=lambda spec: (spec.id in raced, spec.guarantee == "approximate"))
    for place, lane in enumerate(lanes):
        if lane.algorithm not in refused or not usable:
            continue
        row = st.container(horizontal=True, vertical_alignment="center")
        row.markdown(f"{as_text(lane.spec.label)} cannot run on this model. Take in its place:", width="content")
        for spec in usable[:MOST_OFFERED]:
            key = f"{stage.id}_instead{place}_{spec.id}"
            row.button(spec.label, key=key, on_click=_take_instead, args=(stage, place, spec.id))


def _take_instead(stage: SamplingStage, place: int, algorithm: str) -> None:
    lanes = stage.plan.lanes
    stage.change(stage.plan.replace(lanes=(*lanes[:place], sampler(algorithm), *lanes[place + 1 :])))


def carry(
    stage: SamplingStage, box: Any, label: str, options: dict, page: str, lanes: Callable[[Any], tuple], plan: Plan
) -> None:
    """A choice and a button that shows this plan on another page: its model, settings and edits, with other lanes."""
    chosen = box.selectbox(label, list(options), format_func=options.__getitem__, key=f"{stage.id}_carry")
    if pressed(box, f"Go to the {page.capitalize()}", f"{stage.id}_carry_go", width="stretch") and chosen is not None:
        stage.page.keep(plan)
        show_plan(page, plan.replace(lanes=lanes(chosen)))
        held(page).kept = held(stage.id).kept
        st.switch_page(f"pages/{page}.py")


def open_stage(identity: str) -> SamplingStage:
    """Begin a page's script: its plan from the address, else as it was left, else of the preset that it began as."""
    page = PAGES[identity]
    plan, notices = page.open(_begun(page).plan)
    return SamplingStage(page, _begun(page), plan, notices)


def _begun(page: Page) -> Preset:
    return preset_of(page.presets, st.session_state.get(f"preset:{page.id}", "")) or page.presets[0]


def open_preset(identity: str, preset: Preset) -> None:
    """Make a page show this preset the next time it is drawn."""
    layer = f"layer:{identity}"
    if preset.layer or st.session_state.get(layer) == _begun(PAGES[identity]).layer:  # What a preset laid over goes.
        st.session_state[layer] = preset.layer or "none"
    st.session_state[f"preset:{identity}"] = preset.id
    show_plan(identity, preset.plan)
    begin_anew(identity)


def chosen_preset(stage: SamplingStage) -> Plan:
    """The page's plan; a preset that was just chosen from its list is opened instead."""
    key = _choice(stage)
    chosen = preset_of(stage.page.presets, st.session_state[key]) if edited(key) else None
    if chosen is not None:
        show(key, chosen.id)
        open_preset(stage.id, chosen)
        st.query_params.clear()
        st.rerun()
    return stage.plan


def list_presets(stage: SamplingStage, label: str, box: Any) -> None:
    """The list of the page's presets, once the stage has taken the plan."""
    draw_choice(stage.page.presets, label, stage.preset.id if stage.as_begun else "", box, _choice(stage))


def _choice(stage: SamplingStage) -> str:
    return f"{stage.id}_preset_choice"

"""The controls of an inference plan: preset, model, lanes."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pmpviz.app import model_picker
from pmpviz.app.model_picker import ModelChoice
from pmpviz.app.models import model_of
from pmpviz.app.widgets import bind, param_control, preset_choice, select, temperature_control
from pmpviz.app.words import as_text, sentence
from pmpviz.capabilities.marginals.plan import MAX_LANES, InferencePlan, SolverPlan
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.marginals.settings import check_model
from pmpviz.live.plan import BETA
from pmpviz.marginals import SOLVERS, solver_class
from pmpviz.types import InputError


def preset_control(plan: InferencePlan, box: Any, speed_key: str) -> InferencePlan:
    """The choice of a preset: the plan of the one that was just chosen, else the plan as it is."""
    chosen = preset_choice(INFERENCE, "Walk", "inference_preset", plan, box)
    if chosen is None:
        return plan
    st.session_state[speed_key] = chosen.speed
    return chosen.plan


def model_controls(plan: InferencePlan, box: Any) -> tuple[InferencePlan, list[str]]:
    """The plan with the chosen model and temperature; a model that the page does not walk in is refused."""
    shown = ModelChoice(plan.model, plan.beta)
    chosen, notices = model_picker.model_controls(
        shown, box, key="inference_model", run_key="inference_run", evidence=False
    )
    beta = temperature_control(BETA, "inference_run", chosen.beta, box)
    try:
        if chosen.model != plan.model:
            check_model(model_of(chosen.model))
    except InputError as error:
        box.error(sentence(error))
        return plan, notices
    return plan.replace(model=chosen.model, beta=beta), notices


def lane_controls(plan: InferencePlan, box: Any) -> InferencePlan:
    """One to four algorithms with their knobs."""
    lanes = list(plan.lanes)
    plus, minus = box.columns(2)
    if plus.button("Race another", disabled=len(lanes) >= MAX_LANES, width="stretch", key="inference_add"):
        lanes.append(_another(lanes))
    if minus.button("Remove", disabled=len(lanes) < 2, width="stretch", key="inference_remove"):
        lanes.pop()
    for index, lane in enumerate(lanes):
        into = box.expander(f"Lane {index + 1}", expanded=index == 0) if len(lanes) > 1 else box
        lanes[index] = _lane(lane, f"inference_lane{index}", into)
    return plan.replace(lanes=tuple(lanes))


def _another(lanes: list[SolverPlan]) -> SolverPlan:
    """An algorithm that is not in the race yet."""
    raced = {lane.algorithm for lane in lanes}
    spare = [cls.spec.id for cls in SOLVERS if cls.spec.id not in raced] or [SOLVERS[0].spec.id]
    return SolverPlan(spare[0])


def _lane(lane: SolverPlan, key: str, box: Any) -> SolverPlan:
    labels = {cls.spec.id: cls.spec.label for cls in SOLVERS}
    chosen = bind(f"{key}_algorithm", lane.algorithm)
    spec = solver_class(chosen).spec
    select(box, "Algorithm", labels, f"{key}_algorithm", help=spec.paper)
    box.caption(f"**{spec.guarantee.capitalize()}.** {as_text(spec.summary)}")
    lane = lane if chosen == lane.algorithm else SolverPlan(chosen)
    before = lane.full_knobs
    now = {p.name: param_control(p, f"{key}_{chosen}_{p.name}", before[p.name], box) for p in spec.params}
    if now == before:
        return lane
    return SolverPlan(chosen, tuple((p.name, now[p.name]) for p in spec.params if now[p.name] != p.default))


__all__ = ["lane_controls", "model_controls", "preset_control"]

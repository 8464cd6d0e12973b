"""Perturbation lab: noise added to a model, and what solvers make of it."""

import streamlit as st

from pmpviz.app.address import keep_plan, open_plan
from pmpviz.app.page import enter
from pmpviz.app.presets import preset_control
from pmpviz.app.words import show_notices
from pmpviz.capabilities.perturbation.controls import model_controls, noise_controls, solver_controls
from pmpviz.capabilities.perturbation.page import PAGE, draw_buttons, explain, sites_of, stage
from pmpviz.capabilities.perturbation.presets import PERTURBATION

enter(PAGE)
plan, notices = open_plan(PAGE, PERTURBATION[0].plan, PERTURBATION)
side = st.sidebar
plan = preset_control(
    PERTURBATION, "Experiment", PAGE, plan, side, lambda a, b: a.replace(draw=b.draw) == b, "lab_preset"
)
side.markdown("##### Solvers")
plan = solver_controls(plan, side)
with side.expander("Model"):
    plan, more = model_controls(plan, st)
side.markdown("##### Noise")
plan = noise_controls(plan, side, sites_of(plan))
show_notices([*notices, *more])

preset = next((p for p in PERTURBATION if p.plan.replace(draw=plan.draw) == plan), None)
st.markdown(f"#### {preset.question if preset else 'What do solvers make of the same noise?'}")
keep_plan(PAGE, plan)
draw_buttons(plan)
stage(plan)
explain(plan, preset)

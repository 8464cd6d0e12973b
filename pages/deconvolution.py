"""Deconvolution: features and locations separated from images, and what fails at it."""

import streamlit as st

from pmpviz.app.address import keep_plan, open_plan
from pmpviz.app.page import enter
from pmpviz.app.presets import preset_control
from pmpviz.app.words import show_notices
from pmpviz.capabilities.deconvolution.controls import (
    data_controls,
    known_controls,
    lane_controls,
    model_controls,
    run_controls,
)
from pmpviz.capabilities.deconvolution.page import PAGE, clamp_features, empty, explain, paint_glyphs, stage
from pmpviz.capabilities.deconvolution.presets import DECONVOLUTION

enter(PAGE)
plan, notices = open_plan(PAGE, DECONVOLUTION[0].plan, DECONVOLUTION)
side = st.sidebar
plan = preset_control(DECONVOLUTION, "Experiment", PAGE, plan, side)
side.markdown("##### Images")
plan = data_controls(plan, side)
side.markdown("##### Given")
plan = known_controls(plan, side)
side.markdown("##### Model")
plan = model_controls(plan, side)
side.markdown("##### Algorithms")
plan = lane_controls(plan, side)
side.markdown("##### Run")
plan = run_controls(plan, side)
show_notices(notices)

preset = next((p for p in DECONVOLUTION if p.plan.replace(seed=plan.seed) == plan), None)
st.markdown(f"#### {preset.question if preset else 'What are these images made of?'}")
plan = paint_glyphs(plan)
place = st.container()
plan = clamp_features(plan)
keep_plan(PAGE, plan)
with place:
    if not empty(plan):
        stage(plan)
explain(plan, preset)

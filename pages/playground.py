"""Playground: build a model, pick an algorithm, watch it work."""

import streamlit as st

from pmpviz.experiments.presets import PLAYGROUND
from pmpviz.ui.completion import completion
from pmpviz.ui.controls import lane_controls, model_controls, run_controls
from pmpviz.ui.explain import explain
from pmpviz.ui.filters import weights
from pmpviz.ui.page import open_page
from pmpviz.ui.settings import model_of
from pmpviz.ui.stage import layer_control, stage, tool_control

page = open_page("playground", PLAYGROUND[0])
side = st.sidebar
side.markdown("##### Model")
plan, notices = model_controls(page.plan, side, key="playground_model", run_key="playground_run")
side.markdown("##### Algorithm")
target = page.target(plan)
plan = plan.replace(lanes=(lane_controls(plan.lanes[0], "playground_lane", side, target),))
side.markdown("##### Run")
plan = run_controls(plan, side, key="playground_run", model=model_of(plan.model) if target is not None else None)
page = page.with_plan(plan, notices)

st.markdown(f"#### {page.question()}")
left, right = st.columns([1, 1], vertical_alignment="bottom")
layer_control(page, left)
tool_control(page, right)
stage(page)
completion(page)
weights(page)
explain(page)

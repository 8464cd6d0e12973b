"""Playground: build a model, pick an algorithm, watch it work."""

import streamlit as st

from pmpviz.app.lanes import lane_control
from pmpviz.app.model_picker import model_controls
from pmpviz.app.models import model_of
from pmpviz.capabilities.sampling.completion import completion
from pmpviz.capabilities.sampling.controls import adopt, run_controls
from pmpviz.capabilities.sampling.explain import explain
from pmpviz.capabilities.sampling.filters import weights
from pmpviz.capabilities.sampling.page import open_page
from pmpviz.capabilities.sampling.presets import PLAYGROUND
from pmpviz.capabilities.sampling.stage import layer_control, stage, tool_control

page = open_page("playground", PLAYGROUND[0])
side = st.sidebar
side.markdown("##### Model")
plan, notices = model_controls(page.plan, side, key="playground_model", run_key="playground_run", adopt=adopt)
side.markdown("##### Algorithm")
target = page.target(plan)
plan = plan.replace(lanes=(lane_control(plan.lanes[0], "playground_lane", side, target),))
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

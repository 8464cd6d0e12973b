"""Race: two to four samplers on the same model, from the same start, on one budget."""

import streamlit as st

from pmpviz.app.model_picker import model_controls
from pmpviz.app.models import model_of
from pmpviz.capabilities.sampling.controls import adopt, lane_controls, run_controls
from pmpviz.capabilities.sampling.explain import explain
from pmpviz.capabilities.sampling.page import lanes_control, open_page, preset_control
from pmpviz.capabilities.sampling.presets import RACE
from pmpviz.capabilities.sampling.stage import race_table, stage

page = open_page("race", RACE[0])
side = st.sidebar
plan = preset_control(page, RACE, side)
side.markdown("##### Lanes")
lanes = lanes_control(plan, side)
target = page.target(plan)
for index, lane in enumerate(lanes):
    box = side.expander(f"Lane {index + 1}", expanded=index < 2)
    lanes[index] = lane_controls(lane, f"race_lane{index}", box, target)
plan = plan.replace(lanes=tuple(lanes))
with side.expander("Model"):
    plan, notices = model_controls(plan, st, key="race_model", run_key="race_run", adopt=adopt)
side.markdown("##### Run")
plan = run_controls(plan, side, key="race_run", model=model_of(plan.model) if target is not None else None)
page = page.with_plan(plan, notices)

st.markdown(f"#### {page.question()}")
stage(page)
race_table(page)
explain(page)

"""Race: two to four samplers on the same model, from the same start, on one budget."""

import streamlit as st

from pmpviz.app.lanes import lanes_control
from pmpviz.app.model_picker import model_controls
from pmpviz.app.models import model_of
from pmpviz.capabilities.sampling.controls import adopt, run_controls
from pmpviz.capabilities.sampling.explain import explain
from pmpviz.capabilities.sampling.page import open_page, preset_control
from pmpviz.capabilities.sampling.presets import RACE
from pmpviz.capabilities.sampling.stage import race_table, stage

page = open_page("race", RACE[0])
side = st.sidebar
plan = preset_control(page, RACE, side)
side.markdown("##### Lanes")
target = page.target(plan)
plan = lanes_control(plan, "race", side, target, least=2, opened=2, add="Add lane")
with side.expander("Model"):
    plan, notices = model_controls(plan, st, key="race_model", run_key="race_run", adopt=adopt)
side.markdown("##### Run")
plan = run_controls(plan, side, key="race_run", model=model_of(plan.model) if target is not None else None)
page = page.with_plan(plan, notices)

st.markdown(f"#### {page.question()}")
stage(page)
race_table(page)
explain(page)

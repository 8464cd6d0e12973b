"""Frank-Wolfe: marginals from MAP calls, with a certificate."""

import streamlit as st

from pmpviz.app.address import keep_plan, open_plan
from pmpviz.app.page import enter
from pmpviz.app.words import show_notices
from pmpviz.capabilities.marginals.controls import lane_controls, model_controls, preset_control
from pmpviz.capabilities.marginals.page import PAGE, SPEED_KEY, explain, stage
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.marginals.settings import plan_from_query, plan_to_query

enter(PAGE)
plan, notices = open_plan(PAGE, INFERENCE[0].plan, plan_from_query, INFERENCE)
side = st.sidebar
plan = preset_control(plan, side, SPEED_KEY)
side.markdown("##### Algorithms")
plan = lane_controls(plan, side)
with side.expander("Model"):
    plan, more = model_controls(plan, st)
keep_plan(PAGE, plan, plan_to_query)
show_notices([*notices, *more])

preset = next((p for p in INFERENCE if p.plan == plan), None)
st.markdown(f"#### {preset.question if preset else 'How close do MAP calls come to the marginals?'}")
stage(plan)
explain(plan, preset)

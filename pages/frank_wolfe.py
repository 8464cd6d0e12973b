"""Frank-Wolfe: marginals from MAP calls, with a certificate."""

import streamlit as st

from pmpviz.app.address import keep_plan, open_plan
from pmpviz.app.lanes import lanes_control
from pmpviz.app.model_picker import checked_model_controls
from pmpviz.app.page import enter
from pmpviz.app.presets import preset_control
from pmpviz.app.words import show_notices
from pmpviz.capabilities.marginals.page import PAGE, explain, stage
from pmpviz.capabilities.marginals.plan import check_model
from pmpviz.capabilities.marginals.presets import INFERENCE

enter(PAGE)
plan, notices = open_plan(PAGE, INFERENCE[0].plan, INFERENCE)
side = st.sidebar
plan = preset_control(INFERENCE, "Walk", PAGE, plan, side, key="inference_preset")
side.markdown("##### Algorithms")
plan = lanes_control(plan, "inference", side)
with side.expander("Model"):
    plan, more = checked_model_controls(plan, st, "inference", check_model)
keep_plan(PAGE, plan)
show_notices([*notices, *more])

preset = next((p for p in INFERENCE if p.plan == plan), None)
st.markdown(f"#### {preset.question if preset else 'How close do MAP calls come to the marginals?'}")
stage(plan)
explain(plan, preset)

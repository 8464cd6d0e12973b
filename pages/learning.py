"""Learning: fit a model to pictures, and watch what it dreams."""

import streamlit as st

from pmpviz.app.address import keep_plan, open_plan
from pmpviz.app.page import enter
from pmpviz.app.presets import preset_control
from pmpviz.app.words import show_notices
from pmpviz.capabilities.learning.controls import (
    data_controls,
    learner_controls,
    model_controls,
    optimiser_controls,
    run_controls,
    saved_controls,
)
from pmpviz.capabilities.learning.page import PAGE, explain, leave, open_buttons, resume, stage
from pmpviz.capabilities.learning.presets import LEARNING

enter(PAGE)
plan, notices = open_plan(PAGE, LEARNING[0].plan, LEARNING)
leave(plan)
side = st.sidebar
plan = preset_control(LEARNING, "Training", PAGE, plan, side)
if saved := saved_controls(side):
    plan = resume(*saved)
side.markdown("##### Data")
plan = data_controls(plan, side)
side.markdown("##### Model")
plan = model_controls(plan, side)
side.markdown("##### Learner")
plan = learner_controls(plan, side)
side.markdown("##### Optimiser")
plan = optimiser_controls(plan, side)
side.markdown("##### Run")
plan = run_controls(plan, side)
keep_plan(PAGE, plan)
show_notices(notices)

preset = next((p for p in LEARNING if (p.plan.data, p.plan.kind) == (plan.data, plan.kind)), None)
st.markdown(f"#### {preset.question if preset else 'What does this model learn from these pictures?'}")
stage(plan)
open_buttons()
explain(plan, preset.notice if preset else "Your own training. Compare what it dreams with the data beside it.")

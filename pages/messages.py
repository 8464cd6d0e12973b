"""Messages: a small factor graph, and the messages that pass along it, one at a time."""

import streamlit as st

from pmpviz.app.address import keep_plan, open_plan
from pmpviz.app.page import enter
from pmpviz.app.presets import preset_control
from pmpviz.app.words import show_notices
from pmpviz.capabilities.messages.controls import evidence_controls, graph_controls, message_controls
from pmpviz.capabilities.messages.page import PAGE, answered, explain, stage
from pmpviz.capabilities.messages.presets import MESSAGES

enter(PAGE)
plan, notices = open_plan(PAGE, MESSAGES[0].plan, MESSAGES)
plan = answered(plan)
side = st.sidebar
plan = preset_control(MESSAGES, "Experiment", PAGE, plan, side, lambda a, b: a.computed == b.computed)
side.markdown("##### Graph")
plan = graph_controls(plan, side)
side.markdown("##### Messages")
plan, more = message_controls(plan, side)
with side.expander("Held variables"):
    plan = evidence_controls(plan, st)
show_notices([*notices, *more])

preset = next((p for p in MESSAGES if p.plan.computed == plan.computed), None)
st.markdown(f"#### {preset.question if preset else 'Where do these messages settle?'}")
keep_plan(PAGE, plan)
stage(plan)
explain(plan, preset)

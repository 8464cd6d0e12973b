"""The dialog that carries a run elsewhere as code."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from pmpviz.app.widgets import forget_outlet
from pmpviz.app.words import as_text
from pmpviz.capabilities.sampling.code import command, command_limits, script
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.live.lane_names import lane_names
from pmpviz.numerals import integer


@st.dialog("Code", width="large", on_dismiss=forget_outlet)
def code_dialog(plan: Plan, sweeps: int | Sequence[int], states: int = 2, sentences: Sequence[str] = ()) -> None:
    """A Python script and a command a lane, for the sweeps that the run (or each lane) has done, of so many states.

    `sentences` say in what it is not the run on screen.
    """
    for sentence in sentences:
        st.caption(as_text(sentence))
    each = [sweeps] * len(plan.lanes) if isinstance(sweeps, int) else list(sweeps)
    python, shell = st.tabs(["Python", "Command line"])
    numbers = "numbers at these sweeps" if sentences else "this page's numbers at its sweeps"
    python.caption(f"Prints {numbers}, and writes the samples.")
    python.code(script(plan, each, states), language="python")
    names = lane_names(plan.lanes)
    for index, (lane, last) in enumerate(zip(plan.lanes, each, strict=True)):
        out = "samples.npz" if len(plan.lanes) == 1 else f"samples{index + 1}.npz"
        shell.caption(as_text(f"{names[index]}, {integer(last)} sweeps"))
        shell.code(command(plan, lane, last, out), language="bash", wrap_lines=True)
    for sentence in command_limits(plan):
        shell.caption(as_text(sentence))

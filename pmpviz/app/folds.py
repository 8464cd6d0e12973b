"""Folded below a stage: what to notice, equations, what the numbers mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from pmpviz.player.style import GUARANTEES


def folds(notice: str, equations: str, numbers: str, specs: Iterable[Any] = ()) -> None:
    """The folds of a page with words of its own: what to notice, what `specs` promise, equations, numbers."""
    with st.expander("What to notice"):
        st.markdown(notice)
        for spec in specs:
            words = GUARANTEES.get(spec.guarantee, spec.guarantee)
            st.markdown(f"**{spec.label}** ({words}). {spec.summary} *{spec.paper}.*")
    with st.expander("Equations"):
        st.markdown(equations)
    with st.expander("What the numbers mean"):
        st.markdown(numbers)

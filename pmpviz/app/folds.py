"""Around and below a stage: charts, and folded what to notice, equations, what the numbers mean."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import streamlit as st

from pmpviz.player.style import GUARANTEES


def chart(figure: Any, key: str, otherwise: str) -> bool:
    """A chart without a mode bar, or `otherwise` in words where there is none; whether there is one."""
    if figure is None:
        st.caption(otherwise)
    else:
        st.plotly_chart(figure, key=key, width="stretch", config={"displayModeBar": False})
    return figure is not None


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

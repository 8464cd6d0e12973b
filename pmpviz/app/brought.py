"""People's own algorithms in the app: named where it is started, never on a page."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import streamlit as st

from pmpviz import plugins
from pmpviz.app.words import sentence
from pmpviz.types import InputError


def bring(arguments: Sequence[str]) -> None:
    """The files that `streamlit run app.py -- --plugin FILE.py` names, once a process."""
    try:
        plugins.take(arguments)
    except InputError as error:
        plugins.trouble("--plugin", str(error))


@st.cache_resource(show_spinner=False)
def _said(sentences: tuple[str, ...]) -> None:
    """Once a process, for whoever has started it."""
    for words in sentences:
        print(f"  {sentence(words)}", file=sys.stderr, flush=True)


def say_what_is_left_out(troubles: Callable[[], tuple[str, ...]]) -> None:
    """One sentence on the page for everything that cannot be used."""
    if not plugins.asked():
        return
    found = troubles()
    _said(found)
    for words in found:
        st.warning(sentence(words))

"""The dialog that carries a run elsewhere as a link."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from pmpviz.app.widgets import forget_outlet
from pmpviz.app.words import as_text
from pmpviz.live.link import joined, text_of
from pmpviz.live.plan import Choice

FIRST_PAGE = "home"
ALWAYS = (
    "It opens this page with these settings and starts at sweep 0: frame k is the same picture each time, bit for bit."
)


def command_line(verb: str, subject: str, flags: Mapping[str, Any], *rest: str) -> str:
    """`python -m pmpviz VERB SUBJECT --flag value ... REST`, quoted for a shell."""
    parts = [f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in flags.items()]
    return " ".join(["python -m pmpviz", verb, shlex.quote(subject), *parts, *rest])


# Knobs of `infer` whose flag has another name: `--seconds` is a limit of the whole command.
INFER_FLAGS = {"seconds": "seconds-per-call"}


def infer_line(model: str, lane: Choice, beta: float = 1.0) -> str:
    """The command line that gives the numbers of a solver's lane: beta and knobs to the last digit."""
    flags = {"algorithm": lane.algorithm} | ({} if beta == 1 else {"beta": text_of(float(beta))})
    flags |= {INFER_FLAGS.get(name, name): str(value) for name, value in lane.full_knobs.items()}
    return command_line("infer", model, flags, "--json")


def link_to(query: Mapping[str, str], page: str, base: str | None = None) -> str:
    """The address of `page` with this query."""
    base, name = (base if base is not None else (st.context.url or "")).rstrip("/"), page.strip("/")
    base = base.removesuffix(f"/{name}")
    return f"{base}/{'' if name == FIRST_PAGE else name}?{joined(query)}"


def changed(marks: Sequence[tuple[int, str]]) -> list[str]:
    """A sentence where the run on screen is not the one that begins with its present settings: `View.marks`."""
    words = [words for count, words in marks if count or "by hand" in words]
    if not words:
        return []
    return [f"The run on screen was changed on its way: {', '.join(words)}. This begins anew with its last settings."]


@st.dialog("Share", width="medium", on_dismiss=forget_outlet)
def link_dialog(query: Mapping[str, str], page: str, sentences: Sequence[str], commands: Sequence[str] = ()) -> None:
    """The link to copy, what it does and leaves out, and the command lines of the same, after the last sentence."""
    st.code(link_to(query, page), language=None, wrap_lines=True)
    for sentence in sentences:
        st.caption(as_text(sentence))
    for line in commands:
        st.code(line, language="bash", wrap_lines=True)

"""Sentences and notices in Markdown that shows exactly their characters."""

from __future__ import annotations

import re
from typing import Any

import streamlit as st

from pmpviz.player.model_words import full_sentence


def show_notices(notices: list[str], container: Any = None) -> None:
    """The notices of `from_query`, in one box; foreign text in them is shown as it is, never as Markdown.

    Without any their place is kept: were what comes below to move up, the browser would put it in the page anew.
    """
    place = (container or st).empty()
    if notices:
        lines = "\n".join(f"- {as_text(notice)}" for notice in notices[:12])
        place.warning(lines, icon=":material/link:")


def sentence(message: object) -> str:
    """A message as a sentence, in Markdown that shows exactly its characters; a file's name is left as it is."""
    text = full_sentence(str(message))
    return as_text(text[:-1]) + "."


def as_text(text: str) -> str:
    """`text` as Markdown that shows exactly its characters."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~$:<>])", r"\\\1", text.replace("\n", " "))

"""The model in words: its kind, size and temperature."""

from __future__ import annotations

from collections.abc import Sequence

from pmpviz.models import SRBM, LayeredModel
from pmpviz.player.numbers import integer, significant


def model_words(model, beta: float, brief: bool = False) -> str:
    """The model's kind and size, and its temperature where that is not 1, in a `brief` one without beta."""
    if isinstance(model, LayeredModel):
        size = _layers(model)
    elif (shape := getattr(model, "shape", None)) and len(shape) > 1:
        size = " × ".join(map(str, shape)) + " lattice"
        size += f" of {model.space.words}" if model.space.states > 2 else ""
    elif model.space.states > 2:
        size = f"model of {integer(model.n)} variables of {model.space.words}"
    else:
        size = f"model of {integer(model.n)} sites"
    return size if beta == 1 else f"{size} at {temperature(beta).split(' (')[0] if brief else temperature(beta)}"


def temperature(beta: float) -> str:
    """T as the slider beside the picture has it, and beta."""
    return f"T = {significant(1 / beta)} (β = {significant(beta)})" if beta else "β = 0"


def _layers(model: LayeredModel) -> str:
    kind = "semi-restricted" if isinstance(model, SRBM) else "restricted"
    return f"{kind} Boltzmann machine of {integer(model.visible)} visible and {integer(model.hidden)} hidden units"


def full_sentence(text: str) -> str:
    """With a capital and a full stop; a file's name at its beginning is left as it is, and no words stay none."""
    named = "." in text.split(" ")[0].rstrip(".:,;")
    text = text if named else text[:1].upper() + text[1:]
    return text if not text or text.endswith(".") else f"{text}."


def listed(words: Sequence[str]) -> str:
    """`a, b and c`; nothing of no words."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))

"""Numbers, times and configurations as people read them."""

from __future__ import annotations

import numpy as np

from pmpviz.numerals import THIN, at_most, integer, rounded_up, significant, times

__all__ = ["THIN", "at_most", "configuration", "integer", "rate_words", "rounded_up", "seconds", "significant", "times"]


def seconds(value: float, digits: int = 3) -> str:
    """A time in ms below a second, else in s."""
    return f"{significant(value * 1e3, digits)} ms" if value < 1 else f"{significant(value, digits)} s"


def rate_words(rate: float, speed: float, unit: str, going: bool = True) -> str:
    """How many `unit` a second are computed now, beside a time of all of a run, or were while it was still `going`;
    where the chosen speed (0 for none) is below that, how many could be."""
    if not rate:
        return ""
    now = "could now compute" if 0 < speed < rate else "now computes"
    return f"{now if going else 'last computed'} {significant(rate)} {unit}/s"


def configuration(x: np.ndarray) -> str:
    """A configuration by its states, shortened in the middle."""
    if len(x) > 24:
        x = np.concatenate([x[:12], x[-13:]])  # Every state is a letter or more: no more of them is seen.
    text = "".join(str(int(v)) for v in x)
    return text if len(text) <= 24 else f"{text[:11]}…{text[-11:]}"

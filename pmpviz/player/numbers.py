"""Numbers as people read them: three significant digits, thin-space thousands, ms or s."""

from __future__ import annotations

import math

import numpy as np

THIN = "\u2009"


def integer(value: float) -> str:
    """Whole number with thin-space thousands."""
    return f"{round(value):,}".replace(",", THIN)


def significant(value: float | None, digits: int = 3) -> str:
    """`digits` significant digits without exponents between 1e-4 and 1e6; n/a for None or nan."""
    if value is None or math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    if size >= 10**digits:
        return integer(value).replace("-", "−")
    if size and size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa}·10{_superscript(int(exponent))}".replace("-", "−")
    decimals = max(digits - 1 - (math.floor(math.log10(size)) if size else 0), 0)
    return f"{value:.{decimals}f}".replace("-", "−")


def _superscript(value: int) -> str:
    return str(value).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def seconds(value: float) -> str:
    """A time in ms below a second, else in s."""
    return f"{significant(value * 1e3)} ms" if value < 1 else f"{significant(value)} s"


def configuration(x: np.ndarray) -> str:
    """A configuration by its states, shortened in the middle."""
    text = "".join(str(int(v)) for v in x)
    return text if len(text) <= 24 else f"{text[:11]}…{text[-11:]}"

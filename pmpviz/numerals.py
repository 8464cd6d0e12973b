"""Numbers as text, for people and in KaTeX: three significant digits, thousands apart by a space that stays whole."""

from __future__ import annotations

import math

import numpy as np

THIN = "\u202f"
# From a million on, or below a millionth, a factor is a power of ten.
MOST_LOG = math.log(1e6)
# From so many nats on, told in three digits, a factor's first digit is not known.
EXACT_LOG = 100.0


def integer(value: float) -> str:
    """Whole number with thousands set apart by a narrow space that no line breaks at."""
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
    return f"{value:,.{decimals}f}".replace(",", THIN).replace("-", "−")


def at_most(value: float, digits: int = 2) -> str:
    """A bound: `significant`, with the digits beyond the last rounded upward."""
    return significant(rounded_up(value, digits), digits)


def rounded_up(value: float, digits: int = 2) -> float:
    """The number that `at_most` prints."""
    if not math.isfinite(value) or value <= 0:
        return value
    unit = 10.0 ** (math.floor(math.log10(value)) - digits + 1)
    return math.ceil(round(value / unit, 6)) * unit


def times(log: float, least: bool = False) -> str:
    """The factor of which this is the natural logarithm, in two significant digits, in one where it is large, or its
    power of ten; rounded down where it is that `least`."""
    ten = log / math.log(10)
    if abs(log) >= EXACT_LOG:
        return f"10{_superscript(math.floor(ten) if least else round(ten))}"
    if abs(log) >= MOST_LOG:
        digit = 10 ** (ten - math.floor(ten))
        digit = math.floor(digit + 1e-9) if least else round(digit)
        power = math.floor(ten) + (digit == 10)
        return f"{f'{digit}·' if 1 < digit < 10 else ''}10{_superscript(power)}"
    unit = 10.0 ** (math.floor(ten) - 1)
    value = math.floor(round(math.exp(log) / unit, 6)) * unit if least else float(f"{math.exp(log):.1e}")
    return integer(value) if value >= 10 else significant(value, 2)


def _superscript(value: int) -> str:
    return str(value).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def katex(value: float) -> str:
    """`significant` as KaTeX takes it."""
    return significant(value).replace(THIN, r"\,").replace("−", "-")


def katex_span(values: np.ndarray) -> str:
    """The least and the largest of the values, or the one that all have; 0 where there is none."""
    if not np.size(values):
        return "0"
    low, high = float(np.min(values)), float(np.max(values))
    return katex(low) if low == high else rf"{katex(low)} \ldots {katex(high)}"

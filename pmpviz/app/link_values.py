"""Values in links: written as text, read back into their range with a notice, never an exception."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np

from pmpviz.types import InputError, Param


def text_of(value: Any) -> str:
    """A setting as text that reads back to the same value (floats by repr)."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value)).lower()
    if isinstance(value, (float, np.floating)):
        return repr(float(value))
    return str(value)


def lane_text(name: str, knobs: Iterable[tuple[str, Any]]) -> str:
    """A lane as text: `pmp;damping=0.5`."""
    return ";".join([name, *(f"{knob}={text_of(value)}" for knob, value in knobs)])


def joined(query: Mapping[str, str]) -> str:
    """What stands behind the `?` of a link."""
    return urlencode(query, safe=":;=,")


def quote(text: str) -> str:
    """A foreign text, short and without line breaks or control characters."""
    clean = "".join(c if c.isprintable() else "?" for c in text[:41])
    return clean if len(text) <= 40 else clean[:40] + "..."


def read_value(param: Param, text: str, fallback: Any, name: str = "") -> tuple[Any, str | None]:
    """(value in range, notice or None): the nearest value, or `fallback` where `text` is no number or choice."""
    name = name or param.name
    try:
        return param.parse(text), None
    except InputError:
        number = _number(text)
    if param.scale in ("bool", "choice") or number is None:
        return fallback, f"{name} = {quote(text)} is not {param.range_text()} and was set to {text_of(fallback)}"
    value = min(max(number, param.low), param.high)
    value = int(value) if param.scale == "int" else float(value)
    fault = (
        f"is outside {param.low:,.10g} to {param.high:,.10g}" if value != math.trunc(number) else "is no whole number"
    )
    return value, f"{name} = {quote(text)} {fault} and was set to {value:,.10g}"


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isnan(number) else min(max(number, -1e300), 1e300)


def read_plain(
    given: Mapping[str, str], params: Iterable[Param], keys: Iterable[str], default: Any, notices: list[str]
) -> dict[str, Any]:
    """The values that are given for `params`; what is none of the `keys` is left out with a notice."""
    unknown = [quote(key) for key in given if key not in keys]
    if unknown:
        notices.append(f"settings that do not exist were left out: {', '.join(unknown[:5])}")
    values: dict[str, Any] = {}
    for param in params:
        if param.name in given:
            values[param.name], notice = read_value(param, given[param.name], getattr(default, param.name))
            notices += [notice] if notice else []
    return values


def read_checked(what: str, text: str, fallback: str, check: Callable[[str], Any], notices: list[str]) -> str:
    """The text of a model or of data where `check` takes it, or a file's; else `fallback` with a notice."""
    if re.fullmatch(r"file:[0-9a-f]{64}", text):
        return text
    try:
        check(text)
        return text
    except InputError as error:
        said = quote(str(error)) if len(str(error)) > 200 else error
        notices.append(f"{said}; the {what} set to {fallback}")
        return fallback


def read_named(
    text: str, lane: str, class_of: Callable[[str], Any], notices: list[str]
) -> tuple[str, tuple[tuple[str, Any], ...]] | None:
    """(id, knobs) of `id;name=value;...`, the `spec` of `class_of(id)` naming the knobs; None where there is no id."""
    algorithm, *parts = text.split(";")
    try:
        known = {param.name: param for param in class_of(algorithm.strip()).spec.params}
    except InputError as error:
        notices.append(f"{lane} was left out: {error}")
        return None
    knobs: dict[str, Any] = {}
    for part in parts[:64]:
        name, _, value = part.partition("=")
        if name not in known or name in knobs:
            fault = "twice, of which the first counts" if name in knobs else "which it does not have"
            notices.append(f"{lane} gives {algorithm} the setting {quote(name)}, {fault}")
            continue
        knobs[name], notice = read_value(known[name], value, known[name].default, f"{lane}'s {name}")
        notices.extend([notice] if notice else [])
    return algorithm.strip(), tuple(knobs.items())

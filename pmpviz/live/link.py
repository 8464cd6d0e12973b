"""Links: any plan as a query and back, each value read into its range with a notice, never an exception."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

import numpy as np

from pmpviz.types import InputError, Param

if TYPE_CHECKING:
    from pmpviz.live.plan import Alias, Settings

VERSION = "1"
Plan = TypeVar("Plan", bound="Settings")


def to_query(plan: Settings) -> dict[str, str]:
    """A plan as query parameters, in the order of its fields: `v`, `model`, ..., `lane1` = `pmp;damping=0.5`."""
    query = {"v": VERSION}
    for name, row in plan.rows().items():
        query |= {name: _written(row, getattr(plan, name))} if isinstance(row, Param) else row.write(plan)
    return query


def from_query(params: Mapping[str, str], default: Plan) -> tuple[Plan, list[str]]:
    """(plan, notices) of a link; what is missing comes from `default`; never raises.

    Each notice is one sentence on a value that was out of range, unknown or unreadable, and what it was set to.
    """
    given = {str(key): str(value) for key, value in params.items()}
    notices = _stray(given, default.keys())
    values: dict[str, Any] = {}
    for name, param in default.params().items():
        values[name] = _read(param, given, getattr(default, name), default.ALIASES.get(name), notices)
    plan = default.replace(**values)
    for special in default.specials():
        plan = special.read(plan, given, notices)
    plan, found = plan.mended(default)
    return plan, [*notices, *found]


def _written(param: Param, value: Any) -> str:
    return text_of(float(value) if param.scale in ("linear", "log") else value)


def query_text(plan: Settings) -> str:
    """What stands behind the `?` of a link."""
    return joined(to_query(plan))


def _stray(given: Mapping[str, str], keys: Iterable[str]) -> list[str]:
    notices = []
    if given.get("v", VERSION) != VERSION:
        notices.append(
            f"this link is of version {quote(given['v'])}, and this is version {VERSION}: check the settings"
        )
    known = {"v", *keys}
    unknown = [quote(key) for key in given if key not in known]
    if unknown:
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        notices.append(f"settings that do not exist were left out: {', '.join(unknown[:5])}{more}")
    return notices


def _read(param: Param, given: Mapping[str, str], fallback: Any, alias: Alias | None, notices: list[str]) -> Any:
    name, other = param.name, "" if alias is None else alias.name
    if other not in given:
        alias = None
    elif name in given:
        if alias is not None and alias.inverse is not None:
            notices.append(f"{name} and {other} = 1/{name} are both given; {name} was used")
        alias = None
    if alias is not None and alias.inverse is not None:
        start = alias.inverse.clamp(1 / fallback) if fallback else alias.inverse.high
        return 1 / _noted(read_value(alias.inverse, given[other], start, other), notices)
    name = name if alias is None else other
    return _noted(read_value(param, given[name], fallback, name), notices) if name in given else fallback


def _noted(found: tuple[Any, str | None], notices: list[str]) -> Any:
    value, notice = found
    notices.extend([notice] if notice else [])
    return value


# Values.


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
        knobs[name] = _noted(read_value(known[name], value, known[name].default, f"{lane}'s {name}"), notices)
    return algorithm.strip(), tuple(knobs.items())

"""What lanes are called, and in what order those of one algorithm stand: by the knobs in which they differ.

A lane is a `Choice` of `pmpviz.live.plan`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pmpviz.types import Param

# Choices that stand before the name of their setting.
ADJECTIVES = ("polytope", "contraction")
# What is chosen where there is none of it.
NONE = ("none", "never")
# What a setting counts stands behind its number.
COUNTED = "sweeps"


def told(param: Param, value: Any) -> str:
    """A chosen value of a knob in words."""
    if param.scale == "bool":
        return param.label.lower()
    label = param.label[:1].lower() + param.label[1:] if param.label[1:2].islower() else param.label
    if label.startswith(COUNTED):
        return f"{value} {label}" if f"{value}" != "1" else f"1 {label.replace(COUNTED, COUNTED[:-1], 1)}"
    if value in NONE:
        return f"no {label}"
    return f"{value} {label}" if param.name in ADJECTIVES else f"{label} {value}"


def lane_names(lanes: Sequence[Any]) -> list[str]:
    """What each lane is called: its algorithm, and where that is raced more than once what differs.

    `PMP · damping 0.9`; lanes of one algorithm that differ in nothing are numbered.
    """
    return [_lane_name(lanes, place) for place in range(len(lanes))]


def lane_ranks(lanes: Sequence[Any]) -> list[tuple[int, int]]:
    """(place of each lane among those of its algorithm, in the order of the knobs that differ; how many there are)."""
    found = []
    for place, lane in enumerate(lanes):
        alike = _alike(lanes, lane)
        order = sorted(alike, key=lambda other: (*_differences(lanes, alike, other).values(), other))
        found.append((order.index(place), len(alike)))
    return found


def _alike(lanes: Sequence[Any], lane: Any) -> list[int]:
    return [place for place, other in enumerate(lanes) if other.algorithm == lane.algorithm]


def _differences(lanes: Sequence[Any], alike: list[int], place: int) -> dict[str, Any]:
    """The knobs of a lane in which those like it are not all the same."""
    knobs = [lanes[other].full_knobs for other in alike]
    own = lanes[place].full_knobs
    return {name: value for name, value in own.items() if any(other[name] != value for other in knobs)}


def _lane_name(lanes: Sequence[Any], place: int) -> str:
    lane, alike = lanes[place], _alike(lanes, lanes[place])
    if len(alike) == 1:
        return lane.label
    params = {param.name: param for param in lane.spec.params}
    words = [_told_plainly(params[name], value) for name, value in _differences(lanes, alike, place).items()]
    name = lane.spec.short or lane.spec.label
    twin = [other for other in alike if lanes[other].full_knobs == lane.full_knobs]
    numbered = [f"no. {1 + twin.index(place)}"] if len(twin) > 1 else []
    return " · ".join([name, *words, *numbered])


def _told_plainly(param: Param, value: Any) -> str:
    if param.scale == "bool":
        return f"{param.label.lower()} {'on' if value else 'off'}"
    return told(param, value if isinstance(value, str) else f"{value:g}")

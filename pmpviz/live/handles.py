"""The knobs of a plan that stand beside the picture, and are turned while it is watched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pmpviz.live.plan import DRAGGED
from pmpviz.models.critical import critical_temperature, textbook_temperature
from pmpviz.types import Param


@dataclass(frozen=True)
class Handle:
    """One knob of a plan for the hand that watches: `name` is a field of the plan, `T` for the inverse of `beta`, or
    `lane1.damping` for a knob of a lane; `param` has its label and range, `value` is what it is set to, `note`
    stands behind the label, and `more` behind its help."""

    name: str
    param: Param
    value: float
    note: str = ""
    more: str = ""

    @property
    def words(self) -> dict[str, Any]:
        """As the browser is told of it."""
        words = {
            "name": self.name,
            "label": self.param.label + self.note,
            "low": self.param.low,
            "high": self.param.high,
        }
        return words | {"scale": self.param.scale, "value": float(self.value), "help": self.param.help + self.more}


def handle_of(plan: Any, name: str) -> Handle | None:
    """The knob of a plan of this name (see `Handle`); None where the plan has none, or it is no number."""
    index, knob = _lane_of(plan, name)
    params, value = plan.params(), getattr(plan, name, None)
    if index is not None:
        params = {p.name: p for p in plan.lanes[index].spec.params}
        value = plan.lanes[index].full_knobs.get(knob)
    elif name == DRAGGED.name and "beta" in params:
        text = getattr(plan, "model", "")
        critical = critical_temperature(text)
        note = "" if critical is None else f" (critical {critical:.3g})"
        temperature = DRAGGED.clamp(1 / plan.beta if plan.beta else DRAGGED.high)
        return Handle(name, DRAGGED, temperature, note, _in_books(critical, textbook_temperature(text)))
    param = params.get(knob)
    return None if param is None or param.scale in ("bool", "choice") else Handle(name, param, value)


def _in_books(critical: float | None, unit: float | None) -> str:
    """Why the critical temperature is 1 here, where books have another one."""
    if critical != 1 or unit is None:
        return ""
    return f" This model's coupling J is chosen so that T = 1 is critical; books with J = 1 have T = {unit:.3g} there."


def turned(plan: Any, name: str, value: float) -> Any:
    """The plan with the knob of this name at a value, or as near as it goes; itself where it has no such knob."""
    handle = handle_of(plan, name)
    if handle is None:
        return plan
    index, knob = _lane_of(plan, name)
    value = handle.param.clamp(round(value) if handle.param.scale == "int" else value)
    if index is None:
        return plan.replace(**({"beta": 1 / value} if handle.param is DRAGGED else {knob: value}))
    lane = plan.lanes[index].with_knobs(plan.lanes[index].full_knobs | {knob: value})
    return plan.replace(lanes=(*plan.lanes[:index], lane, *plan.lanes[index + 1 :]))


def _lane_of(plan: Any, name: str) -> tuple[int | None, str]:
    """The lane that a handle's name is of, None where it is of the plan itself, and the knob's own name."""
    lane, _, knob = name.rpartition(".")
    keys = [f"lane{k + 1}" for k in range(len(getattr(plan, "lanes", ())))]
    return (keys.index(lane) if lane in keys else None), (knob if lane in keys else name)

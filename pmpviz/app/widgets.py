"""Streamlit widgets from `Param`s. The plan is the truth: a widget shows its value, and gives it back when changed."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import streamlit as st

from pmpviz.app.echo import is_echo, replace
from pmpviz.app.pace import of_fragment
from pmpviz.live.plan import DRAGGED
from pmpviz.types import Param

SHOWN = "shown by widgets"
SET = "when widgets were set"
TAKEN = "changes that the page's plan does not have yet"
AGAIN_SECONDS = 2.0
PRESSED = "when buttons were pressed whose runs have not come to them"
# One whose page was left before is forgotten.
PRESS_SECONDS = 10.0
ASKED = "dialog that was asked for"
NARROW_LINEAR = 4.0
NARROW_INT = 64
NARROW_CHOICES = 29
WIDE = 1e12
POWERS = (
    *(float(f"1e-{power}") for power in (100, *range(75, 9, -5), *range(9, 4, -1))),
    *(float(f"{digit}e-{power}") for power in (4, 3, 2, 1) for digit in range(1, 10)),
)


def forget_outlet() -> None:
    """The dialog that was on show has been dismissed."""
    st.session_state.pop(ASKED, None)


def edited(key: str) -> bool:
    """Whether the person has changed the widget of this key since it was last drawn."""
    last, value = st.session_state.get(SHOWN, {}), st.session_state.get(key)
    return key in last and value is not None and value != last[key] and not is_echo(key, value)


def bind(key: str, shown: Any) -> Any:
    """Value of the widget of this key: what the person has just chosen, else `shown`, which it is made to show.

    Call it before the widget is drawn, and draw the widget without a value of its own. So a value from a link, a
    preset or another page appears in the widget, and a value survives although Streamlit forgets the widgets of a
    page that is left.
    """
    if edited(key):
        shown = st.session_state[key]
    show(key, shown)
    return shown


def select(box: Any, label: str, options: Mapping[str, str] | Sequence[str], key: str, **more: Any) -> None:
    """A list to choose from, after `bind` or `show` of its key; a mapping gives each option its label.

    As every widget here it has the value that it is to show as its default, too: a browser that hears of the widget
    only after the run that set it begins with the default, and would send that back as if it had been chosen.
    """
    if isinstance(options, Mapping):
        more["format_func"] = options.__getitem__
    ids, shown = list(options), st.session_state[key]
    box.selectbox(label, ids, ids.index(shown) if shown in ids else 0, key=key, **more)


def pressed(box: Any, label: str, key: str, **more: Any) -> bool:
    """Whether a button has been pressed: where another run cuts short the one that was begun by it, the next one is
    told, which `box.button` by itself is not."""
    times = st.session_state.setdefault(PRESSED, {})
    box.button(label, key=key, on_click=lambda: times.update({key: time.monotonic()}), **more)
    return time.monotonic() - times.pop(key, -math.inf) < PRESS_SECONDS


def settings_control(plan: Any, knobs: Sequence[str | Param], key: str, box: Any) -> Any:
    """The plan with these knobs of it as they are set; one that is given as a `Param` has another range there."""
    for knob in knobs:
        param = plan.params()[knob] if isinstance(knob, str) else knob
        now = getattr(plan, param.name)
        plan = plan.replace(**{param.name: param_control(param, f"{key}_{param.name}", now, box)})
    return plan


def label_of(param: Param) -> str:
    """Label with its unit."""
    return f"{param.label} ({param.unit})" if param.unit else param.label


def param_control(param: Param, key: str, value: Any, container: Any = None) -> Any:
    """The control of one knob: slider, number, switch or choice; gives back `value` itself until it is changed."""
    box = st if container is None else container
    value = param.clamp(value)
    return _drawing(param)(param, key, value, box)


def _drawing(param: Param) -> Callable[[Param, str, Any, Any], Any]:
    if param.scale in ("bool", "choice", "log"):
        return {"bool": _switch, "choice": _choice, "log": _log_slider}[param.scale]
    narrow = NARROW_INT if param.scale == "int" else NARROW_LINEAR
    return _slider if param.high - param.low <= narrow else _number


def _switch(param: Param, key: str, value: bool, box: Any) -> bool:
    value = bind(key, value)
    box.toggle(label_of(param), value, key=key, help=param.help or None)
    return value


def _choice(param: Param, key: str, value: str, box: Any) -> str:
    value = bind(key, value)
    if sum(len(choice) + 3 for choice in param.choices) <= NARROW_CHOICES:
        segments(box, label_of(param), param.choices, key, help=param.help or None)
    else:
        select(box, label_of(param), param.choices, key, help=param.help or None)
    return value


def segments(box: Any, label: str, options: Sequence[str], key: str, **more: Any) -> None:
    """A few options side by side, one of them chosen, after `bind` or `show` of its key."""
    box.segmented_control(label, list(options), default=st.session_state[key], required=True, key=key, **more)


def _slider(param: Param, key: str, value: Any, box: Any) -> Any:
    kind = int if param.scale == "int" else float
    value = bind(key, kind(value))
    step = 1 if kind is int else 10.0 ** math.floor(math.log10((param.high - param.low) / 50))
    digits = None if kind is int else "%.3g"  # Those of the knob beneath the picture, whatever the step.
    box.slider(label_of(param), kind(param.low), kind(param.high), value, step, digits, key, param.help or None)
    return value


def _number(param: Param, key: str, value: Any, box: Any) -> Any:
    kind = int if param.scale == "int" else float
    value = bind(key, kind(value))
    more = {"step": 1} if kind is int else {"step": 0.1, "format": "%.6g"}
    box.number_input(
        label_of(param), kind(param.low), kind(param.high), value, key=key, help=param.help or None, **more
    )
    return value


def _log_slider(param: Param, key: str, value: float, box: Any) -> float:
    changed = edited(key)
    shown = bind(key, nearest(param, value))
    value = shown if changed else value
    stops(box, label_of(param), grid(param), key, param.help, value)
    return value


@functools.lru_cache(maxsize=64)
def grid(param: Param) -> tuple[float, ...]:
    """The values that a logarithmic slider stops at: a hundred a decade, three digits, and both ends.

    Over many decades every power of ten counts, or every fifth, and above one in ten thousand every digit.
    """
    if param.high / param.low > WIDE:
        return tuple(stop for stop in POWERS if param.low <= stop <= param.high)
    low, high = math.ceil(100 * math.log10(param.low)), math.floor(100 * math.log10(param.high))
    inner = {float(f"{10 ** (power / 100):.3g}") for power in range(low, high + 1)}
    return tuple(sorted({param.low, param.high} | {v for v in inner if param.low < v < param.high}))


def nearest(param: Param, value: float) -> float:
    """The stop nearest to a value, on the logarithmic scale."""
    value = min(max(value, param.low), param.high)
    return min(grid(param), key=lambda stop: abs(math.log(stop / value)))


def digits(value: float) -> str:
    """Three significant digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def temperature_control(beta: Param, key: str, value: float, container: Any = None) -> float:
    """Inverse temperature, to be dragged as T = 1/beta or given exactly as beta; changing either moves the other."""
    box = st if container is None else container
    value = pending_beta(beta, key, value)
    temperature = 1 / value if value else math.inf
    slider, number = f"{key}_T", f"{key}_beta"
    show(slider, nearest(DRAGGED, temperature))
    show(number, float(value))
    outside = not DRAGGED.low <= temperature <= DRAGGED.high
    label = f"{DRAGGED.label} = {temperature:.3g}".replace("inf", "∞") if outside else DRAGGED.label
    stops(box, label, grid(DRAGGED), slider, DRAGGED.help, None if outside else temperature)
    box.number_input(
        beta.label, beta.low, beta.high, float(value), step=0.05, format="%.6g", key=number, help=beta.help
    )
    return value


def stops(box: Any, label: str, values: Sequence[float], key: str, help: str, value: float | None = None) -> None:
    """A slider that stops at these values, after `bind` or `show` of its key; the stop that it shows is called by the
    `value` that it stands for, so that no other number stands there than at the picture."""
    shown = st.session_state[key]
    told = lambda stop: digits(stop if value is None or stop != shown else value)  # noqa: E731
    box.select_slider(label, values, shown, format_func=told, key=key, help=help or None)


def pending_beta(beta: Param, key: str, value: float) -> float:
    """What `temperature_control` of this key is about to give back."""
    slider, number = f"{key}_T", f"{key}_beta"
    if edited(slider):
        return 1 / st.session_state[slider]
    return beta.clamp(st.session_state[number]) if edited(number) else value


def show(key: str, shown: Any) -> None:
    """Make the widget of this key show a value, whatever the person has chosen.

    A run that another one follows at once may never reach the browser, whose widget would go on with another value
    and send it back as if it had been chosen. So what is set is set again by the runs of the next moment, unless the
    person has changed the widget meanwhile.
    """
    now, times = time.monotonic(), st.session_state.setdefault(SET, {})
    values, changed = st.session_state.setdefault(SHOWN, {}), edited(key)
    again = not changed and now - times.get(key, -math.inf) < AGAIN_SECONDS
    if changed and not of_fragment():
        st.session_state.setdefault(TAKEN, {}).setdefault(key, values[key])
    if again or key not in st.session_state or st.session_state[key] != shown:
        if key in values and values[key] != shown:
            replace(key, values[key])
        st.session_state[key] = shown
        times[key] = now
    values[key] = shown


def kept() -> None:
    """What the person has changed is in the page's plan."""
    st.session_state.pop(TAKEN, None)


def take_again() -> None:
    """What was changed before a run that another one cut short, so that no plan has it, counts as changed again."""
    st.session_state.setdefault(SHOWN, {}).update(st.session_state.pop(TAKEN, {}))

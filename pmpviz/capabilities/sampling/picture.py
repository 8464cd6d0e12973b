"""One update of the live player from a live run's view: frames since the last update, traces, marks and words."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pmpviz.capabilities.sampling import words as sentences
from pmpviz.capabilities.sampling.lane import BANDS, LaneView, MetricPoint
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.models import LayeredModel
from pmpviz.models.ising import Ising
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.style import style_of
from pmpviz.player.update import FIRST_FRAMES, MOST_FRAMES, MOST_TRACE_POINTS, Cursors, geometry_of
from pmpviz.player.wire import Payload, encode, frame_words, thin

MOST_BYTES = 1 << 18
SPEEDS = (1, 5, 20, 60, 240, 0)
ORDERS = ("means", "pairs", "triples", "fours", "more")
DIVERGING = ("local field", "marginal error")


def update(
    view: LiveView,
    sent: Cursors,
    *,
    bar: tuple[str, ...],
    speed: float,
    tool: str,
    layer: str,
    hover: Any = None,
    answered: tuple[str, int] | None = None,
) -> bytes:
    """The blob for the player; `sent` is brought up to date.

    `hover` is None or (lane, site, lines of text);
    `answered` is the last event of the browser whose effect is in the view.
    """
    payload = Payload()
    lanes = [_lane(payload, view, index, lane, sent, layer) for index, lane in enumerate(view.lanes)]
    meta = {
        "run": str(view.run),
        "epoch": view.epoch,
        "begun": view.begun,
        "answered": answered,
        "playing": view.playing,
        "trouble": view.trouble or "",
        "announce": _announce(view),
        "alt": f"Chain 0 of each lane on a {model_words(view.model, view.plan.beta)}" if view.model else "",
        "clamped": _clamped(payload, view),
        "tool": tool,
        "bar": list(bar),
        "speed": {"value": speed, "options": list(SPEEDS)},
        "lanes": lanes,
        "traces": _traces(payload, view),
        "marks": [[sweep, text] for sweep, text in view.marks],
        "hover": {"lane": hover[0], "site": hover[1], "lines": list(hover[2])} if hover else None,
    }
    return encode(meta, payload.blobs)


def _clamped(payload: Payload, view: LiveView) -> int | None:
    """One bit a site, as in a frame: set where the site is clamped."""
    # A plan that could not be begun may stand beside the model before it.
    sites = [site for site, _ in view.plan.clamp if view.model is not None and site < view.model.n]
    if not sites:
        return None
    mask = np.zeros(view.model.n, bool)
    mask[sites] = True
    return payload.add(np.packbits(mask), "u1")


def _announce(view: LiveView) -> str:
    if len(view.lanes) > 1:
        return sentences.verdict(view)
    return sentences.computing(view, "") if view.lanes else view.status


# Lanes.


def _lane(payload: Payload, view: LiveView, index: int, lane: LaneView, sent: Cursors, layer: str) -> dict:
    style, name = style_of(lane.algorithm), str(index)
    room, start = max(MOST_BYTES * 8 // view.model.n, 4), sent.start(name)
    frames = lane.ring.since(start, min(MOST_FRAMES, room), min(FIRST_FRAMES, room))
    if len(frames.numbers):
        sent.sent(name, int(frames.numbers[-1]))
    return {
        "id": name,
        "algorithm": lane.algorithm,
        "label": lane.label,
        "badge": lane.guarantee,
        "colour": style.colour,
        "dash": style.dash,
        "sub": _sub(lane),
        "status": _status(view, lane),
        "n": view.model.n,
        "geometry": geometry_of(payload, view.model, view.plan.model),
        "frames": frame_words(payload, frames, start),
        "strip": payload.add(lane.strip, "u1") if len(lane.strip) and _is_plane(view.model) else None,
        "layer": _layer(payload, lane, layer),
    }


def _is_plane(model) -> bool:
    if isinstance(model, LayeredModel):
        return True
    return isinstance(model, Ising) and model.shape is not None and len(model.shape) > 1


def _sub(lane: LaneView) -> str:
    rate = f"{significant(lane.rate)} sweeps/s" if lane.rate else ""
    parts = [rate, f"{seconds(lane.seconds)} computing"]
    return " · ".join(part for part in (_counted(lane), *parts) if part)


def _counted(lane: LaneView) -> str:
    """Completed draws, and since when statistics count where that is not the start."""
    since = f" since sweep {integer(lane.since)}" if lane.since else ""
    if lane.completed_draws:
        return f"{integer(lane.completed_draws)} draws a chain{since}"
    return f"statistics{since}" if since else ""


def _status(view: LiveView, lane: LaneView) -> str:
    if lane.done:
        return "done"
    if view.playing and not lane.rate:
        return "compiling …"
    return sentences.convergence(lane)


def _layer(payload: Payload, lane: LaneView, name: str) -> dict | None:
    values = lane.layer
    if values is None:
        return None
    if name == "clusters":
        return {"values": payload.add(values), "kind": "labels", "low": 0, "high": float(values.max()), "name": name}
    high = max(float(np.quantile(np.abs(values), 0.99)), 1e-6)
    kind = "diverging" if name in DIVERGING else "sequential"
    low = -high if kind == "diverging" else 0.0
    return {"values": payload.add(values), "kind": kind, "low": low, "high": high, "name": name}


# Traces.


def _traces(payload: Payload, view: LiveView) -> list[dict]:
    if not view.lanes:
        return []
    traces = [_mmd(payload, view, "sweeps")]
    if len(view.lanes) > 1:
        traces += [_mmd(payload, view, "seconds"), _spectrum(view), _series(payload, view, "energy", "Energy")]
        return traces
    traces = [_series(payload, view, "energy", "Energy"), _series(payload, view, "magnetisation", "Magnetisation")]
    if isinstance(view.model, Ising) and view.model.shape is not None:
        traces.append(_series(payload, view, "absolute_magnetisation", "Mean |magnetisation|"))
    for name in [key[:-5] for key in view.lanes[0].series if key.endswith(":mean")]:
        if name not in BANDS:
            traces.append(_series(payload, view, name, name.replace("_", " ").capitalize(), log=name == "residual"))
    return [*traces, _flips(payload, view), _mmd(payload, view, "sweeps"), _spectrum(view)]


def _series(payload: Payload, view: LiveView, name: str, title: str, log: bool = False) -> dict:
    lines = []
    for index, lane in enumerate(view.lanes):
        if f"{name}:mean" not in lane.series or not len(lane.series["sweep"]):
            continue
        keep = thin(len(lane.series["sweep"]), MOST_TRACE_POINTS)
        columns = {k: lane.series[f"{name}:{k}"][keep] for k in ("mean", "low", "high")}
        if log:
            columns = {k: np.maximum(v, 1e-7) for k, v in columns.items()}
        lines.append(
            _line(index, lane)
            | {"x": payload.add(lane.series["sweep"][keep]), "y": payload.add(columns["mean"])}
            | {k: payload.add(columns[k]) for k in ("low", "high")}
        )
    exact = None
    if name == "energy" and view.truth is not None and view.truth.energy is not None:
        exact = {"y": view.truth.energy, "label": f"exact {significant(view.truth.energy, 4)}"}
    return {"id": name, "title": title, "x": "sweeps", "log": log, "lines": lines, "exact": exact, "band": None}


def _flips(payload: Payload, view: LiveView) -> dict:
    lane = view.lanes[0]
    keep = thin(len(lane.series["sweep"]), MOST_TRACE_POINTS)
    line = _line(0, lane) | {k: payload.add(lane.series[v][keep]) for k, v in (("x", "sweep"), ("y", "flips"))}
    lines = [line] if len(keep) else []
    return {"id": "flips", "title": "Flipped sites of chain 0", "unit": "share", "x": "sweeps", "lines": lines}


def _line(index: int, lane: LaneView) -> dict:
    style = style_of(lane.algorithm)
    return {"lane": str(index), "colour": style.colour, "dash": style.dash, "marker": style.marker}


def _mmd(payload: Payload, view: LiveView, x: str) -> dict:
    deviations = [p.deviation for lane in view.lanes for p in lane.points if np.isfinite(p.deviation)]
    noise = deviations[0] if deviations else None
    floor = noise / 10 if noise else 1e-8
    lines = []
    for index, lane in enumerate(view.lanes):
        points = [p for p in lane.points if x == "sweeps" or p.sweep > 0]
        if points:
            place = np.array([getattr(p, "sweep" if x == "sweeps" else "seconds") for p in points])
            height = np.maximum([p.mmd2 for p in points], floor)
            lines.append(_line(index, lane) | {"x": payload.add(place), "y": payload.add(height)})
    band = {"low": floor, "high": 2 * noise, "label": "noise"} if noise else None
    title = "MMD²" if view.truth is not None else f"MMD² · {sentences.reference_words(view)}"
    return {"id": f"mmd-{x}", "title": title, "x": x, "log": True, "lines": lines, "exact": None, "band": band}


def _spectrum(view: LiveView) -> dict:
    rows = []
    for lane in view.lanes:
        if lane.points:
            values = _positive(lane.points[-1])
            rows.append({"label": lane.label, "colour": style_of(lane.algorithm).colour, "values": values})
    bars = {"names": list(ORDERS), "rows": rows}
    unit = significant(max(sum(row["values"]) for row in rows)) if rows else ""
    return {
        "id": "spectrum",
        "title": "MMD² by order",
        "x": "sweeps",
        "log": False,
        "lines": [],
        "bars": bars,
        "unit": f"full width {unit}" if unit else "",
    }


def _positive(point: MetricPoint) -> list[float]:
    return [max(value, 0.0) for value in point.spectrum]


@functools.lru_cache(maxsize=1)
def empty() -> bytes:
    """An update without lanes, for a page whose model is not there yet."""
    return encode({"epoch": -1, "playing": False, "lanes": [], "traces": [], "bar": [], "marks": []}, [])

"""One update of the live player from a live run's view: frames since the last update, traces, marks and words."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pmpviz.capabilities.sampling import words as sentences
from pmpviz.capabilities.sampling.lane import LaneView, MetricPoint, bands, share_name
from pmpviz.capabilities.sampling.layers import kind_of
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.metrics.marginals import marginal_table
from pmpviz.models import LayeredModel
from pmpviz.models.ising import Ising
from pmpviz.models.space import PALETTE
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.player.update import (
    FIRST_FRAMES,
    MOST_FRAMES,
    MOST_TRACE_POINTS,
    Cursors,
    Desk,
    Envelope,
    geometry_of,
    trace,
)
from pmpviz.player.wire import Payload, encode, state_words, thin
from pmpviz.runs.device import device_words
from pmpviz.samplers import sampler_class

MOST_BYTES = 1 << 18
SPEEDS = (1, 5, 20, 60, 240, 0)
ORDERS = ("means", "pairs", "triples", "fours", "more")
LEAD = "log-odds of the state shown"
# Variables whose marginals are drawn beside the exact ones.
MOST_MARGINALS = 6


def update(view: LiveView, sent: Cursors, desk: Desk, tool: str, layer: str, hover: Any = None) -> bytes:
    """The blob for the player; `sent` is brought up to date. `hover` is None or (lane, site, lines of text)."""
    envelope = Envelope(view, sent, [sampler_class(lane.algorithm).spec for lane in view.lanes])
    return envelope.seal(
        desk,
        SPEEDS,
        [_lane(envelope, view, index, lane, layer) for index, lane in enumerate(view.lanes)],
        _traces(envelope, view),
        _announce(view),
        said=_said(view),
        alt=f"Chain 0 of each lane on a {model_words(view.model, view.plan.beta)}" if view.model else "",
        clamped=_clamped(envelope.payload, view),
        field=_field(envelope.payload, view),
        tool=tool,
        hover={"lane": hover[0], "site": hover[1], "lines": list(hover[2])} if hover else None,
    )


def _clamped(payload: Payload, view: LiveView) -> int | None:
    """One bit a site, as in a frame: set where the site is clamped."""
    # A plan that could not be begun may stand beside the model before it.
    sites = [site for site, _ in view.plan.clamp if view.model is not None and site < view.model.n]
    if not sites:
        return None
    mask = np.zeros(view.model.n, bool)
    mask[sites] = True
    return payload.add(np.packbits(mask), "u1")


def _field(payload: Payload, view: LiveView) -> int | None:
    """site + 1 of every site with a painted field, negative where the field is."""
    signs = [site + 1 if h > 0 else -site - 1 for site, h in view.plan.field if h]
    return payload.add(np.array(signs), "<i4") if signs and view.model is not None else None


def _announce(view: LiveView) -> str:
    if len(view.lanes) > 1:
        return sentences.verdict(view)
    return sentences.computing(view, "") if view.lanes else view.status


def _said(view: LiveView) -> list[str]:
    computing = f"{sentences.computing(view, device_words())}."
    return [sentences.verdict(view), computing] if len(view.lanes) > 1 else ["", computing]


# Lanes.


def _lane(envelope: Envelope, view: LiveView, index: int, lane: LaneView, layer: str) -> dict:
    space, payload = view.model.space, envelope.payload
    room = max(MOST_BYTES * 8 // (view.model.n * space.planes), 4)
    return envelope.lane(
        index,
        _sub(lane),
        _status(view, lane),
        n=view.model.n,
        **state_words(space),
        geometry=geometry_of(payload, view.model, view.plan.model, view.plan.places),
        frames=envelope.frames(index, min(MOST_FRAMES, room), min(FIRST_FRAMES, room)),
        strip=payload.add(lane.strip, "u1") if len(lane.strip) and _has_strip(view.model) else None,
        layer=_layer(payload, lane, layer, space.binary),
    )


def _has_strip(model) -> bool:
    """Whether the other chains are shown small: of two states only where they are images, which need no lines."""
    if isinstance(model, LayeredModel) or model.space.palette:
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


def _layer(payload: Payload, lane: LaneView, name: str, binary: bool) -> dict | None:
    values = lane.layer
    if values is None:
        return None
    kind = kind_of(name, lane.algorithm)
    if kind == "labels":
        return {"values": payload.add(values), "kind": "labels", "low": 0, "high": float(values.max()), "name": name}
    high = max(float(np.quantile(np.abs(values), 0.99)), 1e-6)
    kind = kind if binary or name != "marginal error" else "sequential"
    name = LEAD if name == "local field" and not binary else name
    low = -high if kind == "diverging" else 0.0
    return {"values": payload.add(values), "kind": kind, "low": low, "high": high, "name": name}


# Traces.


def _traces(envelope: Envelope, view: LiveView) -> list[dict]:
    if not view.lanes:
        return []
    mmd, energy = _mmd(envelope, view, "sweeps"), _series(envelope, view, "energy", "Energy")
    space = view.model.space
    by_order = [_spectrum(envelope, view)] if space.own is None else []
    if len(view.lanes) > 1:
        beside = [] if space.binary else [_marginals(view)]
        return [mmd, _mmd(envelope, view, "seconds"), *by_order, energy, *beside]
    if space.binary:
        traces = [energy, _series(envelope, view, "magnetisation", "Magnetisation")]
    else:
        traces = [energy, _shares(envelope, view), _marginals(view)]
    if isinstance(view.model, Ising) and view.model.shape is not None:
        traces.append(_series(envelope, view, "absolute_magnetisation", "Mean |magnetisation|"))
    for name in [key[:-5] for key in view.lanes[0].series if key.endswith(":mean")]:
        if name not in bands(space):
            traces.append(_series(envelope, view, name, name.replace("_", " ").capitalize(), log=name == "residual"))
    return [*traces, _flips(envelope, space.binary), mmd, *by_order]


def _colours(view: LiveView) -> tuple[str, ...]:
    space = view.model.space
    return space.palette or PALETTE[:2]


def _shares(envelope: Envelope, view: LiveView) -> dict:
    """Share of the sites in each state over the sweeps; where they are known, the exact ones beside."""
    lane, lines, payload = view.lanes[0], [], envelope.payload
    keep = thin(len(lane.series["sweep"]), MOST_TRACE_POINTS)
    exact = view.truth.shares if view.truth is not None and view.truth.exact else None
    for state, colour in enumerate(_colours(view)):
        columns = {k: lane.series[f"{share_name(state)}:{k}"][keep] for k in ("mean", "low", "high")}
        line: dict[str, Any] = {"lane": "0", "colour": colour, "dash": "solid", "marker": "circle"}
        line |= {"x": payload.add(lane.series["sweep"][keep]), "y": payload.add(columns["mean"])}
        line |= {} if exact is None else {"exact": float(exact[state])}
        lines.append(line)
    unit = "of the sites" if exact is None else "of the sites, exact dashed"
    return trace("shares", "Share of each state", "sweeps", lines if len(keep) else [], unit=unit)


def _marginals(view: LiveView) -> dict:
    """Of one lane each variable's states beside the reference's; of more, or of many variables, their means."""
    rows: list[tuple[str, np.ndarray]] = []
    tables = [(lane.label, lane.frequencies) for lane in view.lanes if lane.frequencies is not None]
    if view.truth is not None:
        tables.append(("exact" if view.truth.exact else "reference", marginal_table(view.truth.marginals)))
    if len(view.lanes) == 1 and view.model.n <= MOST_MARGINALS:
        for site in range(view.model.n):
            rows += [
                (f"x{site} {'samples' if place == 0 else name}", t[site]) for place, (name, t) in enumerate(tables)
            ]
    else:
        rows = [(name, table.mean(0)) for name, table in tables]
    bars = {"names": list(view.model.space.legend), "colours": list(_colours(view))}
    bars["rows"] = [{"label": label, "colour": "#8A8A86", "values": values.tolist()} for label, values in rows]
    unit = "each variable" if len(view.lanes) == 1 and view.model.n <= MOST_MARGINALS else "mean over the variables"
    return trace("marginals", "Probability of each state", "sweeps", [], unit=unit, bars=bars)


def _series(envelope: Envelope, view: LiveView, name: str, title: str, log: bool = False) -> dict:
    def columns(lane: LaneView) -> dict:
        band = {"y": "mean", "low": "low", "high": "high"}
        has = f"{name}:mean" in lane.series
        return {"x": lane.series["sweep"], **{k: lane.series[f"{name}:{v}"] for k, v in band.items()}} if has else {}

    exact = None
    if name == "energy" and view.truth is not None and view.truth.energy is not None:
        exact = {"y": view.truth.energy, "label": f"exact {significant(view.truth.energy, 4)}"}
    return trace(name, title, "sweeps", envelope.lines(columns, 1e-7 if log else None), log, exact=exact)


def _flips(envelope: Envelope, binary: bool) -> dict:
    lines = envelope.lines(lambda lane: {"x": lane.series["sweep"], "y": lane.series["flips"]})
    title = "Flipped sites of chain 0" if binary else "Changed sites of chain 0"
    return trace("flips", title, "sweeps", lines, unit="share")


def _mmd(envelope: Envelope, view: LiveView, x: str) -> dict:
    def columns(lane: LaneView) -> dict:
        points = [p for p in lane.points if x == "sweeps" or p.sweep > 0]
        return {"x": [p.sweep if x == "sweeps" else p.seconds for p in points], "y": [p.mmd2 for p in points]}

    deviations = [p.deviation for lane in view.lanes for p in lane.points if np.isfinite(p.deviation)]
    noise = deviations[0] if deviations else None
    floor = noise / 10 if noise else 1e-8
    band = {"low": floor, "high": 2 * noise, "label": "noise"} if noise else None
    title = "MMD²" if view.truth is not None else f"MMD² · {sentences.reference_words(view)}"
    return trace(f"mmd-{x}", title, x, envelope.lines(columns, floor), True, band=band)


def _spectrum(envelope: Envelope, view: LiveView) -> dict:
    rows = []
    for lane, style in zip(view.lanes, envelope.styles, strict=True):
        if lane.points:
            rows.append({"label": lane.label, "colour": style.colour, "values": _positive(lane.points[-1])})
    unit = f"full width {significant(max(sum(row['values']) for row in rows))}" if rows else ""
    return trace("spectrum", "MMD² by order", "sweeps", [], unit=unit, bars={"names": list(ORDERS), "rows": rows})


def _positive(point: MetricPoint) -> list[float]:
    return [max(value, 0.0) for value in point.spectrum]


@functools.lru_cache(maxsize=1)
def empty() -> bytes:
    """An update without lanes, for a page whose model is not there yet."""
    return encode({"epoch": -1, "playing": False, "lanes": [], "traces": [], "bar": [], "marks": []}, [])

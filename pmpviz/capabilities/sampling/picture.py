"""One update of the live player from a live run's view: frames since the last update, traces, marks and words."""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from pmpviz.capabilities.sampling import standings
from pmpviz.capabilities.sampling import words as sentences
from pmpviz.capabilities.sampling.before_class import energy_verdict
from pmpviz.capabilities.sampling.evidence import shows_energy
from pmpviz.capabilities.sampling.kept import Kept, of_model
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.layers import kind_of
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.capabilities.sampling.traces import EVERYTHING, Scene, traces
from pmpviz.models import LayeredModel
from pmpviz.models.ising import Ising
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, rate_words, seconds, significant
from pmpviz.player.style import Style
from pmpviz.player.update import (
    FIRST_FRAMES,
    MOST_FRAMES,
    Cursors,
    Desk,
    Envelope,
    geometry_of,
    in_short,
)
from pmpviz.player.wire import Payload, encode, state_words
from pmpviz.runs.device import device_words
from pmpviz.samplers import sampler_class

MOST_BYTES = 1 << 18
SPEEDS = (1, 5, 20, 60, 240, 0)
FEW_NAMES = 2  # Above the pictures of more there is no room for long ones.
LEAD = "log-odds of the state shown"
# Mean absolute deviations in two standard deviations of what is normal.
TWO_DEVIATIONS = 2.5


def update(
    view: LiveView,
    sent: Cursors,
    desk: Desk,
    tool: str,
    hover: Any = None,
    kept: tuple[Kept, ...] = (),
    tools: Mapping[str, str] | None = None,
    opens: bool = False,
) -> bytes:
    """The blob for the player; `sent` is brought up to date. `hover` is None or (lane, site, lines of text), `kept` are
    curves to be drawn behind those of the lanes, `tools` what the page offers beside `tool`, by id, in words; what
    `opens` begins by itself once it is seen, but before a class."""
    shortens = desk.large and len(view.lanes) > FEW_NAMES
    view = _in_short(view) if shortens else view
    envelope, kept = _envelope(view, sent), of_model(kept, view.plan.model)
    then = view if desk.at is None else view.at(desk.at)
    scene = Scene(envelope, view, then, kept, desk.window or EVERYTHING, desk.at, desk.large)
    verdict = None
    if len(then.lanes) > 1:  # Before a class by what is on screen there.
        by_energy = energy_verdict(then) if desk.large and shows_energy(view) else ""
        verdict = by_energy or standings.verdict(then, brief=desk.large)
    told = _said(then, desk, verdict)
    return envelope.seal(
        desk,
        SPEEDS,
        [_lane(envelope, view, index, lane, desk) for index, lane in enumerate(view.lanes)],
        traces(scene),
        told[0],
        said=told,
        kept=[
            {"name": k.name(view.plan), "colour": k.style.colour, "dash": k.style.dash, "marker": k.style.marker}
            for k in kept
        ],
        alt=f"Chain 0 of each lane on a {model_words(view.model, view.plan.beta)}" if view.model else "",
        marks=[list(mark) for mark in view.marked],
        written=_written(view) if shortens else [],
        opens=opens and not desk.large and not any(lane.sweep for lane in view.lanes),
        clamped=_clamped(envelope.payload, view),
        field=_field(envelope.payload, view),
        tool=tool,
        tools={words: id for id, words in (tools or {}).items()},
        hover={"lane": hover[0], "site": hover[1], "lines": list(hover[2])} if hover else None,
    )


def styles(view: LiveView) -> list[Style]:
    """How each lane is drawn."""
    return _envelope(view, Cursors()).styles


def _in_short(view: LiveView) -> LiveView:
    """The view whose lanes have short names, before a class the same at pictures and in the verdict."""
    lanes = (replace(lane, label=in_short(lane.label, sampler_class(lane.algorithm).spec)) for lane in view.lanes)
    return replace(view, lanes=tuple(lanes))


def _written(view: LiveView) -> list[str]:
    """What the short names are short for, each once."""
    specs = [sampler_class(lane.algorithm).spec for lane in view.lanes]
    return list(dict.fromkeys(f"{spec.short}: {spec.label}" for spec in specs if spec.short))


def _envelope(view: LiveView, sent: Cursors) -> Envelope:
    return Envelope(view, sent, [sampler_class(lane.algorithm).spec for lane in view.lanes])


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


def _said(view: LiveView, desk: Desk, verdict: str | None) -> list[str]:
    """[the verdict, what is computed] at the moment that is looked back at, or now."""
    held_up = sentences.held_up(view, desk.speed) if desk.at is None else ""
    computing = sentences.computing(view, device_words()) + ("." if view.lanes else "") + held_up
    back = "" if desk.at is None else f"{sentences.looking_back(desk.at)}: "
    return [back + (sentences.found(view) if verdict is None else verdict), computing if view.lanes else ""]


# Lanes.


def _lane(envelope: Envelope, view: LiveView, index: int, lane: LaneView, desk: Desk) -> dict:
    space, payload, at = view.model.space, envelope.payload, desk.at
    room = max(MOST_BYTES * 8 // (view.model.n * space.planes), 4)
    going = view.playing and not lane.done
    under = _sub(lane, desk.speed, going, len(view.lanes) > 1) if at is None else _then(lane, at)
    return envelope.lane(
        index,
        under,
        _status(view, lane) if at is None else "",
        n=view.model.n,
        **state_words(space),
        geometry=geometry_of(payload, view.model, view.plan.model, view.plan.places),
        frames=envelope.frames(index, min(MOST_FRAMES, room), min(FIRST_FRAMES, room)),
        sweep=lane.sweep,
        draws=_draws(lane),
        back=at is not None,
        chains=view.plan.chains if len(view.lanes) > 1 else 1,
        measured=_told_at(lane, len(view.lanes) > 1),
        subHelp=sentences.pace(view) if at is None else "",
        strip=payload.add(lane.strip, "u1") if len(lane.strip) and _has_strip(view.model) else None,
        layer=_layer(payload, lane, view.layer, space.binary),
        missing=_missing(view, lane),
    )


def _has_strip(model) -> bool:
    """Whether the other chains are shown small: of two states only where they are images, which need no lines."""
    if isinstance(model, LayeredModel) or model.space.palette:
        return True
    return isinstance(model, Ising) and model.shape is not None and len(model.shape) > 1


def _sub(lane: LaneView, speed: float, going: bool = True, several: bool = False) -> str:
    rate = rate_words(lane.rate if lane.sweep else 0.0, speed, "sweeps", going)
    if several and rate:  # Lanes wait for each other: their own rate is not that at which they are seen to go on.
        rate = f"{seconds(lane.seconds / lane.sweep)} a sweep" if lane.seconds and lane.sweep else ""
    parts = [rate, f"{seconds(lane.seconds)} of computing" if lane.seconds else ""]
    return " · ".join(part for part in (_counted(lane), *parts) if part)


def _then(lane: LaneView, at: int) -> str:
    """The moment that is looked back at, and of which draw it is, where a draw takes several sweeps."""
    said, draws = sentences.looking_back(at).lower(), lane.draws
    being_made = None if draws is None or draws.length == 1 else draws.being_made(at)
    if draws is None or being_made is None:
        return said
    begin, number = being_made
    place = "done" if at - begin == draws.length else f"sweep {integer(at - begin)} of {integer(draws.length)}"
    return f"{said} · draw {integer(number)}: {place}"


def _counted(lane: LaneView) -> str:
    """Completed draws, and since when statistics count where that is not the start."""
    since = _since(lane)
    if lane.making and lane.moved:
        wait = f"begins in {integer(lane.before_making)}" if lane.before_making else ""
        return f"first {'new ' if lane.since else ''}draw: " + (
            wait or "sweep {} of {}".format(*map(integer, lane.making))
        )
    if lane.completed_draws:
        return f"{integer(lane.completed_draws)} draw{'s' if lane.completed_draws > 1 else ''} a chain{since}"
    return f"statistics{since}" if since else ""


def _draws(lane: LaneView) -> tuple[int, int, int, str] | None:
    """(draws done, the sweep at which the last one was, sweeps a draw, since when they count): how many there were at
    the picture on screen is told there. None of chains, and until a draw is begun that counts."""
    if lane.making and lane.moved and not lane.before_making:
        return 0, lane.sweep - lane.making[0], lane.making[1], _since(lane)
    if lane.draws is None or not lane.completed_draws:
        return None
    last = lane.sweep - lane.draws.age % lane.draws.length
    return lane.completed_draws, last, lane.draws.length, _since(lane)


def _told_at(lane: LaneView, several: bool) -> int | None:
    """The sweep that words and charts wait for the picture of: the last one that was measured, or alone that at which
    its last draw was done. None where they are of its newest."""
    if several:
        return lane.points[-1].sweep if lane.points else None
    done = _draws(lane)
    return done[1] if done and done[0] else None


def _since(lane: LaneView) -> str:
    return f" since sweep {integer(lane.since)}" if lane.since else ""


def _status(view: LiveView, lane: LaneView) -> str:
    if lane.done:
        return "done"
    if lane.cold is not None:
        return f"compiling … {integer(time.monotonic() - lane.cold)} s"
    if view.playing and not (lane.rate and lane.sweep):
        return "first sweep …"
    if view.coming:
        return ""
    return sentences.convergence(lane)


def _missing(view: LiveView, lane: LaneView) -> str:
    """Why the layer that was chosen is not there, said where its scale would stand."""
    if lane.layer is not None or view.layer == "none":
        return ""
    if view.layer == "marginal error" and view.truth is None:
        return f"{view.layer}: {view.truth_trouble or f'waiting for the reference, {sentences.share(view)}'}"
    if view.layer == "marginal error" and lane.making:
        return f"{view.layer}: {sentences.first_draw(lane)}"
    return f"{lane.label} has no {view.layer}"


def _layer(payload: Payload, lane: LaneView, name: str, binary: bool) -> dict | None:
    values = lane.layer
    if values is None:
        return None
    kind = kind_of(name, lane.algorithm)
    if kind == "bonds":
        return {"values": payload.add(values), "kind": kind, "low": -1.0, "high": 1.0, "name": name}
    if kind == "labels":
        return {"values": payload.add(values), "kind": "labels", "low": 0, "high": float(values.max()), "name": name}
    high = max(float(np.quantile(np.abs(values), 0.99)), 1e-6)
    kind = kind if binary or name != "marginal error" else "sequential"
    name = {"local field": name if binary else LEAD, "marginal error": _beside_chance(lane, "±" if binary else "")}.get(
        name, name
    )
    low = -high if kind == "diverging" else 0.0
    return {"values": payload.add(values), "kind": kind, "low": low, "high": high, "name": name}


def _beside_chance(lane: LaneView, sign: str) -> str:
    """The layer's name, and how far off as many exact samples would be at nearly all sites."""
    floor = lane.judged.marginal_floor if lane.judged else math.nan
    return (
        f"error (chance {sign}{significant(TWO_DEVIATIONS * floor, 2)})" if math.isfinite(floor) else "marginal error"
    )


@functools.lru_cache(maxsize=1)
def empty() -> bytes:
    """An update without lanes, for a page whose model is not there yet."""
    return encode({"epoch": -1, "playing": False, "lanes": [], "traces": [], "bar": [], "marks": []}, [])

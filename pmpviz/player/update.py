"""What an update of the live player is made of, whatever is watched: its envelope, lanes, traces, layout of sites."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pmpviz.live.lane_names import lane_ranks
from pmpviz.live.store import folded
from pmpviz.live.view import View, again
from pmpviz.models import LayeredModel
from pmpviz.player.graph import MOST_DRAWN, all_coupled, force_directed, grid_places, opposed_pairs
from pmpviz.player.layered import image_shape
from pmpviz.player.model_words import full_sentence
from pmpviz.player.style import GUARANTEES, Style, Styled, Unstyled, styles_of
from pmpviz.player.wire import Payload, encode, frame_words

MOST_FRAMES = 64
FIRST_FRAMES = 256
AGAIN_SECONDS = 1.0
AGAIN_UPDATES = 3
MOST_TRACE_POINTS = 480
FLOORED = ("y", "low", "high", "least", "most")


class Cursors:
    """What has been sent of each lane: a browser may miss some updates, so each goes back over the last ones."""

    def __init__(self) -> None:
        self._sent: dict[str, deque[tuple[float, int]]] = {}

    def start(self, lane: str) -> int:
        """Number of the frame after which the next update begins; -1 for the first one."""
        sent, old = self._sent.get(lane, deque()), time.monotonic() - AGAIN_SECONDS
        while len(sent) > AGAIN_UPDATES and sent[1][0] < old:
            sent.popleft()
        return sent[0][1] if len(sent) >= AGAIN_UPDATES and sent[0][0] < old else -1

    def sent(self, lane: str, number: int) -> None:
        """An update ended with the frame of this number."""
        self._sent.setdefault(lane, deque()).append((time.monotonic(), number))

    def clear(self) -> None:
        """Begin anew."""
        self._sent.clear()


@dataclass(frozen=True)
class Desk:
    """What a person has before them beside the picture: the bar's buttons, the speed (0 is as fast as it goes), the
    last event of the browser whose effect is in the view, knobs (`live.handles.Handle`), whether it is a class, the
    stretch of the curves that is zoomed into, the sweep that is looked back at, and whether the view is of a run that
    the page's settings begin anew."""

    bar: tuple[str, ...] = ()
    speed: float = 0.0
    answered: tuple[str, int] | None = None
    knobs: Sequence[dict[str, Any]] = ()
    large: bool = False
    window: tuple[float, float] | None = None
    at: int | None = None
    waits: bool = False


class Envelope:
    """One update in the making: what all capabilities send alike, from a live view and what has been sent before.

    `specs` are those of the lanes' algorithms: each lane is drawn in its own style, or in a spare one where they are
    left out.
    """

    def __init__(self, view: View, sent: Cursors, specs: Sequence[Styled] | None = None):
        self.view, self.sent, self.payload = view, sent, Payload()
        self.specs = specs = [Unstyled(lane.algorithm) for lane in view.lanes] if specs is None else specs
        planned = getattr(view.plan, "lanes", ())
        # A plan that could not be begun may stand beside the lanes before it.
        known = [lane.algorithm for lane in planned] == [lane.algorithm for lane in view.lanes]
        self.styles = styles_of(specs, lane_ranks(planned) if known else None)

    def lane(self, index: int, sub: str, status: str, **own: Any) -> dict[str, Any]:
        """A lane's head; `own` are its frames and what else the capability says of it."""
        lane, style = self.view.lanes[index], self.styles[index]
        head = {"id": str(index), "algorithm": lane.algorithm, "label": lane.label, "badge": lane.guarantee}
        head["badgeHelp"] = GUARANTEES.get(lane.guarantee, "")
        head["short"] = short_name(lane.label, self.specs[index])
        head |= {"colour": style.colour, "dash": style.dash, "marker": style.marker, "sub": sub, "status": status}
        return {**head, "strip": None, "layer": None, **own}

    def frames(
        self, index: int, room: int = MOST_FRAMES, first: int = MOST_FRAMES, until: float = math.inf
    ) -> dict[str, Any]:
        """The frames of a lane's ring that are new: all up to the sweep `first`, then at most `room`, none of a sweep
        after `until`: the ring may have gone on since the view was taken."""
        start = self.sent.start(str(index))
        frames = self.view.lanes[index].ring.since(start, room, first, until)
        if len(frames.numbers):
            self.sent.sent(str(index), int(frames.numbers[-1]))
        return frame_words(self.payload, frames, start)

    def lines(self, columns: Callable[[Any], Mapping[str, Any]], floor: float | None = None) -> list[dict[str, Any]]:
        """A line of a trace for each lane of which there is something to draw.

        `columns(lane)` gives `x`, `y`, and `low` and `high` where it has a band; heights are at least `floor`. Long
        ones are folded into bins, never thinned.
        """
        found = ((index, columns(lane)) for index, lane in enumerate(self.view.lanes))
        return [
            {**self.line(str(index), self.styles[index], given, floor), "name": self.view.lanes[index].label}
            for index, given in found
            if len(given.get("x", ()))
        ]

    def line(self, id: str, style: Style, columns: Mapping[str, Any], floor: float | None = None) -> dict[str, Any]:
        """A line in this style, of columns as `lines` takes them; `own` are its values where some lie under a floor."""
        line: dict[str, Any] = {"lane": id, "colour": style.colour, "dash": style.dash, "marker": style.marker}
        for name, values in folded(columns, MOST_TRACE_POINTS).items():
            line[name] = self.payload.add(values if floor is None or name not in FLOORED else np.maximum(values, floor))
            if floor is not None and name == "y" and np.less(values, floor).any():
                line["own"] = self.payload.add(values)
        return line

    def seal(
        self, desk: Desk, speeds: Sequence[float], lanes: list[dict], traces: list[dict], announce: str, **own: Any
    ) -> bytes:
        """The blob for the browser; `own` adds to the head what is the capability's."""
        view = self.view
        head = {"run": str(view.run), "epoch": view.epoch, "begun": view.begun, "answered": desk.answered}
        head |= {"playing": view.playing, "trouble": full_sentence(view.trouble or ""), "announce": announce}
        head |= {"bar": list(desk.bar), "knobs": list(desk.knobs), "large": desk.large, "said": []}
        head |= {"waits": desk.waits, "looks": desk.at, "again": again(view)}
        if desk.large:  # A class reads what was found, not what is promised of a sampler: it is left out, and its room.
            lanes = [{**lane, "badge": "", "badgeHelp": ""} for lane in lanes]
        options = sorted({*speeds, desk.speed}, key=lambda speed: speed or math.inf)
        head |= {"speed": {"value": desk.speed, "options": options}, "lanes": lanes, "traces": traces}
        head |= {"marks": [list(mark) for mark in view.marks], "tool": "none", "hover": None}
        return encode({**head, **own}, self.payload.blobs)


def in_short(label: str, spec: Styled) -> str:
    """A lane's name with that of its algorithm in short."""
    short, own = getattr(spec, "short", ""), getattr(spec, "label", "")
    return label.replace(own, short, 1) if short and own else label


def short_name(label: str, spec: Styled) -> str:
    """A lane's name where there is little room: what it differs in from others of its algorithm, or that in short."""
    return in_short(label, spec).split(" · ", 1)[-1]


def trace(id: str, title: str, x: str, lines: list[dict], log: bool = False, unit: str = "", **more: Any) -> dict:
    """A trace card: lines over `x`; `more` may give `exact` (y, label), `band` (low, high, label), `bars`, `help` for
    a hover, a `note` that stands beneath it, what stands in it while it is `empty`, and the `least` span of its
    heights."""
    words = {"id": id, "title": title, "x": x, "log": log, "unit": unit, "lines": lines}
    return {**words, "exact": None, "band": None, **more}


def geometry_of(payload: Payload, model: Any, text: str, places: Sequence[tuple[int, float, float]] = ()) -> dict:
    """How the sites of a model are laid out; `text` is the model's spec, `places` are nodes that stand elsewhere."""
    if isinstance(model, LayeredModel):
        rows, cols = image_shape(model.visible, text)
        return {"kind": "layers", "rows": rows, "cols": cols, "hidden": model.hidden}
    shape = getattr(model, "shape", None)
    if shape is None:
        return _graph(payload, model, places)
    if len(shape) == 3:
        return {"kind": "stack", "planes": shape[0], "rows": shape[1], "cols": shape[2]}
    if len(shape) == 1:
        return {"kind": "chain", "rows": 1, "cols": shape[0]}
    rows, cols = shape
    kind = text.split(":")[0]
    if kind in ("triangular", "honeycomb"):
        return {"kind": "hex", "offset": kind, "rows": rows, "cols": cols}
    return {"kind": "grid", "rows": rows, "cols": cols}


def _graph(payload: Payload, model, places: Sequence[tuple[int, float, float]]) -> dict:
    nodes, edges, opposed, coupled = _drawing(model)
    if places := [place for place in places if place[0] < model.n]:
        nodes = nodes.copy()
        nodes[[site for site, *_ in places]] = [at for _, *at in places]
    return {
        "kind": "graph",
        "rows": 1,
        "cols": model.n,
        "nodes": payload.add(nodes),
        "edges": payload.add(edges, "<i4"),
        "opposed": payload.add(opposed, "u1") if opposed.any() else None,
        "coupled": coupled,
    }


Drawing = tuple[np.ndarray, np.ndarray, np.ndarray, bool]
_KEPT: dict[int, tuple[Any, Drawing]] = {}


def _drawing(model) -> Drawing:
    """Node positions, edges, which of these are negative couplings, and whether all are couplings; kept for the last
    few models, since the forces take a moment."""
    held = _KEPT.get(id(model))
    if held is None or held[0] is not model:
        while len(_KEPT) >= 16:
            _KEPT.pop(next(iter(_KEPT)))
        held = _KEPT[id(model)] = (model, _placed(model))
    return held[1]


def _placed(model) -> Drawing:
    pairs = model.pairs()
    if model.n > MOST_DRAWN and (grid := grid_places(model.n, *pairs.T)) is None:
        side = int(np.ceil(np.sqrt(model.n)))
        site = np.arange(model.n)
        nodes = 0.02 + 0.96 * np.stack([site % side, site // side], 1) / max(side - 1, 1)
        return nodes.astype(np.float32), np.zeros((0, 2), np.int32), np.zeros(0, np.uint8), False
    nodes = force_directed(model.n, *pairs.T) if model.n <= MOST_DRAWN else grid
    opposed = opposed_pairs(model, pairs).astype(np.uint8)
    return nodes.astype(np.float32), pairs.astype(np.int32), opposed, all_coupled(model, pairs)

"""What an update of the live player is made of, whatever is watched: cursors, limits, the layout of a model's sites."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import numpy as np

from pmpviz.models import LayeredModel
from pmpviz.models.ising import Ising
from pmpviz.player.graph import MOST_DRAWN, force_directed
from pmpviz.player.layered import image_shape
from pmpviz.player.wire import Payload

MOST_FRAMES = 64


FIRST_FRAMES = 256


AGAIN_SECONDS = 1.0


AGAIN_UPDATES = 3


MOST_TRACE_POINTS = 240


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


def geometry_of(payload: Payload, model: Any, text: str) -> dict:
    """How the sites of a model are laid out; `text` is the model's spec."""
    if isinstance(model, LayeredModel):
        rows, cols = image_shape(model.visible, text)
        return {"kind": "layers", "rows": rows, "cols": cols, "hidden": model.hidden}
    shape = model.shape if isinstance(model, Ising) else None
    if shape is None:
        return _graph(payload, model)
    if len(shape) == 3:
        return {"kind": "stack", "planes": shape[0], "rows": shape[1], "cols": shape[2]}
    if len(shape) == 1:
        return {"kind": "chain", "rows": 1, "cols": shape[0]}
    rows, cols = shape
    kind = text.split(":")[0]
    if kind in ("triangular", "honeycomb"):
        return {"kind": "hex", "offset": kind, "rows": rows, "cols": cols}
    return {"kind": "grid", "rows": rows, "cols": cols}


def _graph(payload: Payload, model) -> dict:
    nodes, edges = _drawing(model)
    return {
        "kind": "graph",
        "rows": 1,
        "cols": model.n,
        "nodes": payload.add(nodes),
        "edges": payload.add(edges, "<i4"),
    }


_KEPT: dict[int, tuple[Any, tuple[np.ndarray, np.ndarray]]] = {}


def _drawing(model) -> tuple[np.ndarray, np.ndarray]:
    """Node positions and edges of a graph; kept for the last few models, since the forces take a moment."""
    held = _KEPT.get(id(model))
    if held is None or held[0] is not model:
        while len(_KEPT) >= 16:
            _KEPT.pop(next(iter(_KEPT)))
        held = _KEPT[id(model)] = (model, _placed(model))
    return held[1]


def _placed(model) -> tuple[np.ndarray, np.ndarray]:
    if model.n > MOST_DRAWN:
        side = int(np.ceil(np.sqrt(model.n)))
        site = np.arange(model.n)
        nodes = 0.02 + 0.96 * np.stack([site % side, site // side], 1) / max(side - 1, 1)
        return nodes.astype(np.float32), np.zeros((0, 2), np.int32)
    _, i, j, _ = model.pairwise()
    return force_directed(model.n, i, j).astype(np.float32), np.stack([i, j], 1).astype(np.int32)

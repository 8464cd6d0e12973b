"""What the browser draws the walk from: polytopes, paths, corners, what was known at every step, rho on the edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Int
from PIL import Image

from pmpviz.capabilities.marginals.kept import LAST_STEPS
from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.plan import MANY, WALKERS
from pmpviz.marginals.polytope import Cells
from pmpviz.marginals.projection import Projection
from pmpviz.marginals.solver import Record
from pmpviz.marginals.trw import is_forest
from pmpviz.models import Ising
from pmpviz.oracles.potentials import Potentials
from pmpviz.player.filters import pictures_image
from pmpviz.player.graph import force_directed
from pmpviz.player.numbers import configuration
from pmpviz.player.wire import Payload

MOST_EDGES, MOST_ROWS, MOST_NAMED, MOST_READ, MOST_PICTURES = 400, 24, 12, 24, 6
# Of more corners one circle more or less is not seen.
MOST_WEIGHED = 64
# A side of the picture's box that is shorter has no length but for rounding.
FLAT = 1e-6
# Nor is one principal direction drawn larger than this part of the other: sides fill the picture, and noise would too.
SHORT = 0.1
# What is known at a step, by its name for the browser.
KNOWN = {"gap": "shown_gap", "objective": "objective", "delta": "next_delta"}
KNOWN |= {"error": "standard_error", "maximum": "mean_maximum"}
# The best so far: what was known once is known at every later step, whether or not that records it.
BOUNDS = {"low": "lower", "high": "best_bound"}


def scene(payload: Payload, view: InferenceView, then: InferenceView) -> dict[str, Any]:
    """The polytopes where they are known, the centre, the exact marginals, and every lane's walk; marginals and rho as
    they were `then`, at the moment that is looked at."""
    projection, potentials = view.projection, view.potentials
    assert projection is not None and potentials is not None
    cells = Cells(potentials.structure)
    place = view.truth.place if view.truth is not None else None
    centre, exact = projection.of(cells.uniform), None if place is None else np.asarray(place).tolist()
    return {
        "names": projection.names,
        "words": projection.words,
        "means": projection.means,
        "box": _box(view, centre),
        "local": _wires(projection.local, ()),
        "marginal": _wires(projection.marginal, _names(projection, potentials)),
        "centre": centre.tolist(),
        "exact": exact,
        "graph": _graph(payload, then),
        "lanes": [_walk(payload, *both) for both in zip(view.lanes, then.lanes, strict=True)],
    }


def _box(view: InferenceView, centre: Float[np.ndarray, " 3"]) -> list[list[float]]:
    """Least and largest coordinates: of the known polytopes, else of all that is drawn and of the local maxima that
    the directions are of. No side is without length: the beginning is a picture, too."""
    projection = view.projection
    assert projection is not None
    frames = [frame[0] for frame in (projection.local, projection.marginal) if frame is not None]
    met = [part for lane in view.lanes for part in (lane.path, lane.corners)]
    exact = [np.asarray(view.truth.place)[None]] if view.truth is not None and view.truth.place is not None else []
    maxima = [] if projection.maxima is None else [projection.maxima]
    every = np.concatenate(frames or [centre[None], *exact, *maxima, *met])
    low, high = every.min(0), every.max(0)
    sides = high - low
    least = np.maximum(sides, np.array([0.0, SHORT, SHORT]) * sides[1:].max())
    spare = (np.where(least < FLAT, 1.0, least) - sides) / 2
    return [(low - spare).tolist(), (high + spare).tolist()]


def _wires(frame: tuple[np.ndarray, np.ndarray] | None, names: tuple[str, ...]) -> dict[str, Any] | None:
    return frame and {"corners": frame[0].tolist(), "edges": frame[1].tolist(), "names": names}


def _names(projection: Projection, potentials: Potentials) -> tuple[str, ...]:
    """The configurations at each corner of the marginal polytope: of correlations a state and its opposite."""
    if projection.marginal is None:
        return ()
    cells = Cells(potentials.structure)
    states = np.array(list(np.ndindex(potentials.structure.card)), np.int8)
    at = projection.of(np.stack([cells.vertex(x) for x in states]))
    here = [np.isclose(at, corner).all(1) for corner in projection.marginal[0]]
    return tuple(" ".join(configuration(x) for x in states[mask]) for mask in here)


def _walk(payload: Payload, lane: InferenceLaneView, then: InferenceLaneView) -> dict[str, Any]:
    """A lane's path with what was found and known at each of its steps, NaN where nothing was."""
    steps, path = _passing(lane, then.count)
    records: list[Record] = [lane.trace[step - 1] if step else {} for step in steps]
    numbers = {name: payload.add(_column(records, key)) for name, key in KNOWN.items()}
    numbers |= {name: payload.add(best_so_far(lane, key)[steps]) for name, key in BOUNDS.items()}
    # A vertex's row in the active set: the first is the centre.
    found = np.array([record.get("vertex", 0) - 1 for record in records])
    short = len(lane.corners) and lane.configurations.shape[1] <= MOST_NAMED
    return {
        "path": payload.add(path),
        "steps": payload.add(steps, "<i4"),
        "found": payload.add(found, "<i4"),
        "corners": payload.add(lane.corners),
        "weights": payload.add(lane.weights),
        "weighed": _weighed(payload, lane, then.count),
        "names": list(lane.names),
        "named": bool(short),
        "changes": rho_changes(lane),
        "climbs": lane.algorithm in WALKERS,
        "p1": None if len(then.p1) > MANY else payload.add(then.p1),
        "known": then.count,
        "averages": _averages(payload, lane, then.count),
        **numbers,
    }


def _passing(lane: InferenceLaneView, step: int) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, "k 3"]]:
    """The steps of the path and its points, with the step that is looked back at: of a long path not all points are
    kept, and one that is not lies on the line between its neighbours."""
    if step in lane.steps:
        return lane.steps, lane.path
    at = int(np.searchsorted(lane.steps, step))
    point = [np.interp(step, lane.steps, axis) for axis in lane.path.T]
    return np.insert(lane.steps, at, step), np.insert(lane.path, at, point, 0)


def _weighed(payload: Payload, lane: InferenceLaneView, then: int) -> list[list[int]]:
    """The corners' weights after each of the steps before the last one, which the picture may be behind by, and after
    the one that is looked back at."""
    if len(lane.weights) > MOST_WEIGHED:
        return []
    return [[step, payload.add(lane.kept[step].weights)] for step in _last(lane, then)]


def _averages(payload: Payload, lane: InferenceLaneView, then: int) -> list[list[int]]:
    """p(x_i = 1) after each of the last steps, and after the one that is looked back at; of few variables."""
    if len(lane.p1) > MOST_WEIGHED:
        return []
    return [[step, payload.add(lane.kept[step].answer.unary[:, 1])] for step in _last(lane, then)]


def _last(lane: InferenceLaneView, then: int) -> list[int]:
    """Those steps of which it is kept what was known."""
    steps = sorted({*range(max(0, lane.count - LAST_STEPS), lane.count), then} - {lane.count})
    return [step for step in steps if step in lane.kept]


def _column(records: list[Record], key: str) -> Float[np.ndarray, " steps"]:
    take = gap_of if key == "shown_gap" else lambda record: record.get(key)
    return np.array([np.nan if (value := take(record)) is None else value for record in records], np.float64)


def best_so_far(lane: InferenceLaneView, key: str) -> Float[np.ndarray, " steps"]:
    """What was last recorded at each step or before it, from step 0 on; nan before anything was."""
    found = _column([{}, *lane.trace], key)
    last = np.maximum.accumulate(np.where(np.isnan(found), 0, np.arange(len(found))))
    return found[last]


def gap_of(record: Record) -> float | None:
    """The certified gap of a step; towards what a heuristic found where there is none and it is above 0."""
    gap = record.get("gap")
    found = record.get("found_gap", -1.0)
    return gap if gap is not None else found if found > 0 else None


def on_tree(lane: InferenceLaneView) -> bool:
    """Whether every edge's dependence is counted in full: then the objective's maximum is log Z itself."""
    return lane.rho is not None and is_forest(lane.rho)


def rho_changes(lane: InferenceLaneView) -> list[int]:
    """The steps at which rho was another one than before; where it is 1 for all edges it stays so."""
    if on_tree(lane):
        return []
    pairs = zip(lane.trace, lane.trace[1:], strict=False)
    return [b["call"] for a, b in pairs if a.get("rho_update") != b.get("rho_update")]


# Rho on the graph.


def _graph(payload: Payload, view: InferenceView) -> dict[str, int] | None:
    """Nodes, edges, and rho of the first lane that has one; None where there is none, or too many edges."""
    lane = next((lane for lane in view.lanes if lane.rho is not None), None)
    if lane is None or view.potentials is None or not 0 < len(lane.rho) <= MOST_EDGES:
        return None
    s = view.potentials.structure
    at = places(view.model, s.i, s.j)
    span = np.maximum(np.ptp(at, 0).max(), 1e-9)
    rho = payload.add(lane.rho)
    middle = (at.min(0) + at.max(0)) / 2
    nodes, edges = payload.add(0.5 + (at - middle) / span), payload.add(np.stack([s.i, s.j], 1), "<i4")
    return {"lane": view.lanes.index(lane), "nodes": nodes, "edges": edges, "rho": rho}


def places(model: Ising | None, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Where the nodes are drawn: a plane lattice as it is, others by forces."""
    assert model is not None
    shape = model.shape
    if shape is not None and len(shape) == 2:
        rows, columns = np.indices(shape)
        return np.stack([columns.reshape(-1), rows.reshape(-1)], 1).astype(float)
    return force_directed(model.n, i, j)


# Configurations.


def vertices_table(lane: InferenceLaneView) -> tuple[list[dict[str, Any]], int]:
    """(rows of the heaviest vertices, how many more there are)."""
    order = np.argsort(-lane.weights)[:MOST_ROWS]
    rows = [
        {
            "found as": int(k) + 1,
            "configuration": lane.names[k],
            "weight": float(lane.weights[k]),
        }
        for k in order
    ]
    return rows, max(0, len(lane.weights) - len(rows))


def vertices_image(lane: InferenceLaneView, dark: bool, shape: tuple[int, ...] | None = None) -> Image.Image:
    """One row a visited configuration in the order in which they were found, ink where a variable is 1.

    Of a plane lattice (`shape`) of many sites the heaviest ones as pictures, the heaviest first.
    """
    if shape is not None and len(shape) == 2 and lane.configurations.shape[1] > MANY:
        return pictures_image(lane.configurations[np.argsort(-lane.weights)[:MOST_PICTURES]], shape, dark)
    rows = lane.configurations[-64:].astype(bool) ^ dark
    scale = max(1, min(12, 480 // rows.shape[1]))
    pixels = np.where(rows, 24, 245).astype(np.uint8)
    return Image.fromarray(np.kron(pixels, np.ones((min(scale, 8), scale), np.uint8)))


__all__ = ["best_so_far", "gap_of", "on_tree", "places", "rho_changes", "scene", "vertices_image", "vertices_table"]

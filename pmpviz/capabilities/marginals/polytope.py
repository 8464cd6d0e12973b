"""Plotly pictures of a walk through the marginal polytope: the walk, rho on the edges, marginals against exact ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView
from pmpviz.capabilities.marginals.picture import exact_p1
from pmpviz.marginals import solver_class
from pmpviz.models import Ising
from pmpviz.player.graph import force_directed
from pmpviz.player.numbers import configuration
from pmpviz.player.style import styles_of

DASHES = {"solid": "solid", "dash": "dash", "dot": "dot", "dashdot": "dashdot", "longdash": "longdash"}
SYMBOLS = {"circle": "circle", "square": "square", "diamond": "diamond", "triangle": "diamond-open", "star": "x"}
MOST_EDGES, MOST_ROWS = 400, 24


def walk(view: InferenceView, ink: str) -> Any:
    """The 3-D picture: polytopes where they are known, every lane's path and vertices, the exact marginals."""
    import plotly.graph_objects as go

    figure, projection = go.Figure(), view.projection
    if projection is None:
        return figure
    for name, frame, dash in (
        ("local polytope", projection.local, "dot"),
        ("marginal polytope", projection.marginal, "solid"),
    ):
        if frame is not None:
            figure.add_trace(_wires(frame, name, ink, dash))
    for lane, style in zip(
        view.lanes, styles_of([solver_class(lane.algorithm).spec for lane in view.lanes]), strict=True
    ):
        _add_lane(figure, lane, style)
    if view.truth is not None and view.truth.place is not None:
        x, y, z = view.truth.place
        mark = {"size": 6, "color": ink, "symbol": "diamond"}
        figure.add_scatter3d(x=[x], y=[y], z=[z], mode="markers", name="exact marginals", marker=mark)
    axis = {"showbackground": False, "gridcolor": "rgba(128,128,128,0.25)", "zeroline": False}
    titles = zip(("xaxis", "yaxis", "zaxis"), projection.names, strict=True)
    figure.update_layout(
        scene={name: {**axis, "title": {"text": title}} for name, title in titles}
        | {"camera": {"eye": {"x": 1.45, "y": -1.45, "z": 0.75}}, "aspectmode": "cube"},
        height=520,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        legend={"orientation": "h", "y": 0, "font": {"size": 11}},
        uirevision="walk",
    )
    return figure


def _wires(frame: tuple[np.ndarray, np.ndarray], name: str, ink: str, dash: str) -> Any:
    import plotly.graph_objects as go

    corners, edges = frame
    gaps = np.full((len(edges), 1, 3), np.nan)
    x, y, z = np.concatenate([corners[edges], gaps], 1).reshape(-1, 3).T
    line = {"color": ink, "width": 2, "dash": dash}
    return go.Scatter3d(x=x, y=y, z=z, mode="lines", name=name, line=line, opacity=0.55, hoverinfo="skip")


def _add_lane(figure: Any, lane: InferenceLaneView, style: Any) -> None:
    x, y, z = lane.path.T
    line = {"color": style.colour, "width": 5, "dash": DASHES[style.dash]}
    figure.add_scatter3d(x=x, y=y, z=z, mode="lines", name=lane.label, line=line, legendgroup=lane.label)
    now = {"size": 6, "color": style.colour, "symbol": SYMBOLS.get(style.marker, "circle")}
    more = {"legendgroup": lane.label, "showlegend": False}
    figure.add_scatter3d(x=x[-1:], y=y[-1:], z=z[-1:], mode="markers", marker=now, hovertext="μ now", **more)
    if len(lane.corners):
        x, y, z = lane.corners.T
        size = 4 + 14 * np.sqrt(np.maximum(lane.weights, 0))
        words = [f"{configuration(c)}: weight {w:.3f}" for c, w in zip(lane.configurations, lane.weights, strict=True)]
        mark = {"size": size, "color": style.colour, "opacity": 0.75, "line": {"color": style.colour, "width": 1}}
        figure.add_scatter3d(x=x, y=y, z=z, mode="markers", marker=mark, hovertext=words, hoverinfo="text", **more)


def scatter(view: InferenceView, ink: str) -> Any:
    """p(x_i = 1) of every lane against the exact one, with the diagonal; None where that is not known."""
    import plotly.graph_objects as go

    exact = exact_p1(view)
    if exact is None:
        return None
    figure = go.Figure()
    figure.add_scatter(
        x=[0, 1], y=[0, 1], mode="lines", line={"color": ink, "width": 1}, name="equal", hoverinfo="skip"
    )
    for lane, style in zip(
        view.lanes, styles_of([solver_class(lane.algorithm).spec for lane in view.lanes]), strict=True
    ):
        mark = {"color": style.colour, "symbol": style.marker.replace("triangle", "triangle-up"), "size": 8}
        figure.add_scatter(x=exact, y=lane.p1, mode="markers", name=lane.label, marker=mark)
    figure.update_layout(
        height=330,
        margin={"l": 50, "r": 10, "t": 10, "b": 40},
        xaxis={"title": "exact p(xᵢ = 1)", "range": [-0.03, 1.03]},
        yaxis={"title": "this p(xᵢ = 1)", "range": [-0.03, 1.03]},
        legend={"orientation": "h", "y": -0.25, "font": {"size": 11}},
    )
    return figure


def edges(view: InferenceView, lane: InferenceLaneView, ink: str) -> Any:
    """The graph with every edge as thick as its appearance probability rho; None where there is none to draw."""
    import plotly.graph_objects as go

    if lane.rho is None or view.potentials is None or not 0 < len(lane.rho) <= MOST_EDGES:
        return None
    s = view.potentials.structure
    at = places(view.model, s.i, s.j)
    figure = go.Figure()
    bins = np.clip((lane.rho * 10).astype(int), 0, 9)
    for k in np.unique(bins):
        chosen = np.flatnonzero(bins == k)
        ends = np.stack([at[s.i[chosen]], at[s.j[chosen]], np.full((len(chosen), 2), np.nan)], 1).reshape(-1, 2)
        line = {"color": ink, "width": 0.6 + 6 * (k + 0.5) / 10}
        name = f"ρ {k / 10:.1f} to {(k + 1) / 10:.1f}"
        figure.add_scatter(
            x=ends[:, 0], y=ends[:, 1], mode="lines", line=line, opacity=0.25 + 0.07 * k, name=name, hoverinfo="skip"
        )
    middle = (at[s.i] + at[s.j]) / 2
    words = [f"ρ of {a}-{b} = {r:.3f}" for a, b, r in zip(s.i, s.j, lane.rho, strict=True)]
    figure.add_scatter(
        x=middle[:, 0],
        y=middle[:, 1],
        mode="markers",
        marker={"size": 8, "opacity": 0},
        hovertext=words,
        hoverinfo="text",
        showlegend=False,
    )
    mark = {
        "size": 12,
        "color": lane.p1,
        "colorscale": "Cividis",
        "cmin": 0,
        "cmax": 1,
        "line": {"color": ink, "width": 1},
    }
    mark["colorbar"] = {"title": {"text": "p(xᵢ = 1)", "side": "right"}, "thickness": 10, "len": 0.8}
    labels = [f"p(x{v} = 1) = {p:.3f}" for v, p in enumerate(lane.p1)]
    figure.add_scatter(
        x=at[:, 0], y=at[:, 1], mode="markers", marker=mark, hovertext=labels, hoverinfo="text", showlegend=False
    )
    figure.update_layout(height=330, margin={"l": 5, "r": 5, "t": 5, "b": 5}, showlegend=False)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False, scaleanchor="x", autorange="reversed")
    return figure


def places(model: Ising | None, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Where the nodes are drawn: a plane lattice as it is, others by forces."""
    assert model is not None
    shape = model.shape
    if shape is not None and len(shape) == 2:
        rows, columns = np.indices(shape)
        return np.stack([columns.reshape(-1), rows.reshape(-1)], 1).astype(float)
    return force_directed(model.n, i, j)


def vertices_table(lane: InferenceLaneView) -> tuple[list[dict[str, Any]], int]:
    """(rows of the heaviest vertices, how many more there are)."""
    order = np.argsort(-lane.weights)[:MOST_ROWS]
    rows = [
        {
            "found as": int(k) + 1,
            "configuration": configuration(lane.configurations[k]),
            "weight": float(lane.weights[k]),
        }
        for k in order
    ]
    return rows, max(0, len(lane.weights) - len(rows))


def vertices_image(lane: InferenceLaneView, dark: bool) -> Image.Image | None:
    """One row a visited configuration in the order in which they were found, ink where a variable is 1."""
    if not len(lane.configurations):
        return None
    rows = lane.configurations[-64:].astype(bool) ^ dark
    scale = max(1, min(12, 480 // rows.shape[1]))
    pixels = np.where(rows, 24, 245).astype(np.uint8)
    return Image.fromarray(np.kron(pixels, np.ones((min(scale, 8), scale), np.uint8)))


__all__ = ["edges", "scatter", "vertices_image", "vertices_table", "walk"]

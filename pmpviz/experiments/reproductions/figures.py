"""Plotly figures of the reproductions, and the file that holds one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pmpviz.io.files import write_bytes

# A window's width in pixels.
WIDE = 1200


def lines(
    x: Sequence[float], curves: Mapping[str, np.ndarray], title: str, x_title: str, y_title: str, log_x: bool = True
):
    """One line a name: the mean over the seeds `curves[name][seed, x]`, bars of one standard deviation."""
    import plotly.graph_objects as go

    figure = go.Figure()
    for name, values in curves.items():
        rows = np.atleast_2d(values)
        error = {"type": "data", "array": rows.std(0, ddof=1)} if len(rows) > 1 else None
        figure.add_scatter(x=list(x), y=rows.mean(0), name=name, mode="lines+markers", error_y=error)
    figure.update_layout(title=title, xaxis_title=x_title, yaxis_title=y_title, template="plotly_white")
    figure.update_xaxes(type="log" if log_x else "linear")
    return figure


def bars(names: Sequence[str], series: Mapping[str, Sequence[float]], title: str, y_title: str):
    """Groups of bars, one group a name and one bar a series."""
    import plotly.graph_objects as go

    figure = go.Figure([go.Bar(name=name, x=list(names), y=list(values)) for name, values in series.items()])
    figure.update_layout(title=title, yaxis_title=y_title, barmode="group", template="plotly_white")
    return figure


def pictures(blocks: Mapping[str, np.ndarray], shape: tuple[int, int], title: str, columns: int = 5):
    """Configurations as pictures: `blocks[name]` int8 [count, pixels] side by side, wrapped after `columns` names."""
    import plotly.graph_objects as go
    from plotly.subplots import make_subplots

    names = list(blocks)
    rows = -(-len(names) // columns)
    figure = make_subplots(rows, min(columns, len(names)), subplot_titles=names)
    for place, name in enumerate(names):
        heat = go.Heatmap(z=mosaic(blocks[name], shape)[::-1], showscale=False, colorscale="gray_r")
        row, column = place // columns + 1, place % columns + 1
        figure.add_trace(heat, row, column)
        # Pixels are squares.
        anchor = next(figure.select_xaxes(row=row, col=column)).plotly_name.replace("axis", "")
        figure.update_yaxes(scaleanchor=anchor, constrain="domain", row=row, col=column)
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    sheets = [mosaic(block, shape) for block in blocks.values()]
    # A flat sheet asks for no more height than its width gives it, beside its name.
    tall = min(260, 70 + round(WIDE / columns * max(len(sheet) / sheet.shape[1] for sheet in sheets)))
    figure.update_layout(title=title, height=tall * rows + 160, template="plotly_white")
    return figure


def mosaic(x: np.ndarray, shape: tuple[int, int], across: int = 5) -> np.ndarray:
    """Pictures in rows of `across`, a line of zeros between them."""
    height, width = shape
    down = -(-len(x) // across)
    sheet = np.zeros((down * (height + 1) - 1, across * (width + 1) - 1), x.dtype)
    for place, picture in enumerate(x.reshape(-1, height, width)):
        top, left = place // across * (height + 1), place % across * (width + 1)
        sheet[top : top + height, left : left + width] = picture
    return sheet


def write(figure: Any, path: str) -> None:
    """One file that needs no other and no network; raises InputError where it cannot be written."""
    write_bytes(Path(path), figure.to_html(include_plotlyjs=True).encode())

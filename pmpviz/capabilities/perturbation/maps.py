"""Plotly pictures of the noise atlas and of the unbiased sampler's attempts as a tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from pmpviz.capabilities.perturbation.live import LabView
from pmpviz.capabilities.perturbation.parts import AttemptTree
from pmpviz.capabilities.perturbation.picture import ink
from pmpviz.player.numbers import configuration, integer, significant

# Regions of states are told apart by colour; all but the most frequent ones share the last.
REGIONS = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#7A5195", "#A0522D", "#5A5A57",
    "#B9B9B5",
)  # fmt: skip
STATE, FRACTIONAL, PERIOD = "state of the maximum", "fractional share of the LP", "period of max-product"
NEITHER = "none found"


def layers(view: LabView) -> list[str]:
    """What the atlas can be coloured by."""
    labels = () if view.bench is None else view.bench.labels
    reasons = () if view.bench is None else view.bench.refusals
    lost = [f"energy lost by {label}" for label, reason in zip(labels, reasons, strict=True) if reason is None]
    fractional = [FRACTIONAL] if "linear_program" in view.plan.solvers else []
    return [STATE, *dict.fromkeys(lost), *fractional, PERIOD]


def atlas(view: LabView, layer: str, dark: bool) -> Any:
    """The slice of noise space coloured by a layer, the shown perturbation marked; None until its first row."""
    import plotly.graph_objects as go

    if view.atlas is None or view.bench is None:
        return None
    found = view.atlas
    figure = go.Figure()
    if layer == STATE:
        figure.add_trace(_regions(found))
        _name_regions(figure, found)
    else:
        figure.add_trace(_amounts(view, layer))
    x, y = found.centre
    mark = {"symbol": "cross-thin", "size": 15, "line": {"color": ink(dark), "width": 3}}
    figure.add_scatter(x=[x], y=[y], mode="markers", marker=mark, name="shown", showlegend=False, hoverinfo="name")
    reach = float(found.axis[-1]) * (1 + 1 / len(found.axis))
    a, b = found.sites
    figure.update_layout(
        height=470,
        margin={"l": 50, "r": 10, "t": 10, "b": 44},
        xaxis={"title": f"noise of site {a}", "range": [-reach, reach], "constrain": "domain"},
        yaxis={"title": f"noise of site {b}", "range": [-reach, reach], "scaleanchor": "x", "constrain": "domain"},
        legend={"font": {"size": 11, "family": "monospace"}, "x": 1.02, "y": 1},
    )
    return figure


def _regions(found) -> Any:
    import plotly.graph_objects as go

    code = np.minimum(found.code, len(REGIONS) - 1)
    steps = []
    for k, colour in enumerate(REGIONS):
        steps += [[k / len(REGIONS), colour], [(k + 1) / len(REGIONS), colour]]
    words = [[_name(found, c) for c in row] for row in found.code]
    return go.Heatmap(
        x=found.axis, y=found.axis, z=code, zmin=-0.5, zmax=len(REGIONS) - 0.5, colorscale=steps, showscale=False,
        text=words, hovertemplate="noise %{x:.2f}, %{y:.2f}<br>%{text}<extra></extra>",
    )  # fmt: skip


def _name(found, code: float) -> str:
    return "" if np.isnan(code) else _bits(found.states[int(code)])


def _bits(state: str) -> str:
    return configuration(np.array([int(bit) for bit in state]))


def _name_regions(figure: Any, found) -> None:
    """A legend of the most frequent states, where they are short enough to be read."""
    if not found.states or len(found.states[0]) > 10:
        return
    for state, colour in zip(found.states, REGIONS[:-1], strict=False):
        mark = {"color": colour, "symbol": "square", "size": 11}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name=state)
    if len(found.states) >= len(REGIONS):
        mark = {"color": REGIONS[-1], "symbol": "square", "size": 11}
        figure.add_scatter(x=[None], y=[None], mode="markers", marker=mark, name="others")


def _amounts(view: LabView, layer: str) -> Any:
    import plotly.graph_objects as go

    found = view.atlas
    assert found is not None and view.bench is not None
    bar: dict[str, Any] = {"thickness": 10, "len": 0.9}
    more: dict[str, Any] = {"zmin": 0}
    if layer == FRACTIONAL:
        z, more = found.fractional, {"zmin": 0, "zmax": 1}
    elif layer == PERIOD:
        # Rest is 1; a period's logarithm tells 2 from 6 as well as 6 from 18.
        z = np.log2(np.maximum(found.period, 0.5))
        ticks = [-1, 0, *np.log2([2, 4, 6, 12, 24, 48])]
        bar |= {"tickvals": ticks, "ticktext": [NEITHER, "at rest", "2", "4", "6", "12", "24", "48"]}
        more = {"zmin": -1.0, "zmax": 6.0}
    else:
        place = next(k for k, label in enumerate(view.bench.labels) if layer.endswith(label))
        z = found.lost[place]
        bar["title"] = {"text": "nats", "side": "right"}
    return go.Heatmap(x=found.axis, y=found.axis, z=z, colorscale="Cividis", colorbar=bar, **more)


def atlas_words(view: LabView) -> str:
    """What a pixel is, and how many regions there are."""
    if view.atlas is None or view.bench is None:
        return "The atlas is drawn after the first perturbations have been solved."
    found = view.atlas
    words = f"A MAP a pixel: {len(found.axis)} × {len(found.axis)} noises of two sites, all others as shown above"
    if view.bench.potentials.n == 2:
        words = "Two spins: the plane is the whole noise, and a region's logistic mass is its state's probability"
    more = f" Row {found.rows} of {len(found.axis)}." if found.rows < len(found.axis) else ""
    return f"{words}. {integer(len(found.states))} states appear.{more}"


# The tree of attempts.


def tree(view: LabView, dark: bool) -> Any:
    """Prefixes as nodes, thick where attempts went on, a cross as large as the rejections; None beyond 12 sites."""
    import plotly.graph_objects as go

    found = view.tree
    if found is None:
        return None
    figure = go.Figure()
    for j in range(1, len(found.passed)):
        for k in np.flatnonzero(found.passed[j]):
            share = found.passed[j][k] / found.attempts
            line = {"color": ink(dark), "width": 0.5 + 14 * share}
            figure.add_scatter(
                x=[j - 1, j], y=[_height(j - 1, k // 2), _height(j, k)], mode="lines", line=line, opacity=0.75,
                hoverinfo="skip", showlegend=False,
            )  # fmt: skip
    _add_nodes(figure, found, found.passed, ink(dark), "circle", "passed", 0.0)
    _add_nodes(figure, found, found.rejected, "#D55E00", "x-thin-open", "rejected", 0.28)
    figure.update_layout(
        height=330,
        margin={"l": 10, "r": 10, "t": 24, "b": 40},
        xaxis={"title": "variables fixed", "dtick": 1, "zeroline": False},
        yaxis={"visible": False, "range": [-0.03, 1.03]},
        legend={"orientation": "h", "y": 1.12, "font": {"size": 11}},
    )
    return figure


def _height(level: int, prefix: int) -> float:
    return 1 - (prefix + 0.5) / 2**level


def _add_nodes(figure: Any, found: AttemptTree, counts, colour: str, symbol: str, name: str, shift: float) -> None:
    x, y, size, words = [], [], [], []
    for j, row in enumerate(counts):
        for k in np.flatnonzero(row):
            x.append(j + shift)
            y.append(_height(j, k))
            size.append(4 + 22 * float(np.sqrt(row[k] / found.attempts)))
            prefix = format(int(k), f"0{j}b") if j else "the empty prefix"
            words.append(f"{prefix}: {row[k]} of {found.attempts} {name}")
    mark = {"color": colour, "symbol": symbol, "size": size, "line": {"color": colour, "width": 2}, "opacity": 0.85}
    figure.add_scatter(x=x, y=y, mode="markers", marker=mark, hovertext=words, hoverinfo="text", name=name)


def tree_words(view: LabView) -> str:
    """Accepted against foretold, and what the bounds needed."""
    found = view.tree
    if found is None:
        return "The unbiased sampler needs a bound for every prefix: it is shown for up to 12 free variables."
    share, total = found.accepted / found.attempts, integer(found.total)
    repair = (
        f"Averages over the noise bank broke {integer(found.violations)} of {total} bounds, by "
        f"{significant(found.margin)} nats at most; raised by that for every variable left, all of them hold"
    )
    if not found.violations:
        repair = f"All {total} bounds hold for the averages over the noise bank themselves"
    return (
        f"{integer(found.accepted)} of {integer(found.attempts)} attempts accepted: {significant(share)} ± "
        f"{significant(found.error, 2)}; Z / exp(U(root)) = {significant(found.acceptance)}. {repair}, and "
        "accepted draws are exact."
    )


__all__ = ["atlas", "atlas_words", "layers", "tree", "tree_words"]

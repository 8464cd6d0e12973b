"""Plotly pictures of the perturbation lab: energies lost, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.capabilities.perturbation.live import LabView
from pmpviz.capabilities.perturbation.parts import Tally, lost_share
from pmpviz.oracles import oracle_class
from pmpviz.player.numbers import integer, significant
from pmpviz.player.style import Style, style_of, styles_of

HEIGHT = 300
# Of a normal law, 95 % lie within so many standard errors.
WITHIN = 1.96
# Energies closer than this are the same maximum.
SMALLEST = 1e-6
SYMBOLS = {"triangle": "triangle-up"}
EXACT = "exact"


def ink(dark: bool) -> str:
    """The colour of text."""
    return "#ECEAE4" if dark else "#1C1B19"


def styles(view: LabView) -> list[Style]:
    """One a solver of the plan."""
    return styles_of([oracle_class(name).spec for name in view.plan.solvers])


def line_colour(name: str, style: Style, dark: bool) -> str:
    """An exact solver is drawn in the colour of the text."""
    return ink(dark) if name == EXACT else style.colour


# Statistics.


def lost(view: LabView, dark: bool) -> Any:
    """Histogram of the energy that each solver lost to the maximum; None until there is one,
    where no maximum is known, and where nothing was lost."""
    import plotly.graph_objects as go

    tally, bench = view.tally, view.bench
    if tally is None or bench is None or not tally.draws:
        return None
    values = [np.array(one)[~np.isnan(one)] for one in tally.lost]
    if not any(len(one) for one in values):
        return None
    high = max(float(one.max(initial=0)) for one in values)
    if high < SMALLEST:
        return None
    edges = np.linspace(0, high * 1.0001, 25)
    figure = go.Figure()
    for name, label, style, one in zip(view.plan.solvers, bench.labels, styles(view), values, strict=True):
        if not len(one):
            continue
        share = np.histogram(one, edges)[0] / len(one)
        colour = line_colour(name, style, dark)
        line = {"color": colour, "width": 2, "shape": "hv", "dash": style.dash}
        figure.add_scatter(
            x=edges, y=np.append(share, share[-1]), mode="lines", line=line, name=label, fill="tozeroy",
            fillcolor=_faint(colour),
        )  # fmt: skip
    return _plain(figure, "energy above the maximum's (nats)", "share of perturbations")


def lost_words(view: LabView) -> list[str]:
    """One sentence a solver: how often it missed the maximum, by how much, and its fractional share."""
    tally, bench = view.tally, view.bench
    if tally is None or bench is None or not tally.draws:
        return []
    said: list[str] = []
    known = [one for one in tally.lost if one and not np.isnan(one).all()]
    if known and max(float(np.nanmax(one)) for one in known) < SMALLEST:
        return [f"Every solver found the maximum under each of {tally.draws} perturbations."]
    scale = _scale(tally)
    proved = [solver.spec.promise == "exact" for solver in bench.solvers]
    for label, one, fractional, sure in zip(bench.labels, tally.lost, tally.fractional, proved, strict=True):
        if sure or not one or np.isnan(one).all():
            continue
        words = f"{label} misses the maximum under {lost_share(one, scale):.0%} of {tally.draws} perturbations"
        words += f", by {significant(float(np.nanmean(one)))} nats on average"
        words += (
            f"; {np.mean(fractional):.0%} of its variables are fractional" if max(fractional, default=0) > 0 else ""
        )
        said.append(words + ".")
    return said


def _scale(tally: Tally) -> float:
    """How large maxima are, against which they count as the same."""
    return float(np.nanmean(np.abs(tally.maxima))) if not np.isnan(tally.maxima).all() else 1.0


def verdict(view: LabView) -> str:
    """What all perturbations so far say, in a line: maxima that were missed, and attempts at an exact sample."""
    tally, bench, tree = view.tally, view.bench, view.tree
    if tally is None or bench is None or not tally.draws:
        return ""
    scale = _scale(tally)
    known = [(label, one) for label, one in zip(bench.labels, tally.lost, strict=True) if not np.isnan(one).all()]
    missed = [f"{label} {lost_share(one, scale):.0%}" for label, one in known if np.nanmax(one) >= SMALLEST]
    said = []
    if known:
        said.append(f"Maxima missed under {integer(tally.draws)} noises: {', '.join(missed) or 'none'}.")
    if tree is not None:
        said.append(
            f"Exact samples: {integer(tree.accepted)} of {integer(tree.attempts)} attempts; "
            f"{integer(tree.violations)} of {integer(tree.total)} bounds of parts were too high."
        )
    return " ".join(said)


def bounds(view: LabView, dark: bool) -> Any:
    """What maxima under perturbations say of log Z: means with 95 % error bars, against the exact value."""
    import plotly.graph_objects as go

    rows = bound_rows(view)
    if not rows:
        return None
    figure = go.Figure()
    for name, mean, error, style, kind in rows:
        symbol = SYMBOLS.get(style.marker, style.marker) + ("-open" if kind != "exact" else "")
        colour = line_colour("exact" if kind == "exact" else "", style, dark)
        mark = {"color": colour, "size": 10, "symbol": symbol}
        figure.add_scatter(
            x=[mean], y=[name], mode="markers", marker=mark, error_x={"array": [WITHIN * error], "color": colour},
            showlegend=False,
        )  # fmt: skip
    if view.truth is not None:
        words = f"log Z = {significant(view.truth.log_z, 5)}"
        figure.add_vline(
            x=view.truth.log_z,
            line={"color": ink(dark), "width": 1},
            annotation_text=words,
            annotation_yshift=14,
            annotation_xanchor="auto",
        )
    figure = _plain(figure, "nats", "")
    figure.update_layout(height=120 + 46 * len(rows))
    return figure


def bound_rows(view: LabView) -> list[tuple[str, float, float, Style, str]]:
    """(words, mean, standard error, style, exact | bound | none) of every estimate that there is."""
    tally, bench = view.tally, view.bench
    if tally is None or bench is None or tally.draws < 2:
        return []
    rows = []
    maxima = np.array(tally.maxima)
    if not np.isnan(maxima).any():
        rows.append(("mean of exact maxima: a bound", *_mean(maxima), style_of(oracle_class(EXACT).spec), "exact"))
    for name, label, style, upper in zip(view.plan.solvers, bench.labels, styles(view), tally.uppers, strict=True):
        found = np.array(upper)
        if name != "exact" and len(found) and not np.isnan(found).any():
            rows.append((f"mean of {label}'s bounds: a bound", *_mean(found), style, "bound"))
    for name, label, style, one in zip(view.plan.solvers, bench.labels, styles(view), tally.lost, strict=True):
        values = maxima - np.array(one) if len(one) == len(maxima) else np.array([np.nan])
        if name != "exact" and not np.isnan(values).any():
            rows.append((f"mean of {label}'s answers: no bound", *_mean(values), style, "none"))
    return rows


def bound_words(view: LabView) -> str:
    """The least upper bound of log Z in a sentence, beside the exact value; empty where there is none yet."""
    found = [(mean, error) for _, mean, error, _, kind in bound_rows(view) if kind != "none"]
    if not found:
        return ""
    mean, error = min(found)
    known = "" if view.truth is None else f"; exactly {significant(view.truth.log_z, 4)}"
    bar = f"{significant(mean, 4)} ± {significant(WITHIN * error, 2)}"
    return f"Best values under noise are {bar} on average: log Z is at most that{known}."


BOUNDS = (
    "Log Z adds up all configurations. The value of the best one under noise, averaged over many noises, lies above "
    "it: an upper bound. What a solver merely reached may lie below the best, and bounds nothing."
)
LOST = "By how much a solver's answer was worse than the best one, over all noises so far: left is good."


def _mean(values: Float[np.ndarray, " m"]) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _plain(figure: Any, x_title: str, y_title: str) -> Any:
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 50, "r": 10, "t": 24, "b": 44},
        xaxis={"title": x_title},
        yaxis={"title": y_title},
        legend={"orientation": "h", "y": 1.14, "font": {"size": 11}},
        bargap=0.15,
    )
    return figure


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.12)"


__all__ = [
    "BOUNDS",
    "LOST",
    "WITHIN",
    "bound_rows",
    "bound_words",
    "bounds",
    "ink",
    "line_colour",
    "lost",
    "lost_words",
    "styles",
    "verdict",
]

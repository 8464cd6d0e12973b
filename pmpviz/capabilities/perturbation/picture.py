"""Plotly pictures of the perturbation lab: energies lost, bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from pmpviz.capabilities.perturbation.live import LabView
from pmpviz.capabilities.perturbation.parts import TREE_BANK, Bench, Tally, lost_share
from pmpviz.capabilities.perturbation.plan import MOST_DRAWS
from pmpviz.oracles import oracle_class
from pmpviz.player.numbers import integer, significant
from pmpviz.player.style import Style, style_of, styles_of

# Pixels of a chart, and of a row with its name above it.
HEIGHT, ROW = 300, 54
# Of a normal law, 95 % lie within so many standard errors.
WITHIN = 1.96
# Free at both ends of a chart, as a share of what is drawn; so many times as long as the other is the side with names.
EDGE, NAMED = 0.08, 2.5
# Energies closer than this are the same maximum.
SMALLEST = 1e-6
SYMBOLS = {"triangle": "triangle-up"}
EXACT = "exact"
# The page's ground, light and dark: no line strikes out words.
GROUND = ("#FBFAF7", "#141412")


def ink(dark: bool) -> str:
    """The colour of text."""
    return "#ECEAE4" if dark else "#1C1B19"


def styles(view: LabView) -> list[Style]:
    """One a solver of the plan."""
    return styles_of([oracle_class(name).spec for name in view.plan.solvers])


def line_colour(name: str, style: Style, dark: bool) -> str:
    """An exact solver is drawn in the colour of the text."""
    return ink(dark) if name == EXACT else style.colour


def empty() -> Any:
    """A figure of Plotly's, which fails where pandas is imported half, as another session may be doing just now."""
    import pandas  # noqa: F401
    import plotly.graph_objects as go

    return go.Figure()


# Statistics.


def lost(view: LabView, dark: bool) -> Any:
    """Histogram of the energy that each solver lost to the maximum; None until there is one,
    where no maximum is known, and where nothing was lost."""
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
    figure = empty()
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
    return _plain(figure, "energy above the least (nats)", "share of perturbations")


def lost_words(view: LabView) -> list[str]:
    """One sentence a solver: how often it missed the maximum, by how much, and its fractional share."""
    tally, bench = view.tally, view.bench
    if tally is None or bench is None or not tally.draws:
        return []
    said: list[str] = []
    known = [one for one in tally.lost if one and not np.isnan(one).all()]
    if known and max(float(np.nanmax(one)) for one in known) < SMALLEST:
        return [f"Every solver found the maximum under each of {so_many(tally)} perturbations{fallen_or_not(bench)}."]
    scale = scale_of(tally)
    proved = [solver.spec.promise == "exact" for solver in bench.solvers]
    for label, one, fractional, sure in zip(bench.labels, tally.lost, tally.fractional, proved, strict=True):
        if sure or not one or np.isnan(one).all():
            continue
        count = round(lost_share(one, scale) * (len(one) - int(np.isnan(one).sum())))
        words = f"{label} misses the maximum under {count or 'none'} of {so_many(tally)} perturbations"
        if count:
            words += f", then by {significant(float(np.nansum(one)) / count)} nats on average"
        words += (
            f"; {np.mean(fractional):.0%} of its variables are fractional" if max(fractional, default=0) > 0 else ""
        )
        said.append(words + ".")
    return said


def fallen_or_not(bench: Bench) -> str:
    """Of two spins noises fall one by one as samples: what is said of all of them is not of those that have."""
    return ", dots to come included" if bench.potentials.n == 2 else ""


def so_many(tally: Tally) -> str:
    """How many noises statistics are of: while more are to come, the first ones."""
    return f"{'the first ' if tally.draws < MOST_DRAWS else ''}{integer(tally.draws)}"


def scale_of(tally: Tally) -> float:
    """How large maxima are, against which they count as the same."""
    return float(np.nanmean(np.abs(tally.maxima))) if not np.isnan(tally.maxima).all() else 1.0


def bounds(view: LabView, dark: bool) -> Any:
    """What maxima under perturbations say of log Z: means with 95 % error bars, against the exact value."""
    rows = bound_rows(view)
    if not rows:
        return None
    figure = empty()
    for name, mean, error, style, kind in rows:
        symbol = SYMBOLS.get(style.marker, style.marker) + ("-open" if kind != "exact" else "")
        colour = line_colour("exact" if kind == "exact" else "", style, dark)
        mark = {"color": colour, "size": 10, "symbol": symbol}
        figure.add_scatter(
            x=[mean], y=[name], mode="markers", marker=mark, error_x={"array": [WITHIN * error], "color": colour},
            showlegend=False,
        )  # fmt: skip
    ends, aside = _beside(rows, None if view.truth is None else float(view.truth.log_z))
    if view.truth is not None:
        words = f"log Z = {significant(view.truth.log_z, 5)}"
        figure.add_vline(
            x=view.truth.log_z,
            line={"color": ink(dark), "width": 1},
            annotation_text=words,
            annotation_yshift=8,  # Above the line's end, however large the letters.
            annotation_yanchor="bottom",
            annotation_xanchor=aside["xanchor"],  # Where names stand there is room.
        )
    figure = _plain(figure, "nats", "")
    figure.update_layout(xaxis={"range": ends})
    _name_rows(figure, [row[0] for row in rows], GROUND[dark], aside)
    figure.update_layout(height=130 + ROW * len(rows))
    return figure


def _beside(rows: list[tuple[str, float, float, Style, str]], log_z: float | None) -> tuple[list[float], dict]:
    """(ends of the axis, where names stand): on that side of log Z's line which has more room, and is given enough."""
    values = [mean + way * WITHIN * error for _, mean, error, _, _ in rows for way in (-1, 1)]
    line = min(values) if log_z is None else log_z
    left, right = max(line - min(values), 0.0), max(max(values) - line, 0.0)
    whole = left + right or 1.0
    left, right = left + EDGE * whole, right + EDGE * whole
    if left > right:
        left = max(left, NAMED * right)
        return [line - left, line + right], {"x": line, "xanchor": "right", "xshift": -6}
    right = max(right, NAMED * left)
    return [line - left, line + right], {"x": line, "xanchor": "left", "xshift": 6}


def _name_rows(figure: Any, names: list[str], ground: str, aside: dict) -> None:
    """Each name above its row, within the chart: beside a chart that is narrow it would take most of it."""
    place = {**aside, "yanchor": "bottom", "yshift": 6}
    for name in names:
        text = name.removeprefix("mean of ")
        figure.add_annotation(text=text, y=name, bgcolor=ground, borderpad=0, showarrow=False, **place)
    figure.update_layout(
        margin={"l": 10, "r": 10, "t": 48, "b": 44},
        xaxis={"tickangle": 0, "nticks": 5},
        yaxis={"showticklabels": False, "automargin": False, "range": [-0.5, len(names) - 0.2]},
    )


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
        # Bounds and answers that are the maxima themselves are one row with them.
        if name != "exact" and len(found) and not np.isnan(found).any() and not _same(found, maxima):
            rows.append((f"mean of {label}'s bounds: a bound", *_mean(found), style, "bound"))
    for name, label, style, one in zip(view.plan.solvers, bench.labels, styles(view), tally.lost, strict=True):
        values = maxima - np.array(one) if len(one) == len(maxima) else np.array([np.nan])
        if name != "exact" and not np.isnan(values).any() and not _same(values, maxima):
            rows.append((f"mean of {label}'s answers: no bound", *_mean(values), style, "none"))
    return rows


def _same(values: Float[np.ndarray, " m"], maxima: Float[np.ndarray, " m"]) -> bool:
    """Whether these are the maxima; nothing is like maxima that nobody knows."""
    return len(values) == len(maxima) and bool(np.allclose(values, maxima, rtol=SMALLEST, atol=SMALLEST))


def bounds_help(view: LabView) -> str:
    """What the estimates of log Z are, as far as they differ."""
    alike = len(bound_rows(view)) == 1 and len(view.plan.solvers) > 1
    return f"{BOUNDS} Every solver's answers and bounds are the same here." if alike else BOUNDS


def bound_words(view: LabView) -> str:
    """The least upper bound of log Z in a sentence, beside the exact value; empty where there is none yet."""
    found = [(mean, error) for _, mean, error, _, kind in bound_rows(view) if kind != "none"]
    if not found:
        return ""
    mean, error = min(found)
    known = "" if view.truth is None else f"; exactly {significant(view.truth.log_z, 4)}"
    bar = f"{significant(mean, 4)} ± {significant(WITHIN * error, 2)}"
    assert view.tally is not None
    of = integer(view.tally.draws)
    return f"Best values under all {of} noises are {bar} on average: log Z is at most that{known}."


def bank_error(view: LabView) -> str:
    """How well the average of a bank of noise is known, as its maxima have spread; empty before that is known."""
    tally = view.tally
    if tally is None or tally.draws < 2 or np.isnan(tally.maxima).any():
        return ""
    error = WITHIN * float(np.std(tally.maxima, ddof=1)) / np.sqrt(TREE_BANK)
    return f" (the average of the whole is known to ± {significant(error, 2)}, 95 %)"


BOUNDS = (
    "Log Z adds up all configurations. The value of the best one under noise, averaged over many noises, lies above "
    "it: an upper bound. What a solver merely reached may lie below the best, and bounds nothing."
)
LOST = "By how much a solver's answer was worse than the best one: left is good."


def _mean(values: Float[np.ndarray, " m"]) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


def _plain(figure: Any, x_title: str, y_title: str) -> Any:
    figure.update_layout(
        height=HEIGHT,
        margin={"l": 50, "r": 10, "t": 24, "b": 44},
        xaxis={"title": x_title},
        yaxis={"title": y_title},
        legend={"orientation": "h", "y": 1.03, "yanchor": "bottom"},  # Of two rows it grows upwards.
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
    "bank_error",
    "bound_rows",
    "bound_words",
    "bounds_help",
    "bounds",
    "fallen_or_not",
    "ink",
    "line_colour",
    "lost",
    "lost_words",
    "scale_of",
    "so_many",
    "styles",
]

"""Small pictures side by side, as PNG: noise, fields, configurations and averages on a lattice or on a graph."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Float, UInt8
from PIL import Image, ImageDraw

from pmpviz.capabilities.perturbation.live import LabView
from pmpviz.capabilities.perturbation.parts import Bench
from pmpviz.capabilities.perturbation.picture import so_many
from pmpviz.player.filters import png
from pmpviz.player.graph import MOST_DRAWN, force_directed
from pmpviz.player.numbers import significant
from pmpviz.player.pictures import DARK, LIGHT

SIDE, GAP, SMOOTH = 360, 1, 3
BLUE, ORANGE, GREY = (0, 114, 178), (213, 94, 0), (138, 138, 134)
# Four colours of cividis, from dark to light.
CIVIDIS = ((0, 34, 78), (87, 92, 109), (165, 156, 116), (254, 232, 56))


@dataclass(frozen=True)
class Panel:
    """A picture with its title and a line under it."""

    title: str
    words: str
    picture: bytes


def perturbed(view: LabView, dark: bool) -> list[Panel]:
    """What is seen of a scene, or the field, the noise, their sum, and what each solver makes of it."""
    if view.bench is None or view.shown is None:
        return []
    shown, bench = view.shown, view.bench
    found = []
    if bench.scene is not None:
        words = "blank where hidden" if np.isnan(bench.scene.seen).any() else "with flipped pixels"
        found.append(_panel(bench, "seen", words, bench.scene.seen.ravel(), "state", dark))
    else:
        field = shown.field - shown.noise
        found.append(_panel(bench, "field", f"±{_limit(field)}", field, "field", dark))
    found.append(_panel(bench, "noise", f"±{_limit(shown.noise)}", shown.noise, "field", dark))
    found.append(_panel(bench, "field + noise", f"±{_limit(shown.field)}", shown.field, "field", dark))
    for label, solution, picture in zip(bench.labels, shown.solutions, shown.pictures, strict=True):
        if solution is not None and picture is not None:
            words = f"energy {significant(-solution.value, 5)}"
            found.append(_panel(bench, label, words, picture, "state", dark))
    return found


def _limit(values: np.ndarray) -> str:
    return significant(float(np.abs(values).max(initial=0)))


# Title, words, values and kind of a picture.
Row = tuple[str, str, np.ndarray, str]


def averages(view: LabView, dark: bool) -> list[Panel]:
    """The rows of `average_rows` as pictures."""
    return [_panel(view.bench, *row, dark) for row in average_rows(view) if view.bench is not None]


def average_rows(view: LabView) -> list[Row]:
    """The single MAP against averages over perturbations, the exact marginals, and where the averages are unsure."""
    tally, bench = view.tally, view.bench
    if bench is None or view.shown is None or tally is None or not tally.draws:
        return []
    found: list[Row] = []
    if bench.scene is not None:
        found.append(("drawn", "the truth", bench.scene.drawn.ravel(), "state"))
    if view.shown.alone is not None:
        found.append(("single MAP", "without noise", view.shown.alone, "state"))
    unsure = None
    for label, total, reason in zip(bench.labels, tally.totals, bench.refusals, strict=True):
        if reason is None:
            unsure = total / tally.draws
            found.append((label, f"mean of {so_many(tally)}", unsure, "state"))
    if view.walked is not None:
        words = f"{view.walked.calls} MAP calls, gap {significant(view.walked.gap)}"
        found.append(("Frank-Wolfe", words, view.walked.p1, "state"))
    if view.truth is not None and view.truth.p1 is not None:
        unsure = view.truth.p1
        found.append(("p(xᵢ = 1)", "exact marginals", unsure, "state"))
    if unsure is not None:
        found.append(("uncertainty", "4 p (1 − p), 0 to 1", 4 * unsure * (1 - unsure), "share"))
    return found


def _panel(bench: Bench, title: str, words: str, values: np.ndarray, kind: str, dark: bool) -> Panel:
    colours = _colours(np.asarray(values, np.float64), kind, dark)
    shape = bench.target.model.shape if bench.scene is None else bench.scene.shape
    if shape is not None and len(shape) == 2:
        return Panel(title, words, _lattice(colours.reshape(*shape, 3), dark))
    _, i, j, _ = bench.target.model.pairwise()
    return Panel(title, words, _graph(colours, i, j, dark))


def _colours(values: Float[np.ndarray, " n"], kind: str, dark: bool) -> UInt8[np.ndarray, "n 3"]:
    """Paper over grey to ink; blue over the ground to orange; cividis. The ground where a value is nan."""
    inks = DARK if dark else LIGHT
    if kind == "state":
        stops, place = (inks.paper, GREY, inks.ink), values
    elif kind == "field":
        limit = max(float(np.nanmax(np.abs(values))), 1e-9)
        stops, place = (BLUE, inks.paper, ORANGE), (values / limit + 1) / 2
    else:
        stops, place = CIVIDIS, values
    at = np.linspace(0, 1, len(stops))
    channels = [np.interp(np.nan_to_num(place), at, [stop[c] for stop in stops]) for c in range(3)]
    found = np.stack(channels, 1).round().astype(np.uint8)
    found[np.isnan(values)] = np.array(inks.paper, np.uint8)
    return found


def _frame(dark: bool) -> tuple[int, int, int]:
    return (DARK if dark else LIGHT).line


def _lattice(colours: UInt8[np.ndarray, "h w 3"], dark: bool) -> bytes:
    """Square pixels with thin lines between them, a line around all."""
    cell = max(4, SIDE // max(colours.shape[:2]))
    large = np.kron(colours, np.ones((cell, cell, 1), np.uint8))
    line = np.array(_frame(dark), np.uint8) // 2 + colours.reshape(-1, 3)[0] // 2
    if cell >= 8:
        large[cell - GAP :: cell] = line
        large[:, cell - GAP :: cell] = line
    return png(Image.fromarray(np.pad(large, ((1, 1), (1, 1), (0, 0)), constant_values=_frame(dark)[0])))


def _graph(colours: UInt8[np.ndarray, "n 3"], i: np.ndarray, j: np.ndarray, dark: bool) -> bytes:
    """Circles at their places, thin lines between those that interact, drawn large and then reduced."""
    inks, size = (DARK if dark else LIGHT), SIDE * SMOOTH
    radius = size * min(0.06, 0.5 / len(colours) ** 0.5 * 0.6)
    at = places(len(colours), tuple(i.tolist()), tuple(j.tolist())) * (size - 3 * radius) + 1.5 * radius
    picture = Image.new("RGB", (size, size), inks.paper)
    draw = ImageDraw.Draw(picture)
    if len(i) <= MOST_DRAWN:
        for a, b in zip(i.tolist(), j.tolist(), strict=True):
            draw.line([tuple(at[a]), tuple(at[b])], fill=inks.line, width=SMOOTH)
    for (x, y), colour in zip(at, colours, strict=True):
        box = (x - radius, y - radius, x + radius, y + radius)
        draw.ellipse(box, fill=tuple(colour.tolist()), outline=inks.ink, width=SMOOTH)
    return png(picture.resize((SIDE, SIDE), Image.Resampling.LANCZOS))


@lru_cache(maxsize=8)
def places(n: int, i: tuple[int, ...], j: tuple[int, ...]) -> Float[np.ndarray, "n 2"]:
    """Where the nodes of a graph are drawn, in the unit square."""
    return force_directed(n, np.array(i, np.int64), np.array(j, np.int64))


__all__ = ["Panel", "average_rows", "averages", "perturbed", "places"]

"""The unbiased sampler's attempts as a tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from pmpviz.capabilities.perturbation.live import LabView
from pmpviz.capabilities.perturbation.parts import TREE_BANK, AttemptTree
from pmpviz.capabilities.perturbation.picture import WITHIN, bank_error, empty, ink
from pmpviz.player.numbers import at_most, integer, significant

# Prefixes as long as this have their name beside them, and those at the end of a short tree.
NAMED_LEVELS, SHORT_TREE = 2, 3


def tree(view: LabView, dark: bool) -> Any:
    """Prefixes as nodes, thick where attempts went on, a cross as large as the rejections; None beyond 12 sites."""
    found = view.tree
    if found is None:
        return None
    figure = empty()
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
        xaxis={"title": "variables fixed", "dtick": 1, "zeroline": False, "range": [-0.3, len(found.passed) - 0.5]},
        yaxis={"visible": False, "range": [-0.03, 1.06]},
        legend={"orientation": "h", "y": 1.12, "yanchor": "bottom"},
    )
    return figure


def _height(level: int, prefix: int) -> float:
    return 1 - (prefix + 0.5) / 2**level


def _add_nodes(figure: Any, found: AttemptTree, counts, colour: str, symbol: str, name: str, shift: float) -> None:
    x, y, size, words, names, places = [], [], [], [], [], []
    for j, row in enumerate(counts):
        for k in np.flatnonzero(row):
            x.append(j + shift)
            y.append(_height(j, k))
            size.append(4 + 22 * float(np.sqrt(row[k] / found.attempts)))
            prefix = format(int(k), f"0{j}b") if j else "the empty prefix"
            # Deeper ones are told on hover: they would lie on each other.
            named = 0 < j <= NAMED_LEVELS or j == len(counts) - 1 <= SHORT_TREE
            names.append(prefix if named and not shift else "")
            places.append("middle right" if j == len(counts) - 1 else "top center")
            words.append(f"{prefix}: {row[k]} of {found.attempts} {name}")
    mark = {"color": colour, "symbol": symbol, "size": size, "line": {"color": colour, "width": 2}, "opacity": 0.85}
    figure.add_scatter(
        x=x, y=y, mode="markers+text", marker=mark, hovertext=words, hoverinfo="text", name=name, text=names,
        textposition=places, textfont={"family": "monospace", "color": colour},
    )  # fmt: skip


def tree_words(view: LabView) -> str:
    """Accepted against foretold, and what the bounds needed."""
    found = view.tree
    if found is None:
        return "The unbiased sampler needs a bound for every prefix: it is shown for up to 12 free variables."
    share, total = found.accepted / found.attempts, integer(found.total)
    width = significant(WITHIN * found.error, 2)
    plain = (
        "A sampler fixes one variable after the other, each value as often as the noise favours it, and gives up (×) "
        "where the shares do not add up to one. What comes through to the right follows the exact law"
    )
    bank = integer(TREE_BANK)
    own = f"It goes by {total} bounds, one for every beginning of a configuration, averages over {bank} noises"
    repair = (
        f"{own}: {integer(found.violations)} were less than their two parts add up to, by "
        f"{at_most(found.margin)} nats at most{bank_error(view)}; raised by that for every variable left, all of "
        "them hold"
    )
    if not found.violations:
        repair = f"{own}: all of them hold"
    return (
        f"{plain}. {integer(found.accepted)} of {integer(found.attempts)} attempts came through: {significant(share)} "
        f"± {width} (95 %), where {significant(found.acceptance)} are foretold, Z over the sampler's own bound on it, "
        f"which has other noises than those of the chart of bounds. {repair}."
    )


__all__ = ["tree", "tree_words"]

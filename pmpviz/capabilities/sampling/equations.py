"""Each algorithm's equation in KaTeX, with the numbers of the run in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.models import Ising, LayeredModel
from pmpviz.player.numbers import significant


def model_equation(view: LiveView) -> str:
    """The distribution that is sampled, with beta and the range of the weights."""
    if isinstance(view.model, LayeredModel):
        return _layers_equation(view.model, view.plan.beta)
    if not isinstance(view.model, Ising):
        return _factors_equation(view.model, view.plan.beta)
    bias, _, _, w = view.model.pairwise()
    weights = _span(w) if len(w) else "0"
    return (
        r"p(x) = \frac{1}{Z}\exp\Big[\beta\Big(\sum_i b_i x_i + \sum_{i<j} w_{ij} x_i x_j\Big)\Big],\quad "
        rf"\beta = {significant(view.plan.beta)},\; b_i = {_span(bias)},\; w_{{ij}} = {weights}"
    )


def _layers_equation(model: LayeredModel, beta: float) -> str:
    lateral = model.couplings.lateral
    within = "" if lateral is None else r" - \tfrac{1}{2} v^\top L v"
    spans = {"c_i": model.visible_bias, "b_k": model.hidden_bias, "W_{ki}": model.weight}
    if lateral is not None:
        spans["L_{ij}"] = np.asarray(lateral)[np.triu_indices(model.visible, 1)]
    ranges = r",\; ".join(f"{name} = {_span(np.asarray(values))}" for name, values in spans.items() if values.size)
    return (
        rf"p(v, h) = \frac{{1}}{{Z}} e^{{-\beta E(v, h)}},\quad E(v, h) = -h^\top W v - b^\top h - c^\top v{within},"
        rf"\quad \beta = {significant(beta)},\; {ranges}"
    )


def _factors_equation(model: Any, beta: float) -> str:
    """Of any finite factors, with the states that the variables have."""
    counts = sorted(set(model.card))
    alike = len(counts) == 1
    domain = rf"x_i \in \{{0, \ldots, {counts[0] - 1 if alike else 'K_i - 1'}\}}"
    domain += "" if alike else rf",\; K_i \in \{{{', '.join(map(str, counts))}\}}"
    return (
        r"p(x) = \frac{1}{Z}\prod_f \psi_f(x_f)^\beta,\quad "
        rf"{domain},\quad \beta = {significant(beta)},\; i = 0, \ldots, {model.n - 1}"
    )


def algorithm_equation(view: LiveView, lane: LaneView) -> str:
    """What one update of this lane's algorithm computes."""
    return _EQUATIONS.get(lane.algorithm, lambda view, lane: r"x \sim p(x)")(view, lane)


def _span(values: np.ndarray) -> str:
    low, high = float(np.min(values)), float(np.max(values))
    if low == high:
        return _plain(low)
    return rf"{_plain(low)} \ldots {_plain(high)}"


def _plain(value: float) -> str:
    return significant(value).replace("\u2009", r"\,").replace("−", "-")


def _pmp(view: LiveView, lane: LaneView) -> str:
    damping = float(lane.knobs["damping"])
    return (
        rf"n_{{i\to j}} \leftarrow {_plain(damping)}\, n_{{i\to j}} + {_plain(1 - damping)}\,"
        r"\big[\max(0, P + \beta w_{ij}) - \max(0, P)\big],\quad "
        r"P = \beta b_i + \varepsilon_i + \sum_{k\ne j} n_{k\to i},\quad \varepsilon_i \sim \mathrm{Logistic}(0, 1)"
    )


def _gibbs(view: LiveView, lane: LaneView) -> str:
    beta = _plain(view.plan.beta)
    if isinstance(view.model, LayeredModel) and view.model.couplings.lateral is None:
        return (
            rf"p(h_k = 1 \mid v) = \sigma\big({beta}\,(b_k + \textstyle\sum_i W_{{ki}} v_i)\big),\quad "
            rf"p(v_i = 1 \mid h) = \sigma\big({beta}\,(c_i + \textstyle\sum_k W_{{ki}} h_k)\big)"
        )
    return rf"p(x_i = 1 \mid x_{{-i}}) = \sigma\Big({beta}\,\big(b_i + \textstyle\sum_j w_{{ij}} x_j\big)\Big)"


def _gwg(view: LiveView, lane: LaneView) -> str:
    return (
        r"q(i \mid x) = \frac{e^{\delta_i/2}}{Z(x)},\quad "
        rf"\delta_i = -(2x_i - 1)\,{_plain(view.plan.beta)}\,\big(b_i + \textstyle\sum_j w_{{ij}} x_j\big),\quad "
        r"\alpha = \min\!\Big(1, \frac{Z(x)}{Z(x')}\Big)"
    )


def _swendsen_wang(view: LiveView, lane: LaneView) -> str:
    w = np.abs(view.model.pairwise()[3]) * view.plan.beta
    chance = 1 - np.exp(-w / 2)
    return rf"p(\text{{bond}}) = 1 - e^{{-\beta |w_{{ij}}|/2}} = {_span(chance) if len(w) else '0'}"


def _exact(view: LiveView, lane: LaneView) -> str:
    return r"x_i \sim p(x_i \mid x_{i+1}, \ldots, x_n),\quad i = n, \ldots, 1"


_EQUATIONS = {
    "pmp": _pmp,
    "gibbs": _gibbs,
    "colour_gibbs": _gibbs,
    "gwg": _gwg,
    "swendsen_wang": _swendsen_wang,
    "exact": _exact,
}

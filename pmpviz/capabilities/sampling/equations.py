"""The model's and each algorithm's equation in KaTeX, with the numbers of the run in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveView
from pmpviz.models import Ising, LayeredModel, Pairwise
from pmpviz.numerals import katex, katex_span, significant
from pmpviz.samplers import make_sampler
from pmpviz.types import Target


def model_equation(view: LiveView) -> str:
    """The distribution that is sampled, with beta and the range of the weights."""
    if isinstance(view.model, LayeredModel):
        return _layers_equation(view.model, view.plan.beta)
    if not isinstance(view.model, Ising):
        return _factors_equation(view.model, view.plan.beta)
    bias, _, _, w = view.model.pairwise()
    weights, constant = katex_span(w), float(view.model.constant)
    law = (
        r"p(x) = \frac{1}{Z}\exp\Big[\beta\Big(\sum_i b_i x_i + \sum_{i<j} w_{ij} x_i x_j\Big)\Big],\quad "
        rf"\beta = {significant(view.plan.beta)},\; b_i = {katex_span(bias)},\; w_{{ij}} = {weights}"
    )
    energy = rf"E(x) = -\sum_i b_i x_i - \sum_{{i<j}} w_{{ij}} x_i x_j {_less(constant)}"
    return rf"\begin{{gathered}}{law},\\[0.5em]{energy}\end{{gathered}}" if constant else law


def _less(constant: float) -> str:
    """The constant of the trace's energy, which cancels in p."""
    return f"{'-' if constant > 0 else '+'} {katex(abs(constant))}"


def _layers_equation(model: LayeredModel, beta: float) -> str:
    lateral = model.couplings.lateral
    within = "" if lateral is None else r" - \tfrac{1}{2} v^\top L v"
    spans = {"c_i": model.visible_bias, "b_k": model.hidden_bias, "W_{ki}": model.weight}
    if lateral is not None:
        spans["L_{ij}"] = np.asarray(lateral)[np.triu_indices(model.visible, 1)]
    ranges = r",\; ".join(f"{name} = {katex_span(np.asarray(values))}" for name, values in spans.items() if values.size)
    return (
        rf"p(v, h) = \frac{{1}}{{Z}} e^{{-\beta E(v, h)}},\quad E(v, h) = -h^\top W v - b^\top h - c^\top v{within},"
        rf"\quad \beta = {significant(beta)},\; {ranges}"
    )


def _domain(model: Any) -> str:
    """The states that the variables have."""
    counts = sorted(set(model.card))
    alike = len(counts) == 1
    domain = rf"x_i \in \{{0, \ldots, {counts[0] - 1 if alike else 'K_i - 1'}\}}"
    return domain + ("" if alike else rf",\; K_i \in \{{{', '.join(map(str, counts))}\}}")


def _factors_equation(model: Any, beta: float) -> str:
    """Of any finite factors; of Potts models with the span of their couplings."""
    if isinstance(model, Pairwise) and model.potts:
        weights = katex_span(np.asarray(model.interactions.couplings.edges()[2]))
        unary = rf" + \sum_i \theta_i(x_i), \theta_i(k) = {katex_span(model.unary)}" if np.any(model.unary) else ""
        theta, _, span = unary.partition(", ")
        return (
            rf"p(x) = \frac{{1}}{{Z}}\exp\Big[\beta\Big(\sum_{{i<j}} w_{{ij}} [x_i = x_j]{theta}\Big)\Big],\quad "
            rf"{_domain(model)},\quad \beta = {significant(beta)},\; w_{{ij}} = {weights}" + (span and rf",\; {span}")
        )
    return (
        r"p(x) = \frac{1}{Z}\prod_f \psi_f(x_f)^\beta,\quad "
        rf"{_domain(model)},\quad \beta = {significant(beta)},\; i = 0, \ldots, {model.n - 1}"
    )


def algorithm_equation(view: LiveView, lane: LaneView) -> str:
    """What one update of this lane's algorithm computes."""
    algorithm = make_sampler(lane.algorithm, **lane.knobs)
    return algorithm.equation(Target.of(view.model, beta=view.plan.beta))

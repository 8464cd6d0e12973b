"""Folded below the stage: what to notice, the equations with this run's numbers, and where they come from."""

from __future__ import annotations

import streamlit as st

from pmpviz.capabilities.sampling.equations import algorithm_equation, model_equation
from pmpviz.capabilities.sampling.page.stage import SamplingStage
from pmpviz.capabilities.sampling.words import reference_words
from pmpviz.live.lane_names import lane_names
from pmpviz.player.model_words import model_words
from pmpviz.player.style import GUARANTEES
from pmpviz.samplers import sampler_class

METRICS = """
- **MMD²** compares the samples with the reference through the kernel exp(−share of differing sites): 0 for equal
  laws. The estimate is unbiased, so it may be slightly negative; the band ends where 95 of 100 estimates between as
  many independent samples of the reference's law are below it.
- **MMD spectrum**: the same MMD² split into means, pairs, triples and higher orders of sites.
- **Energy**: E(x) = −log of the weight at β = 1, with the constant c of the model where it has one. In a chart the line
  is the mean over the chains, the shade their 10 % and 90 % quantiles. In brackets under the pointer are these two, or
  where a point stands for several sweeps the least and the greatest mean of them.
  **±** after a mean energy is one standard error of it over the chains.
- **Marginal L1**: mean over the sites of |p̂(x = 1) − p(x = 1)|; of more than two states of half the sum of
  |p̂(x = k) − p(x = k)| over the states k.
- **Pair error**: mean over (at most 2,048) edges of the total variation between the pair's frequencies and its
  marginal in the reference. In brackets after both: what as many independent exact samples are off on average.
- **τ**: integrated autocorrelation time of the energy, in sweeps.
- **ESS**, **R-hat** and **τ**: of the energy of at most 128 chains, over the second half of the last 1 024 sweeps
  (of fewer, while there are fewer). ESS and R-hat are rank-normalised; the ESS is scaled up to all chains. For a
  method that makes independent draws the ESS is the number of draws completed, and R-hat and τ do not apply.
- **ESS/s**: effective draws of all chains a second of computing, compilation excluded: of chains over the sweeps of
  the ESS, of draws over all seconds since the statistics began. It does not depend on how long one looks.
- All these begin anew when β, a field, a clamped site or a knob changes. A draw that was begun before is not counted.
- **Residual**: the largest change of a message that an undamped update would make.
"""


def explanation(stage: SamplingStage) -> None:
    """The folds of a page."""
    live = stage.live
    if live is None or not live.view.lanes:
        return
    view = live.view
    with st.expander("What to notice"):
        st.markdown(stage.preset.notice if stage.as_begun else _own(view))
        for lane in view.lanes:
            spec = sampler_class(lane.algorithm).spec
            st.markdown(f"**{spec.label}** ({GUARANTEES[spec.guarantee]}). {spec.summary}")
    with st.expander("Equations"):
        st.latex(model_equation(view))
        for lane in view.lanes:
            st.latex(algorithm_equation(view, lane))
            st.caption(f"{lane.label}: {sampler_class(lane.algorithm).spec.paper}")
    with st.expander("What the numbers mean"):
        st.markdown(METRICS)
        st.caption(reference_words(view))


def _own(view) -> str:
    names = " and ".join(lane_names(view.plan.lanes))
    return f"{names} on a {model_words(view.model, view.plan.beta)}: these are your own settings, no preset's."

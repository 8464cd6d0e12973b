"""The Segmentation page: the weights of a conditional random field as they are learned, and the scenes beside."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from pmpviz.app.asked import Asked
from pmpviz.app.export import ExportFile
from pmpviz.app.folds import folds
from pmpviz.app.lanes import lanes_control
from pmpviz.app.page import Page
from pmpviz.app.player import Event
from pmpviz.app.presets import preset_control
from pmpviz.app.share import ALWAYS
from pmpviz.app.stage import Stage, Turn
from pmpviz.app.widgets import settings_control
from pmpviz.app.words import show_notices
from pmpviz.capabilities.segmentation import picture
from pmpviz.capabilities.segmentation.live import LiveScenes, SceneView
from pmpviz.capabilities.segmentation.plan import ScenePlan
from pmpviz.capabilities.segmentation.presets import SEGMENTATION
from pmpviz.live.plan import Preset
from pmpviz.models.scene_field import WEIGHTS

LEAD = (
    "Each pixel is animal or ground. From scenes whose answer is known four weights are learned: how far colour is "
    "trusted, how much neighbours agree, more so if alike, and a bias. "
    "Learning needs averages of the model; each lane finds them its own way."
)
PAGE = Page("segmentation", SEGMENTATION, LEAD)
KNOBS = {
    "Scenes": ("height", "width", "scenes", "noise", "first"),
    "Learning": ("trust", "ascent", "learning_rate", "decay", "l2", "work", "chains", "seed", "budget"),
}


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    side = st.sidebar
    plan, draw_choice = preset_control(SEGMENTATION, "Learning", PAGE.id, plan, side)
    side.markdown("##### Algorithms")
    plan = lanes_control(plan, "segmentation", side)
    for title, names in KNOBS.items():
        plan = settings_control(plan, names, "segmentation", side.expander(title))
    draw_choice(plan)
    PAGE.keep(plan)
    show_notices(notices)
    preset = PAGE.ask(plan, "Do learned weights find an animal better than colour alone?")
    STAGE.draw(plan)
    explain(plan, preset)


class SceneStage(Stage):
    """What is seen and what was drawn, the scenes' marginals in every lane, and the curves."""

    job = LiveScenes
    component = "segmentation"
    autoplay = True

    def knobs(self, plan: ScenePlan) -> tuple[str, ...]:
        """How fast it learns."""
        return ("learning_rate",)

    def answer(self, event: Event) -> bool:
        """Also looking back, where words are told of that moment."""
        return super().answer(event) or event.type in ("look", "live")

    def _update(self, turn: Turn) -> bytes:
        return picture.update(turn.view, turn.sent, turn.desk)

    def _files(self, asked: Asked) -> list[ExportFile]:
        view: SceneView = asked.view
        make = lambda: json.dumps(as_object(view)).encode()  # noqa: E731
        return [ExportFile("Numbers", "weights.json", "application/json", make, "Weights, bounds and errors.")]

    def _shared(self, plan: ScenePlan) -> tuple[list[str], list[str]]:
        words = "On the command line, with more methods and larger scenes:"
        return [ALWAYS.replace("sweep 0: frame", "iteration 0: iteration"), words], [
            "python -m pmpviz reproduce bfw-crf"
        ]


STAGE = SceneStage(PAGE)


def as_object(view: SceneView) -> dict[str, Any]:
    """What the export says."""

    def plain(point) -> dict[str, Any]:
        weights = dict(zip(WEIGHTS, point.theta.tolist(), strict=True))
        rest = {name: value for name, value in vars(point).items() if name != "theta"}
        return {**rest, "weights": weights}

    lanes = [{"algorithm": lane.algorithm, "iterations": [plain(p) for p in lane.points]} for lane in view.lanes]
    return {"plan": view.plan.to_dict(), "lanes": lanes}


def explain(plan: ScenePlan, preset: Preset | None) -> None:
    """The folds under the stage."""
    notice = preset.notice if preset else "Your own learning: more scenes leave less to chance."
    folds(notice, EQUATIONS, NUMBERS, list({lane.algorithm: lane.spec for lane in plan.lanes}.values()))


EQUATIONS = r"""
$$
\log p(s \mid c) = \sum_i \big(\tfrac12 w_\text{trust}\, l_i + w_\text{bias}\big)\, s_i
+ \sum_{i \sim j} \big(w_\text{edge} + w_\text{contrast}\, a_{ij}\big)\, s_i s_j - \log Z(c),\qquad s_i \in \{-1, 1\}
$$

with $l_i$ the log-odds of the colour and $a_{ij} = e^{-|c_i - c_j|^2 / 2m}$. The gradient of the likelihood is
$\phi(s) - \mathbb E\,\phi$, summed over scenes. Where marginals $\mu$ maximise a bound $B \ge \log Z$, as Frank-Wolfe's
and TRBP's do, $\phi(s) - \langle\phi\rangle_\mu$ is the gradient of $w \cdot \phi(s) - B$, a bound on the likelihood.
*Barrier Frank-Wolfe for Marginal Inference, section 5; Domke 2013.*
"""
NUMBERS = """
- **Picture**: p(animal) at the weights of the iteration that is named. Above the training scenes, by the lane's own
  marginals or samples; below those held out, by TRBP's marginals for every lane. While all weights are 0 it is one half
  everywhere; samples scatter about that.
- **Weights** have no unit: each multiplies its term of the log-probability. Trust above 0 follows the colour, a bias
  above 0 is for animal and below 0 for ground, edge has neighbours agree and contrast more so if alike in colour.
- **Training: log-likelihood, at least**: a pixel, by the lane's own bound; samples give none, belief
  propagation neither.
- **Held out: log-likelihood, at least**: the same by TRBP's bound on log Z, for every lane, so that weights compare.
- **Wrong beside the outline**: share of the pixels within 3 of the true outline that are on the wrong side, by the MAP
  configuration (roof duality) and by each pixel's likelier side; **by colour alone**, where each pixel's own colour
  decides.
- Weights start at 0, trust where it is set; iteration t steps by rate / (1 + decay t), along the gradient (sgd) or as
  Adam does. Chains, messages, and Frank-Wolfe's point and vertices go on
  from one iteration to the next.
"""


__all__ = ["as_object", "draw"]

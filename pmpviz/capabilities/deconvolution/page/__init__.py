"""The deconvolution page: its controls, painters, the live player, and what leaves the page."""

from __future__ import annotations

import numpy as np
import streamlit as st

from pmpviz.app.address import class_mode
from pmpviz.app.asked import Asked
from pmpviz.app.export import OF_TRACES, ExportFile, LaneTable, lanes_npz, settings_file, traces_csv
from pmpviz.app.folds import folds
from pmpviz.app.page import Page
from pmpviz.app.presets import preset_control
from pmpviz.app.share import ALWAYS, command_line
from pmpviz.app.stage import Stage, Turn
from pmpviz.app.words import show_notices
from pmpviz.capabilities.deconvolution import picture as deconvolution
from pmpviz.capabilities.deconvolution.bitmaps import INK, PAPER, UNSET
from pmpviz.capabilities.deconvolution.controls import (
    data_controls,
    known_controls,
    lane_controls,
    model_controls,
    run_controls,
)
from pmpviz.capabilities.deconvolution.lane import DeconvolutionLaneView
from pmpviz.capabilities.deconvolution.live import DeconvolutionView, LiveDeconvolution
from pmpviz.capabilities.deconvolution.page.painter import glyph_painter
from pmpviz.capabilities.deconvolution.plan import (
    PRIORS,
    DeconvolutionPlan,
    Problem,
)
from pmpviz.capabilities.deconvolution.presets import DECONVOLUTION
from pmpviz.capabilities.deconvolution.settings import PAINTED
from pmpviz.live.plan import Choice, Preset
from pmpviz.live.view import View
from pmpviz.player import filters

SHAPES = "Each image is a few shapes, one over the other."
LEAD = f"{SHAPES} Perturb-and-max-product (PMP) adds noise to all unknowns: each noise's best explanation is a sample."
# What works on them, by algorithm.
WAYS = {
    "pmp": "Perturb-and-max-product (PMP) solves for them under random noise",
    "gwg": "GWG flips pixels that gradients propose",
    "gibbs": "Gibbs draws pixel by pixel",
}
PAGE = Page("deconvolution", DECONVOLUTION, LEAD)
# What the question is about: the images, and what of them is given.
ASKED = ("data", "layout", "known_images", "known_features", "known_locations", "clamped")
CONTROLS = {
    "Images": data_controls,
    "Given": known_controls,
    "Model": model_controls,
    "Algorithms": lane_controls,
    "Run": run_controls,
}


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    side = st.sidebar
    plan, draw_choice = preset_control(DECONVOLUTION, "Experiment", PAGE.id, plan, side, _same_question)
    for title, controls in CONTROLS.items():
        side.markdown(f"##### {title}")
        plan = controls(plan, side)
    show_notices(notices)
    preset = PAGE.preset_like(plan, _same_question)
    PAGE.head(preset.question if preset else "What are these images made of?", lead_of(plan))
    plan = clamp_features(paint_glyphs(plan))
    draw_choice(plan)
    PAGE.keep(plan)
    if not empty(plan):
        STAGE.draw(plan)
    explain(plan, preset)


def lead_of(plan: DeconvolutionPlan) -> str:
    """What is seen, and how each of the plan's algorithms goes about it."""
    ways = [WAYS[name] for name in dict.fromkeys(lane.algorithm for lane in plan.lanes) if name in WAYS]
    if ways == [WAYS["pmp"]] or not ways:
        return LEAD
    return f"{SHAPES} {', '.join(ways)}."


def _same_question(preset: DeconvolutionPlan, plan: DeconvolutionPlan) -> bool:
    """Whether a plan asks what a preset asks: of the same data the same things by the same algorithms, at any knob."""
    names = [[lane.algorithm for lane in each.lanes] for each in (preset, plan)]
    return names[0] == names[1] and all(getattr(preset, name) == getattr(plan, name) for name in ASKED)


# Painters.


def paint_glyphs(plan: DeconvolutionPlan) -> DeconvolutionPlan:
    """The painter of the glyphs that are stamped, where the images are made of painted ones."""
    if plan.data != PAINTED:
        return plan
    blank = PAPER * plan.paint_height * plan.paint_width
    glyphs = plan.painted or (blank,)
    words = "Glyphs to be stamped: paint with the pointer, or with arrow keys and Space"
    # A class needs the room for what is found, and sees the glyphs above it: there it lies beneath, folded.
    with st.container(key="class-beneath-painter").expander(words, expanded=not class_mode()):
        drawn = glyph_painter(glyphs, plan.paint_height, plan.paint_width, key="deconvolution_painter")
    inked = sum(INK in text for text in drawn)
    return plan.replace(painted=() if drawn == (blank,) else drawn, features=max(plan.features, inked))


def clamp_features(plan: DeconvolutionPlan) -> DeconvolutionPlan:
    """The painter of features that are clamped, pixel by pixel; the rest follows."""
    if "given" in (plan.known_features, plan.known_locations):
        return plan
    rows, columns = plan.feature_pixels
    free = UNSET * rows * columns
    known = {feature: text for feature, text in plan.clamped if len(text) == len(free)}
    grids = tuple(known.get(feature, free) for feature in range(plan.features))
    fold = st.container(key="class-fold-clamps")
    with fold.expander("Paint a feature yourself, to hold it", expanded=bool(plan.clamped)):
        st.caption(
            "Grey pixels are free. What is painted holds in every sample, and the other features arrange themselves "
            "around it; a clamped feature, below, has a thick frame. Its number is told where one points at it."
        )
        labels = tuple(f"Feature {feature + 1}" for feature in range(plan.features))
        drawn = glyph_painter(grids, rows, columns, key="deconvolution_clamps", ternary=True, labels=labels)
    return plan.replace(clamped=tuple((k, text) for k, text in enumerate(drawn) if text != free))


def empty(plan: DeconvolutionPlan) -> bool:
    """Whether there is nothing to compute yet; says then what to do."""
    if plan.data == PAINTED and not any(INK in text for text in plan.painted):
        st.info("Nothing is painted yet: click on a pixel above, drag for a line, and press Play.")
        return True
    return False


# The player.


class DeconvolutionStage(Stage):
    """Features, locations and reconstructions of every sample, beside what was given."""

    job = LiveDeconvolution
    component = "deconvolution"
    # The whole story takes some forty sweeps: as fast as it goes, a class would miss it.
    first_speed = 2.0

    def _update(self, turn: Turn) -> bytes:
        return deconvolution.update(turn.view, turn.sent, turn.desk)

    def _above(self, view: View) -> None:
        super()._below(view)

    def _below(self, view: View) -> None:
        """Troubles stand above: the images that are given are far down."""

    def _waiting(self, view: View) -> bool:
        """Whether what the start looks like is still to come."""
        return any(not lane.frames for lane in view.lanes)

    def knobs(self, plan: DeconvolutionPlan) -> list[str]:
        """The first knob of the first lane."""
        return [f"lane1.{p.name}" for p in plan.lanes[0].spec.params if not p.advanced][:1]

    def _moment(self, view: DeconvolutionView) -> str:
        return f"The run as it was at sweep {max((lane.sweep for lane in view.lanes), default=0):,.0f}."

    def _files(self, asked: Asked) -> list[ExportFile]:
        return _files(asked.view)

    def _shared(self, plan: DeconvolutionPlan) -> tuple[list[str], list[str]]:
        words, lines = [ALWAYS.replace("frame k is the same picture", "sweep k of PMP is the same picture")], []
        if plan.is_file:
            words.append("The images are not in the link: whoever opens it is asked for the same file.")
        if takes_command(plan):
            chains = any(lane.spec.kind == "chain" for lane in plan.lanes)
            other = ", where chains make as many sweeps as PMP, not as many seconds" if chains else ""
            words.append(f"On the command line, with the images of Export{other}:")
            lines = [command(plan, lane) for lane in plan.lanes]
        return words, lines


STAGE = DeconvolutionStage(PAGE)


# What leaves the page.


def takes_command(plan: DeconvolutionPlan) -> bool:
    """Whether the command line does the same: all images given, nothing else, one pixel of one channel a pixel."""
    known = (plan.known_images, plan.known_features, plan.known_locations)
    return known == ("given", "to be found", "to be found") and not plan.clamped and plan.layout == "anywhere"


def command(plan: DeconvolutionPlan, lane: Choice) -> str:
    """The command line of a lane, on the exported images."""
    flags: dict[str, object] = {"features": plan.features}
    flags["feature-size"] = f"{plan.feature_height}x{plan.feature_width}"
    flags |= {"algorithm": lane.algorithm, "sweeps": plan.budget or 400, "samples": plan.samples, "seed": plan.seed}
    flags |= {name: getattr(plan, name) for name in PRIORS}
    flags |= dict(lane.knobs)
    return command_line("deconvolve", "images.npz", flags, "--out result.npz")


def _files(view: DeconvolutionView) -> list[ExportFile]:
    if view.problem is None:
        return []
    problem = view.problem
    images = lambda: lanes_npz({"images": problem.images})  # noqa: E731
    what = "int8 [images, channels, height, width]."
    files = [ExportFile("Images", "images.npz", "application/zip", images, what)]
    for index, lane in enumerate(view.lanes):
        files += _lane_files(problem, index, lane)
    traces = lambda: traces_csv([_table(index, lane) for index, lane in enumerate(view.lanes)])  # noqa: E731
    files.append(ExportFile("Traces", "traces.csv", "text/csv", traces, OF_TRACES))
    return [*files, settings_file(view.plan)]


def _table(index: int, lane: DeconvolutionLaneView) -> LaneTable:
    """What the page's numbers and charts are made of: of each measure the mean, least and greatest of the samples."""
    return LaneTable(f"lane{index + 1}", lane.algorithm, lane.series.bins(last=lane.sweep).table(), label=lane.label)


def _lane_files(problem: Problem, index: int, lane: DeconvolutionLaneView) -> list[ExportFile]:
    features = lane.features
    if features is None:
        return []

    def samples() -> bytes:
        of_w = {"features": features, "belief": np.asarray(lane.belief)}
        return lanes_npz({**of_w, "locations": np.asarray(lane.locations)})

    def picture() -> bytes:
        return filters.png(deconvolution.features_image(features[0][:, list(lane.order[0])], problem))

    words = "W, S and the beliefs of W, the samples first."
    name = f"samples{index + 1}.npz"
    return [
        ExportFile(f"{lane.label}: samples", name, "application/zip", samples, words),
        ExportFile(f"{lane.label}: features", f"features{index + 1}.png", "image/png", picture, "Of the first sample."),
    ]


# Words.


def explain(plan: DeconvolutionPlan, preset: Preset | None) -> None:
    """The folds under the stage."""
    specs = list({lane.algorithm: lane.spec for lane in plan.lanes}.values())
    folds(preset.notice if preset else OWN, EQUATIONS, NUMBERS, specs)


OWN = (
    "Your own images: compare what is given with what is made of it. Features that nothing asks for stay at their "
    "prior, or copy another one."
)
EQUATIONS = r"""
$$
X_{n,c,i+a,j+b} = \bigvee_{f,i,j,a,b} S_{n,f,i,j} \wedge W_{c,f,a,b},\qquad
\log p(S, W, X) = \ell_S \sum S + \ell_W \sum W - \ell_X\, \#\{X \ne \text{OR}\} + \text{const}
$$

with the prior's log-odds $\ell_S$, $\ell_W$ and $\ell_X = \log((1-\varepsilon)/\varepsilon)$ of a pixel's noise
$\varepsilon$. PMP adds logistic noise to every free variable's log-odds and looks for the maximum by damped
max-product, whose messages are log-ratios:

$$
n_{\text{AND} \to t_1} = \max(0, n_b + n_{t_2}) - \max(0, n_{t_2}),\qquad
n_{\text{AND} \to b} = \min(n_{t_1} + n_{t_2},\, n_{t_1},\, n_{t_2})
$$

$$
n_{\text{OR} \to t_i} = \min\Big\{n_b + \sum_{j \ne i} \max(0, n_{t_j}),\ \max(0, n_{t^*}) - n_{t^*}\Big\},\qquad
n_{\text{OR} \to b} = n_{t^*} + \sum_{j \ne *} \max(0, n_{t_j})
$$

where $t^*$ is the other top with the largest message. Both take linear time in the number of variables.
*Lazaro-Gredilla, Dedieu and George 2021, Perturb-and-max-product, section 5.6 and Appendix C.3.*
"""
NUMBERS = """
- **Grey levels** of a feature are σ(belief / 4): ink and paper are certain, mid-grey is unsure; the sample is what
  nearer to ink. A max-product belief is a difference of maxima in nats, not a probability that can be trusted; its
  quarter is shown because after few sweeps whole ones would leave no greys. A chain (GWG, Gibbs) shows its state, which
  is black and white at any time, however poor.
- **Colours** are those of the features, and of the pixels that they explain in the images; a pixel of two features is
  divided between them. Where a pixel is wrong its middle shows what is given. Point at a feature, or at an image, and
  its stamps are outlined.
- **Wrong pixels**: given pixels on which the OR of the sample's features at its locations differs from the image.
- **Explained ink**: share of the images' ink that the reconstruction has too.
- **Energy**: minus log p of the sample without its constant. A sample of PMP has S and W only; a wrong pixel costs ℓ_X.
- **Largest change of a message** in a sweep: messages at rest do not change. Nothing promises that they come to rest.
- **Glyphs found**: generating glyphs that are among a sample's features, pixel by pixel. Features that are larger than
  the glyphs may hold them shifted; the shift is told. *2 px off*: a feature shows the glyph but for two pixels. This is
  of the sample that is named beside it: click on another row to have that one. *Spare*: a feature more than there are
  glyphs, which copies one or stays at its prior. The order of features means nothing, and is chosen here so that
  samples and glyphs stand one above the other.
- **Equal time**: lanes are given the same seconds of computing, compilation apart.
"""


__all__ = ["command", "draw"]

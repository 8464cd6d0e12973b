"""The controls of a deconvolution: preset, images, what is known, model, algorithms, run."""

from __future__ import annotations

from functools import partial
from typing import Any

from pmpviz.app.file_controls import FILE, Pictures, pictures_control, source_control
from pmpviz.app.lanes import knobs_control
from pmpviz.app.uploads import Upload
from pmpviz.app.widgets import bind, settings_control
from pmpviz.app.words import as_text
from pmpviz.capabilities.deconvolution.plan import (
    IMAGES,
    KNOWN,
    LANES,
    MODEL,
    PRIORS,
    RUN,
    DeconvolutionPlan,
    conv_sampler,
    shape_of,
)
from pmpviz.capabilities.deconvolution.settings import MOST_GLYPH_SIDE, PAINTED
from pmpviz.io.datasets.binary_images import images_of_npz, images_of_pictures
from pmpviz.io.datasets.stamps import GLYPH_SETS
from pmpviz.live.plan import Choice
from pmpviz.numerals import integer
from pmpviz.samplers import CONV_SAMPLERS
from pmpviz.types import Param

PAGE = "deconvolution"
PAINT_HEIGHT = Param("paint_height", "Glyph height", 2, MOST_GLYPH_SIDE, 5, "int", "", "pixels")
PAINT_WIDTH = Param("paint_width", "Glyph width", 2, MOST_GLYPH_SIDE, 5, "int", "", "pixels")


# Images.


def data_controls(plan: DeconvolutionPlan, box: Any) -> DeconvolutionPlan:
    """The plan with the chosen images: stamped from a set of glyphs or from painted ones, or a person's own."""
    sources = {each.id: each.label for each in GLYPH_SETS} | {PAINTED: "Painted by hand"}
    chosen = source_control("Glyphs", sources, "Your own images", plan.data, plan, "deconvolution_data", box)
    if chosen == FILE:
        return _uploaded(plan, box)
    plan = plan.replace(data=chosen)
    if chosen == PAINTED:
        box.caption("Paint them above the features: they are stamped at random places.")
        plan = _resized(settings_control(plan, (PAINT_HEIGHT, PAINT_WIDTH), PAGE, box), plan)
    whole = plan.layout == "whole image"
    return settings_control(plan, [name for name in IMAGES if not (whole and name == "side")], PAGE, box)


def _resized(plan: DeconvolutionPlan, before: DeconvolutionPlan) -> DeconvolutionPlan:
    """Painted glyphs cut, or filled up with paper, where their size has changed."""
    old, new = (before.paint_height, before.paint_width), (plan.paint_height, plan.paint_width)
    if old == new:
        return plan
    glyphs = []
    for text in plan.painted:
        rows = [text[row * old[1] : (row + 1) * old[1]][: new[1]].ljust(new[1], "0") for row in range(old[0])]
        glyphs.append("".join([*rows, *["0" * new[1]] * new[0]][: new[0]]))
    return plan.replace(painted=tuple(glyphs))


def _uploaded(plan: DeconvolutionPlan, box: Any) -> DeconvolutionPlan:
    def told(held: Upload) -> str:
        count, _, height, width = held.model.shape
        return f"{as_text(held.name)}: {integer(count)} images of {height} x {width}."

    def adopt(plan: DeconvolutionPlan, images: Any) -> DeconvolutionPlan:
        plan = plan.replace(known_features="to be found", known_locations="to be found", layout="anywhere")
        shape_of(plan, images)
        return plan

    size = plan.feature_height, plan.feature_width
    asked = "Bring an .npz of 0 and 1 with an array X [images, height, width], or at least two pictures."
    of_npz, of_pictures = (partial(read, feature=size) for read in (images_of_npz, images_of_pictures))
    return pictures_control(Pictures(asked, told, of_npz, of_pictures), plan, PAGE, box, adopt)


# What is known, and the model.


def known_controls(plan: DeconvolutionPlan, box: Any) -> DeconvolutionPlan:
    """What of X, W and S is clamped."""
    params = KNOWN[:1] if plan.is_file else KNOWN
    plan = settings_control(plan, params, PAGE, box)
    if "given" in (plan.known_features, plan.known_locations):
        box.caption("The model then has as many features, of the size, as there are glyphs.")
    return plan


def model_controls(plan: DeconvolutionPlan, box: Any) -> DeconvolutionPlan:
    """Number and size of features; priors, noise and the convention of the location unaries folded."""
    if "given" not in (plan.known_features, plan.known_locations):
        whole = plan.layout == "whole image" and not plan.is_file
        plan = settings_control(plan, MODEL[:1] if whole else MODEL, PAGE, box)
    fold = box.expander("Priors and noise")
    return settings_control(plan, (*PRIORS, *(() if plan.is_file else ("flip",))), PAGE, fold)


# Algorithms, run.


def lane_controls(plan: DeconvolutionPlan, box: Any) -> DeconvolutionPlan:
    """PMP, and beside it what is to be compared with it in equal time."""
    labels = {cls.spec.id: cls.spec.label for cls in CONV_SAMPLERS}
    now = [lane.algorithm for lane in plan.lanes]
    key = "deconvolution_lanes"
    chosen = bind(key, now)
    box.multiselect(
        "In equal time",
        list(labels),
        format_func=labels.__getitem__,
        key=key,
        max_selections=LANES.most,
        help="Each lane is given the same seconds of computing: the one that has had least goes on.",
    )
    if not chosen:
        box.info("Choose at least one algorithm; until then the ones before stay.")
        chosen = now
    # PMP first: its lane is the one that the numbers speak of.
    chosen = sorted(dict.fromkeys(chosen), key=list(labels).index)
    known = {lane.algorithm: lane for lane in plan.lanes}
    return plan.replace(lanes=tuple(_lane(known.get(name, conv_sampler(name)), key, box) for name in chosen))


def _lane(lane: Choice, key: str, box: Any) -> Choice:
    box.caption(f"**{lane.spec.label}** ({lane.spec.guarantee}). {as_text(lane.spec.summary)}")
    return knobs_control(lane, f"{key}_{lane.algorithm}", box)


def run_controls(plan: DeconvolutionPlan, box: Any) -> DeconvolutionPlan:
    """Samples, seed, sweeps."""
    return settings_control(plan, RUN, PAGE, box)


__all__ = ["data_controls", "known_controls", "lane_controls", "model_controls", "run_controls"]

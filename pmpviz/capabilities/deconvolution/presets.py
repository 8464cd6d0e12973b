"""What the deconvolution page opens with: a plan, the question it answers, and what to notice in it."""

from __future__ import annotations

from pmpviz.capabilities.deconvolution.plan import DeconvolutionPlan, conv_sampler
from pmpviz.capabilities.deconvolution.settings import PAINTED
from pmpviz.live.plan import Preset


def _glyph(*rows: str) -> str:
    return "".join(rows).replace("#", "1").replace(".", "0")


HEART = _glyph(".#.#.", "#####", "#####", ".###.", "..#..")
ARROW = _glyph("..#..", "...#.", "#####", "...#.", "..#..")
RING = _glyph(".###.", "#...#", "#...#", "#...#", ".###.")
PMP, GWG, GIBBS = (conv_sampler(name) for name in ("pmp", "gwg", "gibbs"))

DECONVOLUTION: tuple[Preset, ...] = (
    Preset(
        "paper",
        "The paper's four glyphs",
        "Which shapes, at which places, make these images?",
        DeconvolutionPlan(),
        "Neither the shapes nor their places are given, only the images. Features begin mid-grey and become ink and "
        "paper within a few dozen sweeps. The model has one feature more than there are glyphs, and they are a pixel "
        "larger each way: the spare one copies a glyph, or stays at its prior, and a glyph may lie in any corner. A "
        "sample with more glyphs found may have more pixels wrong: a feature that is one pixel off is not found, yet "
        "leaves few pixels wrong, and one that is found may be missing where it belongs.",
    ),
    Preset(
        "gwg",
        "GWG and Gibbs beside it",
        "Can GWG or Gibbs, bit by bit, find the shapes?",
        DeconvolutionPlan(images=40, noise=0.01, samples=1, lanes=(PMP, GWG, GIBBS)),
        "All lanes are given the same seconds. GWG and Gibbs change one variable at a time: a feature's pixel is of "
        "use only where its locations are right, and the other way round. While a wrong pixel costs little, Gibbs gets "
        "over that: at a pixel noise of 0.01 eight of ten starts had all four glyphs within about a second. At 1e-4 "
        "none of five got beyond one glyph in eight seconds, and three of three of PMP had all four: lower the noise "
        "and see. GWG weighs every variable for each one that it changes: in these seconds a few sweeps at most. Of "
        "GWG the paper reports no meaningful samples in reasonable time (reproduce pmp-5.6).",
    ),
    Preset(
        "gwg-known",
        "GWG with known shapes",
        "Does GWG find the places of shapes that it is told?",
        DeconvolutionPlan(images=40, noise=0.01, samples=1, known_features="given", lanes=(PMP, GWG, GIBBS)),
        "The same images, with the features clamped to the truth. Every location can now be judged by itself, and GWG "
        "explains nearly every pixel within seconds, as the paper reports. Lower the pixel noise: single flips then "
        "hardly ever leave a wrong place again.",
    ),
    Preset(
        "gwg-places",
        "GWG with known places",
        "Does GWG find shapes whose places it is told?",
        DeconvolutionPlan(images=40, noise=0.01, samples=1, known_locations="given", lanes=(PMP, GWG, GIBBS)),
        "The same images, with the locations clamped to the truth. What is on in all images with a glyph at a place is "
        "the glyph's: GWG has all four within a second. Only both at once are hard.",
    ),
    Preset(
        "painted",
        "Painted by hand",
        "Does it find what you have painted?",
        DeconvolutionPlan(data=PAINTED, painted=(HEART, ARROW, RING)),
        "Change a glyph: the images are stamped anew and the features follow. A glyph that is another one plus a few "
        "pixels, or two glyphs that always occur together, cannot be told apart by anybody.",
    ),
    Preset(
        "letters",
        "Letters",
        "Into which shapes is overlapping print taken apart?",
        DeconvolutionPlan(data="letters"),
        "Every pixel is explained, and yet not every letter may be found: H and N share two uprights, and a sample "
        "may hold the uprights as one feature and the strokes between them as another. That is a valid explanation. "
        "Press New seed: other noise, another one. With a location prior of 1e-75 and a pixel noise of 1e-100 (the "
        "ratio of their log-odds counts) few places have to explain much, and whole letters win.",
    ),
    Preset(
        "complete",
        "Half-hidden images",
        "What lies under the hidden half?",
        DeconvolutionPlan(known_images="half hidden", known_features="given"),
        "The features are known and the lower half of each image is hidden. A glyph that reaches into the hidden half "
        "is completed; below, there is nothing to go by, and each sample draws from the prior.",
    ),
    Preset(
        "generate",
        "Made-up images",
        "What does the model make up when nothing is seen?",
        DeconvolutionPlan(known_images="not given", known_features="given", images=36, budget=100),
        "With the features given and no image seen there is nothing to explain: every sample is another set of images. "
        "Lower the prior of a location, and images empty themselves.",
    ),
    Preset(
        "matrix",
        "Boolean matrix factorisation",
        "Which glyphs are the images made of, where none is shifted?",
        DeconvolutionPlan(data="letters", layout="whole image", rate=0.35, location_prior=0.35, images=100, features=5),
        "The 1 x 1 case: each image is an OR of whole glyphs. As matrices, images x pixels = (images x features) and "
        "(features x pixels), with AND for times and OR for plus. PMP separates what is never seen alone.",
    ),
)


__all__ = ["DECONVOLUTION"]

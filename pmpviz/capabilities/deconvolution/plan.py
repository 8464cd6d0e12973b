"""A deconvolution plan: every setting from which images, what is known of them, and each lane's run follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int8

from pmpviz.capabilities.deconvolution.bitmaps import FREE, bits_of, clamped_of
from pmpviz.capabilities.deconvolution.settings import CLAMPED, DATA, PAINT, PAINTED
from pmpviz.io.datasets.stamps import GLYPH_SETS, stamp
from pmpviz.live.plan import Catalogue, Choice, Lanes, Settings, choice, knob
from pmpviz.models.conv_or import CONVENTIONS, ConvOR, ConvShape, clamp
from pmpviz.samplers import CONV_SAMPLERS, sampler_class
from pmpviz.types import InputError, Target

MOST_ANDS = 1 << 24
LAYOUTS = ("anywhere", "whole image")
# Glyphs an image: with one place each only few images would come to three.
LEAST = {"anywhere": 3, "whole image": 1}
IMAGES_GIVEN = ("given", "half hidden", "not given")
GIVEN = ("to be found", "given")

OF_MARGIN = (
    "Glyphs keep this distance from the border. Without it, features that are larger than the glyphs cannot reach "
    "every place, and some pixels stay wrong whatever is found."
)
OF_LAYOUT = (
    "Anywhere: binary convolution. Whole image: glyphs are as large as the images and are not moved, which is Boolean "
    "matrix factorisation, the 1 x 1 case."
)
OF_IMAGES = (
    "Given: deconvolution. Half hidden: the lower half of every image is to be completed. Not given: the model makes "
    "images up."
)
OF_LOCATION = "Chance of a feature at a place. Far below how often glyphs occur, it makes few places explain much."
OF_NOISE = (
    "Chance that a pixel of X differs from the OR. Its log-odds are the cost of a wrong pixel, beside which PMP's "
    "perturbations, of size 1, are large or small."
)
OF_CONVENTION = (
    "Exact: counted once, as the paper writes the model. Authors: counted once for each pixel of a feature, as in the "
    "authors' code."
)

# The knobs, by what they are of.
IMAGES = ("images", "side", "rate", "margin", "layout", "data_seed")
MODEL = ("features", "feature_height", "feature_width")
PRIORS = ("location_prior", "feature_prior", "noise", "convention")
KNOWN = ("known_images", "known_features", "known_locations")
RUN = ("samples", "seed", "budget")

conv_sampler = Catalogue(CONV_SAMPLERS, lambda name: sampler_class(name, CONV_SAMPLERS))
LANES = Lanes(conv_sampler, 3)


@dataclass(frozen=True)
class DeconvolutionPlan(Settings):
    """Data, what is known, the model, priors and lanes.

    `data` is the id of a glyph set, `painted`, or `file:` and a content hash. `painted` holds glyphs of
    `paint_height` x `paint_width` as texts of 0 and 1, row after row; `clamped` pairs of a feature and its pixels as
    a text of 0, 1 and - (free).
    """

    data: str = DATA.field("paper")
    images: int = knob("Images", 1, 200, 60, "int", "How many images are drawn.")
    side: int = knob("Image side", 4, 32, 14, "int", "Of square images.", "pixels")
    rate: float = knob("Glyphs a place", 0.001, 0.5, 0.01, "log", "Chance that a glyph is stamped at a place.")
    margin: int = knob("Empty margin", 0, 4, 1, "int", OF_MARGIN, "pixels")
    layout: str = choice("A glyph lies", LAYOUTS, OF_LAYOUT)
    flip: float = knob("Pixels flipped in the data", 0.0, 0.1, 0.0, help="Share of the images' pixels turned over.")
    data_seed: int = knob("Seed of the images", 0, 2**31 - 1, 0, "int", "Another one stamps anew.")
    known_images: str = choice("Images X", IMAGES_GIVEN, OF_IMAGES)
    known_features: str = choice("Features W", GIVEN, "Given: clamped to the truth.")
    known_locations: str = choice("Locations S", GIVEN, "Given: clamped to the truth.")
    features: int = knob("Features", 1, 12, 5, "int", "How many the model has: more than needed does no harm.")
    feature_height: int = knob("Feature height", 1, 12, 6, "int", "Of the model's features.", "pixels")
    feature_width: int = knob("Feature width", 1, 12, 6, "int", "Of the model's features.", "pixels")
    location_prior: float = knob("Prior of a location, p(S)", 1e-100, 0.5, 0.01, "log", OF_LOCATION)
    feature_prior: float = knob("Prior of a pixel, p(W)", 0.01, 0.9, 0.25, "log", "Chance of being ink.")
    noise: float = knob("Pixel noise", 1e-100, 0.2, 1e-6, "log", OF_NOISE)
    convention: str = choice("Location unaries", CONVENTIONS, OF_CONVENTION, advanced=True)
    samples: int = knob("Posterior samples", 1, 5, 3, "int", "Independent perturbations, one row each.")
    seed: int = knob("Seed", 0, 2**31 - 1, 0, "int", "Of the perturbations and chains.")
    budget: int = knob("Sweeps", 0, 100_000, 400, "int", "PMP stops there, the others in equal time; 0: go on.")
    painted: tuple[str, ...] = PAINT.field(())
    paint_height: int = PAINT.field(5)
    paint_width: int = PAINT.field(5)
    clamped: tuple[tuple[int, str], ...] = CLAMPED.field(())
    lanes: tuple[Choice, ...] = LANES.field((conv_sampler("pmp"),))

    @property
    def is_file(self) -> bool:
        """Whether the images are a person's own, of which no glyphs are known."""
        return self.data.startswith("file:")

    @property
    def glyph_size(self) -> tuple[int, int]:
        """Rows and columns of the glyphs that are stamped."""
        if self.data == PAINTED:
            return self.paint_height, self.paint_width
        found = next((each for each in GLYPH_SETS if each.id == self.data), None)
        return (0, 0) if found is None else found.glyphs.shape[1:]

    @property
    def feature_pixels(self) -> tuple[int, int]:
        """Rows and columns of the picture of a feature, which may be painted."""
        if self.layout == "whole image" and not self.is_file:
            return self.glyph_size
        return self.feature_height, self.feature_width


@dataclass(frozen=True, eq=False)
class Problem:
    """What a plan amounts to.

    `images` are the whole images (also of what is hidden), `seen` the pixels that are clamped. `glyphs` and
    `locations` are the truth where it is known. `picture` is (rows, columns) of the picture that a column of channels
    is shown as, where images are one pixel of many channels.
    """

    target: Target
    shape: ConvShape
    images: Int8[np.ndarray, "n c height width"]
    seen: Bool[np.ndarray, "n c height width"]
    glyphs: Int8[np.ndarray, "c g gh gw"] | None
    locations: Int8[np.ndarray, "n g h w"] | None
    clamped: tuple[int, ...]
    picture: tuple[int, int] | None = None


def glyphs_of(plan: DeconvolutionPlan) -> Int8[np.ndarray, "g height width"]:
    """The glyphs that the plan's images are stamped from; raises InputError where there are none."""
    if plan.data == PAINTED:
        inked = [bits_of(text, plan.paint_height, plan.paint_width) for text in plan.painted if "1" in text]
        if not inked:
            raise InputError("no glyph has any ink yet; paint one")
        return np.stack(inked)
    found = next((each for each in GLYPH_SETS if each.id == plan.data), None)
    if found is None:
        raise InputError(f"there are no glyphs {plan.data[:40]!r}; choose one of {', '.join(g.id for g in GLYPH_SETS)}")
    return np.asarray(found.glyphs, np.int8)


def problem_of(plan: DeconvolutionPlan, files: Callable[[str], Any] | None = None) -> Problem:
    """The plan's images, truth and target; raises InputError in one sentence where something does not fit."""
    images, glyphs, locations, picture = _data(plan, files)
    shape = shape_of(plan, images, glyphs)
    model = ConvOR.of(shape, plan.location_prior, plan.feature_prior, plan.noise, plan.convention)
    seen = _seen(plan, images, picture)
    given_features = glyphs if plan.known_features == "given" else _painted_over(plan, shape)
    given_locations = locations if plan.known_locations == "given" else None
    evidence = clamp(model, images=images, locations=given_locations, features=given_features, seen=seen)
    held = () if given_features is None else tuple(np.flatnonzero((given_features >= 0).any((0, 2, 3))).tolist())
    return Problem(Target.of(model, evidence), shape, images, seen, glyphs, locations, held, picture)


def _data(plan: DeconvolutionPlan, files: Callable[[str], Any] | None):
    """(images, glyphs, locations, picture): stamped, or a file's, of which no truth is known."""
    if plan.data.startswith("file:"):
        if files is None:
            raise InputError("this plan names uploaded images; bring the file")
        return np.asarray(files(plan.data[len("file:") :])), None, None, None
    glyphs = glyphs_of(plan)
    whole = plan.layout == "whole image"
    height, width = glyphs.shape[1:] if whole else (plan.side, plan.side)
    margin = 0 if whole else plan.margin
    least = LEAST[plan.layout]
    images, locations = stamp(plan.data_seed, glyphs, plan.images, height, width, plan.rate, least, margin)
    planes = glyphs[None]
    if not whole:
        return _flipped(plan, images), planes, locations, None
    # The 1 x 1 case: every pixel is a channel of its own.
    pixels = height * width
    channels = planes.reshape(len(glyphs), pixels).T[:, :, None, None]
    return _flipped(plan, images.reshape(-1, pixels, 1, 1)), channels, locations, (height, width)


def _flipped(plan: DeconvolutionPlan, images: np.ndarray) -> np.ndarray:
    if not plan.flip:
        return images
    flips = np.random.default_rng([plan.data_seed, 1]).random(images.shape) < plan.flip
    return np.where(flips, 1 - images, images).astype(np.int8)


def shape_of(plan: DeconvolutionPlan, images: np.ndarray, glyphs: np.ndarray | None = None) -> ConvShape:
    """Sizes of the model: the glyphs' own where features or locations are clamped to the truth.

    Raises InputError where features do not fit into the images, or all of it is too large for the page.
    """
    count, height, width = plan.features, plan.feature_height, plan.feature_width
    if plan.layout == "whole image" and glyphs is not None:
        height = width = 1
    if "given" in (plan.known_features, plan.known_locations):
        if glyphs is None:
            raise InputError("of uploaded images no features or locations are known; leave both to be found")
        count, height, width = glyphs.shape[1:]
    pictures, channels, rows, columns = images.shape
    shape = ConvShape(pictures, channels, rows, columns, count, height, width).check()
    ands = shape.ands * shape.images * plan.samples
    if ands > MOST_ANDS:
        fits = max(1, MOST_ANDS // max(1, shape.ands * plan.samples))
        raise InputError(f"this page computes up to {MOST_ANDS:,} products, not {ands:,}; give at most {fits} images")
    return shape


def _seen(plan: DeconvolutionPlan, images: np.ndarray, picture: tuple[int, int] | None) -> np.ndarray:
    seen = np.full(images.shape, plan.known_images != "not given")
    if plan.known_images == "half hidden":
        if picture is not None:
            rows = seen.reshape(len(images), *picture)
            rows[:, picture[0] // 2 :] = False
        else:
            seen[:, :, images.shape[2] // 2 :] = False
    return seen


def _painted_over(plan: DeconvolutionPlan, shape: ConvShape) -> np.ndarray | None:
    """Features with what was painted over them, -1 where free; None where nothing was."""
    planes = np.full(shape.w, FREE, np.int8)
    size = shape.channels * shape.feature_height * shape.feature_width
    for feature, text in plan.clamped:
        if feature < shape.features and len(text) == size:
            values = clamped_of(text)
            planes[:, feature] = values.reshape(shape.channels, shape.feature_height, shape.feature_width)
    return planes if (planes >= 0).any() else None

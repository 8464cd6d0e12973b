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
from pmpviz.live.plan import Choice, Lanes, Registry, Settings, setting
from pmpviz.models.conv_or import CONVENTIONS, ConvOR, ConvShape, clamp
from pmpviz.samplers import CONV_SAMPLERS, sampler_class
from pmpviz.types import InputError, Param, Target

MOST_ANDS = 1 << 24
LAYOUTS = ("anywhere", "whole image")
# Glyphs an image: with one place each only few images would come to three.
LEAST = {"anywhere": 3, "whole image": 1}
IMAGES_GIVEN = ("given", "half hidden", "not given")
GIVEN = ("to be found", "given")

IMAGES = Param("images", "Images", 1, 200, 60, "int", "How many images are drawn.")
SIDE = Param("side", "Image side", 4, 32, 14, "int", "Of square images.", "pixels")
RATE = Param("rate", "Glyphs a place", 0.001, 0.5, 0.01, "log", "Chance that a glyph is stamped at a place.")
LAYOUT = Param(
    "layout",
    "A glyph lies",
    0,
    0,
    "anywhere",
    "choice",
    "Anywhere: binary convolution. Whole image: glyphs are as large as the images and are not moved, which is Boolean "
    "matrix factorisation, the 1 x 1 case.",
    choices=LAYOUTS,
)
MARGIN = Param(
    "margin",
    "Empty margin",
    0,
    4,
    1,
    "int",
    "Glyphs keep this distance from the border. Without it, features that are larger than the glyphs cannot reach "
    "every place, and some pixels stay wrong whatever is found.",
    "pixels",
)
FLIP = Param("flip", "Pixels flipped in the data", 0.0, 0.1, 0.0, help="Share of the images' pixels turned over.")
DATA_SEED = Param("data_seed", "Seed of the images", 0, 2**31 - 1, 0, "int", "Another one stamps anew.")
FEATURES = Param("features", "Features", 1, 12, 5, "int", "How many the model has: more than needed does no harm.")
FEATURE_HEIGHT = Param("feature_height", "Feature height", 1, 12, 6, "int", "Of the model's features.", "pixels")
FEATURE_WIDTH = Param("feature_width", "Feature width", 1, 12, 6, "int", "Of the model's features.", "pixels")
KNOWN_IMAGES = Param(
    "known_images",
    "Images X",
    0,
    0,
    "given",
    "choice",
    "Given: deconvolution. Half hidden: the lower half of every image is to be completed. Not given: the model makes "
    "images up.",
    choices=IMAGES_GIVEN,
)
KNOWN_FEATURES = Param(
    "known_features", "Features W", 0, 0, "to be found", "choice", "Given: clamped to the truth.", choices=GIVEN
)
KNOWN_LOCATIONS = Param(
    "known_locations", "Locations S", 0, 0, "to be found", "choice", "Given: clamped to the truth.", choices=GIVEN
)
LOCATION_PRIOR = Param(
    "location_prior",
    "Prior of a location, p(S)",
    1e-100,
    0.5,
    0.01,
    "log",
    "Chance of a feature at a place. Far below how often glyphs occur, it makes few places explain much.",
)
FEATURE_PRIOR = Param("feature_prior", "Prior of a pixel, p(W)", 0.01, 0.9, 0.25, "log", "Chance of being ink.")
NOISE = Param(
    "noise",
    "Pixel noise",
    1e-100,
    0.2,
    1e-6,
    "log",
    "Chance that a pixel of X differs from the OR. Its log-odds are the cost of a wrong pixel, beside which PMP's "
    "perturbations, of size 1, are large or small.",
)
CONVENTION = Param(
    "convention",
    "Location unaries",
    0,
    0,
    "exact",
    "choice",
    "Exact: counted once, as the paper writes the model. Authors: counted once for each pixel of a feature, as in the "
    "authors' code.",
    choices=CONVENTIONS,
    advanced=True,
)
SAMPLES = Param("samples", "Posterior samples", 1, 5, 3, "int", "Independent perturbations, one row each.")
SEED = Param("seed", "Seed", 0, 2**31 - 1, 0, "int", "Of the perturbations and chains.")
BUDGET = Param("budget", "Sweeps", 0, 100_000, 400, "int", "PMP stops there, the others in equal time; 0: go on.")
IMAGES_MADE = (IMAGES, SIDE, RATE, MARGIN, LAYOUT, FLIP, DATA_SEED)
MODEL = (FEATURES, FEATURE_HEIGHT, FEATURE_WIDTH)
PRIORS = (LOCATION_PRIOR, FEATURE_PRIOR, NOISE, CONVENTION)
KNOWN = (KNOWN_IMAGES, KNOWN_FEATURES, KNOWN_LOCATIONS)
RUN = (SAMPLES, SEED, BUDGET)

conv_sampler = Registry(CONV_SAMPLERS, lambda name: sampler_class(name, CONV_SAMPLERS))
LANES = Lanes(conv_sampler, 3)


@dataclass(frozen=True)
class DeconvolutionPlan(Settings):
    """Data, what is known, the model, priors and lanes.

    `data` is the id of a glyph set, `painted`, or `file:` and a content hash. `painted` holds glyphs of
    `paint_height` x `paint_width` as texts of 0 and 1, row after row; `clamped` pairs of a feature and its pixels as
    a text of 0, 1 and - (free).
    """

    data: str = DATA.field("paper")
    images: int = setting(IMAGES)
    side: int = setting(SIDE)
    rate: float = setting(RATE)
    margin: int = setting(MARGIN)
    layout: str = setting(LAYOUT)
    flip: float = setting(FLIP)
    data_seed: int = setting(DATA_SEED)
    known_images: str = setting(KNOWN_IMAGES)
    known_features: str = setting(KNOWN_FEATURES)
    known_locations: str = setting(KNOWN_LOCATIONS)
    features: int = setting(FEATURES)
    feature_height: int = setting(FEATURE_HEIGHT)
    feature_width: int = setting(FEATURE_WIDTH)
    location_prior: float = setting(LOCATION_PRIOR)
    feature_prior: float = setting(FEATURE_PRIOR)
    noise: float = setting(NOISE)
    convention: str = setting(CONVENTION)
    samples: int = setting(SAMPLES)
    seed: int = setting(SEED)
    budget: int = setting(BUDGET)
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


__all__ = [
    "IMAGES_MADE",
    "KNOWN",
    "MODEL",
    "PAINTED",
    "PRIORS",
    "RUN",
    "DeconvolutionPlan",
    "Problem",
    "conv_sampler",
    "glyphs_of",
    "problem_of",
    "shape_of",
]

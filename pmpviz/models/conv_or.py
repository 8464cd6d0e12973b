"""Binary convolution: images as ORs of features placed at locations (perturb-and-max-product, section 5.6).

    Z[n, c, i + a, j + b] = OR over f, i, j, a, b of (S[n, f, i, j] AND W[c, f, a, b]),    X = Z but for pixel noise

With features of 1 x 1 pixel and images of 1 x 1 it is Boolean matrix factorisation: X = S W over the Boolean ring.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz.models.space import Space, binary_logits
from pmpviz.types import Evidence, InputError, Param, pytree

CONVENTIONS = ("exact", "authors")
MOST_VARIABLES = 1 << 22
SMALLEST, LARGEST = 1e-120, 1.0 - 1e-9


# The model's own numbers: the page's controls and the command line's flags are made from them.
CONV_PARAMS = (
    Param(
        "location_prior",
        "Location prior",
        SMALLEST,
        0.9,
        1e-75,
        "log",
        "Probability of a feature at a place. Far below how often features occur, it makes few places explain much.",
    ),
    Param("feature_prior", "Feature prior", 0.001, 0.999, 0.25, help="Probability of a feature's pixel to be on."),
    Param("noise", "Pixel noise", 1e-100, 0.5, 1e-100, "log", "Probability of a pixel to be flipped."),
    Param(
        "convention",
        "Location unaries",
        0,
        1,
        "exact",
        "choice",
        "exact: the model as the paper states it; authors: their code adds the unary of a place, and its noise, once "
        "for every pixel of a feature.",
        choices=CONVENTIONS,
    ),
)


class ConvShape(NamedTuple):
    """Sizes: images of channels x height x width, features of feature_height x feature_width in every channel."""

    images: int
    channels: int
    height: int
    width: int
    features: int
    feature_height: int
    feature_width: int

    @classmethod
    def of(cls, images: Int[np.ndarray, "n c height width"], features: int, size: tuple[int, int]) -> ConvShape:
        """So many features of height x width for these images."""
        n, channels, height, width = images.shape
        return cls(n, channels, height, width, features, *size)

    @property
    def locations(self) -> tuple[int, int]:
        """Rows and columns of places at which a feature lies within the image."""
        return self.height - self.feature_height + 1, self.width - self.feature_width + 1

    @property
    def s(self) -> tuple[int, int, int, int]:
        """Shape of the locations S."""
        return (self.images, self.features, *self.locations)

    @property
    def w(self) -> tuple[int, int, int, int]:
        """Shape of the features W."""
        return self.channels, self.features, self.feature_height, self.feature_width

    @property
    def x(self) -> tuple[int, int, int, int]:
        """Shape of the images X."""
        return self.images, self.channels, self.height, self.width

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Variables of S, of W and of X."""
        return int(np.prod(self.s)), int(np.prod(self.w)), int(np.prod(self.x))

    @property
    def ands(self) -> int:
        """AND factors of one image: pairs of a feature's pixel and a place for it."""
        return int(np.prod(self.w)) * int(np.prod(self.locations))

    def check(self) -> ConvShape:
        """The shape itself; raises InputError where a size is not positive, a feature larger than the image, or all
        of it too large."""
        if min(self) < 1:
            raise InputError("a size of the convolution is 0; give at least one of everything")
        if self.feature_height > self.height or self.feature_width > self.width:
            raise InputError(
                f"a feature of {self.feature_height} x {self.feature_width} does not fit into images of {self.height} "
                f"x {self.width}; give features of at most {self.height} x {self.width}"
            )
        if sum(self.sizes) > MOST_VARIABLES:
            s, w, x = self.sizes
            most = (MOST_VARIABLES - w) // ((s + x) // self.images)
            remedy = f"give at most {most:,} images of this size" if most > 0 else "give smaller images"
            raise InputError(
                f"this makes {sum(self.sizes):,} variables, more than {MOST_VARIABLES:,}; {remedy}, or fewer features"
            )
        return self


@pytree(static=("shape",))
class ConvOR:
    """log_weight(S, W, X) = copies l_S sum S + l_W sum W - l_X #{pixels where X is not OR(S, W)}, all binary.

    `location_logit` l_S and `feature_logit` l_W are log-odds of the priors, `noise_logit` l_X = log((1 - e) / e) of a
    pixel's probability e to be flipped. `location_copies` is 1: the model as the paper states it; the authors' code
    adds the unaries of S once for every pixel of a feature, which is the same with that number here. Configurations
    are x = (S, W, X), each flattened in C order.
    """

    location_logit: Float[Array, ""]
    feature_logit: Float[Array, ""]
    noise_logit: Float[Array, ""]
    location_copies: Float[Array, ""]
    shape: ConvShape

    @classmethod
    def of(
        cls,
        shape: ConvShape,
        location_prior: float = 1e-75,
        feature_prior: float = 0.25,
        noise: float = 1e-100,
        convention: str = "exact",
    ) -> ConvOR:
        """Model with these probabilities of a location, of a feature's pixel, and of a flipped pixel.

        Raises InputError for a probability outside (0, 1), noise above 1/2, an unknown convention, and sizes that do
        not fit.
        """
        shape = ConvShape(*map(int, shape)).check()
        if convention not in CONVENTIONS:
            raise InputError(f"there is no convention {convention[:40]!r}; choose one of {', '.join(CONVENTIONS)}")
        if not noise <= 0.5:
            raise InputError(f"noise is {noise:g}; give a probability of at most 0.5")
        names = ("location_prior", "feature_prior", "noise")
        logits = [_logit(n, p) for n, p in zip(names, (location_prior, feature_prior, noise), strict=True)]
        copies = 1 if convention == "exact" else shape.feature_height * shape.feature_width
        return cls(logits[0], logits[1], -logits[2], float(copies), shape)

    @property
    def n(self) -> int:
        """Number of variables: locations, features and pixels."""
        return sum(self.shape.sizes)

    @property
    def card(self) -> tuple[int, ...]:
        """Number of states of each variable."""
        return (2,) * self.n

    @property
    def space(self) -> Space:
        """Two-state variables."""
        return Space.binary_of(self.n)

    def split(self, x: Int8[Array, "... n"]) -> tuple[Array, Array, Array]:
        """(S [..., images, features, h, w], W [..., channels, features, fh, fw], X [..., images, channels, H, W])."""
        s, w, _ = self.shape.sizes
        lead = x.shape[:-1]
        parts = x[..., :s], x[..., s : s + w], x[..., s + w :]
        shapes = self.shape.s, self.shape.w, self.shape.x
        return tuple(part.reshape(*lead, *shape) for part, shape in zip(parts, shapes, strict=True))  # type: ignore

    def join(self, locations, features, images) -> Int8[Array, " n"]:
        """x = (S, W, X), int8; the inverse of `split` for one configuration."""
        flat = [jnp.asarray(part, jnp.int8).reshape(-1) for part in (locations, features, images)]
        return jnp.concatenate(flat)

    def log_weight(self, x: Int8[Array, " n"]) -> Float[Array, ""]:
        """The unnormalised log-probability of a configuration."""
        s, w, pixels = self.split(x)
        wrong = (pixels != or_convolution(s, w)).sum()
        prior = self.location_copies * self.location_logit * s.sum() + self.feature_logit * w.sum()
        return prior - self.noise_logit * wrong

    def log_odds_of_pixels(self, locations, features) -> Float[Array, "n c height width"]:
        """Log-odds of every pixel of X to be on, given the features and locations."""
        return self.noise_logit * (2.0 * or_convolution(locations, features) - 1.0)

    def local_field(self, x: Int8[Array, " n"]) -> Float[Array, " n"]:
        """Log-odds of x_i = 1 given the rest, for all i; exact, since a pixel meets no S or W twice.

        Turning an S or W on changes the pixels that nothing else explains: those with no pair of S and W on if it is
        off, those with one if it is on.
        """
        s, w, pixels = self.split(x)
        s, w = s.astype(jnp.float32), w.astype(jnp.float32)
        count = explanations(s, w)
        gain = self.noise_logit * (2.0 * pixels - 1.0)
        bare, alone = gain * (count == 0), gain * (count == 1)
        location = jnp.where(s > 0, at_locations(alone, w), at_locations(bare, w))
        feature = jnp.where(w > 0, at_features(alone, s), at_features(bare, s))
        image = self.noise_logit * jnp.where(count > 0, 1.0, -1.0)
        location = location + self.location_copies * self.location_logit
        return jnp.concatenate([a.reshape(-1) for a in (location, feature + self.feature_logit, image)])

    def conditional_logits(self, x: Int8[Array, " n"]) -> Float[Array, "n 2"]:
        """log p(x_i = k given the rest), but for a constant of each i."""
        return binary_logits(self.local_field(x))


def explanations(s: Float[Array, "n f h w"], w: Float[Array, "c f a b"]) -> Float[Array, "n c height width"]:
    """How many pairs of a location and a feature's pixel turn each pixel on."""
    rows, columns = w.shape[2] - 1, w.shape[3] - 1
    kernel = w[:, :, ::-1, ::-1]
    return lax.conv_general_dilated(s, kernel, (1, 1), ((rows, rows), (columns, columns)))


def at_locations(field: Float[Array, "n c height width"], w: Float[Array, "c f a b"]) -> Float[Array, "n f h w"]:
    """Sum of a pixel field over the pixels that a feature has on, for every place of it."""
    return lax.conv_general_dilated(field, w.swapaxes(0, 1), (1, 1), "VALID")


def at_features(field: Float[Array, "n c height width"], s: Float[Array, "n f h w"]) -> Float[Array, "c f a b"]:
    """Sum of a pixel field over the places that a feature is at, for every pixel of it."""
    return lax.conv_general_dilated(field.swapaxes(0, 1), s.swapaxes(0, 1), (1, 1), "VALID")


def or_convolution(locations, features) -> Int8[Array, "n c height width"]:
    """The images that features at locations make: a pixel is on where any of them has it on."""
    s, w = jnp.asarray(locations, jnp.float32), jnp.asarray(features, jnp.float32)
    return (explanations(s, w) > 0.5).astype(jnp.int8)


def clamp(
    model: ConvOR,
    images: Int[np.ndarray, "n c height width"] | None = None,
    locations: Int[np.ndarray, "n f h w"] | None = None,
    features: Int[np.ndarray, "c f a b"] | None = None,
    seen: Bool[np.ndarray, "n c height width"] | None = None,
) -> Evidence:
    """Evidence of what is known: entries of 0 and 1 are clamped, those of -1 are free; None leaves a part free.

    `seen` says which pixels of the images are clamped. Raises InputError where a shape does not fit the model, and
    for an entry that is none of -1, 0 and 1.
    """
    masks, values, shapes = [], [], model.shape
    known = _entries("images", images, shapes.x)
    if seen is not None:
        known = np.where(_entries("seen pixels", np.asarray(seen, np.int8), shapes.x) > 0, known, -1)
    for part in (_entries("locations", locations, shapes.s), _entries("features", features, shapes.w), known):
        masks.append((part >= 0).reshape(-1))
        values.append(np.maximum(part, 0).astype(np.int8).reshape(-1))
    return Evidence(np.concatenate(masks), np.concatenate(values))


def _entries(name: str, part, shape: tuple[int, ...]) -> Int8[np.ndarray, "..."]:
    """The part, all -1 where there is none."""
    part = np.full(shape, -1) if part is None else np.asarray(part)
    if part.shape != shape:
        raise InputError(f"the {name} have shape {part.shape}; this model's are {shape}")
    if not np.isin(part, (-1, 0, 1)).all():
        raise InputError(f"the {name} hold a value besides -1, 0 and 1; give 0 or 1, or -1 for what is not known")
    return part.astype(np.int8)


def _logit(name: str, p: Any) -> float:
    if not SMALLEST <= float(p) <= LARGEST:
        raise InputError(f"{name} is {float(p):g}; give a probability from {SMALLEST:g} to {LARGEST:g}")
    return float(np.log(p) - np.log1p(-p))


__all__ = [
    "CONVENTIONS",
    "CONV_PARAMS",
    "ConvOR",
    "ConvShape",
    "at_features",
    "at_locations",
    "clamp",
    "explanations",
    "or_convolution",
]

"""Binary images to be taken apart: `images` of an archive, as they are, or pictures, black and white."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from jaxtyping import Int8

from pmpviz.io.datasets.uploads import dataset_from_images
from pmpviz.io.npz import unpack
from pmpviz.types import InputError

MOST_IMAGES, MOST_PIXELS = 10_000, 1 << 22
NAMES = ("X", "x", "images")

Images = Int8[np.ndarray, "n c height width"]


def images_of_npz(data: bytes, name: str, feature: tuple[int, int]) -> Images:
    """The array X, x or images of an .npz archive, else its only one: [N, H, W] or [N, channels, H, W] of 0 and 1.

    Raises InputError with one sentence for what is empty, holds other values, is smaller than a feature, or too large.
    """
    arrays = unpack(data, name)
    held = next((arrays[known] for known in NAMES if known in arrays), None)
    if held is None and len(arrays) == 1:
        held = next(iter(arrays.values()))
    if held is None:
        names = ", ".join(sorted(arrays))[:80] or "nothing"
        raise InputError(f"{name} holds {names}; give the images the name X")
    return check_images(held, name, feature)


def images_of_pictures(files: Iterable[tuple[str, bytes]], feature: tuple[int, int]) -> Images:
    """PNG, JPEG, BMP or GIF pictures of one size, at least two; a pixel is on above half of the brightness."""
    dataset = dataset_from_images(files)
    return check_images(dataset.x.reshape(len(dataset.x), *dataset.shape), "the upload", feature)


def check_images(images: np.ndarray, name: str, feature: tuple[int, int]) -> Images:
    """Images int8 [N, channels, H, W]; raises InputError with the size or the values that would do."""
    wanted = f"N x H x W images of at least {feature[0]} x {feature[1]} pixels"
    if images.ndim not in (3, 4) or images.dtype.kind not in "iufb":
        raise InputError(f"{name} has {images.dtype} of shape {images.shape}; give {wanted}")
    if not images.size:
        raise InputError(f"{name} is empty, its shape is {images.shape}; give {wanted}")
    if images.shape[0] > MOST_IMAGES or images.size > MOST_PIXELS:
        most = min(MOST_IMAGES, MOST_PIXELS // (images.size // len(images)))
        remedy = f"give at most {most:,} of them" if most else f"give images of at most {MOST_PIXELS:,} pixels"
        raise InputError(f"{name} has {len(images):,} images of {images.shape[1:]}; {remedy}")
    height, width = images.shape[-2:]
    if height < feature[0] or width < feature[1]:
        raise InputError(
            f"{name} has images of {height} x {width} pixels, smaller than the features; give images of at least "
            f"{feature[0]} x {feature[1]}, or features of at most {height} x {width}"
        )
    other = images[~((images == 0) | (images == 1))]
    if other.size:
        raise InputError(f"{name} holds the value {other.flat[0]:.6g}; give pixels that are 0 or 1")
    return images.astype(np.int8).reshape(len(images), -1, height, width)


__all__ = ["check_images", "images_of_npz", "images_of_pictures"]

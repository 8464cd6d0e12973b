"""A person's own images: arrays in an archive, or pictures. Sizes are checked before anything is decoded."""

from __future__ import annotations

import io
import itertools
import math
import os
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from jaxtyping import Float, Int8

from pmpviz.io.datasets.dataset import MAX_IMAGES, MAX_PIXELS, Dataset
from pmpviz.io.files import check_size, read_bytes
from pmpviz.io.npz import unpack
from pmpviz.types import InputError

FORMATS = ("PNG", "JPEG", "BMP", "GIF")
SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif")
MAX_IMAGE_BYTES = 1 << 24


def dataset_from_npz(data: bytes, name: str = "the archive") -> Dataset:
    """The images of an .npz archive: the array `x`, else `images`, else the only one; `labels` or `y` beside it.

    [N, H, W], or [N, D]: squares where D is a square, else rows. 0 and 1 are taken as they are; of anything else a
    pixel is on above half of the range found, which `note` says. Raises InputError for what is no such thing.
    """
    arrays = unpack(data, name)
    labels = arrays.pop("labels", arrays.pop("y", None))
    images = _chosen(arrays, name)
    if images.ndim not in (2, 3) or images.dtype.kind not in "iufb":
        raise InputError(f"{name} has {images.dtype} of shape {images.shape}; give numbers, N x H x W or N x D")
    _check_count(len(images), name)
    pixels = math.prod(images.shape[1:])
    side = math.isqrt(pixels)
    height, width = images.shape[1:] if images.ndim == 3 else (side, side) if side * side == pixels else (1, pixels)
    _check_pixels(height, width, name)
    x, note = _binary(images.reshape(len(images), pixels), name)
    return Dataset(x, (height, width), None if labels is None else _labels(labels, len(x), name), name, note)


def _chosen(arrays: dict[str, np.ndarray], name: str) -> np.ndarray:
    for key in ("x", "images"):
        if key in arrays:
            return arrays[key]
    if len(arrays) == 1:
        return next(iter(arrays.values()))
    held = ", ".join(sorted(arrays))[:80] or "nothing"
    raise InputError(f"{name} holds {held}; give the images the name x or images")


def _labels(labels: np.ndarray, count: int, name: str) -> np.ndarray:
    limit = np.iinfo(np.int32)
    ok = labels.shape == (count,) and labels.dtype.kind in "iu"
    if not ok or labels.min() < limit.min or labels.max() > limit.max:
        raise InputError(f"{name} has labels of {labels.dtype} and shape {labels.shape}; give {count} whole numbers")
    return labels.astype(np.int32)


def _binary(values: np.ndarray, name: str) -> tuple[Int8[np.ndarray, "n d"], str]:
    """(0 and 1, what was done)."""
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise InputError(f"{name} holds a pixel that is NaN or infinite; give finite numbers")
    if ((values == 0) | (values == 1)).all():
        return values.astype(np.int8), ""
    low, high = float(values.min()), float(values.max())
    if low == high:
        raise InputError(f"every pixel of {name} is {low:g}; give images of at least two values")
    half = low / 2 + high / 2
    return (values > half).astype(np.int8), f"on above {half:g}, half of the range {low:g} to {high:g}"


def _check_count(count: int, name: str) -> None:
    if not 2 <= count <= MAX_IMAGES:
        raise InputError(f"{name} has {count} image{'s' * (count != 1)}; give 2 to {MAX_IMAGES}")


def _check_pixels(height: int, width: int, name: str) -> None:
    if not 1 <= height * width <= MAX_PIXELS:
        raise InputError(
            f"{name} has images of {height} x {width} pixels; give 1 to {MAX_PIXELS} pixels, such as 64 x 64"
        )


def dataset_from_images(files: Iterable[tuple[str, bytes]], name: str = "") -> Dataset:
    """PNG, JPEG, BMP or GIF pictures, all of one size, in the order given; the first frame where there are more.

    They are made grey, on white where they are transparent; a pixel is on above half of the brightness.
    Raises InputError for what is no picture, too large, of another size, or fewer than two.
    """
    pictures: list[np.ndarray] = []
    first = ""
    for file, data in itertools.islice(files, MAX_IMAGES + 1):
        picture = _picture(data, file)
        first = first or file
        if pictures and picture.shape != pictures[0].shape:
            here, there = (" x ".join(map(str, p.shape)) for p in (pictures[0], picture))
            raise InputError(f"{first[:80]} has {here} pixels but {file[:80]} has {there}; give images of one size")
        pictures.append(picture)
    _check_count(len(pictures), name or "the upload")
    x = np.stack(pictures)
    note = "on above half of the brightness"
    return Dataset(x.reshape(len(x), -1), x.shape[1:], None, name or f"{len(x)} images", note)


def dataset_from_folder(path: str | Path) -> Dataset:
    """The pictures of a folder in the order of their names; folders within it are left out.

    Raises InputError as `dataset_from_images`, and where there is no such folder or no picture in it.
    """
    path = Path(path)
    shown = repr(str(path)[:200])
    try:
        names = sorted(_pictures(path))
    except (OSError, ValueError) as error:
        raise InputError(f"{shown} cannot be read as a folder ({getattr(error, 'strerror', error)})") from None
    if not names:
        raise InputError(f"{shown} holds no images; put files ending in {', '.join(SUFFIXES)} there")
    _check_count(len(names), shown)
    return dataset_from_images(
        ((name, read_bytes(path / name, MAX_IMAGE_BYTES)) for name in names), path.resolve().name
    )


def _pictures(path: Path) -> Iterator[str]:
    with os.scandir(path) as entries:
        for entry in entries:
            if _is_picture(entry.name) and entry.is_file():
                yield entry.name


def _is_picture(name: str) -> bool:
    return name.lower().endswith(SUFFIXES) and not name.startswith(".")


def unzipped(data: bytes, name: str = "the archive") -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of the pictures of a .zip archive in the order of their names, those of its folders too.

    Raises InputError where the archive is damaged, locked or too large, or has no picture.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = sorted(archive.infolist(), key=lambda member: member.filename)
            members = [member for member in members if _is_picture(Path(member.filename).name)]
            _check_members(members, name)
            for member in members:
                yield member.filename, archive.read(member)
    except Exception as error:  # A damaged archive makes zipfile raise nearly anything.
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name[:80]} is damaged or no .zip archive; save it again") from None


def _check_members(members: list[zipfile.ZipInfo], name: str) -> None:
    if not members:
        raise InputError(f"{name[:80]} holds no images; put files ending in {', '.join(SUFFIXES)} there")
    if any(member.flag_bits & 1 for member in members):
        raise InputError(f"{name[:80]} is locked with a password; save it without one")
    _check_count(len(members), name[:80])
    check_size(sum(member.file_size for member in members), f"{name[:80]}, unpacked,")
    for member in members:
        check_size(member.file_size, member.filename[:80], MAX_IMAGE_BYTES)


def _picture(data: bytes, name: str) -> Int8[np.ndarray, "height width"]:
    """0 and 1 of one picture; its size is checked by its header, before a pixel is decoded."""
    from PIL import Image

    name = name[:80]
    check_size(len(data), name, MAX_IMAGE_BYTES)
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            _check_pixels(image.height, image.width, name)
            return (_grey(image) > 0.5).astype(np.int8)
    except Image.DecompressionBombError:
        raise InputError(f"{name} has far too many pixels; give at most {MAX_PIXELS}") from None
    except Exception as error:  # A damaged picture makes Pillow raise nearly anything.
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} is damaged or no picture; give {', '.join(FORMATS)}") from None


def _grey(image) -> Float[np.ndarray, "height width"]:
    """Brightness from 0 to 1."""
    if image.mode.startswith("I"):  # 16 bits: Pillow would clip them to 8.
        return np.asarray(image, np.float64) / 65535
    if image.has_transparency_data:
        from PIL import Image

        colours = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), colours)
    return np.asarray(image.convert("L"), np.float64) / 255

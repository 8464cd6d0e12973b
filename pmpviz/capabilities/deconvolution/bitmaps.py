"""Small painted pictures as texts: pixels for plans and the painter, packed bits for links."""

from __future__ import annotations

import re

import numpy as np
from jaxtyping import Int8

from pmpviz.types import InputError

PAPER, INK, UNSET = "0", "1", "-"
FREE = -1


def bits_of(text: str, height: int, width: int) -> Int8[np.ndarray, "height width"]:
    """Pixels 0 and 1 of a text with one character a pixel; raises InputError for another length or character."""
    if len(text) != height * width or set(text) - {PAPER, INK}:
        raise InputError(f"a painted glyph has {height * width} pixels, each 0 or 1; paint it again")
    return np.array([int(pixel) for pixel in text], np.int8).reshape(height, width)


def clamped_of(text: str) -> Int8[np.ndarray, " pixels"]:
    """Pixels 0, 1 and -1 (free, written -) of a text."""
    return np.array([FREE if pixel == UNSET else int(pixel) for pixel in text], np.int8)


def text_of(pixels: np.ndarray) -> str:
    """The text of pixels 0, 1 and -1, row after row."""
    return "".join(UNSET if pixel < 0 else str(int(pixel)) for pixel in np.asarray(pixels).ravel())


def pack(text: str) -> str:
    """Hexadecimal digits of the bits of a text of 0 and 1, the first pixel highest."""
    return np.packbits([pixel == INK for pixel in text]).tobytes().hex()


def unpack(digits: str, size: int) -> str:
    """The text of `size` pixels that `pack` has packed; raises InputError where the digits do not fit."""
    if len(digits) != 2 * -(-size // 8) or not re.fullmatch(r"[0-9a-f]*", digits):
        raise InputError(f"{digits[:20]!r} are not the packed bits of {size} pixels")
    bits = np.unpackbits(np.frombuffer(bytes.fromhex(digits), np.uint8))[:size]
    return "".join(INK if bit else PAPER for bit in bits)


def pack_clamped(text: str) -> str:
    """Two packed planes, which pixels are set and which are ink, with a dot between."""
    known = "".join(PAPER if pixel == UNSET else INK for pixel in text)
    return f"{pack(known)}.{pack(text)}"


def unpack_clamped(digits: str, size: int) -> str:
    """The inverse of `pack_clamped`; raises InputError."""
    known, _, ink = digits.partition(".")
    planes = zip(unpack(known, size), unpack(ink, size), strict=True)
    return "".join(pixel if is_known == INK else UNSET for is_known, pixel in planes)


__all__ = [
    "FREE",
    "INK",
    "PAPER",
    "UNSET",
    "bits_of",
    "clamped_of",
    "pack",
    "pack_clamped",
    "text_of",
    "unpack",
    "unpack_clamped",
]

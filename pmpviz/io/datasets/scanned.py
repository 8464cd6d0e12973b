"""Scanned digits: scikit-learn's small ones, MNIST, and the contours of MNIST's."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int8

from pmpviz.io.datasets.dataset import Dataset
from pmpviz.io.datasets.mnist import PARTS, load_mnist
from pmpviz.io.datasets.source import DatasetSource, Progress, Values, count_param, picked
from pmpviz.types import Param

DIGITS_LABELS = tuple(map(str, range(10)))
_PART = Param(
    "part", "Part", 0, 0, "auto", "choice", "auto: the training part where it is there, else the test part.", "", PARTS
)


def _first(most: int) -> Param:
    return count_param("The first so many with the chosen labels; 0: all.", 0, 0, most)


def _digits(values: Values, progress: Progress | None = None) -> Dataset:
    from sklearn.datasets import load_digits  # A second of imports that nobody else needs.

    found, threshold = load_digits(), values["threshold"]
    x = (np.asarray(found.data) >= threshold).astype(np.int8)
    labels = np.asarray(found.target, np.int32)
    return picked(Dataset(x, (8, 8), labels, "digits 8 x 8", f"on from {threshold} of 16 on"), values)


def _mnist(values: Values, progress: Progress | None = None) -> Dataset:
    scans = load_mnist(values["part"], values["folder"], progress)
    x = (scans.images > 127).astype(np.int8).reshape(len(scans.images), -1)
    return picked(Dataset(x, (28, 28), scans.labels, f"MNIST ({scans.part})", "on above 127 of 255"), values)


def zero_contour(x: Int8[np.ndarray, "n height width"]) -> Int8[np.ndarray, "n height+2 width+2"]:
    """1 exactly where a picture dilated by the 3 x 3 cross is on but the picture itself is not, in a border of zeros.

    The dilation ends at the picture's own edge, so the border stays empty. It is the preprocessing of Lazaro-Gredilla,
    Dedieu and George 2021, whose arrays store 0 on the contour and 1 elsewhere.
    """
    dilated = x.copy()
    dilated[:, 1:] |= x[:, :-1]
    dilated[:, :-1] |= x[:, 1:]
    dilated[:, :, 1:] |= x[:, :, :-1]
    dilated[:, :, :-1] |= x[:, :, 1:]
    return np.pad(dilated & ~x, ((0, 0), (1, 1), (1, 1)))


def _contours(values: Values, progress: Progress | None = None) -> Dataset:
    digits = _mnist(values, progress)
    x = zero_contour(digits.images)
    name = digits.name.replace("MNIST", "MNIST contours", 1)
    return Dataset(x.reshape(len(x), -1), x.shape[1:], digits.labels, name, "contours of digits on above 127 of 255")


DIGITS = DatasetSource(
    "digits",
    "Digits 8 x 8",
    "1,797 handwritten digits of 8 x 8 pixels, part of scikit-learn (UCI optical recognition).",
    (Param("threshold", "Threshold", 1, 16, 8, "int", "A pixel is on from this grey value of 16 on."), _first(1797)),
    DIGITS_LABELS,
    _digits,
)
MNIST = DatasetSource(
    "mnist",
    "MNIST",
    "Handwritten digits of 28 x 28 pixels, on above one half; from files where they are there, else from OpenML.",
    (_PART, _first(70_000)),
    DIGITS_LABELS,
    _mnist,
    has_folder=True,
)
CONTOURS = DatasetSource(
    "contours",
    "MNIST contours",
    "The pixels just outside of MNIST's digits, 30 x 30 (Lazaro-Gredilla, Dedieu and George 2021).",
    (_PART, _first(70_000)),
    DIGITS_LABELS,
    _contours,
    has_folder=True,
)

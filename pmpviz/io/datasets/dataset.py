"""Binary images to learn from."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Int8, Int32

from pmpviz.types import InputError

# What may come in from outside.
MAX_IMAGES = 200_000
MAX_PIXELS = 4096


@dataclass(frozen=True, eq=False)
class Dataset:
    """N binary images of height x width = D pixels, row after row: `x` int8 [N, D] of 0 and 1, `labels` int32 [N].

    `note` says what was done to the pixels on the way in. Raises InputError where the arrays don't fit together.
    """

    x: Int8[np.ndarray, "n d"]
    shape: tuple[int, int]
    labels: Int32[np.ndarray, " n"] | None
    name: str
    note: str = ""

    def __post_init__(self):
        height, width = self.shape
        if self.x.ndim != 2 or self.x.shape[1] != height * width or 0 in self.x.shape:
            raise InputError(f"{self.name} has pixels of shape {self.x.shape}; give images x {height * width}")
        if self.x.dtype != np.int8 or self.x.min() < 0 or self.x.max() > 1:
            raise InputError(f"{self.name} has pixels that are not 0 or 1; give int8 of these")
        if self.labels is not None and (self.labels.shape != (len(self.x),) or self.labels.dtype != np.int32):
            raise InputError(f"{self.name} has labels of shape {self.labels.shape}; give int32, one for each image")

    def __len__(self) -> int:
        return len(self.x)

    @property
    def images(self) -> Int8[np.ndarray, "n height width"]:
        """The pixels as pictures."""
        return self.x.reshape(-1, *self.shape)

    def only(self, labels: Iterable[int]) -> Dataset:
        """The images with one of these labels, in their order; raises InputError for a label that none has."""
        if self.labels is None:
            raise InputError(f"{self.name} has no labels; leave out the choice of labels")
        there = np.unique(self.labels).tolist()
        wanted = [operator.index(label) for label in labels]
        for label in wanted:
            if label not in there:
                raise InputError(f"no image of {self.name} has the label {label}; choose from {_listed(there)}")
        if not wanted:
            raise InputError(f"no label of {self.name} is chosen; choose from {_listed(there)}")
        chosen = ", ".join(str(label) for label in sorted(set(wanted)))
        return self._part(np.flatnonzero(np.isin(self.labels, wanted)), f"{self.name}, labels {chosen}")

    def take(self, count: int) -> Dataset:
        """The first `count` images, or all where there are fewer; raises InputError for a count below 1."""
        if count < 1:
            raise InputError(f"count is {count}; give a whole number from 1 on")
        return self if count >= len(self) else self._part(np.arange(count), f"{self.name}, first {count}")

    def split(self, test_share: float, seed: int) -> tuple[Dataset, Dataset]:
        """(training, test): a random share of the images is put aside, at least one on each side, in their order.

        Raises InputError for a share outside 0 to 1 (both excluded), a negative seed, or fewer than two images.
        """
        if not 0 < test_share < 1:
            raise InputError(f"test_share is {test_share}; give a number between 0 and 1")
        if seed < 0:
            raise InputError(f"seed is {seed}; give a whole number from 0 on")
        if len(self) < 2:
            raise InputError(f"{self.name} has one image; a split needs two")
        tests = min(max(round(len(self) * test_share), 1), len(self) - 1)
        order = np.random.Generator(np.random.PCG64(seed)).permutation(len(self))
        train, test = np.sort(order[tests:]), np.sort(order[:tests])
        return self._part(train, f"{self.name}, training part"), self._part(test, f"{self.name}, test part")

    def _part(self, places: np.ndarray, name: str) -> Dataset:
        labels = None if self.labels is None else self.labels[places]
        return dataclasses.replace(self, x=self.x[places], labels=labels, name=name)


def _listed(labels: list[int]) -> str:
    return ", ".join(map(str, labels[:20])) + (", ..." if len(labels) > 20 else "")

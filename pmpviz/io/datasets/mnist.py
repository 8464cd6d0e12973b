"""MNIST: where its files are, and whether they belong together."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int32, UInt8

from pmpviz.io.datasets import openml
from pmpviz.io.datasets.idx import idx_bytes, parse_idx
from pmpviz.io.datasets.source import Progress
from pmpviz.io.files import cache_folder, made_folder, read_bytes, write_bytes
from pmpviz.types import InputError

PARTS = ("auto", "train", "test", "all")
SIDE = 28
_PREFIX = {"train": "train", "test": "t10k"}


@dataclass(frozen=True, eq=False)
class Scans:
    """Grey digits, 0 to 255, and which of them: `train`, `test` or `all`."""

    images: UInt8[np.ndarray, "n 28 28"]
    labels: Int32[np.ndarray, " n"]
    part: str


def load_mnist(part: str, folder: str = "", progress: Progress | None = None) -> Scans:
    """MNIST from `folder`; without one from $PMPVIZ_DATA/mnist or the cache, else downloaded into the cache.

    `part` is train, test, all (training first), or auto: train where it is there, else test.
    Raises InputError with what to do where the files are missing or damaged.
    """
    if folder:
        return _read(part, _chosen(part, Path(folder)), Path(folder))
    data, cache = os.environ.get("PMPVIZ_DATA"), cache_folder() / "mnist"
    for place in [Path(data) / "mnist", cache] if data else [cache]:
        if all(_files(place, name) for name in _wanted(part, place)):
            return _read(part, _wanted(part, place), place)
    made_folder(cache, "set PMPVIZ_CACHE to a folder")
    _keep(cache, *openml.download(progress))
    return _read(part, _chosen(part, cache), cache)


def _keep(folder: Path, images: np.ndarray, labels: np.ndarray) -> None:
    """Write what was downloaded as the four files, so that it is read like any other."""
    for name, part in (("train", slice(None, 60_000)), ("test", slice(60_000, None))):
        for stem, array in zip(_stems(name), (images, labels), strict=True):
            write_bytes(folder / f"{stem}.gz", idx_bytes(array[part]))


def _wanted(part: str, folder: Path) -> tuple[str, ...]:
    if part == "all":
        return ("train", "test")
    if part == "auto":
        return ("test",) if not _files(folder, "train") and _files(folder, "test") else ("train",)
    return (part,)


def _chosen(part: str, folder: Path) -> tuple[str, ...]:
    """The parts to read from a folder that was named; raises InputError where they aren't in it."""
    wanted = _wanted(part, folder)
    for name in wanted:
        if not _files(folder, name):
            files = " and ".join(_stems(name))
            raise InputError(f"{str(folder)[:200]!r} lacks the files {files} (.gz or not); put them there")
    return wanted


def _stems(name: str) -> tuple[str, str]:
    return f"{_PREFIX[name]}-images-idx3-ubyte", f"{_PREFIX[name]}-labels-idx1-ubyte"


def _files(folder: Path, name: str) -> tuple[Path, Path] | None:
    """(images, labels) of a part, or None; some tools write a dot in place of the last dash but one."""
    found = []
    for stem in _stems(name):
        spellings = [s + end for s in (stem, stem.replace("-idx", ".idx")) for end in ("", ".gz")]
        there = [folder / spelling for spelling in spellings if _is_file(folder / spelling)]
        if not there:
            return None
        found.append(there[0])
    return found[0], found[1]


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _read(part: str, names: tuple[str, ...], folder: Path) -> Scans:
    pairs = [_read_pair(*found) for name in names if (found := _files(folder, name))]
    images, labels = (np.concatenate(arrays) for arrays in zip(*pairs, strict=True))
    return Scans(images, labels, "all" if part == "all" else names[0])


def _read_pair(images_path: Path, labels_path: Path) -> tuple[np.ndarray, np.ndarray]:
    images = parse_idx(read_bytes(images_path), images_path.name)
    labels = parse_idx(read_bytes(labels_path), labels_path.name)
    if images.shape[1:] != (SIDE, SIDE) or not len(images):
        raise InputError(f"{images_path.name} holds {_text(images.shape)} bytes; give images x {SIDE} x {SIDE}")
    if labels.shape != images.shape[:1]:
        shapes = f"{len(images)} images, but {labels_path.name} has {_text(labels.shape)} labels"
        raise InputError(f"{images_path.name} has {shapes}; give files that belong together")
    if labels.max() > 9:
        raise InputError(f"{labels_path.name} holds the label {labels.max()}; give digits from 0 to 9")
    return images, labels.astype(np.int32)


def _text(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape))

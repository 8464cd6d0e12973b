"""Binary images to learn from: `parse_dataset("mnist:labels=0,part=test")`, or a person's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pmpviz.io.datasets.dataset import MAX_IMAGES, MAX_PIXELS, Dataset
from pmpviz.io.datasets.drawn import BARS, GLYPHS, STROKES
from pmpviz.io.datasets.scanned import CONTOURS, DIGITS, MNIST, zero_contour
from pmpviz.io.datasets.source import DatasetSource, Progress, Values
from pmpviz.io.datasets.uploads import dataset_from_folder, dataset_from_images, dataset_from_npz, unzipped
from pmpviz.io.files import read_bytes
from pmpviz.types import InputError

MAX_TEXT = 1000

DATASETS: tuple[DatasetSource, ...] = (DIGITS, STROKES, BARS, GLYPHS, MNIST, CONTOURS)


def source_of(id: str) -> DatasetSource:
    """The source of this id; raises InputError naming those that exist."""
    for source in DATASETS:
        if source.id == id:
            return source
    known = ", ".join(source.id for source in DATASETS)
    raise InputError(f"there is no dataset {id[:40]!r}; choose one of {known}, or an .npz, .zip or folder of images")


def parse_dataset_text(text: str) -> tuple[DatasetSource, Values]:
    """(source, all its values) of `id:name=value,...`, nothing loaded; raises InputError naming the choices.

    Labels are joined by a plus: `digits:labels=0+8`. `bars:4x4` and `glyphs:12x12` give height x width.
    """
    if len(text) > MAX_TEXT:
        raise InputError(f"the dataset's text has {len(text)} characters; give at most {MAX_TEXT}")
    id, _, rest = text.partition(":")
    source = source_of(id.strip())
    return source, source.read(rest)


def parse_dataset(text: str, *, files: bool = True, progress: Progress | None = None) -> Dataset:
    """The dataset of a text as in `parse_dataset_text`, or of the path of an .npz, a .zip or a folder of images.

    `files=False` refuses paths, in `folder=` too: for text that a stranger may have written, such as a link.
    Raises InputError naming the choices.
    """
    known = text.partition(":")[0].strip() in {source.id for source in DATASETS}
    if files and not known and len(text) <= MAX_TEXT and _is_path(text.strip()):
        return _from_path(Path(text.strip()))
    source, values = parse_dataset_text(text)
    if values.get("folder") and not files:
        raise InputError(f"{source.id} names a folder, which cannot be done here; leave it out")
    return source.load(progress=progress, **values)


def _is_path(text: str) -> bool:
    try:
        named = "/" in text or "\\" in text or text.lower().endswith((".npz", ".zip"))
        return named or (text != "" and Path(text).exists())
    except (OSError, ValueError):
        return False


def _from_path(path: Path) -> Dataset:
    if path.suffix.lower() == ".npz":
        return dataset_from_npz(read_bytes(path), path.name)
    if path.suffix.lower() == ".zip":
        return dataset_from_images(unzipped(read_bytes(path), path.name), path.name)
    return dataset_from_folder(path)


def dataset_text(source: DatasetSource | str, **values: Any) -> str:
    """The shortest text for these values, which `parse_dataset_text` reads back: equal datasets have equal texts.

    Raises InputError as `DatasetSource.load`, and for a folder whose path has a comma.
    """
    return (source_of(source) if isinstance(source, str) else source).text(values)


__all__ = [
    "DATASETS",
    "MAX_IMAGES",
    "MAX_PIXELS",
    "Dataset",
    "DatasetSource",
    "Progress",
    "dataset_from_folder",
    "dataset_from_images",
    "dataset_from_npz",
    "dataset_text",
    "parse_dataset",
    "parse_dataset_text",
    "source_of",
    "unzipped",
    "zero_contour",
]

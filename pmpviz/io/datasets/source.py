"""Where a dataset comes from: its knobs, how they are read and checked, and its text."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pmpviz.io.datasets.dataset import Dataset
from pmpviz.types import InputError, Param

Values = dict[str, Any]
Progress = Callable[[float, str], None]


@dataclass(frozen=True)
class DatasetSource:
    """A family of datasets. The app's controls, the command line and the text are generated from `params`.

    Beside the knobs each takes `labels`: the places in `label_names` of those wanted, none for all; and, where
    `has_folder`, `folder`: the path of its files. `make` gets values that are complete and checked, and `progress`.
    """

    id: str
    label: str
    help: str
    params: tuple[Param, ...]
    label_names: tuple[str, ...]
    make: Callable[[Values, Progress | None], Dataset]
    has_folder: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """Everything that `load` takes by name."""
        return (*(p.name for p in self.params), "labels", *(("folder",) if self.has_folder else ()))

    @property
    def sized(self) -> bool:
        """Whether the text may say `4x4` in place of height and width."""
        return {"height", "width"} <= set(self.names)

    def load(self, *, progress: Progress | None = None, **values: Any) -> Dataset:
        """The dataset; knobs not given take their defaults; raises InputError for bad ones or files that lack.

        `progress(share, words)` is called now and then where something is downloaded.
        """
        return self.make(self.resolve(values), progress)

    def resolve(self, given: Mapping[str, Any]) -> Values:
        """All knobs, read and checked, `labels` as sorted places; raises InputError naming the choices."""
        for name in given:
            if name not in self.names:
                raise InputError(f"{self.id} has no parameter {name[:40]!r}; it has {', '.join(self.names)}")
        values = {p.name: p.parse(given[p.name]) if p.name in given else p.default for p in self.params}
        values["labels"] = self._labels(given.get("labels", ()))
        if self.has_folder:
            values["folder"] = str(given.get("folder") or "")
        return values

    def _labels(self, given: Any) -> tuple[int, ...]:
        # A plus that went through a link may come back as a blank.
        words = (
            re.split(r"[+\s]+", given.strip()) if isinstance(given, str) else np.ravel(() if given is None else given)
        )
        return tuple(sorted({self._label(str(word).strip()) for word in words}))

    def _label(self, text: str) -> int:
        if text in self.label_names:
            return self.label_names.index(text)
        if re.fullmatch("[0-9]{1,3}", text) and int(text) < len(self.label_names):
            return int(text)
        raise InputError(f"{self.id} has no label {text[:40]!r}; choose from {', '.join(self.label_names)}")

    def read(self, text: str) -> Values:
        """The values that `name=value,...` gives, all knobs complete; raises InputError naming the choices."""
        given: Values = {}
        for place, part in enumerate(text.split(",") if text.strip() else ()):
            for name, value in self._read_part(part.strip(), place).items():
                if name in given:
                    raise InputError(f"{name} is given twice; give it once")
                given[name] = value
        return self.resolve(given)

    def _read_part(self, part: str, place: int) -> Values:
        size = re.fullmatch(r"([0-9]{1,9})x([0-9]{1,9})", part.lower())
        if self.sized and place == 0 and size:
            return {"height": size[1], "width": size[2]}
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            ways = f"takes {', '.join(self.names)}" + (", or a size such as 4x4 first" if self.sized else "")
            raise InputError(f"{part[:40]!r} is no name=value pair; {self.id} {ways}")
        return {name: value}

    def text(self, given: Mapping[str, Any]) -> str:
        """The shortest text for these values: those that differ from the default; `read` gives them back.

        Raises InputError as `resolve`, and for a folder whose path has a comma, which the text cannot hold.
        """
        values = self.resolve(given)
        parts = [f"{values['height']}x{values['width']}"] if self.sized else []
        known = ("height", "width") if self.sized else ()
        changed = [p for p in self.params if p.name not in known and values[p.name] != p.default]
        parts += [f"{p.name}={values[p.name]}" for p in changed]
        if values["labels"]:
            parts.append("labels=" + "+".join(self.label_names[label] for label in values["labels"]))
        if folder := values.get("folder"):
            if "," in folder or folder != folder.strip():
                raise InputError(f"the folder {folder[:80]!r} has a comma or outer blanks; rename it")
            parts.append(f"folder={folder}")
        return f"{self.id}:{','.join(parts)}" if parts else self.id


def count_param(what: str, default: int, low: int, high: int) -> Param:
    """How many images."""
    return Param("count", "Images", low, high, default, "int", what)


def seed_param(what: str) -> Param:
    """The seed that belongs to the dataset."""
    return Param("seed", "Data seed", 0, 2**31 - 1, 0, "int", what)


def picked(dataset: Dataset, values: Values) -> Dataset:
    """The wanted labels, of these the first `count` (0: all)."""
    if values["labels"]:
        dataset = dataset.only(values["labels"])
    return dataset.take(values["count"]) if values["count"] else dataset

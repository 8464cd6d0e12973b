"""The door for other people's algorithms: installed packages through entry points, single files by their paths.

A package names its classes in the entry-point groups `pmpviz.samplers`, `pmpviz.learners`, `pmpviz.oracles`,
`pmpviz.solvers` and `pmpviz.models` (there: `Builder`s). A file is named by the environment variable
`PMPVIZ_PLUGINS=path.py[:path2.py]`, by `--plugin path.py` at the command line and at the app's start, or by `add`.
What is found stands in the registries behind the program's own, marked "yours". Whatever is wrong with it leaves it
out with one sentence, which `troubles` gives, and stops nothing.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

from pmpviz.types import InputError

ENVIRONMENT, FLAG = "PMPVIZ_PLUGINS", "--plugin"
YOURS = " (yours)"
LONGEST = 200

T = TypeVar("T")


@dataclass
class Thing:
    """What a file or a package brings: where it is from, its name there, itself, and whether a registry knows it."""

    source: str
    name: str
    value: Any
    known: bool = False


_lock = threading.RLock()
_files: dict[str, list[Thing]] = {}
_packages: dict[str, list[Thing]] = {}
_troubles: list[str] = []
_paths: list[str] = []
_version = 0
_loading = False


def add(path: str | os.PathLike) -> None:
    """Bring the algorithms of a file; what is wrong with it is kept among the troubles."""
    global _version, _loading
    with _lock:
        full = os.path.abspath(os.path.expanduser(path))
        if full in _files:
            return
        _files[full], _loading = [], True
        try:
            _files[full] = _things_of(full)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            trouble(Path(full).name, _reason(error))
        finally:
            _loading = False
        _paths.append(full)
        _version += 1


def take(argv: Sequence[str]) -> list[str]:
    """The arguments without `--plugin PATH`, each of which is brought; raises InputError where the path is missing."""
    rest, words = [], iter(argv)
    for word in words:
        if word == FLAG or word.startswith(f"{FLAG}="):
            path = next(words, "") if word == FLAG else word[len(FLAG) + 1 :]
            if not path or path.startswith("-"):
                raise InputError(f"{FLAG} needs a file; give {FLAG} path.py")
            add(path)
        else:
            rest.append(word)
    return rest


def paths() -> tuple[str, ...]:
    """The files that were brought."""
    return tuple(_paths)


def file_of(entry: Any) -> str | None:
    """The file that brought an entry; None for the program's own and those of packages, which need no naming."""
    for path, things in _files.items():
        if any(thing.value is entry for thing in things):
            return path
    return None


def asked() -> bool:
    """Whether anything is there to be brought."""
    return bool(_paths or _troubles or os.environ.get(ENVIRONMENT) or _packaged())


@cache
def _packaged() -> bool:
    """Whether an installed package brings anything; read once, for each page that opens asks, of every package."""
    return any(name.startswith("pmpviz.") for name in importlib.metadata.entry_points().groups)


def trouble(source: str, reason: str) -> None:
    """Keep the sentence why something of this source is left out."""
    words = " ".join(f"{source} is left out: {reason}".split())
    if words not in _troubles:
        _troubles.append(words[:LONGEST])


def troubles() -> tuple[str, ...]:
    """One sentence for everything that was left out."""
    return tuple(_troubles)


def forget() -> None:
    """Give up all plug-ins of this process; those of the environment are found again when they are asked for."""
    global _version
    with _lock:
        for kept in (_files, _packages, _troubles, _paths):
            kept.clear()
        _packaged.cache_clear()
        _version += 1


def unknown() -> None:
    """A trouble for everything that no registry took, once all of them have looked."""
    for things in (*_files.values(), *_packages.values()):
        for thing in things:
            if not thing.known:
                trouble(thing.source, f"{thing.name} is no sampler, learner, oracle, solver or model builder")


def _reason(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, InputError):
        return str(error)
    return f"{type(error).__name__}: {error}".splitlines()[0]


def _things_of(path: str) -> list[Thing]:
    """The classes with a `spec` and the builders that a file defines."""
    name = re.sub(r"\W", "_", Path(path).stem) + "_" + hashlib.sha256(path.encode()).hexdigest()[:8]
    spec = importlib.util.spec_from_file_location(f"pmpviz_plugin_{name}", path)
    if spec is None or spec.loader is None or not path.endswith(".py"):
        raise InputError("it is no Python file; give one that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[module.__name__]
        raise
    own = {name: value for name, value in vars(module).items() if not name.startswith("_") and _is_one(value, module)}
    if not own:
        raise InputError("it holds no algorithm; give a class with a spec, or a model's Builder")
    return [Thing(Path(path).name, name, value) for name, value in own.items()]


def _is_one(value: Any, module: Any) -> bool:
    if isinstance(value, type):
        return value.__module__ == module.__name__ and getattr(value, "spec", None) is not None
    return dataclasses.is_dataclass(value) and callable(getattr(value, "make", None))


def _of_packages(group: str) -> list[Thing]:
    if group not in _packages:
        _packages[group] = []
        for point in importlib.metadata.entry_points(group=group):
            source = f"{point.name} of {point.dist.name if point.dist else point.value}"
            try:
                _packages[group].append(Thing(source, point.name, point.load()))
            except Exception as error:
                trouble(source, _reason(error))
    return _packages[group]


def _found(group: str) -> list[Thing]:
    """What a registry may look at: everything from files, and the packages' entries of its group."""
    for path in os.environ.get(ENVIRONMENT, "").split(os.pathsep):
        if path.strip():
            add(path.strip())
    return [thing for things in _files.values() for thing in things] + _of_packages(group)


class Registry(Sequence[T], Generic[T]):
    """Algorithms of one kind: the program's own, an explicit tuple, and behind them those that people bring.

    `accepts(thing)` says whether something is of this kind, `complaint(thing)` what is wrong with it, or None.
    """

    def __init__(
        self,
        group: str,
        own: Sequence[T],
        accepts: Callable[[Any], bool],
        complaint: Callable[[Any], str | None] = lambda thing: None,
    ):
        self.group, self.own = group, tuple(own)
        self._accepts, self._complaint = accepts, complaint
        self._yours: tuple[T, ...] = ()
        self._seen = -1
        self.ids = Ids(self)

    @property
    def yours(self) -> tuple[T, ...]:
        """What people have brought."""
        with _lock:
            if _loading:
                return self._yours
            things = _found(self.group)
            if self._seen != _version:
                self._yours, self._seen = (), _version
                for thing in things:
                    self._look(thing)
            return self._yours

    def _look(self, thing: Thing) -> None:
        try:
            if not self._accepts(thing.value):
                return
            thing.known = True
            taken = {spec_of(entry).id for entry in (*self.own, *self._yours)}
            reason = _general_complaint(thing.value, taken) or self._complaint(thing.value)
            if reason is None:
                self._yours += (_marked(thing.value),)
        except Exception as error:
            reason = _reason(error)
        if reason is not None:
            trouble(thing.source, f"{thing.name}: {reason}")

    def is_yours(self, entry: Any) -> bool:
        """Whether somebody has brought this entry."""
        return entry in self.yours

    def __len__(self) -> int:
        return len(self.own) + len(self.yours)

    def __iter__(self) -> Iterator[T]:
        yield from self.own  # What people bring is looked for where it is none of these.
        yield from self.yours

    @overload
    def __getitem__(self, place: int) -> T: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[T, ...]: ...

    def __getitem__(self, place):
        return (*self.own, *self.yours)[place]


class Ids(Sequence[str]):
    """The ids of a registry, in its order, as they are at the time: the choices of a knob."""

    def __init__(self, registry: Registry):
        self._registry = registry

    def __len__(self) -> int:
        return len(self._registry)

    def __getitem__(self, place):
        return tuple(spec_of(entry).id for entry in self._registry)[place]


def spec_of(entry: Any) -> Any:
    """What an entry says of itself: a class's spec; a builder says it itself."""
    return getattr(entry, "spec") if isinstance(entry, type) else entry  # noqa: B009


def _general_complaint(value: Any, taken: set[str]) -> str | None:
    spec = spec_of(value)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", str(spec.id)):
        return f"its id {str(spec.id)[:40]!r} is no word of small letters, digits and underscores"
    if spec.id in taken:
        return f"there is another {spec.id!r}; give it an id of its own"
    if isinstance(value, type):
        value()
    return None


def _marked(value: Any) -> Any:
    """The same entry, called yours; its `why_not` never raises."""
    spec = spec_of(value)
    if spec.label.endswith(YOURS):
        return value
    changes: dict[str, Any] = {"label": f"{spec.label}{YOURS}"}
    if getattr(spec, "why_not", None) is not None:
        changes["why_not"] = _guarded(spec.label, spec.why_not)
    spec = dataclasses.replace(spec, **changes)
    if not isinstance(value, type):
        return spec
    type.__setattr__(value, "spec", spec)
    return value


def _guarded(label: str, why_not: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    def guarded(target: Any) -> str | None:
        try:
            return why_not(target)
        except Exception as error:
            return f"{label} cannot say whether it runs on this model ({_reason(error)})"

    return guarded

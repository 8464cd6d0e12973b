"""Files in and out with errors in one sentence."""

from __future__ import annotations

import contextlib
import os
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from pmpviz.types import InputError

MAX_BYTES = 1 << 29


def cache_folder() -> Path:
    """Folder of what can be made or fetched again: in PMPVIZ_CACHE, else in the user's cache folder."""
    base = os.environ.get("PMPVIZ_CACHE") or os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "pmpviz"


def read_bytes(path: Path, most: int = MAX_BYTES) -> bytes:
    """All bytes of a file; raises InputError where it can't be read or has more than `most`."""
    try:
        if not path.exists():
            raise InputError(f"there is no file {str(path)[:200]!r}; give the path of an existing one")
        if not path.is_file():
            raise InputError(f"{str(path)[:200]!r} is not a file; give the path of one")
        check_size(path.stat().st_size, path.name, most)
        return path.read_bytes()
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(path)[:200]!r} cannot be read ({_reason(error)})") from None


def check_size(size: int, name: str, most: int = MAX_BYTES) -> None:
    """Raise InputError for more than `most` bytes."""
    if size > most:
        raise InputError(f"{name} has {size} bytes; give at most {most}")


def read_text(path: Path, most: int = MAX_BYTES) -> str:
    """The text of a file; raises InputError as `read_bytes`, and where it is not UTF-8."""
    return decode(read_bytes(path, most), path.name)


def decode(data: bytes, name: str) -> str:
    """UTF-8 text, a byte order mark left out; raises InputError where it is none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{name} is not a text: byte {error.start} is not UTF-8") from None


def check_writable(path: Path) -> None:
    """Raise InputError where `write_bytes` could not write this file: to be asked before long work."""
    try:
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(path.stat().st_mode):
                raise InputError(f"{str(path)[:200]!r} is not a file; give the path of one")
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part"):
            return
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{str(path)[:200]!r} cannot be written ({_reason(error)})") from None


def made_folder(folder: Path, remedy: str) -> Path:
    """The folder, made where it is not there; raises InputError with the remedy where nothing can be written in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except (OSError, ValueError) as error:
        raise InputError(f"nothing can be written in {str(folder)[:200]!r} ({_reason(error)}); {remedy}") from None


def check_outputs(read: Iterable[str | None], written: Iterable[str | None]) -> None:
    """Raise InputError where a file cannot be written, or is named twice: paths that are None are left out."""
    taken = {os.path.realpath(path) for path in read if path is not None}
    for path in written:
        if path is None:
            continue
        check_writable(Path(path))
        if os.path.realpath(path) in taken:
            raise InputError(f"{path[:80]!r} is named twice; give every file a path of its own")
        taken.add(os.path.realpath(path))


def write_bytes(path: Path, data: bytes) -> None:
    """Replace the file by `data` as a whole; raises InputError where it can't be written."""
    check_writable(path)
    part = None
    try:
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", suffix=".part", delete=False) as file:
            part = file.name
            file.write(data)
        os.replace(part, path)
    except (OSError, ValueError) as error:
        if part is not None and os.path.exists(part):
            os.unlink(part)
        raise InputError(f"{str(path)[:200]!r} cannot be written ({_reason(error)})") from None


def _reason(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__)[:100]

"""NumPy archives: models bit for bit, and samples. Never pickled; sizes are read before anything is allocated."""

from __future__ import annotations

import io
import lzma
import math
import tokenize
import zipfile
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import Int8
from numpy.lib import format as npy

from pmpviz.io.arrays import KINDS, Arrays, Model, from_arrays, to_arrays
from pmpviz.io.files import MAX_BYTES, check_size, read_bytes, write_bytes
from pmpviz.types import InputError

FORMAT, VERSION = "pmpviz-model", 1
# What a damaged archive makes zipfile and NumPy raise.
_DAMAGE = (
    OSError,
    ValueError,
    EOFError,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    RuntimeError,
    SyntaxError,
    AttributeError,
    MemoryError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)


def model_to_npz(model: Model) -> bytes:
    """The archive of a model: its arrays, `format`, `version` and `kind`."""
    kind, arrays = to_arrays(model)
    return _pack({"format": np.array(FORMAT), "version": np.array(VERSION), "kind": np.array(kind), **arrays})


def model_from_npz(data: bytes, name: str = "the archive") -> Model:
    """The model of an archive, equal bit for bit to the one that was saved; raises InputError naming what is wrong."""
    arrays = unpack(data, name)
    if str(arrays.pop("format", "")) != FORMAT:
        raise InputError(f"{name} is no saved model: its format is not {FORMAT!r}")
    if str(arrays.pop("version", "")) != str(VERSION):
        raise InputError(f"{name} has another version than {VERSION}; save it again with this program")
    kind = str(arrays.pop("kind", ""))
    if kind not in KINDS:
        raise InputError(f"{name} holds a model of kind {kind[:40]!r}; give one of {', '.join(KINDS)}")
    try:
        return from_arrays(kind, typed(kind, arrays))
    except InputError as error:
        raise InputError(f"{name}: {error}") from None


def typed(kind: str, arrays: Arrays) -> Arrays:
    """The arrays of a kind of model, all there, of the right types; raises InputError naming the one that isn't."""
    for name in arrays:
        if name not in KINDS[kind]:
            raise InputError(f"{name[:40]!r} is no array of a model of kind {kind}; remove it")
    for name, dtype in KINDS[kind].items():
        if name not in arrays:
            raise InputError(f"the array {name} is missing; a model of kind {kind} needs it")
        if arrays[name].dtype != np.dtype(dtype):
            raise InputError(f"the array {name} is {arrays[name].dtype}; give {np.dtype(dtype)}")
    return arrays


def samples_to_npz(x: Int8[np.ndarray, "chains n"]) -> bytes:
    """The archive of samples: `x`, int8 [chains, n]."""
    x = np.asarray(x, np.int8)
    if x.ndim != 2:
        raise InputError(f"samples have shape {x.shape}; give chains x variables")
    return _pack({"x": x})


def save_samples(path: str | Path, x: Int8[np.ndarray, "chains n"]) -> None:
    """Write `x`, int8 [chains, n], to exactly this path; raises InputError where it can't be written."""
    write_bytes(Path(path), samples_to_npz(x))


def load_samples(path: str | Path) -> Int8[np.ndarray, "chains n"]:
    """The samples of an archive; raises InputError where it holds none."""
    x = unpack(read_bytes(Path(path)), Path(path).name).get("x")
    if x is None or x.dtype != np.int8 or x.ndim != 2:
        raise InputError(f"{Path(path).name} holds no samples: x must be int8, chains x variables")
    return x


def unpack(data: bytes, name: str) -> Arrays:
    """The arrays of an archive by name: numbers, bool and texts; raises InputError where it is damaged or too large."""
    check_size(len(data), name)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > 64:
                raise InputError(f"{name} holds {len(members)} arrays; give at most 64")
            check_size(sum(member.file_size for member in members), f"{name}, unpacked,")
            check_size(sum(_bytes_of(archive, member) for member in members), f"{name}, unpacked,")
            return {member.filename.removesuffix(".npy"): _array(archive, member) for member in members}
    except _DAMAGE as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} is damaged or no NumPy archive; save it again") from None


def _pack(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


def _bytes_of(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> int:
    """Size of an array by its header; only numbers, bool and texts are let through."""
    with archive.open(member) as file:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, _, dtype = read(file)
    if dtype.kind not in "iufbU" or dtype.hasobject or min(shape, default=0) < 0:
        raise InputError(f"the array {member.filename[:40]!r} holds {str(dtype)[:40]}; give numbers")
    size = math.prod(shape) * dtype.itemsize
    if size > MAX_BYTES:
        raise InputError(f"the array {member.filename[:40]!r} has {size} bytes; give at most {MAX_BYTES}")
    return size


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    with archive.open(member) as file:
        return npy.read_array(file, allow_pickle=False)

"""IDX, the format of MNIST's files: big-endian sizes, then bytes, often gzipped."""

from __future__ import annotations

import gzip
import math
import struct
import zlib

import numpy as np
from jaxtyping import UInt8

from pmpviz.io.datasets.dataset import MAX_IMAGES
from pmpviz.io.files import check_size
from pmpviz.types import InputError

_MOST_BYTES = MAX_IMAGES * 28 * 28 + 16


def parse_idx(data: bytes, name: str) -> UInt8[np.ndarray, "..."]:
    """The bytes of an IDX file, gzipped or not, in their shape; raises InputError where it is damaged or none."""
    if data[:2] == b"\x1f\x8b":
        data = _gunzip(data, name)
    if len(data) < 4 or data[:3] != b"\0\0\x08" or not 1 <= data[3] <= 3:
        raise InputError(f"{name} is no IDX file of bytes: it begins with {data[:4].hex() or 'nothing'}")
    rank = data[3]
    if len(data) < 4 + 4 * rank:
        raise InputError(f"{name} ends within its sizes; get it again")
    shape = struct.unpack_from(f">{rank}I", data, 4)
    size = math.prod(shape)
    if size != len(data) - 4 - 4 * rank:
        raise InputError(f"{name} should hold {size} bytes of data but holds {len(data) - 4 - 4 * rank}; get it again")
    return np.frombuffer(data, np.uint8, size, 4 + 4 * rank).reshape(shape)


def _gunzip(data: bytes, name: str) -> bytes:
    inflate = zlib.decompressobj(wbits=31)
    try:
        # One byte more than is allowed tells a bomb without unpacking it.
        content = inflate.decompress(data, _MOST_BYTES + 1)
    except zlib.error:
        raise InputError(f"{name} is a damaged gzip file; get it again") from None
    check_size(len(content), f"{name}, unpacked,", _MOST_BYTES)
    if not inflate.eof:
        raise InputError(f"{name} is a gzip file that was cut short; get it again")
    return content


def idx_bytes(array: UInt8[np.ndarray, "..."]) -> bytes:
    """A gzipped IDX file of bytes: the inverse of `parse_idx`."""
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return gzip.compress(head + array.tobytes(), compresslevel=3, mtime=0)

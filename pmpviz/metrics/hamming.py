"""Exact integer histograms of Hamming distances between two sets of configurations.

States are packed into bit planes, 32 variables a word; the number of variables that differ is the population
count of the exclusive or (the planes of a K-state variable are joined by or). A tile of distances is all that is
ever held, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Int, Int8, UInt32

from pmpviz.types import MAX_CARDINALITY, InputError

GROUP = 4
"""Words joined before the running sum is touched: fewer reads the sum too often, more spills registers."""
ROWS, COLUMNS = 256, 2048
"""Largest tile of distances: 2 MiB, so that it is still in cache when it is counted."""

Packed = UInt32[np.ndarray, "groups group planes rows"]


def check_states(x: Int8[np.ndarray, "rows n"], name: str = "the samples") -> Int8[np.ndarray, "rows n"]:
    """`x` as an array of states on the host; raises InputError where it cannot be one."""
    x = np.asarray(x)
    if x.ndim != 2 or 0 in x.shape:
        raise InputError(f"{name} have shape {x.shape}; give one row a configuration, at least one of each")
    if x.dtype.kind not in "biu":
        raise InputError(f"{name} are of type {x.dtype}; give whole-number states from 0 on")
    if x.min() < 0 or x.max() >= MAX_CARDINALITY:
        raise InputError(f"{name} hold states outside 0 to {MAX_CARDINALITY - 1}; give states in that range")
    return x.astype(np.int8, copy=False)


def planes_of(x: Int8[np.ndarray, "rows n"]) -> int:
    """Bit planes that the largest state needs: one for binary variables."""
    return max(1, int(x.max()).bit_length())


def pack(x: Int8[np.ndarray, "rows n"], planes: int) -> Packed:
    """Rows as words of 32 variables, words first and rows last; unused bits are zero."""
    bits = np.stack([(x >> plane) & 1 for plane in range(planes)])
    octets = np.packbits(bits, axis=2, bitorder="little")
    octets = np.pad(octets, ((0, 0), (0, 0), (0, -octets.shape[2] % (4 * GROUP))))
    words = np.ascontiguousarray(octets).view(np.uint32)
    return np.ascontiguousarray(words.transpose(2, 0, 1)).reshape(-1, GROUP, planes, x.shape[0])


@jax.jit
def _distances(a: Packed, b: Packed) -> UInt32[jax.Array, "rows columns"]:
    """Number of variables that differ, for each row of `a` and each of `b`."""

    def differs(group, word):
        planes = [a[group, word, p][:, None] ^ b[group, word, p][None, :] for p in range(a.shape[2])]
        joined = planes[0]
        for plane in planes[1:]:
            joined = joined | plane
        return jax.lax.population_count(joined)

    def add(group, total):
        return total + sum(differs(group, word) for word in range(GROUP))

    zero = jnp.zeros((a.shape[3], b.shape[3]), jnp.uint32)
    return jax.lax.fori_loop(0, a.shape[0], add, zero)


def _cut(packed: Packed, start: int, size: int) -> Packed:
    """`size` rows from `start`, filled with zero rows past the end so that one compiled shape serves all tiles."""
    piece = packed[..., start : start + size]
    return np.pad(piece, ((0, 0), (0, 0), (0, 0), (0, size - piece.shape[3])))


def _tile_size(rows: int, largest: int) -> int:
    return min(largest, 1 << max(4, (rows - 1).bit_length()))


def tiles(a: Packed, b: Packed, upper: bool = False) -> Iterator[tuple[int, int, np.ndarray]]:
    """(first row, first column, distances) of each tile; with `upper` only columns from the tile's rows on."""
    rows, columns = a.shape[3], b.shape[3]
    height, width = _tile_size(rows, ROWS), _tile_size(columns, COLUMNS)
    for i in range(0, rows, height):
        left = _cut(a, i, height)
        for j in range(i if upper else 0, columns, width):
            block = np.asarray(_distances(left, _cut(b, j, width)))
            yield i, j, block[: rows - i, : columns - j]


def _count(distances: np.ndarray, n: int) -> Int[np.ndarray, " n_plus_1"]:
    return np.bincount(distances.ravel(), minlength=n + 1)


def cross_histogram(a: Packed, b: Packed, n: int) -> Int[np.ndarray, " n_plus_1"]:
    """Counts of the distances 0..n over all pairs (row of a, row of b)."""
    return sum((_count(block, n) for _, _, block in tiles(a, b)), np.zeros(n + 1, np.int64))


def self_histogram(a: Packed, n: int) -> Int[np.ndarray, " n_plus_1"]:
    """`cross_histogram(a, a, n)` for half the work: pairs off the diagonal blocks are computed once."""
    total = np.zeros(n + 1, np.int64)
    for i, j, block in tiles(a, a, upper=True):
        diagonal = block.shape[0] if i == j else 0
        total += _count(block[:, :diagonal], n) + 2 * _count(block[:, diagonal:], n)
    return total


def hamming_histogram(x: Int8[np.ndarray, "x_rows n"], y: Int8[np.ndarray, "y_rows n"]) -> Int[np.ndarray, " n_plus_1"]:
    """Counts of d(x_i, y_j) = sum_v [x_iv != y_jv] over all ordered pairs of rows, int64[n + 1].

    Two or more states; needs no reference; raises InputError where the two sets have different variables.
    """
    x, y = check_states(x), check_states(y)
    if x.shape[1] != y.shape[1]:
        raise InputError(f"the sets have {x.shape[1]} and {y.shape[1]} variables; give sets of one model")
    planes = max(planes_of(x), planes_of(y))
    return cross_histogram(pack(x, planes), pack(y, planes), x.shape[1])

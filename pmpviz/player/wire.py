"""The wire format of the live player: one binary blob that carries frames, traces and words.

Layout, little-endian: `b"PMPV"`, uint16 version (1), uint16 zero, uint32 length of the JSON text in bytes, the
JSON (UTF-8, padded with spaces so that the payload starts on a multiple of 4), then the payload. The JSON's key
`blobs` lists `[offset, length]` of every blob, counted from the start of the payload; anywhere else in the JSON
a blob is named by its index in that list (`Payload.add` returns it).

    {run?: str (another run: epochs count anew), epoch, begun?: epoch of the last restart,
     answered?: [mount, number of its last event whose effect shows],
     playing, trouble?, announce?, alt?, tool?, hover?, marks?, bar?: [...], speed?: {value, options}, unit?,
     again: whether play begins anew what has come to its end,
     lanes: [{id, algorithm, label, badge?, step?: what a frame counts, colour, dash, sub?, status?, n,
              geometry: {kind: "grid" | "stack" | "hex" | "chain" | "graph" | "layers", rows, cols, planes?,
                         hidden?: units beside the image of "layers", offset?: "triangular" | "honeycomb",
                         nodes?: float32 [n, 2], edges?: int32 [m, 2],
                         opposed?: uint8 [m]: 1 at a negative coupling, coupled?: whether all edges are couplings},
              states?: {planes: bits of a state, 1 where this is left out, colours: ["#rrggbb"], names: [...]},
              frames?: {sweeps: [m ints], epochs?: [m ints], bits?: blob of m * planes * ceil(n / 8) bytes,
                        since?: number of the frame after which these come, last?: number of the last of these},
              marker?, chains?: of how many the picture is one, back?: one looks back,
              draws?: [done, at sweep, sweeps of each, since when they count],
              sweep?: the one that strip and layer are of,
              strip?: up to 8 packed frames,
              layer?: {values: float32 [n], kind: "diverging" | "sequential" | "labels", low, high, name}
                      | {values: float32 [2 n]: couplings to the right and down, kind: "bonds", ...} | null}],
     traces?: [{id, title, x: "sweeps" | "seconds" | "iterations", log?, unit?, exact?: {y, label},
                band?: {low, high, label}, least?: what the heights span at least,
                span?: [low, high] that the axis holds at least, upper?: {label, x, y: float32 blobs}: a second axis,
                lines: [{lane, name?, colour, dash, marker?, x, y, low?, high?, least?, most?: float32 blobs,
                         exact?: number, faint?, ghost?, dots?,
                         begun?: the sweep from which its places count sweeps,
                         held?: each value stands until the next one}],
                bars?: {names: [...], colours?: [one a name], full?: width that is drawn at least, noise?,
                        rows: [{label, colour, values: [...]}]}}],
     written?: [what short names of lanes are short for],
     kept?: [{name, colour, dash, marker}] of curves behind those of the lanes,
     marks: [[sweep, text]], hover: {lane, site, lines: [...]} | null}

Of a line `low` and `high` are the band of the chains, `least` and `most` the range of the line itself within a bin.
Frames belong to the update's epoch unless `epochs` says otherwise; those of an earlier one can be looked back at,
but are not played. Another `begun` forgets all earlier frames. Send the last frames again with every update: the
player keeps what it has not seen, so that an update that the browser skipped loses nothing. Where `since` shows it
that it has missed more, it takes none of them and asks for all with an event of type `mount`.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int, UInt8

from pmpviz.live.store import Frames
from pmpviz.models.space import Space
from pmpviz.types import InputError

MAGIC = b"PMPV"
VERSION = 1
HEADER = struct.Struct("<4sHHI")


class Payload:
    """Collects the arrays of one update; `add` gives the index by which the JSON names an array."""

    def __init__(self) -> None:
        self.blobs: list[bytes] = []

    def add(self, array: np.ndarray, dtype: str = "<f4") -> int:
        """Append an array as little-endian `dtype` (`<f4`, `<i4`, `u1` or `i1`) and return its index."""
        self.blobs.append(np.ascontiguousarray(array, dtype=dtype).tobytes())
        return len(self.blobs) - 1


def frame_words(payload: Payload, frames: Frames, start: int) -> dict:
    """What an update says of some frames; `start` is the number of the frame after which they come."""
    if not len(frames.numbers):  # `since` still tells a player that has seen nothing yet what it has missed.
        return {"sweeps": [], "since": start, "last": start}
    words = {"sweeps": frames.sweeps.tolist(), "epochs": frames.epochs.tolist()}
    words |= {"since": start, "last": int(frames.numbers[-1])}
    return {**words, "bits": payload.add(frames.bits, "u1")}


def thin(count: int, most: int) -> Int[np.ndarray, " kept"]:
    """At most `most` places of `count`, evenly chosen, first and last among them."""
    if not count:
        return np.zeros(0, int)
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def pack(x: Int[np.ndarray, "*m n"] | Bool[np.ndarray, "*m n"], states: int = 2) -> UInt8[np.ndarray, "*m bytes"]:
    """Configurations as bits, first site in the highest bit of the first byte: uint8 [..., ceil(n / 8)].

    Of more than two states ceil(log2 states) such planes one after another, that of the lowest bit first.
    """
    x = np.asarray(x)
    return Space(x.shape[-1], states).pack(x)


def state_words(space: Space) -> dict:
    """What a lane says of states that are not paper and ink: the planes of a frame, a colour and a name each."""
    if not space.palette:
        return {}
    return {"states": {"planes": space.planes, "colours": list(space.palette), "names": list(space.legend)}}


def encode(update: dict, blobs: Sequence[bytes]) -> bytes:
    """The update and its blobs as one binary blob; raises InputError for a number that is not finite."""
    offsets, parts, at = [], [], 0
    for blob in blobs:
        offsets.append([at, len(blob)])
        padding = -len(blob) % 4
        parts += [blob, b"\0" * padding]
        at += len(blob) + padding
    try:
        text = json.dumps({**update, "blobs": offsets}, allow_nan=False, separators=(",", ":"), default=_plain)
    except ValueError as error:
        raise InputError("the player takes finite numbers only; put NaN and infinity into a blob") from error
    words = text.encode()
    words += b" " * (-(HEADER.size + len(words)) % 4)
    return b"".join([HEADER.pack(MAGIC, VERSION, 0, len(words)), words, *parts])


def decode(blob: bytes) -> tuple[dict, list[bytes]]:
    """The inverse of `encode`: the JSON without `blobs`, and the blobs; raises InputError where it is damaged."""
    broken = InputError("this is not a complete player update; encode it again")
    try:
        magic, version, _, length = HEADER.unpack_from(blob)
        update = json.loads(blob[HEADER.size : HEADER.size + length])
        offsets, payload = update.pop("blobs"), blob[HEADER.size + length :]
        blobs = [payload[start : start + size] for start, size in offsets]
    except (struct.error, ValueError, KeyError, TypeError, AttributeError) as error:
        raise broken from error
    if magic != MAGIC or version != VERSION or any(len(b) != s[1] for b, s in zip(blobs, offsets, strict=True)):
        raise broken
    return update, blobs


def frame_hash(frame: bytes) -> str:
    """FNV-1a, 32 bits, of a packed frame, as eight hexadecimal digits: what the canvas shows as data-frame-hash."""
    value = 0x811C9DC5
    for byte in frame:
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return f"{value:08x}"


def _plain(value):
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    raise TypeError(f"a {type(value).__name__} does not fit into a player update")

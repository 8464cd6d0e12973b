"""The player's wire format: what goes in comes out, frames hash as FNV-1a, and damage is refused in a sentence."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pmpviz.player.wire import HEADER, Payload, decode, encode, frame_hash, pack
from pmpviz.types import InputError

# Published vectors of FNV-1a, 32 bits.
VECTORS = {b"": "811c9dc5", b"a": "e40c292c", b"foobar": "bf9cf968"}


@pytest.mark.parametrize(("data", "digits"), VECTORS.items())
def test_frame_hash_is_fnv_1a(data, digits):
    assert frame_hash(data) == digits


@given(
    hnp.arrays(np.int8, hnp.array_shapes(min_dims=1, max_dims=2, min_side=1, max_side=40), elements=st.integers(0, 1))
)
def test_packed_bits_come_back_with_the_first_site_highest(x):
    packed = pack(x)
    assert packed.shape == (*x.shape[:-1], -(-x.shape[-1] // 8))
    assert (np.unpackbits(packed, axis=-1, count=x.shape[-1]) == x).all()
    assert (packed[..., 0] >> 7 == x[..., 0]).all()


words = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
updates = st.dictionaries(st.text(max_size=8).filter(lambda key: key != "blobs"), words, max_size=5)


@given(updates, st.lists(st.binary(max_size=33), max_size=6))
def test_what_is_encoded_is_decoded(update, blobs):
    blob = encode(update, blobs)
    assert decode(blob) == (update, blobs)
    start = HEADER.size + HEADER.unpack_from(blob)[3]
    assert start % 4 == 0
    listed = json.loads(blob[HEADER.size : start])["blobs"]
    assert all(at % 4 == 0 for at, _ in listed), "typed arrays of the browser need their alignment"


def test_arrays_keep_their_type_and_order():
    payload = Payload()
    floats, whole, bits = np.linspace(-1, 1, 7), np.arange(5)[::-1], pack(np.eye(9, dtype=np.int8))
    places = payload.add(floats), payload.add(whole, "<i4"), payload.add(bits, "u1")
    _, blobs = decode(encode({}, payload.blobs))
    assert places == (0, 1, 2)
    assert np.array_equal(np.frombuffer(blobs[0], "<f4"), floats.astype(np.float32))
    assert np.array_equal(np.frombuffer(blobs[1], "<i4"), whole)
    assert np.array_equal(np.frombuffer(blobs[2], np.uint8).reshape(bits.shape), bits)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_numbers_that_json_lacks_are_refused(value):
    with pytest.raises(InputError, match="finite"):
        encode({"value": value}, [])


def test_numpy_numbers_and_arrays_are_taken():
    update, _ = decode(encode({"sweep": np.int64(7), "rate": np.float32(0.5), "sweeps": np.arange(3)}, []))
    assert update == {"sweep": 7, "rate": 0.5, "sweeps": [0, 1, 2]}


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=16))
def test_cut_or_foreign_bytes_are_refused_in_a_sentence(cut, noise):
    whole = encode({"epoch": 3}, [bytes(range(40)), b"abc"])
    # The last byte is padding of the last blob; without it nothing is missing.
    for damaged in (whole[: cut % (len(whole) - 1)], noise + whole):
        with pytest.raises(InputError) as caught:
            decode(damaged)
        assert "\n" not in str(caught.value)

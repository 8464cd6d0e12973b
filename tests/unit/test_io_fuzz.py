"""Thousands of damaged files: a reader gives a working model or one sentence, never anything else."""

import copy
import io
import json

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from table_models import random_model

from pmpviz.io import load_model_bytes
from pmpviz.io.arrays import to_arrays
from pmpviz.io.json_model import model_to_json
from pmpviz.io.npz import model_to_npz
from pmpviz.io.uai import parse_evid, write_uai
from pmpviz.models import build_spec
from pmpviz.types import InputError

MODELS = [build_spec("square:3x3"), build_spec("tree:6,J=1"), build_spec("complete:4"), random_model(2, n=4)]
JUNK = ["", "-1", "0", "1", "2", "3", "7", "127", "128", "99999999999999999999", "1e400", "nan", "inf", "0x1", "1_0"]
JUNK += ["MARKOV", "BAYES", "c", "\n", "\0", "é", "٣", "-0.0", "1e-320", "2.5", "\n c 1"]
quick = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


def accepts(name: str, data: bytes) -> bool:
    """Whether the reader takes it; what it takes must work, what it doesn't is told in one short line."""
    try:
        loaded = load_model_bytes(name, data)
    except InputError as error:
        assert 10 < len(str(error)) < 400 and "\n" not in str(error)
        return False
    x = np.zeros(loaded.model.n, np.int8)
    assert not np.isnan(float(loaded.model.log_weight(x)))
    return True


@st.composite
def damaged(draw, data: bytes):
    """Some bytes replaced, inserted, left out, or the end cut off."""
    found = bytearray(data)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(found) - 1, 0)))
        span = draw(st.integers(0, 6))
        found[at : at + span] = draw(st.binary(max_size=6))
    return bytes(found[: draw(st.integers(0, len(found)))]) if draw(st.booleans()) else bytes(found)


@st.composite
def miswritten(draw, text: str):
    """Some words replaced, doubled, left out or swapped."""
    words = text.split()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(len(words) - 1, 0)))
        words[at : at + draw(st.integers(0, 2))] = draw(st.lists(st.sampled_from(JUNK + words[:40]), max_size=2))
    return draw(st.sampled_from([" ", "\n"])).join(words)


def test_the_undamaged_files_are_taken():
    for model in MODELS:
        assert accepts("a.uai", write_uai(model).encode())
        assert accepts("a.json", model_to_json(model).encode())
        assert accepts("a.npz", model_to_npz(model))


@quick
@given(st.data())
def test_damaged_bytes(data):
    model = data.draw(st.sampled_from(MODELS))
    for name, whole in (
        ("a.uai", write_uai(model).encode()),
        ("a.json", model_to_json(model).encode()),
        ("a.npz", model_to_npz(model)),
    ):
        accepts(name, data.draw(damaged(whole)))


@quick
@given(st.data())
def test_miswritten_uai(data):
    model = data.draw(st.sampled_from(MODELS))
    accepts("a.uai", data.draw(miswritten(write_uai(model))).encode())


@quick
@given(st.data())
def test_miswritten_evidence(data):
    try:
        found = parse_evid(data.draw(miswritten("3 0 1 1 0 2 2")), (2, 2, 3))
    except InputError as error:
        assert "\n" not in str(error)
        return
    assert all(0 <= v < 3 and 0 <= x < (2, 2, 3)[v] for v, x in found.items())


json_junk = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 300), st.integers(), st.floats(), st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=2)),
    max_leaves=5,
)


def places(content):
    """All (container, key) of a JSON value."""
    for key in range(len(content)) if isinstance(content, list) else list(content):
        yield content, key
        if isinstance(content[key], (list, dict)):
            yield from places(content[key])


@quick
@given(st.data())
def test_json_of_another_structure(data):
    content = copy.deepcopy(json.loads(model_to_json(data.draw(st.sampled_from(MODELS)))))
    for _ in range(data.draw(st.integers(1, 3))):
        container, key = data.draw(st.sampled_from(list(places(content))))
        container[key] = data.draw(json_junk)
    accepts("a.json", json.dumps(content).encode())


@quick
@given(st.data())
def test_archives_of_other_arrays(data):
    kind, arrays = to_arrays(data.draw(st.sampled_from(MODELS)))
    arrays = {"format": np.array("pmpviz-model"), "version": np.array(1), "kind": np.array(kind), **arrays}
    for _ in range(data.draw(st.integers(1, 2))):
        name = data.draw(st.sampled_from(sorted(arrays)))
        arrays[name] = data.draw(altered(arrays[name]))
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    accepts("a.npz", buffer.getvalue())


@st.composite
def altered(draw, array: np.ndarray):
    """One entry changed, or another shape or type."""
    array = array.copy()
    way = draw(st.sampled_from(["entry", "shape", "type", "cut"]))
    if way == "entry" and array.size and array.dtype.kind in "if":
        choices = [0, 1, -1, 2, 5, 127, 128, 2**31 - 1] + [np.nan, np.inf, -np.inf] * (array.dtype.kind == "f")
        # Whole numbers too large for the type are cut to it.
        array.reshape(-1)[draw(st.integers(0, array.size - 1))] = np.array(draw(st.sampled_from(choices))).astype(
            array.dtype
        )
    elif way == "shape":
        return array.reshape(draw(st.sampled_from([(-1,), (1, *array.shape), (*array.shape, 1), (-1, 1)])))
    elif way == "type" and array.dtype.kind in "if":
        with np.errstate(invalid="ignore"):
            return array.astype(draw(st.sampled_from([np.float64, np.int8, np.bool_, np.complex64, object, "U5"])))
    elif array.ndim:
        return array[: draw(st.integers(0, len(array)))]
    return array

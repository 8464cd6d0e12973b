"""Models in .npz and JSON come back bit for bit, in the layout they had; damaged files get one sentence."""

import io
import json
import zipfile

import jax
import numpy as np
import pytest
from table_models import random_model

from pmpviz.io import load_model, load_model_bytes, load_samples, save_model, save_samples
from pmpviz.io.arrays import to_arrays
from pmpviz.io.files import MAX_BYTES
from pmpviz.io.json_model import model_from_json, model_to_json
from pmpviz.io.npz import model_from_npz, model_to_npz
from pmpviz.models import RBM, SRBM, build_spec, model_hash
from pmpviz.models.couplings import ShiftCouplings
from pmpviz.models.tables import TableModel
from pmpviz.types import InputError

SPECS = ["square:4x5,couplings=gaussian,h=0.1", "triangular:3x4,J=-1", "cubic:3x3x3", "chain:7,J=3,field=first,h=1"]
SPECS += ["erdos_renyi:20", "random_regular:20", "complete:9", "tree:15,J=1", "chain:1"]
LAYERED = [RBM.of_layers(np.array([[0.1, -0.0, 1e-45], [3e38, 1 / 3, -2]]), [0.1, 0.2, 0.3], None, 1 / 7)]
LAYERED += [build_spec("rbm:3x3x4"), build_spec("srbm:3x3x4"), SRBM.of_layers([[0.3]], [[0.0]], [1.0], [-1.0])]


def models():
    for spec in SPECS:
        model = build_spec(spec)
        yield from (model, model.as_layout("sparse"), model.as_layout("dense"))
    yield from LAYERED
    yield random_model(0)
    yield TableModel.of([2, 3], [], -np.inf)


def assert_same_bits(a, b):
    assert jax.tree.structure(a) == jax.tree.structure(b)
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        x, y = np.asarray(x), np.asarray(y)
        assert x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes()
    assert model_hash(a) == model_hash(b)


@pytest.mark.parametrize("way", ["npz", "json"])
def test_every_bit_and_the_layout_survive(way):
    for model in models():
        again = model_from_npz(model_to_npz(model)) if way == "npz" else model_from_json(model_to_json(model))
        assert_same_bits(model, again)


def test_awkward_floats_survive_json():
    model = build_spec("chain:4")
    bias = np.array([-0.0, 1e-45, np.float32(0.1), 3.4e38], np.float32)
    model = type(model).of(bias, model.couplings, np.float32(1) / 3)
    assert_same_bits(model, model_from_json(model_to_json(model)))
    values = np.array([-0.0, 5e-324, 0.1, -1.7976931348623157e308, -np.inf, 1 / 3])
    tables = TableModel.of([6], [((0,), values)])
    assert model_from_json(model_to_json(tables)).values.tobytes() == values.tobytes()


@pytest.mark.parametrize("suffix", [".npz", ".json", ".JSON"])
def test_paths(suffix, tmp_path):
    lattice, tables = build_spec("square:3x4"), random_model(1, most_states=3)
    save_model(tmp_path / f"a{suffix}", lattice)
    loaded = load_model(str(tmp_path / f"a{suffix}"))
    assert isinstance(loaded.model.couplings, ShiftCouplings) and loaded.tables is None
    assert loaded.name == f"a{suffix}" and loaded.why_not_ising is None
    assert_same_bits(loaded.model, lattice)
    save_model(tmp_path / f"b{suffix}", tables)
    loaded = load_model(tmp_path / f"b{suffix}")
    assert_same_bits(loaded.model, tables)
    assert loaded.tables is loaded.model and "an Ising model" in loaded.why_not_ising
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"a{suffix}", f"b{suffix}"]


def test_uai_becomes_an_ising_model_where_it_fits(tmp_path):
    save_model(tmp_path / "a.uai", build_spec("complete:5"))
    loaded = load_model(tmp_path / "a.uai")
    assert loaded.model.n == 5 and loaded.tables.values.dtype == np.float64
    loaded = load_model_bytes("b.uai", b"\xef\xbb\xbfMARKOV 1 3 1 1 0 3 1 2 0")
    assert isinstance(loaded.model, TableModel) and "variable 0 has 3 states" in loaded.why_not_ising


@pytest.mark.parametrize(
    "name, data, message",
    [
        ("a.txt", b"", "ends in none of .uai, .npz, .json"),
        ("a.uai", b"MARKOV \xff", "not a text: byte 7 is not UTF-8"),
        ("a.npz", b"PK\x03\x04junk", "damaged or no NumPy archive"),
        ("a.npz", b"", "damaged or no NumPy archive"),
        ("a.json", b"", "this is no JSON"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b"[1]", "no saved model"),
        ("a.json", b'{"format": NaN}', "NaN is no JSON number"),
    ],
)
def test_foreign_bytes(name, data, message):
    with pytest.raises(InputError, match=message):
        load_model_bytes(name, data)


def test_files_that_are_not_there(tmp_path):
    for path, message in (
        (tmp_path / "a.npz", "no file"),
        (tmp_path, "ends in none"),
        ("a\0.npz", "cannot be read|no file"),
    ):
        with pytest.raises(InputError, match=message):
            load_model(path)
    (tmp_path / "d.npz").mkdir()
    with pytest.raises(InputError, match="not a file"):
        load_model(tmp_path / "d.npz")
    with pytest.raises(InputError, match="cannot be written"):
        save_model(tmp_path / "missing" / "a.npz", build_spec("chain:3"))


def archive(**arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def changed(spec_or_model, **changes) -> bytes:
    """The archive of a model with some arrays changed, or left out where None."""
    model = build_spec(spec_or_model) if isinstance(spec_or_model, str) else spec_or_model
    kind, arrays = to_arrays(model)
    arrays = {"format": np.array("pmpviz-model"), "version": np.array(1), "kind": np.array(kind), **arrays, **changes}
    return archive(**{name: array for name, array in arrays.items() if array is not None})


def f32(*values):
    return np.array(values, np.float32)


@pytest.mark.parametrize(
    "data, message",
    [
        (archive(x=np.zeros(3)), "no saved model"),
        (changed("chain:3", version=np.array(2)), "another version"),
        (changed("chain:3", kind=np.array("magic")), "kind 'magic'"),
        (changed("chain:3", bias=None), "bias is missing"),
        (changed("chain:3", bias=np.zeros(3)), "bias is float64; give float32"),
        (changed("chain:3", extra=np.zeros(3)), "'extra' is no array"),
        (changed("chain:3", bias=f32(1, np.nan, 0)), "bias holds a number that is not finite"),
        (changed("chain:3", bias=f32(1, 2)), "does not have the 2 sites"),
        (changed("chain:3", bias=f32()), "give 1 to"),
        (changed("chain:3", shifts=np.array([[3]], np.int32)), "longer than the lattice"),
        (changed("chain:3", shifts=np.array([[0]], np.int32)), "joins a site to itself"),
        (changed("chain:3", shifts=np.array([1], np.int32)), "match them"),
        (
            changed("chain:3", shifts=np.zeros((0, 1), np.int32), weight=np.zeros((0, 3), np.float32)),
            "no shifts, and so no couplings",
        ),
        (changed("chain:3", colour=np.zeros(3, np.int32)), "have one colour"),
        (changed("chain:3", colour=np.array([0, 9, 0], np.int32)), "whole numbers below 3"),
        (changed("complete:3", weight=np.ones((3, 3), np.float32)), "set its diagonal to 0"),
        (changed("complete:3", weight=np.triu(np.ones((3, 3), np.float32))), "not symmetric"),
        (changed("complete:3", weight=np.ones((2, 2), np.float32)), "need \\(3, 3\\)"),
        (changed("tree:3", neighbour=np.array([[1, 9], [0, 1], [0, 2]], np.int32)), "outside 0 to 2"),
        (changed("tree:3", weight=np.ones((3, 2), np.float32)), "padded slot is not empty"),
        (changed("tree:3", reverse=np.array([[2, 2], [0, 3], [1, 5]], np.int32)), "same edges from both ends"),
        (changed(LAYERED[1], weight=f32(1, 2)), r"weight has shape \(2,\); give hidden x visible numbers"),
        (changed(LAYERED[1], weight=np.zeros((0, 9), np.float32)), r"weight has shape \(0, 9\)"),
        (changed(LAYERED[1], weight=np.full((4, 9), np.inf, np.float32)), "weight holds a number that is not finite"),
        (changed(LAYERED[1], weight=None), "weight is missing"),
        (changed(LAYERED[1], visible_bias=f32(1, 2)), r"visible_bias has shape \(2,\); give 9 numbers"),
        (changed(LAYERED[1], hidden_bias=f32(1, 2)), r"hidden_bias has shape \(2,\); give 4 numbers"),
        (changed(LAYERED[1], constant=f32(1, 2)), "constant is no single number"),
        (changed(LAYERED[1], lateral=np.zeros((9, 9), np.float32)), "'lateral' is no array"),
        (changed(LAYERED[2], lateral=None), "lateral is missing"),
        (changed(LAYERED[2], lateral=np.zeros((4, 4), np.float32)), r"lateral has shape \(4, 4\)"),
        (changed(LAYERED[2], lateral=np.eye(9, dtype=np.float32)), "zero diagonal"),
        (changed(random_model(0), values=np.zeros(1)), "values ends within the table"),
        (changed(random_model(0), values=np.zeros(10_000)), "left over"),
        (changed(random_model(0), card=np.full(6, 200, np.int32)), "give 1 to 127"),
        (changed(random_model(0), arity=np.zeros(12, np.int32)), "arity holds a number below 1"),
        (changed(random_model(0), constant=np.array(np.nan)), "constant is not finite"),
    ],
)
def test_changed_archives(data, message):
    with pytest.raises(InputError, match=message) as error:
        model_from_npz(data, "a.npz")
    assert str(error.value).startswith(("a.npz", "the array"))


def test_pickles_and_false_sizes_are_refused_before_anything_is_read():
    with pytest.raises(InputError, match="holds object"):
        model_from_npz(changed("chain:3", bias=np.array([{"a": 1}], object)))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%d,), }" % MAX_BYTES
    header = header.ljust(117) + b"\n"
    huge = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        file.writestr("bias.npy", huge)
    with pytest.raises(InputError, match="give at most 536870912"):
        model_from_npz(buffer.getvalue())


def test_samples(tmp_path):
    x = np.random.default_rng(0).integers(0, 2, (7, 5)).astype(np.int8)
    save_samples(str(tmp_path / "samples"), x)
    assert [path.name for path in tmp_path.iterdir()] == ["samples"]
    assert (load_samples(tmp_path / "samples") == x).all()
    with np.load(tmp_path / "samples", allow_pickle=False) as file:
        assert file["x"].dtype == np.int8 and file["x"].shape == (7, 5)
    with pytest.raises(InputError, match="chains x variables"):
        save_samples(tmp_path / "b.npz", x[0])
    save_model(tmp_path / "m.npz", build_spec("chain:3"))
    with pytest.raises(InputError, match="holds no samples"):
        load_samples(tmp_path / "m.npz")


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda c: c["arrays"]["bias"].update(data=[1, "2", 3]), "holds '2'"),
        (lambda c: c["arrays"]["bias"].update(data=[1, True, 3]), "holds 'True'"),
        (lambda c: c["arrays"]["bias"].update(data=[1, 1e39, 3]), "too large for single precision"),
        (lambda c: c["arrays"]["bias"].update(data=[1, None, 3]), "not finite"),
        (lambda c: c["arrays"]["bias"].update(shape=[4]), "not what its shape says"),
        (lambda c: c["arrays"]["bias"].update(shape=[3.0]), "not what its shape says"),
        (lambda c: c["arrays"]["colour"].update(data=[0.0, 1, 0]), "give finite numbers of its type"),
        (lambda c: c["arrays"]["colour"].update(data=[0, 1 << 40, 0]), "give finite numbers of its type"),
        (lambda c: c.update(arrays=[]), "no arrays"),
        (lambda c: c["arrays"].update(bias=3), "lacks a list"),
        (lambda c: c.update(kind=["ising-lattice"]), "its kind is"),
        (lambda c: c.update(version="1"), "another version"),
        (lambda c: c["arrays"].pop("shifts"), "shifts is missing"),
    ],
)
def test_changed_json(change, message):
    content = json.loads(model_to_json(build_spec("chain:3")))
    change(content)
    with pytest.raises(InputError, match=message):
        model_from_json(json.dumps(content))

"""Bad input on the command line: exit code 2 and one line, for bad words, bad paths and thousands of damaged files."""

import json
import os
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from command_line import LONGEST, SMALL, cache, call, found, in_a_folder_of_its_own, refused  # noqa: F401
from table_models import random_model

from pmpviz.io import load_model_bytes, save_model
from pmpviz.models import build_spec
from pmpviz.models.tables import TableModel
from pmpviz.types import InputError

BAD_OUT = ["missing/x.npz", "folder", "text.uai/x.npz", "", "/dev/null", "a\0b", "x" * 300]


@pytest.mark.parametrize("flag", ["--out", "--checkpoint"])
@pytest.mark.parametrize("path", BAD_OUT)
def test_a_path_that_cannot_be_written_is_told_before_the_run(flag, path, monkeypatch):
    Path("folder").mkdir()
    Path("text.uai").write_text("x")
    monkeypatch.setattr("pmpviz.experiments.sample.run_samples", lambda *args: pytest.fail("the run has begun"))
    refused("sample", SMALL, flag, path)
    assert sorted(os.listdir()) == ["folder", "text.uai"] and not os.listdir("folder")
    assert not Path("/dev/null").is_file()


def bad_files() -> None:
    save_model("good.npz", build_spec("chain:4,periodic=false"))
    save_model("states.uai", TableModel.of([3, 2], [((0, 1), np.zeros((3, 2)))]))
    contents = {
        "malformed.uai": b"MARKOV\n2\n2 2\n1\n2 0 1\n4 1 1 1",
        "other.uai": b"\x89PNG\r\n\x1a\n\xff",
        "empty.uai": b"",
        "empty.npz": b"",
        "empty.json": b"",
        "impossible.uai": b"MARKOV\n1\n2\n1\n1 0\n2 0 0\n",
        "nothing.uai": b"MARKOV\n0\n\n0\n",
        "text.npz": b"not an archive",
        "list.json": b"[1, 2]",
        "deep.json": b"[" * 100_000,
        "huge.json": b'{"format": "pmpviz-model", "version": 1' + b"1" * 5000 + b"}",
        "model.txt": b"MARKOV",
        "out.evid": b"1 9 0\n",
        "state.evid": b"1 0 2\n",
        "word.evid": b"one\n",
        "short.evid": b"2 0 1\n",
        "blank.evid": b"",
        "garbage": b"no checkpoint",
    }
    for name, content in contents.items():
        Path(name).write_bytes(content)
    Path("folder").mkdir()
    Path("folder.uai").mkdir()


BAD = [
    ([], "command"),
    (["bogus"], "bogus"),
    (["exact"], "model"),
    (["exact"], "(see `python -m pmpviz exact --help`)"),
    (["list", "pages"], "pages"),
    (["list", "--json=3"], "--json"),
    (["--version"], ""),
    (["exact", SMALL, "--bogus"], "--bogus"),
    (["exact", SMALL, "--js"], "--js"),
    (["exact", SMALL, "a\nb\x1b[31m" + "c" * 2000], ""),
    (["exact", ""], "model"),
    (["exact", "\0"], ""),
    (["exact", "\udcff.uai"], "no file"),
    (["exact", "pentagon:4"], "pentagon"),
    (["exact", "square:0x4"], "size"),
    (["exact", "square:4"], "size"),
    (["exact", "square:9999x9999"], "too large"),
    (["exact", "square:4x4,J"], "name=value"),
    (["exact", "square:4x4,J=nan"], "J"),
    (["exact", "square:4x4,J=1,theta=1"], "theta"),
    (["exact", "square:4x4,bogus=1"], "bogus"),
    (["exact", "square:4x4," + "J=1," * 1000], "characters"),
    (["exact", "missing.uai"], "missing.uai"),
    (["exact", "missing/model.npz"], "missing"),
    (["exact", "a/b"], "ends in none"),
    (["exact", "x" * 300 + ".uai"], ""),
    (["exact", "folder"], "folder"),
    (["exact", "folder.uai"], "is not a file"),
    (["exact", "model.txt"], "ends in none"),
    (["exact", "malformed.uai"], "malformed.uai, line 6"),
    (["exact", "other.uai"], "not UTF-8"),
    (["exact", "empty.uai"], "MARKOV"),
    (["exact", "empty.npz"], "archive"),
    (["exact", "empty.json"], "JSON"),
    (["exact", "text.npz"], "archive"),
    (["exact", "list.json"], "format"),
    (["exact", "deep.json"], "nested"),
    (["exact", "huge.json"], "JSON"),
    (["exact", "impossible.uai"], "probability 0"),
    (["exact", SMALL, "--beta", "-1"], "beta"),
    (["exact", SMALL, "--beta", "nan"], "beta"),
    (["exact", SMALL, "--beta", "1e400"], "beta"),
    (["exact", SMALL, "--beta"], "--beta"),
    (["exact", SMALL, "--evidence", "missing.evid"], "missing.evid"),
    (["exact", SMALL, "--evidence", ""], ""),
    (["exact", SMALL, "--evidence", "folder"], "is not a file"),
    (["exact", "good.npz", "--evidence", "out.evid"], "variable 9"),
    (["exact", "good.npz", "--evidence", "state.evid"], "0 to 1"),
    (["exact", "good.npz", "--evidence", "word.evid"], "word.evid, line 1"),
    (["exact", "good.npz", "--evidence", "short.evid"], "short.evid"),
    (["exact", "good.npz", "--evidence", "blank.evid"], "blank.evid"),
    (["exact", "square:64x64,h=0.1"], "width 1"),
    (["exact", "complete:100"], "width 99"),
    (["sample", SMALL, "--algorithm", "bogus"], "bogus"),
    (["sample", SMALL, "--algorithm", "gibbs", "--damping", "0.5"], "damping"),
    (["sample", SMALL, "--damping", "2"], "damping"),
    (["sample", SMALL, "--damping", "a lot"], "damping"),
    (["sample", SMALL, "--sweeps-per-draw", "1.5"], "sweeps_per_draw"),
    (["sample", SMALL, "--sweeps", "-1"], "sweeps"),
    (["sample", SMALL, "--sweeps", "1e3"], "sweeps"),
    (["sample", SMALL, "--sweeps", "9" * 40], "sweeps"),
    (["sample", SMALL, "--chains", "-3"], "chains"),
    (["sample", SMALL, "--chains", "0"], "chains"),
    (["sample", SMALL, "--chains", "many"], "chains"),
    (["sample", "square:400x400", "--chains", "1000000"], "chains"),
    (["sample", SMALL, "--seed", "-1"], "seed"),
    (["sample", SMALL, "--seed", "2147483648"], "seed"),
    (["sample", SMALL, "--start", "warm"], "warm"),
    (["sample", "square:64x64,h=0.1", "--start", "exact"], "width 1"),
    (["sample", "square:64x64,h=0.1", "--algorithm", "exact"], "width 1"),
    (["sample", "square:32x32", "--start", "exact"], "samples"),
    (["sample", "states.uai", "--algorithm", "swendsen_wang"], "Potts"),
    (["sample", "states.uai", "--algorithm", "wolff"], "two-state"),
    (["sample", "nothing.uai", "--algorithm", "exact"], "at least one variable"),
    (["sample", SMALL, "--checkpoint", "garbage"], "checkpoint"),
    (["bench", "--workload", "bogus"], "bogus"),
    (["bench", "--reference", "missing", "--workload", "pmp-lattice-50"], "missing"),
]


@pytest.mark.parametrize(("argv", "word"), BAD)
def test_bad_input_is_told_in_one_line(argv, word):
    bad_files()
    assert word in refused(*argv)


@pytest.mark.parametrize("damage", ["quantum", "key", "leaf0", "leaf1", "header"])
def test_a_checkpoint_of_other_contents_is_refused(damage):
    argv = ["sample", SMALL, "--algorithm", "gibbs", "--chains", "3", "--sweeps", "2", "--checkpoint", "run.npz"]
    found(*argv)
    with np.load("run.npz") as file:
        arrays = dict(file)
    if damage == "quantum":
        header = json.loads(bytes(arrays["header"])) | {"quantum": "two"}
        arrays["header"] = np.frombuffer(json.dumps(header).encode(), np.uint8)
    else:
        arrays[damage] = np.zeros(3)
    np.savez("run.npz", **arrays)
    assert "checkpoint" in refused(*argv)


WORDS = [b"0", b"1", b"-1", b"7", b"128", b"99999999999", b"1e400", b"1e39", b"nan", b"null", b"\n", b"\0", b"\xff"]


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """Digits changed, or bytes replaced, inserted and left out, or the end cut off."""
    content = bytearray(data)
    for _ in range(rng.integers(1, 4)):
        at, span = int(rng.integers(len(content))), int(rng.integers(0, 5))
        if content[at : at + 1].isdigit():
            content[at : at + 1] = str(rng.integers(10)).encode()
        elif rng.random() < 0.6:
            content[at : at + span] = WORDS[rng.integers(len(WORDS))] if rng.random() < 0.5 else rng.bytes(span)
    return bytes(content[: rng.integers(len(content))] if rng.random() < 0.05 else content)


def damaged_files(count: int, rng: np.random.Generator):
    """(name, bytes) of model files of every format that are damaged somewhere."""
    whole = []
    for model in (build_spec("square:2x3,h=0.1,periodic=false"), build_spec("complete:4,J=1"), random_model(3, n=4)):
        for suffix in (".uai", ".npz", ".json"):
            save_model(f"whole{suffix}", model)
            whole.append((f"damaged{suffix}", Path(f"whole{suffix}").read_bytes()))
    for k in range(count):
        name, data = whole[k % len(whole)]
        yield name, damaged(data, rng)


@pytest.fixture
def warnings_fail():
    """A warning would be a second line on standard error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_damaged_files_are_read_or_refused_in_one_sentence(warnings_fail):
    read = {True: 0, False: 0}
    for name, data in damaged_files(2700, np.random.default_rng(10)):
        try:
            model = load_model_bytes(name, data).model
            assert model.n >= 0 and len(model.card) == model.n
            read[True] += 1
        except InputError as error:
            assert 10 < len(str(error)) <= LONGEST and len(str(error).splitlines()) == 1
            read[False] += 1
    assert min(read.values()) > 300, read


def test_damaged_files_are_solved_or_told_in_one_line(warnings_fail):
    solved = 0
    for name, data in damaged_files(270, np.random.default_rng(11)):
        Path(name).write_bytes(data)
        if call("exact", name)[0] != 0:
            refused("exact", name)
            continue
        result = found("exact", name)
        assert np.isfinite(result["log_z"])
        assert all(abs(sum(row) - 1) < 1e-9 and min(row) >= 0 for row in result["marginals"])
        solved += 1
    assert 30 < solved < 240


@pytest.mark.parametrize("method", [1, 2, 3, 8, 9, 12, 14, 93, 98, 65535])
def test_an_archive_that_claims_another_compression_is_refused(method, warnings_fail):
    save_model("model.npz", build_spec("chain:4"))
    data = bytearray(Path("model.npz").read_bytes())
    for signature, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        at = -1
        while (at := data.find(signature, at + 1)) >= 0:
            data[at + place : at + place + 2] = method.to_bytes(2, "little")
    Path("model.npz").write_bytes(data)
    if method == 8:
        assert found("exact", "model.npz")["n"] == 4
    else:
        assert "archive" in refused("exact", "model.npz")


def test_an_archive_with_a_broken_compressed_stream_is_refused(warnings_fail):
    with zipfile.ZipFile("model.npz", "w") as archive:
        archive.writestr("bias.npy", b"\x09\x04\x05\x00" + b"\xff" * 60)
    data = bytearray(Path("model.npz").read_bytes())
    for signature, place in ((b"PK\3\4", 8), (b"PK\1\2", 10)):
        data[data.find(signature) + place] = zipfile.ZIP_LZMA
    Path("model.npz").write_bytes(data)
    assert "archive" in refused("exact", "model.npz")


@pytest.mark.parametrize("value", [3.5e38, -1e300, 1e308])
@pytest.mark.parametrize("name", ["bias", "weight", "constant"])
def test_weights_beyond_single_precision_are_refused(name, value, warnings_fail):
    save_model("model.json", build_spec("chain:4"))
    content = json.loads(Path("model.json").read_text())
    content["arrays"][name]["data"][0] = value
    Path("model.json").write_text(json.dumps(content))
    assert "single precision" in refused("exact", "model.json")


def test_tables_beyond_double_precision_are_refused(warnings_fail):
    for suffix in (".json", ".npz"):
        save_model(f"model{suffix}", TableModel.of([2, 2], [((0, 1), np.full((2, 2), 1.5e308))] * 2))
        assert "double precision" in refused("exact", f"model{suffix}")


def test_energies_beyond_single_precision_are_told(warnings_fail):
    model = build_spec("chain:4")
    save_model("model.npz", type(model).of(np.full(4, 3e38), model.couplings, model.constant))
    argv = ["sample", "model.npz", "--algorithm", "gibbs", "--chains", "2", "--sweeps", "1"]
    assert "single precision" in refused(*argv)

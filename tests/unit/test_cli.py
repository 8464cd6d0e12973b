"""The command line: what it prints and writes, and how runs resume."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from command_line import SMALL, cache, call, found, in_a_folder_of_its_own, refused, write  # noqa: F401
from table_models import answers, brute_force, random_factors, random_model

import pmpviz
from pmpviz.__main__ import LISTED, main
from pmpviz.experiments.reproductions import REPRODUCTIONS
from pmpviz.io import load_samples
from pmpviz.io.datasets import DATASETS
from pmpviz.learning import LEARNERS
from pmpviz.models import BUILDERS, build_spec
from pmpviz.models.tables import TableModel
from pmpviz.oracles import ORACLES
from pmpviz.runs import checkpoint
from pmpviz.samplers import SAMPLERS
from tests.compiling import BRIEFLY, flags

pytestmark = pytest.mark.brief


def samples(*argv, out="samples.npz") -> np.ndarray:
    found("sample", *argv, "--out", out)
    return load_samples(out)


def test_list_names_everything():
    everything = found("list")
    assert [row["id"] for row in everything["models"]] == [builder.id for builder in BUILDERS]
    assert [row["id"] for row in everything["algorithms"]] == [cls.spec.id for cls in SAMPLERS]
    assert [row["id"] for row in everything["learners"]] == [cls.spec.id for cls in LEARNERS]
    assert [(row["id"], row["promise"]) for row in everything["oracles"]] == [
        (c.spec.id, c.spec.promise) for c in ORACLES
    ]
    assert [row["id"] for row in everything["datasets"]] == [source.id for source in DATASETS]
    assert [row["id"] for row in everything["reproductions"]] == [known.id for known in REPRODUCTIONS]
    assert list(everything) == list(LISTED)
    assert list(found("list", "models")) == ["models"]
    _, text, _ = call("list", "algorithms")
    for cls in SAMPLERS:
        assert cls.spec.id in text and all(param.name in text for param in cls.spec.params)


COMMANDS = ["list", "exact", "infer", "map", "sample", "train", "reproduce", "bench", "contract"]


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_is_printed(command):
    with pytest.raises(SystemExit) as stop, contextlib.redirect_stdout(io.StringIO()) as out:
        main([*command, "--help"])
    assert stop.value.code == 0 and "usage: python -m pmpviz" in out.getvalue()
    if command == ["sample"]:
        knobs = {param.name.replace("_", "-") for cls in SAMPLERS for param in cls.spec.params}
        assert all(f"--{name}" in out.getvalue() for name in knobs)


@pytest.mark.parametrize("suffix", [".uai", ".npz", ".json"])
def test_exact_on_files_and_specs(suffix):
    model = build_spec(SMALL)
    by_spec, by_file = found("exact", SMALL), found("exact", write(model, f"model{suffix}"))
    states = np.array(np.meshgrid(*[[0, 1]] * 12)).reshape(12, -1).T
    bias, i, j, w = model.pairwise()
    weight = np.exp(states @ bias + (states[:, i] * states[:, j]) @ w + float(model.constant))
    for result in (by_spec, by_file):
        assert result["n"] == 12 and ("elimination" in result["method"] or "enumeration" in result["method"])
        assert result["log_z"] == pytest.approx(np.log(weight.sum()), rel=1e-6)
        p1 = (weight @ states) / weight.sum()
        np.testing.assert_allclose(result["marginals"], np.stack([1 - p1, p1], 1), atol=1e-6)


@pytest.mark.parametrize("suffix", [".uai", ".npz", ".json"])
def test_exact_with_evidence_keeps_the_tables_in_float64(suffix):
    card, factors, constant = random_factors(np.random.default_rng(4), n=6, zeros=0)
    factors = [(scope, 3 * table) for scope, table in factors]
    name = write(TableModel.of(card, factors, constant), f"model{suffix}")
    clamped = {v: card[v] - 1 for v in (1, 4)}
    Path("1.evid").write_text(f"2 1 {clamped[1]} 4 {clamped[4]}\n")  # the path begins with a digit
    log_z, marginals, _, _ = answers(card, *brute_force(card, factors, constant, 0.5, clamped))
    result = found("exact", name, "--evidence", "1.evid", "--beta", "0.5")
    assert result["log_z"] == pytest.approx(log_z, rel=1e-12)
    for row, truth in zip(result["marginals"], marginals, strict=True):
        np.testing.assert_allclose(row, truth, atol=1e-11)


def test_exact_in_words():
    code, out, err = call("exact", SMALL)
    result = found("exact", SMALL)
    lines = out.splitlines()
    assert (code, err) == (0, "") and float(lines[0].split()[3]) == pytest.approx(result["log_z"], rel=1e-11)
    rows = [[float(word) for word in line.split("\t")] for line in lines[1:]]
    np.testing.assert_allclose(rows, [[i, *row] for i, row in enumerate(result["marginals"])], atol=1e-9)


REAL = Path(os.environ.get("PMPVIZ_DATA", "")) / "uai" / "answers.json"
ANSWERS = json.loads(REAL.read_text()) if REAL.exists() else []


@pytest.mark.parametrize("kind", ["clique", "grid5x5", "grid10x10", "rbm"])
def test_exact_on_files_with_known_answers(kind):
    for answer in [a for a in ANSWERS if a["file"].startswith(kind)][:3] or [_made()]:
        result = found("exact", REAL.parent / answer["file"])
        assert result["log_z"] == pytest.approx(answer["log_z"], rel=1e-4)
        np.testing.assert_allclose(np.array(result["marginals"])[:, 1], answer["marginals"], atol=1e-4)


def _made() -> dict:
    card, (scopes, strength) = [2] * 8, ([(i, j) for i in range(8) for j in range(i)], 2.0)
    rng = np.random.default_rng(1)
    factors = [(scope, strength * rng.normal(size=(2, 2))) for scope in scopes]
    log_z, marginals, _, _ = answers(card, *brute_force(card, factors))
    name = write(TableModel.of(card, factors), str(Path("made.uai").absolute()))
    return {"file": name, "log_z": log_z, "marginals": [row[1] for row in marginals]}


@pytest.mark.parametrize("cls", SAMPLERS, ids=lambda cls: cls.spec.id)
def test_sample_writes_what_it_says(cls):
    argv = ["sample", SMALL, "--algorithm", cls.spec.id, "--sweeps", "9", "--chains", "33", "--out", "x.npz"]
    result = found(*argv)
    with np.load("x.npz") as file:
        assert file.files == ["x"]
        x = file["x"]
    assert x.dtype == np.int8 and x.shape == (33, 12) and set(np.unique(x)) <= {0, 1}
    assert (result["algorithm"], result["guarantee"]) == (cls.spec.id, cls.spec.guarantee)
    assert (result["n"], result["chains"], result["sweeps"], result["out"]) == (12, 33, 9, "x.npz")
    np.testing.assert_allclose(result["marginals"], np.stack([1 - x.mean(0), x.mean(0)], 1), atol=1e-6)
    model = build_spec(SMALL)
    bias, i, j, w = model.pairwise()
    energy = -(x @ bias + (x[:, i] * x[:, j]) @ w).mean() - float(model.constant)
    assert result["mean_energy"] == pytest.approx(energy, rel=1e-4)
    code, out, err = call(*argv)
    assert (code, err) == (0, "") and cls.spec.guarantee in out and "wrote x.npz" in out


def test_exact_samples_of_a_model_with_several_states():
    model = random_model(5, n=5)
    name = write(model, "model.npz")
    result = found("sample", name, "--algorithm", "exact", "--chains", "4000", "--sweeps", "1", "--out", "x.npz")
    truth = found("exact", name)["marginals"]
    assert [len(row) for row in result["marginals"]] == list(model.card) == [len(row) for row in truth]
    for row, p in zip(result["marginals"], truth, strict=True):
        error = np.sqrt(np.maximum(np.array(p) * (1 - np.array(p)), 1e-12) / 4000)
        assert (np.abs(np.array(row) - p) <= 5.5 * error + 1e-6).all()


def test_knobs_seeds_and_evidence_reach_the_run():
    Path("one.evid").write_text("2 0 1 11 0\n")
    argv = [write(build_spec(SMALL), "model.json"), "--sweeps", "4", "--chains", "33", "--evidence", "one.evid"]
    x = samples(*argv)
    assert (x[:, 0] == 1).all() and (x[:, 11] == 0).all() and 0 < x[:, 5].mean() < 1
    np.testing.assert_array_equal(samples(*argv), x)
    for other in (["--seed", "1"], ["--damping", "0"], ["--sweeps-per-draw", "1"], ["--beta", "3"]):
        assert (samples(*argv, *other) != x).any(), other


def test_the_seed_and_the_default_knobs_are_those_that_are_named():
    np.testing.assert_array_equal(
        samples(SMALL, "--sweeps", "5", "--chains", "33"),
        samples(SMALL, "--algorithm=pmp", "--sweeps=5", "--chains=33", "--seed=0", "--damping=0.5", "--beta=1"),
    )


def test_named_starts():
    for start, wanted in (("zeros", [0] * 12), ("ones", [1] * 12), ("stripes", [1] * 6 + [0] * 6)):
        x = samples(SMALL, "--algorithm", "gibbs", "--sweeps", "0", "--chains", "3", "--start", start)
        np.testing.assert_array_equal(x, [wanted] * 3)
    x = samples(SMALL, "--algorithm", "gibbs", "--sweeps", "0", "--chains", "500")
    assert abs(x.mean() - 0.5) < 5 * 0.5 / np.sqrt(x.size)


def test_exact_starts_are_samples_of_the_truth():
    spec = "square:3x3,J=0.8,h=0.3,periodic=false"
    p1 = np.array(found("exact", spec)["marginals"])[:, 1]
    for sweeps in (0, 2):
        argv = [spec, "--algorithm", "gibbs", "--start", "exact", "--chains", "5000", "--sweeps", sweeps]
        deviations = (samples(*argv).mean(0) - p1) / np.sqrt(p1 * (1 - p1) / 5000)
        assert np.abs(deviations).max() < 5.5
        assert (samples(*argv, "--seed", "1") != samples(*argv)).any()


@pytest.mark.parametrize("cls", SAMPLERS, ids=lambda cls: cls.spec.id)
def test_a_checkpoint_resumes_bit_for_bit(cls):
    argv = [SMALL, "--algorithm", cls.spec.id, "--chains", "33", "--seed", "4"]
    straight = samples(*argv, "--sweeps", "21")
    for sweeps in (0, 8, 21):
        x = samples(*argv, "--sweeps", sweeps, "--checkpoint", "run.npz")
    np.testing.assert_array_equal(x, straight)
    np.testing.assert_array_equal(samples(*argv, "--sweeps", "21", "--checkpoint", "run.npz"), straight)


def test_a_checkpoint_goes_on_from_its_own_start():
    argv = [SMALL, "--algorithm", "gibbs", "--chains", "9", "--start", "exact"]
    straight = samples(*argv, "--sweeps", "6")
    samples(*argv, "--sweeps", "2", "--checkpoint", "run.npz")
    np.testing.assert_array_equal(samples(*argv, "--sweeps", "6", "--checkpoint", "run.npz"), straight)


def test_a_checkpoint_is_not_written_after_every_chunk(monkeypatch):
    saved = []
    monkeypatch.setattr(checkpoint, "save", lambda run, path: saved.append(run.sweep))
    found("sample", SMALL, "--chains", "2", "--sweeps", "40", "--algorithm", "gibbs", "--checkpoint", "run.npz")
    assert saved[-1] == 40 and saved.count(40) == 1
    saved.clear()
    monkeypatch.setattr("pmpviz.experiments.sample.SECONDS_BETWEEN_SAVES", -1.0)
    found("sample", SMALL, "--chains", "2", "--sweeps", "40", "--algorithm", "gibbs", "--checkpoint", "run.npz")
    assert saved == [*range(2, 41, 2), 40]


def test_a_checkpoint_of_another_run_is_refused():
    argv = ["sample", SMALL, "--algorithm", "gibbs", "--chains", "3", "--checkpoint", "run.npz"]
    found(*argv, "--sweeps", "5")
    held = Path("run.npz").read_bytes()
    for other, word in (
        (["--sweeps", "4"], "5 sweeps already"),
        (["--seed", "1"], "another seed"),
        (["--chains", "4"], "3 chains"),
        (["--beta", "2"], "beta"),
        (["--algorithm", "colour_gibbs"], "gibbs"),
    ):
        assert word in refused(*argv, "--sweeps", "9", *other)
    assert Path("run.npz").read_bytes() == held


def test_a_file_is_not_overwritten_by_another():
    model, evidence = write(build_spec(SMALL), "model.npz"), Path("a.evid")
    evidence.write_text("0\n")
    before = Path(model).read_bytes()
    for out in ("model.npz", "./model.npz", "a.evid", "link.npz"):
        if out == "link.npz":
            os.symlink("model.npz", out)
        assert "named twice" in refused("sample", model, "--evidence", "a.evid", "--out", out)
    assert "named twice" in refused("sample", model, "--out", "x.npz", "--checkpoint", "x.npz")
    assert Path(model).read_bytes() == before and evidence.read_text() == "0\n"


def run(*argv, **options) -> subprocess.CompletedProcess:
    environment = os.environ | {"PYTHONPATH": str(Path(pmpviz.__file__).parents[1]), "XLA_FLAGS": flags(BRIEFLY)}
    command = [sys.executable, "-m", "pmpviz", *argv]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, **options)


def test_in_a_process_of_its_own():
    done = run("sample", SMALL, "--chains", "5", "--sweeps", "30", "--out", "x.npz", "--json")
    assert (done.returncode, done.stderr) == (0, "") and json.loads(done.stdout)["chains"] == 5
    assert load_samples("x.npz").shape == (5, 12)
    done = run("exact", "missing.uai", "--json")
    assert (done.returncode, done.stdout) == (2, "") and done.stderr.count("\n") == 1


def test_a_library_says_nothing_beside_the_object():
    done = run("map", SMALL, "--oracle", "linear_program", "--json")
    assert done.stdout.count("\n") == 1 and json.loads(done.stdout)["oracle"] == "linear_program"


def test_a_reader_that_goes_away_is_no_error():
    command = f"'{sys.executable}' -m pmpviz list | head -n 1"
    environment = os.environ | {"PYTHONPATH": str(Path(pmpviz.__file__).parents[1])}
    done = subprocess.run(command, shell=True, env=environment, capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("models:\n", "")


def test_an_output_that_fails_is_told_in_one_line(monkeypatch, capsys):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(sys, "stdout", Full())
    assert main(["list", "--json"]) == 2
    assert capsys.readouterr().err == "pmpviz: the output cannot be read or written (No space left on device)\n"

"""`train`: what it writes, how it resumes bit for bit after a kill, and what it refuses."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import jax
import numpy as np
import pytest
from command_line import cache, call, found, in_a_folder_of_its_own, refused  # noqa: F401

import pmpviz
from pmpviz.capabilities.learning.command import knob_flag
from pmpviz.io import load_model
from pmpviz.io.datasets import parse_dataset
from pmpviz.learning import LEARNERS, make_learner
from pmpviz.learning.optimiser import OPTIMISER_PARAMS
from pmpviz.learning.start import fresh_model
from pmpviz.models import RBM, SRBM
from pmpviz.runs import training
from pmpviz.types import InputError

pytestmark = pytest.mark.brief

SMALL = ("train", "bars:3x3", "--hidden", 6, "--chains", 20, "--batch", 16, "--seed", 3)


def arrays(path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def same(one, other) -> bool:
    one, other = arrays(one), arrays(other)
    return one.keys() == other.keys() and all(one[name].tobytes() == other[name].tobytes() for name in one)


@pytest.mark.parametrize("kind", ["rbm", "srbm", "gaussian_rbm", "ising"])
def test_a_learned_model_is_written_and_can_be_sampled(kind):
    learner = "pcd" if kind in ("srbm", "gaussian_rbm") else "pmp"
    argv = (*SMALL, "--model", kind, "--learner", learner, "--sweeps", 5, "--epochs", 4, "--out", "m.npz")
    result = found(*argv)
    data = parse_dataset("bars:3x3")
    assert (result["model"], result["learner"], result["images"]) == (kind, learner, len(data))
    assert result["visible"] == 9 and result["hidden"] == (0 if kind == "ising" else 6)
    assert result["iterations"] == -(-4 * len(data) // min(16, len(data))) and result["epochs"] >= 4
    assert result["resumed_from"] == 0 and result["weight_norm"] > 0 and result["changed"] == []
    model = load_model("m.npz").model
    assert (
        isinstance(model, {"rbm": RBM, "srbm": SRBM, "gaussian_rbm": SRBM}.get(kind, object))
        and model.n == 9 + result["hidden"]
    )
    for algorithm in (result["sampler"], "colour_gibbs"):
        drawn = found("sample", "m.npz", "--algorithm", algorithm, "--chains", 50, "--sweeps", 20, "--out", "x.npz")
        assert drawn["n"] == model.n and arrays("x.npz")["x"].shape == (50, model.n)
    assert found("exact", "m.npz")["n"] == model.n


def test_a_training_in_words():
    code, out, err = call(*SMALL, "--learner", "pcd", "--epochs", 1, "--out", "m.npz")
    assert (code, err) == (0, "") and "rbm of 9 visible and 6 hidden units" in out and "wrote m.npz" in out


def test_every_knob_has_a_flag():
    for cls in LEARNERS:
        for param in cls.spec.params:
            choice = param.scale == "choice"
            refused("train", "bars", "--learner", cls.spec.id, f"--{knob_flag(param.name)}", "bogus", "--out", "m.npz")
            assert not choice or param.choices
    for param in OPTIMISER_PARAMS:
        flag = "optimiser" if param.name == "method" else param.name.replace("_", "-")
        assert param.name in refused("train", "bars", f"--{flag}", "bogus", "--out", "m.npz")
    assert knob_flag("hidden") == "learner-hidden" and knob_flag("sweeps") == "sweeps"


def test_a_longer_training_goes_on_from_a_shorter_one_bit_for_bit():
    argv = (*SMALL, "--learner", "persistent_pmp", "--sweeps", 3)
    found(*argv, "--epochs", 9, "--out", "whole.npz")
    first = found(*argv, "--epochs", 4, "--out", "m.npz")
    second = found(*argv, "--epochs", 9, "--out", "m.npz", "--resume")
    assert second["resumed_from"] == first["iterations"] > 0 and second["changed"] == []
    assert same("m.npz", "whole.npz")
    again = found(*argv, "--epochs", 9, "--out", "m.npz", "--resume")
    assert (
        again["resumed_from"] == again["iterations"] and again["gradient_norm"] is None and same("m.npz", "whole.npz")
    )


def test_rates_may_change_at_a_resume_and_it_is_said():
    found(*SMALL, "--learner", "pcd", "--epochs", 2, "--out", "m.npz")
    argv = (*SMALL, "--learner", "pcd", "--epochs", 4, "--out", "m.npz", "--resume", "--learning-rate", 0.001)
    code, out, err = call(*argv, "--sweeps", 2, "--json")
    assert code == 0 and err.count("\n") == 2 and "learning_rate is 0.001, where the checkpoint has 0.01" in err
    assert "the learner's sweeps is 2, where the checkpoint has 1" in json.loads(out)["changed"]


def train_until(count: int, argv: list[str]) -> int:
    """Start a training in a process and kill -9 it when it has written its checkpoint `count` times."""
    env = os.environ | {"PYTHONPATH": str(Path(pmpviz.__file__).parents[1])}
    process = subprocess.Popen([sys.executable, "-m", "pmpviz", *argv], env=env, stderr=subprocess.PIPE)
    times, deadline = set(), time.monotonic() + 120
    while len(times) < count and process.poll() is None and time.monotonic() < deadline:
        if os.path.exists("m.npz.training.npz"):
            times.add(os.stat("m.npz.training.npz").st_mtime_ns)
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    return process.wait()


@pytest.mark.as_shipped
def test_a_killed_training_resumes_bit_for_bit():
    argv = [str(word) for word in (*SMALL, "--learner", "pmp", "--sweeps", 200, "--epochs", 1500)]
    assert train_until(2, [*argv, "--every", "0.05", "--out", "m.npz"]) == -signal.SIGKILL
    assert not Path("m.npz").exists()
    resumed = found(*argv, "--out", "m.npz", "--resume")
    assert 0 < resumed["resumed_from"] < resumed["iterations"]
    found(*argv, "--out", "whole.npz")
    assert same("m.npz", "whole.npz")


BAD = [
    (["train"], "data"),
    (["train", "bars"], "--out"),
    (["train", "pentagons", "--out", "m.npz"], "pentagons"),
    (["train", "missing/x.npz", "--out", "m.npz"], "no file"),
    (["train", "bars", "--out", "m.txt"], "m.txt"),
    (["train", "bars", "--out", "missing/m.npz"], "missing"),
    (["train", "bars", "--out", "m.npz", "--checkpoint", "m.npz"], "twice"),
    (["train", "bars", "--out", "m.npz", "--learner", "bogus"], "bogus"),
    (["train", "bars", "--out", "m.npz", "--model", "potts"], "model"),
    (["train", "bars", "--out", "m.npz", "--epochs", "nan"], "epochs"),
    (["train", "bars", "--out", "m.npz", "--epochs", "-1"], "epochs"),
    (["train", "bars", "--out", "m.npz", "--batch", "0"], "batch"),
    (["train", "bars", "--out", "m.npz", "--chains", "1e9"], "chains"),
    (["train", "digits", "--out", "m.npz", "--hidden", "100000"], "weights"),
    (["train", "bars", "--out", "m.npz", "--start", "warm"], "start"),
    (["train", "bars", "--out", "m.npz", "--form", "spin"], "spin"),
    (["train", "bars", "--out", "m.npz", "--seed", "-1"], "seed"),
    (["train", "bars", "--out", "m.npz", "--every", "x"], "every"),
    (["train", "bars", "--out", "m.npz", "--optimiser", "newton"], "method"),
    (["train", "bars", "--out", "m.npz", "--learning-rate", "7"], "learning_rate"),
    (["train", "bars", "--out", "m.npz", "--learner", "pcd", "--damping", "0.5"], "damping"),
    (["train", "bars", "--out", "m.npz", "--learner", "pseudo_likelihood"], "observed"),
    (["train", "bars:8x8", "--out", "m.npz", "--learner", "exact"], "2^"),
]


@pytest.mark.parametrize("argv, word", BAD, ids=lambda value: " ".join(value[:8]) if isinstance(value, list) else "")
def test_bad_input_is_one_sentence(argv, word):
    assert word in refused(*argv)
    assert os.listdir() == []


CHANGED = [
    (["--seed", "4"], "seed"),
    (["--learner", "pmp"], "learner (pcd, not pmp)"),
    (["--optimiser", "sgd"], "optimiser (adam, not sgd)"),
    (["--batch", "8"], "batches (14, not 8)"),
    (["--chains", "21"], "chains (20, not 21)"),
    (["--hidden", "7"], "start of the model"),
    (["--epochs", "1"], "epochs already"),
]


def test_a_checkpoint_of_something_else_is_refused():
    argv = (*SMALL, "--learner", "pcd", "--epochs", 2, "--out", "m.npz")
    found(*argv)
    before = arrays("m.npz")
    assert "--resume" in refused(*argv)
    for changed, words in CHANGED:
        assert words in refused(*argv, "--resume", *changed)
    Path("m.npz.training.npz").write_bytes(b"garbage")
    assert "checkpoint of a training" in refused(*argv, "--resume")
    found("sample", "m.npz", "--chains", 2, "--sweeps", 1, "--checkpoint", "run.npz")
    assert "checkpoint of a training" in refused(*argv, "--resume", "--checkpoint", "run.npz")
    assert arrays("m.npz").keys() == before.keys()


def test_weights_that_overflow_are_told():
    data = parse_dataset("bars:3x3").x
    begun = training.start(make_learner("pcd"), fresh_model("rbm", data, 6, "zero", 0), data, jax.random.key(0))
    burst = {name: np.full_like(value, np.inf) for name, value in begun.parameters.items()}
    with pytest.raises(InputError, match="learning rate"):
        list(training.stream(dataclasses.replace(begun, parameters=burst), 3))

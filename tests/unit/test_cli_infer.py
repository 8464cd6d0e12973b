"""`python -m pmpviz infer`: what it prints, writes and refuses."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from command_line import cache, call, found, in_a_folder_of_its_own, refused, write  # noqa: F401

from pmpviz import exact
from pmpviz.exact import elimination
from pmpviz.marginals import SOLVERS
from pmpviz.models import build_spec
from pmpviz.models.tables import TableModel
from pmpviz.types import Target

SMALL = "complete:5,J=0.4,field=random,h=1"


@pytest.mark.parametrize("name", [cls.spec.id for cls in SOLVERS])
def test_one_object_with_what_is_known(name):
    answer = found("infer", SMALL, "--algorithm", name)
    exact = found("exact", SMALL)
    assert answer["algorithm"] == name
    assert np.shape(answer["marginals"]) == (5, 2)
    np.testing.assert_allclose(answer["marginals"], exact["marginals"], atol=0.15)
    assert answer["log_z_bound"] is None or answer["log_z_bound"] >= exact["log_z"] - 1e-9
    assert answer["seconds"] > 0 and answer["ended"] and answer["trace"]


def test_a_walk_says_its_calls_gap_and_trace():
    answer = found("infer", SMALL, "--tolerance", "0.1", "--rho-updates", "2", "--oracle", "enumeration")
    assert answer["oracle_calls"] == len(answer["trace"]) > 3
    assert answer["gap"] <= 0.1 and answer["trace"][-1]["rho_update"] == 2
    assert answer["log_z_bound"] == pytest.approx(min(record["bound"] for record in answer["trace"]))
    assert answer["log_z_lower"] <= answer["log_z_bound"]


def test_evidence_temperature_and_files():
    Path("clamp.evid").write_text("2 1 1 3 0")
    model = write(build_spec(SMALL), "model.uai")
    answer = found("infer", model, "--evidence", "clamp.evid", "--beta", "0.5", "--out", "out.MAR")
    assert answer["marginals"][1] == [0.0, 1.0] and answer["marginals"][3] == [1.0, 0.0]
    words = Path("out.MAR").read_text().split()
    assert words[:2] == ["MAR", "5"]
    np.testing.assert_allclose(np.array(words[2:], float).reshape(5, 3)[:, 1:], answer["marginals"])
    answer = found("infer", model, "--out", "out.PR")
    assert float(Path("out.PR").read_text().split()[1]) == pytest.approx(answer["log_z"] / math.log(10))


def test_more_states_than_two():
    rng = np.random.default_rng(0)
    table = TableModel.of((2, 3, 4), [((0, 1), rng.normal(size=(2, 3))), ((1, 2), rng.normal(size=(3, 4)))])
    answer = found("infer", write(table, "model.json"), "--tolerance", "0.01")
    exact = found("exact", "model.json")
    assert [len(row) for row in answer["marginals"]] == [2, 3, 4]
    assert exact["log_z"] <= answer["log_z_bound"] <= exact["log_z"] + 0.02


def test_words_say_what_bounds_and_what_does_not():
    _, text, _ = call("infer", SMALL)
    assert "Barrier Frank-Wolfe (bound)" in text and "log Z at most" in text and "MAP calls" in text
    _, text, _ = call("infer", SMALL, "--algorithm", "bp")
    assert "this log Z bounds nothing" in text


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--algorithm", "gibbs"), "barrier_frank_wolfe"),
        (("--tolerance", "-1"), "tolerance"),
        (("--oracle", "magic"), "oracle"),
        (("--out", "out.txt"), ".MAR or .PR"),
        (("--algorithm", "perturb_and_map", "--out", "out.PR"), "no estimate of log Z"),
        (("--damping", "0.5"), "damping"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(argv, words):
    assert words in refused("infer", SMALL, *argv)


def test_an_oracle_that_is_too_small_says_so():
    assert "states" in refused("infer", "square:6x6,periodic=false", "--oracle", "enumeration")


def test_object_is_json_without_infinities():
    _, text, _ = call("infer", "square:3x3,periodic=false", "--oracle", "icm", "--json")
    assert json.loads(text)["log_z_bound"] is None and "Infinity" not in text and "NaN" not in text


def test_exact_marginals_take_as_much_here_as_by_the_command_of_their_own(monkeypatch):
    monkeypatch.setattr(elimination, "MAX_ENTRIES", 8)
    model = "square:6x6,J=0.4,h=0.1,periodic=false"
    target = Target.of(build_spec(model))
    assert "2^8" in exact.why_not(target)
    answer = found("infer", model, "--algorithm", "exact")
    assert answer["log_z"] == pytest.approx(found("exact", model)["log_z"])

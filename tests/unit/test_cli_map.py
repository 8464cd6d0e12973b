"""`python -m pmpviz map`: what it prints and writes, with evidence, beta and every oracle's knobs."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from command_line import SMALL, cache, call, found, in_a_folder_of_its_own, refused, write  # noqa: F401
from table_models import brute_force, random_factors

from pmpviz.models import Ising, build_spec
from pmpviz.models.tables import TableModel
from pmpviz.oracles import ORACLES, PROMISES, outside

KEYS = ["oracle", "promise", "configuration", "value", "upper", "exact", "notes", "seconds"]
LIBRARY = {"toulbar2": "pytoulbar2", "scip": "pyscipopt"}
MISSING = {name for name, library in LIBRARY.items() if not outside.installed(library)}
USABLE = [
    pytest.param(cls, id=cls.spec.id, marks=pytest.mark.skipif(cls.spec.id in MISSING, reason="an extra is missing"))
    for cls in ORACLES
]


def pairwise(seed: int):
    """(card, factors, constant) of random factors of at most two variables that forbid nothing."""
    card, factors, constant = random_factors(np.random.default_rng(seed), n=7, zeros=0)
    return card, [(scope, table) for scope, table in factors if len(scope) <= 2], constant


@pytest.mark.parametrize("cls", USABLE)
def test_every_oracle_on_a_spec(cls):
    result, model = found("map", SMALL, "--oracle", cls.spec.id), build_spec(SMALL)
    assert list(result) == KEYS and (result["oracle"], result["promise"]) == (cls.spec.id, cls.spec.promise)
    bias, i, j, w = model.pairwise()
    x = np.array(result["configuration"])
    assert x.shape == (12,) and set(x.tolist()) <= {0, 1} and result["seconds"] >= 0
    assert result["value"] == pytest.approx(x @ bias + (x[i] * x[j]) @ w + float(model.constant), rel=1e-6)
    best = bias.sum() + w.sum() + float(model.constant)
    assert result["value"] <= best + 1e-5 and (result["upper"] is None or result["upper"] >= best - 1e-5)
    # A ferromagnet in a field: every oracle that proves anything proves all ones.
    assert result["exact"] == (cls.spec.promise != "heuristic") and (x.all() or not result["exact"])
    code, out, err = call("map", SMALL, "--oracle", cls.spec.id)
    assert (code, err) == (0, "") and PROMISES[cls.spec.promise] in out and " ".join(map(str, x.tolist())) in out
    assert ("proved to be the maximum" in out) == result["exact"]


@pytest.mark.parametrize("suffix", [".uai", ".npz", ".json"])
@pytest.mark.parametrize("clamped", [{}, {1: 0, 4: -1}])
def test_files_with_evidence_and_beta_against_brute_force(suffix, clamped):
    for seed in (4, 5):
        card, factors, constant = pairwise(seed)
        evidence = {v: state % card[v] for v, state in clamped.items()}
        name = write(TableModel.of(card, factors, constant), f"model{suffix}")
        Path("1.evid").write_text(" ".join(map(str, [len(evidence), *(w for p in evidence.items() for w in p)])) + "\n")
        states, log = brute_force(card, factors, constant, 0.5, evidence)
        result = found("map", name, "--evidence", "1.evid", "--beta", "0.5", "--out", "best.MAP")
        assert result["value"] == pytest.approx(log.max(), rel=1e-10) and result["exact"]
        assert result["configuration"] == states[log.argmax()].tolist()
        assert Path("best.MAP").read_text().split() == ["MAP", "7", *map(str, result["configuration"])]
        assert result["out"] == "best.MAP" and all(result["configuration"][v] == k for v, k in evidence.items())


def test_all_clamped_is_the_evidence():
    Path("all.evid").write_text("12 " + " ".join(f"{v} {v % 2}" for v in range(12)))
    result = found("map", SMALL, "--evidence", "all.evid")
    assert result["configuration"] == [v % 2 for v in range(12)] and result["exact"]


def test_knobs_reach_the_oracle():
    spec = "square:5x5,J=-1,h=0.3"
    sweeps = [found("map", spec, "--oracle", "trws", "--sweeps", count)["notes"]["sweeps"] for count in (1, 3)]
    assert sweeps == [1, 3]
    shares = {found("map", spec, "--oracle", "multi_start", "--starts", n)["notes"]["share of starts"] for n in (1, 50)}
    assert max(shares) == 1.0 > min(shares)
    assert "sweeps is 0; give a whole number from 1" in refused("map", SMALL, "--oracle", "mplp", "--sweeps", "0")
    assert "exact has no setting 'sweeps'" in refused("map", SMALL, "--sweeps", "3")


def test_mplp_says_what_is_up_to_rounding():
    """Three spins that all repel, without fields: every state ties, and only the bound is to be trusted."""
    i, j = np.triu_indices(3, 1)
    spec = write(Ising.from_spin(np.zeros(3), i, j, np.full(3, -1.0)), "repel.uai")
    result = found("map", spec, "--oracle", "mplp")
    assert result["notes"]["share of ties"] == 1.0 and not result["exact"] and result["upper"] > result["value"]
    _, text, _ = call("map", spec, "--oracle", "mplp")
    assert (
        "share of ties: 1 (rounding says which state a tied variable takes" in text and "the maximum is at most" in text
    )
    assert "rounding" not in call("map", SMALL, "--oracle", "mplp")[1]


def test_what_cannot_be_solved_is_said():
    assert "there is no oracle 'best'; choose one of exact" in refused("map", SMALL, "--oracle", "best")
    assert "edges repel" in refused("map", "square:3x4,J=-0.4", "--oracle", "graph_cut")
    assert "elimination needs tables" in refused("map", "complete:40,J=0.1")


def test_a_file_is_not_overwritten_by_the_answer():
    name = write(build_spec(SMALL), "model.uai")
    before = Path(name).read_bytes()
    assert "named twice" in refused("map", name, "--out", "./model.uai")
    assert Path(name).read_bytes() == before and "nowhere" in refused("map", name, "--out", "nowhere/x.MAP")


def test_a_real_file():
    real = Path(os.environ.get("PMPVIZ_DATA", "")) / "uai" / "grid10x10_1.uai"
    argv = ["map", real if real.exists() else "square:6x6,J=-0.4,h=0.2,periodic=false"]
    truth, relaxed = found(*argv), found(*argv, "--oracle", "linear_program")
    assert truth["exact"] and relaxed["upper"] >= truth["value"] - 1e-6 >= relaxed["value"] - 2e-6
    assert json.dumps(truth["notes"])

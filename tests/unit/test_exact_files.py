"""The real UAI files against their answers; the same kinds of files made here, against brute force and sums."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from table_models import answers, brute_force

from pmpviz import exact
from pmpviz.io import load_model, load_model_bytes
from pmpviz.models import Ising
from pmpviz.types import Target

FOLDER = Path(os.environ.get("PMPVIZ_DATA", "")) / "uai"
REAL = json.loads((FOLDER / "answers.json").read_text()) if (FOLDER / "answers.json").exists() else []


def check(loaded, log_z, marginals):
    assert isinstance(loaded.model, Ising) and loaded.tables is not None
    for tables in (loaded.tables, None):
        solved = exact.solve(Target.of(loaded.model), tables)
        assert solved.log_z == pytest.approx(log_z, rel=1e-4)
        np.testing.assert_allclose(solved.p1, marginals, atol=1e-4)


@pytest.mark.parametrize("answer", REAL, ids=lambda answer: answer["file"])
def test_real_files(answer):
    loaded = load_model(FOLDER / answer["file"])
    solved = exact.solve(Target.of(loaded.model), loaded.tables)
    assert solved.log_z == pytest.approx(answer["log_z"], rel=1e-4)
    np.testing.assert_allclose(solved.p1, answer["marginals"], atol=1e-4)


def uai_text(n, factors) -> str:
    """Written apart from the program's own writer, with its logarithms as linear values."""
    scopes = [f"{len(scope)}\t{' '.join(map(str, scope))} " for scope, _ in factors]
    tables = [f"\n{t.size}\n{' '.join(f'{v:.12g}' for v in np.exp(t).ravel())} " for _, t in factors]
    return "\n".join(["MARKOV", str(n), "2 " * n, str(len(factors)), *scopes, *tables])


def spin_factors(rng, n, edges, strength):
    unary = [((v,), np.array([-1, 1]) * rng.uniform(-1, 1)) for v in range(n)]
    signs = np.array([[1, -1], [-1, 1.0]])
    return unary + [(edge, signs * rng.uniform(-strength, strength)) for edge in edges]


@pytest.mark.parametrize("strength", [0.5, 4, 8])
@pytest.mark.parametrize("kind", ["clique", "grid", "bipartite"])
def test_files_made_here(kind, strength):
    site = np.arange(12).reshape(3, 4)
    n, edges = {
        "clique": (10, [(i, j) for i in range(10) for j in range(i + 1, 10)]),
        "grid": (12, [*zip(site[:, :-1].flat, site[:, 1:].flat), *zip(site[:-1].flat, site[1:].flat)]),  # noqa: B905
        "bipartite": (12, [(i, j) for j in range(6, 12) for i in range(6)]),
    }[kind]
    edges = [(int(i), int(j)) for i, j in edges]
    factors = spin_factors(np.random.default_rng(int(strength * 10)), n, edges, strength)
    log_z, marginals, _, _ = answers([2] * n, *brute_force([2] * n, factors))
    loaded = load_model_bytes("made.uai", uai_text(n, factors).encode())
    check(loaded, log_z, [row[1] for row in marginals])

"""Models of three and of mixed numbers of states from the command line: right answers, or one sentence."""

import itertools
import json
import secrets
from pathlib import Path

import numpy as np
import pytest
from command_line import cache, call, found, in_a_folder_of_its_own, refused  # noqa: F401
from table_models import answers, brute_force

from pmpviz import exact
from pmpviz.experiments import verify
from pmpviz.io import load_model, load_samples
from pmpviz.marginals import SOLVERS
from pmpviz.models.tables import TableModel
from pmpviz.oracles import ORACLES, outside
from pmpviz.runs import truth
from pmpviz.samplers import SAMPLERS
from pmpviz.types import Refusal, Target
from tests.thorough import case

pytestmark = pytest.mark.brief

# (number of states of every variable, pairs that have a factor): a triangle of three states; and a tree of mixed
# numbers, one of them 1.
SHAPES = {"three": ([3, 3, 3], [(0, 1), (1, 2), (0, 2)]), "mixed": ([2, 3, 1, 4], [(0, 1), (1, 2), (1, 3)])}
CHAINS = 4000


def factors_of(name: str):
    """(card, factors): single and pair tables of logarithms, to the three digits that the file holds."""
    card, pairs = SHAPES[name]
    rng = np.random.default_rng(len(name))
    scopes = [*((v,) for v in range(len(card))), *pairs]
    return card, [(s, np.log(np.round(np.exp(rng.normal(0, 1, [card[v] for v in s])), 3))) for s in scopes]


@pytest.fixture(params=SHAPES)
def model(request) -> tuple[str, list[int], list]:
    """(file in the UAI format, its numbers of states, its factors)."""
    return written(request.param)


def written(name: str) -> tuple[str, list[int], list]:
    card, factors = factors_of(name)
    path = Path(f"{name}.uai")
    path.write_text(uai(card, factors))
    return str(path), card, factors


def going_round(classes) -> list:
    """Every one of them with one model every day, the next one with the other."""
    return [
        case(cls, shape, name=f"{cls.spec.id}-{shape}", everyday=(place + other) % 2 == 0)
        for place, cls in enumerate(classes)
        for other, shape in enumerate(SHAPES)
    ]


def uai(card, factors) -> str:
    lines = ["MARKOV", str(len(card)), " ".join(map(str, card)), str(len(factors))]
    lines += [f"{len(scope)} " + " ".join(map(str, scope)) for scope, _ in factors]
    lines += [f"{table.size}\n" + " ".join(f"{w:.3f}" for w in np.exp(table).ravel()) for _, table in factors]
    return "\n".join(lines) + "\n"


def same(rows, truth, tolerance):
    assert [len(row) for row in rows] == [len(row) for row in truth]
    for row, p in zip(rows, truth, strict=True):
        np.testing.assert_allclose(row, p, atol=tolerance)


def refused_or_found(*argv) -> dict | None:
    """What the command finds, or None where it says in one line that it needs two states, or Potts tables."""
    code, out, _ = call(*argv, "--json")
    if code == 0:
        return json.loads(out)
    words = refused(*argv)
    assert any(need in words for need in ("two-state variables", "tell equal states")), words
    return None


@pytest.mark.parametrize("evidence", [{}, {1: 2}])
def test_exact_is_the_sum_over_all_states(model, evidence):
    name, card, factors = model
    Path("some.evid").write_text(" ".join(map(str, [len(evidence), *itertools.chain(*evidence.items())])) + "\n")
    log_z, marginals, _, _ = answers(card, *brute_force(card, factors, 0.0, 0.5, evidence))
    result = found("exact", name, "--beta", "0.5", "--evidence", "some.evid")
    assert result["log_z"] == pytest.approx(log_z, rel=1e-9)
    same(result["marginals"], marginals, 1e-9)


# Started from exact draws, a chain must keep their law.
TAKES_STATES = {
    "perturb_and_map",
    "perturb_and_descend",
    "gumbel_table",
    "unbiased",
    "exact",
    "pmp",
    "gibbs",
    "colour_gibbs",
    "gwg",
}


@pytest.mark.parametrize("cls, shape", going_round(SAMPLERS))
def test_a_sampler_draws_all_states_or_says_why_not(cls, shape):
    name, card, factors = written(shape)
    seed = secrets.randbits(31)
    argv = ["sample", name, "--algorithm", cls.spec.id, "--chains", CHAINS, "--sweeps", 3, "--start", "exact"]
    result = refused_or_found(*argv, "--seed", seed, "--out", "x.npz")
    assert result is not None or cls.spec.id not in TAKES_STATES
    if result is None:
        return
    x = load_samples("x.npz")
    same(result["marginals"], [np.bincount(x[:, v], minlength=card[v]) / CHAINS for v in range(len(card))], 1e-6)
    energy = -np.mean([sum(table[tuple(row[list(scope)])] for scope, table in factors) for row in x])
    assert result["mean_energy"] == pytest.approx(energy, rel=1e-4)
    if cls.spec.guarantee in ("exact", "invariant"):
        # Ten probabilities at 5.5 standard errors: a right sampler fails once in about two million times.
        for row, p in zip(result["marginals"], answers(card, *brute_force(card, factors))[1], strict=True):
            error = np.sqrt(np.maximum(p * (1 - p), 1e-12) / CHAINS)
            assert (np.abs(np.array(row) - p) <= 5.5 * error + 1e-6).all(), seed


@pytest.mark.parametrize("cls, shape", going_round(SOLVERS))
def test_a_solver_answers_for_all_states(cls, shape):
    name, card, factors = written(shape)
    result = found("infer", name, "--algorithm", cls.spec.id)
    log_z, marginals, _, _ = answers(card, *brute_force(card, factors))
    same([[sum(row)] for row in result["marginals"]], [[1.0]] * len(card), 1e-6)
    # Measured: at most .02 (belief propagation on the triangle) and, of 1,000 perturbations, .08.
    same(result["marginals"], marginals, 1e-9 if cls.spec.guarantee == "exact" else 0.2)
    if cls.spec.guarantee != "approximate":
        assert result["log_z_bound"] >= log_z - 1e-6


LIBRARY = {"toulbar2": "pytoulbar2", "scip": "pyscipopt"}
USABLE = [cls for cls in ORACLES if cls.spec.id not in LIBRARY or outside.installed(LIBRARY[cls.spec.id])]


@pytest.mark.parametrize("cls", USABLE, ids=lambda cls: cls.spec.id)
def test_an_oracle_maximises_over_all_states_or_says_why_not(model, cls):
    name, card, factors = model
    result = refused_or_found("map", name, "--oracle", cls.spec.id)
    assert result is not None or cls.spec.id in ("bipartite", "max_product", "graph_cut", "qpbo")
    if result is None:
        return
    x, best = np.array(result["configuration"]), brute_force(card, factors)[1].max()
    assert (x < card).all()
    value = sum(table[tuple(x[list(scope)])] for scope, table in factors)
    assert result["value"] == pytest.approx(value, abs=1e-9) and value <= best + 1e-9
    assert result["upper"] is None or result["upper"] >= best - 1e-6
    assert not result["exact"] or value == pytest.approx(best, abs=1e-6)


def test_p1_is_a_probability_whatever_the_states(model):
    """It was the mean state, up to 3 here, in the truth that runs are compared with; and failed where there is one."""
    name, card, factors = model
    target = Target.of(load_model(name).model)
    wanted = [p[1] if len(p) > 1 else 0.0 for p in answers(card, *brute_force(card, factors))[1]]
    np.testing.assert_allclose(exact.solve(target).p1, wanted, atol=1e-9)
    reference = truth.finish(truth.build(target))
    assert reference.p1 is None, "of more than two states it does not say all of the law"
    same(reference.marginals, exact.solve(target).marginals, 1e-9)


def test_a_model_that_nothing_can_be_said_of_is_refused_in_a_sentence():
    """Neither sums nor a long run: it was an AttributeError from within."""
    pairs = [((i, j), np.random.default_rng([i, j]).normal(size=(3, 3))) for j in range(25) for i in range(j)]
    with pytest.raises(Refusal, match="no exact samples and cannot be sampled by a long run"):
        truth.finish(truth.build(Target.of(TableModel.of([3] * 25, pairs))))
    Path("large.uai").write_text(uai([3] * 25, pairs))
    assert "elimination needs" in refused("exact", "large.uai")


def test_verify_compares_all_states(model):
    name, card, factors = model
    log_z, marginals, _, _ = answers(card, *brute_force(card, factors))
    rows = [list(row) for row in marginals]
    answer = {"file": name, "log_z": log_z, "marginals": rows}
    solved = verify.solve(Path(), answer)
    assert solved.log_z < 1e-9 and solved.marginal < 1e-9
    rows[1][2] += 0.25
    assert verify.solve(Path(), answer).marginal == pytest.approx(0.25)
    target = Target.of(load_model(name).model)
    drawn = verify.sample(target, exact.solve(target), name, "exact", "random", 1)
    assert drawn.l1 < 5 * drawn.floor and drawn.worst < 5.5
    with pytest.raises(verify.InputError, match=f"the answer of {name} has other variables or states"):
        verify.solve(Path(), answer | {"marginals": [0.5] * len(card)})

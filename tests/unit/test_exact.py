"""Enumeration and elimination against brute force, transfer matrices and each other; refusals with the width."""

import itertools
import warnings

import numpy as np
import pytest
from table_models import answers, brute_force, random_factors, random_model

from pmpviz import exact
from pmpviz.exact.problem import Problem
from pmpviz.models import Ising, build_spec
from pmpviz.models.tables import TableModel, from_ising
from pmpviz.types import Evidence, InputError, Refusal, Target


@pytest.fixture(autouse=True)
def no_warnings():
    """A zero must not become a nan on the way."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


@pytest.fixture
def eliminate(monkeypatch):
    """`solve` by elimination whatever the size."""
    monkeypatch.setattr(exact, "MAX_FREE", -1)
    monkeypatch.setattr(exact, "MAX_LOG_STATES", -1)
    return lambda target, tables=None: exact.solve(target, tables)


def check(solved, card, factors, constant, beta, clamped):
    states, log = brute_force(card, factors, constant, beta, clamped)
    log_z, marginals, pair, _ = answers(card, states, log)
    assert solved.log_z == pytest.approx(log_z, abs=1e-10)
    for found, row in zip(solved.marginals, marginals, strict=True):
        np.testing.assert_allclose(found, row, atol=1e-11)
    pairs = np.array(list(itertools.product(range(len(card)), repeat=2)))
    tables = solved.pair_marginals(pairs)
    assert tables.shape == (len(pairs), max(card), max(card))
    np.testing.assert_allclose(tables, [pair(i, j) for i, j in pairs], atol=1e-11)


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("forced", [True, False], ids=["elimination", "dispatched"])
def test_table_models_against_brute_force(seed, forced, request):
    rng = np.random.default_rng(seed)
    card, factors, constant = random_factors(rng, most_states=2 + seed % 4)
    beta = np.float32((1.0, 0.7, 0.0)[seed % 3])
    states, log = brute_force(card, factors, constant, beta)
    some = states[np.flatnonzero(np.isfinite(log))[0]]
    clamped = {int(v): int(some[v]) for v in rng.permutation(len(card))[: seed % 3]}
    target = Target.of(TableModel.of(card, factors, constant), Evidence.of(len(card), clamped), beta)
    solve = request.getfixturevalue("eliminate") if forced else exact.solve
    check(solve(target), card, factors, constant, float(beta), clamped)


@pytest.mark.parametrize(
    "spec", ["square:3x3,J=-0.4,h=0.3", "complete:7", "tree:8,J=0.7,h=-0.2", "erdos_renyi:9,degree=3"]
)
@pytest.mark.parametrize("forced", [True, False], ids=["elimination", "dispatched"])
def test_ising_models_against_brute_force(spec, forced, request):
    model = build_spec(spec)
    tables = from_ising(model)
    clamped = {1: 1, 4: 0}
    solve = request.getfixturevalue("eliminate") if forced else exact.solve
    for layout in (model, model.as_layout("sparse"), model.as_layout("dense")):
        target = Target.of(layout, Evidence.of(model.n, clamped), 0.5)
        check(solve(target), model.card, tables.factors, float(tables.constant), 0.5, clamped)


def test_the_float64_tables_are_used_where_a_file_gives_them():
    rng = np.random.default_rng(0)
    factors = [((0, 1), rng.normal(0, 9, (2, 2))), ((1, 2), rng.normal(0, 9, (2, 2)))]
    tables = TableModel.of([2, 2, 2], factors)
    log_z = answers([2] * 3, *brute_force([2] * 3, factors))[0]
    assert exact.solve(Target.of(tables.to_ising()), tables).log_z == pytest.approx(log_z, rel=1e-14)
    with pytest.raises(InputError, match="another model"):
        exact.solve(Target.of(build_spec("chain:4")), tables)


@pytest.mark.parametrize(
    "n, spec", [(15, "complete:15"), (17, "erdos_renyi:17,degree=4"), (16, "square:4x4,couplings=glass")]
)
def test_enumeration_and_elimination_agree(n, spec, monkeypatch):
    target = Target.of(build_spec(spec), beta=1.5)
    pairs = np.array(list(itertools.combinations(range(n), 2)))
    monkeypatch.setattr(exact.elimination, "refusal", lambda *order, **options: "not now")
    halves = exact.solve(target)
    monkeypatch.undo()
    monkeypatch.setattr(exact, "MAX_FREE", -1)
    eliminated = exact.solve(target)
    assert "enumeration" in halves.method and "elimination" in eliminated.method
    assert halves.log_z == pytest.approx(eliminated.log_z, rel=1e-13)
    np.testing.assert_allclose(halves.p1, eliminated.p1, atol=1e-12)
    np.testing.assert_allclose(halves.pair_marginals(pairs), eliminated.pair_marginals(pairs), atol=1e-12)


def test_grid_with_fields_against_a_transfer_matrix():
    rng = np.random.default_rng(5)
    rows, columns = 9, 7
    across, down = rng.normal(0, 1, (rows, columns - 1)), rng.normal(0, 1, (rows - 1, columns))
    h = rng.normal(0, 0.7, (rows, columns))
    site = np.arange(rows * columns).reshape(rows, columns)
    i = np.concatenate([site[:, :-1].ravel(), site[:-1].ravel()])
    j = np.concatenate([site[:, 1:].ravel(), site[1:].ravel()])
    J = np.concatenate([across.ravel(), down.ravel()])
    tables = from_spin(h.ravel(), i, j, J)
    states = np.array(list(itertools.product((-1.0, 1.0), repeat=columns)))
    log = np.zeros(len(states))
    for r in range(rows):
        if r:
            between = log[:, None] + (states * down[r - 1]) @ states.T
            log = np.logaddexp.reduce(between, axis=0)
        log = log + states @ h[r] + (states[:, 1:] * states[:, :-1]) @ across[r]
    last = np.exp(log - np.logaddexp.reduce(log))
    solved = exact.solve(Target.of(tables))
    assert solved.log_z == pytest.approx(np.logaddexp.reduce(log), rel=1e-13)
    np.testing.assert_allclose(solved.p1[site[-1]], last @ (states > 0), atol=1e-12)


def from_spin(h, i, j, J) -> TableModel:
    """The spin model as float64 tables."""
    unary = [((v,), np.array([-field, field])) for v, field in enumerate(h)]
    pairs = [((int(a), int(b)), w * np.array([[1, -1], [-1, 1.0]])) for a, b, w in zip(i, j, J, strict=True)]
    return TableModel.of([2] * len(h), unary + pairs)


def test_complete_bipartite_model_against_its_sum_over_one_side():
    rng = np.random.default_rng(2)
    side = 12
    w, a, b = rng.normal(0, 1, (side, side)), rng.normal(size=side), rng.normal(size=side)
    i, j = np.indices((side, side)).reshape(2, -1)
    tables = TableModel.of(
        [2] * (2 * side),
        [((v,), np.array([0, field])) for v, field in enumerate([*a, *b])]
        + [((int(p), int(side + q)), np.array([[0, 0], [0, w[p, q]]])) for p, q in zip(i, j, strict=True)],
    )
    visible = np.array(list(itertools.product((0, 1), repeat=side)))
    log = visible @ a + np.logaddexp(0, visible @ w + b).sum(1)
    solved = exact.solve(Target.of(tables.to_ising()), tables)
    assert solved.method == "variable elimination, width 12"
    assert solved.log_z == pytest.approx(np.logaddexp.reduce(log), rel=1e-13)
    p = np.exp(log - np.logaddexp.reduce(log))
    hidden = 1 / (1 + np.exp(-(visible @ w + b)))
    np.testing.assert_allclose(solved.p1, np.concatenate([p @ visible, p @ hidden]), atol=1e-12)


def test_large_logarithms_stay_finite():
    tables = TableModel.of([2, 3], [((0, 1), np.array([[900.0, 901, -np.inf], [-2000, 903, 905]]))], 1e4)
    solved = exact.solve(Target.of(tables))
    log_z, marginals, _, _ = answers([2, 3], *brute_force([2, 3], tables.factors, 1e4))
    assert solved.log_z == pytest.approx(log_z, rel=1e-14)
    np.testing.assert_allclose(solved.marginals[1], marginals[1], atol=1e-12)


def test_models_without_free_variables():
    clamped = Evidence.of(3, {0: 1, 1: 0, 2: 1})
    target = Target.of(build_spec("chain:3,J=1,h=0.5"), clamped)
    solved = exact.solve(target)
    x = np.array([1, 0, 1], np.int8)
    assert solved.log_z == pytest.approx(float(target.log_weight(x)), rel=1e-6)
    assert solved.p1.tolist() == [1, 0, 1] and (solved.sample(0, 5) == x).all()
    one = exact.solve(Target.of(TableModel.of([1], [((0,), np.array([0.3]))])))
    assert one.log_z == pytest.approx(0.3) and one.marginals[0].tolist() == [1]


@pytest.mark.parametrize("zero_constant", [True, False])
def test_evidence_against_the_zeros_is_an_input_error(zero_constant):
    factors = [((0, 1), np.array([[-np.inf, 0.0], [0.0, 1.0]])), ((2, 1), np.zeros((3, 2)))]
    tables = TableModel.of([2, 2, 3], factors, -np.inf if zero_constant else 0.0)
    evidence = Evidence.none(3) if zero_constant else Evidence.of(3, {0: 0, 1: 0})
    with pytest.raises(InputError, match="probability 0"):
        exact.solve(Target.of(tables, evidence))


def test_evidence_must_name_a_state_that_exists():
    with pytest.raises(InputError, match="variable 1 the value 2; give a state from 0 to 1"):
        exact.solve(Target.of(build_spec("chain:3"), Evidence.of(3, {1: 2})))


@pytest.mark.parametrize("spec", ["square:25x25,theta=-0.1,periodic=true,h=0.1", "erdos_renyi:200", "complete:30"])
def test_refusal_names_the_width(spec):
    target = Target.of(build_spec(spec))
    problem = Problem.of(target)
    reason = exact.why_not(target)
    with pytest.raises(Refusal, match=r"elimination needs tables of 2\^\d+ entries \(width \d+\)") as refused:
        exact.solve(target)
    assert str(refused.value) == reason and exact.log_z_only(target) is None
    width = int(reason.split("width ")[1].split(")")[0])
    assert 24 <= width < len(problem.free)


def test_clamping_can_make_a_model_tractable():
    model = build_spec("complete:40")
    assert "width 39" in exact.why_not(Target.of(model))
    evidence = Evidence.of(40, {v: v % 2 for v in range(20)})
    solved = exact.solve(Target.of(model, evidence))
    assert exact.why_not(Target.of(model, evidence)) is None and np.isfinite(solved.log_z)


@pytest.mark.parametrize(
    "spec, width",
    [
        ("chain:50", 1),
        ("tree:60", 1),
        ("chain:9,periodic=true", 2),
        ("square:6x9,periodic=false", 6),
        ("complete:8", 7),
    ],
)
def test_widths_of_known_graphs(spec, width, eliminate):
    assert eliminate(Target.of(build_spec(spec))).method == f"variable elimination, width {width}"


def test_orders_of_lattices_follow_the_shorter_side():
    for spec in ("square:10x50,periodic=false", "square:50x10,periodic=false"):
        assert exact.solve(Target.of(build_spec(spec))).method == "variable elimination, width 10"


def test_pair_marginals_of_variables_far_apart():
    target = Target.of(build_spec("chain:30,J=0.4"))
    table = exact.solve(target).pair_marginals(np.array([[0, 29], [29, 0], [3, 9]]))
    agree = 0.5 + 0.5 * np.tanh(0.4) ** np.array([29, 29, 6])
    np.testing.assert_allclose(table[:, 0, 0] + table[:, 1, 1], agree, rtol=1e-6)


def test_pairs_must_exist():
    with pytest.raises(InputError, match="outside 0 to 3"):
        exact.solve(Target.of(build_spec("chain:4"))).pair_marginals(np.array([[0, 4]]))


def test_a_table_model_means_the_same_to_jax():
    model = random_model(3)
    states, log = brute_force(model.card, model.factors, float(model.constant))
    import jax

    found = np.asarray(jax.jit(jax.vmap(model.log_weight))(states.astype(np.int8)))
    np.testing.assert_allclose(found, log, rtol=1e-4, atol=1e-4)


def test_ising_and_tables_convert_exactly():
    rng = np.random.default_rng(1)
    factors = [((i, j), rng.normal(0, 2, (2, 2))) for i, j in ((0, 1), (2, 1), (1, 0), (3, 0))]
    factors += [((v,), rng.normal(size=2)) for v in range(4)] + [((), np.array(0.7))]
    tables = TableModel.of([2] * 4, factors, 0.25)
    states, log = brute_force([2] * 4, factors, 0.25)
    bias, i, j, w, constant = tables.quadratic()
    x = states.astype(float)
    np.testing.assert_allclose(x @ bias + (x[:, i] * x[:, j]) @ w + constant, log, atol=1e-13)
    ising = tables.to_ising()
    assert isinstance(ising, Ising)
    back = from_ising(ising)
    np.testing.assert_allclose(brute_force([2] * 4, back.factors, float(back.constant))[1], log, atol=1e-5)


@pytest.mark.parametrize(
    "card, factors, message",
    [
        ([2, 2, 2, 4], [], "variable 3 has 4 states; an Ising model holds binary variables only"),
        ([2, 1], [], "variable 1 has 1 state;"),
        ([2] * 3, [((0,), np.zeros(2)), ((0, 1, 2), np.zeros((2, 2, 2)))], "factor 1 joins 3 variables"),
        ([2] * 2, [((0,), np.zeros(2)), ((1, 0), np.array([[0, -np.inf], [0, 0]]))], "factor 1 forbids a state"),
        ([2], [((0,), np.array([0.0, 1e39]))], "single precision"),
    ],
)
def test_what_an_ising_model_cannot_hold(card, factors, message):
    with pytest.raises(InputError, match=message):
        TableModel.of(card, factors).to_ising()


@pytest.mark.parametrize(
    "card, factors, message",
    [
        ([128], [], "variable 0 has 128 states; give 1 to 127"),
        ([2], [((1,), np.zeros(2))], "factor 0 names variable 1"),
        ([2, 2], [((0, 0), np.zeros((2, 2)))], "factor 0 names variable 0 twice"),
        ([2, 3], [((1, 0), np.zeros((2, 3)))], "needs? .*3, 2"),
        ([2], [((0,), np.array([np.nan, 0]))], "no number or infinite"),
        ([2], [((0,), np.array([np.inf, 0]))], "no number or infinite"),
    ],
)
def test_tables_are_checked(card, factors, message):
    with pytest.raises(InputError, match=message):
        TableModel.of(card, factors)

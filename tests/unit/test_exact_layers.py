"""Models with layers solved by their smaller layer, against all states; refusals with the number of units."""

import itertools

import numpy as np
import pytest
from scipy.stats import chi2

from pmpviz import exact
from pmpviz.exact.layers import MAX_ENUMERATED
from pmpviz.models import RBM, SRBM
from pmpviz.types import Evidence, Refusal, Target


@pytest.fixture
def by_layers(monkeypatch):
    """`solve` by layers even where all states could be enumerated."""
    monkeypatch.setattr(exact, "MAX_FREE", -1)
    return exact.solve


def machine(visible, hidden, lateral=False, seed=0):
    rng = np.random.default_rng(seed)
    weight, biases = rng.normal(0, 1.5, (hidden, visible)), (rng.normal(size=visible), rng.normal(size=hidden))
    if not lateral:
        return RBM.of_layers(weight, *biases, constant=0.75)
    within = np.triu(rng.normal(0, 1.2, (visible, visible)), 1)
    return SRBM.of_layers(weight, within + within.T, *biases, constant=-1.25)


def all_states(target):
    """(states that agree with the evidence, their log weights) from the edge list in float64."""
    bias, i, j, w = target.model.pairwise()
    mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
    x = np.array(list(itertools.product((0, 1), repeat=target.n)))
    x = x[(x[:, mask] == value[mask]).all(1)]
    log = x @ bias + (x[:, i] * x[:, j]) @ w + float(target.model.constant)
    return x, float(target.beta) * log


SHAPES = [(7, 3, False), (3, 7, False), (5, 5, False), (1, 6, False), (6, 1, False), (6, 3, True), (3, 6, True)]
EVIDENCE = {"free": {}, "both layers": {0: 1, -1: 0}, "a whole layer": None, "all": "all"}


def evidence_of(model, kind):
    values = EVIDENCE[kind]
    if values is None:
        values = {k: k % 2 for k in range(model.visible)}
    elif values == "all":
        values = {k: (k + 1) % 2 for k in range(model.n)}
    return Evidence.of(model.n, {k % model.n: v for k, v in values.items()})


@pytest.mark.parametrize("visible, hidden, lateral", SHAPES)
@pytest.mark.parametrize("kind", EVIDENCE)
@pytest.mark.parametrize("beta", [1.0, 0.4, 0.0])
def test_against_all_states(visible, hidden, lateral, kind, beta, by_layers):
    model = machine(visible, hidden, lateral)
    target = Target.of(model, evidence_of(model, kind), beta)
    solved, (x, log) = by_layers(target), all_states(target)
    log_z = np.logaddexp.reduce(log)
    p = np.exp(log - log_z)
    assert solved.log_z == pytest.approx(log_z, abs=1e-10) and "of one layer" in solved.method
    np.testing.assert_allclose(solved.p1, p @ x, atol=1e-11)
    pairs = np.array(list(itertools.permutations(range(model.n), 2)))
    for (i, j), table in zip(pairs, solved.pair_marginals(pairs), strict=True):
        wanted = [[p @ ((x[:, i] == a) & (x[:, j] == b)) for b in (0, 1)] for a in (0, 1)]
        np.testing.assert_allclose(table, wanted, atol=1e-11)


@pytest.mark.parametrize("visible, hidden, lateral", [(6, 2, False), (2, 6, False), (4, 3, True)])
def test_samples_have_the_law(visible, hidden, lateral, by_layers):
    model = machine(visible, hidden, lateral, seed=3)
    target = Target.of(model, Evidence.of(model.n, {1: 1}), 0.7)
    draws = by_layers(target).sample(11, 1 << 16)
    x, log = all_states(target)
    p = np.exp(log - np.logaddexp.reduce(log))
    code = 1 << np.arange(model.n)
    counts = np.bincount(draws @ code, minlength=1 << model.n)
    assert counts[x @ code].sum() == len(draws)
    expected, seen = p * len(draws), counts[x @ code]
    rare = expected < 20
    expected, seen = (np.append(v[~rare], v[rare].sum()) for v in (expected, seen))
    keep = expected > 0
    statistic = ((seen - expected)[keep] ** 2 / expected[keep]).sum()
    assert chi2.sf(statistic, keep.sum() - 1) > 1e-6
    assert (by_layers(target).sample(11, 100) == draws[:100]).all()


def test_blocks_of_states_join_without_a_seam(by_layers, monkeypatch):
    target = Target.of(machine(6, 5))
    whole = by_layers(target)
    monkeypatch.setattr("pmpviz.exact.layers.CELLS", 21)
    parts = by_layers(target)
    assert parts.log_z == pytest.approx(whole.log_z, abs=1e-12)
    np.testing.assert_allclose(parts.p1, whole.p1, atol=1e-13)


def test_refusals_name_the_units():
    wide = Target.of(RBM.of_layers(np.zeros((MAX_ENUMERATED + 1, 40))))
    assert "the smaller layer, here 2^23;" in exact.why_not(wide) and "up to about 22 units" in exact.why_not(wide)
    lateral = Target.of(SRBM.of_layers(np.zeros((2, 30)), np.zeros((30, 30))))
    assert "2^30 visible states" in exact.why_not(lateral)
    for target in (wide, lateral):
        with pytest.raises(Refusal) as refused:
            exact.solve(target)
        assert str(refused.value) == exact.why_not(target) and "\n" not in str(refused.value)
    held = Evidence.of(lateral.n, dict.fromkeys(range(22), 1))
    assert exact.why_not(Target.of(lateral.model, held)) is None


def test_a_small_layer_makes_a_large_model_tractable():
    solved = exact.solve(Target.of(RBM.of_layers(np.zeros((3, 400)), np.full(400, 0.5))))
    assert solved.log_z == pytest.approx(3 * np.log(2) + 400 * np.logaddexp(0, 0.5), rel=1e-13)

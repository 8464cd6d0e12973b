"""Exact samples of the three methods: their law by chi-square in two stages, zeros, evidence, seeds."""

import numpy as np
import pytest
from scipy.stats import chi2
from table_models import answers, brute_force, random_factors

from pmpviz import exact
from pmpviz.models import build_spec
from pmpviz.models.tables import TableModel, from_ising
from pmpviz.types import Evidence, Target

COUNT = 40_000


def p_value(counts, p):
    """Pearson's test with the cells expected below 20 times pooled; 0 for a state that cannot occur."""
    if counts[p == 0].any():
        return 0.0
    expected, rare = counts.sum() * p, counts.sum() * p < 20
    seen = np.append(counts[~rare], counts[rare].sum())
    expected = np.append(expected[~rare], expected[rare].sum())
    keep = expected > 0
    return chi2.sf(((seen - expected)[keep] ** 2 / expected[keep]).sum(), max(keep.sum() - 1, 1))


def assert_law(solved, card, states, p):
    """A first look; a suspicious one is decided by eight times the draws at 1e-6."""

    def look(seed, count):
        x = solved.sample(seed, count)
        assert x.dtype == np.int8 and x.shape == (count, len(card))
        weights = np.cumprod([1, *card[::-1][:-1]])[::-1]
        code = {int(c): k for k, c in enumerate(states @ weights)}
        places = np.array([code.get(int(c), -1) for c in x @ weights])
        assert (places >= 0).all(), "a draw contradicts the evidence"
        return p_value(np.bincount(places, minlength=len(p)), p)

    if look(11, COUNT) < 1e-3:
        assert look(12, 8 * COUNT) > 1e-6


@pytest.mark.parametrize("method", ["elimination", "enumeration"])
@pytest.mark.parametrize("seed", range(4))
def test_law_of_table_models(seed, method, monkeypatch):
    if method == "elimination":
        monkeypatch.setattr(exact, "MAX_LOG_STATES", -1)
        # What zeros leave may have two states a variable.
        monkeypatch.setattr(exact, "MAX_FREE", -1)
    card, factors, constant = random_factors(np.random.default_rng(seed + 50), most_states=3)
    card[0], factors = 3, [((0,), np.array([0.3, -np.inf, 0.2])), *((s, t) for s, t in factors if 0 not in s)]
    if method == "enumeration":
        factors = [*factors, (tuple(range(6)), np.zeros(card))]
    states, log = brute_force(card, factors, constant, clamped={5: 0})
    if not np.isfinite(log).any():
        states, log = brute_force(card, factors, constant)
        evidence = Evidence.none(6)
    else:
        evidence = Evidence.of(6, {5: 0})
    solved = exact.solve(Target.of(TableModel.of(card, factors, constant), evidence))
    assert method in solved.method
    assert_law(solved, card, states, answers(card, states, log)[3])


@pytest.mark.parametrize("method", ["elimination", "enumeration"])
@pytest.mark.parametrize("spec", ["square:2x4,periodic=false,couplings=glass,h=0.3", "complete:8"])
def test_law_of_ising_models(spec, method, monkeypatch):
    if method == "elimination":
        monkeypatch.setattr(exact, "MAX_FREE", -1)
    else:
        monkeypatch.setattr(exact.elimination, "refusal", lambda *order, **options: "not now")
    model = build_spec(spec)
    tables = from_ising(model)
    target = Target.of(model, Evidence.of(8, {2: 1}), 0.5)
    solved = exact.solve(target)
    assert method in solved.method
    states, log = brute_force(model.card, tables.factors, 0.0, 0.5, {2: 1})
    assert_law(solved, model.card, states, answers(model.card, states, log)[3])


@pytest.mark.parametrize("spec", ["square:7x8,periodic=false", "complete:12"])
def test_seeds(spec):
    sample = exact.solve(Target.of(build_spec(spec))).sample
    few, many = sample(5, 10), sample(5, 3000)
    assert (few == many[:10]).all() and (sample(5, 3000) == many).all()
    assert (sample(6, 3000) != many).any() and sample(5, 0).shape == (0, many.shape[1])


def test_marginals_of_a_wide_grid():
    solved = exact.solve(Target.of(build_spec("square:8x8,periodic=false,couplings=gaussian,h=0.2")))
    p, count = solved.p1, 20_000
    deviations = (solved.sample(3, count).mean(0) - p) / np.sqrt(p * (1 - p) / count)
    # 64 correlated sites: six standard errors are exceeded by none but with probability 64 * 2e-9.
    assert np.abs(deviations).max() < 6

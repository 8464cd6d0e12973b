"""R-hat and ESS against naive formulas, a process of known autocorrelation, and chains that disagree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import rankdata

from pmpviz.metrics import Reading
from pmpviz.metrics.autoregression import autoregressive_ess, site_autoregressive_ess
from pmpviz.metrics.chains import (
    MIN_DRAWS,
    autocorrelation,
    bulk_ess,
    ess_per_second,
    integrated_time,
    keep_apart,
    of_all_chains,
    rank_normalise,
    rhat,
    site_ess,
    site_rhat,
)

Z_ONE_IN_A_MILLION = 4.9


def autoregressive(seed, phi, chains, draws):
    """x_t = phi x_(t-1) + noise, started in its own law N(0, 1): rho_t = phi^t, tau = (1 + phi) / (1 - phi)."""
    noise = np.random.default_rng(seed).standard_normal((chains, draws))
    x = np.empty((chains, draws))
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = phi * x[:, t - 1] + math.sqrt(1 - phi**2) * noise[:, t]
    return x


def naive_scores(values):
    return ndtri((rankdata(values) - 0.375) / (values.size + 0.25)).reshape(values.shape)


def naive_split(values):
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, -half:]])


def naive_rhat(values):
    def plain(z):
        n = z.shape[1]
        within = np.mean([np.var(chain, ddof=1) for chain in z])
        between = n * np.var([chain.mean() for chain in z], ddof=1)
        return math.sqrt(((n - 1) / n * within + between / n) / within) if within + between > 0 else 0.0

    halves = naive_split(values)
    return max(plain(naive_scores(halves)), plain(naive_scores(np.abs(halves - np.median(halves)))))


def naive_ess(values):
    z = naive_scores(naive_split(values))
    m, n = z.shape

    def lag(chain, t):
        c = chain - chain.mean()
        return sum(c[i] * c[i + t] for i in range(n - t)) / n

    covariance = np.array([[lag(chain, t) for t in range(n)] for chain in z])
    within = (covariance[:, 0] * n / (n - 1)).mean()
    total = within * (n - 1) / n + z.mean(1).var(ddof=1)
    rho = 1 - (within - covariance.mean(0)) / total
    rho[0] = 1
    tau, t, smallest = -1.0, 0, math.inf
    while 2 * t + 1 < n and rho[2 * t] + rho[2 * t + 1] > 0:
        smallest = min(smallest, rho[2 * t] + rho[2 * t + 1])
        tau, t = tau + 2 * smallest, t + 1
    if 2 * t < n // 2 * 2:
        tau += max(rho[2 * t], 0)
    return m * n / max(tau, 1 / math.log10(m * n))


shapes = st.tuples(st.integers(1, 5), st.integers(MIN_DRAWS, 41), st.integers(0, 2**32 - 1), st.booleans())


@settings(max_examples=40, deadline=None)
@given(shapes)
def test_rhat_and_ess_equal_the_naive_formulas(case):
    chains, draws, seed, ties = case
    values = np.random.default_rng(seed).standard_normal((chains, draws)).cumsum(1)
    values = np.round(values) if ties else values
    if np.ptp(naive_split(values)) == 0:
        assert rhat(values).value is None
        return
    assert rhat(values).value == pytest.approx(naive_rhat(values), rel=1e-5)
    assert bulk_ess(values).value == pytest.approx(naive_ess(values), rel=1e-5)


def test_scores_are_normal_quantiles_of_ranks():
    values = np.random.default_rng(0).integers(0, 50, (4, 300))
    np.testing.assert_allclose(rank_normalise(values), naive_scores(values), atol=1e-6)
    far = rank_normalise(np.arange(200_000))
    np.testing.assert_allclose(far, naive_scores(np.arange(200_000.0)), atol=2e-7)


@pytest.mark.parametrize("phi", [0.0, 0.5, 0.9, -0.4])
def test_ess_of_an_autoregressive_process(phi):
    """Relative standard error of an integrated time summed over a window of w lags: sqrt(2 (2 w + 1) / draws).

    The sequence ends where sums of two lags reach noise; w = 8 tau + 8 is past that point (rho < 1e-3 there).
    """
    chains, draws = 50, 4000
    tau = (1 + phi) / (1 - phi)
    window = 8 * max(tau, 1) + 8
    tolerance = Z_ONE_IN_A_MILLION * math.sqrt(2 * (2 * window + 1) / (chains * draws))
    values = autoregressive(int(100 * (phi + 2)), phi, chains, draws)
    assert bulk_ess(values).value == pytest.approx(chains * draws / tau, rel=tolerance)
    assert integrated_time(values).value == pytest.approx(tau, rel=tolerance)


def test_autocorrelation_of_an_autoregressive_process():
    """Bartlett: the standard error of rho_t is at most sqrt((1 + 2 sum rho_s^2) / draws)."""
    values = autoregressive(3, 0.7, 40, 2000)
    error = math.sqrt((1 + 2 * 0.49 / 0.51) / values.size)
    found = autocorrelation(values, lags=10)
    assert np.abs(found - 0.7 ** np.arange(10)).max() < Z_ONE_IN_A_MILLION * error + 1 / 2000


def test_rhat_tells_chains_that_agree_from_chains_that_do_not():
    good = np.random.default_rng(4).standard_normal((8, 1000))
    assert rhat(good).value < 1.01
    shifted = good + np.array([0] * 7 + [1.0])[:, None]
    assert rhat(shifted).value > 1.03
    wider = good * np.array([1] * 7 + [3.0])[:, None]
    assert rhat(wider).value > 1.03
    drifting = good + np.linspace(-1, 1, 1000)
    assert rhat(drifting).value > 1.1
    stuck = np.repeat(np.arange(8.0)[:, None], 100, axis=1)
    assert rhat(stuck).value == math.inf
    assert bulk_ess(stuck).value < 10


def test_rhat_does_not_mind_monotone_transforms_and_heavy_tails():
    values = np.random.default_rng(5).standard_cauchy((4, 500))
    assert bulk_ess(values).value == pytest.approx(bulk_ess(np.arctan(values)).value, rel=1e-9)
    assert rhat(values).value < 1.02


def test_sites_take_the_median_over_those_that_change():
    rng = np.random.default_rng(6)
    fast = rng.integers(0, 2, (6, 400, 3)).astype(np.int8)
    slow = np.repeat(rng.integers(0, 2, (6, 4, 2)), 100, axis=1).astype(np.int8)
    constant = np.ones((6, 400, 9), np.int8)
    each = [bulk_ess(fast[..., i]).value for i in range(3)]
    assert site_ess(np.concatenate([fast, constant], 2)).value == pytest.approx(np.median(each), rel=1e-6)
    all_sites = np.concatenate([fast, constant, slow], 2)
    each += [bulk_ess(slow[..., i]).value for i in range(2)]
    assert site_ess(all_sites).value == pytest.approx(np.median(each), rel=1e-6)
    assert site_ess(slow).value < 0.1 * site_ess(fast).value
    assert site_rhat(fast).value < 1.02 < site_rhat(slow).value
    assert site_ess(fast, limit=1).value in [pytest.approx(v, rel=1e-6) for v in each]
    assert site_ess(constant).value is None


@pytest.mark.parametrize("measure", [rhat, bulk_ess, integrated_time])
def test_what_does_not_apply_says_why(measure):
    for draws in (0, 1, 7):
        assert "8" in measure(np.random.default_rng(0).random((4, draws))).reason
    assert "alike" in measure(np.ones((4, 20))).reason
    assert "finite" in measure(np.array([[1.0, np.nan] * 10])).reason
    assert str(measure(np.ones((4, 20)))) == "n/a"


def test_missing_values_stay_missing():
    assert autocorrelation(np.ones((2, 50))) is None
    assert site_rhat(np.zeros((2, 5, 3), np.int8)).value is None
    assert ess_per_second(Reading.none("because"), 1.0).reason == "because"
    assert ess_per_second(Reading(10.0), 0.0).value is None
    assert ess_per_second(Reading(10.0), 4.0).value == 2.5
    assert of_all_chains(Reading.none("because"), 2, 6).reason == "because"
    assert of_all_chains(Reading(10.0), 2, 6).value == 30.0
    assert math.isnan(Reading.none("because").number)


@pytest.mark.parametrize("coefficients", [(), (0.9,), (0.5, 0.3), (-0.4,)])
def test_autoregressive_ess_of_autoregressive_chains(coefficients):
    """n var / S(0), with the variance and S(0) of the process itself; the median over forty columns."""
    rng, draws = np.random.default_rng(7), 20_000
    z, noise = np.zeros((draws, 40)), rng.normal(size=(draws, 40))
    for t in range(draws):
        z[t] = noise[t] + sum(a * z[t - k] for k, a in enumerate(coefficients, 1) if t >= k)
    expected = draws * z.var() * (1 - sum(coefficients)) ** 2
    assert np.median(autoregressive_ess(z[500:])) * draws / (draws - 500) == pytest.approx(expected, rel=0.05)


def test_autoregressive_ess_of_sites():
    rng = np.random.default_rng(8)
    x = rng.integers(0, 2, (3, 5000, 4)).astype(np.int8)
    x[..., 3] = 1
    assert site_autoregressive_ess(x).value == pytest.approx(5000, rel=0.1)
    assert "constant" in site_autoregressive_ess(x[..., 3:]).reason
    assert "at least 8" in site_autoregressive_ess(x[:, :7]).reason


def test_chains_of_few_autocorrelation_times_have_a_large_r_hat_and_do_not_keep_apart():
    short = [autoregressive(seed, 0.8, 64, 64) for seed in range(200)]  # tau = 9, halves of 32 draws.
    assert np.mean([rhat(values).value > 1.1 for values in short]) > 0.9
    assert np.mean([keep_apart(values) for values in short]) <= 0.02
    # What differs by its level for good, or is forgotten in many times as many draws, does.
    apart = [values + np.linspace(-3, 3, 64)[:, None] for values in short[:50]]
    slow = [autoregressive(seed, 0.999, 64, 64) for seed in range(50)]
    assert all(map(keep_apart, apart)) and all(map(keep_apart, slow))


def test_of_few_chains_and_of_such_as_stand_still_only_r_hat_speaks():
    rng = np.random.default_rng(9)
    assert keep_apart(rng.standard_normal((4, 64))) and keep_apart(np.ones((64, 64)) * np.arange(64)[:, None])
    stuck = rng.standard_normal((8, 64)) * 0.1 + np.array([-1, 1] * 4)[:, None]
    turned = np.repeat([[1.0, -1.0]], 32, axis=1) * np.arange(8)[:, None]
    assert keep_apart(stuck) and not keep_apart(turned) and not keep_apart(rng.standard_normal((8, 64)))

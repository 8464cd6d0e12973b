"""MMD against brute force, its spectrum against means and pairs, its noise against draws of one law."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmpviz.metrics.hamming import hamming_histogram, pack, self_histogram
from pmpviz.metrics.mmd import Histograms, Reference, kernel_moments, mmd, mmd2, noise_floor
from pmpviz.metrics.spectrum import krawtchouk, order_weights, spectrum, spectrum_floor
from pmpviz.types import InputError

Z_ONE_IN_A_MILLION = 4.9


def draw(seed, rows, n, states=2, chance=None):
    rng = np.random.default_rng(seed)
    if chance is not None:
        return (rng.random((rows, n)) < chance).astype(np.int8)
    return rng.integers(0, states, (rows, n)).astype(np.int8)


def brute_histogram(x, y):
    return np.bincount((x[:, None] != y[None]).sum(-1).ravel(), minlength=x.shape[1] + 1)


def brute_mmd2(x, y, unbiased):
    def k(a, b):
        return np.exp(-(a[:, None] != b[None]).mean(-1))

    def within(a):
        values = k(a, a)
        return (values.sum() - len(a)) / (len(a) * (len(a) - 1)) if unbiased else values.mean()

    return within(x) + within(y) - 2 * k(x, y).mean()


sets = st.integers(1, 70).flatmap(
    lambda n: st.tuples(
        st.just(n), st.integers(2, 40), st.integers(2, 40), st.integers(2, 6), st.integers(0, 2**32 - 1)
    )
)


@settings(max_examples=25, deadline=None)
@given(sets)
def test_histogram_and_mmd_equal_brute_force(case):
    n, rows, others, states, seed = case
    x, y = draw(seed, rows, n, states), draw(seed + 1, others, n, states)
    np.testing.assert_array_equal(hamming_histogram(x, y), brute_histogram(x, y))
    reference = Reference.of(y)
    for unbiased in (True, False):
        assert reference.mmd2(x, unbiased) == pytest.approx(brute_mmd2(x, y, unbiased), abs=1e-12)


@settings(max_examples=25, deadline=None)
@given(sets)
def test_v_statistic_is_a_squared_distance(case):
    n, rows, others, states, seed = case
    x, y = draw(seed, rows, n, states), draw(seed + 1, others, n, states)
    assert Reference.of(x).mmd2(x, unbiased=False) == pytest.approx(0.0, abs=1e-14)
    assert mmd(x, y, unbiased=False) == pytest.approx(mmd(y, x, unbiased=False), abs=1e-10)
    assert Reference.of(y).mmd2(x, unbiased=False) >= -1e-14
    shuffled = np.random.default_rng(seed).permutation(n)
    assert Reference.of(y[:, shuffled]).mmd2(x[:, shuffled]) == pytest.approx(Reference.of(y).mmd2(x), abs=1e-12)


@pytest.mark.parametrize("rows, others, n", [(300, 2500, 33), (2300, 40, 128), (513, 513, 129)])
def test_histograms_over_several_tiles(rows, others, n):
    x, y = draw(1, rows, n), draw(2, others, n)
    distances = (n - (2.0 * x - 1) @ (2.0 * y - 1).T) / 2
    expected = np.bincount(distances.astype(int).ravel(), minlength=n + 1)
    np.testing.assert_array_equal(hamming_histogram(x, y), expected)
    np.testing.assert_array_equal(self_histogram(pack(x, 1), n), hamming_histogram(x, x))


def test_more_states_than_the_reference_has():
    x, y = draw(3, 20, 15, states=100), draw(4, 30, 15, states=2)
    assert Reference.of(y).mmd2(x) == pytest.approx(brute_mmd2(x, y, True), abs=1e-12)


@pytest.mark.parametrize(
    "x",
    [
        np.zeros((0, 4), np.int8),
        np.zeros(4, np.int8),
        np.full((3, 4), -1),
        np.full((3, 4), 200),
        np.zeros((3, 4)),
        np.zeros((3, 5), np.int8),
    ],
)
def test_bad_samples_are_refused_in_one_sentence(x):
    with pytest.raises(InputError) as error:
        Reference.of(np.zeros((3, 4), np.int8)).mmd2(x)
    assert "\n" not in str(error.value)


def test_one_row_has_no_unbiased_estimate():
    x = draw(0, 1, 4)
    with pytest.raises(InputError):
        mmd2(*Reference.of(x).histograms(x))
    assert Reference.of(x).mmd2(x, unbiased=False) == 0.0
    assert math.isnan(Reference.of(x).noise(1).deviation)


def test_kernel_moments_are_unbiased_over_all_sets_of_a_small_law():
    """Averaged over every equally likely set of five draws, the estimates are the law's own moments."""
    states = np.array(list(itertools.product([0, 1], repeat=2)), np.int8)[[0, 0, 1, 3]]
    k = np.exp(-(states[:, None] != states[None]).mean(-1))
    centred = k - k.mean(0) - k.mean(1)[:, None] + k.mean()
    found = []
    for chosen in itertools.product(range(4), repeat=5):
        rows = states[list(chosen)]
        found.append(kernel_moments(pack(rows, 1), brute_histogram(rows, rows)))
    mean, variance = np.mean(found, axis=0)
    assert mean == pytest.approx(k.mean(), abs=1e-12)
    assert variance == pytest.approx((centred**2).mean(), abs=1e-12)


def test_equal_laws_stay_within_their_noise():
    """Over independent pairs of sets, the mean and the variance of z are 0 and 1 to 4.9 standard errors.

    The V-statistic's mean is its floor. The law is correlated (a common switch) so that pairs count too.
    """
    rng = np.random.default_rng(11)

    def law(rows):
        switch = rng.random((rows, 1)) < 0.5
        return (rng.random((rows, 24)) < np.where(switch, 0.7, 0.3)).astype(np.int8)

    big = Reference.of(law(4000))
    x_count, y_count, repeats = 40, 60, 600
    z, v = np.empty(repeats), np.empty(repeats)
    floor = noise_floor(big.mean_kernel, big.kernel_variance, x_count, y_count)
    for i in range(repeats):
        histograms = Reference.of(law(y_count)).histograms(law(x_count))
        z[i] = mmd2(*histograms) / floor.deviation
        v[i] = mmd2(*histograms, unbiased=False)
    error = math.sqrt(repeats)
    assert abs(z.mean()) < Z_ONE_IN_A_MILLION / error
    assert abs((z**2).mean() - 1) < Z_ONE_IN_A_MILLION * (z**2).std() / error
    assert abs(v.mean() - floor.mean) < Z_ONE_IN_A_MILLION * v.std() / error
    assert (z > 2).mean() < 0.05 + Z_ONE_IN_A_MILLION * math.sqrt(0.05 * 0.95 / repeats)


def test_different_laws_stand_out_of_the_noise():
    reference = Reference.of(draw(5, 500, 50, chance=0.5))
    assert reference.mmd2(draw(6, 500, 50, chance=0.6)) > 20 * reference.noise(500).deviation


@pytest.mark.parametrize("n", [1, 2, 7, 40, 200])
@pytest.mark.parametrize("unbiased", [True, False])
def test_all_orders_sum_to_mmd2(n, unbiased):
    histograms = Reference.of(draw(7, 50, n)).histograms(draw(8, 30, n, chance=0.4))
    parts = spectrum(*histograms, orders=n, unbiased=unbiased)
    assert parts[:-1].sum() == pytest.approx(mmd2(*histograms, unbiased=unbiased), abs=1e-13)
    assert abs(parts[-1]) < 1e-13
    short = spectrum(*histograms, orders=3, unbiased=unbiased)
    np.testing.assert_allclose(short.sum(), mmd2(*histograms, unbiased=unbiased), atol=1e-14)


def test_orders_are_differences_of_moments_over_all_subsets():
    n = 6
    x, y = draw(9, 40, n, chance=0.3), draw(10, 25, n)
    parts = spectrum(*Reference.of(y).histograms(x), orders=n, unbiased=False)
    r = math.exp(-1 / n)
    spins_x, spins_y = 1.0 - 2 * x, 1.0 - 2 * y
    for k in range(1, n + 1):
        weight = ((1 + r) / 2) ** (n - k) * ((1 - r) / 2) ** k
        gaps = [
            spins_x[:, s].prod(1).mean() - spins_y[:, s].prod(1).mean()
            for s in map(list, itertools.combinations(range(n), k))
        ]
        assert parts[k - 1] == pytest.approx(weight * np.square(gaps).sum(), rel=1e-9, abs=1e-15)


def test_first_orders_of_a_large_model_are_means_and_pairs():
    n = 4096
    x, y = draw(11, 60, n, chance=0.45), draw(12, 80, n)
    parts = spectrum(*Reference.of(y).histograms(x), unbiased=False)
    r = math.exp(-1 / n)
    log_weight = n * math.log((1 + r) / 2) + np.arange(3) * math.log((1 - r) / (1 + r))
    spins_x, spins_y = 1.0 - 2 * x, 1.0 - 2 * y
    means = np.square(spins_x.mean(0) - spins_y.mean(0)).sum()
    pairs = np.square(spins_x.T @ spins_x / 60 - spins_y.T @ spins_y / 80).sum() / 2
    assert parts[0] == pytest.approx(math.exp(log_weight[1]) * means, rel=1e-9)
    assert parts[1] == pytest.approx(math.exp(log_weight[2]) * pairs, rel=1e-9)
    np.testing.assert_allclose(order_weights(n, 3)[1:], [0.303, 0.076, 0.0126], atol=5e-4)
    assert np.abs(krawtchouk(n, 20)).max() <= 1 + 1e-12


def test_three_states_have_a_spectrum_too():
    """Order 1 of three states: the squared distances of the marginals, times their weight."""
    n = 30
    x, y = draw(13, 50, n, 3), draw(14, 40, n, 3)
    histograms = Reference.of(y).histograms(x)
    parts = spectrum(*histograms, orders=n, unbiased=False, cardinality=3)
    assert parts.sum() == pytest.approx(mmd2(*histograms, unbiased=False), abs=1e-13)
    assert abs(parts[-1]) < 1e-13
    gap = sum(np.square((x == s).mean(0) - (y == s).mean(0)).sum() for s in range(3))
    r = math.exp(-1 / n)
    assert parts[0] == pytest.approx(((1 + 2 * r) / 3) ** (n - 1) * (1 - r) / 3 * 3 * gap, rel=1e-9)


def test_spectrum_floor_is_the_mean_of_the_v_statistic_of_one_law():
    rng = np.random.default_rng(15)
    law = np.linspace(0.1, 0.9, 20)
    big = Reference.of((rng.random((3000, 20)) < law).astype(np.int8))
    floor = spectrum_floor(big.hist_yy, 30, 50, orders=3)
    noise = noise_floor(big.mean_kernel, big.kernel_variance, 30, 50)
    assert floor.sum() == pytest.approx(noise.mean, rel=1e-9)
    found = []
    for _ in range(400):
        x, y = ((rng.random((rows, 20)) < law).astype(np.int8) for rows in (30, 50))
        found.append(spectrum(*Reference.of(y).histograms(x), orders=3, unbiased=False))
    error = np.std(found, axis=0) / math.sqrt(400)
    assert (np.abs(np.mean(found, axis=0) - floor) < Z_ONE_IN_A_MILLION * error).all()


def test_bad_orders_are_refused():
    empty = Histograms(*[np.array([4, 0])] * 3, 2, 2, 1)
    with pytest.raises(InputError):
        spectrum(*empty, orders=0)
    with pytest.raises(InputError):
        spectrum_floor(np.array([1, 0]), 2, 2)

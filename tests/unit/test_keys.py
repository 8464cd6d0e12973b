"""A statistical battery for the counter hash, which stands in for threefry within a sweep; a weak hash must fail it."""

from __future__ import annotations

from statistics import NormalDist

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import kstest

from pmpviz import keys
from pmpviz.runs import compile_clock

ALPHA = 1e-6
COUNT = 1 << 18


def _ours(words: np.ndarray, counter: np.ndarray) -> np.ndarray:
    """Bits for every key (its two words, [k, 2]) and counter: uint32 [k, m]."""
    key = jax.random.wrap_key_data(jnp.asarray(words, jnp.uint32))
    return np.asarray(jax.vmap(lambda one: keys.hash_bits(one, jnp.asarray(counter, jnp.uint32)))(key))


def _multiplied(words, counter):
    """Weak: the counter times an odd constant, keyed by exclusive or (neither words nor bits are mixed)."""
    return (counter[None].astype(np.uint32) * np.uint32(0x9E3779B9)) ^ words[:, :1] ^ words[:, 1:]


def _congruential(words, counter):
    """Weak: one step of a linear congruential generator from counter + key."""
    return (counter[None].astype(np.uint32) + words[:, :1]) * np.uint32(1664525) + np.uint32(1013904223) + words[:, 1:]


def _low_half(words, counter):
    """Weak: the upper sixteen bits repeat the lower ones."""
    bits = _ours(words, counter) & np.uint32(0xFFFF)
    return bits | (bits << np.uint32(16))


def _keyless(words, counter):
    """Weak: every key gives the same numbers."""
    return np.repeat(_ours(words[:1], counter), len(words), 0)


def _words(count: int) -> np.ndarray:
    """Words of the keys of `count` chains, as a run derives them."""
    chain_keys = keys.of_chains(keys.role(jax.random.key(5), keys.STEP), jnp.arange(count))
    return np.asarray(jax.random.key_data(chain_keys)).astype(np.uint32)


def _adjacent_words() -> np.ndarray:
    """A key and the keys that differ from it in one bit of either word."""
    base = _words(1)[0]
    flips = [np.array([1 << b, 0], np.uint32) for b in range(32)] + [
        np.array([0, 1 << b], np.uint32) for b in range(32)
    ]
    return np.stack([base, *(base ^ flip for flip in flips)])


def _bits(numbers: np.ndarray) -> np.ndarray:
    return ((numbers[..., None] >> np.arange(32, dtype=np.uint32)) & 1).astype(np.int8)


def _chi_square_z(counts: np.ndarray) -> float:
    """Chi-square against equal counts as a standard normal (Wilson and Hilferty 1931)."""
    free = counts.size - 1
    chi = ((counts - counts.mean()) ** 2).sum() / counts.mean()
    return float(((chi / free) ** (1 / 3) - (1 - 2 / (9 * free))) / np.sqrt(2 / (9 * free)))


def monobit(hash_of) -> np.ndarray:
    """Share of ones of each bit position."""
    ones = _bits(hash_of(_words(1), np.arange(COUNT))[0]).sum(0)
    return (2.0 * ones - COUNT) / np.sqrt(COUNT)


def runs_of_bits(hash_of) -> np.ndarray:
    """Changes between successive counters, by bit position (half are expected)."""
    bits = _bits(hash_of(_words(1), np.arange(COUNT))[0])
    changes = (bits[1:] != bits[:-1]).sum(0)
    return (2.0 * changes - (COUNT - 1)) / np.sqrt(COUNT - 1)


def serial_pairs(hash_of) -> np.ndarray:
    """Pairs of numbers at lags 1, 2 and 64 (a lattice row), by their highest and by their lowest four bits."""
    numbers = hash_of(_words(1), np.arange(COUNT))[0]
    out = []
    for part in (numbers >> np.uint32(28), numbers & np.uint32(15)):
        for lag in (1, 2, 64):
            # Pairs that share no number, so that the counts are multinomial.
            first = part.reshape(-1, 2 * lag)[:, :lag].reshape(-1).astype(int)
            second = part.reshape(-1, 2 * lag)[:, lag:].reshape(-1).astype(int)
            out.append(_chi_square_z(np.bincount(16 * first + second, minlength=256)))
    return np.array(out)


def bit_pairs(hash_of) -> np.ndarray:
    """Correlation of every two bit positions of one number."""
    signs = 2.0 * _bits(hash_of(_words(1), np.arange(COUNT))[0]) - 1
    return (signs.T @ signs / np.sqrt(COUNT))[np.triu_indices(32, 1)]


def avalanche_of_counters(hash_of) -> np.ndarray:
    """Output bits that change when one bit of the counter does."""
    count = 1 << 13
    # Every pair of counters that differ in this bit, once.
    index = np.arange(count, dtype=np.uint32)
    words, out = _words(1), []
    for bit in range(20):
        low = index & np.uint32((1 << bit) - 1)
        first = ((index >> np.uint32(bit)) << np.uint32(bit + 1)) | low
        changed = _bits(hash_of(words, first)[0] ^ hash_of(words, first | np.uint32(1 << bit))[0])
        out.append((2.0 * changed.sum(0) - count) / np.sqrt(count))
    return np.concatenate(out)


def avalanche_of_keys(hash_of) -> np.ndarray:
    """Output bits that change, over all counters, when one bit of the key does."""
    count = 1 << 13
    numbers = hash_of(_adjacent_words(), np.arange(count))
    changed = _bits(numbers[1:] ^ numbers[:1]).sum(1)
    return ((2.0 * changed - count) / np.sqrt(count)).reshape(-1)


def equidistribution(hash_of) -> np.ndarray:
    """The numbers on (0, 1) in 1024 cells: one key over many counters, and one counter over many keys."""
    wide, tall = hash_of(_words(1), np.arange(COUNT))[0], hash_of(_words(1 << 14), np.array([7]))[:, 0]
    unit = [np.asarray(keys._unit(jnp.asarray(numbers))) for numbers in (wide, tall)]
    return np.array(
        [_chi_square_z(np.histogram(u, cells, (0, 1))[0]) for u, cells in zip(unit, (1024, 64), strict=True)]
    )


def between_streams(hash_of) -> np.ndarray:
    """Correlation between the numbers of different chains, and between those of chain c and of c + 1 one counter on."""
    numbers = hash_of(_words(24), np.arange(1 << 14)) / 2.0**32 - 0.5
    same = numbers @ numbers.T * 12 / np.sqrt(numbers.shape[1])
    shifted = (numbers[:-1, 1:] * numbers[1:, :-1]).sum(1) * 12 / np.sqrt(numbers.shape[1] - 1)
    return np.concatenate([same[np.triu_indices(24, 1)], shifted])


BATTERY = (
    monobit,
    runs_of_bits,
    serial_pairs,
    bit_pairs,
    avalanche_of_counters,
    avalanche_of_keys,
    equidistribution,
    between_streams,
)


def passes(test, hash_of) -> bool:
    """Whether no standard score of this test is beyond ALPHA, all of its scores taken together (Bonferroni)."""
    scores = np.abs(test(hash_of))
    return bool(scores.max() < NormalDist().inv_cdf(1 - ALPHA / 2 / scores.size))


@pytest.mark.parametrize("test", BATTERY, ids=lambda test: test.__name__)
def test_counter_hash_passes(test):
    assert passes(test, _ours)


@pytest.mark.parametrize("weak", [_multiplied, _congruential, _low_half, _keyless], ids=lambda weak: weak.__name__)
def test_weak_hash_fails(weak):
    assert not all(passes(test, weak) for test in BATTERY)


def test_every_test_of_the_battery_can_fail():
    """Each test rejects at least one of the weak hashes or a biased one."""

    def biased(words, counter):
        return _ours(words, counter) | (_ours(words, counter + (1 << 20)) & _ours(words, counter + (1 << 21)) & 1)

    def constant(words, counter):
        return np.zeros((len(words), len(counter)), np.uint32)

    for test in BATTERY:
        weak = (_multiplied, _congruential, _low_half, _keyless, biased, constant)
        assert any(not passes(test, one) for one in weak), test.__name__


def test_uniform_is_open_and_centred():
    u = np.asarray(keys.uniform(jax.random.key(6), COUNT), np.float64)
    assert 0 < u.min() and u.max() < 1
    assert abs(u.mean() - 0.5) < 4.9 / np.sqrt(12 * COUNT)


def test_unit_at_its_ends_has_a_finite_threshold():
    ends = keys._unit(jnp.array([0, 0xFFFFFFFF], jnp.uint32))
    threshold = np.asarray(keys.logistic_threshold(ends))
    assert np.isfinite(threshold).all() and threshold[0] < -15 and threshold[1] > 15


def test_numbers_depend_on_key_and_counter_alone():
    """Any layout of keys and counters gives the number of that key at that counter."""
    chain_keys = keys.of_chains(jax.random.key(7), jnp.arange(5))
    table = np.asarray(keys.uniform_at(chain_keys, jnp.arange(30)[:, None]))
    for chain in range(5):
        assert (table[:, chain] == np.asarray(keys.uniform(chain_keys[chain], 30))).all()
    assert (np.asarray(keys.uniform_at(chain_keys[2], jnp.array([9, 4]))) == table[[9, 4], 2]).all()


def test_roles_and_chains_have_keys_of_their_own():
    words = set()
    for name in range(6):
        chain_keys = keys.of_chains(keys.role(jax.random.key(8), name), jnp.arange(50))
        words |= {tuple(pair) for pair in np.asarray(jax.random.key_data(chain_keys)).tolist()}
    assert len(words) == 300


@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
def test_folding_in_is_that_of_jax_traced_or_not(seed):
    numbers = np.array([0, 1, 2, 77, 4095, 1_000_000, 2**31 - 1])
    key = jax.random.key(seed)
    theirs = jax.random.key_data(jax.vmap(jax.random.fold_in, in_axes=(None, 0))(key, numbers))
    for folded in (keys.fold_in(key, numbers), jax.jit(keys.fold_in)(key, numbers)):
        assert np.array_equal(jax.random.key_data(folded), theirs)
    assert np.array_equal(keys.fold_words(keys.words_of(key), numbers), theirs)
    # Many keys and one number.
    twice = jax.vmap(jax.random.fold_in, in_axes=(0, None))(keys.fold_in(key, numbers), 5)
    assert np.array_equal(keys.fold_words(theirs, 5), jax.random.key_data(twice))


def test_folding_in_compiles_nothing_outside_a_program():
    key = jax.random.key(3)
    before = compile_clock.compilations()
    assert keys.fold_in(keys.role(key, keys.STEP), np.arange(1234)).shape == (1234,)
    assert compile_clock.compilations() == before


def test_normal_numbers_are_normal_and_independent():
    """2^20 numbers by Kolmogorov and Smirnov, and the squares' correlation of the two that one pair of hashes gives."""
    x = np.asarray(keys.normal_at(keys.of_chains(jax.random.key(5), jnp.arange(1 << 10)), 1 << 10), np.float64)
    assert kstest(x.ravel(), "norm").pvalue > 1e-6
    one, two = x[: 1 << 9].ravel(), x[1 << 9 :].ravel()
    for power in (1, 2):
        assert abs(np.corrcoef(one**power, two**power)[0, 1]) * np.sqrt(one.size) < 5


def test_normal_numbers_depend_on_their_key_and_counter_alone():
    own = keys.of_chains(jax.random.key(5), jnp.arange(3))
    np.testing.assert_allclose(keys.normal_at(own, 5)[:, 1], keys.normal_at(own[1], 5), atol=1e-6)
    assert keys.normal_at(own, 0).shape == (0, 3)
    np.testing.assert_allclose(keys.normal_at(own, 2, 7)[0], keys.normal_at(own, 2, 7)[:1][0])
    assert np.isfinite(np.asarray(keys.normal_at(own, 1 << 12))).all()

"""Periods of real max-product on cycles, and of made-up sequences."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pmpviz.metrics.oscillation import find_period
from pmpviz.types import InputError


def max_product_on_a_cycle(couplings, fields, damping, sweeps):
    """Parallel spin max-product on a cycle; edge i joins i and i + 1. Returns messages[sweeps, 2 L].

    A message is half the log-ratio (|J + h| - |J - h|) / 2, h the sender's field and its other message.
    """
    length = len(couplings)
    clockwise, backwards = np.zeros(length), np.zeros(length)
    history = []
    for _ in range(sweeps):
        update = np.array([fields[i] + clockwise[i - 1] for i in range(length)])
        other = np.array([fields[(i + 1) % length] + backwards[(i + 1) % length] for i in range(length)])
        after = [(np.abs(couplings + h) - np.abs(couplings - h)) / 2 for h in (update, other)]
        clockwise = damping * clockwise + (1 - damping) * after[0]
        backwards = damping * backwards + (1 - damping) * after[1]
        history.append(np.concatenate([clockwise, backwards]))
    return np.array(history)


def decoded_bits(history, fields):
    """Packed signs of the total fields: clockwise message of edge i - 1 and backwards one of edge i reach i."""
    length = len(fields)
    total = fields + np.roll(history[:, :length], 1, axis=1) + history[:, length:]
    return np.packbits(total > 0, axis=1)


def frustrated(length):
    couplings = np.full(length, 1.0)
    couplings[0] = -1.0
    fields = np.zeros(length)
    fields[0] = 0.4
    return couplings, fields


@pytest.mark.parametrize("length", [3, 4, 5, 12, 20])
def test_frustrated_cycles_oscillate_with_twice_their_length(length):
    couplings, fields = frustrated(length)
    history = max_product_on_a_cycle(couplings, fields, 0.0, 64 + 10 * length)
    residual = np.abs(history[-1] - history[-2]).max()
    assert residual > 1e-6
    assert find_period(history, 1e-9, residual) == 2 * length
    assert find_period(history, 1e-9) == 2 * length


def test_the_decoded_bits_of_a_triangle_show_its_period():
    couplings, fields = frustrated(3)
    history = max_product_on_a_cycle(couplings, fields, 0.0, 100)
    bits = decoded_bits(history, fields)
    period = find_period(bits, 0.0, residual=1.0)
    assert period is None or 6 % period == 0
    assert find_period(np.concatenate([history, bits], axis=1), 1e-9) == 6


def test_damped_and_satisfied_cycles_converge():
    couplings, fields = frustrated(3)
    for damping, signs in ((0.5, couplings), (0.0, np.abs(couplings) * 0.5)):
        history = max_product_on_a_cycle(signs, fields, damping, 400)
        assert np.abs(history[-1] - history[-2]).max() < 1e-9
        assert find_period(history, 1e-9) is None


def test_a_transient_has_no_period():
    couplings, fields = frustrated(3)
    history = max_product_on_a_cycle(couplings, fields, 0.9, 30)
    assert np.abs(history[-1] - history[-2]).max() > 1e-6
    assert find_period(history, 1e-9) is None


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 56), st.integers(0, 2**32 - 1), st.integers(0, 40))
def test_the_smallest_period_of_a_repeating_sequence_is_found(period, seed, extra):
    rng = np.random.default_rng(seed)
    cycle = rng.standard_normal((period, 3))
    history = np.concatenate([rng.standard_normal((extra, 3)), np.tile(cycle, (64 // period + 1, 1))[:64]])
    assert find_period(history, 1e-12) == period
    assert find_period(history, 1e-12, residual=0.0) is None
    assert find_period(rng.standard_normal((64, 3)), 1e-12) is None


def test_short_and_bad_histories():
    alternating = np.array([[0.0], [1.0]] * 2)
    assert find_period(alternating, 0.1) == 2
    assert find_period(alternating[:3], 0.1) is None
    assert find_period(np.ones((64, 2)), 0.1) is None
    with pytest.raises(InputError):
        find_period(np.ones(64), 0.1)

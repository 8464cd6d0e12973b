"""Kaufman's closed form against transfer matrices, symmetries and elimination."""

import itertools
import warnings

import numpy as np
import pytest

from pmpviz import exact
from pmpviz.exact import kaufman_energy, kaufman_log_z
from pmpviz.models import build_spec
from pmpviz.types import Evidence, Refusal, Target

CRITICAL = np.log(1 + np.sqrt(2)) / 2


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def transfer_log_z(height, width, J):
    """log trace T^height over the states of a row of the torus."""
    states = np.array(list(itertools.product((-1.0, 1.0), repeat=width)))
    inside = J * (states * np.roll(states, 1, 1)).sum(1)
    log = J * states @ states.T + inside[:, None]
    top = log.max()
    power = np.linalg.matrix_power(np.exp(log - top), height)
    return np.log(np.trace(power)) + height * top


@pytest.mark.parametrize("height, width", [(3, 3), (3, 4), (4, 3), (4, 4), (5, 5), (3, 6), (7, 4), (6, 5)])
@pytest.mark.parametrize("J", [0.0, 1e-9, 1e-5, 0.05, 0.3, CRITICAL, 0.6, 1.0])
@pytest.mark.parametrize("sign", [1, -1])
def test_against_the_transfer_matrix(height, width, J, sign):
    assert kaufman_log_z(height, width, sign * J) == pytest.approx(transfer_log_z(height, width, sign * J), rel=1e-11)


@pytest.mark.parametrize("J", [-0.8, -0.2, 0.2, CRITICAL, 2.0, 20.0])
def test_large_tori_are_symmetric_and_finite(J):
    assert kaufman_log_z(40, 63, J) == pytest.approx(kaufman_log_z(63, 40, J), rel=1e-13)
    assert kaufman_log_z(64, 64, J) == pytest.approx(kaufman_log_z(64, 64, -J), rel=1e-14)
    assert kaufman_log_z(64, 64, J) >= 2 * 64 * 64 * abs(J) + np.log(2) - 1e-9
    assert kaufman_log_z(64, 63, -abs(J)) < kaufman_log_z(64, 63, abs(J)) + 1e-9


def test_digits_that_are_lost_are_refused():
    with pytest.raises(Refusal, match="loses its digits"):
        kaufman_log_z(25, 25, -1.0)
    assert np.isfinite(kaufman_log_z(25, 25, -0.2))


@pytest.mark.parametrize("height, width, J", [(3, 4, 0.4), (5, 5, -0.3), (4, 4, 0.9)])
def test_energy_is_the_derivative(height, width, J):
    step = 1e-3
    low, high = (transfer_log_z(height, width, J + s * step) for s in (-1, 1))
    lower, higher = (transfer_log_z(height, width, J + 2 * s * step) for s in (-1, 1))
    derivative = (8 * (high - low) - (higher - lower)) / (12 * step)
    assert kaufman_energy(height, width, J) == pytest.approx(derivative, rel=1e-8)


def test_energy_of_the_critical_point_nears_onsagers():
    # A site: sqrt(2) on the infinite lattice (Onsager 1944); what an L x L torus has beyond that falls as 1 / L.
    excess = [kaufman_energy(L, L, CRITICAL) / L**2 - np.sqrt(2) for L in (16, 32, 64, 128)]
    ratios = np.array(excess[:-1]) / np.array(excess[1:])
    np.testing.assert_allclose(ratios, 2, rtol=0.01)


@pytest.mark.parametrize(
    "spec, beta", [("square:4x5,J=-0.3", 1.0), ("square:3x7,J=0.2", 1.7), ("square:5x5,J=-0.1", 0.4)]
)
def test_agrees_with_elimination_on_the_programs_lattices(spec, beta):
    target = Target.of(build_spec(spec), beta=beta)
    assert exact.log_z_only(target) == pytest.approx(exact.solve(target).log_z, rel=1e-7)
    assert "Kaufman" not in exact.solve(target).method


def test_lattice_too_wide_to_eliminate_has_log_z_and_marginals_only():
    target = Target.of(build_spec("square:64x64"))
    solved = exact.solve(target)
    assert solved.method == "Kaufman's closed form" and solved.sample is None and solved.pair_marginals is None
    assert (solved.p1 == 0.5).all() and solved.log_z == exact.log_z_only(target)
    assert "width" in exact.why_not(target)


@pytest.mark.parametrize(
    "spec, clamped",
    [
        ("square:64x64,h=0.01", {}),
        ("square:64x64", {5: 1}),
        ("square:64x64,periodic=false", {}),
        ("square:64x64,couplings=glass", {}),
        ("triangular:64x64", {}),
    ],
)
def test_does_not_apply_elsewhere(spec, clamped):
    model = build_spec(spec)
    target = Target.of(model, Evidence.of(model.n, clamped))
    assert exact.log_z_only(target) is None
    with pytest.raises(Refusal):
        exact.solve(target)

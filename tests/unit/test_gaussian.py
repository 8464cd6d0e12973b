"""Gaussian relaxations: every map is B of W + D, forth and back; summing the Gaussians out gives the law back."""

import numpy as np
import pytest

from pmpviz.contract.fixtures import BY_NAME
from pmpviz.models import Ising, build_spec
from pmpviz.models.gaussian import (
    ThreeLayers,
    gap_bound,
    gibbs_gap,
    has_one_hill,
    largest_eigenvalue,
    least_trace_shift,
    relax,
    row_shift,
    shift_by_hand,
    uniform_shift,
)
from pmpviz.types import InputError, Refusal, Target

pytestmark = pytest.mark.brief

WHOLE = ("edges", "eigen", "cholesky", "banded")
CASES = [(form, name) for form in WHOLE for name in ("six_sparse", "six_lattice", "odd_torus_clamped", "tree_lattice")]
CASES += [(form, name) for form in WHOLE[:-1] for name in ("six_dense_clamped", "rbm", "srbm_clamped")]


def matrices(relaxation, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(B from its products with unit vectors, B from those of its transpose)."""
    forward = np.asarray(relaxation.map.forward(np.eye(relaxation.m, dtype=np.float32)))
    return forward, np.asarray(relaxation.map.back(np.eye(n, dtype=np.float32))).T


def couplings_of(target) -> np.ndarray:
    return float(target.beta) * np.asarray(target.model.couplings.matrix(), np.float64)


@pytest.mark.parametrize("shift", ["uniform", "least_trace", "rows"])
@pytest.mark.parametrize(("form", "name"), CASES)
def test_a_map_is_a_root_of_the_shifted_couplings(form, name, shift):
    target = BY_NAME[name].target
    matrix = couplings_of(target)
    relaxation = relax(target, form, shift)
    forward, back = matrices(relaxation, target.n)
    np.testing.assert_allclose(forward, back, atol=1e-6)
    product = forward @ forward.T
    d = np.diag(product)
    np.testing.assert_allclose(product - np.diag(d), matrix, atol=2e-5)
    # c = a - d / 2 with the same d: this is what makes the discrete law exact.
    np.testing.assert_allclose(relaxation.bias, float(target.beta) * np.asarray(target.model.bias) - d / 2, atol=2e-5)


def test_the_discrete_law_is_what_remains_when_the_gaussians_are_summed_out():
    fixture = BY_NAME["six_dense_clamped"]
    relaxation, states = relax(fixture.target), fixture.law.states.astype(np.float64)
    forward, _ = matrices(relaxation, 6)
    log = 0.5 * ((states @ forward) ** 2).sum(1) + states @ np.asarray(relaxation.bias, np.float64)
    p = np.exp(log - log.max())
    np.testing.assert_allclose(p / p.sum(), fixture.law.p, rtol=1e-4)


def test_the_least_trace_is_less_than_the_uniform_shifts_and_still_definite():
    matrix = couplings_of(Target.of(build_spec("complete:20,couplings=sk,sigma=1.0")))
    trace, uniform = least_trace_shift(matrix), uniform_shift(matrix)
    assert trace.sum() < 0.99 * uniform.sum()
    assert np.linalg.eigvalsh(matrix + np.diag(trace))[0] > -1e-9
    # At the least trace there is a positive semidefinite matrix of ones on its diagonal that is orthogonal to W + D.
    values, vectors = np.linalg.eigh(matrix + np.diag(trace))
    null = vectors[:, values < 1e-3 * values[-1]]
    terms = np.stack([np.outer(null[:, a], null[:, b]).diagonal() for a in range(null.shape[1])
                      for b in range(null.shape[1])], 1)  # fmt: skip
    best = np.linalg.lstsq(terms, np.ones(20), rcond=None)[0]
    assert np.abs(terms @ best - 1).max() < 0.02
    assert (least_trace_shift(0 * matrix) == 0).all()


def test_a_least_trace_of_two_spins_is_known():
    """For [[d, w], [w, e]] >= 0 the least of d + e is 2 |w|."""
    np.testing.assert_allclose(least_trace_shift(np.array([[0, -1.5], [-1.5, 0]])), [1.5, 1.5], rtol=1e-4)


def test_a_shift_by_hand_that_is_indefinite_is_refused_in_one_sentence():
    matrix = np.array([[0.0, 2.0], [2.0, 0.0]])
    np.testing.assert_array_equal(shift_by_hand(matrix, 2.0), [2, 2])
    with pytest.raises(InputError, match=r"eigenvalue -0.5 .* at least 2$"):
        shift_by_hand(matrix, 1.5)


def test_an_even_torus_has_the_same_shift_in_the_edge_form():
    matrix = couplings_of(Target.of(build_spec("square:6x6,J=0.3")))
    np.testing.assert_allclose(row_shift(matrix), uniform_shift(matrix), rtol=1e-9)


def test_a_hopfield_model_has_as_many_gaussians_as_patterns():
    rng = np.random.default_rng(1)
    patterns = rng.choice([-1.0, 1.0], (2, 60))
    spin = 0.95 / 60 * patterns.T @ patterns
    i, j = np.triu_indices(60, 1)
    target = Target.of(Ising.from_spin(np.zeros(60), i, j, spin[i, j], layout="dense"))
    relaxation = relax(target, "low_rank")
    assert relaxation.m == 2
    forward, _ = matrices(relaxation, 60)
    product = forward @ forward.T
    np.testing.assert_allclose(product - np.diag(np.diag(product)), couplings_of(target), atol=1e-5)
    with pytest.raises(Refusal, match="rank above"):
        relax(Target.of(build_spec("complete:20,couplings=sk,sigma=1.0")), "low_rank")


def test_three_layers_relax_the_visible_couplings_alone():
    target = BY_NAME["srbm_clamped"].target
    layers = relax(target)
    assert isinstance(layers, ThreeLayers) and layers.m == 4
    forward, _ = matrices(layers.visible, 4)
    product = forward @ forward.T
    np.testing.assert_allclose(product - np.diag(np.diag(product)), couplings_of(target)[:4, :4], atol=1e-5)
    np.testing.assert_allclose(layers.weight, couplings_of(target)[4:, :4], atol=1e-6)
    assert relax(BY_NAME["rbm"].target).m == 0


@pytest.mark.parametrize("form", ["eigen", "cholesky"])
def test_dense_maps_are_refused_with_the_number_and_the_edge_form_is_not(form):
    target = Target.of(build_spec("square:33x33,J=0.1"))
    with pytest.raises(Refusal, match="1,089 variables .* at most 1,024"):
        relax(target, form)
    assert relax(target, "edges").m == 2 * 1089
    assert relax(target, "banded").m == 1089
    with pytest.raises(Refusal, match="three layers need"):
        relax(target, "layers")


def test_two_spins_have_one_hill_up_to_a_shift_of_three():
    matrix = np.array([[0.0, 1.0], [1.0, 0.0]])
    assert largest_eigenvalue(matrix, np.full(2, 3.0)) == pytest.approx(4)
    assert has_one_hill(largest_eigenvalue(matrix, np.full(2, 2.99)))
    assert not has_one_hill(largest_eigenvalue(matrix, np.full(2, 3.01)))


def test_the_gap_of_gibbs_sampling_is_above_its_bound():
    rng = np.random.default_rng(3)
    for _ in range(10):
        i, j = np.triu_indices(6, 1)
        target = Target.of(Ising.from_edges(rng.normal(size=6), i, j, rng.uniform(-0.6, 0.6, 15), layout="dense"))
        matrix = couplings_of(target)
        bound = gap_bound(largest_eigenvalue(matrix, uniform_shift(matrix)), 6)
        assert 0 < bound < gibbs_gap(target) * (1 + 1e-9)
    # Without couplings one site in n is drawn anew: the bound is met.
    free = Target.of(Ising.from_edges([0.3, -0.2], [], [], []))
    assert gibbs_gap(free) == pytest.approx(gap_bound(0.0, 2)) == pytest.approx(0.5)
    assert gap_bound(5.0, 3) == 0
    with pytest.raises(Refusal, match="1 to 12"):
        gibbs_gap(Target.of(build_spec("square:4x4,J=0.1")))

"""Gibbs-with-gradients: its kernel against the formula, and that bits and caches survive chunks and new targets."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import chi2, norm

from pmpviz import exact
from pmpviz.models import Ising, build_spec
from pmpviz.runs import advance, positions, retarget, start
from pmpviz.samplers.gwg import GibbsWithGradients
from pmpviz.types import Evidence, Target

CHAINS = 1 << 14
# Two frustrated triangles that share an edge, with fields: peaked and not bipartite.
EDGES = ([0, 1, 2, 1, 2], [1, 2, 0, 3, 3], [0.7, -0.6, 0.5, -0.8, 0.4])
FIELD = [0.3, -0.5, 0.2, 0.6]


def four_spins(layout: str) -> Ising:
    return Ising.from_spin(FIELD, *EDGES, layout=layout)


def kernel(target: Target) -> tuple[np.ndarray, np.ndarray]:
    """(states, transition matrix of one proposal) from the published formula in float64."""
    states = np.array(list(itertools.product((0, 1), repeat=target.n)))
    bias, i, j, w = target.model.pairwise()
    beta, free = float(target.beta), np.flatnonzero(~np.asarray(target.evidence.mask))
    log_weight = beta * (states @ bias + (states[:, i] * states[:, j]) @ w)
    place = {tuple(x): k for k, x in enumerate(states)}
    flipped = np.array([[place[tuple(x ^ (np.arange(target.n) == s))] for s in free] for x in states])
    root = np.exp((log_weight[flipped] - log_weight[:, None]) / 2)
    z = root.sum(1)
    matrix = np.zeros((len(states), len(states)))
    move = root / z[:, None] * np.minimum(1, z[:, None] / z[flipped])
    np.put_along_axis(matrix, flipped, move, axis=1)
    matrix[np.diag_indices_from(matrix)] = 1 - matrix.sum(1)
    return states, matrix


def two_looks(p_value) -> float:
    """p-value at one key; where it is below 1e-3, that of another key decides."""
    first = p_value(jax.random.key(0))
    return first if first >= 1e-3 else p_value(jax.random.key(1))


@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("beta, clamp", [(1.0, {}), (1.7, {1: 1})])
def test_one_sweep_has_the_law_of_the_published_kernel(layout, beta, clamp):
    target = Target.of(four_spins(layout), Evidence.of(4, clamp), beta)
    states, matrix = kernel(target)
    for site, value in clamp.items():
        matrix, states = matrix[states[:, site] == value], states[states[:, site] == value]
    law = np.linalg.matrix_power(kernel(target)[1], target.n)
    codes = states @ (1 << np.arange(4))[::-1]

    def p_value(key):
        statistic, freedom = 0.0, 0
        for x0, code in zip(states, codes, strict=True):
            run = start(GibbsWithGradients(), target, jax.random.fold_in(key, int(code)), CHAINS, x0[None])
            last = positions(advance(run, run.quanta)[0]) @ (1 << np.arange(4))[::-1]
            counts, expected = np.bincount(last, minlength=16), CHAINS * law[code]
            if counts[expected == 0].any():
                return 0.0
            seen = expected >= 20
            counts = np.append(counts[seen], counts[~seen].sum())
            expected = np.append(expected[seen], expected[~seen].sum())
            counts, expected = counts[expected > 0], expected[expected > 0]
            statistic, freedom = statistic + ((counts - expected) ** 2 / expected).sum(), freedom + len(counts) - 1
        return chi2.sf(statistic, freedom)

    assert two_looks(p_value) >= 1e-6


LAYOUTS = pytest.mark.parametrize("layout", ["shift", "dense"])


def lattice_run(chains: int = 3, layout: str = "shift", **knobs):
    model = build_spec("square:11x9,J=0.4").as_layout(layout)
    target = Target.of(model, Evidence.of(99, {5: 1, 40: 0}), **knobs)
    return start(GibbsWithGradients(), target, jax.random.key(3), chains)


@pytest.mark.brief
def test_sixteen_quanta_are_n_proposals():
    run = lattice_run()
    assert run.quanta == 16
    accepted = 0.0
    for q in range(16):
        run, _ = advance(run, 1)
        end = (q + 1) * 99 // 16
        accepted = float(np.asarray(run.state.accepted)[0, 0])
        assert 0 <= accepted <= end
    _, trace = advance(lattice_run(), 16)
    np.testing.assert_allclose(trace.info["acceptance"][0, 0], accepted / 99, rtol=1e-6)


# Lattices as shipped are in `test_runs.py`, matrices in the contract's `test_determinism.py`.
@pytest.mark.brief
@LAYOUTS
@pytest.mark.parametrize("beta", [1.0, 60.0])
def test_bits_depend_on_neither_chunks_nor_chains(layout, beta):
    # When cold, each chain's scale is renewed at its own times.
    whole, _ = advance(lattice_run(2, layout, beta=beta), 40)
    run = lattice_run(70, layout, beta=beta)
    for count in (1, 15, 7, 17):
        run, _ = advance(run, count)
    np.testing.assert_array_equal(positions(run)[:2], positions(whole))


@pytest.mark.brief
def test_lattices_and_neighbour_lists_give_the_same_chain():
    model = build_spec("square:5x5,J=0.3")
    paths = [
        positions(advance(start(GibbsWithGradients(), Target.of(m), jax.random.key(1), 64), 5 * 6)[0])
        for m in (model, model.as_layout("sparse"))
    ]
    # The order of a float32 sum may decide a draw, rarely; another kernel would differ everywhere.
    assert (paths[0] == paths[1]).all(1).mean() > 0.9


def test_dense_models_of_several_columns_and_levels_have_the_law_of_the_model():
    # 36 sites are 16 columns at three levels, the last one not full.
    model, evidence = build_spec("square:9x4,J=0.3,h=0.2,field=uniform"), Evidence.of(36, {17: 1, 20: 0})
    p = np.array([each[1] for each in exact.solve(Target.of(model, evidence)).marginals])
    free = ~np.asarray(evidence.mask)

    def p_value(key):
        run = start(GibbsWithGradients(), Target.of(model.as_layout("dense"), evidence), key, CHAINS)
        x = positions(advance(run, 20 * run.quanta, record=False)[0])
        assert (x[:, 17] == 1).all() and (x[:, 20] == 0).all()
        z = (x.mean(0) - p)[free] / np.sqrt(p * (1 - p) / CHAINS)[free]
        return min(1.0, 2 * free.sum() * norm.sf(np.abs(z).max()))

    assert two_looks(p_value) >= 1e-6


@pytest.mark.brief
@LAYOUTS
def test_running_log_weights_are_those_of_the_configuration(layout):
    run, _ = advance(lattice_run(3, layout), 16 * 3 + 11)
    state = jax.tree.map(lambda leaf: leaf[0], run.state)
    field = jax.vmap(run.target.local_field)(jnp.asarray(state.x).T).T
    wanted = np.where(np.asarray(state.x) > 0, -field, field) / 2
    free = ~np.asarray(run.target.evidence.mask)
    np.testing.assert_allclose(np.asarray(state.log_weight)[free], wanted[free], rtol=0, atol=2e-5)


@pytest.mark.brief
def test_a_new_target_renews_the_gradients():
    run, _ = advance(lattice_run(), 16 + 5)
    other = Target.of(build_spec("square:11x9,J=-0.7,h=0.2,field=uniform"), Evidence.of(99, {7: 1}), 0.6)
    state = jax.tree.map(lambda leaf: leaf[0], retarget(run, other).state)
    x = np.asarray(state.x)
    assert (x[7] == 1).all()
    field = jax.vmap(other.local_field)(jnp.asarray(x).T).T
    np.testing.assert_allclose(state.log_weight, np.where(x > 0, -field, field) / 2, rtol=0, atol=2e-6)


@pytest.mark.brief
@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_at_an_extreme_beta_one_sweep_reaches_the_ground_state(layout):
    # Every flip towards the field lowers what its neighbours would gain, so that Z falls and all are accepted.
    model = Ising.from_spin(np.full(12, 2.0), range(11), range(1, 12), np.full(11, -0.25), layout=layout)
    run = start(GibbsWithGradients(), Target.of(model, beta=1e5), jax.random.key(0), 17, np.zeros((1, 12)))
    for acceptance in (1.0, 0.0):
        run, trace = advance(run, run.quanta)
        assert (positions(run) == 1).all() and (trace.info["acceptance"] == acceptance).all()
        assert np.isfinite(trace.energies).all() and np.isfinite(np.asarray(run.state.log_weight)).all()


@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_weights_beyond_float32_are_sampled_right(layout):
    # Two free spins beside one that outweighs them by e^300: within float32 only relative to a scale.
    model = Ising.from_spin([150.0, 0.4, -0.3], [1], [2], [0.5], layout=layout)
    run = start(GibbsWithGradients(), Target.of(model), jax.random.key(2), CHAINS, np.zeros((1, 3)))
    x = positions(advance(run, 30 * run.quanta, record=False)[0])
    s = 2 * np.array([(0, 0), (0, 1), (1, 0), (1, 1)]) - 1
    p = np.exp(s @ [0.4, -0.3] + 0.5 * s[:, 0] * s[:, 1])
    expected = CHAINS * p / p.sum()
    counts = np.bincount(2 * x[:, 1] + x[:, 2], minlength=4)
    assert (x[:, 0] == 1).all()
    assert chi2.sf(((counts - expected) ** 2 / expected).sum(), 3) >= 1e-6


@pytest.mark.brief
@pytest.mark.parametrize("layout", ["sparse", "dense"])
def test_all_sites_clamped(layout):
    target = Target.of(four_spins(layout), Evidence.of(4, {0: 1, 1: 0, 2: 1, 3: 1}))
    run, trace = advance(start(GibbsWithGradients(), target, jax.random.key(0), 5), 7)
    assert (positions(run) == [1, 0, 1, 1]).all() and (trace.info["acceptance"] == 0).all()


def test_other_models_are_refused():
    assert "pairwise" in GibbsWithGradients.spec.why_not(Target(object(), None, 1.0))

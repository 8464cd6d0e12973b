"""Swendsen-Wang: clusters are the components of the bonds, and the law holds with frustration, fields and clamps."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.stats import binom, chi2

from pmpviz.models import Ising, build_spec
from pmpviz.runs import advance, positions, retarget, start
from pmpviz.samplers import swendsen_wang
from pmpviz.samplers.swendsen_wang import SwendsenWang
from pmpviz.samplers.wolff import Wolff
from pmpviz.types import Evidence, Target

CHAINS = 1 << 16


def frustrated_triangle(layout: str) -> Ising:
    """An antiferromagnetic triangle of unequal bonds in unequal fields, and a fourth spin that hangs on it."""
    return Ising.from_spin([0.9, -0.4, 0.3, -0.6], [0, 1, 0, 2], [1, 2, 2, 3], [-0.8, -0.5, -0.7, 0.9], layout=layout)


def law(target: Target) -> tuple[np.ndarray, np.ndarray]:
    states = np.array(list(itertools.product((0, 1), repeat=target.n)), np.int8)
    mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
    states = states[(states[:, mask] == value[mask]).all(1)]
    bias, i, j, w = target.model.pairwise()
    p = np.exp(float(target.beta) * (states @ bias + (states[:, i] * states[:, j]) @ w))
    return states, p / p.sum()


def p_value(x: np.ndarray, states: np.ndarray, p: np.ndarray) -> float:
    place = 1 << np.arange(states.shape[1])
    counts = np.bincount(x @ place, minlength=1 << states.shape[1])
    if counts.sum() != counts[states @ place].sum():
        return 0.0
    counts, expected = counts[states @ place], len(x) * p
    rare = expected < 20
    if rare.any():
        counts, expected = (
            np.append(counts[~rare], counts[rare].sum()),
            np.append(expected[~rare], expected[rare].sum()),
        )
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), len(counts) - 1))


def two_looks(one_look) -> float:
    """p-value at one key; where it is below 1e-3, that of another key at 8 times the chains decides."""
    first = one_look(0, CHAINS)
    return first if first >= 1e-3 else one_look(1, 8 * CHAINS)


@pytest.mark.parametrize("layout", ["sparse", "dense"])
@pytest.mark.parametrize("beta, clamp", [(1.0, {}), (1.5, {1: 1}), (1.0, {0: 1, 2: 1})])
def test_a_frustrated_triangle_in_fields_keeps_its_law(layout, beta, clamp):
    target = Target.of(frustrated_triangle(layout), Evidence.of(4, clamp), beta)
    states, p = law(target)

    def one_look(seed, chains):
        x0 = states[np.random.default_rng(seed).choice(len(p), chains, p=p)]
        run = start(SwendsenWang(), target, jax.random.key(seed), chains, x0)
        return p_value(positions(advance(run, 1, record=False)[0]), states, p)

    assert two_looks(one_look) >= 1e-6


@pytest.mark.parametrize("spec", ["square:3x3,J=-0.5", "triangular:3x3,J=-0.4,h=0.3,field=random"])
def test_a_frustrated_torus_forgets_a_cold_start(spec):
    target = Target.of(build_spec(spec), Evidence.of(9, {4: 1}))
    states, p = law(target)

    def one_look(seed, chains):
        run = start(SwendsenWang(), target, jax.random.key(seed), chains, np.zeros((1, 9)))
        return p_value(positions(advance(run, 40, record=False)[0]), states, p)

    assert two_looks(one_look) >= 1e-6


MODELS = {
    "lattice": lambda: build_spec("square:12x9,J=0.35"),
    "triangular": lambda: build_spec("triangular:8x8,J=0.2"),
    "cubic": lambda: build_spec("cubic:4x4x4,J=0.2,periodic=false"),
    "sparse": lambda: build_spec("square:12x9,J=0.35").as_layout("sparse"),
    "dense": lambda: build_spec("square:6x6,J=0.35").as_layout("dense"),
}


@jax.jit
def labels_and_bonds(chain_keys, target: Target, spin):
    """(labels [t, n], whether two sites are bonded [t, n, n]) of chains with these spins."""
    least = swendsen_wang._bonds(chain_keys, target, spin)

    def bonded_to(site):
        # A neighbour is bonded where a label below all others, put on it, comes over.
        return least(jnp.full(spin.shape, target.n, jnp.int32).at[:, site].set(-1)) == -1

    bonded = jax.lax.map(bonded_to, jnp.arange(target.n))
    return swendsen_wang._labels(least, spin.shape), jnp.swapaxes(bonded, 0, 1)


@pytest.mark.brief
@pytest.mark.parametrize("name", MODELS)
def test_labels_are_the_components_of_the_bonds(name):
    model = MODELS[name]()
    n, chains = model.n, 5
    spin = jnp.asarray(np.random.default_rng(0).choice([-1.0, 1.0], (chains, n)), jnp.float32)
    found = labels_and_bonds(jax.random.split(jax.random.key(4), chains), Target.of(model), spin)
    label, bonded = map(np.asarray, found)
    assert (bonded == bonded.swapaxes(1, 2)).all()
    _, i, j, w = model.pairwise()
    allowed = np.eye(n, dtype=bool)
    allowed[i, j] = allowed[j, i] = True
    for c in range(chains):
        assert not (bonded[c] & ~allowed).any()
        s = np.asarray(spin[c])
        rows, columns = np.nonzero(np.triu(bonded[c], 1))
        assert (s[rows] == s[columns]).all()
        _, component = connected_components(coo_array(bonded[c]))
        least_site = np.array([np.flatnonzero(component == k)[0] for k in range(component.max() + 1)])
        np.testing.assert_array_equal(label[c], least_site[component])


@pytest.mark.parametrize("sign", [1, -1])
def test_a_satisfied_edge_is_bonded_with_its_probability(sign):
    beta, J = 0.8, 0.6 * sign
    target = Target.of(Ising.from_spin([0.0, 0.0], [0], [1], [J], layout="sparse"), beta=beta)
    run = start(SwendsenWang(), target, jax.random.key(0), CHAINS, np.array([[0, 0], [0, 1]]))
    run, trace = advance(run, 1)
    joined = trace.info["largest_cluster"][0] == 1
    satisfied = np.arange(CHAINS) % 2 == (sign < 0)
    assert not joined[~satisfied].any()
    p = -np.expm1(-2 * beta * abs(J))
    tail = binom(satisfied.sum(), p).cdf(joined[satisfied].sum())
    assert min(tail, 1 - tail) > 1e-6


def test_field_sums_are_exact_in_fixed_point():
    rng = np.random.default_rng(0)
    label = jnp.asarray(np.sort(rng.integers(0, 40, (3, 5000))), jnp.int32)
    value = jnp.asarray(rng.normal(size=(3, 5000)) * 1e3, jnp.float32)
    found = swendsen_wang._field_sums(label, value, jnp.abs(value).max())
    for c in range(3):
        wanted = np.bincount(label[c], np.asarray(value[c], np.float64), 5000)
        np.testing.assert_allclose(found[c], wanted, rtol=2e-7, atol=2e-3)
    order = rng.permutation(5000)
    again = swendsen_wang._field_sums(label[:, order], value[:, order], jnp.abs(value).max())
    assert found.tobytes() == again.tobytes()
    assert (swendsen_wang._field_sums(label, 0 * value, jnp.float32(0.0)) == 0).all()


# As shipped, a lattice of it is in `test_runs.py`.
@pytest.mark.brief
def test_bits_depend_on_neither_chunks_nor_chains_and_clusters_are_shown():
    target = Target.of(build_spec("square:16x16,J=0.44"), Evidence.of(256, {3: 1}))
    whole, trace = advance(start(SwendsenWang(), target, jax.random.key(3), 2), 12)
    run = start(SwendsenWang(), target, jax.random.key(3), 150)
    for count in (1, 4, 7):
        run, _ = advance(run, count)
    np.testing.assert_array_equal(positions(run)[:2], positions(whole))
    tile = jax.tree.map(lambda leaf: leaf[0], run.state)
    label = np.asarray(run.algorithm.overlay(target, tile, "clusters"))
    share = np.bincount(label).max() / 256
    np.testing.assert_allclose(trace.info["largest_cluster"][-1, 0], share, rtol=1e-6)


def test_a_new_target_goes_on_from_the_same_configuration():
    model = build_spec("square:8x8,J=0.4")
    run, _ = advance(start(SwendsenWang(), Target.of(model), jax.random.key(0), 4), 5)
    other = Target.of(build_spec("square:8x8,J=-0.4"), Evidence.of(64, {9: 1}), 2.0)
    moved = retarget(run, other)
    wanted = positions(run).copy()
    wanted[:, 9] = 1
    np.testing.assert_array_equal(positions(moved), wanted)
    assert (positions(advance(moved, 20)[0])[:, 9] == 1).all()


def test_wolff_names_what_it_does_not_take():
    needs = "Wolff's sampler needs two-state variables with pairwise factors; this model has"
    assert Wolff.spec.why_not(Target.of(build_spec("potts:4x4"))) == f"{needs} variables of 3 states"
    assert Wolff.spec.why_not(Target.of(build_spec("square:4x4"))) is None


def test_refusals_are_sentences():
    assert "pairwise" in SwendsenWang.spec.why_not(Target(object(), None, 1.0))
    big = build_spec("complete:2100,J=0.001")
    assert "2,203,950 bonds" in SwendsenWang.spec.why_not(Target.of(big))

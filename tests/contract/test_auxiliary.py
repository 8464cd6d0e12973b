"""Geweke's successive-conditional test: an auxiliary-variable sampler has the right joint law, not marginal only."""

import dataclasses
import itertools
from collections import Counter

import jax
import numpy as np
import pytest
from scipy.stats import norm

from pmpviz.contract.detectors import BATCH, BATCHES_A_LOOK, Verdict, batches, host_rng
from pmpviz.contract.fixtures import BY_NAME, FIXTURES
from pmpviz.contract.laws import chi_square, codes, two_stages
from pmpviz.runs import advance, positions, start
from pmpviz.runs.run import prepared
from pmpviz.samplers import make_sampler
from pmpviz.samplers.swendsen_wang import SwendsenWang
from pmpviz.types import pytree
from tests.thorough import case

SIX = [fixture for fixture in FIXTURES if fixture.purpose == "law" and fixture.target.n == 6]


def partition(n: int, edges) -> tuple[int, ...]:
    """Least site of every site's connected component."""
    label = list(range(n))
    for _ in range(n):
        for i, j in edges:
            label[i] = label[j] = min(label[i], label[j])
    return tuple(label)


def joint_law(fixture) -> dict[tuple[int, tuple[int, ...]], float]:
    """Edwards and Sokal's p(x) prod_bonds (1 - e^-|w|/2) prod_others e^-|w|/2 over (code of x, partition)."""
    law, target = fixture.law, fixture.target
    _, i, j, w = target.model.pairwise()
    w = w * float(target.beta)
    joint: Counter = Counter()
    parts = {kept: partition(target.n, [(i[e], j[e]) for e in kept]) for kept in subsets(len(w))}
    for x, p, code in zip(law.states, law.p, codes(law.states), strict=True):
        satisfied = np.flatnonzero(w * (2 * x[i] - 1.0) * (2 * x[j] - 1) > 0)
        open_ = np.exp(-np.abs(w) / 2)
        for kept in subsets(len(satisfied)):
            bonds = tuple(satisfied[list(kept)])
            others = np.setdiff1d(satisfied, bonds)
            joint[int(code), parts[bonds]] += p * np.prod(1 - open_[list(bonds)]) * np.prod(open_[others])
    return joint


def subsets(count: int) -> list[tuple[int, ...]]:
    """All subsets of range(count), as sorted tuples."""
    return [kept for size in range(count + 1) for kept in itertools.combinations(range(count), size)]


def joint_check(algorithm, fixture, key) -> Verdict:
    """From exact draws, one sweep: the law of (x after, clusters) against enumeration."""
    joint = joint_law(fixture)
    place = {cell: number for number, cell in enumerate(joint)}
    p = np.array(list(joint.values()))

    def p_value(stage, factor):
        counts = np.zeros(len(p))
        for own in batches(key, stage, BATCHES_A_LOOK * factor):
            run = start(algorithm, fixture.target, own, BATCH, fixture.law.draws(host_rng(own), BATCH))
            run, _ = advance(run, run.quanta, record=False)
            label = np.asarray(run.state.label).reshape(-1, fixture.target.n)[:BATCH]
            cells, seen = np.unique(np.column_stack([codes(positions(run)), label]), axis=0, return_counts=True)
            for (code, *part), count in zip(cells.tolist(), seen, strict=True):
                if (code, tuple(part)) not in place:
                    return 0.0
                counts[place[code, tuple(part)]] += count
        return chi_square(counts, p)

    return Verdict.of_p(two_stages(p_value))


# Evidence is traced: every day each layout has it or has none.
EVERYDAY = {"six_sparse", "six_dense_clamped", "six_lattice_clamped"}


@pytest.mark.parametrize("fixture", [case(f, name=f.name, everyday=f.name in EVERYDAY) for f in SIX])
def test_clusters_and_states_have_the_joint_law(fixture):
    verdict = joint_check(SwendsenWang(), fixture, jax.random.key(3))
    assert verdict.passed, verdict.found


GAUSSIAN = [
    ("gaussian_gibbs", "six_lattice_clamped"),
    ("gaussian_gibbs", "six_dense_clamped"),
    ("gaussian_gibbs", "srbm_clamped"),
    ("gaussian_hmc", "six_lattice_clamped"),
    ("gaussian_hmc", "six_dense"),
    ("gaussian_hmc", "rbm"),
    ("gaussian_chain", "text"),
    ("gaussian_chain", "six_lattice_clamped"),
]
# The map of a matrix and that of edges have one of the two samplers that take both every day.
RARER = {("gaussian_gibbs", "six_dense_clamped"), ("gaussian_hmc", "six_lattice_clamped")}
BINS = 6


def relaxed_map(algorithm, target):
    """(B, how many of the variables it reaches) of a sampler's relaxation."""
    found = prepared(algorithm, target).prepared
    found = getattr(found, "visible", getattr(found, "relaxation", found))
    return np.asarray(found.map.forward(np.eye(found.m, dtype=np.float32)), np.float64)


def gaussian_joint_check(algorithm, fixture, key) -> Verdict:
    """From exact draws, one sweep: (x, bin of z'u) against p(x) N(z'u; x'Bu, 1), for two directions u."""
    law, b = fixture.law, relaxed_map(algorithm, fixture.target)
    directions = np.random.default_rng(5).normal(size=(2, b.shape[1]))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    centres = law.states[:, : len(b)] @ b @ directions.T
    edges = [np.quantile(c, np.linspace(0, 1, BINS + 1)[1:-1]) for c in centres.T]
    below = [norm.cdf(e[None], c[:, None]) for e, c in zip(edges, centres.T, strict=True)]
    cells = [law.p[:, None] * np.diff(np.pad(f, ((0, 0), (1, 1)), constant_values=(0, 1)), axis=1) for f in below]

    def p_value(stage, factor):
        counts = [np.zeros(p.shape) for p in cells]
        for own in batches(key, stage, BATCHES_A_LOOK * factor):
            run = start(algorithm, fixture.target, own, BATCH, law.draws(host_rng(own), BATCH))
            run, _ = advance(run, run.quanta, record=False)
            z = np.moveaxis(np.asarray(run.state.z, np.float64), 1, -1).reshape(-1, b.shape[1])[:BATCH]
            index = law.index(positions(run))
            for count, u, edge in zip(counts, directions, edges, strict=True):
                np.add.at(count, (index, np.searchsorted(edge, z @ u)), 1)
        return min(1.0, 2 * min(chi_square(c.ravel(), p.ravel()) for c, p in zip(counts, cells, strict=True)))

    return Verdict.of_p(two_stages(p_value))


@pytest.mark.parametrize(
    ("name", "fixture"), [case(*pair, name="-".join(pair), everyday=pair not in RARER) for pair in GAUSSIAN]
)
def test_gaussians_and_states_have_the_joint_law(name, fixture):
    verdict = gaussian_joint_check(make_sampler(name), BY_NAME[fixture], jax.random.key(6))
    assert verdict.passed, verdict.found


def test_gaussians_of_another_width_are_caught():
    class Wide(type(make_sampler("gaussian_gibbs"))):
        """Planted: the Gaussians are drawn 5 % too wide after the variables have been drawn with the right ones."""

        def step_tile(self, keys, target, state):
            after, info = super().step_tile(keys, target, state)
            return dataclasses.replace(after, z=1.05 * after.z), info

    assert not gaussian_joint_check(pytree(Wide)(), BY_NAME["six_dense"], jax.random.key(6)).passed

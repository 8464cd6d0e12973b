"""Potts lattices at the critical coupling: energies that are known exactly, two states as spins, two phases of ten."""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest

from pmpviz import exact
from pmpviz.models import Pairwise, build_spec
from pmpviz.models.state_builders import critical_potts
from pmpviz.runs import run as running
from pmpviz.samplers import make_sampler
from pmpviz.types import Target
from tests.thorough import case

# Exact in single precision too.
STEP = 2.0**-12


def self_dual(side: int, q: int) -> Pairwise:
    """An open lattice whose right and lower sides are joined to one more site, which has state 0.

    This planar graph is its own dual. At the critical coupling, where p = 1 - exp(-J) is its own dual too, as many of
    its bonds are open as closed in the mean, and p of the equal neighbours have an open one: of the 2 side^2 edges
    (1 + 1 / sqrt q) / 2 join equal states, whatever the side. It is the critical energy of the infinite lattice without
    its finite-size effect.
    """
    J = critical_potts(q)
    model = build_spec(f"potts:{side}x{side},q={q},periodic=false")
    unary = np.zeros((side, side, q))
    unary[:, -1, 0] += J
    unary[-1, :, 0] += J
    return Pairwise.of(model.card, unary.reshape(-1, q), model.interactions)


def equal_edges(model: Pairwise, x: np.ndarray) -> np.ndarray:
    """Edges between equal states a site, of each configuration."""
    J = critical_potts(model.space.states)
    return np.asarray(jax.vmap(model.log_weight)(x), np.float64) / J / model.n


@pytest.mark.parametrize("q", [2, 3, 4, 10])
def test_the_energy_of_a_self_dual_lattice_is_the_critical_one(q):
    target = Target.of(self_dual(3, q))
    low, high = (exact.solve(Target.of(target.model, beta=1 + step)).log_z for step in (-STEP, STEP))
    energy = (high - low) / (2 * STEP) / critical_potts(q) / target.n
    assert energy == pytest.approx(1 + 1 / math.sqrt(q), rel=1e-6)


@pytest.mark.parametrize(("q", "sweeps"), [case(2, 150, name="2", everyday=False), (3, 200)])
def test_swendsen_wang_has_the_exact_critical_energy(q, sweeps):
    model = self_dual(24, q)
    x = np.asarray(running.sample(make_sampler("swendsen_wang"), Target.of(model), jax.random.key(q), 512, sweeps))
    found = equal_edges(model, x)
    error = found.std(ddof=1) / math.sqrt(len(found))
    assert abs(found.mean() - 1 - 1 / math.sqrt(q)) < 3 * error


def test_two_states_are_spins():
    potts, ising = build_spec("potts:4x5,q=2,J=0.9"), build_spec("square:4x5,J=0.45")
    states = np.random.default_rng(0).integers(0, 2, (50, 20)).astype(np.int8)
    weights = [np.asarray(jax.vmap(model.log_weight)(states), np.float64) for model in (potts, ising)]
    # J [x = y] = J / 2 (1 + s t): 40 edges.
    np.testing.assert_allclose(weights[0], weights[1] + 0.45 * 40, atol=1e-4)
    solved = [exact.solve(Target.of(model)) for model in (potts, ising)]
    assert solved[0].log_z == pytest.approx(solved[1].log_z + 0.45 * 40, abs=1e-5)


def latent_heat(q: int) -> float:
    """Of the infinite lattice, in edges a site (Baxter 1973)."""
    theta = math.acosh(math.sqrt(q) / 2)
    product = math.prod(math.tanh(n * theta) ** 2 for n in range(1, 200))
    return 2 * (1 + 1 / math.sqrt(q)) * math.tanh(theta / 2) * product


def test_ten_states_have_two_phases():
    model = build_spec("potts:64x64,q=10")
    key, target, means = jax.random.key(7), Target.of(model), []
    for x0 in (None, np.zeros((16, model.n), np.int8)):
        run, _ = running.advance(running.start(make_sampler("swendsen_wang"), target, key, 16, x0), 60, record=False)
        means.append(equal_edges(model, running.positions(run)))
    apart = latent_heat(10)
    # The energies of order and disorder lie this far on either side of the critical one.
    assert apart == pytest.approx(0.69605, abs=1e-4)
    assert (means[0] < means[1].min()).all()
    middle = 1 + 1 / math.sqrt(10)
    for found, wanted in zip(means, (middle - apart / 2, middle + apart / 2), strict=True):
        assert abs(found.mean() - wanted) < 0.15 * apart

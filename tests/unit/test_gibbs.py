"""Gibbs sweeps in groups and panels against one site after another in plain numpy, with the same random numbers."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pmpviz import keys
from pmpviz.models import Ising, build_spec
from pmpviz.models.order import SweepOrder
from pmpviz.runs import compile_clock, retarget, start
from pmpviz.runs import run as running
from pmpviz.samplers.colour_gibbs import ColourGibbs
from pmpviz.samplers.gibbs import Gibbs, GibbsState
from pmpviz.types import Evidence, Target
from tests.thorough import case

CHAINS = 5
EVERYDAY = ("torus", "erdos", "star", "dense")


def _star(n: int) -> Ising:
    rng = np.random.default_rng(3)
    return Ising.from_spin(
        rng.normal(size=n), np.zeros(n - 1, int), np.arange(1, n), rng.normal(size=n - 1), layout="sparse"
    )


MODELS = {
    "torus": lambda: build_spec("square:5x7,couplings=glass,J=0.7"),
    "open": lambda: build_spec("square:6x4,couplings=glass,J=0.7,periodic=false"),
    "triangular": lambda: build_spec("triangular:6x5,couplings=glass,J=0.5"),
    "cubic": lambda: build_spec("cubic:3x4x3,couplings=glass,J=0.5"),
    "erdos": lambda: build_spec("erdos_renyi:60"),
    "tree": lambda: build_spec("tree:31,J=1"),
    "star": lambda: _star(40),
    "dense": lambda: build_spec("complete:70"),
}
# Lattices share a kernel, and so do sparse models: some of each are swept every day.
SWEPT = [case(name, name=name, everyday=name in EVERYDAY) for name in MODELS]


# One program each instead of one for every operation.
init_tile, step_tile, shown_tile, init, step, shown = (
    jax.jit(lambda algorithm, *args, name=name: getattr(algorithm, name)(*args))
    for name in ("init_tile", "step_tile", "position_tile", "init", "step", "position")
)
step_sites = jax.jit(Gibbs.step_sites)


def _site_by_site(target: Target, key, x: np.ndarray, order: np.ndarray) -> np.ndarray:
    """One chain, float64: x_i = 1 where u_i < sigmoid(field_i), i in this order."""
    bias, i, j, w = target.model.pairwise()
    weight = np.zeros((target.n, target.n))
    np.add.at(weight, (i, j), w)
    weight = weight + weight.T
    u = np.asarray(keys.uniform(key, target.n), np.float64)
    mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
    x = x.copy()
    for site in order:
        field = float(target.beta) * (bias[site] + weight[site] @ x)
        x[site] = value[site] if mask[site] else u[site] < 1 / (1 + np.exp(-field))
    return x


def _target(name: str) -> Target:
    model = MODELS[name]()
    return Target.of(model, Evidence.of(model.n, {1: 1, 8: 0}), beta=0.8)


def _start(target: Target) -> np.ndarray:
    x = np.random.default_rng(4).integers(0, 2, (CHAINS, target.n)).astype(np.int8)
    return np.asarray(jax.vmap(target.evidence.apply)(jnp.asarray(x)))


def _colour_by_colour(target: Target) -> np.ndarray:
    return np.argsort(np.asarray(target.model.colour), kind="stable")


@pytest.mark.parametrize("name", SWEPT)
@pytest.mark.parametrize("algorithm", [Gibbs(), ColourGibbs()], ids=["gibbs", "colour_gibbs"])
def test_sweeps_equal_site_by_site(algorithm, name):
    target = _target(name)
    x = _start(target)
    chain_keys = keys.of_chains(jax.random.key(31), jnp.arange(CHAINS))
    order = np.arange(target.n) if isinstance(algorithm, Gibbs) else _colour_by_colour(target)
    state = init_tile(algorithm, chain_keys, target, x)
    for sweep in range(3):
        sweep_keys = jax.vmap(jax.random.fold_in, in_axes=(0, None))(chain_keys, sweep)
        state = step_tile(algorithm, sweep_keys, target, state)[0]
        x = np.stack([_site_by_site(target, sweep_keys[c], x[c], order) for c in range(CHAINS)])
        assert (np.asarray(shown_tile(algorithm, target, state)) == x).all()


@pytest.mark.parametrize("name", SWEPT)
@pytest.mark.parametrize("algorithm", [Gibbs(), ColourGibbs()], ids=["gibbs", "colour_gibbs"])
def test_single_chain_form_equals_the_tile_form(algorithm, name):
    target = _target(name)
    x0 = _start(target)
    chain_keys = keys.of_chains(jax.random.key(32), jnp.arange(CHAINS))
    tile = init_tile(algorithm, chain_keys, target, x0)
    one = init(algorithm, chain_keys[3], target, x0[3])
    for _ in range(2):
        tile = step_tile(algorithm, chain_keys, target, tile)[0]
        one = step(algorithm, chain_keys[3], target, one)[0]
    assert (shown(algorithm, target, one) == shown_tile(algorithm, target, tile)[3]).all()


@pytest.mark.parametrize("name", ["torus", "erdos", "dense"])
def test_partial_sweeps_resume_at_the_site(name):
    """Three pieces under one key make the sweep; a piece that wraps begins the next one."""
    target, algorithm, key = _target(name), Gibbs(), jax.random.key(33)
    first = GibbsState(jnp.asarray(_start(target)[0]), jnp.int32(0))
    whole, _ = step(algorithm, key, target, first)
    part = first
    for count in (7, target.n - 19, 12):
        part = step_sites(algorithm, key, target, part, jnp.int32(count))
    assert (part.x == whole.x).all() and int(part.site) == int(whole.site) == 0
    ahead = step_sites(algorithm, key, target, first, jnp.int32(10))
    wrapped = step_sites(algorithm, key, target, ahead, jnp.int32(target.n - 4))
    order = np.r_[np.arange(10, target.n), np.arange(6)]
    assert (np.asarray(wrapped.x) == _site_by_site(target, key, np.asarray(ahead.x), order)).all()
    assert int(wrapped.site) == 6


@pytest.mark.parametrize("name", [name for name in MODELS if name != "dense"])
def test_orders_hold_every_site_once_and_no_edge_within_a_group(name):
    model = MODELS[name]()
    _, i, j, _ = model.pairwise()
    for order in (model.colour_order, model.site_order):
        site, slot = np.asarray(order.site), np.asarray(order.slot)
        assert (np.sort(site[site < model.n]) == np.arange(model.n)).all()
        assert (site.reshape(-1)[slot] == np.arange(model.n)).all()
        group = slot // site.shape[1]
        assert (group[i] != group[j]).all()
        assert site.size <= 2 * model.n + 64
    group = np.asarray(model.site_order.slot) // np.asarray(model.site_order.site).shape[1]
    assert (group[np.minimum(i, j)] < group[np.maximum(i, j)]).all()


def test_rows_go_to_the_slots_and_back():
    order = SweepOrder.of_levels(np.array([2, 0, 1, 0, 0, 2, 5]))
    rows = jnp.arange(14).reshape(7, 2)
    assert (order.collect(order.spread(rows)) == rows).all()


@pytest.mark.parametrize("algorithm", [Gibbs(), ColourGibbs()], ids=["gibbs", "colour_gibbs"])
@pytest.mark.parametrize("name", ["torus", "erdos", "dense"])
def test_extreme_fields_are_followed(algorithm, name):
    """At beta 1e4 every site goes with the sign of its field; nothing becomes NaN."""
    target = dataclasses.replace(_target(name), beta=np.float32(1e4))
    run = running.advance(start(algorithm, target, jax.random.key(34), 3), 40)[0]
    x = running.positions(run)[0]
    bias, i, j, w = target.model.pairwise()
    field = bias.copy()
    np.add.at(field, i, w * x[j])
    np.add.at(field, j, w * x[i])
    free = ~np.asarray(target.evidence.mask) & (np.abs(field) > 1e-2)
    assert (x[free] == (field[free] > 0)).all()


@pytest.mark.parametrize("algorithm", [Gibbs(), ColourGibbs()], ids=["gibbs", "colour_gibbs"])
@pytest.mark.parametrize("name", ["torus", "erdos", "dense"])
def test_nothing_recompiles_when_weights_beta_or_evidence_change(algorithm, name):
    target = _target(name)
    run = running.advance(start(algorithm, target, jax.random.key(35), 4), 2)[0]
    run = retarget(run, target)
    before = compile_clock.compilations()
    couplings = dataclasses.replace(target.model.couplings, weight=np.asarray(target.model.couplings.weight) * 0.5)
    lighter = dataclasses.replace(target.model, couplings=couplings)
    for other in (Target.of(lighter, target.evidence), Target.of(target.model, beta=0.1)):
        run = running.advance(retarget(run, other), 3)[0]
    assert compile_clock.compilations() == before

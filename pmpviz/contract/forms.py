"""Checks of what an algorithm brings besides its single-chain functions: tile forms, layers, draws, an equation."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from pmpviz import keys
from pmpviz.contract.detectors import FEW, Verdict, host_rng, starts
from pmpviz.contract.fixtures import Fixture
from pmpviz.runs import advance, start
from pmpviz.runs.run import draws_done, first_state, prepared
from pmpviz.types import brings

TILE, TILE_SWEEPS = 5, 6
MEAN_CHAINS = 1 << 14


def has_both_forms(cls) -> bool:
    """Whether an algorithm has tile forms and single-chain forms of its own."""
    return brings(cls, "step_tile") and all(brings(cls, name) for name in ("init", "step", "position"))


def tile_forms(algorithm, fixture: Fixture, key) -> Verdict:
    """A tile of five chains gives the numbers of each chain alone, over six sweeps."""
    target, spec = prepared(algorithm, fixture.target), algorithm.spec
    chain_keys = keys.of_chains(keys.role(key, keys.INIT), jnp.arange(TILE))
    first = starts(fixture, key, TILE)
    init_tile, step_tile, shown_tile = _compiled(algorithm, "init_tile", "step_tile", "position_tile")
    init, step, shown = _compiled(algorithm, "init", "step", "position")
    tile = init_tile(algorithm, chain_keys, target, first)
    single = [init(algorithm, chain_keys[chain], target, first[chain]) for chain in range(TILE)]
    for quantum in range(TILE_SWEEPS * spec.quanta(target.model)):
        own = keys.fold_in(chain_keys, quantum)
        tile, told = step_tile(algorithm, own, target, tile)
        x = np.asarray(shown_tile(algorithm, target, tile))
        for chain in range(TILE):
            single[chain], info = step(algorithm, own[chain], target, single[chain])
            if (np.asarray(shown(algorithm, target, single[chain])) != x[chain]).any():
                return Verdict(
                    False, found=f"chain {chain} of a tile differs from the chain alone at quantum {quantum}"
                )
            for name in spec.metrics:
                if not np.allclose(info[name], told[name][chain], rtol=1e-4, atol=1e-5):
                    return Verdict(False, found=f"{name} of a tile differs from that of the chain alone")
    return Verdict(True)


def _compiled(algorithm, *names: str):
    """Methods as functions of the algorithm and the rest, one program each instead of one for every operation."""
    return [jax.jit(getattr(type(algorithm), name)) for name in names]


def expected_means(algorithm, fixture: Fixture, key) -> Verdict:
    """What is expected of each variable is its marginal on average, its value where clamped, and 0 to 1 always.

    From 2^14 exact draws, after two sweeps; a tile says what each chain alone does.
    """
    target = prepared(algorithm, fixture.target)
    law, rng = fixture.law, host_rng(key)
    run = start(algorithm, fixture.target, key, MEAN_CHAINS, law.draws(rng, MEAN_CHAINS))
    run, _trace = advance(run, 2 * run.quanta, record=False)
    expected = np.asarray(_expected(algorithm, run.target, run.state), np.float64).reshape(-1, target.n)[:MEAN_CHAINS]
    if (expected < 0).any() or (expected > 1).any():
        return Verdict(False, found="what is expected is no probability")
    error = expected.mean(0) - law.p @ law.states
    spread = expected.std(0) / np.sqrt(MEAN_CHAINS)
    if (np.abs(error) > 5.5 * spread + 1e-5).any():
        return Verdict(False, found=f"what is expected is off by {np.abs(error).max():.3g} on average")
    return _expected_alone(algorithm, target, key) if has_both_forms(type(algorithm)) else Verdict(True)


@jax.jit
def _expected(algorithm, target, state):
    return jax.lax.map(lambda tile: algorithm.expected_tile(target, tile), state)


def _expected_alone(algorithm, target, key) -> Verdict:
    own = keys.of_chains(key, jnp.arange(TILE))
    x = np.random.default_rng(1).integers(0, 2, (TILE, target.n)).astype(np.int8)
    init_tile, expected_tile, init, expected = _compiled(algorithm, "init_tile", "expected_tile", "init", "expected")
    tile = expected_tile(algorithm, target, init_tile(algorithm, own, target, x))
    single = [init(algorithm, own[chain], target, x[chain]) for chain in range(TILE)]
    alone = [expected(algorithm, target, state) for state in single]
    return Verdict(bool(np.allclose(tile, np.stack(alone), atol=1e-4)), found="a tile expects other than a chain alone")


def brought(algorithm, fixture: Fixture, key) -> Verdict:
    """What an algorithm brings besides is what it says: overlays over the sites, draws that are done, an equation."""
    target, spec = prepared(algorithm, fixture.target), algorithm.spec
    run = start(algorithm, target, key, FEW)
    before = draws_done(run)
    run, _trace = advance(run, TILE_SWEEPS * run.quanta)
    state, after = first_state(algorithm, run.state), draws_done(run)
    if spec.kind == "draw" and not (before in (0, 1) and after is not None and before <= after <= TILE_SWEEPS + 1):
        return Verdict(False, found=f"{before} draws are done at the start, {after} after {TILE_SWEEPS} sweeps")
    for overlay in spec.overlays:
        field = np.asarray(algorithm.overlay(run.target, state, overlay.name), np.float64)
        if field.shape != (target.n,) or not np.isfinite(field).all():
            return Verdict(False, found=f"the overlay {overlay.name} has not one finite number a site")
        if overlay.kind == "labels" and (field != np.round(field)).any():
            return Verdict(False, found=f"the labels of {overlay.name} are no whole numbers")
    for site, said in algorithm.heard(run.target, state, 0):
        if not (0 <= site < target.n and np.isfinite(said)):
            return Verdict(False, found=f"what site 0 hears comes from site {site}: {said}")
    equation = algorithm.equation(run.target)
    return Verdict(isinstance(equation, str) and bool(equation.strip()), found="the equation is empty")

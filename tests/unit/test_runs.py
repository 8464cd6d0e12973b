"""A run is bitwise the same whatever the chunks, the chains beside it, recording, donation and a retarget."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from pmpviz.models import build_spec
from pmpviz.runs import compile_clock, counted, positions, retarget, start
from pmpviz.runs.run import MAX_CHUNK_SWEEPS, advance
from pmpviz.samplers import SAMPLERS, make_sampler
from pmpviz.types import Evidence, InputError, Target
from tests.thorough import case

pytestmark = pytest.mark.as_shipped
SPECS = {
    "lattice": "square:6x7,J=0.3",
    "sparse": "erdos_renyi:30",
    "dense": "complete:20",
    "small": "square:3x4,J=0.3",
}
# Those that list all states run on a model of few.
LISTING = ("gumbel_table", "unbiased")
# Every sampler on a lattice; those with a kernel for each layout on all.
HOME = {cls.spec.id: "small" if cls.spec.id in LISTING else "lattice" for cls in SAMPLERS}
CASES = list(HOME.items())
CASES += [(algorithm, name) for algorithm in ("pmp", "gibbs", "colour_gibbs") for name in ("sparse", "dense")]
# Matrices as shipped are in `test_determinism.py`; the two Gibbs samplers differ by the order of sites alone.
RARER = {("pmp", "dense"), ("gibbs", "dense"), ("colour_gibbs", "dense"), ("colour_gibbs", "sparse")}
# These have their matrices as shipped there, and are retargeted on lattices below.
RARER |= {(name, "lattice") for name in ("wolff", "gaussian_gibbs", "gaussian_hmc", "gaussian_chain")}
PARTED = [case(*pair, name="-".join(pair), everyday=pair not in RARER) for pair in CASES]
SWEEPS = 7


def _case(algorithm: str, name: str):
    model = build_spec(SPECS[name])
    sampler, target = make_sampler(algorithm), Target.of(model, beta=0.9)
    reason = sampler.spec.why_not(target)
    return sampler, target, reason


def _draws_of(algorithm: str):
    """Short draws for PMP, so that a run passes from one draw to the next within the test."""
    sampler = make_sampler(algorithm)
    return make_sampler(algorithm, sweeps_per_draw=3) if hasattr(sampler, "sweeps_per_draw") else sampler


def _sweeps(run, *pieces: int, **options):
    for piece in pieces:
        run = advance(run, piece * run.quanta, **options)[0]
    return run


@pytest.mark.parametrize(("algorithm", "name"), PARTED)
def test_runs_are_bitwise_the_same(algorithm, name):
    _, target, reason = _case(algorithm, name)
    assert reason is None
    sampler, key = _draws_of(algorithm), jax.random.key(40)
    # Chunks, recording and sampling are in the contract suite, on models of six sites.
    whole = _sweeps(start(sampler, target, key, 3), 1, 2, 4)
    assert whole.sweep == SWEEPS
    more = _sweeps(start(sampler, target, key, 2 * whole.tile + 1), SWEEPS, record=False, donate=True)
    assert (positions(more)[:3] == positions(whole)).all() and (counted(more)[:3] == counted(whole)).all()


@pytest.mark.parametrize("algorithm", [cls.spec.id for cls in SAMPLERS])
def test_retarget_to_the_same_target_changes_no_configuration(algorithm):
    sampler, target, reason = _case(algorithm, HOME[algorithm])
    assert reason is None
    run = _sweeps(start(sampler, target, jax.random.key(41), 3), 4)
    again = retarget(run, target, sampler)
    assert (positions(again) == positions(run)).all()
    # The Gaussians of Hamiltonian Monte Carlo are drawn anew given the configuration, by the INIT key: the same law.
    same = (positions(_sweeps(again, 3)) == positions(_sweeps(run, 3))).all()
    assert same == (algorithm != "gaussian_hmc")


@pytest.mark.parametrize("algorithm", [cls.spec.id for cls in SAMPLERS if cls.spec.kind == "chain"])
def test_retarget_clamps_at_once(algorithm):
    sampler, target, _ = _case(algorithm, "lattice")
    run = _sweeps(start(sampler, target, jax.random.key(42), 3), 2)
    x = positions(run)[0]
    clamped = Target(target.model, Evidence.of(target.n, {4: 1 - int(x[4])}), target.beta)
    if sampler.spec.why_not(clamped):
        return
    run = retarget(run, clamped)
    assert (positions(run)[:, 4] == 1 - x[4]).all()
    assert (positions(_sweeps(run, 3))[:, 4] == 1 - x[4]).all()


def test_start_is_the_same_for_every_chain_algorithm():
    starts = []
    for cls in SAMPLERS:
        sampler, target, _ = _case(cls.spec.id, "lattice")
        if cls.spec.kind == "chain":
            starts.append(positions(start(sampler, target, jax.random.key(43), 5)))
    assert all((x == starts[0]).all() for x in starts[1:])
    assert 0.3 < starts[0].mean() < 0.7


def test_start_at_given_configurations():
    sampler, target, _ = _case("gibbs", "lattice")
    x0 = np.random.default_rng(1).integers(0, 2, (5, target.n)).astype(np.int8)
    assert (positions(start(sampler, target, jax.random.key(44), 5, x0)) == x0).all()


def test_the_trace_is_of_the_run():
    sampler, target, _ = _case("colour_gibbs", "lattice")
    run = start(sampler, target, jax.random.key(45), 5)
    ahead, trace = advance(run, 6)
    assert trace.sweeps.tolist() == [1, 2, 3, 4, 5, 6]
    x = positions(ahead)
    energy = [-float(target.model.log_weight(row)) for row in x]
    np.testing.assert_allclose(trace.energies[-1], energy, rtol=1e-5)
    np.testing.assert_allclose(trace.means[-1], x.mean(1), rtol=1e-6)
    assert (trace.frame(5) == x[0]).all()
    assert (np.diff(trace.seconds) >= 0).all() and trace.run_seconds > 0


def test_the_length_of_a_chunk_compiles_nothing():
    sampler, target, _ = _case("gibbs", "sparse")
    run = _sweeps(start(sampler, target, jax.random.key(46), 3), 2)
    before = compile_clock.compilations()
    _sweeps(run, 1, 5, MAX_CHUNK_SWEEPS)
    assert compile_clock.compilations() == before


def test_limits_are_said_in_one_sentence():
    sampler, target, _ = _case("gibbs", "sparse")
    with pytest.raises(InputError, match="give from 1"):
        start(sampler, target, jax.random.key(47), 0)
    run = start(sampler, target, jax.random.key(47), 1)
    with pytest.raises(InputError, match="at most"):
        advance(run, MAX_CHUNK_SWEEPS + 1)

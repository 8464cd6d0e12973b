"""The exact sampler: its law, its blocks of draws, and runs of host algorithms."""

import itertools

import jax
import numpy as np
import pytest
from scipy.stats import chi2

from pmpviz.models import Ising, build_spec
from pmpviz.runs import advance, checkpoint, counted, positions, retarget, sample, start
from pmpviz.samplers import exact_sampler
from pmpviz.samplers.exact_sampler import ExactSampler, block_of
from pmpviz.types import Evidence, InputError, Refusal, Target

CHAINS = 1 << 14


def six_spins() -> Ising:
    """A frustrated pair of triangles with a tail, in fields."""
    return Ising.from_spin(
        [0.3, -0.5, 0.2, 0.6, -0.4, 0.1],
        [0, 1, 0, 1, 2, 3, 4],
        [1, 2, 2, 3, 3, 4, 5],
        [0.9, -0.7, 0.8, -0.6, 1.1, -1.0, 0.5],
    )


def law(target: Target) -> np.ndarray:
    """p of every state in binary order, in float64; 0 where the evidence forbids it."""
    states = np.array(list(itertools.product((0, 1), repeat=target.n)))
    bias, i, j, w = target.model.pairwise()
    p = np.exp(float(target.beta) * (states @ bias + (states[:, i] * states[:, j]) @ w))
    mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
    p[(states[:, mask] != value[mask]).any(1)] = 0
    return p / p.sum()


def p_value(counts: np.ndarray, p: np.ndarray) -> float:
    expected = counts.sum() * p
    if counts[expected == 0].any():
        return 0.0
    seen = expected >= 20
    counts, expected = np.append(counts[seen], counts[~seen].sum()), np.append(expected[seen], expected[~seen].sum())
    counts, expected = counts[expected > 0], expected[expected > 0]
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), max(len(counts) - 1, 1)))


@pytest.mark.parametrize("beta, clamp", [(1.0, {}), (1.6, {1: 1, 4: 0})])
def test_successive_draws_are_independent_and_exact(beta, clamp):
    target = Target.of(six_spins(), Evidence.of(6, clamp), beta)
    p, place = law(target), 1 << np.arange(6)[::-1]

    def one_look(seed):
        run, rows = start(ExactSampler(), target, jax.random.key(seed), CHAINS), []
        for _ in range(6):
            rows.append(counted(run) @ place)
            run, _ = advance(run, 1, record=False)
        single = p_value(np.bincount(np.concatenate(rows), minlength=64), p)
        # Neighbours in time, across and within a block of draws, and in the row of chains.
        pairs = [(rows[1], rows[2]), (rows[2], rows[3]), (rows[4][:-1:2], rows[4][1::2])]
        joint = [p_value(np.bincount(64 * a + b, minlength=4096), np.outer(p, p).ravel()) for a, b in pairs]
        return min(1.0, 4 * min(single, *joint))

    first = one_look(0)
    assert (first if first >= 1e-3 else one_look(1)) >= 1e-6


def test_blocks_part_the_draws():
    seen = {}
    for draw in range(400):
        first, size = block_of(draw)
        assert first <= draw < first + size <= first + 64
        assert seen.setdefault(first, size) == size
    assert sum(size for first, size in seen.items()) >= 400
    ends = sorted((first, first + size) for first, size in seen.items())
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ends))


def chain_target() -> Target:
    return Target.of(build_spec("square:4x5,J=0.5,h=0.2,field=random"), Evidence.of(20, {3: 1}))


@pytest.mark.as_shipped
def test_bits_depend_on_neither_chunks_nor_chains():
    begin = start(ExactSampler(), chain_target(), jax.random.key(1), 3)
    whole, trace = advance(begin, 9)
    run, energies = start(ExactSampler(), chain_target(), jax.random.key(1), 130), []
    for count in (1, 5, 3):
        run, part = advance(run, count)
        energies.append(part.energies[:, :3])
    np.testing.assert_array_equal(positions(run)[:3], positions(whole))
    np.testing.assert_array_equal(np.concatenate(energies), trace.energies)
    np.testing.assert_array_equal(sample(ExactSampler(), chain_target(), jax.random.key(1), 3, 9), positions(whole))
    plain, none = advance(begin, 9, record=False)
    assert none is None
    np.testing.assert_array_equal(positions(plain), positions(whole))


def test_records_are_those_of_the_draws():
    run, trace = advance(start(ExactSampler(), chain_target(), jax.random.key(1), 70), 5)
    x = positions(run)
    energy = -np.asarray(jax.vmap(run.target.model.log_weight)(x))
    np.testing.assert_allclose(trace.energies[-1], energy, rtol=1e-6, atol=1e-5)
    np.testing.assert_allclose(trace.means[-1], x.mean(1), rtol=1e-6)
    np.testing.assert_array_equal(trace.frame(4), x[0])
    np.testing.assert_array_equal(trace.frame(4, tile=1), x[64])
    assert list(trace.sweeps) == [1, 2, 3, 4, 5] and len(trace.seconds) == 5


def test_a_checkpoint_resumes_bit_for_bit(tmp_path):
    begin = start(ExactSampler(), chain_target(), jax.random.key(1), 70)
    checkpoint.save(advance(begin, 4)[0], tmp_path / "run.npz")
    back = checkpoint.load(tmp_path / "run.npz", start(ExactSampler(), chain_target(), jax.random.key(2), 70))
    np.testing.assert_array_equal(positions(advance(back, 3)[0]), positions(advance(begin, 7)[0]))


def test_a_new_target_is_sampled_from_the_next_look_on():
    run, _ = advance(start(ExactSampler(), chain_target(), jax.random.key(1), 500), 2)
    other = Target.of(chain_target().model, Evidence.of(20, {7: 0}), 0.5)
    moved = retarget(run, other)
    assert (positions(moved)[:, 7] == 0).all() and not (positions(moved)[:, 3] == 1).all()
    begun = start(ExactSampler(), other, jax.random.key(1), 500)
    np.testing.assert_array_equal(positions(moved), positions(advance(begun, 2)[0]))


def test_the_solution_is_computed_once_for_equal_targets(monkeypatch):
    calls = []
    solve = exact_sampler.exact.solve
    monkeypatch.setattr(exact_sampler.exact, "solve", lambda target: calls.append(target) or solve(target))
    exact_sampler._solve.cache_clear()
    for J in (0.31, 0.31, 0.32):
        target = Target.of(build_spec(f"square:3x4,J={J}"))
        sample(ExactSampler(), target, jax.random.key(0), 200, 3)
    assert len(calls) == 2
    assert exact_sampler._solve.cache_info().maxsize == exact_sampler.KEPT_SOLUTIONS


def test_intractable_models_are_refused_with_the_width():
    target = Target.of(build_spec("square:40x40,J=0.4"))
    reason = ExactSampler.spec.why_not(target)
    assert reason and "width" in reason and "\n" not in reason
    with pytest.raises(InputError, match="width"):
        start(ExactSampler(), target, jax.random.key(0), 2)
    run = start(ExactSampler(), chain_target(), jax.random.key(0), 2)
    with pytest.raises(Refusal):
        positions(retarget(run, target))

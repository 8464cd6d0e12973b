"""The checks of learners as functions (learner, fixture, key) -> Verdict; mutants name the one that catches them."""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from scipy.stats import norm

from pmpviz.contract.detectors import Verdict, batches
from pmpviz.contract.laws import edge_sum, two_stages
from pmpviz.contract.learning_fixtures import LearningFixture, shifted
from pmpviz.learning.optimiser import Optimiser
from pmpviz.runs import compile_clock, training

# All checks of a learner on models of one shape share this number of chains, and with it one compiled program.
CHAINS, CHAINS_ON_HOST = 1 << 11, 1 << 7
BATCHES_A_LOOK = 2
# Iterations of a persistent learner at a frozen model, from random starts to the model's law.
ITERATIONS = 60
# Float32: statistics of size 1, times 8 in the spin form.
ROUNDING = 1e-4
STEP = 1e-3
_programs: dict = {}


def chains_of(learner) -> int:
    """Chains that a learner is tested with."""
    return CHAINS if learner.spec.jit else CHAINS_ON_HOST


def frozen(learner, fixture: LearningFixture, key, phase=None, iterations: int = 1):
    """(gradient [k], phase) of the last of so many iterations at a model that stays as it is."""
    phase = first_phase(learner, fixture, key) if phase is None else phase
    if not learner.spec.jit:
        for t in range(iterations):
            own = jax.random.fold_in(key, t)
            found, phase = learner.gradient(own, fixture.model, fixture.data, None, phase, fixture.form)
        return fixture.flat(found), phase
    args = (learner, key, jax.tree.map(jnp.asarray, fixture.model), fixture.data, phase, np.int32(iterations))
    place = type(learner), fixture.form, jax.tree.structure(args), *(jnp.shape(leaf) for leaf in jax.tree.leaves(args))
    if place not in _programs:
        # These programs run for a moment: half the time of compiling them is saved.
        quickly = {"xla_backend_optimization_level": 0}
        _programs[place] = _loop.lower(*args, form=fixture.form).compile(compiler_options=quickly)
    found, phase = _programs[place](*args)
    return fixture.flat(found), phase


def first_phase(learner, fixture: LearningFixture, key):
    """Where the learner's chains begin."""
    return training._first_phase(learner, jax.random.fold_in(key, 1 << 20), fixture.model, chains_of(learner))


@partial(jax.jit, static_argnames="form")
def _loop(learner, key, model, data, phase, iterations, form):
    def one(t, phase):
        return learner.gradient(jax.random.fold_in(key, t), model, data, None, phase, form)

    shapes = jax.eval_shape(one, 0, phase)[0]
    zero = jax.tree.map(lambda leaf: jnp.zeros(leaf.shape, leaf.dtype), shapes)
    return jax.lax.fori_loop(0, iterations, lambda t, carry: one(t, carry[1]), (zero, phase))


def enumerated_gradient(learner, fixture: LearningFixture, key) -> Verdict:
    """The gradient is that of the log-likelihood by enumeration in float64."""
    worst = np.abs(frozen(learner, fixture, key)[0] - fixture.gradient).max()
    return Verdict(bool(worst < ROUNDING), found=f"an entry is off by {worst:.2g}")


def numeric_gradient(fixture: LearningFixture, value) -> np.ndarray:
    """Central differences of value(model, fixture) by every parameter that is learned, both entries of an edge."""
    parts = []
    for name, mask in sorted(fixture.exists.items()):
        for entry in np.argwhere(mask) if mask.ndim else [()]:
            up, down = (shifted(fixture, name, tuple(entry), sign * STEP) for sign in (1, -1))
            parts.append((value(up, fixture) - value(down, fixture)) / (2 * STEP))
    return np.array(parts)


def besag(model, fixture: LearningFixture) -> float:
    """Mean over the data of sum_i log p(x_i | the others), from differences of edge sums in float64."""
    total = 0.0
    for site in range(model.n):
        turned = fixture.data.copy()
        turned[:, site] ^= 1
        total += -np.logaddexp(0.0, edge_sum(model, turned) - edge_sum(model, fixture.data)).mean()
    return float(total)


def besag_gradient(learner, fixture: LearningFixture, key) -> Verdict:
    """The gradient is that of the pseudo-log-likelihood, by differences."""
    worst = np.abs(frozen(learner, fixture, key)[0] - numeric_gradient(fixture, besag)).max()
    return Verdict(bool(worst < 10 * ROUNDING), found=f"an entry is off by {worst:.2g}")


def mean_gradient(learner, fixture: LearningFixture, key) -> Verdict:
    """The mean over independent chains is the enumerated gradient: each entry's z, Bonferroni over the entries.

    Its variance is known by enumeration. Persistent chains go on for 60 iterations at the frozen model.
    """
    iterations = ITERATIONS if learner.spec.persistent else 1
    return mean_after(iterations)(learner, fixture, key)


def mean_after(iterations: int):
    """`mean_gradient` after so many iterations."""

    def check(learner, fixture: LearningFixture, key) -> Verdict:
        def p_value(stage, factor):
            keys = batches(key, stage, BATCHES_A_LOOK * factor)
            found = np.mean([frozen(learner, fixture, k, None, iterations)[0] for k in keys], axis=0)
            off, constant = np.abs(found - fixture.gradient), fixture.variance < 1e-12
            if not np.isfinite(off).all() or (off[constant] > ROUNDING).any():
                return 0.0
            # Float32 means of so many rows are known to about 1e-6.
            deviation = np.sqrt(fixture.variance[~constant] / (len(keys) * chains_of(learner)))
            z = np.maximum(off[~constant] - 1e-6, 0) / deviation
            return float(min(1.0, len(z) * 2 * norm.sf(z.max())))

        return Verdict.of_p(two_stages(p_value))

    return check


def own_samples(learner, fixture: LearningFixture, key) -> Verdict:
    """The gradient is the data's mean statistics minus those of the very chains that the learner shows."""
    found, phase = frozen(learner, fixture, key)
    decoded = bool(getattr(learner, "hidden", 0))
    expected = fixture.of_data - fixture.flat(fixture.statistics(phase.x, decoded)).mean(0)
    worst = np.abs(found - expected).max()
    return Verdict(bool(worst < ROUNDING), found=f"an entry is off by {worst:.2g}")


def memory(learner, fixture: LearningFixture, key) -> Verdict:
    """What a learner was left with changes its gradient if it is persistent, and no bit of it if it is not."""
    phases = [first_phase(learner, fixture, jax.random.fold_in(key, place)) for place in (1, 2)]
    one, other = (frozen(learner, fixture, key, phase)[0] for phase in phases)
    return Verdict((one != other).any() == learner.spec.persistent, found="the chains' past counts wrongly")


def seeds(learner, fixture: LearningFixture, key) -> Verdict:
    """The same key gives the same chains, another one others."""
    phase = first_phase(learner, fixture, key)
    paths = [np.asarray(frozen(learner, fixture, k, phase)[1].x) for k in (key, key, jax.random.fold_in(key, 1))]
    if (paths[0] != paths[1]).any():
        return Verdict(False, found="the same key gives different chains")
    return Verdict(bool((paths[0] != paths[2]).any()), found="another key gives the same chains")


def begin(learner, fixture: LearningFixture, key, optimiser=None):
    """A training of few chains by batches of the data."""
    optimiser = Optimiser(learning_rate=0.05, lateral_rate=1.0) if optimiser is None else optimiser
    return training.start(learner, fixture.model, fixture.data, key, optimiser, 16, 12, fixture.form)


def _bits(trained) -> list[bytes]:
    leaves = jax.tree.leaves((trained.parameters, trained.optimiser_state, trained.phase))
    return [np.asarray(leaf).tobytes() for leaf in leaves]


def chunks(learner, fixture: LearningFixture, key) -> Verdict:
    """Twenty iterations are the same bits in one chunk, in two, and one by one."""
    ends = []
    for counts in ([20], [7, 13], [1] * 20):
        trained, norms = begin(learner, fixture, key), []
        for count in counts:
            trained, trace = training.advance(trained, count)
            norms.append(trace.gradient_norm)
        ends.append([*_bits(trained), np.concatenate(norms).tobytes()])
    return Verdict(ends[0] == ends[1] == ends[2], found="chunks change the bits")


def adjusted(learner, fixture: LearningFixture, key) -> Verdict:
    """A new learning rate in mid-run compiles nothing, loses nothing, and counts."""
    trained, _ = training.advance(begin(learner, fixture, key), 3)
    other = dataclasses.replace(trained.optimiser, learning_rate=0.001)
    after = training.adjust(trained, optimiser=other)
    if _bits(after) != _bits(trained) or after.iteration != 3:
        return Verdict(False, found="adjusting loses what was learned")
    before = compile_clock.compilations()
    ends = [training.advance(start, 2)[0] for start in (after, training.advance(begin(learner, fixture, key), 3)[0])]
    if compile_clock.compilations() != before:
        return Verdict(False, found="a new learning rate compiles")
    return Verdict(_bits(ends[0]) != _bits(ends[1]), found="the new learning rate does not count")


def structure(learner, fixture: LearningFixture, key, optimiser=None) -> Verdict:
    """After ten steps what is no edge is exactly 0 still, every edge has moved, and matrices are symmetric."""
    trained, _ = training.advance(begin(learner, fixture, key, optimiser), 10)
    for name, mask in fixture.exists.items():
        value, first = np.asarray(trained.parameters[name]), np.asarray(begin(learner, fixture, key).parameters[name])
        if value[~mask].any():
            return Verdict(False, found=f"{name} has entries where there is no edge")
        if (value == first)[mask].any():
            return Verdict(False, found=f"an entry of {name} has not moved")
        matrix = name == "lateral" or (fixture.form != "tied" and value.shape == (fixture.model.n,) * 2)
        if matrix and (value != value.T).any():
            return Verdict(False, found=f"{name} is not symmetric")
    return Verdict(True)

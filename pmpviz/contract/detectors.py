"""The checks of the contract as functions (algorithm, fixture, key) -> Verdict.

The tests apply them to everything registered, `python -m pmpviz contract` to somebody's own; in the tests, `mutants.py`
names the one that catches each planted bug, and `fresh.py` repeats them at fresh seeds.
"""

from __future__ import annotations

import dataclasses
import itertools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from pmpviz import keys
from pmpviz.contract.fixtures import Fixture
from pmpviz.contract.laws import ALPHA, bowker, chi_square, table, two_stages
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import TableModel
from pmpviz.runs import Run, Trace, advance, checkpoint, compile_clock, counted, positions, retarget, sample, start
from pmpviz.runs.run import draws_done
from pmpviz.types import Evidence, Spec, Target

# Chains are run 2^13 at a time, so that all checks of a law share one compiled program; a look at one sweep takes 2^17.
BATCH = 1 << 13
BATCHES_A_LOOK = 16
COLD_SWEEPS = 60
COLD_STARTS = 4
# Checks of bits share this number of chains, two tiles of 16, and with it their compiled programs.
FEW = 17
TREE_CHAINS = 1 << 12
TREE_SWEEPS = 12
MOST_SWEEPS = 1000


@dataclass(frozen=True)
class Verdict:
    """Whether a check was passed, its p-value where it is statistical, and what was found."""

    passed: bool
    p: float = 1.0
    found: str = ""

    @classmethod
    def of_p(cls, p: float) -> Verdict:
        """Passed unless p is below 1e-6."""
        return cls(p >= ALPHA, p, f"p = {p:.2g}")


def host_rng(key) -> np.random.Generator:
    """A host generator seeded by the key's words."""
    return np.random.default_rng(keys.words_of(key))


def batches(key, stage: int, count: int):
    """Independent keys of the batches of one look."""
    root = jax.random.fold_in(key, stage)
    return [jax.random.fold_in(root, batch) for batch in range(count)]


def _one_sweep(algorithm, fixture: Fixture, key) -> tuple[np.ndarray, np.ndarray]:
    """Indices of a batch of exact draws and of where one sweep took them; -1 where a clamped site moved."""
    first = fixture.law.draws(host_rng(key), BATCH)
    last = sample(algorithm, fixture.target, key, BATCH, 1, first)
    return fixture.law.index(first), fixture.law.index(last)


def _law_p(law, index: np.ndarray) -> float:
    if (index < 0).any():
        return 0.0
    return chi_square(np.bincount(index, minlength=len(law.p)), law.p)


def exact_start(algorithm, fixture: Fixture, key, stages=None) -> Verdict:
    """2^17 exact draws, one sweep: the joint law of all free sites must be the target's still."""

    def p_value(stage, factor):
        index = [_one_sweep(algorithm, fixture, batch)[1] for batch in batches(key, stage, BATCHES_A_LOOK * factor)]
        return _law_p(fixture.law, np.concatenate(index))

    return Verdict.of_p((stages or two_stages)(p_value))


def exact_start_large(algorithm, fixture: Fixture, key) -> Verdict:
    """`exact_start` at 2^20 chains at once, for errors of a few per cent."""
    return exact_start(algorithm, fixture, key, stages=lambda p_value: p_value(1, 8))


def symmetry(algorithm, fixture: Fixture, key) -> Verdict:
    """Detailed balance: from exact draws, x -> y is as frequent as y -> x (Bowker 1948)."""

    def p_value(stage, factor):
        size, total = len(fixture.law.p), 0
        for batch in batches(key, stage, BATCHES_A_LOOK * factor):
            first, last = _one_sweep(algorithm, fixture, batch)
            if (last < 0).any():
                return 0.0
            total = total + table(first, last, size)
        return bowker(total)

    return Verdict.of_p(two_stages(p_value))


def cold_states(fixture: Fixture) -> np.ndarray:
    """All 0, all 1, the least likely state and the most likely one with each variable's next state, int8 [4, n]."""
    law, card = fixture.law, _card(fixture)
    worst, best = law.states[law.p.argmin()], law.states[law.p.argmax()]
    return np.stack([0 * card, np.minimum(1, card - 1), worst, (best + 1) % card]).astype(np.int8)


def _card(fixture: Fixture) -> np.ndarray:
    """Each variable's number of states."""
    return np.array(fixture.target.model.card)


def _any_states(fixture: Fixture, rng: np.random.Generator, chains: int) -> np.ndarray:
    return rng.integers(0, _card(fixture), (chains, fixture.target.n)).astype(np.int8)


def cold_start(algorithm, fixture: Fixture, key) -> Verdict:
    """60 sweeps of 2^13 chains from four cold starts: the chains of each must have reached the target's law.

    The first look at a start's 2^11 chains sees a law at a chi-square distance of 0.05 in 99 of 100 runs; smaller
    errors, of a law that is not kept, are for the 2^17 draws of `exact_start`.
    """
    first = np.repeat(cold_states(fixture), BATCH // COLD_STARTS, axis=0)

    def p_value(stage, factor):
        index = [
            fixture.law.index(sample(algorithm, fixture.target, batch, BATCH, COLD_SWEEPS, first))
            for batch in batches(key, stage, factor)
        ]
        starts = np.concatenate([i.reshape(COLD_STARTS, -1) for i in index], axis=1)
        return min(1.0, COLD_STARTS * min(_law_p(fixture.law, start) for start in starts))

    return Verdict.of_p(two_stages(p_value))


def clamped_stay(algorithm, fixture: Fixture, key) -> Verdict:
    """Clamped sites are at their values from the start, whatever x0 says, and after every sweep, up to all clamped."""
    target, n = fixture.target, fixture.target.n
    rng = host_rng(key)
    for mask in (np.asarray(target.evidence.mask), rng.random(n) < 0.5, np.ones(n, bool)):
        moved = (np.asarray(target.evidence.value) + (rng.random(n) < 0.5)) % _card(fixture)
        value = np.where(mask, moved, 0).astype(np.int8)
        held = Target(target.model, Evidence(mask, value), target.beta)
        run = start(algorithm, held, key, FEW, _any_states(fixture, rng, FEW))
        for _ in range(4):
            x = positions(run)
            if (x[:, mask] != value[mask]).any() or (counted(run)[:, mask] != value[mask]).any():
                return Verdict(False, found=f"a clamped site moved by sweep {run.sweep}")
            run, _trace = advance(run, run.quanta)
    return Verdict(True)


def tried(algorithm, law: str):
    """The algorithm under the knobs that its spec asks for in the trial of a law."""
    return dataclasses.replace(algorithm, **algorithm.spec.trials.get(law, {}))


def sweeps_a_draw(algorithm, target: Target, key) -> int:
    """Sweeps until the first draw is done; raises RuntimeError where none is within 1,000."""
    run = start(algorithm, target, key, FEW)
    while not draws_done(run):
        if run.sweep == MOST_SWEEPS:
            raise RuntimeError(f"no draw is done after {MOST_SWEEPS} sweeps: see draws_done")
        run, _trace = advance(run, run.quanta)
    return run.sweep


def draws_law(algorithm, fixture: Fixture, key) -> Verdict:
    """Of a `draw`: the first draw and the next have the target's law and are independent, whatever x0 was."""
    law, size = fixture.law, len(fixture.law.p)
    algorithm = tried(algorithm, "draws_law")
    sweeps = sweeps_a_draw(algorithm, fixture.target, key)
    first = np.ones((BATCH, fixture.target.n), np.int8)

    def p_value(stage, factor):
        pairs = np.zeros((size, size), np.int64)
        for batch in batches(key, stage, BATCHES_A_LOOK * factor):
            draws = [sample(algorithm, fixture.target, batch, BATCH, k * sweeps, first) for k in (1, 2)]
            index = [law.index(x) for x in draws]
            if min(i.min() for i in index) < 0:
                return 0.0
            pairs += table(*index, size)
        p = [chi_square(pairs.sum(1), law.p), chi_square(pairs.sum(0), law.p)]
        return min(1.0, 3 * min(*p, chi_square(pairs.ravel(), np.outer(law.p, law.p).ravel())))

    return Verdict.of_p(two_stages(p_value))


def draw_noise(key, chains: int, n: int, draw: int = 0) -> np.ndarray:
    """Logistic perturbation of one draw of each chain, from the NOISE role: what every solver is given."""
    chain_keys = keys.of_chains(keys.role(key, keys.NOISE), jnp.arange(chains))
    noise = jax.vmap(lambda k: keys.logistic_threshold(keys.uniform(jax.random.fold_in(k, draw), n)))(chain_keys)
    return np.asarray(noise, np.float64)


def tree_map(algorithm, fixture: Fixture, key) -> Verdict:
    """On a tree, after more sweeps than the diameter: the maximum under the perturbation, by brute force.

    Sites are decoded one by one, which is the maximum where it is the only one: draws in which float32 cannot tell the
    best two apart do not count.
    """
    algorithm = tried(algorithm, "tree_map")
    target, law = fixture.target, fixture.law
    x = sample(algorithm, target, key, TREE_CHAINS, TREE_SWEEPS)
    index = law.index(x)
    if (index < 0).any():
        return Verdict(False, found="a clamped site moved")
    begin = start(algorithm, target, key, FEW)
    draw = draws_done(advance(begin, TREE_SWEEPS * begin.quanta)[0])
    noise = draw_noise(key, TREE_CHAINS, target.n, draw)
    score = law.log_weight + noise @ law.states.T
    second, best = np.partition(score, -2, axis=1)[:, -2:].T
    short = np.where(best - second >= 1e-4, best - score[np.arange(TREE_CHAINS), index], 0.0)
    return Verdict(bool(short.max() < 1e-4), found=f"{(short >= 1e-4).mean():.3%} of the draws are not the maximum")


def starts(fixture: Fixture, key, chains: int) -> np.ndarray:
    """A random configuration for each chain."""
    return _any_states(fixture, host_rng(key), chains)


def _leaves(run: Run) -> list[np.ndarray]:
    def plain(leaf):
        typed = jax.dtypes.issubdtype(jnp.asarray(leaf).dtype, jax.dtypes.prng_key)
        return np.asarray(jax.random.key_data(leaf) if typed else leaf)

    return [plain(leaf) for leaf in jax.tree.leaves(run.state)]


def _same(a: Run, b: Run) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(_leaves(a), _leaves(b), strict=True))


def chain_count(algorithm, fixture: Fixture, key) -> Verdict:
    """The first chains have the same bits with 1, 3 or 17 chains in the run, from a given and a random start.

    At a quarter of beta, where chains that hear one another seldom agree by chance.
    """
    target = dataclasses.replace(fixture.target, beta=np.float32(fixture.target.beta / 4))
    first = starts(fixture, key, FEW)
    for x0, sweeps in itertools.product((None, first), (1, 2, 3, 7)):
        full = sample(algorithm, target, key, FEW, sweeps, x0)
        for chains in (1, 3):
            x = sample(algorithm, target, key, chains, sweeps, None if x0 is None else x0[:chains])
            if (x != full[:chains]).any():
                return Verdict(False, found=f"{chains} chains differ from the first of {FEW}")
    return Verdict(True)


def recorded(run: Run, count: int) -> tuple[Run, Trace]:
    """`advance` with its trace."""
    ahead, trace = advance(run, count)
    assert trace is not None
    return ahead, trace


def chunks(algorithm, fixture: Fixture, key) -> Verdict:
    """Nine sweeps are the same bits in chunks of any size, recorded or not, given away or kept, run or sampled."""
    begin = start(algorithm, fixture.target, key, FEW, starts(fixture, key, FEW))
    whole, trace = recorded(begin, 9 * begin.quanta)
    total, quanta = whole.quantum, begin.quanta
    splits = {"single sweeps": [quanta] * 9, "uneven": [1, 3 * quanta, total - 3 * quanta - 1]}
    energies = []
    for name, counts in splits.items():
        run = begin
        for count in counts:
            run, part = recorded(run, count)
            energies.append(part.energies)
        if not _same(run, whole):
            return Verdict(False, found=f"chunks of {name} change the state")
    if (np.concatenate(energies[:9]) != trace.energies).any():
        return Verdict(False, found="chunks change the recorded energies")
    given = start(algorithm, fixture.target, key, FEW, starts(fixture, key, FEW))
    plain, _ = advance(given, total, record=False, donate=True)
    if not _same(plain, whole):
        return Verdict(False, found="recording, or giving the state away, changes it")
    direct = sample(algorithm, fixture.target, key, FEW, 9, starts(fixture, key, FEW))
    return Verdict(bool((direct == positions(whole)).all()), found="sample and run differ")


def resumed(algorithm, fixture: Fixture, key) -> Verdict:
    """A run saved in mid-way, loaded into a fresh one and carried on has the bits of one never stopped."""
    first = starts(fixture, key, FEW)
    begin = start(algorithm, fixture.target, key, FEW, first)
    whole, _ = advance(begin, 9 * begin.quanta)
    half, _ = advance(begin, 4 * begin.quanta + 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.npz"
        checkpoint.save(half, path)
        back = checkpoint.load(path, start(algorithm, fixture.target, key, FEW, first))
    end, _ = advance(back, whole.quantum - back.quantum)
    return Verdict(back.quantum == half.quantum and _same(end, whole), found="the resumed run differs")


def seeds(algorithm, fixture: Fixture, key) -> Verdict:
    """Another key gives other chains, the same key the same, and no two chains are copies of each other.

    At beta 0, where every site is a coin: two of these paths agree by chance with a probability below 1e-9.
    """
    flat = Target.of(fixture.target.model, beta=0.0)
    x0 = np.zeros((FEW, flat.n), np.int8)
    paths = [_path(algorithm, flat, k, x0) for k in (key, key, jax.random.fold_in(key, 1))]
    if (paths[0] != paths[1]).any():
        return Verdict(False, found="the same key gives different bits")
    if (paths[0] == paths[2]).all(axis=(0, 2)).any():
        return Verdict(False, found="a chain is the same under another key")
    distinct = np.unique(paths[0].swapaxes(0, 1).reshape(FEW, -1), axis=0)
    return Verdict(len(distinct) == FEW, found="two chains are copies of each other")


def _path(algorithm, target: Target, key, x0) -> np.ndarray:
    """Configurations counted over 32 draws or 32 sweeps, [32, chains, n]."""
    algorithm = tried(algorithm, "seeds")
    run, rows = start(algorithm, target, key, len(x0), x0), []
    for _ in range(32):
        run, _trace = advance(run, run.quanta)
        rows.append(counted(run))
    return np.stack(rows)


def compiles_once(algorithm, fixture: Fixture, key) -> Verdict:
    """New weights, beta, evidence, knobs, key and chunk length of the same shapes compile nothing."""
    run = start(algorithm, fixture.target, key, FEW)
    counted(advance(retarget(run), 2 * run.quanta)[0])
    before, rng = compile_clock.compilations(), host_rng(key)
    for number in (1, 2):
        other = dataclasses.replace(algorithm, **_other_knobs(algorithm.spec, rng))
        run = start(other, _other_target(fixture.target, rng), jax.random.key(number), FEW)
        run, _ = advance(run, number * run.quanta)
        counted(advance(retarget(run, fixture.target, algorithm), run.quanta)[0])
    count = compile_clock.compilations() - before
    return Verdict(count == 0, found=f"{count} compilations for new values of the same shapes")


def _other_knobs(spec: Spec, rng: np.random.Generator) -> dict:
    """Every knob at a random value of its range: one that no earlier run can have compiled for.

    What a choice of a host algorithm stands for, such as a solver, may be a program of its own, as may any knob that
    says so: it stays.
    """
    values = {}
    for param in spec.params:
        if param.compiles or (param.scale == "choice" and not spec.jit):
            continue
        low, high = param.low, min(param.high, max(64, param.low))
        if param.scale == "bool":
            values[param.name] = not param.default
        elif param.scale == "choice":
            values[param.name] = int(rng.integers(len(param.choices)))
        else:
            values[param.name] = (
                int(rng.integers(int(low), int(high) + 1)) if param.scale == "int" else rng.uniform(low, high)
            )
    return values


def scaled_model(model, factor: float):
    """The same model with bias and weights, or all entries of its tables, times `factor`."""
    if isinstance(model, TableModel):
        return dataclasses.replace(model, values=np.asarray(model.values) * np.float32(factor))
    if isinstance(model, Pairwise):
        return dataclasses.replace(
            model, unary=model.unary * np.float32(factor), interactions=model.interactions.scaled(factor)
        )
    couplings = dataclasses.replace(model.couplings, weight=np.asarray(model.couplings.weight) * np.float32(factor))
    return dataclasses.replace(model, bias=np.asarray(model.bias) * np.float32(factor), couplings=couplings)


def _other_target(target: Target, rng: np.random.Generator) -> Target:
    site = int(rng.integers(target.n))
    return Target.of(scaled_model(target.model, rng.uniform(0.5, 2)), Evidence.of(target.n, {site: 1}), rng.uniform())


def finite(algorithm, fixture: Fixture, key) -> Verdict:
    """Weights up to 100 times larger, beta 0, 1e-4 and 1e4, clamped or not: nothing is infinite, bits stay bits."""
    own = fixture.target.model
    tables = own.to_tables() if isinstance(own, Pairwise) else own
    biggest = np.abs(np.asarray(tables.values if isinstance(tables, TableModel) else tables.couplings.weight)).max()
    model = scaled_model(own, 100 / max(biggest, 1.0))
    for beta in (0.0, 1e-4, 1.0, 1e4):
        for evidence in (fixture.target.evidence, Evidence.of(fixture.target.n, {0: 1, 1: 0})):
            run, trace = recorded(
                start(algorithm, Target.of(model, evidence, beta), key, FEW), 5 * algorithm.spec.quanta(model)
            )
            numbers = [trace.energies, trace.statistics, *trace.info.values()]
            numbers += [leaf for leaf in _leaves(run) if np.issubdtype(leaf.dtype, np.floating)]
            if not all(np.isfinite(number).all() for number in numbers):
                return Verdict(False, found=f"infinite or undefined numbers at beta {beta:g}")
            x = positions(run)
            if (x < 0).any() or (x >= _card(fixture)).any():
                return Verdict(False, found=f"a state is none of its variable's at beta {beta:g}")
    return Verdict(True)


Detector = Callable[..., Verdict]

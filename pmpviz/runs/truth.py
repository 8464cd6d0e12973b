"""What a run is compared with: exact samples where they are tractable, otherwise a cached, labelled long run."""

from __future__ import annotations

import hashlib
import math
import os
import tempfile
from collections.abc import Callable, Generator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from pmpviz import exact, keys
from pmpviz.io.files import cache_folder
from pmpviz.metrics.marginals import Marginals, marginal_table
from pmpviz.metrics.mmd import Reference
from pmpviz.models import model_hash
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.space import Space
from pmpviz.models.tables import TableModel
from pmpviz.numerals import integer
from pmpviz.runs import run as running
from pmpviz.samplers import make_sampler
from pmpviz.types import Refusal, Target

SAMPLES = 1000
SWENDSEN_WANG_SWEEPS = 96
GIBBS_SWEEPS = 4096
# A long run whose mean energy has moved by more than so many standard errors in its second half goes on for twice as
# long, up to so many times as long, while it updates no more than so many variables of samples in all.
MOVED, MOST_TIMES = 3.0, 16
MOST_UPDATES = {"swendsen_wang": 2 << 30, "colour_gibbs": 16 << 30}
# Sweeps at once, and how many such slices there are at least: the time that is left is known after two of them.
SLICE, LEAST_SLICES = 8, 48
MOST_PAIRS = 2048
# The samples are weighed in so many blocks: of large models all of them at once would take a gigabyte.
ENERGY_BLOCKS = 20


@dataclass(frozen=True)
class Truth:
    """Reference samples and, where known, exact numbers.

    `pairs[m, 2]` are some edges and `pair_tables[m, K, K]` their pair marginals, exact where `exact` is true.
    `exact` says whether the samples are; `label` says what they are; `marginals[i][k]` are exact where
    `exact_marginals` is true, else the long run's (of two states p(x_i = 1) alone, [n]); `log_z` and `energy` (exact
    mean of -log_weight) are None where not known; `sampled_energy` is that of the reference's samples and its standard
    error, where the exact one is not known; `energy_deviation` is the standard deviation of the samples' energies, nan
    where it was not measured; `check` is a sentence on how the long run was checked,
    and `settled` whether it came to rest.
    """

    label: str
    exact: bool
    reference: Reference
    marginals: Marginals
    log_z: float | None
    energy: float | None
    check: str = ""
    key: str = ""
    pairs: np.ndarray | None = None
    pair_tables: np.ndarray | None = None
    sampled_energy: tuple[float, float] | None = None
    exact_marginals: bool = False
    settled: bool = True
    energy_deviation: float = math.nan

    @property
    def bytes(self) -> int:
        """Memory of the samples."""
        return self.reference.y.nbytes + self.reference.packed.nbytes

    @property
    def p1(self) -> np.ndarray | None:
        """p(x_i = 1) for each i; None where a variable has more than two states."""
        return self.marginals if isinstance(self.marginals, np.ndarray) and self.marginals.ndim == 1 else None

    @property
    def shares(self) -> np.ndarray:
        """Mean over the variables of p(x_i = k), for each state k."""
        return marginal_table(self.marginals).mean(0)


def truth_key(target: Target) -> str:
    """SHA-256 of the model, the evidence and beta: what a cached reference belongs to."""
    digest = hashlib.sha256(model_hash(target.model).encode())
    for leaf in (target.evidence.mask, target.evidence.value, target.beta):
        digest.update(np.asarray(leaf).tobytes())
    return digest.hexdigest()


def build(
    target: Target, check: Callable[[int, int], None] = lambda samples, variables: None
) -> Generator[float, bool | None, Truth]:
    """Make the truth of a target, yielding the share that is done; the generator's return value is the Truth.

    Raises Refusal for a model that is neither tractable nor one that a long run can sample, and what `check` raises
    before a long run of so many samples of so many variables.
    """
    yield 0.0
    p1 = None
    try:
        solved = exact.solve(target)
        if solved.sample is not None:
            return _from_exact(target, solved)
        p1 = solved.p1
    except Refusal:
        pass
    check(SAMPLES, target.n)
    return (yield from _long_run(target, p1))


def finish(generator: Generator[float, bool | None, Truth]) -> Truth:
    """Run `build` to its end."""
    while True:
        try:
            next(generator)
        except StopIteration as stop:
            return stop.value


def _from_exact(target: Target, solved: Any) -> Truth:
    seed = int(jax.random.bits(keys.role(jax.random.key(0), keys.REFERENCE)) >> 1)
    x = np.asarray(solved.sample(seed, SAMPLES), np.int8)
    label = f"{integer(SAMPLES)} exact samples ({solved.method})"
    marginals = solved.p1 if target.model.space.binary else solved.marginals
    energy = exact_energy(target, solved)
    pairs = edge_pairs(target)
    tables = solved.pair_marginals(pairs) if len(pairs) and solved.pair_marginals is not None else None
    key = truth_key(target)
    energies = _energies(target, x)
    sampled = None if energy is not None else _mean_and_error(energies)
    return Truth(
        label,
        True,
        Reference.of(x, label),
        marginals,
        solved.log_z,
        energy,
        "",
        key,
        pairs,
        tables,
        sampled,
        exact_marginals=True,
        energy_deviation=float(energies.std(ddof=1)),
    )


def edge_pairs(target: Target) -> np.ndarray:
    """At most 2,048 pairs of variables that share a factor, evenly chosen, as [m, 2]."""
    pairs = target.model.pairs()
    chosen = np.unique(np.linspace(0, max(len(pairs) - 1, 0), min(len(pairs), MOST_PAIRS)).round().astype(int))
    return pairs[chosen[: len(pairs)]]


def pair_frequencies(x: np.ndarray, pairs: np.ndarray, states: int = 2) -> np.ndarray:
    """Share of samples in each of the K^2 states of each pair, [m, K, K]."""
    joint = x[:, pairs[:, 0]].astype(np.int16) * states + x[:, pairs[:, 1]]
    return np.stack([(joint == cell).mean(0) for cell in range(states**2)], 1).reshape(-1, states, states)


def exact_energy(target: Target, solved: Any) -> float | None:
    """Exact mean of -log_weight from the marginals and the pair marginals of the edges; None for other models."""
    if solved.pair_marginals is None:
        return None
    if isinstance(target.model, (Pairwise, TableModel)):
        tables = target.model.to_tables() if isinstance(target.model, Pairwise) else target.model
        return _table_energy(tables, solved)
    if not isinstance(target.model, Ising):
        return None
    bias, i, j, w = target.model.pairwise()
    both = solved.pair_marginals(np.stack([i, j], 1))[:, 1, 1] if len(i) else np.zeros(0)
    return -float(bias @ solved.p1 + w @ both + target.model.constant)


def _table_energy(model: TableModel, solved: Any) -> float | None:
    """Of tables of at most two variables; None where there is a larger one."""
    if (np.asarray(model.arity) > 2).any():
        return None
    total, factors = float(model.constant), model.factors
    joint = [factor for factor in factors if len(factor[0]) == 2]
    laws = solved.pair_marginals(np.array([scope for scope, _ in joint])) if joint else np.zeros((0, 1, 1))
    for (_, table), law in zip(joint, laws, strict=True):
        total += _mean(table, law[: table.shape[0], : table.shape[1]])
    return -(total + sum(_mean(table, solved.marginals[scope[0]]) for scope, table in factors if len(scope) == 1))


def _mean(table: np.ndarray, law: np.ndarray) -> float:
    """Mean of a log table's entries; forbidden ones have probability 0."""
    return float((law * np.where(np.isneginf(table), 0.0, table)).sum())


def known_energy(target: Target, log_z: Callable[[Target], float | None] = exact.log_z_only) -> float | None:
    """Exact mean of -log_weight from the closed form of log Z, -d log Z / d beta; None where there is none.

    With `exact.target_log_z` it takes no more than Kaufman's formula, at once.
    """
    beta = float(target.beta)
    low, high = (Target.of(target.model, target.evidence, beta * (1 + step)) for step in (-1e-3, 1e-3))
    below, above = log_z(low), log_z(high)
    if beta == 0 or below is None or above is None:
        return None
    return float(-(above - below) / (float(high.beta) - float(low.beta)))


def reference_sampler(target: Target) -> tuple[str, int]:
    """(algorithm, sweeps) of the long run: Swendsen-Wang where no field nor frustration slows it, else Gibbs."""
    model: Ising | Pairwise = target.model
    if isinstance(model, Pairwise):
        # Only Potts models have clusters; those whose couplings are not all positive are refused.
        h = np.ptp(model.unary, axis=1) if model.potts else np.ones(model.n)
        J = np.asarray(model.interactions.couplings.edges()[2])
    else:
        h, _, _, J, _ = model.to_spin()
    free = np.abs(h).max(initial=0) < 1e-4 and not np.asarray(target.evidence.mask).any()
    attractive = len(J) > 0 and (J > 0).all()
    return ("swendsen_wang", SWENDSEN_WANG_SWEEPS) if free and attractive else ("colour_gibbs", GIBBS_SWEEPS)


def _long_run(target: Target, p1: np.ndarray | None) -> Generator[float, bool | None, Truth]:
    if not isinstance(target.model, (Ising, Pairwise)):
        needs = "a long run, which needs pairwise factors that forbid no state"
        raise Refusal(f"this model gives no exact samples and cannot be sampled by {needs}; use a smaller model")
    name, sweeps = reference_sampler(target)
    path = cache_folder() / "references" / f"{truth_key(target)}-{name}-from-{sweeps}.npz"
    found = _cached(path, target.model.space)
    if found is None:
        found = yield from _walk(target, name, sweeps)
        _store(path, found, target.model.space)
    return _from_long_run(target, found, name, p1)


@dataclass(frozen=True)
class _LongRun:
    """Where chains stand after so many sweeps, and by how much their mean energy moved in the second half of them, with
    the standard error of that."""

    x: np.ndarray
    sweeps: int
    moved: tuple[float, float]

    @property
    def settled(self) -> bool:
        return abs(self.moved[0]) <= MOVED * self.moved[1]


def _walk(target: Target, name: str, sweeps: int) -> Generator[float, bool | None, _LongRun]:
    """Chains from random starts, for so many sweeps, or as many more as their mean energy takes to come to rest.

    Who has no time for as much again sends False.
    """
    run = running.start(make_sampler(name), target, keys.role(jax.random.key(0), keys.REFERENCE), SAMPLES)
    count = min(SLICE, -(-sweeps // LEAST_SLICES))
    most = min(MOST_TIMES * sweeps, MOST_UPDATES[name] // (SAMPLES * target.n))

    affords: bool | None = None

    def go(end: int) -> Generator[float, bool | None, np.ndarray]:
        nonlocal run, affords
        while run.sweep < end:
            run, _ = running.advance(run, min(count, end - run.sweep), record=False, donate=True)
            affords = yield run.sweep / sweeps
        return running.positions(run)

    before = _energies(target, (yield from go(sweeps // 2)))
    while True:
        x = yield from go(sweeps)
        now = _energies(target, x)
        found = _LongRun(x, sweeps, _mean_and_error(now - before))
        if found.settled or 2 * sweeps > most or affords is False:
            return found
        before, sweeps = now, 2 * sweeps


def _from_long_run(target: Target, found: _LongRun, name: str, p1: np.ndarray | None) -> Truth:
    x = found.x
    chains = f"{integer(SAMPLES)} {make_sampler(name).spec.label} chains"
    label = f"{chains} of {integer(found.sweeps)} sweeps, a long run, not exact"
    energies = _energies(target, x)
    mean, error = _mean_and_error(energies)
    known, check = known_energy(target), "its energy could not be checked against a closed form"
    if known is not None:
        deviations = (mean - known) / error
        check = f"its mean energy is {deviations:+.1f} standard errors from Kaufman's exact value"
    elif not found.settled:
        moved = abs(found.moved[0])
        way = "fell" if found.moved[0] < 0 else "rose"
        check = f"its mean energy still {way} by {moved:.2g} in the second half: it may not have come to the law"
        # What it may still move by is not known to better than what it moved by.
        error = float(np.hypot(error, moved))
    log_z = exact.log_z_only(target)
    # Marginals may be known where no samples are: by symmetry, as on a torus without field.
    counted = x.mean(0) if target.model.space.binary else target.model.space.frequencies(x)
    marginals = counted if p1 is None else p1
    pairs, key = edge_pairs(target), truth_key(target)
    tables = pair_frequencies(x, pairs, target.model.space.states) if len(pairs) else None
    sampled = None if known is not None else (mean, error)
    return Truth(
        label,
        False,
        Reference.of(x, label),
        marginals,
        log_z,
        known,
        check,
        key,
        pairs,
        tables,
        sampled,
        exact_marginals=p1 is not None,
        settled=known is not None or found.settled,
        energy_deviation=float(energies.std(ddof=1)),
    )


def _energies(target: Target, x: np.ndarray) -> np.ndarray:
    """-log_weight of each sample."""
    return -np.concatenate([_log_weights(target.model, rows) for rows in np.array_split(x, ENERGY_BLOCKS)])


def _mean_and_error(values: np.ndarray) -> tuple[float, float]:
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))


@jax.jit
def _weigh(model, x):
    return jax.vmap(model.log_weight)(x)


def _log_weights(model: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(_weigh(model, x), np.float64)


def _cached(path: Path, space: Space) -> _LongRun | None:
    try:
        with np.load(path, allow_pickle=False) as file:
            bits, (mean, error) = file["bits"], file["moved"]
            if bits.shape != (SAMPLES, space.frame_bytes):
                return None
            return _LongRun(space.unpack(bits), int(file["sweeps"]), (float(mean), float(error)))
    except (OSError, ValueError, KeyError, EOFError, TypeError):
        return None


def _store(path: Path, found: _LongRun, space: Space) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, suffix=".part", delete=False) as part:
            np.savez(part, bits=space.pack(found.x), sweeps=found.sweeps, moved=found.moved)
        os.replace(part.name, path)
    except OSError:
        return  # A cache that cannot be written costs time, nothing else.

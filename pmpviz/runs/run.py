"""A resumable run: a value that `advance` carries forward in compiled chunks.

Chains are padded to tiles of a size that the algorithm fixes, and tiles are mapped one by one, so that the number of
chains never changes a bit. Keys are fold_in(role), fold_in(chain), fold_in(quantum), so that neither the chunk size
nor a pause, checkpoint or resume does.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from pmpviz import keys
from pmpviz.runs import compile_clock, host
from pmpviz.runs.trace import Trace
from pmpviz.tiles import sample_tiles, tile_index, tile_of
from pmpviz.types import InputError, Target, brings

MAX_CHUNK_SWEEPS = 64
FINGERPRINT = 4


@dataclass(frozen=True)
class Run:
    """Algorithm, target, key, state of all tiles (leading axis), quanta done, and seconds in compiled calls so far.

    `total` is the sum over `averaged` sweeps of the mean over the chains of `Algorithm.expected`, in float64; None
    until `advance` is asked for it.
    """

    algorithm: Any
    target: Target
    key: Array
    chains: int
    state: Any
    quantum: int = 0
    seconds: float = 0.0
    mesh: jax.sharding.Mesh | None = None
    total: np.ndarray | None = None
    averaged: int = 0

    @property
    def time_average(self) -> np.ndarray | None:
        """p(x_i = 1), float64 [n], or [n, K] of more than two states, averaged over chains and the sweeps so asked."""
        return None if self.total is None or not self.averaged else self.total / self.averaged

    @property
    def tile(self) -> int:
        """Chains in a tile."""
        return tile_of(self.algorithm, self.target)

    @property
    def quanta(self) -> int:
        """Quanta in a full sweep."""
        return self.algorithm.spec.quanta(self.target.model)

    @property
    def sweep(self) -> int:
        """Full sweeps done."""
        return self.quantum // self.quanta

    @property
    def updates(self) -> float:
        """Updates per chain so far, in the algorithm's unit."""
        return self.quantum * self.algorithm.spec.updates_per_sweep(self.target.model) / self.quanta


def check(algorithm, target: Target, chains: int) -> None:
    """Raise InputError where the algorithm cannot run on the target, or the number of chains is out of range."""
    reason = algorithm.spec.why_not(target)
    if reason:
        raise InputError(reason)
    if not 1 <= chains <= 1_000_000:
        raise InputError(f"{chains} chains; give from 1 to 1,000,000")


def prepared(algorithm, target: Target) -> Target:
    """The target with what the algorithm prepares of it, in arrays of strong types: other values recompile nothing."""
    found = algorithm.prepare(dataclasses.replace(target, prepared=None))
    return dataclasses.replace(target, prepared=jax.tree.map(_array, found))


def _array(leaf):
    if isinstance(leaf, (jax.Array, np.ndarray)):
        return jax.lax.convert_element_type(leaf, leaf.dtype) if getattr(leaf, "weak_type", False) else leaf
    return np.asarray(leaf, np.float32 if isinstance(leaf, float) else None)


def start(
    algorithm,
    target: Target,
    key: Array,
    chains: int,
    x0: np.ndarray | None = None,
    devices: Sequence[jax.Device] | None = None,
) -> Run:
    """Begin a run of `chains` chains.

    x0 is None (each chain uniform at random, from the START key, the same for every algorithm) or int8 [chains, n].
    With several `devices` of one kind the tiles are sharded over them, which changes no bit.
    """
    check(algorithm, target, chains)
    target = prepared(algorithm, target)
    shard = algorithm.spec.jit and devices is not None and len(devices) > 1
    mesh = jax.sharding.Mesh(np.array(devices), ("chains",)) if shard else None
    index = tile_index(chains, tile_of(algorithm, target), 1 if mesh is None else mesh.size)
    first = _padded(_random_start(key, chains, target) if x0 is None else np.asarray(x0, np.int8), index)
    if algorithm.spec.jit:
        state = _init(algorithm, target, _chain_words(key, _init_role(algorithm), index, chains), first)
    else:
        state = host.init(algorithm, target, keys.role(key, _init_role(algorithm)), index, first)
    state = state if mesh is None else _shard(state, mesh)
    return Run(algorithm, target, key, chains, state, mesh=mesh)


def _shard(state, mesh):
    return jax.device_put(state, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("chains")))


def _index(run: Run) -> np.ndarray:
    return tile_index(run.chains, run.tile, 1 if run.mesh is None else run.mesh.size)


# What belongs to chains is computed for all of them at once and then cut into tiles, so that lanes of different tiles
# share its programs. The chains that fill the last tile repeat the first ones; nothing of them is ever read.


def _padded(rows, index) -> np.ndarray:
    rows = np.asarray(rows)
    return np.resize(rows, (index.size, rows.shape[1])).reshape(*index.shape, rows.shape[1])


def _words_of(key, role, chains):
    first, second = keys.words_of(key).tolist()
    return _kept_words((first, second), role, chains)


@lru_cache(maxsize=8)
def _kept_words(words, role, chains):
    return keys.fold_words(keys.fold_words(np.array(words, np.uint32), role), np.arange(chains))


def _random_start(key, chains, target):
    return target.model.space.random_start(_words_of(key, keys.START, chains))


def _chain_words(key, role, index, chains) -> np.ndarray:
    """The words of every chain's key of a role, uint32 [tiles, tile, 2]."""
    return _padded(_words_of(key, role, chains), index)


def _init_role(algorithm) -> int:
    return keys.NOISE if algorithm.spec.kind == "draw" else keys.INIT


@jax.jit
def _init(algorithm, target, words, x0):
    def one_tile(args):
        return algorithm.init_tile(jax.random.wrap_key_data(args[0]), target, args[1])

    return jax.lax.map(one_tile, (words, x0))


def _record(algorithm, target, state, info, slot, buffers):
    # The barrier keeps the recording out of the step's fusion, so that recording cannot change a bit of it.
    state = jax.lax.optimization_barrier(state)
    x, space = algorithm.position_tile(target, state), target.model.space
    row = {
        "energy": -jax.vmap(target.model.log_weight)(x),
        "statistic": space.statistic(x, jnp),
        "frame": space.pack(x[0], jnp),
        **{f"info:{name}": info[name] for name in algorithm.spec.metrics},
    }
    if brings(algorithm, "fingerprint"):
        row["fingerprint"] = algorithm.fingerprint(state)
    return {name: buffers[name].at[slot].set(value) for name, value in row.items()}


def _with_mean(algorithm, target, state, weights, total):
    """The sum of what is expected of the chains that count, one more sweep included."""
    expected = algorithm.expected_tile(target, jax.lax.optimization_barrier(state))
    return total + jnp.tensordot(weights, expected, 1)


def _buffers(algorithm, space, tile):
    rows = MAX_CHUNK_SWEEPS + 1
    shapes = {"energy": (tile,), "statistic": (tile, *space.statistic_shape), "frame": (space.frame_bytes,)}
    shapes |= {f"info:{name}": (tile,) for name in algorithm.spec.metrics}
    if brings(algorithm, "fingerprint"):
        shapes["fingerprint"] = (FINGERPRINT,)
    kinds = {"frame": jnp.uint8}
    return {name: jnp.zeros((rows, *s), kinds.get(name, jnp.float32)) for name, s in shapes.items()}


def _advance(algorithm, target, words, weights, state, quantum, count, quanta, record, mesh):
    def one_tile(args):
        state, words, weights, (algorithm, target, quantum, count) = args
        first_sweep, chain_keys = quantum // quanta, jax.random.wrap_key_data(words)
        buffers = _buffers(algorithm, target.model.space, words.shape[0]) if record else {}
        if weights is not None:
            buffers["total"] = jnp.zeros(target.model.space.indicator_shape)

        def body(i, carry):
            state, buffers = carry
            now = quantum + i
            quantum_keys = keys.fold_in(chain_keys, now)
            state, info = algorithm.step_tile(quantum_keys, target, state)

            def write(buffers):
                kept = dict(buffers)
                if record:
                    kept |= _record(algorithm, target, state, info, now // quanta - first_sweep, buffers)
                if weights is not None:
                    kept["total"] = _with_mean(algorithm, target, state, weights, buffers["total"])
                return kept

            if buffers:
                # Within a sweep of several quanta only the last is recorded: the others would be overwritten.
                ends = (now + 1) % quanta == 0
                buffers = write(buffers) if quanta == 1 else jax.lax.cond(ends, write, lambda kept: kept, buffers)
            return state, buffers

        return jax.lax.fori_loop(0, count, body, (state, buffers))

    def tiles(state, words, weights, shared):
        return jax.lax.map(lambda args: one_tile((*args, shared)), (state, words, weights))

    if mesh is not None:
        split, whole = jax.sharding.PartitionSpec("chains"), jax.sharding.PartitionSpec()
        tiles = jax.shard_map(tiles, mesh=mesh, in_specs=(split, split, split, whole), out_specs=split, check_vma=False)
    return tiles(state, words, weights, (algorithm, target, quantum, count))


_STATIC = ("quanta", "record", "mesh")
_advance_kept = jax.jit(_advance, static_argnames=_STATIC)
_advance_given = jax.jit(_advance, static_argnames=_STATIC, donate_argnames=("state",))


def advance(
    run: Run, count: int, record: bool = True, donate: bool = False, mean: bool = False
) -> tuple[Run, Trace | None]:
    """Compute `count` quanta of all chains in one compiled call; `count` is traced and never recompiles.

    With `record`, `count` is at most 64 sweeps, and the trace holds every sweep that was completed. With `donate`
    the given run's memory is taken over: that run must not be used again. With `mean` every completed sweep is added to
    the run's `time_average`.
    """
    if record and count > MAX_CHUNK_SWEEPS * run.quanta:
        raise InputError(f"{count} quanta in one recorded chunk; give at most {MAX_CHUNK_SWEEPS * run.quanta}")
    compiled, begin = compile_clock.seconds(), time.perf_counter()
    state, buffers = _advance_on(run, count, record, donate, mean)
    jax.block_until_ready(state)
    compile_seconds = compile_clock.seconds() - compiled
    run_seconds = max(time.perf_counter() - begin - compile_seconds, 1e-9)
    ahead = dataclasses.replace(run, state=state, quantum=run.quantum + count, seconds=run.seconds + run_seconds)
    if mean:
        fresh = np.asarray(buffers["total"], np.float64).sum(0) / run.chains
        total = fresh if run.total is None else run.total + fresh
        ahead = dataclasses.replace(ahead, total=total, averaged=run.averaged + ahead.sweep - run.sweep)
    return ahead, _trace(run, ahead, buffers, run_seconds, compile_seconds) if record else None


def copied(run: Run) -> Run:
    """The same run in memory of its own, to be given away while the first one is kept; compiles nothing."""
    return dataclasses.replace(run, state=jax.tree.map(lambda leaf: jax.device_put(leaf, may_alias=False), run.state))


def _advance_on(run: Run, count: int, record: bool, donate: bool, mean: bool):
    index = _index(run)
    # The chains that fill the last tile count for nothing.
    weights = (index < run.chains).astype(np.float32) if mean else None
    if not run.algorithm.spec.jit:
        span = range(run.quantum, run.quantum + count)
        return host.advance(run.algorithm, run.target, run.key, index, run.state, span, record, weights)
    call = _advance_given if donate else _advance_kept
    return call(
        run.algorithm,
        run.target,
        _chain_words(run.key, keys.STEP, index, run.chains),
        weights,
        run.state,
        np.int32(run.quantum),
        np.int32(count),
        quanta=run.quanta,
        record=record,
        mesh=run.mesh,
    )


def _trace(run: Run, ahead: Run, buffers, run_seconds: float, compile_seconds: float) -> Trace:
    done = ahead.sweep - run.sweep

    def per_chain(name):
        rows = np.moveaxis(np.asarray(buffers[name])[:, :done], 0, 1)
        return rows.reshape(done, rows.shape[1] * rows.shape[2], *rows.shape[3:])[:, : run.chains]

    sweeps = np.arange(run.sweep + 1, ahead.sweep + 1)
    share = (sweeps * run.quanta - run.quantum) / max(ahead.quantum - run.quantum, 1)
    return Trace(
        run.target.model.space,
        sweeps,
        per_chain("energy"),
        per_chain("statistic"),
        {name: per_chain(f"info:{name}") for name in run.algorithm.spec.metrics},
        np.moveaxis(np.asarray(buffers["frame"])[:, :done], 0, 1),
        np.asarray(buffers["fingerprint"])[0, :done] if "fingerprint" in buffers else None,
        run.seconds + share * run_seconds,
        run_seconds,
        compile_seconds,
    )


@jax.jit
def _positions(algorithm, target, state):
    return jax.lax.map(lambda s: algorithm.position_tile(target, s), state)


@jax.jit
def _counted(algorithm, target, state):
    return jax.lax.map(lambda s: algorithm.counted_tile(target, s), state)


def positions(run: Run) -> np.ndarray:
    """Configurations of all chains as they are now, int8 [chains, n]."""
    of_tiles = _positions if run.algorithm.spec.jit else host.positions
    x = np.asarray(of_tiles(run.algorithm, run.target, run.state))
    return x.reshape(-1, run.target.n)[: run.chains]


def counted(run: Run) -> np.ndarray:
    """Configurations that statistics count, int8 [chains, n]: of a `draw`, each chain's last completed draw."""
    if run.algorithm.spec.jit and not brings(run.algorithm, "counted_tile"):
        return positions(run)
    of_tiles = _counted if run.algorithm.spec.jit else partial(host.positions, counted=True)
    x = np.asarray(of_tiles(run.algorithm, run.target, run.state))
    return x.reshape(-1, run.target.n)[: run.chains]


def first_state(algorithm, state):
    """Of a run's state that of its first tile, or of its first chain where the algorithm has no tile forms."""
    place = 0 if brings(algorithm, "step_tile") else (0, 0)
    return jax.tree.map(lambda leaf: leaf[place], state)


def draws_done(run: Run) -> int | None:
    """Draws that each chain has completed; None where the chains are not made of independent draws."""
    if run.algorithm.spec.kind != "draw":
        return None
    count = run.algorithm.draws_done(run.state)
    return run.sweep if count is None else count


def countable(run: Run) -> bool:
    """Whether there is something for statistics to count: of draws that take several sweeps a completed one."""
    refined = run.algorithm.spec.kind == "draw" and brings(run.algorithm, "counted_tile")
    return not refined or bool(draws_done(run))


def retarget(run: Run, target: Target | None = None, algorithm=None) -> Run:
    """The same run with new weights, beta, evidence or knobs from here on; compiles nothing that a start has not.

    A chain goes on from its configuration, with newly clamped sites at their values and cached sums made anew; a draw
    keeps its perturbation and messages, but only draws that are begun from here on are `counted`: `begin_anew` of the
    algorithm sees to it where its state remembers draws.
    """
    algorithm = run.algorithm if algorithm is None else algorithm
    target = prepared(algorithm, run.target if target is None else target)
    state = run.state
    if algorithm.spec.kind == "chain" and algorithm.spec.jit:
        words = _chain_words(run.key, _init_role(algorithm), _index(run), run.chains)
        x = _positions(run.algorithm, run.target, run.state)
        mask, value = np.asarray(target.evidence.mask), np.asarray(target.evidence.value)
        state = _init(algorithm, target, words, np.where(mask, value, np.asarray(x)))
    else:
        state = algorithm.begin_anew(state)
    state = state if run.mesh is None else _shard(state, run.mesh)
    return dataclasses.replace(run, target=target, algorithm=algorithm, state=state, total=None, averaged=0)


_sample = jax.jit(sample_tiles)


def sample(algorithm, target: Target, key: Array, chains: int, sweeps: int, x0: np.ndarray | None = None) -> np.ndarray:
    """Final configurations int8 [chains, n] after `sweeps` full sweeps: the same bits as a run of that length.

    Only one tile's state exists at a time, so that memory does not grow with the number of chains.
    """
    check(algorithm, target, chains)
    target = prepared(algorithm, target)
    index = tile_index(chains, tile_of(algorithm, target))
    first = _padded(_random_start(key, chains, target) if x0 is None else np.asarray(x0, np.int8), index)
    quanta, role = algorithm.spec.quanta(target.model), _init_role(algorithm)
    if algorithm.spec.jit:
        words = (_chain_words(key, name, index, chains) for name in (role, keys.STEP))
        x = _sample(algorithm, target, *words, first, np.int32(sweeps * quanta))
    else:
        x = host.sample(algorithm, target, key, keys.role(key, role), index, first, sweeps * quanta)
    return np.asarray(x).reshape(-1, target.n)[:chains]

"""Chains of the continuous experiments: what is counted and expected over time, and the CPU seconds of it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int8

from pmpviz import keys
from pmpviz.runs import run as runs
from pmpviz.types import Target

# Sweeps of one compiled call.
BLOCK = 50


@dataclass(frozen=True, eq=False)
class Walk:
    """By blocks of fifty sweeps the shares of ones and the means of p(x_i = 1 | what the sampler knows), of each chain.

    `x` and `z` are every sweep's configurations and Gaussians, where they were to be kept. `seconds` are of the
    process, of all its threads, and without compilation.
    """

    counted: Float[np.ndarray, "k t n"]
    expected: Float[np.ndarray, "k t n"]
    x: Int8[np.ndarray, "s t n"] | None
    z: Float[np.ndarray, "s t m"] | None
    seconds: float

    @property
    def sweeps(self) -> int:
        """Of each chain."""
        return BLOCK * len(self.counted)


@dataclass(frozen=True, eq=False)
class Chains:
    """Chains of one algorithm after their burn-in; `kept` names what of "x" and "z" a walk keeps of every sweep."""

    algorithm: object
    target: Target
    words: np.ndarray
    state: object
    burn_in: int
    kept: tuple[str, ...]
    rao_blackwell: bool = True

    @classmethod
    def begun(
        cls, algorithm, target: Target, seed: int, chains: int, burn_in: int, kept=(), rao_blackwell: bool = True
    ) -> Chains:
        """From random configurations; `burn_in` is rounded up to whole blocks."""
        target = runs.prepared(algorithm, target)
        of = [keys.fold_words(keys.words_of(jax.random.key(seed)), role) for role in (keys.START, keys.INIT, keys.STEP)]
        start, init, step = (keys.fold_words(words, np.arange(chains)) for words in of)
        x0 = np.asarray(target.model.space.random_start(start), np.int8)
        state = _init(algorithm, target, init, x0)
        blocks = -(-burn_in // BLOCK)
        for block in range(blocks):
            state, _ = _block(algorithm, target, step, state, np.int32(BLOCK * block), kept, rao_blackwell)
        return cls(algorithm, target, step, state, BLOCK * blocks, tuple(kept), rao_blackwell)

    def walk(self, sweeps: int) -> Walk:
        """At least so many sweeps of every chain, in whole blocks. The chains stay as they are."""
        state, parts, begin = self.state, [], time.process_time()
        for first in range(self.burn_in, self.burn_in + sweeps, BLOCK):
            state, part = self._block(state, first)
            parts.append(part)
        seconds = time.process_time() - begin
        found = {name: [np.asarray(part[name]) for part in parts] for name in parts[0]}
        x, z = (np.concatenate(found[name]) if name in found else None for name in ("x", "z"))
        return Walk(np.stack(found["counted"]), np.stack(found["expected"]), x, z, seconds)

    def _block(self, state, first: int):
        done = _block(self.algorithm, self.target, self.words, state, np.int32(first), self.kept, self.rao_blackwell)
        return jax.block_until_ready(done)

    def pace(self, blocks: int = 3) -> float:
        """CPU seconds of a sweep of all chains, the least of some blocks."""
        self._block(self.state, self.burn_in)
        return min(self.walk(BLOCK).seconds for _ in range(blocks)) / BLOCK


@jax.jit
def _init(algorithm, target: Target, words, x0):
    return algorithm.init_tile(jax.random.wrap_key_data(words), target, x0)


@partial(jax.jit, static_argnames=("kept", "rao_blackwell"))
def _block(algorithm, target: Target, words, state, first, kept: tuple[str, ...], rao_blackwell: bool):
    """The state after one block, and what was met in it."""
    chain_keys, zero = jax.random.wrap_key_data(words), jnp.zeros((len(words), target.n))

    def one(carry, number):
        state, counted, expected = carry
        state, _ = algorithm.step_tile(keys.fold_in(chain_keys, first + number), target, state)
        x = algorithm.position_tile(target, state)
        p = algorithm.expected_tile(target, state) if rao_blackwell else x.astype(jnp.float32)
        met = {"x": x} | ({"z": state.z.T} if "z" in kept else {})
        return (state, counted + x, expected + p), {name: met[name] for name in kept}

    (state, counted, expected), met = jax.lax.scan(one, (state, zero, zero), jnp.arange(BLOCK, dtype=jnp.int32))
    return state, {"counted": counted / BLOCK, "expected": expected / BLOCK} | met


__all__ = ["BLOCK", "Chains", "Walk"]

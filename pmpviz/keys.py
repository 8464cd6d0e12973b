"""Roles of random keys, and a fast counter-based generator for the bits within one sweep.

A key is derived as fold_in(role), then the chain's global index, then the quantum (threefry throughout). Within a
sweep the two words of that key seed a counter hash: every site's number is a function of (key, site) alone, so no
layout, tile or chunk changes it.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

START, INIT, STEP, NOISE, REFERENCE, METRIC = range(6)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def role(key: Array, name: int) -> Array:
    """The key of one role: START, INIT, STEP, NOISE, REFERENCE or METRIC."""
    return jax.random.fold_in(key, name)


def of_chains(key: Array, chains: Array) -> Array:
    """One key for each global chain index."""
    return jax.vmap(lambda chain: jax.random.fold_in(key, chain))(chains)


def words_of_chains(words: tuple[int, int], name: int, chains: Int[np.ndarray, " m"]) -> UInt32[np.ndarray, "m 2"]:
    """The two words of `of_chains(role(key, name), chains)`, of the key's own words: the same bits, nothing compiled.

    Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers, 2011), the counter (0, index).
    """
    root = _folded(np.array([words], np.uint32), np.array([name]))
    return _folded(np.broadcast_to(root, (len(chains), 2)), np.asarray(chains))


def _folded(words: UInt32[np.ndarray, "m 2"], counter: Int[np.ndarray, " m"]) -> UInt32[np.ndarray, "m 2"]:
    first, second = words[:, 0], words[:, 1]
    schedule = (first, second, first ^ second ^ np.uint32(0x1BD11BDA))
    a, b = np.zeros_like(first) + schedule[0], counter.astype(np.uint32) + schedule[1]
    for i in range(5):
        for distance in ROTATIONS[i % 2]:
            a = a + b
            b = ((b << np.uint32(distance)) | (b >> np.uint32(32 - distance))) ^ a
        a, b = a + schedule[(i + 1) % 3], b + schedule[(i + 2) % 3] + np.uint32(i + 1)
    return np.stack([a, b], axis=1)


def _mix(h: Array) -> Array:
    h = (h ^ (h >> 16)) * jnp.uint32(0x21F0AAAD)
    h = (h ^ (h >> 15)) * jnp.uint32(0x735A2D97)
    return h ^ (h >> 15)


def hash_bits(key: Array, counter: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """32 random bits for each counter under `key`: two rounds of a bijective 32-bit mixer, keyed before each.

    The mixer is the low-bias multiply-xorshift permutation with constants 0x21f0aaad, 0x735a2d97
    (H. Mueller's search, public domain figures). `tests/unit/test_keys.py` holds its statistical battery.
    """
    words = jax.random.key_data(key)
    return _mix(_mix(counter * jnp.uint32(0x9E3779B9) + words[..., 0]) ^ words[..., 1])


def uniform(key: Array, n: int) -> Float[Array, " n"]:
    """n numbers uniform on (0, 1), never 0 or 1, from the counter hash."""
    return _unit(hash_bits(key, jnp.arange(n, dtype=jnp.uint32)))


def uniform_at(key: Array, counter: Array) -> Float[Array, "..."]:
    """The numbers of `uniform` at the given counters."""
    return _unit(hash_bits(key, counter.astype(jnp.uint32)))


def _unit(bits: Array) -> Array:
    return ((bits >> 9).astype(jnp.float32) + 0.5) * jnp.float32(2.0**-23)


def logistic_threshold(u: Float[Array, "..."]) -> Float[Array, "..."]:
    """logit(u): `field > logit(u)` happens with probability sigmoid(field)."""
    return jnp.log(u / (1.0 - u))

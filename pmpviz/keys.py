"""Roles of random keys, and a fast counter-based generator for the bits within one sweep.

A key is derived as fold_in(role), then the chain's global index, then the quantum (threefry throughout). Within a
sweep the two words of that key seed a counter hash: every site's number is a function of (key, site) alone, so no
layout, tile or chunk changes it.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

START, INIT, STEP, NOISE, REFERENCE, METRIC = range(6)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))


def role(key: Array, name: int) -> Array:
    """The key of one role: START, INIT, STEP, NOISE, REFERENCE or METRIC."""
    return fold_in(key, name)


def of_chains(key: Array, chains: Array) -> Array:
    """One key for each global chain index."""
    return fold_in(key, chains)


def fold_in(key: Array, data: Array | int) -> Array:
    """`jax.random.fold_in` for keys and whole numbers of any shapes that broadcast: the same bits.

    Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror, Shaw: Parallel random numbers, 2011), the counter (0, data), as
    straight code: it compiles in a third of the time of JAX's own loops and runs three times as fast. What is not
    traced is computed on the host, which compiles nothing.
    """
    words = jax.random.key_data(key)
    if isinstance(words, jax.core.Tracer) or isinstance(data, jax.core.Tracer):
        # The barrier keeps XLA from doing all this again for every number that is drawn with the key.
        return jax.random.wrap_key_data(jax.lax.optimization_barrier(_folded(words, jnp.asarray(data), jnp)))
    return jax.random.wrap_key_data(fold_words(np.asarray(words), data))


def words_of(key: Array) -> UInt32[np.ndarray, "... 2"]:
    """The two words of a key, on the host."""
    return np.asarray(jax.random.key_data(key))


def fold_words(words: UInt32[np.ndarray, "... 2"], data: Int[np.ndarray, "..."] | int) -> UInt32[np.ndarray, "... 2"]:
    """The words of `fold_in`, of a key's own words, on the host."""
    with np.errstate(over="ignore"):
        return _folded(words, np.asarray(data), np)


def _folded(words, data, xp):
    """Words [..., 2] of the keys in which `data` is folded, by the arrays of `xp` (numpy or jax.numpy)."""
    shape = xp.broadcast_shapes(words.shape[:-1], data.shape)
    first, second, b = (xp.broadcast_to(part, shape) for part in (words[..., 0], words[..., 1], data.astype(xp.uint32)))
    schedule = (first, second, first ^ second ^ xp.uint32(0x1BD11BDA))
    a, b = first, b + second
    for i in range(5):
        for distance in ROTATIONS[i % 2]:
            a = a + b
            b = ((b << xp.uint32(distance)) | (b >> xp.uint32(32 - distance))) ^ a
        a, b = a + schedule[(i + 1) % 3], b + schedule[(i + 2) % 3] + xp.uint32(i + 1)
    return xp.stack([a, b], axis=-1)


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


def normal_at(key: Array, count: int, first: int = 0) -> Float[Array, "m ..."]:
    """`count` standard normal numbers a key of any shape, [count, ...], of the counters from `first` on.

    Box and Muller (1958): r cos and r sin of the angle 2 pi u, each pair from two numbers of `uniform_at`; the largest
    is 5.8. With v = u - 1/2 the sine and cosine of pi v, |pi v| <= pi / 2, are short series, and those of 2 pi v follow
    by doubling, which costs a fraction of the library's.
    """
    half = -(-count // 2)
    counter = jnp.uint32(first) + jnp.arange(2 * half, dtype=jnp.uint32)
    counter = counter.reshape(2, half, *(1,) * (jax.random.key_data(key).ndim - 1))
    radius = jnp.sqrt(-2.0 * jnp.log(uniform_at(key, counter[0])))
    sine, cosine = _half_turn(uniform_at(key, counter[1]) - 0.5)
    pair = radius * (1.0 - 2.0 * sine * sine), radius * (2.0 * sine * cosine)
    return jnp.concatenate(pair, axis=0)[:count]


def _half_turn(v: Float[Array, "..."]) -> tuple[Array, Array]:
    """(sin pi v, cos pi v) for |v| <= 1/2, to the precision of float32: Taylor's series."""
    square = (jnp.float32(np.pi) * v) ** 2
    sine, cosine = jnp.float32(0.0), jnp.float32(0.0)
    for k in range(6, -1, -1):
        sine = sine * square + jnp.float32((-1.0) ** k / math.factorial(2 * k + 1))
        cosine = cosine * square + jnp.float32((-1.0) ** k / math.factorial(2 * k))
    return jnp.float32(np.pi) * v * sine, cosine

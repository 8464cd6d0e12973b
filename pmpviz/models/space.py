"""The space of a model's configurations: where chains start, how a configuration travels, its colours and counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8, UInt8, UInt32

from pmpviz import keys
from pmpviz.types import InputError

# States that a picture can show apart.
MOST_SHOWN = 16
# Okabe and Ito's colours, then those farthest from all before them to normal, red-blind and green-blind eyes.
PALETTE = (
    *("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#0000FF"),
    *("#96FFA5", "#691E00", "#4B2D4B", "#2D1EA5", "#FFE1F0", "#5A78FF", "#E10F4B", "#E1A55A"),
)


@dataclass(frozen=True)
class Space:
    """x_i in {0, ..., card_i - 1}, held as int8, for i = 0, ..., n - 1.

    `states` is K, the largest cardinality, at least 2; arrays over states are padded to it. `own` holds each
    variable's cardinality, and is None where all have K. Made by `of`.
    """

    n: int
    states: int
    own: tuple[int, ...] | None = None

    @classmethod
    def of(cls, card: Sequence[int]) -> Space:
        """The space of variables of these cardinalities."""
        card = tuple(card)
        states = max(2, max(card, default=2))
        return cls(len(card), states, None if min(card, default=states) == states else card)

    @classmethod
    def binary_of(cls, n: int) -> Space:
        """The space of n two-state variables."""
        return cls(n, 2)

    @property
    def card(self) -> tuple[int, ...]:
        """Each variable's cardinality."""
        return (self.states,) * self.n if self.own is None else self.own

    @property
    def binary(self) -> bool:
        """Whether every variable has two states, and p(x_i = 1) says all of its law."""
        return self.states == 2 and self.own is None

    @property
    def mask(self) -> Bool[np.ndarray, "n k"]:
        """Which states exist."""
        return np.arange(self.states) < np.array(self.card, int)[:, None]

    def holds(self, site: int, state: int) -> bool:
        """Whether there is such a site, and it has such a state."""
        return 0 <= site < self.n and 0 <= state < self.card_at(site)

    def card_at(self, site: int) -> int:
        """One variable's cardinality."""
        return self.states if self.own is None else self.own[site]

    # Where chains start.

    def random_start(self, words: UInt32[np.ndarray, "chains 2"]) -> Int8[Array, "chains n"]:
        """Configurations uniform at random, one for each pair of key words: floor(card_i u) with u of 24 bits.

        For two states that is the highest bit of the site's number.
        """
        if self.binary:
            return _first_bits(words, self.n)
        return _first_states(words, np.array(self.card, np.uint32))

    def flipped(self, x: Int8[np.ndarray, " n"], site: int) -> int:
        """The state after the present one at a site; after the last comes 0."""
        return (int(x[site]) + 1) % self.card_at(site)

    # How a configuration travels.

    @property
    def planes(self) -> int:
        """Bits of a state: ceil(log2 K)."""
        return (self.states - 1).bit_length()

    @property
    def plane_bytes(self) -> int:
        """Bytes of one bit of all states."""
        return -(-self.n // 8)

    @property
    def frame_bytes(self) -> int:
        """Bytes of a packed configuration."""
        return self.planes * self.plane_bytes

    def pack(self, x: Int[Array, "*m n"], xp: Any = np) -> UInt8[Array, "*m bytes"]:
        """Configurations as bit planes one after another, the lowest bit first; within each the first site highest.

        `xp` is numpy, or jax.numpy within a program.
        """
        if self.planes == 1:
            return xp.packbits(x > 0, axis=-1)
        return xp.concatenate([xp.packbits((x >> p) & 1 > 0, axis=-1) for p in range(self.planes)], axis=-1)

    def unpack(self, packed: UInt8[np.ndarray, "*m bytes"]) -> Int8[np.ndarray, "*m n"]:
        """The configurations of `pack`."""
        rows = np.asarray(packed).reshape(*packed.shape[:-1], self.planes, self.plane_bytes)
        bits = np.unpackbits(rows, axis=-1, count=self.n).astype(np.int8)
        return (bits << np.arange(self.planes, dtype=np.int8)[:, None]).sum(-2, dtype=np.int8)

    def differing(self, a: UInt8[np.ndarray, "*m bytes"], b: UInt8[np.ndarray, "*m bytes"]) -> Int[np.ndarray, "*m"]:
        """At how many sites packed configurations differ."""
        planes = (a ^ b).reshape(*a.shape[:-1], self.planes, self.plane_bytes)
        return np.bitwise_count(np.bitwise_or.reduce(planes, axis=-2)).sum(-1)

    # What is counted of it.

    @property
    def statistic_shape(self) -> tuple[int, ...]:
        """Shape of `statistic` of one configuration."""
        return () if self.binary else (self.states,)

    def statistic(self, x: Int8[Array, "t n"], xp: Any = np) -> Float[Array, "t ..."]:
        """Of t configurations the mean of x, or for more than two states the share of sites in each."""
        if self.binary:
            return x.astype(xp.float32).mean(1)
        return xp.stack([(x == state).astype(xp.float32).mean(1) for state in range(self.states)], axis=-1)

    @property
    def indicator_shape(self) -> tuple[int, ...]:
        """Shape of `indicator` of one configuration."""
        return (self.n,) if self.binary else (self.n, self.states)

    def indicator(self, x: Int8[Array, "t n"]) -> Float[Array, "t n ..."]:
        """Configurations as what is averaged over a run: of two states x itself, of more one number a state."""
        if self.binary:
            return x.astype(np.float32)
        return (x[..., None] == np.arange(self.states, dtype=np.int8)).astype(np.float32)

    def frequencies(self, x: Int8[np.ndarray, "m n"]) -> Float[np.ndarray, "n k"]:
        """Share of the configurations in each state of each variable."""
        return np.stack([(x == state).mean(0) for state in range(self.states)], axis=1)

    # How it looks.

    @property
    def palette(self) -> tuple[str, ...]:
        """A colour for each state; of two states none: they are the theme's paper and ink."""
        return () if self.states == 2 else PALETTE[: self.states]

    @property
    def legend(self) -> tuple[str, ...]:
        """What each state is called."""
        return tuple(map(str, range(self.states)))

    def check_shown(self) -> None:
        """Raise InputError where there are more states than a picture shows apart."""
        if self.states > MOST_SHOWN:
            site = self.card.index(self.states)
            raise InputError(
                f"pages show variables of up to {MOST_SHOWN} states, and variable {site} has {self.states}; "
                "use `python -m pmpviz sample` for this model"
            )

    @property
    def words(self) -> str:
        """How many states the variables have, for sentences: `3 states`, `2 to 4 states`."""
        low = self.states if self.own is None else min(self.own)
        return f"{self.states} states" if low == self.states else f"{low} to {self.states} states"


@partial(jax.jit, static_argnums=1)
def _first_bits(words, n):
    sites = jnp.arange(n, dtype=jnp.uint32)
    bits = jax.vmap(lambda own: keys.hash_bits(jax.random.wrap_key_data(own), sites))(words)
    return (bits >> 31).astype(jnp.int8)


@jax.jit
def _first_states(words, card):
    sites = jnp.arange(len(card), dtype=jnp.uint32)
    bits = jax.vmap(lambda own: keys.hash_bits(jax.random.wrap_key_data(own), sites))(words)
    return (((bits >> 8) * card) >> 24).astype(jnp.int8)


def binary_logits(field: Float[Array, " n"]) -> Float[Array, "n 2"]:
    """Conditional logits of two-state variables from the log-odds of state 1."""
    return jnp.stack([jnp.zeros_like(field), field], axis=1)


def pairs_of(scopes: Sequence[Sequence[int]], most: int = 64) -> Int[np.ndarray, "m 2"]:
    """Pairs of variables that share a scope, each once and the lower first, in order.

    Scopes of more than `most` variables count for none: the pairs of one would be too many to draw or to measure.
    """
    found = {
        (min(a, b), max(a, b))
        for scope in scopes
        if len(scope) <= most
        for place, a in enumerate(scope)
        for b in scope[:place]
    }
    return np.array(sorted(found), np.int64).reshape(-1, 2)


__all__ = ["MOST_SHOWN", "PALETTE", "Space", "binary_logits", "pairs_of"]

"""Walks by weights relative to a scale, which is renewed where their sum leaves the range of float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

LEAST, MOST, CLIP = 1e-15, 1e15, 75.0


def weights(log_weight: Float[Array, "..."]) -> Float[Array, "..."]:
    """exp(log_weight), clipped; log_weight is relative to a scale. A weight that is clipped is so much larger than the
    sum that no flip towards it is accepted at the resolution of the uniform numbers."""
    return jnp.exp(jnp.minimum(log_weight, CLIP))


def in_range(total: Float[Array, " t"]) -> Bool[Array, " t"]:
    """Where the sum of a chain's weights needs no new scale."""
    return (total >= LEAST) & (total <= MOST)


def advance(walk: Any, count: Int[Array, ""], propose: Callable[[Int[Array, ""], Any], Any], rescale: Callable):
    """`walk` after `propose(index, walk)` for every index < count (traced); `rescale` wherever a total is out of range.

    A scale is renewed before the first proposal, whose total is still 0.
    """

    def one(carry):
        done, walk = carry
        return done + 1, propose(done, walk)

    def on(carry):
        return (carry[0] < count) & in_range(carry[1].total).all()

    def rescaled(carry):
        done, walk = carry
        return jax.lax.while_loop(on, one, (done, rescale(walk)))

    return jax.lax.while_loop(lambda carry: carry[0] < count, rescaled, (jnp.int32(0), walk))[1]

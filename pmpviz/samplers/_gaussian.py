"""What the samplers of a Gaussian relaxation share: the Gaussians given the variables, the variables given them, knobs.

Arrays have the chains of a tile on their last axis. Within a quantum the Gaussians take their numbers from the counters
below `VARIABLES`, the variables theirs from there on.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int8

from pmpviz import keys
from pmpviz.models.gaussian import SHIFTS, Relaxation, StateRelaxation
from pmpviz.models.gaussian.states import why_not_tables
from pmpviz.models.ising import Ising
from pmpviz.types import Overlay, Param, Target, pytree

VARIABLES = 1 << 31
AnyRelaxation = Relaxation | StateRelaxation
FIELD = Overlay("Gaussian field", "diverging")

SHIFT = Param(
    "shift",
    "Shift",
    0,
    0,
    "uniform",
    "choice",
    "The diagonal D that makes W + D positive: one number for all variables, the D of least trace, or the sums of the "
    "rows of |W|. The edge form always has the last.",
    choices=SHIFTS,
)


def eps(default: float) -> Param:
    """The knob that enlarges the shift."""
    return Param(
        "eps",
        "Extra shift",
        0.0,
        10.0,
        default,
        help="The shift is 1 + eps times the least that serves: more of it parts the hills and slows the chains.",
    )


def map_param(choices: tuple[str, ...], words: str) -> Param:
    """The knob that chooses B."""
    return Param("map", "Map", 0, 0, "auto", "choice", words, choices=choices, compiles=True)


def needs_pairs(name: str, target: Target) -> str | None:
    """Why a sampler cannot run on this target, or None."""
    if isinstance(target.model, Ising):
        return None
    reason = why_not_tables(target)
    return None if reason is None else f"{name} cannot run here: {reason}"


@pytree
class GaussianState:
    """One tile: configuration `x[n, t]` and the Gaussians `z[m, t]` that it was drawn with."""

    x: Int8[Array, "n t"]
    z: Float[Array, "m t"]


def draw_gaussians(chain_keys: Array, relaxation: AnyRelaxation, x: Int8[Array, "n t"]) -> Float[Array, "m t"]:
    """z ~ N(B's, I)."""
    return relaxation.map.back(relaxation.indicator(x)) + keys.normal_at(chain_keys, relaxation.m)


def numbers(chain_keys: Array, count: int, first: int = VARIABLES) -> Float[Array, "n t"]:
    """One uniform number a variable, of the counters from `first` on."""
    counter = jnp.uint32(first) + jnp.arange(count, dtype=jnp.uint32)[:, None]
    return keys.uniform_at(chain_keys, counter)


def draw_variables(chain_keys: Array, target: Target, relaxation: AnyRelaxation, field) -> Int8[Array, "n t"]:
    """x ~ p(x | z) by its field; clamped variables at their values."""
    return relaxation.choose(target.evidence, field, numbers(chain_keys, target.n))


def begin(chain_keys: Array, target: Target, relaxation: AnyRelaxation, x0: Int8[Array, "t n"]) -> GaussianState:
    """x0 with the clamped variables at their values, and its Gaussians."""
    x = jax.vmap(target.evidence.apply)(x0).T
    return GaussianState(x, draw_gaussians(chain_keys, relaxation, x))

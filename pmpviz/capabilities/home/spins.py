"""Five spins on which perturb-and-max-product is done by hand: two models, one draw sweep by sweep, a thousand at once.

Everything is in log-odds, log p(up) - log p(down): a spin's own field 2 h, its noise, and the messages of the spin
form, n - w / 2, which are 0 where the sender is undecided.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Int8

from pmpviz import keys
from pmpviz.exact.enumeration import Joint
from pmpviz.exact.problem import Problem
from pmpviz.models import Ising
from pmpviz.oracles import max_product
from pmpviz.samplers.pmp import PerturbAndMaxProduct, perturbations
from pmpviz.types import Target

SPINS = 5
STATES = 1 << SPINS
SWEEPS = 64
MANY = 1000
SEED = 0
# A ring and one chord.
EDGES = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (0, 2))
SAMPLER = PerturbAndMaxProduct(sweeps_per_draw=SWEEPS, messages=max_product.STARTS.index("balanced"))
# Messages so near to their last ones are at rest.
AT_REST = 0.01


@dataclass(frozen=True)
class Little:
    """A model of five spins: log p(s) = sum h_i s_i + sum J_ij s_i s_j over the edges, and what its draws teach."""

    id: str
    label: str
    h: tuple[float, ...]
    J: tuple[float, ...]
    why: str

    @cached_property
    def target(self) -> Target:
        """The model, nothing clamped, at beta 1."""
        i, j = np.array(EDGES).T
        return Target.of(Ising.from_spin(np.array(self.h), i, j, np.array(self.J), layout="dense"))

    @cached_property
    def law(self) -> Float[np.ndarray, " states"]:
        """Exact probabilities of the 32 states in float64, spin 0 in the highest bit of a state's number."""
        return Joint.of(Problem.of(self.target)).p.ravel()

    @cached_property
    def halves(self) -> Float[np.ndarray, "n n"]:
        """w_ij / 2, what a message of the 0/1 form says while the sender is undecided."""
        _, i, j, w = self.target.model.pairwise()
        table = np.zeros((SPINS, SPINS))
        table[i, j] = table[j, i] = w / 2
        return table


# Both models have these fields and these signs of the couplings: they differ in strength alone.
FIELDS = (0.9, -0.7, 0.8, -1.0, 0.6)
SIGNS = (1, -1, -1, 1, 1, -1)
LOOSE = Little(
    "loose",
    "Loosely joined",
    FIELDS,
    tuple(0.05 * sign for sign in SIGNS),
    "Each spin mostly goes its own way, and for spins that ignore each other one noise a spin is exact. Their weak "
    "pull leaves a small error, seen in many draws. Where one noise a spin is not enough: choose “Tightly joined”.",
)
TIGHT = Little(
    "tight",
    "Tightly joined",
    FIELDS,
    tuple(0.8 * sign for sign in SIGNS),
    "One noise for each of the 32 states would be exact; here are five, one a spin. Spins held tightly turn over "
    "together, moved by all five at once: the likeliest state turned over, the third bar, comes almost three times too "
    "often.",
)
LITTLE = {little.id: little for little in (LOOSE, TIGHT)}


@dataclass(frozen=True, eq=False)
class Settled:
    """One draw: S + 1 moments, before the first sweep and after each until nothing moves any more."""

    messages: Float[np.ndarray, "moments n n"]
    """From the second spin of a pair to the first."""
    totals: Float[np.ndarray, "moments n"]
    """Own field, noise and all messages: the spin is up where this is positive."""
    state: int
    best: int
    """The state of largest log-weight and noise: what max-product looks for."""


@lru_cache(maxsize=256)
def settle(little: Little, noise: tuple[float, ...]) -> Settled:
    """Max-product under this noise, as the sampler does it."""
    found = _sweeps(little.target, jnp.asarray(noise, jnp.float32), _chains(np.arange(1)))
    messages, totals, states = (np.asarray(part, np.float64) for part in found)
    away = np.abs(totals - totals[-1]).max(1) > AT_REST
    moments = int(np.flatnonzero(away).max(initial=0)) + 2
    messages = (messages - little.halves) * (little.halves != 0)
    best = int(np.argmax(_perturbed(little, np.array(noise)[:, None])))
    return Settled(messages[:moments], totals[:moments], int(numbers_of(states[-1])), best)


def noise_of(draw: int) -> tuple[float, ...]:
    """The logistic noise of the draw of this number."""
    return tuple(np.asarray(_noise(_chains(np.array([draw]))), np.float64)[:, 0].tolist())


@dataclass(frozen=True, eq=False)
class Many:
    """A thousand draws: how often each state came, and how many of them were not the best state."""

    counts: Int[np.ndarray, " states"]
    missed: int


def draw_many(little: Little, first: int) -> Many:
    """The draws of the numbers `first` to `first + 999`."""
    states, noise = _decoded(little.target, _chains(np.arange(first, first + MANY)))
    came = numbers_of(np.asarray(states))
    best = _perturbed(little, np.asarray(noise, np.float64)).argmax(0)
    return Many(np.bincount(came, minlength=STATES), int((came != best).sum()))


@cache
def all_states() -> Int8[np.ndarray, "states n"]:
    """The 32 states by their number."""
    return ((np.arange(STATES)[:, None] >> np.arange(SPINS)[::-1]) & 1).astype(np.int8)


def numbers_of(x: Float[np.ndarray, "*m n"]) -> Int[np.ndarray, "*m"]:
    """The number of a state, spin 0 in the highest bit."""
    return np.asarray(x, np.int64) @ (1 << np.arange(SPINS)[::-1])


def _perturbed(little: Little, noise: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "states m"]:
    return np.log(little.law)[:, None] + all_states() @ noise


def _chains(numbers: Int[np.ndarray, " m"]) -> Array:
    return keys.of_chains(keys.role(jax.random.key(SEED), keys.NOISE), numbers)


def _begun(target: Target, chains: Array):
    return SAMPLER.init_tile(chains, target, jnp.zeros((chains.shape[0], SPINS), jnp.int8))


@jax.jit
def _sweeps(target: Target, noise: Float[Array, " n"], chain: Array):
    """Messages, totals and decoded states before the first sweep and after each."""
    begun = dataclasses.replace(_begun(target, chain), perturbation=noise[:, None])
    couplings, own = target.model.couplings, target.model.bias[:, None] + noise[:, None]

    def look(state):
        totals = max_product.belief(couplings, own, state.incoming)[:, 0]
        return (
            max_product.to_site(couplings, state.incoming)[..., 0],
            totals,
            SAMPLER.position_tile(target, state)[0],
        )

    def sweep(state, _):
        state = SAMPLER.step_tile(chain, target, state)[0]
        return state, look(state)

    _, after = jax.lax.scan(sweep, begun, None, length=SWEEPS)
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), look(begun), after)


@jax.jit
def _noise(chains: Array) -> Float[Array, "n m"]:
    return perturbations(chains, SPINS, jnp.int32(0))


@jax.jit
def _decoded(target: Target, chains: Array) -> tuple[Bool[Array, "m n"], Float[Array, "n m"]]:
    sweep = lambda _, state: SAMPLER.step_tile(chains, target, state)[0]  # noqa: E731
    state = jax.lax.fori_loop(0, SWEEPS, sweep, _begun(target, chains))
    return SAMPLER.position_tile(target, state), state.perturbation


__all__ = [
    "EDGES",
    "LITTLE",
    "LOOSE",
    "MANY",
    "SPINS",
    "STATES",
    "TIGHT",
    "Little",
    "Many",
    "Settled",
    "all_states",
    "draw_many",
    "noise_of",
    "numbers_of",
    "settle",
]

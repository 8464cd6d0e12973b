"""Martens and Sutskever 2010, 5.3: Swendsen-Wang on a semi-restricted machine, the hidden units given.

A step draws the hidden units from p(h | x) and then x by clusters under the biases that these give it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int8

from pmpviz import keys
from pmpviz.experiments.reproductions import machines
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import pictures
from pmpviz.experiments.reproductions.machines import SEMI, SEQUENTIAL, SIDE, Learning
from pmpviz.experiments.reproductions.walks import Chains
from pmpviz.models import SRBM, Ising
from pmpviz.models.couplings import DenseCouplings
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.samplers.swendsen_wang import SwendsenWang
from pmpviz.types import Algorithm, Target, pytree

CLUSTERS = "Swendsen-Wang"
STEPS = (1, 10, 100, 1000)
CHAINS = 5
# Chains that stand for the model's own law, and their sweeps of sequential Gibbs sampling.
OWN_CHAINS = 256


@dataclass(frozen=True)
class Setting:
    """The machine, the steps after which is looked, and sweeps to the model's own law."""

    learning: Learning
    steps: tuple[int, ...]
    own_sweeps: int


FULL = Setting(machines.FULL, STEPS, 5000)
QUICK = Setting(machines.QUICK, STEPS, 2000)


@pytree
class LayerState:
    """A tile: configurations `x[t, n]`, hidden units last; the largest cluster, as a share of the visible sites."""

    x: Int8[Array, "t n"]
    largest: Float[Array, " t"]


@pytree
class GivenHidden(Algorithm):
    """h ~ p(h | v), then v by Swendsen and Wang's clusters of the lateral couplings, with the biases c + W'h."""

    spec = replace(SwendsenWang.spec, id="swendsen_wang_given_hidden", metrics=())

    def prepare(self, target: Target) -> Ising:
        """The visible sites alone."""
        model = target.model
        return Ising.of(model.visible_bias, DenseCouplings(model.lateral))

    def init_tile(self, chain_keys: Array, target: Target, x0: Int8[Array, "t n"]) -> LayerState:
        """Start at x0."""
        return LayerState(x0, jnp.zeros(len(x0)))

    def step_tile(self, chain_keys: Array, target: Target, state: LayerState):
        """The hidden units of all chains, then the clusters of each."""
        model = target.model
        v = state.x[:, : model.visible]
        u = jax.vmap(lambda key: keys.uniform(keys.fold_in(key, 0), model.hidden))(chain_keys)
        h = (u < model.hidden_mean(v)).astype(jnp.int8)

        def one(key, v, h):
            field = model.visible_bias + h.astype(jnp.float32) @ model.weight
            alone = Target.of(replace(target.prepared, bias=field))
            moved, info = SwendsenWang().step(keys.fold_in(key, 1), alone, SwendsenWang().init(key, alone, v))
            return SwendsenWang().position(alone, moved), info["largest_cluster"]

        v, largest = jax.vmap(one)(chain_keys, v, h)
        return LayerState(jnp.concatenate([v, h], axis=1), largest), {}

    def position_tile(self, target: Target, state: LayerState) -> Int8[Array, "t n"]:
        """The chains' configurations."""
        return state.x


@jax.jit
def _gone_on(algorithm, target: Target, words, state, first, count):
    """`count` steps on, and the mean of the largest clusters where there are any."""
    chain_keys = jax.random.wrap_key_data(words)

    def one(k, carry):
        state, total = carry
        state, _ = algorithm.step_tile(keys.fold_in(chain_keys, first + k), target, state)
        return state, total + getattr(state, "largest", jnp.zeros(len(words))).mean()

    state, total = jax.lax.fori_loop(0, count, one, (state, jnp.float32(0.0)))
    return state, total / count


def walked(model: SRBM, algorithm, steps: tuple[int, ...], chains: int, seed: int):
    """(visible sites [looks, chains, v], mean largest cluster, CPU seconds a step) of chains from random starts."""
    begun = Chains.begun(algorithm, Target.of(model), seed, chains, 0)
    known = begun.algorithm, begun.target, begun.words
    jax.block_until_ready(_gone_on(*known, begun.state, np.int32(0), np.int32(1)))
    state, done, found, largest, begin = begun.state, 0, [], [], time.process_time()
    for end in steps:
        state, share = _gone_on(*known, state, np.int32(done), np.int32(end - done))
        found.append(np.asarray(algorithm.position_tile(begun.target, state))[:, : model.visible])
        largest.append(float(share) * (end - done))
        done = end
    return np.stack(found), sum(largest) / done, (time.process_time() - begin) / done


def _one_seed(setting: Setting, seed: int, keep=None) -> tuple[dict[str, float], dict[str, np.ndarray]]:
    model = machines.machine(SEMI, setting.learning, seed, keep)
    own = -model.free_energy(walked(model, Gibbs(), (setting.own_sweeps,), OWN_CHAINS, seed + 1000)[0][0])
    mean, spread = float(np.mean(own)), float(np.std(own, ddof=1))
    found, shown = {"-F of the model's own chains": mean, "their standard deviation": spread}, {}
    for name, algorithm in ({CLUSTERS: GivenHidden()} | machines.samplers(model)).items():
        v, largest, seconds = walked(model, algorithm, setting.steps, CHAINS, seed)
        for k, at in zip(setting.steps, v, strict=True):
            found[f"-F, {name}, step {k}"] = float(np.mean(-model.free_energy(at)))
            found[f"below the model's in its deviations, {name}, step {k}"] = (
                mean - found[f"-F, {name}, step {k}"]
            ) / spread
            shown[f"{name}, step {k}"] = at
        found[f"CPU seconds a step, {name}"] = seconds
        if name == CLUSTERS:
            found["largest cluster, share of the sites"] = largest
    return found, shown


def run(request: Request, setting: Setting | None = None) -> Outcome:
    """How far the chains of each sampler are from the model's own, after some steps; pictures of them."""
    setting = setting or (QUICK if request.quick else FULL)
    done = [_one_seed(setting, seed, request.keep) for seed in range(request.seeds)]
    found, shown = [one for one, _ in done], done[0][1]
    side = (
        (SIDE, SIDE) if next(iter(shown.values())).shape[1] == SIDE * SIDE else (1, next(iter(shown.values())).shape[1])
    )
    figure = pictures(shown, side, "Chains from random starts", len(setting.steps))
    notes = (
        f"{CHAINS} chains of each sampler, as in the paper, all from random starts; -F is the log-weight of a picture, "
        f"and the model's own are {OWN_CHAINS} chains of sequential Gibbs after {setting.own_sweeps:,} sweeps",
        setting.learning.words,
        "the paper has pictures alone: those of Swendsen-Wang are like no digits until about its 1,000th step, those "
        "of the others are much sooner",
        _verdict(found, setting.steps),
        "the largest cluster, a mean over all steps, grows with the lateral weights, which learn at a tenth of the "
        "others' rate as in the paper",
    )
    return Outcome(rows_of(found), figure, notes)


def _verdict(found: list[dict[str, float]], steps: tuple[int, ...]) -> str:
    step = max((k for k in steps if k <= 100), default=steps[0])
    heads = {name: f"below the model's in its deviations, {name}, step {step}" for name in (CLUSTERS, SEQUENTIAL)}
    far = {name: float(np.mean([one[head] for one in found])) for name, head in heads.items()}
    order = "is" if far[CLUSTERS] > far[SEQUENTIAL] else "is not"
    return (
        f"after {step} steps {CLUSTERS} is {far[CLUSTERS]:.1f} of the model's standard deviations below it, "
        f"{SEQUENTIAL} {far[SEQUENTIAL]:.1f}: the paper's order {order} found"
    )


REPRODUCTION = Reproduction(
    "ms-sw",
    "Swendsen-Wang on a semi-restricted machine",
    "MNIST's test digits at 16 x 16, 40 hidden units, 20,000 updates; 5 chains of 1,000 steps",
    "4,000 of the digits, 4,000 updates; 5 chains of 1,000 steps",
    1,
    1,
    run,
    keeps=True,
    shown="race?preset=machine-clusters",
)

__all__ = ["REPRODUCTION", "GivenHidden", "walked"]

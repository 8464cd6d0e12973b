"""Section 5.1: what PMP learns are the parameters of its own sampler, not those of a Gibbs distribution."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int8

from pmpviz import keys, runs
from pmpviz.experiments.reproductions.base import Outcome, Reproduction, Request, rows_of
from pmpviz.experiments.reproductions.figures import bars
from pmpviz.experiments.reproductions.work import learn, sampler_of
from pmpviz.learning import make_learner
from pmpviz.learning.direct import states_of
from pmpviz.learning.learner import LearnerSpec, Phase, SampledLearner
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.parameters import Moments, in_form, with_parameters
from pmpviz.models import Ising
from pmpviz.runs import training
from pmpviz.samplers.pmp import perturbations
from pmpviz.types import Target, pytree

NODES, TRUE_THETA = 4, 0.5
ITERATIONS, RATE, SWEEPS, CHAINS, MANY_CHAINS = 200, 0.01, 100, 100, 10_000
PAPER = {"theta": 0.331, "KL(p || Gibbs)": 0.119, "KL(p || PMP sampler)": 0.008}


@dataclass(frozen=True)
class Sizes:
    """Draws that the sampler's law is estimated from; seeds of the lane with 10,000 chains."""

    draws: int
    many_seeds: int


def model_of(theta: float) -> Ising:
    """log p(s) = theta sum_{i<j} s_i s_j + constant over four spins."""
    empty = Ising.from_edges(np.zeros(NODES), [0], [1], [0.0], layout="dense")
    full = with_parameters(empty, {"theta": jnp.float32(theta)}, "tied")
    i, j = np.triu_indices(NODES, 1)
    return Ising.from_edges(np.asarray(full.bias), i, j, np.asarray(full.couplings.weight)[i, j], layout="dense")


def law(theta: float) -> Float[np.ndarray, " 16"]:
    """p of every state, in the order of `states_of`, in double precision."""
    spins = 2.0 * states_of(NODES).astype(np.float64) - 1
    log = theta * (spins.sum(1) ** 2 - NODES) / 2
    weight = np.exp(log - log.max())
    return weight / weight.sum()


def exact_moments(theta: float) -> Moments:
    """Infinite data: <sum_{i<j} s_i s_j> up to the constant that learning never sees."""
    x, p = states_of(NODES).astype(np.float64), law(theta)
    second = (x * p[:, None]).T @ x * (1 - np.eye(NODES))
    return in_form({"bias": jnp.asarray(p @ x, jnp.float32), "weight": jnp.asarray(second, jnp.float32)}, "tied")


def divergence(p: Float[np.ndarray, " k"], q: Float[np.ndarray, " k"]) -> float:
    """KL(p || q) in nats."""
    return float(p @ (np.log(p) - np.log(q)))


def frequencies(x: Int8[np.ndarray, "m 4"]) -> tuple[Float[np.ndarray, " 16"], bool]:
    """(share of every state, whether half a count was added to each since one was never seen)."""
    counts = np.bincount(x.astype(np.int64) @ (1 << np.arange(NODES)), minlength=1 << NODES).astype(np.float64)
    smoothed = bool((counts == 0).any())
    counts += 0.5 * smoothed
    return counts / counts.sum(), smoothed


def noise(key: jax.Array, chains: int) -> Float[jax.Array, "chains 4"]:
    """The perturbations that the PMP sampler draws from this key."""
    own = keys.of_chains(keys.role(key, keys.NOISE), jnp.arange(chains))
    return perturbations(own, NODES, jnp.int32(0)).T


@jax.jit
def exact_maps(model: Ising, perturbation: Float[jax.Array, "chains 4"]) -> Int8[jax.Array, "chains 4"]:
    """argmax_x log_weight(x) + perturbation . x over all 16 states."""
    states = jnp.asarray(states_of(NODES))
    value = jax.vmap(model.log_weight)(states) + perturbation @ states.T
    return states[value.argmax(1)].astype(jnp.int8)


@pytree
class ExactMapLearner(SampledLearner):
    """Perturb-and-MAP with the MAP itself, by enumeration, under the perturbations that PMP is given."""

    spec = LearnerSpec(
        id="exact_map",
        label="Perturb-and-MAP, exact MAPs",
        guarantee="approximate",
        persistent=False,
        summary="PMP without max-product's error: what is left is the error of unary perturbations.",
        paper="Papandreou and Yuille 2011",
        sampler="pmp",
    )

    def sample(self, key, model, phase):
        """New perturbations."""
        return Phase(exact_maps(jax.tree.map(jnp.asarray, model), noise(key, len(phase.x))))


def learned(learner, seed: int, chains: int, name: str) -> float:
    """theta after 200 steps of Adam from theta = 0 on the exact moments."""
    # The rows only say how many sites there are: the moments are given.
    data, start, optimiser = np.zeros((1, NODES), np.int8), model_of(0.0), Optimiser(learning_rate=RATE)
    moments = exact_moments(TRUE_THETA)
    key = jax.random.key(seed)
    first = training.start(learner, start, data, key, optimiser, chains, form="tied", moments=moments)
    done = learn(first, ITERATIONS, f"{name}, seed {seed}")
    return float(done.parameters["theta"])


def one_seed(seed: int, sizes: Sizes) -> tuple[dict[str, float], bool]:
    """(all quantities of one seed, whether a law had to be smoothed)."""
    pmp, p = make_learner("pmp", sweeps=SWEEPS), law(TRUE_THETA)
    theta = learned(pmp, seed, CHAINS, "pmp")
    key = jax.random.key(1_000_000 + seed)
    x = runs.sample(sampler_of("pmp"), Target.of(model_of(theta)), key, sizes.draws, SWEEPS)
    drawn, smoothed = frequencies(x)
    map_theta = learned(ExactMapLearner(), seed, CHAINS, "exact MAPs")
    of_maps, also = frequencies(np.asarray(exact_maps(model_of(map_theta), noise(key, sizes.draws))))
    at_same, too = frequencies(np.asarray(exact_maps(model_of(theta), noise(key, sizes.draws))))
    found = {
        "theta": theta,
        "KL(p || Gibbs)": divergence(p, law(theta)),
        "KL(p || PMP sampler)": divergence(p, drawn),
        "theta, exact MAPs": map_theta,
        "KL(p || exact-MAP sampler)": divergence(p, of_maps),
        "KL(p || exact-MAP sampler), at PMP's theta": divergence(p, at_same),
    }
    return found, smoothed or also or too


def run(request: Request, sizes: Sizes | None = None) -> Outcome:
    """Learn theta and compare laws."""
    sizes = sizes or (Sizes(10_000, 1) if request.quick else Sizes(400_000, request.seeds))
    done = [one_seed(seed, sizes) for seed in range(request.seeds)]
    rows = rows_of((found for found, _ in done), PAPER)
    if sizes.many_seeds:
        pmp = make_learner("pmp", sweeps=SWEEPS)
        many = [learned(pmp, seed, MANY_CHAINS, "10,000 chains") for seed in range(sizes.many_seeds)]
        rows += rows_of({"theta, 10,000 chains": theta} for theta in many)
    notes = [f"laws from {sizes.draws:,} draws each, which adds about {15 / (2 * sizes.draws):.1g} to each KL"]
    if any(smoothed for _, smoothed in done):
        notes.append("half a count was added to every state, since some were never drawn")
    notes.append("the KL of PMP is max-product's error: exact MAPs under the same perturbations nearly remove it")
    return Outcome(rows, _figure(done[0][0]), tuple(notes))


def _figure(found: dict[str, float]):
    theta = found["theta"]
    key, model = jax.random.key(1_000_000), model_of(theta)
    x = runs.sample(sampler_of("pmp"), Target.of(model), key, 10_000, SWEEPS)
    order = np.argsort(states_of(NODES).sum(1), kind="stable")
    names = ["".join(str(int(v)) for v in states_of(NODES)[k]) for k in order]
    laws = {"data": law(TRUE_THETA), "PMP sampler": frequencies(x)[0], f"Gibbs, theta = {theta:.3f}": law(theta)}
    return bars(names, {name: list(p[order]) for name, p in laws.items()}, "Section 5.1", "probability")


REPRODUCTION = Reproduction(
    "pmp-5.1",
    'Learning and sampling from the "wrong" model',
    "complete model of 4 spins, theta 0.5; one tied parameter, exact moments, Adam 0.01, 200 iterations, 100 chains, "
    "100 sweeps; 400,000 draws",
    "as the paper, with laws from 10,000 draws",
    5,
    5,
    run,
)

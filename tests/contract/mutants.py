"""Planted bugs, each with the check that must catch it. A bug is planted in the real sampler wherever it can be."""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np

from pmpviz import keys
from pmpviz.contract import detectors
from pmpviz.models import Ising
from pmpviz.models.couplings import DenseCouplings
from pmpviz.models.order import SweepOrder
from pmpviz.oracles import max_product
from pmpviz.samplers import _gwg_dense, _gwg_sparse, swendsen_wang
from pmpviz.samplers.colour_gibbs import ColourGibbs
from pmpviz.samplers.exact_sampler import ExactSampler
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.samplers.gwg import GibbsWithGradients
from pmpviz.samplers.pmp import PerturbAndMaxProduct
from pmpviz.samplers.swendsen_wang import SwendsenWang
from pmpviz.types import Evidence, pytree
from tests.contract.planting import MUTANTS, Mutant, OnSpoiltTarget, caught_by, patched, with_model


@caught_by(detectors.exact_start, "six_lattice")
class StaleUpdate(OnSpoiltTarget):
    """All sites are drawn at once from the old configuration."""

    inner = ColourGibbs

    def spoil(self, target):
        site = jnp.arange(target.n)
        return with_model(target, colour_order=SweepOrder(site[None], site))


@caught_by(detectors.exact_start, "six_sparse")
class ReusedKey(OnSpoiltTarget):
    """Every site of a sweep gets the same random number."""

    inner = ColourGibbs

    def step(self, key, target, x):
        threshold = keys.logistic_threshold(keys.uniform(key, 1))
        for colour in range(target.model.n_colours):
            new = (target.local_field(x) > threshold).astype(x.dtype)
            x = jnp.where((target.model.colour == colour) & ~target.evidence.mask, new, x)
        return x, {}


@caught_by(detectors.cold_start, "six_sparse")
class SameKeyEverySweep(OnSpoiltTarget):
    """The random numbers of the first sweep are used in all."""

    def init(self, key, target, x0):
        return super().init(key, target, x0), key

    def step(self, key, target, state):
        inner, first = state
        return (super().step(first, target, inner)[0], first), {}

    def position(self, target, state):
        return super().position(target, state[0])


@caught_by(detectors.exact_start, "six_dense")
class SelfLoop(OnSpoiltTarget):
    """A site counts itself among its neighbours."""

    def spoil(self, target):
        weight = target.model.couplings.weight
        return with_model(target, couplings=DenseCouplings(weight + 0.3 * jnp.eye(len(weight))))


@caught_by(detectors.exact_start, "six_sparse_clamped")
class DroppedEdge(OnSpoiltTarget):
    """One site does not hear one of its neighbours."""

    def spoil(self, target):
        couplings = target.model.couplings
        return with_model(target, couplings=dataclasses.replace(couplings, weight=couplings.weight.at[0, 0].set(0.0)))


@caught_by(detectors.exact_start_large, "six_lattice")
class TwoPercentColder(OnSpoiltTarget):
    """beta is 2 % too large."""

    def spoil(self, target):
        return dataclasses.replace(target, beta=target.beta * 1.02)


@caught_by(detectors.cold_start, "six_sparse")
class NeverUpdatedSite(OnSpoiltTarget):
    """The last site keeps its first value."""

    def spoil(self, target):
        mask = target.evidence.mask | (jnp.arange(target.n) == target.n - 1)
        return dataclasses.replace(target, evidence=Evidence(mask, target.evidence.value))


@caught_by(detectors.symmetry, "six_sparse")
class SystematicScanCalledReversible(OnSpoiltTarget):
    """Sites are visited in a fixed order: invariant, but not in detailed balance."""

    spec = dataclasses.replace(Gibbs.spec, reversible=True)


@caught_by(detectors.clamped_stay, "six_sparse_clamped")
class ClampedSiteMoves(OnSpoiltTarget):
    """Steps know of no evidence."""

    def spoil(self, target):
        return dataclasses.replace(
            target, evidence=Evidence(jnp.zeros_like(target.evidence.mask), target.evidence.value)
        )


@caught_by(detectors.exact_start, "six_sparse_clamped")
class ClampedAtZero(OnSpoiltTarget):
    """A clamped site counts as 0 to its neighbours."""

    inner = ColourGibbs

    def step(self, key, target, x):
        seen = jnp.where(target.evidence.mask, 0, x).astype(x.dtype)
        return jnp.where(target.evidence.mask, x, super().step(key, target, seen)[0]), {}


@caught_by(detectors.exact_start, "six_lattice_clamped")
class ForgottenBeta(OnSpoiltTarget):
    """The target is taken at beta 1."""

    def spoil(self, target):
        return dataclasses.replace(target, beta=jnp.float32(1.0))


@caught_by(detectors.chain_count, "six_sparse")
class HearsItsTile(OnSpoiltTarget):
    """A chain's bits depend on what else is in its tile."""

    inner = ColourGibbs

    def init_tile(self, keys, target, x0):
        return jax.vmap(target.evidence.apply)(x0)

    def step_tile(self, keys, target, x):
        salt = (x[-1] << jnp.arange(target.n)).sum()
        step = jax.vmap(lambda key, one: self.step(jax.random.fold_in(key, salt), target, one)[0])
        return step(keys, x), {}

    def position_tile(self, target, x):
        return x


@caught_by(detectors.seeds, "six_sparse")
class ChainsAreCopies(OnSpoiltTarget):
    """All chains of a tile use the first one's key."""

    inner = ColourGibbs

    def init_tile(self, keys, target, x0):
        return jax.vmap(target.evidence.apply)(x0)

    def step_tile(self, keys, target, x):
        return jax.vmap(lambda one: self.step(keys[0], target, one)[0])(x), {}

    def position_tile(self, target, x):
        return x


@caught_by(detectors.seeds, "six_sparse")
class DefaultKey(OnSpoiltTarget):
    """The key of the run is ignored for a fixed one."""

    def init(self, key, target, x0):
        return super().init(key, target, x0), jnp.int32(0)

    def step(self, key, target, state):
        fixed = jax.random.fold_in(jax.random.key(0), state[1])
        return (super().step(fixed, target, state[0])[0], state[1] + 1), {}

    def position(self, target, state):
        return super().position(target, state[0])


@caught_by(detectors.finite, "six_sparse")
class OddsOverflow(OnSpoiltTarget):
    """Reports odds, which leave the range of float32."""

    inner = ColourGibbs
    spec = dataclasses.replace(ColourGibbs.spec, metrics=("odds",))

    def step(self, key, target, x):
        return super().step(key, target, x)[0], {"odds": jnp.exp(target.local_field(x)).max()}


def _accepts_all(flip_of, target, tree):
    flip = flip_of(target, tree)
    return lambda walk, site, u: flip(walk, site, jnp.zeros_like(u))


def _accepts_by_the_square(flip_of, target, tree):
    flip = flip_of(target, tree)
    return lambda walk, site, u: flip(walk, site, jnp.sqrt(u))


@caught_by(detectors.exact_start, "six_lattice")
class GradientsUncorrected(GibbsWithGradients):
    """Every proposed flip is accepted: no Metropolis-Hastings correction."""

    def step_tile(self, keys, target, state):
        with patched(_gwg_sparse, _flip=_accepts_all):
            return super().step_tile(keys, target, state)


@caught_by(detectors.symmetry, "six_sparse")
class GradientsCorrectedTwice(GibbsWithGradients):
    """The acceptance is squared."""

    def step_tile(self, keys, target, state):
        with patched(_gwg_sparse, _flip=_accepts_by_the_square):
            return super().step_tile(keys, target, state)


@caught_by(detectors.exact_start, "six_dense")
class DenseGradientsUncorrected(GibbsWithGradients):
    """Every proposed flip is accepted, by the kernel of dense models."""

    def step_tile(self, keys, target, state):
        with patched(_gwg_dense, _proposal=lambda real, *args: real(*args[:-1], args[-1].at[2].set(0.0))):
            return super().step_tile(keys, target, state)


@caught_by(detectors.symmetry, "six_dense")
class DenseGradientsCorrectedTwice(GibbsWithGradients):
    """The acceptance is squared, by the kernel of dense models."""

    def step_tile(self, keys, target, state):
        with patched(_gwg_dense, _proposal=lambda real, *args: real(*args[:-1], args[-1].at[2].apply(jnp.sqrt))):
            return super().step_tile(keys, target, state)


@caught_by(detectors.exact_start, "six_dense")
class BondsTooLikely(SwendsenWang):
    """A bond has probability 1 - exp(-|w|): J and 2 J confused."""

    def step_tile(self, keys, target, state):
        with patched(swendsen_wang, _bonded=lambda real, weight, product, u: real(2.0 * weight, product, u)):
            return super().step_tile(keys, target, state)


@caught_by(detectors.exact_start, "six_lattice_clamped")
class ClustersWithoutField(SwendsenWang):
    """Clusters turn with probability 1/2, whatever the field."""

    def step_tile(self, keys, target, state):
        with patched(swendsen_wang, _field_sums=lambda real, label, value, largest: 0.0 * value):
            return super().step_tile(keys, target, state)


@caught_by(detectors.clamped_stay, "odd_torus_clamped")
class ClampedClustersTurn(SwendsenWang):
    """A cluster with a clamped site turns like any other."""

    def step_tile(self, keys, target, state):
        free = Evidence(jnp.zeros_like(target.evidence.mask), target.evidence.value)
        return super().step_tile(keys, dataclasses.replace(target, evidence=free), state)


@caught_by(detectors.draws_law, "six_sparse_clamped")
class ExactAtAnotherBeta(ExactSampler):
    """Exact draws at a beta 2 % too large."""

    def position_tile(self, target, state):
        return super().position_tile(dataclasses.replace(target, beta=np.float32(target.beta * 1.02)), state)


@caught_by(detectors.draws_law, "six_dense")
class ExactDrawRepeated(ExactSampler):
    """The second draw is the first again."""

    def position_tile(self, target, state):
        return super().position_tile(target, state._replace(draw=np.zeros((), np.int32)))


@caught_by(detectors.tree_map, "tree_sparse")
class DecodesTheOtherSign(PerturbAndMaxProduct):
    """A positive belief is decoded as 0."""

    def position_tile(self, target, state):
        return 1 - super().position_tile(target, state)


@caught_by(detectors.tree_map, "tree_lattice")
class DampingSwapped(PerturbAndMaxProduct):
    """The share of the old message and of the new one are exchanged."""

    def step_tile(self, keys, target, state):
        return PerturbAndMaxProduct(1 - self.damping, self.sweeps_per_draw).step_tile(keys, target, state)


@caught_by(detectors.tree_map, "tree_dense_clamped")
class MessagesWithoutBeta(PerturbAndMaxProduct):
    """beta multiplies the unaries, but not the couplings."""

    def step_tile(self, keys, target, state):
        spoilt = with_model(target, couplings=target.model.couplings.scaled(1 / target.beta))
        return super().step_tile(keys, spoilt, state)


@caught_by(detectors.tree_map, "tree_sparse")
class EchoedMessages(PerturbAndMaxProduct):
    """A message repeats what its receiver has said: the receiver is not left out of the sum."""

    def step_tile(self, keys, target, state):
        couplings, beta = target.model.couplings, target.beta
        unary = beta * target.model.bias[:, None] + state.perturbation
        belief = max_product.belief(couplings, unary, state.incoming)
        sender = couplings.neighbour.reshape(-1)[couplings.entry]
        weight = (beta * couplings.weight).reshape(-1)[couplings.entry].at[-1].set(0.0)
        incoming = max_product.message(belief[sender], weight[:, None])
        return dataclasses.replace(state, incoming=incoming), {"residual": jnp.zeros(incoming.shape[-1])}


@caught_by(detectors.draws_law, "edgeless_lattice")
class GumbelForLogistic(PerturbAndMaxProduct):
    """One Gumbel perturbs each unary in place of the difference of two."""

    def init_tile(self, chain_keys, target, x0):
        state = super().init_tile(chain_keys, target, x0)
        noise = jax.vmap(lambda key: jax.random.gumbel(key, (target.n,)), out_axes=-1)(chain_keys)
        return dataclasses.replace(state, perturbation=noise)


@caught_by(detectors.draws_law, "edgeless_lattice")
class BetaScalesTheNoise(PerturbAndMaxProduct):
    """beta multiplies the perturbation as well."""

    def init_tile(self, chain_keys, target, x0):
        state = super().init_tile(chain_keys, target, x0)
        return dataclasses.replace(state, perturbation=state.perturbation * target.beta)


@caught_by(detectors.draws_law, "edgeless_sparse")
class SameNoiseEveryDraw(PerturbAndMaxProduct):
    """The second draw has the first one's perturbation."""

    def _next_draw(self, target, state):
        return dataclasses.replace(super()._next_draw(target, state), perturbation=state.perturbation)


@pytree(static=("damping",))
class HashedKnob(OnSpoiltTarget):
    """A knob is hashed instead of traced: every value compiles anew."""

    damping: float = 0.5
    spec = dataclasses.replace(Gibbs.spec, params=PerturbAndMaxProduct.spec.params[:1])


MUTANTS.append(Mutant(HashedKnob, detectors.compiles_once, "six_sparse"))


@pytree(static=("n_colours",))
class HalfField(Ising):
    """A model whose local field counts every coupling half."""

    def local_field(self, x):
        return self.bias + 0.5 * self.couplings.field(x.astype(jnp.float32))


@pytree(static=("n_colours",))
class TwiceCounted(Ising):
    """A model whose log-weight counts every edge twice."""

    def log_weight(self, x):
        return super().log_weight(x) + 0.5 * jnp.dot(x, self.couplings.field(x.astype(jnp.float32)))


@pytree(static=("n_colours",))
class SpinConstantLost(Ising):
    """A model whose spin form keeps the constant of the 0/1 form."""

    def to_spin(self):
        return *super().to_spin()[:4], float(self.constant)


@pytree(static=("n_colours",))
class ImproperColours(Ising):
    """A model that puts two neighbours in one block."""

    def blocks(self):
        first, second, *rest = super().blocks()
        return [np.concatenate([first, second]), *rest]


MODEL_MUTANTS = (HalfField, TwiceCounted, SpinConstantLost, ImproperColours)


def as_mutant(model: Ising, cls: type) -> Ising:
    """The same model as an instance of a bugged class."""
    return cls(**{field.name: getattr(model, field.name) for field in dataclasses.fields(model)})

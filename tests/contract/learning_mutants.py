"""Planted bugs of learners, each with the check that must catch it. Real learners are spoilt wherever it can be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from pmpviz.contract import learning_detectors as detectors
from pmpviz.contract.detectors import Verdict
from pmpviz.contract.learning_fixtures import BY_NAME
from pmpviz.learning import chain_learners, direct, parameters, pmp
from pmpviz.learning.chain_learners import GibbsResetLearner, GwgLearner, PcdLearner
from pmpviz.learning.chains import random_start
from pmpviz.learning.direct import ExactLearner, PseudoLikelihoodLearner
from pmpviz.learning.learner import Phase
from pmpviz.learning.optimiser import Optimiser
from pmpviz.learning.pmp import PersistentPmpLearner, PmpLearner
from pmpviz.types import pytree
from tests.contract.planting import patched


@dataclass(frozen=True)
class Mutant:
    """A bugged learner (and optimiser) and the check that catches it on a fixture."""

    learner: type
    detector: Callable[..., Verdict]
    fixture: str
    optimiser: object = None

    def __str__(self) -> str:
        return self.learner.__name__

    def run(self, key) -> Verdict:
        """What the named detector says of it."""
        more = () if self.optimiser is None else (self.optimiser,)
        return self.detector(self.learner(), BY_NAME[self.fixture], key, *more)


MUTANTS: list[Mutant] = []


def caught_by(detector, fixture: str, optimiser=None):
    """Register a bugged learner with its detector."""

    def register(cls: type) -> type:
        cls = pytree(cls)
        MUTANTS.append(Mutant(cls, detector, fixture, optimiser))
        return cls

    return register


def _hidden_without_bias(real, model, v, h):
    return real(model, v, jax.nn.sigmoid(v @ model.weight.T))


def _hidden_biases_shifted(real, model, v, h):
    return real(model, v, jax.nn.sigmoid(jnp.roll(model.hidden_bias, 1) + v @ model.weight.T))


@caught_by(detectors.own_samples, "rbm")
class HiddenBiasLost(GibbsResetLearner):
    """E[h | v] without the hidden biases, in both phases."""

    def gradient(self, *args):
        with patched(parameters, layer_moments=_hidden_without_bias):
            return super().gradient(*args)


@caught_by(detectors.enumerated_gradient, "rbm")
class HiddenBiasesShifted(ExactLearner):
    """Every hidden unit has its neighbour's bias in the data's phase."""

    def data_phase(self, *args):
        with patched(parameters, layer_moments=_hidden_biases_shifted):
            return super().data_phase(*args)


@caught_by(detectors.mean_gradient, "srbm")
class DataPhaseSampledFromNothing(GibbsResetLearner):
    """Hidden sites of the data are coins."""

    def data_phase(self, key, model, batch, form):
        coins = jax.random.bernoulli(key, 0.5, (len(batch), model.hidden)).astype(jnp.float32)
        return parameters.layer_moments(model, batch, coins)


def _half_weight(real, *args):
    found = real(*args)
    return {**found, "weight": found["weight"] / 2}


@caught_by(detectors.own_samples, "six_sparse")
class HalfTheWeights(GibbsResetLearner):
    """The gradient of every weight is half as large."""

    def gradient(self, *args):
        found, phase = super().gradient(*args)
        return {**found, "weight": found["weight"] / 2}, phase


@caught_by(detectors.enumerated_gradient, "six_lattice")
class HalfTheWeightsOfTheData(ExactLearner):
    """Only the data's pairs are halved."""

    def data_phase(self, *args):
        with patched(parameters, moments=_half_weight):
            return super().data_phase(*args)


@caught_by(detectors.own_samples, "rbm")
class WrongCount(PmpLearner):
    """The chains' moments are divided by one chain less than there are."""

    def model_phase(self, model, x, form):
        return jax.tree.map(lambda value: value * len(x) / (len(x) - 1), super().model_phase(model, x, form))


@caught_by(detectors.mean_gradient, "six_lattice")
class MeansOfOneBatchOnly(GibbsResetLearner):
    """Every chain is a copy of the first sixteen."""

    def sample(self, key, model, phase):
        x = super().sample(key, model, phase).x
        return Phase(x[jnp.arange(len(x)) % 16])


@caught_by(detectors.memory, "six_sparse")
class RestartsInSilence(PcdLearner):
    """Persistent by name, its chains begin anew in every iteration."""

    def sample(self, key, model, phase):
        return super().sample(key, model, Phase(random_start(key, len(phase.x), model.n), phase.rest))


@caught_by(detectors.mean_gradient, "srbm")
class RestartsInSilenceToo(GwgLearner):
    """The same of Gibbs-with-gradients, as its law shows it."""

    def sample(self, key, model, phase):
        return super().sample(key, model, Phase(random_start(key, len(phase.x), model.n)))


@caught_by(detectors.memory, "srbm")
class ForgetsToReset(GibbsResetLearner):
    """Chains go on from where they were."""

    def sample(self, key, model, phase):
        return Phase(chain_learners.draw(self.algorithm(), chain_learners.Target.of(model), key, phase.x, jnp.int32(1)))


@caught_by(detectors.seeds, "six_sparse")
class StaleKey(GibbsResetLearner):
    """The same key in every iteration."""

    def sample(self, key, model, phase):
        return super().sample(jax.random.key(0), model, phase)


@caught_by(detectors.mean_gradient, "six_sparse")
class StaleKeyOfGoingChains(PcdLearner):
    """The chains go on under the numbers of the first iteration."""

    def init(self, key, model, chains):
        phase = super().init(key, model, chains)
        return Phase(phase.x, (phase.rest, key))

    def sample(self, key, model, phase):
        site, own = phase.rest
        found = super().sample(own, model, Phase(phase.x, site))
        return Phase(found.x, (found.rest, own))


@caught_by(detectors.own_samples, "six_spin_form")
class SpinsOfTheOtherSign(GibbsResetLearner):
    """s = 1 - 2x in the model's phase."""

    def model_phase(self, model, x, form):
        found = super().model_phase(model, x, form)
        return {**found, "bias": -found["bias"]}


def _one_sided(real, binary, form):
    found = real(binary, form)
    return {**found, "weight": found["weight"] + 4 * binary["bias"][:, None]} if form == "spin" else found


@caught_by(detectors.enumerated_gradient, "six_spin_form")
class SpinConversionOneSided(ExactLearner):
    """s_i s_j = 4 x_i x_j - 2 x_j: one of the two means is forgotten, in the model's phase."""

    def gradient(self, *args):
        with patched(direct, in_form=_one_sided):
            return super().gradient(*args)


@caught_by(detectors.besag_gradient, "six_sparse")
class EdgeCountedOnce(PseudoLikelihoodLearner):
    """An edge's gradient is that of one of its two conditionals."""

    def gradient(self, *args):
        found, phase = super().gradient(*args)
        return {**found, "weight": found["weight"] / 2}, phase


@caught_by(detectors.besag_gradient, "six_dense")
class EdgeNotMirrored(PseudoLikelihoodLearner):
    """A dense matrix keeps the two halves of an edge's gradient apart."""

    def gradient(self, key, model, batch, data, phase, form):
        found, phase = super().gradient(key, model, batch, data, phase, form)
        return {**found, "weight": jnp.triu(found["weight"])}, phase


@pytree(static=("method",))
class NoMask(Optimiser):
    """Everything is learned, whether there is an edge or not."""

    def step(self, gradient, parameters, state, mask):
        return super().step(gradient, parameters, state, jax.tree.map(jnp.ones_like, mask))


@caught_by(detectors.structure, "six_lattice", NoMask(learning_rate=0.05))
class MaskIgnored(ExactLearner):
    """Edges that do not exist are learned."""


@caught_by(detectors.structure, "srbm", NoMask(learning_rate=0.05, lateral_rate=1.0))
class LateralDiagonal(ExactLearner):
    """Lateral sites interact with themselves: neither the statistics nor the mask leave the diagonal out."""

    def gradient(self, *args):
        found, phase = super().gradient(*args)
        return {**found, "lateral": found["lateral"] + jnp.diag(found["visible_bias"])}, phase


@caught_by(detectors.structure, "srbm")
class LateralOneSided(ExactLearner):
    """Only the upper half of the lateral weights is learned."""

    def gradient(self, *args):
        found, phase = super().gradient(*args)
        return {**found, "lateral": jnp.triu(found["lateral"])}, phase


@caught_by(detectors.mean_after(1), "edgeless_lattice")
class GumbelForLogistic(PersistentPmpLearner):
    """One Gumbel perturbs each site in place of the difference of two."""

    def sample(self, key, model, phase):
        gamma, incoming = phase.rest
        found = super().sample(key, model, Phase(phase.x, (gamma.at[0].set(0.0), incoming)))
        return Phase(found.x, (gamma, found.rest[1]))


@caught_by(detectors.mean_after(3), "edgeless_rbm")
class WalkGrows(PersistentPmpLearner):
    """gamma <- sqrt(rho) gamma + delta: its variance grows."""

    def sample(self, key, model, phase):
        with patched(pmp.jnp, sqrt=lambda real, value: real(value) + 0.3):
            return super().sample(key, model, phase)


@caught_by(detectors.own_samples, "srbm")
class HiddenAsDecoded(PersistentPmpLearner):
    """The hidden sites are counted as they were sampled."""

    def model_phase(self, model, x, form):
        return parameters.moments(model, x, form)

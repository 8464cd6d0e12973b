"""Learning with Markov chains: started anew for every gradient (reset), or carried on (persistent)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from pmpviz import keys
from pmpviz.learning.chains import draw, random_start, traced
from pmpviz.learning.learner import LearnerSpec, Phase, SampledLearner, sweeps_param
from pmpviz.models import GaussianRBM, Ising
from pmpviz.models.gaussian import own_layers
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.samplers.gwg import GibbsWithGradients, propose_some
from pmpviz.samplers.perturb_and_descend import PerturbAndDescend
from pmpviz.types import Algorithm, Param, Style, Target, pytree

UPDATES = Param(
    "updates",
    "Single-site updates",
    0,
    10_000,
    0,
    "int",
    "Updates of single sites between two learning steps, instead of sweeps; 0 makes whole sweeps.",
)


class ResetLearner(SampledLearner):
    """Chains from random starts, `sweeps` sweeps each: a truncated sampler, which the model learns to suit."""

    algorithm: Callable[[], Algorithm]
    sweeps: Int[Array, ""]

    def sample(self, key, model, phase):
        """New chains."""
        start = random_start(key, phase.x.shape[0], model.n)
        return Phase(draw(self.algorithm(), Target.of(model), key, start, self.sweeps))


@pytree
class GibbsResetLearner(ResetLearner):
    """Gibbs sampling from random starts; of a layered model without lateral weights block Gibbs."""

    sweeps: Int[Array, ""] = 100
    algorithm = Gibbs
    spec = LearnerSpec(
        id="gibbs_reset",
        label="Gibbs, reset",
        style=Style("#0072B2", "dash", "square"),
        guarantee="invariant",
        persistent=False,
        summary="Starts its chains anew for every gradient: what is learned suits a sampler of just that many sweeps.",
        paper="Perturb-and-max-product, sections 5.3 and 5.5 (Gibbs-reset)",
        sampler="gibbs",
        params=(sweeps_param(100, "Sweeps of every chain from its random start."),),
    )


@pytree
class GwgResetLearner(ResetLearner):
    """Gibbs-with-gradients from random starts."""

    sweeps: Int[Array, ""] = 50
    algorithm = GibbsWithGradients
    spec = LearnerSpec(
        id="gwg_reset",
        label="Gibbs-with-gradients, reset",
        short="GWG, reset",
        style=Style("#009E73", "dash", "diamond"),
        guarantee="invariant",
        persistent=False,
        summary="Gibbs-with-gradients chains started anew for every gradient.",
        paper="Perturb-and-max-product, section 5.3 (GWG-reset)",
        sampler="gwg",
        params=(sweeps_param(50, "Sweeps of n proposals of every chain from its random start."),),
    )


@pytree
class DescentLearner(ResetLearner):
    """Perturb-and-coordinate-descent: the perturbed energy is lowered site by site instead of by max-product."""

    sweeps: Int[Array, ""] = 10
    algorithm = partial(PerturbAndDescend, sweeps_per_draw=jnp.int32(1 << 30))
    spec = LearnerSpec(
        id="descent",
        label="Perturb-and-coordinate-descent",
        style=Style("#B88A00", "longdash", "cross"),
        guarantee="approximate",
        persistent=False,
        summary="Lowers the perturbed energy one coordinate (one layer) at a time: it stops in the nearest minimum.",
        paper="Tomczak et al. 2019; perturb-and-max-product, Appendix B.4",
        sampler="perturb_and_descend",
        short="Perturb-and-descend",
        params=(sweeps_param(10, "Sweeps of coordinate descent from a random start."),),
    )


@pytree
class PcdLearner(SampledLearner):
    """Persistent contrastive divergence (Tieleman 2008): the chains go on from one iteration to the next.

    Chains of a machine with Gaussians of its own are drawn in blocks, layer after layer, as those of an RBM are.
    `updates` > 0 makes that many single-site updates instead of `sweeps` sweeps, each chain going on at the site where
    it stopped (the persistent regime of the papers' structured models).
    """

    sweeps: Int[Array, ""] = 1
    updates: Int[Array, ""] = 0
    spec = LearnerSpec(
        id="pcd",
        label="Persistent Gibbs (PCD)",
        style=Style("#56B4E9", "solid", "triangle"),
        guarantee="invariant",
        persistent=True,
        summary="Carries its chains on: cheap, and biased where the weights outrun the chains.",
        paper="Tieleman 2008; perturb-and-max-product, sections 5.3 to 5.5 (PCD-k)",
        sampler="gibbs",
        params=(sweeps_param(1, "Gibbs sweeps between two learning steps."), UPDATES),
    )

    def init(self, key, model, chains):
        """Chains at random starts, and the site to be updated first."""
        return Phase(super().init(key, model, chains).x, jnp.int32(0))

    def sample(self, key, model, phase):
        """The chains carried on."""
        target, algorithm = Target.of(model), Gibbs()
        if isinstance(model, GaussianRBM):
            target, algorithm = replace(target, prepared=own_layers(model)), GaussianGibbs()

        def whole():
            return Phase(draw(algorithm, target, key, phase.x, self.sweeps), phase.rest)

        def partial():
            whole = model.summed() if isinstance(model, GaussianRBM) else model
            x = single_sites(key, whole, phase.x, phase.rest, self.updates)
            return Phase(x, (phase.rest + self.updates) % model.n)

        return jax.lax.cond(self.updates > 0, partial, whole)


def single_sites(key: Array, model: Ising, x, site, count):
    """`count` (traced) single-site Gibbs updates of all chains x, int8 [chains, n], from `site` on, wrapping round."""

    def update(k, x):
        i = (site + k) % model.n
        unit = jnp.zeros(model.n).at[i].set(1.0)
        field = model.bias[i] + x.astype(jnp.float32) @ model.couplings.field(unit)
        u = jax.random.uniform(keys.fold_in(key, k), (len(x),))
        return x.at[:, i].set((u * (1.0 + jnp.exp(-field)) < 1.0).astype(x.dtype))

    return jax.lax.fori_loop(0, count, update, x)


@pytree
class GwgLearner(SampledLearner):
    """Persistent Gibbs-with-gradients chains; `updates` > 0 makes that many proposals instead of whole sweeps."""

    sweeps: Int[Array, ""] = 1
    updates: Int[Array, ""] = 0
    spec = LearnerSpec(
        id="gwg",
        label="Persistent Gibbs-with-gradients",
        short="Persistent GWG",
        style=Style("#009E73", "dot", "diamond"),
        guarantee="invariant",
        persistent=True,
        summary="Carries Gibbs-with-gradients chains on from one learning step to the next.",
        paper="Grathwohl et al. 2021; perturb-and-max-product, sections 5.3 and 5.4",
        sampler="gwg",
        params=(sweeps_param(1, "Sweeps of n proposals between two learning steps."), UPDATES),
    )

    def sample(self, key, model, phase):
        """The chains carried on."""
        target, own = traced(Target.of(model)), keys.of_chains(key, jnp.arange(len(phase.x)))
        return jax.lax.cond(
            self.updates > 0,
            lambda: Phase(propose_some(own, target, phase.x, self.updates)),
            lambda: Phase(draw(GibbsWithGradients(), target, key, phase.x, self.sweeps)),
        )

"""Learning by perturb-and-LP (perturb-and-max-product, Appendix D): exact relaxations in place of max-product."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from pmpviz import keys
from pmpviz.learning.learner import LearnerSpec, Phase, SampledLearner
from pmpviz.oracles.linear_program import LinearProgram, why_not
from pmpviz.samplers.pmp import perturbations
from pmpviz.types import Style, pytree


@pytree
class PerturbLpLearner(SampledLearner):
    """Model phase: every chain is the rounded solution of the linear program under a new logistic perturbation.

    The perturbations are those that the PMP learner has under the same key. As in the authors' code the solutions are
    rounded before they are counted, and hidden sites enter by their means given the visible ones. A solution of this
    program is a multiple of 1/2 (the authors' interior-point solver comes near one): a half becomes 0.
    `rest` of the phase is the share of variables that were fractional.
    """

    spec = LearnerSpec(
        id="perturb_lp",
        label="Perturb-and-LP",
        style=Style("#8A8A86", "dash", "square"),
        guarantee="approximate",
        persistent=False,
        summary="Solves the linear relaxation under every perturbation and rounds it: no message passing, but slow.",
        paper="Perturb-and-max-product, Appendix D",
        sampler="pmp",
        jit=False,
        why_not=why_not,
    )

    def init(self, key, model, chains):
        """Chains at random starts, none of them fractional."""
        return Phase(super().init(key, model, chains).x, jnp.float32(0))

    def sample(self, key, model, phase):
        """Solve one program a chain, on the host."""
        unary = np.asarray(_perturbed(key, model, len(phase.x)), np.float64)
        program = LinearProgram.of_model(model)
        solved = [program.solve(row) for row in unary]
        share = np.mean([one.fractional for one in solved])
        return Phase(jnp.asarray(np.stack([one.rounded for one in solved])), jnp.float32(share))

    def gradient(self, key, model, batch, data, phase, form):
        """Data's statistics minus those of the solutions; all but the solving is compiled."""
        sample_key, data_key = jax.random.split(key)
        phase = self.sample(sample_key, model, phase)
        return _difference(self, data_key, model, batch, data, phase.x, form), phase


@partial(jax.jit, static_argnames="chains")
def _perturbed(key, model, chains):
    """Unaries of every chain, [chains, n]."""
    own = keys.of_chains(keys.role(key, keys.NOISE), jnp.arange(chains))
    return model.bias + perturbations(own, model.n, jnp.int32(0)).T


@partial(jax.jit, static_argnames="form")
def _difference(learner, key, model, batch, data, x, form):
    found = learner.data_phase(key, model, batch, form) if data is None else data
    return jax.tree.map(jnp.subtract, found, learner.model_phase(model, x, form))

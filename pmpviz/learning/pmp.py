"""Learning by perturb-and-max-product (Lazaro-Gredilla, Dedieu and George 2021, Algorithm 1)."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from pmpviz.learning.chains import draw
from pmpviz.learning.learner import LearnerSpec, Phase, SampledLearner, sweeps_param
from pmpviz.learning.parameters import moments, visible_moments
from pmpviz.models import LayeredModel
from pmpviz.oracles import max_product
from pmpviz.samplers.pmp import MESSAGES, PerturbAndMaxProduct
from pmpviz.types import Param, Style, Target, pytree

DAMPING = Param("damping", "Damping", 0.0, 0.99, 0.5, help="Share of the old message that is kept.")
HIDDEN = ("means", "decoded")
EULER = 0.5772156649015329


@pytree
class PmpLearner(SampledLearner):
    """Model phase: independent perturb-and-max-product draws of `sweeps` message updates each.

    With `hidden` = decoded the model phase uses the hidden sites that max-product decoded with the visible ones
    (Algorithm 1 as printed); with means, as in the authors' code, E[h | v] of the decoded v. The two differ, since
    E[h | v] is not the conditional of perturb-and-max-product's own joint law. In the data phase they agree: with the
    visible sites clamped the hidden ones are independent, and decoding them under logistic noise draws from p(h | v).
    """

    sweeps: Int[Array, ""] = 100
    damping: Float[Array, ""] = 0.5
    hidden: Int[Array, ""] = 0
    messages: Int[Array, ""] = 0
    spec = LearnerSpec(
        id="pmp",
        label="Perturb-and-max-product",
        style=Style("#D55E00", "solid", "circle"),
        guarantee="approximate",
        persistent=False,
        summary="Matches the data's statistics with those of perturb-and-max-product's own samples: what is learned "
        "are the parameters of that sampler, not of a Gibbs distribution.",
        paper="Perturb-and-max-product, Algorithm 1 and section 5.1",
        sampler="pmp",
        params=(
            sweeps_param(100, "Message updates of every draw."),
            DAMPING,
            Param(
                "hidden",
                "Hidden units",
                0,
                1,
                "means",
                "choice",
                "Their means given the visible sites, or as decoded (Algorithm 1).",
                choices=HIDDEN,
            ),
            MESSAGES,
        ),
    )

    def sample(self, key, model, phase):
        """New perturbations, first messages."""
        return Phase(draw(self._sampler(), Target.of(model), key, phase.x, self.sweeps))

    def _sampler(self) -> PerturbAndMaxProduct:
        return PerturbAndMaxProduct(self.damping, jnp.int32(1 << 30), self.messages)

    def model_phase(self, model, x, form):
        """The samples' statistics."""
        if not isinstance(model, LayeredModel):
            return moments(model, x, form)
        return jax.lax.cond(self.hidden == 0, lambda: visible_moments(model, x, form), lambda: moments(model, x, form))


@pytree
class PersistentPmpLearner(SampledLearner):
    """Perturbations that change little from one iteration to the next, and messages that go on (Appendix A).

    Two normal numbers a site and chain walk as gamma <- sqrt(rho) gamma + sqrt(1 - rho) delta; each is the normal
    score of a Gumbel number, whose difference perturbs the site. Where neither the perturbation nor the weights
    changed much, the messages are nearly right already. The lag-one correlation of gamma is sqrt(rho).
    """

    sweeps: Int[Array, ""] = 5
    damping: Float[Array, ""] = 0.5
    correlation: Float[Array, ""] = 0.9
    messages: Int[Array, ""] = 0
    spec = LearnerSpec(
        id="persistent_pmp",
        label="Persistent PMP",
        style=Style("#D55E00", "dot", "diamond"),
        guarantee="approximate",
        persistent=True,
        summary="Perturbs the last perturbation a little and goes on from its messages, so that few sweeps suffice.",
        paper="Perturb-and-max-product, Appendix A",
        sampler="pmp",
        params=(
            sweeps_param(5, "Message updates between two learning steps."),
            DAMPING,
            Param("correlation", "Correlation rho", 0.0, 0.9999, 0.9, help="Square of the lag-one correlation."),
            MESSAGES,
        ),
    )

    def init(self, key, model, chains):
        """A first perturbation and first messages."""
        first, rest = jax.random.split(key)
        gamma = jax.random.normal(first, (2, model.n, chains))
        phase = super().init(rest, model, chains)
        return Phase(phase.x, (gamma, max_product.first_messages(model.couplings, chains, self.messages)))

    def sample(self, key, model, phase):
        """The next perturbation, `sweeps` updates of the messages that there are, and the decoded configurations."""
        gamma, incoming = phase.rest
        fresh = jax.random.normal(key, gamma.shape)
        gamma = jnp.sqrt(self.correlation) * gamma + jnp.sqrt(1 - self.correlation) * fresh
        field = model.bias[:, None] + gumbel_score(gamma[1]) - gumbel_score(gamma[0])

        def body(_, messages):
            return max_product.update(model.couplings, field, messages, self.damping)[0]

        incoming = jax.lax.fori_loop(0, self.sweeps, body, incoming)
        x = (max_product.belief(model.couplings, field, incoming) > 0).astype(jnp.int8).T
        return Phase(x, (gamma, incoming))


def gumbel_score(gamma: Float[Array, "..."]) -> Float[Array, "..."]:
    """The Gumbel number with the same rank as a normal one: -log(-log Phi(gamma)), centred by Euler's constant.

    Above 0 log Phi is taken from the upper tail: Phi itself is 1 up to float32's rounding there.
    """
    upper = jnp.log1p(-jax.scipy.special.ndtr(-jnp.abs(gamma)))
    log_rank = jnp.where(gamma > 0, upper, jax.scipy.special.log_ndtr(jnp.minimum(gamma, 0.0)))
    return -jnp.log(-log_rank) - EULER

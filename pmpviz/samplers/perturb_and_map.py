"""Perturb-and-MAP (Papandreou and Yuille 2011) with any oracle, under the perturbations of perturb-and-max-product."""

from __future__ import annotations

from functools import lru_cache, partial

import jax
import numpy as np
from jaxtyping import Array, Float, Int, Int8

from pmpviz.exact.problem import Problem
from pmpviz.messages import perturbation
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.tables import TableModel
from pmpviz.oracles import ORACLES, MapOracle
from pmpviz.oracles.potentials import Potentials
from pmpviz.samplers._host import DrawState, Hashed, HostDraws
from pmpviz.samplers.pmp import perturbations
from pmpviz.types import InputError, Param, Refusal, Spec, Style, Target, pytree


def _why_not(target: Target) -> str | None:
    if isinstance(target.model, (Ising, Pairwise)):
        return None
    if not isinstance(target.model, TableModel):
        return "perturb-and-MAP needs a model with pairwise factors; this one has others"
    try:
        Potentials.of_target(target)
    except InputError as refused:
        return str(refused)
    return None


SPEC = Spec(
    id="perturb_and_map",
    label="Perturb-and-MAP",
    kind="draw",
    guarantee="approximate",
    reversible=False,
    summary="Adds Gumbel noise to every unary, and gives the whole to a solver for the maximum.",
    paper="Papandreou and Yuille 2011; Perturb-and-max-product, section 3",
    update="maximum found",
    updates_per_sweep=lambda model: 1,
    jit=False,
    tile=lambda model: 64,
    why_not=_why_not,
    params=(
        Param(
            "oracle",
            "Solver",
            0,
            0,
            ORACLES.own[0].spec.id,
            scale="choice",
            choices=ORACLES.ids,
            help="What looks for the maximum. With an exact solver only the noise is approximate.",
        ),
    ),
    style=Style("#5B6C8F", "longdash", "triangle"),
)


@pytree
class PerturbAndMap(HostDraws):
    """x = argmax_x log_weight(x) + sum_i gamma_i(x_i), gamma ~ Gumbel, by the oracle that `oracle` names.

    The noise of a draw depends on (key, chain, draw) alone and is that of perturb-and-max-product's draw of the same
    index, of two-state variables bit for bit, so that solvers can be compared under one perturbation. Exact
    where no two variables interact; otherwise one number a state of a variable is too little noise for the exact law,
    whatever the solver.
    """

    oracle: Int[Array, ""] = 0
    spec = SPEC

    def position_tile(self, target: Target, state: DrawState) -> Int8[np.ndarray, "t n"]:
        """The maxima under the noise of this draw; raises Refusal where the oracle cannot solve the model."""
        potentials, problem = _potentials(Hashed(target))
        solver = ORACLES[int(self.oracle)]()
        if reason := solver.spec.why_not(potentials):
            raise Refusal(f"{_refusing(solver)}: {reason}; choose another solver")
        noise = noise_of(state.words, potentials, problem, int(state.draw))
        return problem.all_states(solver.decode(potentials, potentials.unary + noise))


def _refusing(solver: MapOracle) -> str:
    return f"{solver.spec.label} cannot solve this model"


@lru_cache(maxsize=8)
def _potentials(hashed: Hashed) -> tuple[Potentials, Problem]:
    return Potentials.of_target(hashed.target)


def noise_of(words: np.ndarray, potentials: Potentials, problem: Problem, draw: int) -> Float[np.ndarray, "t n k"]:
    """The perturbation of the free variables' unaries in draw number `draw`, from the words of chains' NOISE keys.

    Two states: (0, logistic), the logistic number being the difference of two Gumbel ones. Otherwise centred Gumbel
    numbers of every state.
    """
    n, s = len(problem.card), potentials.structure
    noise = np.zeros((len(words), s.n, s.states))
    if max(problem.card, default=1) <= 2:
        noise[:, :, 1:] = np.asarray(_logistic(words, n, np.int32(draw)), np.float64)[problem.free].T[:, :, None]
        return noise
    gumbel = np.asarray(_gumbel(words, (n, max(problem.card)), np.int32(draw)), np.float64) - np.euler_gamma
    own = gumbel[:, problem.free, : s.states]
    return np.where(s.valid, own, 0.0)


@partial(jax.jit, static_argnums=1)
def _logistic(words: Array, n: int, draw: Int[Array, ""]) -> Float[Array, "n t"]:
    return perturbations(jax.random.wrap_key_data(words), n, draw)


@partial(jax.jit, static_argnums=1)
def _gumbel(words: Array, shape: tuple[int, int], draw: Int[Array, ""]) -> Float[Array, "t n k"]:
    return jax.vmap(lambda own: perturbation(jax.random.wrap_key_data(own), *shape, draw))(words)

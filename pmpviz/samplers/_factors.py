"""What Gibbs sampling needs of a model whose factors join any number of variables, or forbid some of their states."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int8

from pmpviz import numerals
from pmpviz.exact.possible import possible_state
from pmpviz.exact.problem import Problem
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.ising import Ising
from pmpviz.models.order import SweepOrder
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.site_factors import MAX_LISTED, Rows, SiteFactors
from pmpviz.models.tables import TableModel
from pmpviz.samplers._host import Hashed
from pmpviz.types import Refusal, Target, pytree


@pytree
class Prepared:
    """The factors as each variable reads them, and a configuration of positive probability."""

    factors: SiteFactors
    possible: Int8[Array, " n"]


def serves(model: Any) -> bool:
    """Whether a model's sweeps are by its factors, for want of couplings."""
    return isinstance(model, (TableModel, FactorGraph))


def why_not(target: Target, who: str) -> str | None:
    """Why a sampler that draws from conditionals, `who` in the singular, does not take this model."""
    if isinstance(target.model, (Ising, Pairwise)):
        return None
    if not serves(target.model):
        return f"{who} needs a model of finite factors; this one has others"
    if (listed := Rows.of(target.model).listed(target.n)) > MAX_LISTED:
        return (
            f"{who} lists for every variable the others of its factors, here 2^{np.log2(listed):.1f} numbers; "
            "at most 2^24"
        )
    return None


def prepare(target: Target) -> Prepared | None:
    """What a sweep needs (on the host); None where the model brings it itself.

    Raises InputError where zeros and evidence forbid every configuration, Refusal where none was found to start from.
    """
    if not serves(target.model):
        return None
    return Prepared(_factors_of(Hashed(target.model)), _possible(Hashed(Target.of(target.model, target.evidence))))


@lru_cache(maxsize=8)
def _factors_of(hashed: Hashed) -> SiteFactors:
    return SiteFactors.of(hashed.target.n, Rows.of(hashed.target))


@lru_cache(maxsize=8)
def _possible(hashed: Hashed) -> Int8[np.ndarray, " n"]:
    try:
        problem = Problem.of(hashed.target)
    except Refusal:
        return _plain(hashed.target)
    return problem.all_states(possible_state(problem)[None])[0]


def _plain(target: Target) -> Int8[np.ndarray, " n"]:
    """All 0 or all 1, of a model whose factors are too large to be written out as tables."""
    for state in (0, 1):
        row = np.minimum(state, np.array(target.model.card) - 1)
        x = np.where(np.asarray(target.evidence.mask), np.asarray(target.evidence.value), row).astype(np.int8)
        if np.isfinite(target.model.log_weight(x)):
            return x
    raise Refusal("no configuration of positive probability was found to start from; choose another algorithm")


def started(target: Target, x: Int8[Array, "t n"]) -> Int8[Array, "t n"]:
    """Where chains start: x, or where that has probability 0 the possible configuration."""
    x = jax.vmap(target.evidence.apply)(x)
    if not serves(target.model):
        return x
    forbidden = jnp.isneginf(jax.vmap(target.model.log_weight)(x))
    return jnp.where(forbidden[:, None], jnp.asarray(_of(target).possible), x)


def site_order(target: Target) -> SweepOrder:
    """The order 0, ..., n - 1."""
    return _of(target).factors.site_order if serves(target.model) else target.model.site_order


def colour_order(target: Target) -> SweepOrder:
    """Colour after colour."""
    return _of(target).factors.colour_order if serves(target.model) else target.model.colour_order


def sweep(target: Target, draw, order: SweepOrder, x: Int8[Array, "slot t"], first=0, last=None):
    """As `Pairwise.sweep`, of any model of finite factors but Ising models."""
    swept = _of(target).factors if serves(target.model) else target.model
    return swept.sweep(target, draw, order, x, first, last)


def _of(target: Target) -> Prepared:
    """What is prepared of the target; on the host anew where nothing is."""
    return prepare(target) if target.prepared is None else target.prepared


def equation(target: Target) -> str:
    """The conditional of a variable of any factors."""
    return (
        rf"p(x_i = k \mid x_{{-i}}) \propto \exp\Big[{numerals.katex(float(target.beta))}\,"
        r"\textstyle\sum_{f \ni i} \log \psi_f(k, x_{f \setminus i})\Big]"
    )

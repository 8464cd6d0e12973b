"""What a learner is: an estimate of the log-likelihood's gradient from a batch of data and the model of the moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int8

from pmpviz.learning.chains import random_start
from pmpviz.learning.parameters import Moments, data_moments, visible_moments
from pmpviz.models import Ising, LayeredModel
from pmpviz.types import Param, Style, pytree


@dataclass(frozen=True)
class LearnerSpec:
    """What a learner says of itself.

    `guarantee` is `exact` (the gradient itself), `invariant` (its samples are the model's in the limit of many
    sweeps) or `approximate`. `sampler` is the id of the sampler that a model learned with it is meant to be sampled
    with. `why_not(model)` is None or the sentence that the user reads. `jit` is False where a program on the host is
    asked. `short` is its name where there is little room.
    """

    id: str
    label: str
    guarantee: str
    persistent: bool
    summary: str
    paper: str
    sampler: str
    params: tuple[Param, ...] = ()
    jit: bool = True
    why_not: Callable[[Any], str | None] = field(default=lambda model: None)
    style: Style | None = None
    short: str = ""


@pytree
class Phase:
    """What a learner carries from one iteration to the next: the chains' configurations x, int8 [chains, n], and
    whatever else (None, messages and perturbations, a site pointer)."""

    x: Int8[Array, "chains n"]
    rest: Any = None


class SampledLearner:
    """A learner whose gradient is the data's mean statistics minus those of samples x of the model.

    Hidden sites enter by their means given the visible ones, in both phases (as in the authors' code); this is the
    law of total expectation where the samples are exact, and has less variance.
    """

    def init(self, key: Array, model: Ising, chains: int) -> Phase:
        """Chains at random starts."""
        return Phase(random_start(key, chains, model.n))

    def sample(self, key: Array, model: Ising, phase: Phase) -> Phase:
        """New samples of the model, as this learner makes them."""
        raise NotImplementedError

    def data_phase(self, key: Array, model: Ising, batch: Int8[Array, "m v"], form: str) -> Moments:
        """<phi>_data of a batch."""
        return data_moments(model, batch, form)

    def model_phase(self, model: Ising, x: Int8[Array, "chains n"], form: str) -> Moments:
        """<phi>_model of the samples."""
        return visible_moments(model, x, form)

    def gradient(
        self, key: Array, model: Ising, batch: Int8[Array, "m v"], data: Moments | None, phase: Phase, form: str
    ) -> tuple[Moments, Phase]:
        """(gradient, phase): data's statistics, given as `data` where they never change, minus the model's."""
        sample_key, data_key = jax.random.split(key)
        phase = self.sample(sample_key, model, phase)
        found = self.data_phase(data_key, model, batch, form) if data is None else data
        return jax.tree.map(jnp.subtract, found, self.model_phase(model, phase.x, form)), phase


def sweeps_param(default: int, help: str) -> Param:
    """The number of sweeps of a learning iteration."""
    return Param("sweeps", "Sweeps an iteration", 1, 10_000, default, "int", help, unit="sweeps")


def needs_hidden(model: Ising) -> str | None:
    """Why a learner for layered models does not apply."""
    return None if isinstance(model, LayeredModel) else "this learner needs a hidden layer; choose an RBM"


def needs_all_visible(model: Ising) -> str | None:
    """Why a learner for fully observed models does not apply."""
    if isinstance(model, LayeredModel):
        return "this learner needs every variable observed; choose an Ising model"
    return None


__all__ = ["LearnerSpec", "Phase", "SampledLearner", "needs_all_visible", "needs_hidden", "sweeps_param"]

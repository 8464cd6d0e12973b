"""Planted bugs of perturb-and-coordinate-descent, each with the check that must catch it."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp

from pmpviz.contract import detectors
from pmpviz.contract.maxima import local_maximum
from pmpviz.models.order import SweepOrder
from pmpviz.samplers import perturb_and_descend
from pmpviz.samplers.perturb_and_descend import PerturbAndDescend
from pmpviz.samplers.pmp import noise_of
from pmpviz.types import Evidence
from tests.contract.planting import caught_by, patched, with_model


def _at_once(target):
    site = jnp.arange(target.n)
    return with_model(target, colour_order=SweepOrder(site[None], site))


@caught_by(local_maximum, "six_lattice")
class DescendsAtOnce(PerturbAndDescend):
    """All sites take their best states given the old configuration: two of them may go on swapping for ever."""

    def init_tile(self, keys, target, x0):
        return super().init_tile(keys, _at_once(target), x0)

    def step_tile(self, keys, target, state):
        return super().step_tile(keys, _at_once(target), state)

    def position_tile(self, target, state):
        return super().position_tile(_at_once(target), state)


@caught_by(local_maximum, "six_sparse")
class FreshNoiseEverySweep(PerturbAndDescend):
    """Every sweep has a perturbation of its own: a Gibbs sampler."""

    def step_tile(self, keys, target, state):
        return super().step_tile(
            keys, target, dataclasses.replace(state, perturbation=noise_of(keys, target, jnp.int32(0)))
        )


@caught_by(local_maximum, "six_dense")
class DescendsTheWrongWay(PerturbAndDescend):
    """The noise is subtracted: of the same law, but not the perturbation that other solvers are given."""

    def init_tile(self, keys, target, x0):
        state = super().init_tile(keys, target, x0)
        return dataclasses.replace(state, perturbation=-state.perturbation)


@caught_by(local_maximum, "six_sparse_clamped")
class DescendsAtBetaOne(PerturbAndDescend):
    """beta multiplies nothing."""

    def step_tile(self, keys, target, state):
        return super().step_tile(keys, dataclasses.replace(target, beta=jnp.float32(1.0)), state)


@caught_by(detectors.draws_law, "edgeless_lattice")
class DescentNoiseTimesBeta(PerturbAndDescend):
    """beta multiplies the perturbation as well."""

    def init_tile(self, keys, target, x0):
        state = super().init_tile(keys, target, x0)
        return dataclasses.replace(state, perturbation=state.perturbation * target.beta)


@caught_by(detectors.draws_law, "edgeless_sparse")
class DescentNoiseKept(PerturbAndDescend):
    """The second draw has the first one's perturbation."""

    def step_tile(self, keys, target, state):
        with patched(
            perturb_and_descend,
            _next_draw=lambda real, target, s: dataclasses.replace(real(target, s), perturbation=s.perturbation),
        ):
            return super().step_tile(keys, target, state)


@caught_by(detectors.clamped_stay, "six_sparse_clamped")
class DescendsThroughEvidence(PerturbAndDescend):
    """Clamped sites descend like any other."""

    def step_tile(self, keys, target, state):
        return super().step_tile(keys, _free(target), state)

    def position_tile(self, target, state):
        return super().position_tile(_free(target), state)


def _free(target):
    return dataclasses.replace(target, evidence=Evidence(jnp.zeros_like(target.evidence.mask), target.evidence.value))

"""Planted bugs in what algorithms bring besides their single-chain functions."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from pmpviz.contract import forms
from pmpviz.samplers.colour_gibbs import ColourGibbs
from pmpviz.samplers.gwg import GibbsWithGradients
from pmpviz.samplers.pmp import PerturbAndMaxProduct
from pmpviz.samplers.swendsen_wang import SwendsenWang
from tests.contract.mutants import MUTANTS
from tests.contract.planting import caught_by

__all__ = ["MUTANTS"]


@caught_by(forms.tile_forms, "six_sparse")
class KeysOfATileTurnedRound(SwendsenWang):
    """Each chain of a tile draws by another one's key: the right law, and other numbers than alone."""

    def step_tile(self, keys, target, state):
        return super().step_tile(keys[::-1], target, state)


@caught_by(forms.tile_forms, "six_lattice")
class TellsOfAnotherChain(GibbsWithGradients):
    """The acceptance that a tile tells is that of its neighbour."""

    def step_tile(self, keys, target, state):
        state, info = super().step_tile(keys, target, state)
        return state, {name: jnp.roll(value, 1) for name, value in info.items()}


@caught_by(forms.brought, "six_lattice")
class OverlayOfAllChains(SwendsenWang):
    """The layer has a row for every chain of the tile."""

    def overlay(self, target, state, name):
        return state.label


@caught_by(forms.brought, "six_sparse")
class DrawsOfAllChainsCounted(PerturbAndMaxProduct):
    """The draws that are done are those of all chains together, from the start."""

    def draws_done(self, state):
        return (super().draws_done(state) + 1) * int(np.prod(state.key.shape))


@caught_by(forms.brought, "six_dense")
class NothingToRead(ColourGibbs):
    """Its equation is empty."""

    def equation(self, target):
        return ""

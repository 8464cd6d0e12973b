"""Samplers: one file an algorithm; adding one is a file and a line here."""

from __future__ import annotations

from typing import Any

from pmpviz.samplers.colour_gibbs import ColourGibbs
from pmpviz.samplers.exact_sampler import ExactSampler
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.samplers.gumbel_table import GumbelTable
from pmpviz.samplers.gwg import GibbsWithGradients
from pmpviz.samplers.perturb_and_map import PerturbAndMap
from pmpviz.samplers.pmp import PerturbAndMaxProduct
from pmpviz.samplers.swendsen_wang import SwendsenWang
from pmpviz.samplers.unbiased import UnbiasedSampler
from pmpviz.types import InputError, configured

SAMPLERS: tuple[Any, ...] = (
    PerturbAndMaxProduct,
    Gibbs,
    ColourGibbs,
    GibbsWithGradients,
    SwendsenWang,
    PerturbAndMap,
    GumbelTable,
    UnbiasedSampler,
    ExactSampler,
)


def sampler_class(name: str):
    """The sampler registered under `name`; raises InputError naming the choices."""
    for cls in SAMPLERS:
        if cls.spec.id == name:
            return cls
    names = ", ".join(cls.spec.id for cls in SAMPLERS)
    raise InputError(f"there is no algorithm {name[:40]!r}; choose one of {names}")


def make_sampler(name: str, **knobs):
    """A sampler with its knobs checked against their ranges; unknown knobs raise InputError naming the known ones."""
    return configured(sampler_class(name), knobs)

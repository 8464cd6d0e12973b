"""Samplers: one file an algorithm; adding one is a file and a line here."""

from __future__ import annotations

from typing import Any

from pmpviz.samplers.colour_gibbs import ColourGibbs
from pmpviz.samplers.conv_gibbs import ConvGibbs
from pmpviz.samplers.conv_gwg import ConvGWG
from pmpviz.samplers.conv_pmp import ConvPMP
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

# Of the binary convolution: the same algorithms by name, with kernels of their own.
CONV_SAMPLERS: tuple[Any, ...] = (ConvPMP, ConvGWG, ConvGibbs)


def sampler_class(name: str, registry: tuple[Any, ...] | None = None):
    """The sampler registered under `name` (in SAMPLERS where None); raises InputError naming the choices."""
    registry = SAMPLERS if registry is None else registry
    for cls in registry:
        if cls.spec.id == name:
            return cls
    names = ", ".join(cls.spec.id for cls in registry)
    raise InputError(f"there is no algorithm {name[:40]!r}; choose one of {names}")


def make_sampler(name: str, **knobs):
    """A sampler with its knobs checked against their ranges; unknown knobs raise InputError naming the known ones."""
    return configured(sampler_class(name), knobs)


def make_conv_sampler(name: str, **knobs):
    """A sampler of the binary convolution, as `make_sampler`."""
    return configured(sampler_class(name, CONV_SAMPLERS), knobs)

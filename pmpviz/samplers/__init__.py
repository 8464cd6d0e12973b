"""Samplers: one file an algorithm; adding one is a file and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax

from pmpviz.plugins import Registry
from pmpviz.samplers._conv import ConvAlgorithm
from pmpviz.samplers.colour_gibbs import ColourGibbs
from pmpviz.samplers.conv_gibbs import ConvGibbs
from pmpviz.samplers.conv_gwg import ConvGWG
from pmpviz.samplers.conv_pmp import ConvPMP
from pmpviz.samplers.exact_sampler import ExactSampler
from pmpviz.samplers.gaussian_chain import GaussianChain
from pmpviz.samplers.gaussian_gibbs import GaussianGibbs
from pmpviz.samplers.gaussian_hmc import GaussianHMC
from pmpviz.samplers.gibbs import Gibbs
from pmpviz.samplers.gumbel_table import GumbelTable
from pmpviz.samplers.gwg import GibbsWithGradients
from pmpviz.samplers.perturb_and_descend import PerturbAndDescend
from pmpviz.samplers.perturb_and_map import PerturbAndMap
from pmpviz.samplers.pmp import PerturbAndMaxProduct
from pmpviz.samplers.swendsen_wang import SwendsenWang
from pmpviz.samplers.unbiased import UnbiasedSampler
from pmpviz.samplers.wolff import Wolff
from pmpviz.types import Algorithm, InputError, Spec, brings, configured


def _is_sampler(thing: Any) -> bool:
    spec = getattr(thing, "spec", None)
    return isinstance(thing, type) and isinstance(spec, Spec) and spec.kind in ("chain", "draw")


def _complaint(cls: Any) -> str | None:
    if not issubclass(cls, Algorithm):
        return "it is no Algorithm; let it inherit pmpviz.types.Algorithm"
    knobs = cls()
    if any(leaf is knobs for leaf in jax.tree.leaves(knobs)):
        return "it is no pytree; put @pytree of pmpviz.types above it"
    forms = (("init", "step", "position"), ("init_tile", "step_tile", "position_tile"))
    if not any(all(brings(cls, name) for name in form) for form in forms):
        return "it has not all of init, step and position"
    return None


SAMPLERS: Registry[Any] = Registry(
    "pmpviz.samplers",
    (
        PerturbAndMaxProduct,
        Gibbs,
        ColourGibbs,
        GibbsWithGradients,
        SwendsenWang,
        Wolff,
        GaussianGibbs,
        GaussianHMC,
        GaussianChain,
        PerturbAndMap,
        PerturbAndDescend,
        GumbelTable,
        UnbiasedSampler,
        ExactSampler,
    ),
    _is_sampler,
    _complaint,
)

# Of the binary convolution: the same algorithms by name, with kernels of their own.
CONV_SAMPLERS: tuple[Any, ...] = (ConvPMP, ConvGWG, ConvGibbs)


def sampler_class(name: str, registry: Sequence[Any] = SAMPLERS):
    """The sampler registered under `name`; raises InputError naming the choices."""
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


__all__ = ["CONV_SAMPLERS", "SAMPLERS", "ConvAlgorithm", "make_conv_sampler", "make_sampler", "sampler_class"]

"""What is explored: the Ising model, Boltzmann machines with layers, factor graphs, builders by name, and presets."""

from pmpviz.models.builder import Builder
from pmpviz.models.builders import BUILDERS
from pmpviz.models.factor_graph import FactorGraph
from pmpviz.models.ising import Ising
from pmpviz.models.pairwise import Pairwise
from pmpviz.models.presets import PRESETS, Preset
from pmpviz.models.rbm import RBM, SRBM, GaussianRBM, LayeredModel
from pmpviz.models.space import Space
from pmpviz.models.spec import build_spec, builder_of, format_spec, model_hash, parse_model_spec

__all__ = [
    "BUILDERS",
    "PRESETS",
    "Builder",
    "RBM",
    "SRBM",
    "GaussianRBM",
    "FactorGraph",
    "Ising",
    "LayeredModel",
    "Pairwise",
    "Preset",
    "Space",
    "build_spec",
    "builder_of",
    "format_spec",
    "model_hash",
    "parse_model_spec",
]

"""What is explored: the Ising model, its builders by name, and presets."""

from pmpviz.models.builder import Builder
from pmpviz.models.builders import BUILDERS
from pmpviz.models.ising import Ising
from pmpviz.models.presets import PRESETS, Preset
from pmpviz.models.spec import build_spec, builder_of, format_spec, model_hash, parse_model_spec

__all__ = [
    "BUILDERS",
    "PRESETS",
    "Builder",
    "Ising",
    "Preset",
    "build_spec",
    "builder_of",
    "format_spec",
    "model_hash",
    "parse_model_spec",
]

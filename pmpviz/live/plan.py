"""Settings that plans of several capabilities share, and the model that a plan's text names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pmpviz.models import build_spec
from pmpviz.types import InputError, Param

BETA = Param(
    "beta",
    "Inverse temperature β",
    0.0,
    20.0,
    1.0,
    help="Multiplies the potentials: log p = β · log_weight − log Z. PMP's perturbations are never multiplied.",
)


SEED = Param("seed", "Seed", 0, 2**31 - 1, 0, scale="int", help="Of the run's random numbers; the model has its own.")


def resolve_model(text: str, files: Callable[[str], Any] | None = None) -> Any:
    """The model that `text` names: a builder's spec, or `file:HASH` looked up with `files`."""
    if text.startswith("file:"):
        if files is None:
            raise InputError("this plan names an uploaded model file; bring the file")
        return files(text[len("file:") :])
    return build_spec(text)


CHAINS = Param("chains", "Chains", 1, 4096, 64, scale="int", help="Independent copies; statistics are over them.")

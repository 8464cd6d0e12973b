"""How the settings of a training are called on the command line."""

from __future__ import annotations

from pmpviz.learning.optimiser import OPTIMISER_PARAMS
from pmpviz.learning.parameters import FORMS
from pmpviz.learning.start import KINDS, STARTS
from pmpviz.live.plan import SEED
from pmpviz.runs import training
from pmpviz.types import Param

PARAMS = (
    Param(
        "model",
        "Model",
        0,
        0,
        "rbm",
        "choice",
        "What is learned: srbm is an RBM with lateral weights, gaussian_rbm one with Gaussian hidden units instead.",
        "",
        KINDS,
    ),
    Param("epochs", "Epochs", 0.0, 1e6, 10.0, help="Passes over the data, with those of the checkpoint."),
    Param("batch", "Batch", 1, 1_000_000, 100, "int", "Images of one learning step."),
    Param("hidden", "Hidden units", 1, 100_000, 500, "int", "Hidden units; an Ising model has none."),
    Param("chains", "Chains", 1, training.MOST_CHAINS, 100, "int", "Chains, or draws, of one learning step."),
    Param("start", "Start", 0, 0, "base rate", "choice", "The model before the first step.", "", STARTS),
    Param(
        "form", "Parametrisation", 0, 0, "binary", "choice", "What steps are taken in (spin, tied: Ising).", "", FORMS
    ),
    Param("every", "Seconds", 0.0, 86_400.0, 30.0, help="Seconds between two checkpoints."),
    SEED,
)


# What other flags are called already; a learner's knob of that name gets a longer one.
TAKEN = frozenset({p.name for p in PARAMS} | {p.name for p in OPTIMISER_PARAMS} | {"learner", "out", "checkpoint"})


OPTIMISER_FLAGS = {param.name: "optimiser" if param.name == "method" else param.name for param in OPTIMISER_PARAMS}


def knob_flag(name: str) -> str:
    """The flag of a learner's knob, without its dashes."""
    return (f"learner-{name}" if name in TAKEN else name).replace("_", "-")

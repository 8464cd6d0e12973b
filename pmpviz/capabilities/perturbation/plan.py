"""What the perturbation lab is set to: a model or a scene, solvers, the perturbation shown, the noise varied."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from pmpviz.live.plan import BETA
from pmpviz.oracles import ORACLES
from pmpviz.types import Param

SOLVERS = 3
MOST_DRAWS, MOST_SITES = 512, 1024
PREFERRED = ("max_product", "linear_program", "exact")
KNOWN = ORACLES.ids
DEFAULT = tuple(name if name in KNOWN else "icm" for name in PREFERRED)

SEED = Param("seed", "Seed", 0, 2**31 - 1, 0, "int", "Of all perturbations.")
DRAW = Param("draw", "Perturbation", 0, MOST_DRAWS - 1, 0, "int", "Which of the perturbations is shown.")
FIRST = Param("first", "Noise varied, across", 0, MOST_SITES - 1, 0, "int", "Site whose noise runs along the map.")
SECOND = Param("second", "Noise varied, up", 0, MOST_SITES - 1, 1, "int", "Site whose noise runs up the map.")
SETTINGS = (BETA, SEED, DRAW, FIRST, SECOND)


@dataclass(frozen=True)
class LabPlan:
    """`model` is a builder's spec, `file:` and a content hash, or `scene:` and a name; `solvers` ids of oracles."""

    model: str = "square:6x6,couplings=gaussian,sigma=1.5,periodic=true"
    beta: float = 1.0
    seed: int = 0
    draw: int = 0
    first: int = 0
    second: int = 1
    solvers: tuple[str, ...] = DEFAULT

    def replace(self, **changes) -> LabPlan:
        """The same plan with some settings changed."""
        return dataclasses.replace(self, **changes)

    @property
    def sampled(self) -> tuple:
        """What the statistics over many perturbations depend on."""
        return self.model, self.beta, self.seed, self.solvers


__all__ = ["DEFAULT", "DRAW", "FIRST", "KNOWN", "MOST_DRAWS", "MOST_SITES", "SECOND", "SEED", "SETTINGS", "LabPlan"]

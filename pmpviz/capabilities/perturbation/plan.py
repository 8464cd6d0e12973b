"""What the perturbation lab is set to: a model or a scene, solvers, the perturbation shown, the noise varied."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from pmpviz.app.models import model_of
from pmpviz.capabilities.perturbation.scenes import PREFIX, scene_of
from pmpviz.live.link import quote, text_of
from pmpviz.live.plan import BETA, Settings, Special, Text, choice, knob, setting
from pmpviz.models import Ising
from pmpviz.models.beyond_ising import beyond_ising
from pmpviz.oracles import ORACLES
from pmpviz.types import InputError

SOLVERS = 3
MOST_DRAWS, MOST_SITES, MOST_EDGES = 512, 1024, 20_000
# Of the noise atlas: how far its axes reach, and what it can be coloured by.
REACH = 6.0
LAYERS = ("state", "rest", "period", "fractional", "energy1", "energy2", "energy3")
PREFERRED = ("max_product", "linear_program", "exact")
KNOWN = ORACLES.ids
DEFAULT = tuple(name if name in KNOWN else "icm" for name in PREFERRED)


def not_perturbed(model: Any) -> str:
    """Why the lab does not perturb a model, with the remedy."""
    return (
        f"the lab perturbs two-state variables with pairwise factors, and this model has {beyond_ising(model)}; "
        "the Playground takes it"
    )


def check_model(text: str) -> None:
    """Raise InputError where the lab does not perturb this model."""
    model = scene_of(text).model if text.startswith(PREFIX) else model_of(text)
    if not isinstance(model, Ising):
        raise InputError(not_perturbed(model))
    edges = len(model.pairwise()[1])
    if not 2 <= model.n <= MOST_SITES or edges > MOST_EDGES:
        size = f"{model.n:,} variables and {edges:,} edges"
        most = f"{MOST_SITES:,} variables and {MOST_EDGES:,} edges"
        raise InputError(f"the lab perturbs models of two variables or more, up to {most}, not {size}")


class Solvers(Special):
    """The field `solvers`: up to three different oracles, by their ids."""

    keys = ("solvers",)

    def write(self, plan: Any) -> dict[str, str]:
        """`solvers` = `max_product,exact`."""
        return {"solvers": ",".join(plan.solvers)}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """Those that there are; the plan's own where there is none."""
        names = given["solvers"].split(",")[:16] if "solvers" in given else []
        notices += [f"there is no solver {quote(name)}, which was left out" for name in names if name not in KNOWN]
        kept = tuple(dict.fromkeys(name for name in names if name in KNOWN))[:SOLVERS]
        return plan.replace(solvers=kept or plan.solvers)


class Cross(Special):
    """The field `cross`: the noise of the two varied sites where a hand has put it, None where the draw's own is."""

    keys = ("cross",)

    def write(self, plan: Any) -> dict[str, str]:
        """`cross` = `0.58,-1.2`, or nothing."""
        return {} if plan.cross is None else {"cross": ",".join(map(text_of, plan.cross))}

    def read(self, plan: Any, given: dict[str, str], notices: list[str]) -> Any:
        """Two finite numbers within the map; the draw's own noise where there are none."""
        if "cross" not in given:
            return plan.replace(cross=None)
        try:
            across, up = (float(part) for part in given["cross"].split(","))
        except ValueError:
            across = up = math.nan
        if not max(abs(across), abs(up)) <= REACH:
            notices.append(f"cross {quote(given['cross'])} is no place of the map, and was left out")
            return plan.replace(cross=None)
        return plan.replace(cross=(across, up))


MODEL = Text("model", "model was", check_model)


@dataclass(frozen=True)
class LabPlan(Settings):
    """`model` is a builder's spec, `file:` and a content hash, or `scene:` and a name; `solvers` ids of oracles."""

    model: str = MODEL.field("square:6x6,couplings=gaussian,sigma=1.5,periodic=true")
    solvers: tuple[str, ...] = Solvers().field(DEFAULT)
    beta: float = setting(BETA)
    seed: int = knob("Seed", 0, 2**31 - 1, 0, "int", "Of all perturbations.")
    draw: int = knob("Perturbation", 0, MOST_DRAWS - 1, 0, "int", "Which of the perturbations is shown.")
    first: int = knob(
        "Noise varied, across", 0, MOST_SITES - 1, 0, "int", "Spin whose noise runs along the map, counted from 1."
    )
    second: int = knob(
        "Noise varied, up", 0, MOST_SITES - 1, 1, "int", "Spin whose noise runs up the map, counted from 1."
    )

    cross: tuple[float, float] | None = Cross().field(None)
    layer: str = choice("Map coloured by", LAYERS, "What the noise atlas shows.")

    @property
    def computed(self) -> LabPlan:
        """What anything is computed from: all but the layer."""
        return self.replace(layer=LAYERS[0])

    @property
    def sampled(self) -> tuple:
        """What the statistics over many perturbations depend on."""
        return self.model, self.beta, self.seed, self.solvers

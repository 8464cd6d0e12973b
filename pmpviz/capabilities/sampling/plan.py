"""A plan: every setting from which a run or a race follows bit for bit. Links, manifests and scripts carry one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import jax

from pmpviz.capabilities.sampling.edits import EDITS
from pmpviz.capabilities.sampling.settings import MODEL, fitted
from pmpviz.live.places import PLACES, Places
from pmpviz.live.plan import (
    BETA,
    CHAINS,
    SEED,
    TEMPERATURE,
    Alias,
    Catalogue,
    Choice,
    Lanes,
    Settings,
    choice,
    knob,
    setting,
)
from pmpviz.runs import run as running
from pmpviz.runs.plan import STARTS, start_configuration, with_field
from pmpviz.samplers import SAMPLERS, sampler_class
from pmpviz.types import Evidence, Target

UNITS = ("sweeps", "seconds", "updates")
STOPS = ("budget", "residual", "mmd", "rhat")
ENDS = "Each lane stops when it has used this much, counted anew from a change of its settings; 0: not until paused."
WHEN = (
    "budget: only then. residual: all messages settled. mmd: MMD² at or below the threshold. "
    "rhat: R-hat of the energy at or below it."
)

sampler = Catalogue(SAMPLERS, sampler_class)
LANES = Lanes(sampler, 4)


@dataclass(frozen=True)
class Plan(Settings):
    """Model (a builder's spec, or `file:` and a content hash), settings, lanes and sparse edits.

    `field` holds (site, h) in spin units, added to the model's own; `clamp` holds (site, value); `places` holds the
    nodes of a graph that were dragged.
    """

    ANEW = ("model", "chains", "seed", "start")
    TOLD: ClassVar = {"beta": "β", "field": "field painted", "clamp": "sites clamped"}
    ALIASES: ClassVar = {"beta": Alias("T", TEMPERATURE), "chains": Alias("n")}

    model: str = MODEL.field("square:64x64")
    beta: float = setting(BETA)
    chains: int = setting(CHAINS)
    seed: int = setting(SEED)
    start: str = choice("Start", STARTS, "Configuration at sweep 0.")
    unit: str = choice("Budget in", UNITS, "What the lanes may each use.")
    budget: float = knob("Budget (0: no limit)", 0.0, 1e9, 0.0, help=ENDS)
    stop: str = choice("Stop when", STOPS, WHEN)
    threshold: float = knob("Threshold", 0.0, 10.0, 1e-3, help="Of the stop condition.")
    lanes: tuple[Choice, ...] = LANES.field((sampler("pmp"),))
    field: tuple[tuple[int, float], ...] = EDITS.field(())
    clamp: tuple[tuple[int, int], ...] = EDITS.field(())
    places: Places = PLACES.field(())

    def target(self, model: Any) -> Target:
        """The target on `model` (as resolved from `self.model`), with the painted field and the clamped sites."""
        return Target.of(with_field(model, self.field), Evidence.of(model.n, dict(self.clamp)), self.beta)

    def begin(self, model: Any) -> list[running.Run]:
        """One run a lane, all from the same start."""
        return [self.begin_lane(model, place) for place in range(len(self.lanes))]

    def begin_lane(self, model: Any, place: int) -> running.Run:
        """The run of one lane, from the start that all have."""
        x0 = start_configuration(self.start, model, self.chains)
        algorithm, key = self.lanes[place].build(), jax.random.key(self.seed)
        return running.start(algorithm, self.target(model), key, self.chains, x0)

    def mended(self, default: Plan) -> tuple[Plan, list[str]]:
        """The plan with a model that can be built, or is a file to be asked for, and with edits that fit it."""
        return fitted(self, default)

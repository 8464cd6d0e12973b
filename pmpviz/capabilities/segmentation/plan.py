"""What the Segmentation page is set to: scenes to learn from and held out, and who gives the expectations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Float

from pmpviz.learning.optimiser import METHODS, OPTIMISER_PARAMS, Optimiser
from pmpviz.live.plan import SEED, Catalogue, Choice, Lanes, Settings, choice, knob, setting
from pmpviz.marginals.barrier_frank_wolfe import BarrierFrankWolfe
from pmpviz.marginals.belief_propagation import BeliefPropagation, TreeReweightedBeliefPropagation
from pmpviz.models.scene_field import WEIGHTS, scene_field
from pmpviz.models.segmentation import Scene, drawn_scene
from pmpviz.runs.field_expectations import BySampler, BySolver, Expectation
from pmpviz.runs.field_training import Example
from pmpviz.samplers import SAMPLERS, sampler_class

SOLVERS = (BarrierFrankWolfe, TreeReweightedBeliefPropagation, BeliefPropagation)
MOST_LANES = 3


def class_of(name: str) -> Any:
    """The solver or sampler of this id; raises InputError naming the samplers."""
    return next((cls for cls in SOLVERS if cls.spec.id == name), None) or sampler_class(name)


expectation = Catalogue((*SOLVERS, *SAMPLERS), class_of)


@dataclass(frozen=True)
class ScenePlan(Settings):
    """Scenes of consecutive seeds, the first to learn from; all lanes start with weights that are 0 but for `trust`."""

    ANEW: ClassVar = ("height", "width", "scenes", "noise", "first", "chains", "seed", "trust", "ascent")
    TOLD: ClassVar = {"learning_rate": "learning rate", "decay": "decay", "l2": "L2 penalty"}

    height: int = knob("Height", 8, 40, 24, "int", "Of every scene.", "pixels")
    width: int = knob("Width", 8, 48, 30, "int", "Of every scene.", "pixels")
    scenes: int = knob("Scenes", 1, 8, 3, "int", "So many to learn from, and as many that are held out.")
    noise: float = knob("Noise", 0.02, 1.0, 0.08, help="Standard deviation in each of red, green and blue, of 1.")
    first: int = knob("First scene", 0, 1_000_000, 0, "int", "Its seed; the others follow it.")
    trust: float = knob("Trust at first", 0.0, 2.0, 0.0, help="Weight of colour before learning; 1: by colour alone.")
    ascent: str = choice("Steps", METHODS, "How gradients become steps: sgd goes as far as they are long.")
    learning_rate: float = setting(OPTIMISER_PARAMS[1], 0.05)
    decay: float = knob("Decay", 0.0, 1.0, 0.02, help="Iteration t steps by rate / (1 + decay t).")
    l2: float = setting(OPTIMISER_PARAMS[4])
    work: int = knob(
        "Work", 1, 100, 4, "int", "MAP calls, or sweeps of chains, of an iteration; of messages ten times."
    )
    chains: int = knob("Chains", 4, 512, 64, "int", "Of every scene, for lanes that sample.")
    seed: int = setting(SEED)
    budget: int = knob("Iterations", 0, 100_000, 60, "int", "Of a lane, from its start or a change; 0: until paused.")
    lanes: tuple[Choice, ...] = Lanes(expectation, MOST_LANES).field((expectation("trbp"),))

    @property
    def optimiser(self) -> Optimiser:
        """Of the plan's kind, with its rate and penalty."""
        return Optimiser(method=self.ascent, learning_rate=self.learning_rate, l2=self.l2)

    @property
    def start(self) -> Float[np.ndarray, " p"]:
        """The weights before learning."""
        return np.array([self.trust] + [0.0] * (len(WEIGHTS) - 1))

    def drawn(self) -> list[Scene]:
        """All scenes, those to learn from first."""
        shape = (self.height, self.width)
        return [drawn_scene(shape, self.noise, seed) for seed in self.seeds]

    def examples(self) -> tuple[list[Example], list[Example]]:
        """(scenes to learn from, scenes that are held out)."""
        shape = (self.height, self.width)
        fields = [scene_field(shape, self.noise, seed) for seed in self.seeds]
        found = [Example.of(field, field.truth) for field in fields]
        return found[: self.scenes], found[self.scenes :]

    @property
    def seeds(self) -> range:
        """Those of all scenes, those to learn from first."""
        return range(self.first, self.first + 2 * self.scenes)

    @property
    def held_out(self) -> range:
        """The seeds of the scenes that are held out."""
        return range(self.first + self.scenes, self.first + 2 * self.scenes)

    def method(self, lane: Choice) -> Expectation:
        """Who gives a lane's expectations."""
        algorithm = lane.build()
        if isinstance(algorithm, BarrierFrankWolfe):
            return BySolver(algorithm, self.work)
        if isinstance(algorithm, SOLVERS):
            return BySolver(algorithm, 10 * self.work)
        return BySampler(algorithm, self.chains, self.work)


__all__ = ["SOLVERS", "ScenePlan", "class_of", "expectation"]

"""A learning plan: every setting from which a training follows bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import jax

from pmpviz.io.datasets import Dataset, parse_dataset, parse_dataset_text
from pmpviz.learning import LEARNERS, learner_class
from pmpviz.learning.optimiser import OPTIMISER_PARAMS, Optimiser
from pmpviz.learning.start import KINDS, STARTS, fresh_model
from pmpviz.live.plan import Catalogue, Choice, Lanes, Settings, Text, choice, knob, setting
from pmpviz.models import Ising
from pmpviz.runs import training
from pmpviz.types import InputError

TEST_SHARE = 0.2
LEAST_TEST_ROWS = 20

METHOD, RATE, MOMENTUM, L1, L2, LATERAL = OPTIMISER_PARAMS


def check_data(text: str) -> None:
    """Raise InputError where a link cannot name these data."""
    _, values = parse_dataset_text(text)
    if values.get("folder"):
        raise InputError("a link names no folder of the machine that it is opened on")


learner = Catalogue(LEARNERS, learner_class, "learner")
DATA = Text("data", "data were", check_data)
LANES = Lanes(learner, 2)


@dataclass(frozen=True)
class LearningPlan(Settings):
    """Data (a dataset's text, or `file:` and a content hash), the model, the learners and how they step."""

    ANEW = ("data", "kind", "hidden", "start", "chains", "batch", "seed")
    TOLD: ClassVar = {param.name: param.label.lower() for param in OPTIMISER_PARAMS}

    data: str = DATA.field("digits")
    kind: str = choice("Model", KINDS, "What is learned.")
    hidden: int = knob("Hidden units", 1, 1024, 64, "int", "Of an RBM, SRBM or GaussianRBM.")
    start: str = choice("Start", STARTS, "Biases from the data's frequencies, random, or 0.")
    chains: int = knob("Chains", 4, 1024, 100, "int", "Samples of the model for every gradient.")
    batch: int = knob("Batch", 0, 10_000, 100, "int", "Data rows of an iteration; 0 takes all.")
    seed: int = knob("Seed", 0, 2**31 - 1, 0, "int", "Of the start, the batches and the samples.")
    budget: int = knob("Iterations", 0, 10_000_000, 0, "int", "Of a lane, from its start or a change; 0: until paused.")
    method: str = setting(METHOD)
    learning_rate: float = setting(RATE, 0.005)
    momentum: float = setting(MOMENTUM)
    l1: float = setting(L1)
    l2: float = setting(L2)
    lateral_rate: float = setting(LATERAL)
    lanes: tuple[Choice, ...] = LANES.field((learner("pcd"),))

    @property
    def optimiser(self) -> Optimiser:
        """How gradients become steps."""
        return Optimiser(self.method, self.learning_rate, self.momentum, self.l1, self.l2, self.lateral_rate)

    def model(self, data: Dataset) -> Ising:
        """The model that every lane starts from."""
        return fresh_model(self.kind, data.x, self.hidden, self.start, self.seed)

    def begin(self, data: Dataset) -> list[training.Training]:
        """One training a lane, all from the same model, data order and keys."""
        model, key = self.model(data), jax.random.key(self.seed)
        return [
            training.start(lane.build(), model, data.x, key, self.optimiser, self.chains, self.batch)
            for lane in self.lanes
        ]


def split(data: Dataset) -> tuple[Dataset, Dataset]:
    """(rows to learn from, rows that were held out); small data are both."""
    if len(data) * TEST_SHARE < LEAST_TEST_ROWS:
        return data, data
    return data.split(TEST_SHARE, 0)


def resolve_data(text: str, files: Callable[[str], Any] | None = None) -> Dataset:
    """The dataset that `text` names: a source's text, or `file:HASH` looked up with `files`."""
    if text.startswith("file:"):
        if files is None:
            raise InputError("this plan names uploaded images; bring the file")
        return files(text[len("file:") :])
    return parse_dataset(text, files=False)

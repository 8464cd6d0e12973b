"""A learning plan: every setting from which a training follows bit for bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax

from pmpviz.io.datasets import Dataset, parse_dataset
from pmpviz.learning import learner_class, make_learner
from pmpviz.learning.optimiser import METHODS, OPTIMISER_PARAMS, Optimiser
from pmpviz.learning.start import KINDS, STARTS, fresh_model
from pmpviz.models import Ising
from pmpviz.runs import training
from pmpviz.types import InputError, Param

VERSION = 1
MAX_LANES = 2
TEST_SHARE = 0.2
LEAST_TEST_ROWS = 20

KIND = Param("kind", "Model", 0, 0, "rbm", "choice", "What is learned.", choices=KINDS)
HIDDEN = Param("hidden", "Hidden units", 1, 1024, 64, "int", "Of an RBM or SRBM.")
START = Param(
    "start",
    "Start",
    0,
    0,
    "base rate",
    "choice",
    "Biases from the data's frequencies, random, or 0.",
    choices=STARTS,
)
CHAINS = Param("chains", "Chains", 4, 1024, 100, "int", "Samples of the model for every gradient.")
BATCH = Param("batch", "Batch", 0, 10_000, 100, "int", "Data rows of an iteration; 0 takes all.")
SEED = Param("seed", "Seed", 0, 2**31 - 1, 0, "int", "Of the start, the batches and the samples.")
BUDGET = Param("budget", "Iterations", 0, 10_000_000, 0, "int", "Each lane stops there; 0 goes on until paused.")
SETTINGS = (KIND, HIDDEN, START, CHAINS, BATCH, SEED, BUDGET)


@dataclass(frozen=True)
class LearnerPlan:
    """One learner and its knobs by name; knobs left out have their defaults."""

    learner: str
    knobs: tuple[tuple[str, Any], ...] = ()

    def build(self):
        """The learner with these knobs; raises InputError."""
        return make_learner(self.learner, **dict(self.knobs))

    @property
    def full_knobs(self) -> dict[str, Any]:
        """Every knob of the learner with its value."""
        given = dict(self.knobs)
        return {p.name: given.get(p.name, p.default) for p in learner_class(self.learner).spec.params}


@dataclass(frozen=True)
class LearningPlan:
    """Data (a dataset's text, or `file:` and a content hash), the model, the learners and how they step."""

    data: str = "digits"
    kind: str = "rbm"
    hidden: int = 64
    start: str = "base rate"
    chains: int = 100
    batch: int = 100
    seed: int = 0
    budget: int = 0
    method: str = "adam"
    learning_rate: float = 0.005
    momentum: float = 0.9
    l1: float = 0.0
    l2: float = 0.0
    lateral_rate: float = 0.1
    lanes: tuple[LearnerPlan, ...] = (LearnerPlan("pcd"),)

    def replace(self, **changes) -> LearningPlan:
        """The same plan with some settings changed."""
        return dataclasses.replace(self, **changes)

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

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        plain = dataclasses.asdict(self)
        plain["lanes"] = [{"learner": lane.learner, "knobs": lane.full_knobs} for lane in self.lanes]
        return {"version": VERSION, **plain}

    @classmethod
    def from_dict(cls, plain: Any) -> LearningPlan:
        """Plan from plain values; anything out of range raises InputError."""
        if not isinstance(plain, dict) or plain.get("version") != VERSION or not isinstance(plain.get("lanes"), list):
            raise InputError(f"this learning plan is not of version {VERSION}; export it again")
        values = {p.name: p.parse(plain[p.name]) for p in (*SETTINGS, *OPTIMISER_PARAMS) if p.name in plain}
        lanes = tuple(_lane(item) for item in plain["lanes"][:MAX_LANES])
        return cls(data=str(plain.get("data", cls.data)), lanes=lanes or cls.lanes, **values)


def _lane(item: Any) -> LearnerPlan:
    if not isinstance(item, dict) or not isinstance(item.get("knobs", {}), dict):
        raise InputError('a lane of a learning plan is {"learner": name, "knobs": {...}}')
    lane = LearnerPlan(str(item.get("learner")), tuple((str(k), v) for k, v in item.get("knobs", {}).items()))
    lane.build()
    return lane


def split(data: Dataset) -> tuple[Dataset, Dataset]:
    """(rows to learn from, rows that were held out); small data are both."""
    if len(data) * TEST_SHARE < LEAST_TEST_ROWS:
        return data, data
    return data.split(TEST_SHARE, 0)


def begins_anew(old: LearningPlan, new: LearningPlan) -> bool:
    """Whether a training of the old plan cannot go on under the new one."""
    shape = ("data", "kind", "hidden", "start", "chains", "batch", "seed")
    same = all(getattr(old, name) == getattr(new, name) for name in shape)
    return not same or [lane.learner for lane in old.lanes] != [lane.learner for lane in new.lanes]


def describe_change(old: LearningPlan, new: LearningPlan) -> str:
    """What changed between two plans of the same shape, in words; empty where only the budget did."""
    parts = []
    for param in OPTIMISER_PARAMS:
        before, now = getattr(old, param.name), getattr(new, param.name)
        if before != now:
            parts.append(f"{param.label.lower()} {_text(before)} → {_text(now)}")
    for i, (a, b) in enumerate(zip(old.lanes, new.lanes, strict=True)):
        for name, value in b.full_knobs.items():
            if a.full_knobs[name] != value:
                lane = f" of lane {i + 1}" if len(new.lanes) > 1 else ""
                parts.append(f"{name.replace('_', ' ')}{lane} {_text(a.full_knobs[name])} → {_text(value)}")
    return ", ".join(parts)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def resolve_data(text: str, files: Callable[[str], Any] | None = None) -> Dataset:
    """The dataset that `text` names: a source's text, or `file:HASH` looked up with `files`."""
    if text.startswith("file:"):
        if files is None:
            raise InputError("this plan names uploaded images; bring the file")
        return files(text[len("file:") :])
    return parse_dataset(text, files=False)


__all__ = [
    "BATCH",
    "BUDGET",
    "CHAINS",
    "HIDDEN",
    "KIND",
    "MAX_LANES",
    "METHODS",
    "SEED",
    "SETTINGS",
    "START",
    "LearnerPlan",
    "LearningPlan",
    "begins_anew",
    "describe_change",
    "resolve_data",
    "split",
]

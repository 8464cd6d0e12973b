"""The controls of a learning plan: data, model, learners, optimiser, run."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from pmpviz.app.file_controls import FILE, Pictures, pictures_control, source_control, taken
from pmpviz.app.lanes import lanes_control
from pmpviz.app.model_picker import COMPILES, FREE
from pmpviz.app.widgets import bind, param_control, settings_control
from pmpviz.app.words import as_text
from pmpviz.capabilities.learning.plan import LearningPlan
from pmpviz.capabilities.learning.saved import unpack
from pmpviz.io.datasets import (
    DATASETS,
    DatasetSource,
    Values,
    dataset_from_images,
    dataset_from_npz,
    dataset_text,
    parse_dataset_text,
    source_of,
)
from pmpviz.learning.optimiser import OPTIMISER_PARAMS
from pmpviz.learning.start import fresh_model
from pmpviz.numerals import integer

# Data.


def data_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """The plan with the chosen data: a source with its knobs, or a person's own pictures."""
    now, values = (FILE, None) if plan.data.startswith("file:") else _read(plan.data)
    sources = {source.id: source.label for source in DATASETS}
    chosen = source_control("Pictures", sources, "Your own pictures", now, plan, "learning_data", box)
    if chosen == FILE:
        return pictures_control(PICTURES, plan, "learning", box, lambda plan, _: plan)
    source = source_of(chosen)
    box.caption(source.help)
    values = source.resolve({}) if chosen != now or values is None else values
    values = _knobs(source, values, box)
    return plan.replace(data=dataset_text(source, **values))


def _read(text: str) -> tuple[str, Values]:
    source, values = parse_dataset_text(text)
    return source.id, values


def _knobs(source: DatasetSource, values: Values, box: Any) -> Values:
    values, key = dict(values), f"learning_data_{source.id}"
    if source.label_names:
        shown = [source.label_names[place] for place in values["labels"]]
        picked = bind(f"{key}_labels", shown)
        box.multiselect("Only", list(source.label_names), key=f"{key}_labels", placeholder="All of them")
        values["labels"] = tuple(source.label_names.index(name) for name in picked)
    for param in source.params:
        values[param.name] = param_control(param, f"{key}_{param.name}", values[param.name], box)
    return values


PICTURES = Pictures(
    "Bring at least two pictures of one size, all at once or in a .zip, or an .npz with an array "
    "[pictures, height, width]. Until then the page goes on with what it has.",
    lambda held: f"{as_text(held.name)}: {integer(len(held.model))} pictures. {as_text(held.model.note)}",
    dataset_from_npz,
    dataset_from_images,
)


def saved_controls(box: Any) -> tuple[LearningPlan, list[bytes]] | None:
    """(plan, checkpoints) of a saved training that was just brought, once for each file; its fault is shown."""
    fold = box.expander("Go on from a saved training")
    file = fold.file_uploader("Training, as exported", type=["zip"], key="learning_saved")
    return taken(file, "learning_saved", fold, lambda file: unpack(file.getvalue()))


# Model, learners, optimiser, run.


def model_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """Kind of model, hidden units, start."""
    box.caption(COMPILES)
    hidden = () if plan.kind == "ising" else ("hidden",)
    return settings_control(plan, ("kind", *hidden, "start"), "learning", box)


def learner_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """One or two learners with their knobs."""
    return lanes_control(plan, "learning", box, _smallest(plan.kind), opened=2)


@functools.cache
def _smallest(kind: str) -> Any:
    """A small model of this kind: whoever can learn it can learn all of them."""
    return fresh_model(kind, np.array([[0, 1, 0, 1]], np.int8), 3, "zero", 0)


def optimiser_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """How gradients become steps; all of it may change in mid-run."""
    box.caption(FREE)
    hidden = {"momentum"} if plan.method != "momentum" else set()
    hidden |= {"lateral_rate"} if plan.kind not in ("srbm", "gaussian_rbm") else set()
    return settings_control(plan, tuple(p for p in OPTIMISER_PARAMS if p.name not in hidden), "learning", box)


def run_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """Iterations, seed, batch and chains."""
    return settings_control(plan, ("budget", "seed", "batch", "chains"), "learning", box)

"""The controls of a learning plan: data, model, learners, optimiser, run."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import streamlit as st

from pmpviz.app.model_picker import COMPILES, FREE
from pmpviz.app.uploads import STORE
from pmpviz.app.widgets import bind, param_control, preset_choice, select
from pmpviz.app.words import as_text, sentence
from pmpviz.capabilities.learning.plan import (
    BATCH,
    BUDGET,
    CHAINS,
    HIDDEN,
    KIND,
    MAX_LANES,
    SEED,
    START,
    LearnerPlan,
    LearningPlan,
)
from pmpviz.capabilities.learning.presets import LEARNING
from pmpviz.capabilities.learning.saved import unpack
from pmpviz.io.datasets import (
    DATASETS,
    Dataset,
    DatasetSource,
    Values,
    dataset_from_images,
    dataset_from_npz,
    dataset_text,
    parse_dataset_text,
    source_of,
)
from pmpviz.learning import LEARNERS, learner_class
from pmpviz.learning.optimiser import OPTIMISER_PARAMS
from pmpviz.learning.start import fresh_model
from pmpviz.types import InputError, Param

FILE = "file"
SEEN = "saved training that was brought"
IMAGE_TYPES = ["npz", "png", "jpg", "jpeg", "bmp", "gif"]


def preset_control(plan: LearningPlan, box: Any) -> LearningPlan:
    """The choice of a preset: the plan of the one that was just chosen, else the plan as it is."""
    chosen = preset_choice(LEARNING, "Training", "learning_preset", plan, box)
    return plan if chosen is None else chosen.plan


# Data.


def data_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """The plan with the chosen data: a source with its knobs, or a person's own pictures."""
    is_file = plan.data.startswith("file:")
    now, values = (FILE, None) if is_file else _read(plan.data)
    labels = {source.id: source.label for source in DATASETS} | {FILE: "Your own pictures"}
    chosen = bind("learning_data", now)
    select(box, "Pictures", labels, "learning_data")
    if chosen == FILE:
        return _uploaded(plan, box)
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


def _uploaded(plan: LearningPlan, box: Any) -> LearningPlan:
    held = STORE.find(plan.data[len("file:") :]) if plan.data.startswith("file:") else None
    if held is not None:
        box.caption(f"{as_text(held.name)}: {len(held.model):,} pictures. {as_text(held.model.note)}")
    files = box.file_uploader(
        "Pictures of one size, or an .npz", type=IMAGE_TYPES, accept_multiple_files=True, key="learning_files"
    )
    if not files:
        if held is None:
            box.info("Bring at least two pictures of one size, or an .npz with an array [pictures, height, width].")
        return plan
    try:
        data = b"".join(file.getvalue() for file in files)
        name = files[0].name if len(files) == 1 else f"{len(files)} pictures"
        upload = STORE.add(name, data, lambda name, data: _dataset(files))
        return plan.replace(data=f"file:{upload.sha256}")
    except InputError as error:
        box.error(sentence(error))
        return plan


def _dataset(files: list[Any]) -> Dataset:
    archives = [file for file in files if file.name.lower().endswith(".npz")]
    if len(archives) > 1 or (archives and len(files) > 1):
        raise InputError("an .npz holds all pictures by itself; bring one alone, or pictures only")
    if archives:
        return dataset_from_npz(archives[0].getvalue(), archives[0].name)
    return dataset_from_images([(file.name, file.getvalue()) for file in files])


def saved_controls(box: Any) -> tuple[LearningPlan, list[bytes]] | None:
    """(plan, checkpoints) of a saved training that was just brought, once for each file; its fault is shown."""
    fold = box.expander("Go on from a saved training")
    file = fold.file_uploader("Training, as exported", type=["zip"], key="learning_saved")
    if file is None:
        return None
    seen, fault = st.session_state.get(SEEN, (None, None))
    found = None
    if seen != file.file_id:
        fault = None
        try:
            found = unpack(file.getvalue())
        except InputError as error:
            fault = sentence(error)
        st.session_state[SEEN] = (file.file_id, fault)
    if fault:
        fold.error(fault)
    return found


# Model, learners, optimiser, run.


def model_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """Kind of model, hidden units, start."""
    box.caption(COMPILES)
    params = (KIND, HIDDEN, START) if plan.kind != "ising" else (KIND, START)
    return _controls(params, plan, box)


def learner_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """One or two learners with their knobs."""
    lanes = list(plan.lanes)
    plus, minus = box.columns(2)
    if plus.button("Race another", disabled=len(lanes) >= MAX_LANES, width="stretch", key="learning_add"):
        spare = [id for id in _usable(plan.kind) if id not in {lane.learner for lane in lanes}]
        lanes.append(LearnerPlan(spare[0]))
    if minus.button("Remove", disabled=len(lanes) < 2, width="stretch", key="learning_remove"):
        lanes.pop()
    for index, lane in enumerate(lanes):
        into = box.expander(f"Learner {index + 1}", expanded=True) if len(lanes) > 1 else box
        lanes[index] = _learner(lane, plan.kind, f"learning_lane{index}", into)
    return plan.replace(lanes=tuple(lanes))


@functools.cache
def _usable(kind: str) -> tuple[str, ...]:
    """Learners that can learn a small model of this kind."""
    model = fresh_model(kind, np.array([[0, 1, 0, 1]], np.int8), 3, "zero", 0)
    return tuple(cls.spec.id for cls in LEARNERS if cls.spec.why_not(model) is None)


def _learner(lane: LearnerPlan, kind: str, key: str, box: Any) -> LearnerPlan:
    usable = list(_usable(kind))
    if lane.learner not in usable:
        usable.append(lane.learner)
    chosen = bind(f"{key}_learner", lane.learner)
    spec = learner_class(chosen).spec
    labels = {id: learner_class(id).spec.label for id in usable}
    select(box, "Learner", labels, f"{key}_learner", help=as_text(spec.paper))
    box.caption(f"**{spec.guarantee.capitalize()}.** {as_text(spec.summary)}")
    lane = lane if chosen == lane.learner else LearnerPlan(chosen)
    before = lane.full_knobs
    now = {p.name: param_control(p, f"{key}_{chosen}_{p.name}", before[p.name], box) for p in spec.params}
    if now == before:
        return lane
    return LearnerPlan(chosen, tuple((p.name, now[p.name]) for p in spec.params if now[p.name] != p.default))


def optimiser_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """How gradients become steps; all of it may change in mid-run."""
    box.caption(FREE)
    hidden = {"momentum"} if plan.method != "momentum" else set()
    hidden |= {"lateral_rate"} if plan.kind != "srbm" else set()
    return _controls(tuple(p for p in OPTIMISER_PARAMS if p.name not in hidden), plan, box)


def run_controls(plan: LearningPlan, box: Any) -> LearningPlan:
    """Iterations, seed, batch and chains."""
    return _controls((BUDGET, SEED, BATCH, CHAINS), plan, box)


def _controls(params: tuple[Param, ...], plan: LearningPlan, box: Any) -> LearningPlan:
    for param in params:
        value = param_control(param, f"learning_{param.name}", getattr(plan, param.name), box)
        plan = plan.replace(**{param.name: value})
    return plan

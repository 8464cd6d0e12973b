"""Save a training to a file and resume it bit for bit."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from typing import Any

import jax
import numpy as np

from pmpviz.models import model_hash
from pmpviz.runs import archive
from pmpviz.runs.training import Training
from pmpviz.types import InputError

FORMAT = "pmpviz-training-1"

# What must be as it was, and the words for it. Numbers of learner and optimiser may change: see `changes`.
_SAME = {
    "learner": "learner",
    "method": "optimiser",
    "structure": "start of the model",
    "data": "data",
    "chains": "number of chains",
    "batch": "size of the batches",
    "form": "parametrisation",
}


def save(training: Training, path: str | os.PathLike) -> None:
    """Write key, counters, parameters, the optimiser's state and the chains' phase to `path`, whole or not at all."""
    archive.write(path, _header(training), training.key, _carried(training))


def load(path: str | os.PathLike, fresh: Training) -> Training:
    """The training saved at `path`; `fresh` is a new one of the same learner, optimiser's method, data, model, batch,
    chains, form and seed, whose numbers (learning rate, penalties, sweeps, ...) hold from here on.

    Raises InputError where the file is no checkpoint of a training, or of one that differs in what must be the same.
    """
    own = _header(fresh)
    header, key, leaves = archive.read(path, "training", own)
    if not np.array_equal(jax.random.key_data(key), jax.random.key_data(fresh.key)):
        raise InputError("the checkpoint was made with another seed; give the same one")
    for name, words in _SAME.items():
        if header[name] != own[name]:
            raise InputError(f"the checkpoint was made with another {words}{_both(header[name], own[name])}; {_MEND}")
    parameters, state, phase = archive.revive(leaves, _carried(fresh))
    return dataclasses.replace(
        fresh,
        parameters=parameters,
        optimiser_state=state,
        phase=phase,
        iteration=int(header["iteration"]),
        seconds=float(header["seconds"]),
    )


_MEND = "give the same one, or start anew without --resume"


def changes(path: str | os.PathLike, training: Training) -> list[str]:
    """In words, which numbers of learner and optimiser differ from those in the file at `path`."""
    own = _header(training)
    held = archive.read(path, "training", own)[0]["settings"]
    return [
        f"{name} is {value:g}, where the checkpoint has {held[name]:g}"
        for name, value in own["settings"].items()
        if isinstance(held.get(name), (int, float)) and held[name] != value
    ]


def fingerprint(training: Training, more: tuple[str, ...] = ()) -> str:
    """16 hexadecimal digits of all that a training follows from, and `more`, but not of how far it has come."""
    came_from = {name: value for name, value in _header(training).items() if name not in ("iteration", "seconds")}
    words = json.dumps([came_from, more], sort_keys=True).encode()
    return hashlib.sha256(words + np.asarray(jax.random.key_data(training.key)).tobytes()).hexdigest()[:16]


def _both(held: Any, own: Any) -> str:
    """The two values where they say anything to a reader; fingerprints of arrays do not."""
    return "" if len(str(held)) > 20 else f" ({held}, not {own})"


def _carried(training: Training) -> Any:
    return training.parameters, training.optimiser_state, training.phase


def _header(training: Training) -> archive.Header:
    learner, optimiser = training.learner, training.optimiser
    numbers = {f.name: getattr(optimiser, f.name) for f in dataclasses.fields(optimiser) if f.name != "method"}
    numbers |= {f"the learner's {f.name}": getattr(learner, f.name) for f in dataclasses.fields(learner)}
    return {
        "format": FORMAT,
        "learner": learner.spec.id,
        "method": optimiser.method,
        "structure": model_hash(training.structure),
        "data": _hash((training.data, training.moments)),
        "chains": training.chains,
        "batch": training.batch or len(training.data),
        "form": training.form,
        "iteration": training.iteration,
        "seconds": training.seconds,
        "settings": {name: float(value) for name, value in numbers.items()},
    }


def _hash(tree: Any) -> str:
    digest = hashlib.sha256()
    for leaf in map(np.asarray, jax.tree.leaves(tree)):
        digest.update(f"{leaf.shape}{leaf.dtype}".encode() + leaf.tobytes())
    return digest.hexdigest()

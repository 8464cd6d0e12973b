"""A training as one file that a page gives out and takes back: its plan, and the checkpoint of each lane."""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path

from pmpviz.capabilities.learning.plan import LearningPlan
from pmpviz.runs import training_checkpoint
from pmpviz.runs.training import Training
from pmpviz.types import InputError

PLAN = "plan.json"
MOST_BYTES = 1 << 29
BROKEN = "this file is no saved training; give one that the learning page exported"


def pack(plan: LearningPlan, trainings: Sequence[Training]) -> bytes:
    """The file: `plan.json`, and `lane1.npz`, ... as `training_checkpoint` writes them."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive, tempfile.TemporaryDirectory() as folder:
        archive.writestr(PLAN, json.dumps(plan.to_dict()))
        for index, value in enumerate(trainings):
            path = Path(folder) / f"lane{index + 1}.npz"
            training_checkpoint.save(value, path)
            archive.write(path, path.name)
    return file.getvalue()


def unpack(data: bytes) -> tuple[LearningPlan, list[bytes]]:
    """(plan, checkpoint of each lane); raises InputError where the file is none of ours or too large."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > MOST_BYTES:
                raise InputError(f"the saved training takes {size >> 20} MB; give at most {MOST_BYTES >> 20}")
            plan = LearningPlan.from_dict(json.loads(archive.read(PLAN)))
            return plan, [archive.read(f"lane{index + 1}.npz") for index in range(len(plan.lanes))]
    except InputError:
        raise
    except (zipfile.BadZipFile, KeyError, ValueError, RecursionError, OSError, RuntimeError, EOFError):
        raise InputError(BROKEN) from None


def restore(blob: bytes, fresh: Training) -> Training:
    """The training of a lane, onto a fresh one of the same plan; raises InputError where they do not fit."""
    return training_checkpoint.load(io.BytesIO(blob), fresh)


__all__ = ["pack", "restore", "unpack"]

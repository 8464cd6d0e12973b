"""A folder that keeps the trainings of a reproduction, so that an interrupted one goes on where it was."""

from __future__ import annotations

import time
from pathlib import Path

import jax

from pmpviz import __version__
from pmpviz.io.files import made_folder
from pmpviz.runs import training_checkpoint
from pmpviz.runs.training import Training
from pmpviz.types import InputError

SECONDS = 60.0


def version() -> tuple[str, ...]:
    """What a training follows from beside its own settings: the kind of device, this package's version and JAX's."""
    return jax.default_backend(), __version__, jax.__version__


class Keep:
    """Checkpoints in one folder; `taken` names those that were taken up, for what is said of the numbers.

    A training is known by all that it follows from: its settings, data and key, the kind of device, and the versions
    of this package and of JAX. Raises InputError where the folder cannot be made or written to.
    """

    def __init__(self, folder: str):
        if not folder:
            raise InputError("--keep names no folder; give one")
        self.folder = made_folder(Path(folder), "give --keep another folder")
        self.taken: list[str] = []

    def path(self, training: Training, iterations: int) -> Path:
        """Where a training of so many iterations is kept."""
        came_from = (*version(), str(iterations))
        return self.folder / f"training-{training_checkpoint.fingerprint(training, came_from)}.npz"

    def take_up(self, fresh: Training, path: Path) -> Training:
        """The training as far as it came, else `fresh`; raises InputError where its file is damaged."""
        if not path.exists():
            return fresh
        try:
            held = training_checkpoint.load(path, fresh)
        except InputError:
            remedy = "remove it, or give --keep another folder"
            raise InputError(f"{path} holds no training that can go on; {remedy}") from None
        self.taken.append(path.name)
        return held

    def note(self) -> str:
        """What was kept and taken up, in words."""
        words = f"trainings are kept in {self.folder}"
        return f"{words}; taken up from there: {', '.join(self.taken)}" if self.taken else words


class Saver:
    """Saves a training at most every minute; does nothing where there is no path."""

    def __init__(self, path: Path | None):
        self._path, self._saved = path, time.monotonic()

    def now_and_then(self, training: Training) -> None:
        """Save where the last time is a minute ago."""
        if self._path is not None and time.monotonic() > self._saved + SECONDS:
            self.save(training)

    def save(self, training: Training) -> None:
        """Save now."""
        if self._path is not None:
            training_checkpoint.save(training, self._path)
            self._saved = time.monotonic()

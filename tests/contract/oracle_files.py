"""Potentials of real files, where they are at hand."""

from __future__ import annotations

import os
from pathlib import Path

from pmpviz.io import load_model
from pmpviz.oracles import Potentials
from pmpviz.types import Target

FOLDER = Path(os.environ.get("PMPVIZ_DATA", "")) / "uai"


def of_file(name: str) -> Potentials | None:
    """The potentials of a real file, or None where it is not at hand."""
    if not (FOLDER / name).exists():
        return None
    loaded = load_model(FOLDER / name)
    return Potentials.of_target(Target.of(loaded.model), loaded.tables)[0]

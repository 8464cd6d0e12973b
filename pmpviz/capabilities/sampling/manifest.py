"""The manifest of a run, and the files that follow from its plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pmpviz.app.export import ExportFile
from pmpviz.app.manifest import manifest, plan_of_manifest
from pmpviz.capabilities.sampling.code import evidence_file, script
from pmpviz.capabilities.sampling.plan import Plan


def read_manifest(data: bytes) -> Plan:
    """The plan of a manifest; raises InputError where the file is none."""
    return Plan.from_dict(plan_of_manifest(data))


def plan_files(plan: Plan, sweeps: int | Sequence[int], model: Any = None) -> list[ExportFile]:
    """The files that follow from the plan alone: manifest, script, and the clamped sites where there are any."""
    states = 2 if model is None else model.space.states
    extra = {"sweeps": sweeps if isinstance(sweeps, int) else list(sweeps)}
    files = [
        ExportFile(
            "Manifest",
            "manifest.json",
            "application/json",
            lambda: manifest(plan, extra, model),
            "Opens this run again.",
        ),
        ExportFile(
            "Script",
            "again.py",
            "text/x-python",
            lambda: script(plan, sweeps, states).encode(),
            "Same numbers, no app.",
        ),
    ]
    if plan.clamp:
        make = lambda: evidence_file(plan)  # noqa: E731
        files.append(ExportFile("Clamped sites", "clamped.evid", "text/plain", make, "UAI evidence."))
    return files

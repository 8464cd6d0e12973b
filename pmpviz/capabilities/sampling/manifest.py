"""The manifest of a run, and the files that follow from its plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pmpviz.app.export import ExportFile
from pmpviz.app.manifest import manifest, plan_of_manifest
from pmpviz.capabilities.sampling.code import evidence_file, script
from pmpviz.capabilities.sampling.kept import Kept
from pmpviz.capabilities.sampling.live import BY_HAND
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.live.link import to_query


def read_manifest(data: bytes) -> Plan:
    """The plan of a manifest; raises InputError where the file is none."""
    return Plan.from_dict(plan_of_manifest(data))


SAME = "Same numbers, no app."
ANOTHER = "Runs the present settings from sweep 0 on. This run was changed on its way, so its numbers are others."


def plan_files(
    plan: Plan,
    sweeps: int | Sequence[int],
    model: Any = None,
    marks: Sequence[tuple[int, str]] = (),
    kept: Sequence[Kept] = (),
) -> list[ExportFile]:
    """The files that follow from the plan alone: manifest, script, and the clamped sites where there are any.

    `marks` are (sweep, words) of what a person changed; the manifest lists what the plan does not repeat, and the
    settings of curves that were kept.
    """
    states = 2 if model is None else model.space.states
    extra: dict[str, Any] = {"sweeps": sweeps if isinstance(sweeps, int) else list(sweeps)}
    changes = [{"sweep": k, "change": _changed(words)} for k, words in marks if k or words.endswith(BY_HAND)]
    extra |= {"changed_in_mid_run": changes} if changes else {}
    curves = {f"kept{i + 1}": {"sweep": each.sweep, "settings": to_query(each.plan)} for i, each in enumerate(kept)}
    extra |= {"kept": curves} if curves else {}
    files = [
        ExportFile(
            "Manifest",
            "manifest.json",
            "application/json",
            lambda: manifest(plan, extra, model),
            "Opens these settings again." if changes else "Opens this run again.",
        ),
        ExportFile(
            "Script",
            "again.py",
            "text/x-python",
            lambda: script(plan, sweeps, states).encode(),
            ANOTHER if changes else SAME,
        ),
    ]
    if plan.clamp:
        make = lambda: evidence_file(plan)  # noqa: E731
        files.append(ExportFile("Clamped sites", "clamped.evid", "text/plain", make, "UAI evidence."))
    return files


def _changed(words: str) -> str:
    """Of a flip also how its site is counted: everything else in the file counts from 0."""
    return f"{words} (sites counted from 1)" if words.startswith("site ") and words.endswith(BY_HAND) else words

"""What leaves the perturbation lab: the shown perturbation with its atlas, and the energies under all of them."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np

from pmpviz.app.export import ExportFile, settings_file
from pmpviz.capabilities.perturbation.live import LabView

OF_ATLAS = ("axis", "code", "fractional", "period", "best")


def files(view: LabView) -> list[ExportFile]:
    """Those of which there is something by now."""
    found = [settings_file(view.plan)]
    if view.shown is not None:
        words = "Noise, field and each solver's answer; the atlas once it is whole."
        found.append(
            ExportFile(
                "This perturbation", "perturbation.npz", "application/zip", lambda: perturbation_npz(view), words
            )
        )
    if view.tally is not None and view.tally.draws:
        words = "One row a perturbation: its maximum, and what each solver lost and proved."
        found.append(ExportFile("Energies", "energies.csv", "text/csv", lambda: energies_csv(view), words))
    return found


def perturbation_npz(view: LabView) -> bytes:
    """npz of `noise` and `field` [n], p(x_i = 1) by each solver under its id, and `atlas_...` [side, side]."""
    assert view.shown is not None
    pictures = zip(view.plan.solvers, view.shown.pictures, strict=True)
    found: dict[str, Any] = {name: picture for name, picture in pictures if picture is not None}
    found |= {"noise": view.shown.noise, "field": view.shown.field}
    if view.atlas is not None and view.atlas.done:
        found |= {f"atlas_{name}": getattr(view.atlas, name) for name in OF_ATLAS}
        found |= {"atlas_sites": np.array(view.atlas.sites), "atlas_states": np.array(view.atlas.states)}
    file = io.BytesIO()
    np.savez_compressed(file, **found)
    return file.getvalue()


def energies_csv(view: LabView) -> bytes:
    """CSV: number, the maximum's log-weight, and of every solver what it lost and its upper bound."""
    tally, text = view.tally, io.StringIO(newline="")
    assert tally is not None
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        ["draw", "maximum", *(f"{name}_{what}" for name in view.plan.solvers for what in ("lost", "upper"))]
    )
    columns = [part[s] for s in range(len(tally.lost)) for part in (tally.lost, tally.uppers)]
    for k in range(tally.draws):
        writer.writerow([k, tally.maxima[k], *(column[k] if k < len(column) else "" for column in columns)])
    return text.getvalue().encode()


__all__ = ["energies_csv", "files", "perturbation_npz"]

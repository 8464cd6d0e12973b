"""What leaves the app: samples, traces, manifest. Pure functions of arrays, and the dialog that offers them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import streamlit as st
from jaxtyping import Int8
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from pmpviz.app.widgets import forget_outlet
from pmpviz.io.arrays import Model
from pmpviz.io.npz import model_to_npz
from pmpviz.live.link import to_query
from pmpviz.runs.trace import Trace

Points = Sequence[tuple[int, float, float]]


@dataclass(frozen=True)
class LaneTable:
    """One lane's traces: columns of equal length with `sweep` among them, and (sweep, seconds, value) of metrics.

    `label` is what the lane is called on the page, where that is not its algorithm's id. `settings` are numbers that a
    person may have changed on the way, each as a function of the sweep.
    """

    name: str
    algorithm: str
    columns: Mapping[str, np.ndarray]
    metrics: Mapping[str, Points] = field(default_factory=dict)
    label: str = ""
    settings: Mapping[str, Callable[[float], float]] = field(default_factory=dict)

    @classmethod
    def of_trace(cls, name: str, algorithm: str, trace: Trace) -> LaneTable:
        """Means over the chains of a trace with their 10 % and 90 % quantiles."""
        columns = {"sweep": trace.sweeps, "seconds": trace.seconds}
        counts = {f"state_{k}": trace.shares[..., k] for k in range(trace.space.states)}
        if trace.means is not None:
            counts = {"mean_x": trace.means}
        for what, rows in {"energy": trace.energies, **counts, **trace.info}.items():
            columns |= {what: rows.mean(1)}
            low, high = np.quantile(rows, (0.1, 0.9), axis=1)
            columns |= {f"{what}_p10": low, f"{what}_p90": high}
        return cls(name, algorithm, columns, trace.metrics)

    @staticmethod
    def metrics_of(points: Sequence[Any], at: str, *names: str) -> dict[str, Points]:
        """(`at`, seconds, value) of every point, for each of the names."""
        return {name: [(getattr(p, at), p.seconds, getattr(p, name)) for p in points] for name in names}


def samples_npz(x: Int8[np.ndarray, "chains n"], **more: Int8[np.ndarray, "chains n"]) -> bytes:
    """npz of `x`, int8 [chains, n], and of further sets by name."""
    return _npz({"x": x, **more})


def lanes_npz(samples: Mapping[str, Int8[np.ndarray, "chains n"]]) -> bytes:
    """npz of the samples of each lane: `x` where there is one lane, otherwise one array a name."""
    return samples_npz(next(iter(samples.values()))) if len(samples) == 1 else _npz(samples)


def _npz(arrays: Mapping[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **{name: np.asarray(array) for name, array in arrays.items()})
    return file.getvalue()


def traces_npz(lanes: Sequence[LaneTable]) -> bytes:
    """npz of `lane/column` for each column, and `lane/metric` as rows (sweep, seconds, value)."""
    arrays = {f"{lane.name}/{column}": values for lane in lanes for column, values in lane.columns.items()}
    for lane in lanes:
        sweeps = np.asarray(lane.columns["sweep"], np.float64).tolist()
        arrays |= {f"{lane.name}/{name}": np.array([of(s) for s in sweeps]) for name, of in lane.settings.items()}
        for metric, points in lane.metrics.items():
            arrays[f"{lane.name}/{metric}"] = np.asarray(points, np.float64).reshape(-1, 3)
    return _npz(arrays)


def traces_csv(lanes: Sequence[LaneTable]) -> bytes:
    """CSV with one row a lane and sweep; a cell is empty where a quantity was not taken at that sweep."""
    names = list(dict.fromkeys(name for lane in lanes for name in [*lane.settings, *lane.columns, *lane.metrics]))
    labels = ["label"] if any(lane.label for lane in lanes) else []
    head = ["lane", "algorithm", *labels, "sweep", "seconds", *(n for n in names if n not in ("sweep", "seconds"))]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, head, restval="", lineterminator="\n")
    writer.writeheader()
    for lane in lanes:
        writer.writerows(_rows(lane))
    return text.getvalue().encode()


def _rows(lane: LaneTable) -> list[dict[str, Any]]:
    rows: dict[float, dict[str, Any]] = {}
    who = {"lane": lane.name, "algorithm": lane.algorithm, **({"label": lane.label} if lane.label else {})}
    for index, at in enumerate(np.asarray(lane.columns["sweep"], np.float64).tolist()):
        sweep = int(at) if at.is_integer() else at
        values = {name: float(column[index]) for name, column in lane.columns.items()}
        rows[sweep] = {**who, **values, "sweep": sweep}
    for metric, points in lane.metrics.items():
        for sweep, seconds, value in points:
            plain = {**who, "sweep": int(sweep), "seconds": float(seconds)}
            rows.setdefault(int(sweep), plain)[metric] = float(value)
    return [{**rows[sweep], **{name: of(sweep) for name, of in lane.settings.items()}} for sweep in sorted(rows)]


# Manifest.


# The dialog.


@dataclass(frozen=True)
class ExportFile:
    """A file on offer: `make` is called only when it is asked for."""

    label: str
    name: str
    mime: str
    make: Callable[[], bytes]
    help: str = ""


def model_file(model: Model) -> ExportFile:
    """The model, for whoever computes its answers by other means."""
    words = "The model as it was built, before temperature, fields and clamped sites, to be brought as a file."
    return ExportFile("Model", "model.npz", "application/octet-stream", lambda: model_to_npz(model), words)


OF_TRACES = "One row a lane and sweep; of a long run one of some sweeps, with mean, least and greatest."


def settings_file(plan: Any) -> ExportFile:
    """The settings that a link carries, as JSON."""
    make = lambda: json.dumps(to_query(plan), indent=1).encode()  # noqa: E731
    return ExportFile("Settings", "settings.json", "application/json", make, "As in the link.")


def run_files(
    samples: Callable[[], Mapping[str, Int8[np.ndarray, "chains n"]]],
    tables: Callable[[], Sequence[LaneTable]],
    picture: Callable[[], bytes] | None = None,
    animation: Callable[[], bytes] | None = None,
    of_traces: str = OF_TRACES,
) -> list[ExportFile]:
    """The files of a run: samples, traces, and where given picture (PNG) and animation (GIF)."""
    files = [
        ExportFile(
            "Samples",
            "samples.npz",
            "application/zip",
            lambda: lanes_npz(samples()),
            "int8 [chains, n] a lane; of draws the last finished ones.",
        ),
        ExportFile(
            "Traces", "traces.npz", "application/zip", lambda: traces_npz(tables()), "Every column as an array."
        ),
        ExportFile("Traces as text", "traces.csv", "text/csv", lambda: traces_csv(tables()), of_traces),
    ]
    if picture is not None:
        files.append(
            ExportFile("Picture", "picture.png", "image/png", picture, "The configuration that the stage shows now.")
        )
    if animation is not None:
        files.append(ExportFile("Animation", "animation.gif", "image/gif", animation, "The last frames."))
    return files


def kept(file: ExportFile) -> Callable[[], bytes]:
    """What makes the file and keeps it for the browser that asks for it next.

    Streamlit takes a file that was made at a click for forgotten as soon as two runs have ended, of whatever page: with
    a page that plays that is half a second, with a class at work much less than a download begins in.
    """
    context = get_script_run_ctx()

    def make() -> bytes:
        data = file.make()
        words = (data, file.mime, f"export {file.name}", file.name, True)
        keeping = threading.Thread(target=lambda: get_instance().media_file_mgr.add(*words), daemon=True)
        add_script_run_ctx(keeping, context)
        keeping.start()
        keeping.join()
        return data

    return make


@st.dialog("Export", width="medium", on_dismiss=forget_outlet)
def export_dialog(files: Sequence[ExportFile], about: str = "") -> None:
    """Offer the files; each is made when its button is pressed. `about` says what state they are of."""
    if about:
        st.caption(about)
    for file in files:
        words, button = st.columns([3, 2], vertical_alignment="center")
        words.markdown(f"**{file.label}** {file.help}")
        key = f"export_{hashlib.sha256(file.name.encode()).hexdigest()[:8]}"
        button.download_button(
            file.name,
            kept(file),
            file.name,
            file.mime,
            key=key,
            on_click="ignore",
            width="stretch",
            icon=":material/download:",
        )

"""Share, code and export of the run on screen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from pmpviz.runs import run as running
from pmpviz.runs.live import LiveRun, LiveView
from pmpviz.ui import export
from pmpviz.ui.share import code_dialog, share_dialog
from pmpviz.ui.widgets import ASKED, forget_outlet
from pmpviz.views.graph import force_directed
from pmpviz.views.layered import picture_of, picture_shape
from pmpviz.views.numbers import integer
from pmpviz.views.pictures import animation_gif, picture_png

GIF_FRAMES = 200
SNAPSHOT_SECONDS = 5.0


@dataclass(frozen=True)
class Outlet:
    """What a dialog is of: the page, its run and the view of the moment at which it was asked for, and the samples."""

    page: str
    name: str
    view: LiveView
    samples: dict[str, np.ndarray]


def ask_for(page: str, live: LiveRun, name: str) -> None:
    """Have the dialog of that name (share, code or export) opened at the end of the page's next run.

    It is drawn by the page, not by the fragment that plays, whose next run would take it away again.
    """
    view, samples = live.ask(lambda run: _snapshot(run, name == "export"), wait=SNAPSHOT_SECONDS) or (live.view, {})
    st.session_state[ASKED] = Outlet(page, name, view, samples)


def _snapshot(run: LiveRun, with_samples: bool) -> tuple[LiveView, dict[str, np.ndarray]]:
    run.publish()
    found = [running.counted(lane.run) for lane in run.lanes] if with_samples else []
    return run.view, {f"lane{i + 1}": x for i, x in enumerate(found)}


def show_outlet(page: str) -> None:
    """Open the dialog that was asked for, and keep it open over the page's runs until it is dismissed."""
    asked = st.session_state.get(ASKED)
    if asked is None:
        return
    if asked.page != page:
        forget_outlet()
        return
    sweeps = [lane.sweep for lane in asked.view.lanes]
    if asked.name == "share":
        share_dialog(asked.view.plan, page)
    elif asked.name == "code":
        code_dialog(asked.view.plan, sweeps)
    else:
        export.export_dialog(_files(asked, sweeps), f"The run as it was at {_sweeps_in_words(sweeps)}.")


def _files(asked: Outlet, sweeps: list[int]) -> list[export.ExportFile]:
    view = asked.view
    files = export.plan_files(view.plan, sweeps, view.model)
    if not asked.samples:
        return files
    make = (lambda: asked.samples, lambda: _tables(view), lambda: _picture(view), _animation_of(view))
    return files + export.run_files(*make)


def _sweeps_in_words(sweeps: list[int]) -> str:
    return "sweep " + ", ".join(integer(sweep) for sweep in dict.fromkeys(sweeps))


def _tables(view: LiveView) -> list[export.LaneTable]:
    return [
        export.LaneTable(
            f"lane{i + 1}",
            lane.algorithm,
            lane.series,
            {
                name: [(p.sweep, p.seconds, getattr(p, name)) for p in lane.points]
                for name in ("mmd2", "deviation", "marginal_l1", "pair_error")
            },
        )
        for i, lane in enumerate(view.lanes)
    ]


def _last_frames(view: LiveView, count: int) -> np.ndarray:
    packed = view.lanes[0].ring.last(count)
    return np.unpackbits(packed, axis=1)[:, : view.model.n].astype(np.int8)


def _picture(view: LiveView) -> bytes:
    x, model = _last_frames(view, 1)[0], view.model
    shape = picture_shape(model, view.plan.model)
    if shape is not None:
        return picture_png(picture_of(model, x), shape=shape)
    _, i, j, _ = model.pairwise()
    return picture_png(x, positions=force_directed(model.n, i, j), edges=np.stack([i, j], 1))


def _animation_of(view: LiveView):
    shape = picture_shape(view.model, view.plan.model)
    if shape is None:
        return None
    return lambda: animation_gif(picture_of(view.model, _last_frames(view, GIF_FRAMES)), shape)

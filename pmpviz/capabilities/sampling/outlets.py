"""The export of the run on screen."""

from __future__ import annotations

import numpy as np

from pmpviz.app import export
from pmpviz.app.asked import Asked
from pmpviz.app.export import LaneTable
from pmpviz.capabilities.sampling.live import LiveRun, LiveView
from pmpviz.capabilities.sampling.manifest import plan_files
from pmpviz.player.graph import force_directed
from pmpviz.player.layered import picture_of, picture_shape
from pmpviz.player.numbers import integer
from pmpviz.player.pictures import animation_gif, picture_png
from pmpviz.runs import run as running

GIF_FRAMES = 200


def samples(run: LiveRun) -> dict[str, np.ndarray]:
    """The samples of each lane so far, to be noted when the export is asked for (worker thread only)."""
    return {f"lane{i + 1}": running.counted(lane.run) for i, lane in enumerate(run.lanes)}


def files(asked: Asked) -> list[export.ExportFile]:
    """The files that follow from the plan, and those of the run where its samples were noted."""
    view = asked.view
    found = plan_files(view.plan, [lane.sweep for lane in view.lanes], view.model)
    if not asked.more:
        return found
    make = (lambda: asked.more, lambda: _tables(view), lambda: _picture(view), _animation_of(view))
    return found + export.run_files(*make)


def sweeps_in_words(view: LiveView) -> str:
    """The sweep of each lane, once where they are equal."""
    return "sweep " + ", ".join(integer(sweep) for sweep in dict.fromkeys(lane.sweep for lane in view.lanes))


def _tables(view: LiveView) -> list[LaneTable]:
    return [
        LaneTable(
            f"lane{i + 1}",
            lane.algorithm,
            lane.series,
            LaneTable.metrics_of(lane.points, "sweep", "mmd2", "deviation", "marginal_l1", "pair_error"),
        )
        for i, lane in enumerate(view.lanes)
    ]


def _last_frames(view: LiveView, count: int) -> np.ndarray:
    packed = view.lanes[0].ring.last(count)
    return view.model.space.unpack(packed)


def _picture(view: LiveView) -> bytes:
    x, model = _last_frames(view, 1)[0], view.model
    shape = picture_shape(model, view.plan.model)
    if shape is not None:
        return picture_png(picture_of(model, x), shape=shape)
    pairs = model.pairs()
    return picture_png(x, positions=force_directed(model.n, *pairs.T), edges=pairs, states=model.space.states)


def _animation_of(view: LiveView):
    shape = picture_shape(view.model, view.plan.model)
    if shape is None:
        return None
    return lambda: animation_gif(picture_of(view.model, _last_frames(view, GIF_FRAMES)), shape)

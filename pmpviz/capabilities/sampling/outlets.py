"""The export of the run on screen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from pmpviz.app import export
from pmpviz.app.asked import Asked
from pmpviz.app.export import LaneTable
from pmpviz.capabilities.sampling.kept import Kept
from pmpviz.capabilities.sampling.lane import LaneView
from pmpviz.capabilities.sampling.live import LiveRun, LiveView
from pmpviz.capabilities.sampling.manifest import plan_files
from pmpviz.player.graph import force_directed, unmet_pairs
from pmpviz.player.layered import picture_of, picture_shape
from pmpviz.player.numbers import integer
from pmpviz.player.pictures import animation_gif, picture_png
from pmpviz.runs import run as running

GIF_FRAMES = 200
OF_TRACES = (
    f"{export.OF_TRACES} NAME:mean, NAME:low and NAME:high are the mean over the chains and their 10 % and 90 % "
    "quantiles, beta what held at the sweep."
)


@dataclass(frozen=True)
class Noted:
    """What an export shows of the moment at which it is asked for: samples, and the curves of lanes and kept ones."""

    samples: dict[str, np.ndarray]
    tables: list[LaneTable]
    kept: tuple[Kept, ...] = ()


def note(run: LiveRun, kept: Sequence[Kept] = ()) -> Noted:
    """What the export needs of a run as it is now (worker thread only)."""
    run.publish()
    view = run.view
    lanes = [_table(f"lane{i + 1}", lane, lane.label, view) for i, lane in enumerate(view.lanes)]
    before = [_table(f"kept{i + 1}", each, each.name(view.plan), each) for i, each in enumerate(kept)]
    samples = {f"lane{i + 1}": running.counted(lane.run) for i, lane in enumerate(run.lanes)}
    return Noted(samples, lanes + before, tuple(kept))


def files(asked: Asked) -> list[export.ExportFile]:
    """The files that follow from the plan, and those of the run where its samples were noted."""
    view, more = asked.view, asked.more
    kept = more.kept if more else ()
    found = plan_files(view.plan, [lane.sweep for lane in view.lanes], view.model, view.marks, kept)
    if view.model is not None:
        found.append(export.model_file(view.model))
    if not more:
        return found
    make = (lambda: more.samples, lambda: more.tables)
    if len(view.lanes) == 1:
        return found + export.run_files(*make, lambda: _picture(view), _animation_of(view), OF_TRACES)
    return (
        found
        + export.run_files(*make, of_traces=OF_TRACES)
        + [file for index in range(len(view.lanes)) for file in _seen(view, index)]
    )


def _seen(view: LiveView, index: int) -> list[export.ExportFile]:
    """Picture and animation of one of several lanes."""
    label, picture, animation = view.lanes[index].label, partial(_picture, view, index), _animation_of(view, index)
    words = f"The configuration that the stage shows now of {label}."
    found = [export.ExportFile("Picture", f"picture{index + 1}.png", "image/png", picture, words)]
    if animation is not None:
        name, words = f"animation{index + 1}.gif", f"The last frames of {label}."
        found.append(export.ExportFile("Animation", name, "image/gif", animation, words))
    return found


def _table(name: str, lane: LaneView | Kept, label: str, settings: LiveView | Kept) -> LaneTable:
    """Of a lane or a kept curve, under the settings that held at each sweep."""
    plan, before = settings.plan, settings.before

    def beta(sweep: float) -> float:
        return next((earlier for last, earlier in before if sweep <= last), plan).beta

    metrics = LaneTable.metrics_of(lane.points, "sweep", "mmd2", "noise", "marginal_l1", "pair_error")
    return LaneTable(name, lane.algorithm, lane.series.bins().table(), metrics, label, {"beta": beta})


def sweeps_in_words(view: LiveView) -> str:
    """The sweep of each lane, once where they are equal."""
    return "sweep " + ", ".join(integer(sweep) for sweep in dict.fromkeys(lane.sweep for lane in view.lanes))


def _last_frames(view: LiveView, count: int, index: int = 0) -> np.ndarray:
    packed = view.lanes[index].ring.last(count)
    return view.model.space.unpack(packed)


def _picture(view: LiveView, index: int = 0) -> bytes:
    x, model = _last_frames(view, 1, index)[0], view.model
    shape = picture_shape(model, view.plan.model)
    if shape is not None:
        return picture_png(picture_of(model, x), shape=shape, states=model.space.states)
    pairs = model.pairs()
    places, unmet = force_directed(model.n, *pairs.T), unmet_pairs(model, pairs, x)
    return picture_png(x, positions=places, edges=pairs, states=model.space.states, unmet=unmet)


def _animation_of(view: LiveView, index: int = 0):
    shape = picture_shape(view.model, view.plan.model)
    if shape is None:
        return None
    states = view.model.space.states
    return lambda: animation_gif(picture_of(view.model, _last_frames(view, GIF_FRAMES, index)), shape, states=states)

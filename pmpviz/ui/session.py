"""A session's live runs: one a page, kept over page switches, given up when the session ends."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pmpviz.runs import device
from pmpviz.runs.deconvolution_plan import DeconvolutionPlan
from pmpviz.runs.inference_plan import InferencePlan
from pmpviz.runs.learning_plan import LearningPlan
from pmpviz.runs.live import LiveRun
from pmpviz.runs.live_deconvolution import LiveDeconvolution
from pmpviz.runs.live_inference import LiveInference
from pmpviz.runs.live_learning import LiveLearning
from pmpviz.runs.live_perturbation import LivePerturbation
from pmpviz.runs.perturbation_plan import LabPlan
from pmpviz.runs.plan import Plan
from pmpviz.runs.worker import settle_memory
from pmpviz.ui.uploads import uploaded
from pmpviz.views.payload import Cursors


@dataclass
class Held:
    """What a page holds: its live run or training, and what it has sent to the browser so far."""

    live: Any = None
    begun: int = -1
    sent: Cursors = field(default_factory=Cursors)
    hover: tuple[int, int, tuple[str, ...]] | None = None
    mounted_by: str = ""

    def seen_by(self, begun: int) -> None:
        """Begin anew what is sent where another visit of the page, or another start of the run, looks on."""
        visit = str(st.session_state.get("visit"))
        if (self.mounted_by, self.begun) != (visit, begun):
            self.sent.clear()
        self.mounted_by, self.begun = visit, begun

    def close(self) -> None:
        """Give up the run."""
        if self.live is not None:
            self.live.close()


@st.cache_resource(scope="session", show_spinner=False, on_release=lambda held: held.close())
def held(page: str) -> Held:
    """This session's holder for a page."""
    return Held()


def live_run(page: str, plan: Plan, speed: float, playing: bool) -> LiveRun:
    """The page's live run with these settings: made at the first call, afterwards told what has changed."""
    return _held_live(page, lambda: LiveRun(plan, uploaded, speed), plan, speed, playing)


def live_learning(page: str, plan: LearningPlan, speed: float) -> LiveLearning:
    """The page's live training with these settings, as `live_run`."""
    return _held_live(page, lambda: LiveLearning(plan, uploaded, speed), plan, speed, False)


def live_inference(page: str, plan: InferencePlan, speed: float) -> LiveInference:
    """The page's live inference with these settings, as `live_run`."""
    return _held_live(page, lambda: LiveInference(plan, uploaded, speed), plan, speed, True)


def live_deconvolution(page: str, plan: DeconvolutionPlan, speed: float) -> LiveDeconvolution:
    """The page's live deconvolution with these settings, as `live_run`."""
    return _held_live(page, lambda: LiveDeconvolution(plan, uploaded, speed), plan, speed, True)


def live_perturbation(page: str, plan: LabPlan) -> LivePerturbation:
    """The page's perturbation lab with these settings: made at the first call, afterwards told what has changed."""
    holder = held(page)
    if holder.live is None:
        holder.live = LivePerturbation(plan, uploaded)
    holder.live.set_plan(plan)
    holder.live.touch()
    return holder.live


def _held_live(page: str, make: Callable[[], Any], plan: Any, speed: float, playing: bool) -> Any:
    holder = held(page)
    if holder.live is None:
        holder.live = make()
        if playing:
            holder.live.play(wait=0.0)
    else:
        holder.live.set_plan(plan)
        holder.live.set_speed(speed)
    holder.live.touch()
    return holder.live


@st.cache_resource(show_spinner=False)
def prepare() -> bool:
    """Once a process: the compilation cache, and everything imported out of the garbage collector's way."""
    modules = "completion controls explain export filters gallery outlets stage"
    stages = "deconvolution_stage inference_stage learning_stage messages_stage perturbation_stage"
    for module in f"{modules} {stages}".split():
        importlib.import_module(f"pmpviz.ui.{module}")
    device.prepare()
    warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
    settle_memory()
    return True

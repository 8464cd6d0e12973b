"""The learning page: its controls, the live player, the pictures beneath it, and what leaves the page."""

from __future__ import annotations

import dataclasses

import numpy as np
import streamlit as st
from PIL import Image

from pmpviz.app.asked import Asked, snapshot
from pmpviz.app.export import OF_TRACES, ExportFile, LaneTable, lanes_npz, traces_csv
from pmpviz.app.folds import folds
from pmpviz.app.page import Page
from pmpviz.app.player import Event
from pmpviz.app.presets import preset_control
from pmpviz.app.session import held
from pmpviz.app.share import ALWAYS, command_line
from pmpviz.app.stage import Stage, Turn
from pmpviz.app.uploads import STORE
from pmpviz.app.words import show_notices
from pmpviz.capabilities.learning import picture as learning
from pmpviz.capabilities.learning.command import knob_flag
from pmpviz.capabilities.learning.controls import (
    data_controls,
    learner_controls,
    model_controls,
    optimiser_controls,
    run_controls,
    saved_controls,
)
from pmpviz.capabilities.learning.lane import MOST_PICTURES, LearningLaneView, mosaic_shape
from pmpviz.capabilities.learning.live import LearningView, LiveLearning
from pmpviz.capabilities.learning.plan import LearningPlan
from pmpviz.capabilities.learning.presets import LEARNING
from pmpviz.capabilities.learning.saved import pack
from pmpviz.capabilities.sampling.hand_over import open_model
from pmpviz.io.npz import model_from_npz, model_to_npz
from pmpviz.learning import learner_class
from pmpviz.learning.optimiser import OPTIMISER_PARAMS
from pmpviz.live.plan import Choice
from pmpviz.live.view import View
from pmpviz.numerals import integer
from pmpviz.player import filters
from pmpviz.player.pictures import animation_gif, picture_png

# Of a model with hidden units, and of one without.
LEADS = tuple(
    f"Left, what the model dreams; below, the data. {parts}, and learning changes weights to dream more like the data."
    for parts in ("A hidden unit ties pixels together by weights, its filter", "Weights tie pixels together in pairs")
)
PAGE = Page("learning", LEARNING)
SHOWN_DATA = 36
DATA_WIDTH = 620
GIF_FRAMES = 200
SAVE_SECONDS = 30.0
ALL_ROWS = 1_000_000
OF_ITERATIONS = OF_TRACES.replace("sweep", "iteration")
OF_DATA = "int8 [pictures, height, width], those that are learned from."
COMMAND = (
    "On the command line, which learns from all pictures and holds none out; data.npz of Export has those that are "
    "learned from here:"
)


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    leave(plan)
    side = st.sidebar
    plan, draw_choice = preset_control(LEARNING, "Training", PAGE.id, plan, side, _alike)
    if saved := saved_controls(side):
        plan, blobs = saved
        STAGE.job_of(plan).restore(plan, blobs)
    for title, controls in CONTROLS.items():
        side.markdown(f"##### {title}")
        plan = controls(plan, side)
    draw_choice(plan)
    PAGE.keep(plan)
    show_notices(notices)
    page = dataclasses.replace(PAGE, lead=LEADS[plan.kind == "ising"])
    preset = page.ask(plan, "What does this model learn from these pictures?", _alike)
    STAGE.draw(plan)
    open_buttons()
    explain(plan, preset.notice if preset else "Your own training. Compare what it dreams with the data beside it.")


def _alike(a: LearningPlan, b: LearningPlan) -> bool:
    """Whether a plan has the same model learn from the same data by the same algorithms, at any knob."""
    ways = [(plan.data, plan.kind, [lane.algorithm for lane in plan.lanes]) for plan in (a, b)]
    return ways[0] == ways[1]


CONTROLS = {
    "Data": data_controls,
    "Model": model_controls,
    "Learner": learner_controls,
    "Optimiser": optimiser_controls,
    "Run": run_controls,
}


class LearningStage(Stage):
    """The player with the filters, and the pictures that are learned from."""

    job = LiveLearning
    component = "learning"
    first_speed = 100.0

    def draw(self, plan: LearningPlan) -> None:
        """The player, fed while something moves, and the pictures."""
        super().draw(plan)
        # Before a class they would lie below the window.
        with st.container(key="class-fold-data"):
            self.beside("pictures", _pictures, self.tick(self.job_of(plan)))

    def answer(self, event: Event) -> bool:
        """Also looking back, where words and filters are told of that moment, and going back to what was better."""
        if event.type == "best":
            held(PAGE.id).live.stop_at_best()
            return True
        return super().answer(event) or event.type in ("look", "live")

    def _update(self, turn: Turn) -> bytes:
        return learning.update(turn.view, turn.sent, turn.desk)

    def _below(self, view: View) -> None:
        """Nothing: the player itself says what went wrong, where the pictures are."""

    def knobs(self, plan: LearningPlan) -> tuple[str, ...]:
        """How fast it learns."""
        return ("learning_rate",)

    def _moment(self, view: LearningView) -> str:
        iteration = max((lane.iteration for lane in view.lanes), default=0)
        return f"The training as it was at iteration {integer(iteration)}."

    def _files(self, asked: Asked) -> list[ExportFile]:
        return _files(asked.view)

    def _shared(self, plan: LearningPlan) -> tuple[list[str], list[str]]:
        words, lines = COMMAND, []
        if plan.data.startswith("file:"):
            words = "The pictures are not in the link: whoever opens it is asked for the same files."
        else:
            lines = [command(plan, lane) for lane in plan.lanes]
        return [ALWAYS.replace("sweep 0: frame", "iteration 0: iteration"), words], lines


STAGE = LearningStage(PAGE)


# Pictures.


def _pictures() -> None:
    view: LearningView = STAGE.view
    if not view.lanes or view.train is None:
        return
    dark, shown = st.context.theme.type == "dark", min(SHOWN_DATA, len(view.train))
    st.caption(f"The data: {shown} of {integer(len(view.train))} pictures")
    st.image(
        # Within its address: a file of Streamlit's may be gone before a browser, which asks late, has it.
        filters.data_address(filters.pictures_image(learning.some_of(view.train.x, shown), view.train.shape, dark)),
        width=DATA_WIDTH,
    )


def _filters(view: LearningView, lane: LearningLaneView, dark: bool) -> Image.Image:
    assert view.train is not None
    return filters.filters_image(filters.weights_of(lane.model), view.train.shape, dark, by_norm=True).image


# What leaves the page.


SAMPLE_IT = {
    "playground": "Sample it in the Playground",
    "completion": "Give it half a picture",
    "race": "Race samplers on it",
}
HALF = "Clamps the upper half of a picture{}, in the Playground: it makes up the rest."


def open_buttons() -> None:
    """Buttons that sample what was learned on the other pages; see `leave`."""
    if STAGE.view is not None and STAGE.view.lanes:
        row = st.container(horizontal=True)
        half = HALF.format(" that it has not learned from" if STAGE.view.held_out else "")
        for target, label in SAMPLE_IT.items():
            row.button(label, key=f"learning_to_{target}", help=half if target == "completion" else None)


def leave(plan: LearningPlan) -> None:
    """Go where a button of `open_buttons` was clicked to, before this page's timers are set once more."""
    target = next((t for t in SAMPLE_IT if st.session_state.get(f"learning_to_{t}")), None)
    live = held(PAGE.id).live
    if target is None or live is None or not live.view.lanes:
        return
    lane = snapshot(live)[0].lanes[0]
    data = model_to_npz(lane.model)
    upload = STORE.add(f"learned from {plan.data}.npz", data, lambda name, data: model_from_npz(data, name))
    wanted = learner_class(lane.learner).spec.sampler
    names, chains, page = (wanted,), 64, "playground"
    if target == "race":
        names, chains, page = ("pmp", "gibbs"), 256, target
    held_out = live.view.test
    # Another picture at another moment.
    picture = held_out.images[lane.iteration % len(held_out)] if target == "completion" and held_out else None
    open_model(page, f"file:{upload.sha256}", names, chains, picture)
    st.switch_page(f"pages/{page}.py")


def command(plan: LearningPlan, lane: Choice) -> str:
    """The command line that trains a lane with the plan's settings, on all pictures."""
    flags: dict[str, object] = {"model": plan.kind, "learner": lane.algorithm, "chains": plan.chains}
    flags["batch"] = plan.batch or ALL_ROWS
    if plan.kind != "ising":
        flags["hidden"] = plan.hidden
    flags |= {"start": plan.start, "seed": plan.seed, "optimiser": plan.method}
    flags |= {p.name: getattr(plan, p.name) for p in OPTIMISER_PARAMS if p.name != "method"}
    flags |= {knob_flag(name): value for name, value in lane.knobs}
    return command_line("train", plan.data, flags, "--out model.npz")


def _files(view: LearningView) -> list[ExportFile]:
    files = [file for index, lane in enumerate(view.lanes) for file in _lane_files(view, index, lane)]
    files.append(ExportFile("Traces", "traces.csv", "text/csv", lambda: traces_csv(_tables(view)), OF_ITERATIONS))
    live = held(PAGE.id).live
    saved = lambda: live.ask(lambda run: pack(run.plan, [lane.training for lane in run.lanes]), SAVE_SECONDS)  # noqa: E731
    words = "With chains and optimiser: bring it back to go on, bit for bit, from where it is when this is pressed."
    files.append(ExportFile("Training", "training.zip", "application/zip", saved, words))
    if (train := view.train) is not None:
        make = lambda: lanes_npz({"images": train.images})  # noqa: E731
        files.append(ExportFile("Data", "data.npz", "application/zip", make, OF_DATA))
    return files


def _lane_files(view: LearningView, index: int, lane: LearningLaneView) -> list[ExportFile]:
    def picture() -> bytes:
        return filters.png(_filters(view, lane, dark=False))

    def shown(bits: np.ndarray) -> np.ndarray:
        return np.unpackbits(bits, axis=1, count=mosaic[0] * mosaic[1])

    assert view.train is not None
    mosaic = mosaic_shape(min(view.plan.chains, MOST_PICTURES), view.train.shape)[2:]
    where = "Bring it to the Playground or to `python -m pmpviz sample`."
    name = f"model{index + 1}.npz"
    return [
        ExportFile(f"{lane.label}: model", name, "application/zip", lambda: model_to_npz(lane.model), where),
        ExportFile(f"{lane.label}: filters", f"filters{index + 1}.png", "image/png", picture),
        ExportFile(
            f"{lane.label}: samples",
            f"samples{index + 1}.png",
            "image/png",
            lambda: picture_png(shown(lane.ring.last(1))[0], shape=mosaic),
            "The pictures of the stage.",
        ),
        ExportFile(
            f"{lane.label}: animation",
            f"learning{index + 1}.gif",
            "image/gif",
            lambda: animation_gif(shown(lane.ring.since(-1, GIF_FRAMES).bits), mosaic),
            "The samples from the start on, or as far back as they are kept.",
        ),
    ]


# Columns of the log-likelihood of held-out data: what it is, and between which it is.
LIKELIHOOD = (("log_likelihood", "value"), ("log_likelihood_low", "low"), ("log_likelihood_high", "high"))


def _tables(view: LearningView) -> list[LaneTable]:
    return [
        LaneTable(
            f"lane{index + 1}",
            lane.learner,
            _columns(lane.series.bins(last=lane.iteration).table()),
            LaneTable.metrics_of(lane.points, "iteration", "mmd2", "noise", "reconstruction", "free_energy_gap")
            | {name: [(p.iteration, p.seconds, getattr(p, of)) for p in lane.likelihoods] for name, of in LIKELIHOOD},
        )
        for index, lane in enumerate(view.lanes)
    ]


def _columns(table: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {"sweep": table["iteration"], **table}


# Words.


def explain(plan: LearningPlan, notice: str) -> None:
    """The folds under the stage."""
    specs = [lane.spec for lane in plan.lanes]
    folds(notice, f"{EQUATION}\n$$\n{MODELS[plan.kind]}\n$$", NUMBERS, specs)


EQUATION = r"""
$$
\nabla_\theta \log p(v) = \langle \phi \rangle_{p(h \mid v)} - \langle \phi \rangle_{p(v, h)},\qquad
\theta \leftarrow \theta + \eta\,\big(\langle\phi\rangle_\text{data} - \langle\phi\rangle_\text{samples}\big)
$$
"""
MODELS = {
    "rbm": r"E(v, h) = -h^\top W v - b^\top h - c^\top v",
    "srbm": r"E(v, h) = -h^\top W v - \tfrac12 v^\top L v - b^\top h - c^\top v",
    "gaussian_rbm": r"E(v, h, y) = -h^\top W v - y^\top F v + \tfrac12 y^\top y - b^\top h - c^\top v",
    "ising": r"E(x) = -\tfrac12 x^\top W x - b^\top x",
}
NUMBERS = """
- **Held-out data**: a fifth of the pictures, which are not learned from. Of fewer than 100 pictures none are held out:
  *all the data* are learned from and scored.
- **MMD²** compares the pictures in the stage, the chains of the last gradient, with held-out data; the band is what
  equal laws would show with this many chains. It mostly sees means of pixels, which are learned first: it is small
  before any stroke is learned, and rises where samples lag behind weights that go on getting better.
- **Log-likelihood** of held-out data, the mean log probability of a picture in nats: exact where one layer is small,
  elsewhere estimated by annealed importance sampling (64 chains, 200 steps; again in up to 5 000 where fewer than a
  third of the chains carry the weights) with a range of three standard errors, 99.7 % of a normal law. Annealing is
  too optimistic on average, and the more so the worse its chains mix. Go by it, unless a sampler is what is learned
  (PMP and its kin): it scores their weights as a Boltzmann machine's, and the MMD, which the paper prefers (Appendix
  B.4), their samples.
- **Reconstruction error**: mean |v − E(v | E(h | v))| a pixel. It falls for poor models too.
- **Free energy, held-out minus training**: rises when the model learns its training pictures by heart.
- **Gradient** and **weights**: root mean squares over the entries.
"""

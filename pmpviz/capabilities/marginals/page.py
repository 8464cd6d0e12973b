"""The Frank-Wolfe page: its controls, the walk through the polytope, what was found beneath it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import streamlit as st

from pmpviz.app.asked import Asked
from pmpviz.app.export import ExportFile, model_file
from pmpviz.app.folds import folds
from pmpviz.app.lanes import lanes_control
from pmpviz.app.model_picker import checked_model_controls, refuses
from pmpviz.app.page import Page
from pmpviz.app.player import Event
from pmpviz.app.presets import preset_control
from pmpviz.app.session import held
from pmpviz.app.share import ALWAYS, infer_line
from pmpviz.app.stage import Stage, Turn
from pmpviz.app.words import as_text, show_notices
from pmpviz.capabilities.marginals import picture as frank_wolfe
from pmpviz.capabilities.marginals import polytope
from pmpviz.capabilities.marginals.averaged import in_use
from pmpviz.capabilities.marginals.lane import InferenceLaneView
from pmpviz.capabilities.marginals.live import InferenceView, LiveInference
from pmpviz.capabilities.marginals.moments import seen_at
from pmpviz.capabilities.marginals.plan import WALKERS, InferencePlan, check_model
from pmpviz.capabilities.marginals.presets import INFERENCE
from pmpviz.capabilities.marginals.words import WITHIN, centre, error, estimate, exact_log_z
from pmpviz.live.link import to_query
from pmpviz.live.plan import Choice, Preset
from pmpviz.marginals import Inferred
from pmpviz.marginals.plain import as_object
from pmpviz.oracles import ORACLES, PROMISES
from pmpviz.player import filters
from pmpviz.player.model_words import listed
from pmpviz.player.numbers import integer, significant

LEAD = (
    "Marginals: how likely each site, and each joined pair, is 1. Ask for the best configuration (a MAP call) again "
    "and again, under other weights each time, and average the answers: that average, μ, becomes the marginals, or "
    "comes near them where there are loops."
)
# Where no lane walks.
PLAIN_LEAD = "Marginals and log Z without a walk: each method's answer, step by step, beside the exact one."
PAGE = Page("frank_wolfe", INFERENCE, LEAD)
LAYER = "inference_layer"


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    side = st.sidebar
    plan, draw_choice = preset_control(INFERENCE, "Walk", PAGE.id, plan, side, key="inference_preset")
    side.markdown("##### Algorithms")
    plan = lanes_control(plan, "inference", side)
    with side.expander("Model", expanded=refuses("inference_model")):
        plan, more = checked_model_controls(plan, st, "inference", check_model)
    draw_choice(plan)
    PAGE.keep(plan)
    show_notices([*notices, *more])
    preset = PAGE.preset_like(plan)
    question = preset.question if preset else "How close do MAP calls come to the marginals?"
    lead = LEAD if any(lane.algorithm in WALKERS for lane in plan.lanes) else PLAIN_LEAD
    PAGE.head(question, (preset.lead if preset else "") or lead)
    if preset is not None:
        st.session_state.setdefault(f"speed:{PAGE.id}", preset.speed)
    STAGE.draw(plan)
    explain(plan, preset)


# Narrow pages wrap the heads of the table's columns.
STYLE = "<style>.st-key-inference_found th { white-space: normal !important; }</style>"


class InferenceStage(Stage):
    """The walk through the polytope, and what was found."""

    job = LiveInference
    bar = ("play", "step", "reset", "speed", "share", "export", "class")
    component = "walk"
    first_speed = 2.0

    def draw(self, plan: InferencePlan) -> None:
        """The walk, fed while something moves, and beneath it what was found."""
        st.html(STYLE)
        super().draw(plan)
        every = self.tick(self.job_of(plan))
        with st.container(key="inference_found"):
            self.beside("table", _table, every)
            self.beside("segmented", _segmented, every)
            self.beside("vertices", _vertices, every)

    def _update(self, turn: Turn) -> bytes:
        first = frank_wolfe.LAYERS[int(frank_wolfe.many(turn.view))]
        return frank_wolfe.update(turn.view, turn.sent, turn.desk, st.session_state.get(LAYER, first))

    def answer(self, event: Event) -> bool:
        """Also the buttons that play up to a point, and what the sites show."""
        goals, layers = list(frank_wolfe.GOALS), frank_wolfe.LAYERS
        if event.type == "mode" and 0 <= event.site < len(goals):
            held(self.id).live.run_to(goals[event.site])
            return True
        if event.type == "mode" and 0 <= event.site - len(goals) < len(layers):
            st.session_state[LAYER] = layers[event.site - len(goals)]
            return True
        # What stands beneath the stage is of the moment that is looked back at, too.
        return super().answer(event) or event.type in ("step", "reset", "look", "live")

    @property
    def shown(self) -> InferenceView:
        """The view at the moment that the stage shows."""
        return seen_at(self.view, held(self.id).at)

    def _waiting(self, view: InferenceView) -> bool:
        return view.truth is None

    def _moment(self, view: InferenceView) -> str:
        return "The walk as it is now."

    def _files(self, asked: Asked) -> list[ExportFile]:
        return _files(asked.view)

    def _shared(self, plan: InferencePlan) -> tuple[list[str], list[str]]:
        words, lines = "On the command line:", []
        if plan.model.startswith("file:"):
            words = "The model's file is not in the link: whoever opens it is asked for the same file."
        else:
            lines = [command(plan, lane) for lane in plan.lanes]
        return [ALWAYS.replace("sweep 0: frame", "step 0: step"), words], lines


STAGE = InferenceStage(PAGE)


# What stands beneath the stage.


def _dark() -> bool:
    return st.context.theme.type == "dark"


def _segmented() -> None:
    """The scene, what was drawn, and the MAP configuration; how far each lane's likelier sides are off."""
    view = STAGE.shown
    if view.segmented is None:
        return
    st.markdown("###### The scene")
    shown = view.segmented.pictures(_dark())
    for column, (words, image) in zip(st.columns(len(shown)), shown, strict=True):
        column.image(filters.data_address(image), width="content")
        column.caption(words)
    kept = [lane for lane in view.lanes if not np.isnan(lane.p1).any()]
    errors = [f"{as_text(lane.label)} {view.segmented.error(lane.p1):.1%}" for lane in kept]
    st.caption(f"Wrong within 3 pixels of the true outline, each pixel on its likelier side: {', '.join(errors)}.")


def _vertices() -> None:
    view = STAGE.shown
    lane = next((lane for lane in view.lanes if len(lane.weights)), None)
    # Of a step so long ago the weights are not kept.
    if lane is None or np.isnan(lane.weights).any():
        return
    st.markdown("###### Configurations found")
    if lane.configurations.shape[1] > polytope.MOST_READ:
        image = polytope.vertices_image(lane, _dark(), getattr(view.model, "shape", None))
        st.image(filters.data_address(image), width="content")
        if frank_wolfe.many(view):
            weights = ", ".join(
                f"{weight:.3f}" for weight in sorted(lane.weights, reverse=True)[: polytope.MOST_PICTURES]
            )
            st.caption(f"The heaviest of {integer(len(lane.weights))}, with weights {weights}.")
            return
        st.caption("One row a configuration, in the order in which they were found.")
    rows, more = polytope.vertices_table(lane)
    body = "\n".join(f"| {r['found as']} | `{r['configuration']}` | {r['weight']:.3f} |" for r in rows[:8])
    if (rest := centre(lane)) is not None:
        body += f"\n| | u₀: the centre | {rest:.3f} |"
    st.markdown(f"| found as | configuration | weight |\n|---:|:---|---:|\n{body}")
    if more or rows[8:]:
        st.caption(_unlisted(lane, len(rows[:8])))


def _unlisted(lane: InferenceLaneView, shown: int) -> str:
    """What is said of the configurations of which a table lists the heaviest."""
    used = in_use(lane)
    less, none = max(0, used - shown), len(lane.weights) - max(used, shown)
    said = [f"{integer(less)} more with less weight"] if less else []
    return f"and {listed([*said, *([f'{integer(none)} that have none any more'] if none else [])])}"


def _table() -> None:
    """One row a lane: what it has cost and what it knows."""
    view = STAGE.shown
    if not any(lane.trace for lane in view.lanes):
        return
    bounds = "log Z at most, of all steps", "log Z at least"
    heads = (
        "lane",
        "steps",
        "gap before the last step",
        _estimate_head(view),
        *bounds,
        "mean error of p(xᵢ = 1)",
    )
    lines = [f"| {' | '.join(heads)} |", "|:---|---:|---:|---:|---:|---:|---:|"]
    lines += [_row(view, lane) for lane in view.lanes]
    if (exact := exact_log_z(view)) is not None:
        lines.append(f"| **exact** | | | {significant(exact, 5)} | | | |")
    st.markdown("\n".join(lines))


def _row(view: InferenceView, lane: InferenceLaneView) -> str:
    gap = polytope.gap_of(lane.trace[-1]) if lane.trace else None
    answer, value = lane.answer, estimate(lane)
    bound = _number(answer.bound, 5) if answer.bound is not None else f"n/a ({lane.promise})"
    width = WITHIN * (answer.standard_error or 0.0)
    bar = f" ± {_number(width, 2)}" if width and value is not None else ""
    numbers = [_number(gap), _number(value, 5) + bar, bound, _number(answer.lower, 5), _number(error(view, lane))]
    return f"| {as_text(lane.label)} | {integer(lane.count)} | {' | '.join(numbers)} |"


def _estimate_head(view: InferenceView) -> str:
    """What the column of estimates has: bars where a row has one, and of a walk its objective, as the curve has it."""
    bars = " (± 95 %)" if any(lane.answer.standard_error for lane in view.lanes) else ""
    walks = [polytope.gap_of(record) is not None for lane in view.lanes for record in lane.trace[-1:]]
    if walks and all(walks):
        return "objective: near log Z"
    return f"log Z estimate{bars}{': of a walk its objective' if any(walks) else ''}"


def _number(value: float | None, digits: int = 3) -> str:
    return "n/a" if value is None else significant(value, digits)


# What leaves the page.


def command(plan: InferencePlan, lane: Choice) -> str:
    """The command line of a lane."""
    return infer_line(plan.model, lane, plan.beta)


EXPORTED = "Marginals, bounds and the trace, as `python -m pmpviz infer --json` prints them, and the settings."
OBJECTIVES = "`objective` is the page's, at the last ρ; `log_z` is the objective at the ρ of the best bound."


def _files(view: InferenceView) -> list[ExportFile]:
    files = [] if view.model is None else [model_file(view.model)]
    told: dict[str, Any] = {"model": view.plan.model, "settings": to_query(view.plan)}
    for index, (lane, plan) in enumerate(zip(view.lanes, view.plan.lanes, strict=False)):
        rows = tuple(lane.answer.unary)
        found = Inferred(rows, lane.answer, lane.trace, lane.reason, lane.seconds)
        words, own = EXPORTED, told
        if not math.isnan(lane.objective):
            words, own = f"{words} {OBJECTIVES}", {**own, "objective": lane.objective}
        make = lambda plan=plan, found=found, own=own: json.dumps(as_object(plan.build(), found) | own).encode()  # noqa: E731
        files.append(ExportFile(lane.label, f"lane{index + 1}.json", "application/json", make, words))
    return files


# Words.


def explain(plan: InferencePlan, preset: Preset | None) -> None:
    """The folds under the stage."""
    notice = preset.notice if preset else "Your own model: compare the bounds, and the marginals with the exact ones."
    specs = list({lane.algorithm: lane.spec for lane in plan.lanes}.values())
    folds(notice, EQUATIONS, NUMBERS, specs)
    with st.expander("The MAP oracles and what they promise"):
        rows = [f"| {cls.spec.label} | {PROMISES[cls.spec.promise]} | {as_text(cls.spec.summary)} |" for cls in ORACLES]
        st.markdown("\n".join(["| oracle | it | how |", "|:---|:---|:---|", *rows]))


EQUATIONS = r"""
$$
\text{TRW}(\mu) = \langle\theta,\mu\rangle + \sum_i \Big(1 - \sum_j \rho_{ij}\Big) H(\mu_i)
+ \sum_{ij} \rho_{ij} H(\mu_{ij}),\qquad \log Z \le \max_{\mu \in \mathcal M} \text{TRW}(\mu)
$$

A step: $s = \arg\max_x \langle\nabla\text{TRW}(\mu), s\rangle$ is a MAP problem;
$\mu \leftarrow \mu + \gamma\,((1-\delta)\,s + \delta\,u_0 - \mu)$ with $\gamma$ from an exact line search. The gap
$g = \langle\nabla\text{TRW}(\mu), s - \mu\rangle$ certifies $\log Z \le \text{TRW}(\mu) + g$ where the oracle is exact.
Without a loop all $\rho_{ij}$ are 1 and the entropy is exact: then $\le$ becomes $=$, and every TRW($\mu$) on the way
is at most $\log Z$.
*Barrier Frank-Wolfe for Marginal Inference, Algorithms 1 and 2.*
"""
NUMBERS = """
- **Gap**: how much the objective could still rise at this ρ, at most, when the last MAP call was made. An earlier
  call's bound may be nearer to the estimate. It is over the whole polytope, not over its contraction, and it rises
  when ρ changes: another objective. With a heuristic oracle it is only towards what the oracle found.
- **log Z at most**: the smallest bound of the walk. *Certified*: by an exact oracle. *Oracle's bound*: by the upper
  bound that the oracle proves of its maximum. *Relaxed bound*: of the objective over the local polytope, by its
  linear program or by messages. With a heuristic oracle there is none.
- **Objective**, or **log Z estimate**: of a walk the objective at μ, where the last step led, as in the curve and the
  sentence beside it. Of messages it is at most their bound; the curve shows it as it comes, which may be above until
  messages settle. Or an estimate with its error bar: every ± is 1.96 standard errors, by batch means, as the curve's
  range is: for a good estimate it holds the exact value 95 times in 100. Counted on 50 models of ten spins, weak and
  stronger (`reproduce dhmc-log-z`, J = 0.5 and 1): 96 and 100 by bridge sampling, 98 and 98 by Chib's estimate, 94
  and 92 by the split mirrored one, 0 and 60 by the mirrored one on all draws.
- **log Z at least**: log of the summed weights of the distinct configurations that were met. It costs nothing. On a
  tree the objective is a lower bound, too, wherever μ came: the larger one counts.
- **MAP call**, maximum a posteriori: the oracle is asked for the configuration with the largest weight. **μ**: the
  marginals so far, a point of the **marginal polytope**, whose corners are the configurations. **u₀**: its centre, all
  configurations alike. **ρ**: how much of an edge's dependence is counted. **Nat**: a factor of e in Z is one.
- **δ**: how far the corners are drawn towards u₀. The walk begins there, and a share of it stays in the average: it
  keeps μ off the faces, where a probability may be 0 and the slope of the entropy infinite.
- **Mean error**: mean |p(xᵢ = 1) − exact| at μ, where the last step led. Once the gap is small, what is left is the
  error of the tree-reweighted entropy: the walk has found its maximum, which is not at the exact marginals.
"""


__all__ = ["command", "draw"]

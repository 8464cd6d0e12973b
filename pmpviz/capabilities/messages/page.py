"""The Messages page: its controls, and a run recorded at once, and played in the browser."""

from __future__ import annotations

import csv
import dataclasses
import functools
import io

import numpy as np
import streamlit as st

from pmpviz.app.address import kept_plan, turn_back
from pmpviz.app.asked import ask_for, asked_on
from pmpviz.app.export import ExportFile, kept
from pmpviz.app.folds import folds
from pmpviz.app.page import Page, class_button
from pmpviz.app.player import Event, answer_events, player
from pmpviz.app.presets import preset_control
from pmpviz.app.widgets import pressed
from pmpviz.app.words import as_text, sentence, show_notices
from pmpviz.capabilities.messages.controls import evidence_controls, graph_controls, message_controls
from pmpviz.capabilities.messages.picture import Story, blob, places_of, tell
from pmpviz.capabilities.messages.plan import PLAYS, MessagePlan, next_value, with_knob
from pmpviz.capabilities.messages.presets import MESSAGES
from pmpviz.capabilities.messages.recording import truth
from pmpviz.capabilities.messages.settings import FILE, graph_of, mended, target_of
from pmpviz.capabilities.messages.words import bethe_words, decoded_words, thresholds_words
from pmpviz.live.places import moved
from pmpviz.live.plan import Preset
from pmpviz.models.small_graphs import parse_small_graph, small_graph
from pmpviz.player.numbers import integer
from pmpviz.types import Evidence, InputError, Target

MAX_MARGINAL = "A max-marginal is the weight of the best configuration with that state."
PAGE = Page("messages", MESSAGES)
KEY = "messages_microscope"
MOST_KEPT = 32
FOUR_JOINED = "wrong_model"


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    answer_events(KEY, lambda event: PAGE.note(plan, event, _after))
    plan = kept_plan(PAGE.id, plan)
    side = st.sidebar
    plan, draw_choice = preset_control(MESSAGES, "Experiment", PAGE.id, plan, side, _same_question)
    side.markdown("##### Graph")
    plan = graph_controls(plan, side)
    side.markdown("##### Messages")
    plan, more = message_controls(plan, side)
    with side.expander("Held variables"):
        plan = evidence_controls(plan, st)
    show_notices([*notices, *more])
    preset = PAGE.ask(plan, "Where do these messages settle?", _same_question)
    draw_choice(plan)
    PAGE.keep(plan)
    stage(plan)
    explain(plan, preset)


def _same_question(preset: MessagePlan, plan: MessagePlan) -> bool:
    """Whether a plan asks what a preset asks: of the same graph, whatever is held, and however messages are passed.

    Where several presets ask of a graph it is the one that is damped as the plan is, or not.
    """
    name, damped = plan.graph.split(":")[0], plan.damping > 0
    alike = [each.plan for each in MESSAGES if each.plan.graph.split(":")[0] == name]
    nearest = min(alike, key=lambda each: (each.damping > 0) != damped, default=None)
    return preset.computed == plan.computed or preset == nearest


def _after(plan: MessagePlan, event: Event) -> MessagePlan:
    if event.type == "mode" and 0 <= event.site < len(PLAYS):
        return plan.replace(play=PLAYS[event.site])
    if event.type in ("undo", "redo"):
        return turn_back(PAGE.id, forward=event.type == "redo") or plan
    if event.type == "share":
        ask_for("share", PAGE.id)
    if event.type == "knob":
        return with_knob(plan, event.name, event.value)
    if event.type == "place":
        return plan.replace(places=moved(plan.places, event.site, event.x, event.y))
    if event.type != "click":
        return plan
    try:
        card = graph_of(plan.graph).card
    except InputError:
        return plan
    if not 0 <= event.site < len(card):
        return plan
    return mended(plan.replace(evidence=next_value(plan.evidence, event.site, card[event.site])))[0]


def story_of(plan: MessagePlan) -> Story:
    """The plan's run, recorded, with the exact answer where there is one; raises InputError."""
    graph_of(plan.graph)  # A file that has gone is missed here, not served from the cache.
    return _story(plan.replace(play=PLAYS[0], places=()))


@functools.lru_cache(maxsize=MOST_KEPT)
def _story(plan: MessagePlan) -> Story:
    return tell(plan, target_of(plan), None if plan.graph.startswith(FILE) else places_of(plan.graph))


@functools.lru_cache(maxsize=MOST_KEPT)
def _blob(plan: MessagePlan) -> bytes:
    story = story_of(plan)
    return blob(dataclasses.replace(story, plan=plan))


LOG_WEIGHT = (
    "The log-weight of x is log p(x) without the constant log Z; its maximum is the best configuration's. Log Z is the "
    "log of the sum of all possible states' weights, which are no probabilities and need not sum to 1, and Bethe's an "
    "estimate of it from the beliefs alone: see Equations."
)

# Until the browser has drawn the graph there is a word in its place, and nothing of how the run ends.
WAITS = """<style>
.st-key-messages_waits { min-height: 24rem; color: var(--st-gray-text-color, gray); }
.stMainBlockContainer:has(.mm-canvas[data-sweep]) [data-testid="stLayoutWrapper"]:has(> .st-key-messages_waits) {
  display: none;
}
.stMainBlockContainer:not(:has(.mm-canvas[data-sweep])) .st-key-messages_below { display: none; }
.stMainBlockContainer:not(:has(.mm-canvas[data-ended="true"])) .st-key-messages_end { visibility: hidden; }
</style><p>The messages are worked out, and the browser loads what draws the graph …</p>"""


def stage(plan: MessagePlan) -> None:
    """Everything between the question and the folds."""
    waits = st.container(key="messages_waits").empty()
    waits.html(WAITS)
    try:
        story, update = story_of(plan), _blob(plan)
    except InputError as error:
        waits.empty()
        st.error(sentence(error))
        if plan.evidence and pressed(st, "Free all variables", "messages_free"):
            PAGE.keep(plan.replace(evidence=()))
            st.rerun()
        return
    st.container(key="class-fold-computing").markdown(as_text(computing(story)))
    if player(update, key=KEY, answer=lambda event: PAGE.note(plan, event, _after), component="messages"):
        st.rerun()
    with st.container(key="messages_below"):
        _below(story)
    class_button()
    if asked_on(PAGE.id):
        _share(plan)


def _share(plan: MessagePlan) -> None:
    words = ["It opens this page with these settings: the same messages in the same order."]
    if plan.graph.startswith(FILE):
        words.append("The graph's file is not in the link: whoever opens it is asked for the same file.")
    PAGE.share(plan, words)


def computing(story: Story) -> str:
    """One line: what is passed, on what, in which order."""
    plan, graph = story.plan, story.target.model
    kind = {"sum": "Sum-product", "max": "Max-product"}.get(
        plan.rule, f"Between sum and maximum (1/β = {plan.temperature:.3g})"
    )
    how = {"parallel": "in parallel", "sequential": "factor after factor", "two_pass": "to the root and back"}
    damping = f"damping {plan.damping:g}" if plan.damping else "without damping"
    held = f", {len(plan.evidence)} held" if plan.evidence else ""
    shape = "no loop" if story.record.is_tree else "loops"
    sweeps = f"{integer(len(story.record.residual))} sweeps"
    if plan.schedule == "two_pass" and not plan.damping:
        sweeps = "both passes"
    factors = len(story.record.factor_kind)
    size = f"{graph.n} variables{held}, {factors} factor{'' if factors == 1 else 's'}, {shape}"
    told = f"{kind}: messages {how[plan.schedule]}, {damping}, on {size}: {sweeps}, computed, then shown."
    return f"{told} {MAX_MARGINAL}" if plan.rule == "max" else told


def _below(story: Story) -> None:
    words = [bethe_words(story.record, story.log_z)]  # Of the end, which is not told before it has been seen.
    if story.plan.rule == "max":
        weigh = lambda x: float(story.target.model.log_weight(x.astype(np.int8)))  # noqa: E731
        words.append(decoded_words(story.record, weigh, None if story.truth is None else story.truth.maximum))
    # The button as wide as its words; the sentences have the rest.
    row = st.container(horizontal=True, vertical_alignment="top")
    left = row.container(width="stretch")
    if story.no_truth:
        left.markdown(as_text(f"No exact answer: {story.no_truth}."))
    end = left.container(key="messages_end")
    if said := " ".join(filter(None, words)):
        end.markdown(as_text(said), help=LOG_WEIGHT)
    for line in thresholds(story):
        end.markdown(line)
    file = ExportFile("Messages as CSV", "messages.csv", "text/csv", lambda: table(story).encode())
    row.download_button(file.label, kept(file), file.name, file.mime, on_click="ignore", width="content")


def thresholds(story: Story) -> list[str]:
    """Of the four joined variables by sum-product: what fails at this theta, and what does not."""
    plan = story.plan
    graph, values = (None, {}) if plan.graph.startswith(FILE) else parse_small_graph(plan.graph)
    bethe = float(story.record.bethe[-1])
    if graph is None or graph.id != FOUR_JOINED or values["theta"] <= 0 or plan.evidence or story.log_z is None:
        return []
    if not np.isfinite(bethe):
        return []
    return thresholds_words(values["theta"], correlation_of(values["theta"]), bethe - story.log_z)


def correlation_of(theta: float) -> float:
    """Exact E[s_0 s_1] of the four joined variables without a field: 2 p(s_1 = 1 | s_0 = 1) - 1, by symmetry."""
    graph = small_graph(FOUR_JOINED).build(theta=theta, h=0.0)
    return float(2 * truth(Target.of(graph, Evidence.of(graph.n, {0: 1}))).marginals[1, 1] - 1)


def table(story: Story) -> str:
    """All messages in the order in which they were sent, one a row."""
    record, out = story.record, io.StringIO()
    writer = csv.writer(out)
    states = record.after.shape[1]
    writer.writerow(
        [
            "sweep",
            "factor",
            "variable",
            "direction",
            *(f"undamped{k}" for k in range(states)),
            *(f"message{k}" for k in range(states)),
        ]
    )
    for t, edge in enumerate(record.edge):
        direction = "to variable" if record.to_variable[t] else "to factor"
        head = [int(record.sweep[t]) + 1, int(record.edge_factor[edge]), int(record.edge_variable[edge]), direction]
        writer.writerow([*head, *map(repr, record.undamped[t].tolist()), *map(repr, record.after[t].tolist())])
    return out.getvalue()


def explain(plan: MessagePlan, preset: Preset | None) -> None:
    """The folds under the stage."""
    notice = preset.notice if preset else "Your own: does it settle, and are the beliefs the exact ones?"
    folds(notice, EQUATIONS, NUMBERS)


EQUATIONS = r"""
$$n_{i\to f}(x_i) = \theta_i(x_i) + \sum_{g \ni i,\, g \ne f} m_{g\to i}(x_i)$$

$$
m_{f\to i}(x_i) = \tau \log \sum_{x_{f \setminus i}}
\exp \frac{1}{\tau}\Big[\theta_f(x_f) + \sum_{j \in f \setminus i} n_{j\to f}(x_j)\Big]
\;\xrightarrow{\;\tau \to 0\;}\;
\max_{x_{f\setminus i}} \Big[\theta_f(x_f) + \sum_{j \in f\setminus i} n_{j\to f}(x_j)\Big]
$$

with $\tau = 1/\beta$ the messages' temperature: 1 is sum-product, 0 max-product. Messages are shifted so that the
largest entry is 0, and those to variables damped: $m \leftarrow d\, m + (1 - d)\, m_\text{new}$. The belief of $i$ is
the softmax of $(\theta_i + \sum_f m_{f\to i}) / \tau$.

$$\log Z_\text{Bethe} = \sum_f \log Z_f + \sum_i \log Z_i - \sum_{fi} \log Z_{fi}$$

is exact on a tree, and at a fixed point on a graph with loops the value of Bethe's approximation.
*Perturb-and-max-product, section 2.3 and Appendix C.3; Yedidia, Freeman and Weiss 2005, Constructing free-energy
approximations and generalized belief propagation algorithms.*
"""
NUMBERS = """
- **On the lines**: a message of two states is one number, log m(1) - log m(0); of more, all numbers, the largest 0.
- **x1, x2, …**: variables, **f1, f2, …**: factors, counted from 1, where files count from 0. Without another word a
  factor is a table with a weight for every joint state of its variables. Point at its square.
- **Bethe's log Z**: what beliefs of variables and factors say of log Z after each message, of a run of more
  than 24 sweeps after each sweep: near it on loops; exact on a tree as soon as all messages towards one node, any one
  of the variables and factors, are what they will be, since those from there add nothing to it. Beliefs wait longer:
  each for all messages towards its own variable. Where one factor joins all variables it is exact from the start.
- **Z**: the sum of the weights of all states that are possible. Weights are no probabilities: they need not sum to 1.
- **Log-weight** of a configuration x: log p(x) without the constant log Z.
- **Damping**: the share of the old message that is kept. All numbers are of double precision.
- **Change**: the largest change of a message to a variable in a sweep, as a log-ratio, before damping takes its share;
  below 0.000001 the run has converged.
- **Error**: of a run that oscillates the chart shows the most in a period, since each time round the messages cross
  the fixed point. It is the largest difference between a belief and the exact probability. With max-product beliefs are
  max-marginals: the weight of the best configuration with that state, scaled to sum to 1.
- **Period**: the sweeps after which all messages are the same again, found by comparison with the last 64.
- **Diameter**: the largest number of factors between two variables.
- **Held**: a variable whose state is given. A loop through it is none.
"""


__all__ = ["computing", "draw", "story_of", "table"]

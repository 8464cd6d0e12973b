"""The Text page: words coloured by how likely they are a name, by any sampler, beside the exact answer."""

from __future__ import annotations

import json
from typing import Any

import streamlit as st

from pmpviz.app.address import kept_plan
from pmpviz.app.asked import Asked
from pmpviz.app.export import ExportFile
from pmpviz.app.folds import folds
from pmpviz.app.lanes import lanes_control
from pmpviz.app.page import Page
from pmpviz.app.player import Event
from pmpviz.app.presets import preset_control
from pmpviz.app.share import ALWAYS, infer_line
from pmpviz.app.stage import Stage, Turn
from pmpviz.app.widgets import bind, settings_control
from pmpviz.app.words import sentence, show_notices
from pmpviz.capabilities.text import picture
from pmpviz.capabilities.text.live import LiveText, TextView
from pmpviz.capabilities.text.plan import MOST_LINKED, SOLVERS, TextPlan
from pmpviz.capabilities.text.presets import TEXT
from pmpviz.live.plan import Preset, begins_anew
from pmpviz.models import builder_of, format_spec
from pmpviz.models.text import read_words
from pmpviz.types import InputError

LEAD = (
    "Each word is a name or none. Neighbours (the chain) and equal capitalised words (links) pull on each other; "
    "amber: likely a name."
)
PAGE = Page("text", TEXT, LEAD)
TRIED = ("chain", "skip", "said", "seed", "chains", "budget", "lanes")


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    side = st.sidebar
    plan, draw_choice = preset_control(TEXT, "Reading", PAGE.id, plan, side, _alike)
    side.markdown("##### Algorithms")
    plan = lanes_control(plan, "text", side)
    with side.expander("Text", expanded=True):
        plan = text_controls(plan, st)
    plan = settings_control(plan, ("chains", "seed"), "text", side.expander("Chains"))
    draw_choice(plan)
    PAGE.keep(plan)
    show_notices(notices)
    preset = PAGE.ask(plan, "Which of these words are the speaker's name?", _alike)
    STAGE.draw(plan)
    explain(plan, preset)


def _alike(a: TextPlan, b: TextPlan) -> bool:
    """Whether two plans differ in what is tried on one and the same text alone, under the same algorithms."""
    same = [lane.algorithm for lane in a.lanes] == [lane.algorithm for lane in b.lanes]
    return same and a.replace(**{name: getattr(b, name) for name in TRIED}) == b


def text_controls(plan: TextPlan, box: Any) -> TextPlan:
    """A pasted text, or the number of an announcement, and how equal words are linked."""
    text = bind("text_text", plan.text)
    words = "A text of up to 10 000 words with its capitals; without one an announcement is made up."
    box.text_area("Paste a text", text, key="text_text", height=120, help=words, placeholder="Dr. ... talks about ...")
    new = plan.replace(text=text)
    if text != plan.text:
        new = new.replace(said=())
        try:
            read_words(text or "The")
        except InputError as error:
            box.error(sentence(str(error)))
            new = plan
    knobs = ("links",) if new.text else ("number", "links")
    changed = settings_control(new, knobs, "text", box)
    return changed if changed.number == new.number else changed.replace(said=())


class TextStage(Stage):
    """The text once for each lane and once as it is exactly, and how far they are apart."""

    job = LiveText
    component = "text"
    first_speed = 2.0

    def knobs(self, plan: TextPlan) -> tuple[str, ...]:
        """The weights of links and of the chain."""
        return ("skip", "chain")

    def _update(self, turn: Turn) -> bytes:
        wanted = kept_plan(self.id, turn.view.plan)
        return picture.update(
            turn.view, turn.sent, turn.desk, begins_anew(turn.view.plan, wanted), wanted != turn.view.plan
        )

    def answer(self, event: Event) -> bool:
        """Also a word that is clicked: a name, none, and free again."""
        view: TextView = self.view
        if event.type != "click" or view.words is None or not 0 <= event.site < len(view.words):
            return super().answer(event)
        plan = kept_plan(self.id, view.plan)
        said = dict(plan.said)
        after = {None: 1, 1: 0}.get(said.pop(event.site, None))
        said |= {} if after is None else {event.site: after}
        self.change(plan.replace(said=tuple(sorted(said.items()))))
        return True

    def _waiting(self, view: TextView) -> bool:
        return view.answer is None

    def _files(self, asked: Asked) -> list[ExportFile]:
        view: TextView = asked.view
        make = lambda: json.dumps(as_object(view)).encode()  # noqa: E731
        return [ExportFile("Numbers", "text.json", "application/json", make, "Words, links, and all marginals.")]

    def _shared(self, plan: TextPlan) -> tuple[list[str], list[str]]:
        if plan.text:
            lost = len(plan.text) > MOST_LINKED
            too = ", with what was said of its words" if plan.said else ""
            words = f"The text is too long for a link and is left out{too}." if lost else "It holds the text."
            return [ALWAYS, words], []
        lines = commands(plan, len(self.view.words or ()))
        left = ", which leaves out what was said of words" if plan.said else ""
        return [ALWAYS, *([f"On the command line{left}:"] if lines else [])], lines


def commands(plan: TextPlan, words: int) -> list[str]:
    """The command lines of the lanes that are solvers, on the plan's announcement of so many words."""
    knobs = {"seed": plan.number, "links": plan.links, "chain": plan.chain, "skip": plan.skip}
    model = format_spec(builder_of("announcement"), (words,), knobs)
    solvers = [cls.spec.id for cls in SOLVERS]
    return [infer_line(model, lane) for lane in plan.lanes if lane.algorithm in solvers]


def as_object(view: TextView) -> dict[str, Any]:
    """What the export says."""
    assert view.words is not None and view.links is not None
    p1 = picture.exact_p1(view)
    lanes = [
        {"algorithm": lane.algorithm, "count": lane.count, "p": lane.p1.tolist(), "sample": lane.sample.tolist()}
        for lane in view.lanes
    ]
    found = {"plan": view.plan.to_dict(), "words": view.words.words, "links": view.links.tolist(), "lanes": lanes}
    return {**found, "exact": None if p1 is None else p1.tolist()}


STAGE = TextStage(PAGE)


def explain(plan: TextPlan, preset: Preset | None) -> None:
    """The folds under the stage."""
    notice = preset.notice if preset else "Your own text: drag *Links* to 0, and see which names depend on them."
    folds(notice, EQUATIONS, NUMBERS, list({lane.algorithm: lane.spec for lane in plan.lanes}.values()))


EQUATIONS = r"""
$$
\log p(x \mid \text{text}) = \sum_i \theta^\top f_i\, x_i + w_{\text{chain}} \sum_i x_i x_{i+1}
+ w_{\text{skip}} \sum_{(i,j)\ \text{linked}} x_i x_j - \log Z,\qquad x_i = 1:\ \text{part of the name}
$$

A word at the places $S$ has one Gaussian, $z \sim \mathcal N\big(\sqrt{w}\sum_{i\in S} x_i, 1\big)$, since
$w \sum_{i<j} x_i x_j = \tfrac w2 \big(\sum_i x_i\big)^2 - \tfrac w2 \sum_i x_i$. Given all of them the text is a chain:
$f_{i+1} = h_{i+1} + \log\frac{1 + e^{f_i + w}}{1 + e^{f_i}}$ forward, $x_i \sim \sigma(f_i + w\,x_{i+1})$ backward.
*Sutton and McCallum 2004; Zhang, Sutton, Storkey and Ghahramani 2012, section 5; Martens and Sutskever 2010.*
"""
NUMBERS = """
- **Colour**: p(word is part of the speaker's name), averaged over all chains and the later half, and more, of the
  sweeps since the last change. *One sample*: the labels of the first chain at this moment.
- **Underlined**: the true name, of announcements that are made up. **Right**: words whose likelier label is true; words
  that you hold count nowhere.
- **p(name) ... from exact**: root mean square difference of p from exact, over all words (RMSE). It falls as one over
  the root of the sweeps that are averaged, which double as the run goes on, with long flat stretches: a few words that
  seldom change make up most of it. Lanes are level while their errors differ by less than twice what chance leaves: how
  far off as many independent draws are.
- **Links ×, Chain ×**: multiply the trained weights. **Links**: all pairs of equal capitalised words, or each with its
  next occurrence.
- **Click** a word: it is held as a name, then as none, then free again.
- Weights: fitted beforehand to 485 announcements, so that the likelihood of the chain, given the labels of linked
  words, is greatest.
"""


__all__ = ["as_object", "draw"]

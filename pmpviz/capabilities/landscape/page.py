"""The Landscape page: a discrete model as wells of Gaussians, and the ball that rolls through them."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import streamlit as st

from pmpviz.app.address import kept_plan
from pmpviz.app.asked import Asked
from pmpviz.app.export import ExportFile, model_file
from pmpviz.app.folds import folds
from pmpviz.app.page import Page
from pmpviz.app.player import Event
from pmpviz.app.presets import preset_control
from pmpviz.app.share import ALWAYS
from pmpviz.app.stage import Stage, Turn
from pmpviz.app.widgets import bind, segments, settings_control
from pmpviz.app.words import show_notices
from pmpviz.capabilities.landscape import picture
from pmpviz.capabilities.landscape.live import LandscapeView, LiveLandscape
from pmpviz.capabilities.landscape.plan import DIAGONALS, GIBBS, HMC, KINDS, MEMORY, SAMPLERS, LandscapePlan
from pmpviz.capabilities.landscape.presets import LANDSCAPE
from pmpviz.capabilities.landscape.scene import scene_of
from pmpviz.live.plan import Preset
from pmpviz.models.gaussian import ONE_HILL, gibbs_gap
from pmpviz.player.numbers import significant
from pmpviz.samplers import sampler_class

WELLS = "Every state of the spins (a dot) becomes a Gaussian; upside down their sum is one well or several. "
PICTURES = "Couplings store the pictures A and B; the wells (×) are where spins settle. "
LONG_RUN = " In the long run states come as often as they should: the bars meet the lines."
COLD = " In the cold it stays in one well, however long."
# What walks on them, which the first chain shows.
WALKS = {
    HMC: "Play pushes a ball through them; where it stops a state is drawn, a near one most likely.",
    GIBBS: "Play: block Gibbs draws a point from the dot's Gaussian, and there spins.",
}
PAGE = Page("landscape", LANDSCAPE)
TRIED = ("extra", "diagonal", "sampler", "coordinates", "step", "steps", "seed", "t", "temperature", "side", "cue")
# What is taken up so soon that the picture, which follows by itself, is not greyed.
AT_ONCE = ("extra", "t", "temperature", "side", "cue", "step", "steps", "coordinates")
# What is set of each kind, and what of it is dragged beneath the picture.
SET = dict.fromkeys(KINDS, ("w", "h1", "h2")) | {KINDS[2]: ("t",), MEMORY: ("pictures",)}
LEAST = (
    "The D at which the knob's shift is 0: W + D, the couplings with D on their diagonal, must have a root B. Uniform: "
    "one number for all spins; others differ from spin to spin. Least trace: the smallest sum of them."
)
DRAGGED = dict.fromkeys(KINDS, ("extra",)) | {KINDS[2]: ("t", "extra"), MEMORY: ("temperature", "side", "cue")}


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    plan, draw_choice = preset_control(LANDSCAPE, "Landscape", PAGE.id, plan, st.sidebar, _alike)
    plan = controls(plan, st.sidebar)
    draw_choice(plan)
    PAGE.keep(plan)
    show_notices(notices)
    before, after = (PICTURES, COLD) if plan.kind == MEMORY else (WELLS, LONG_RUN)
    page = dataclasses.replace(PAGE, lead=f"{before}{WALKS[plan.sampler]}{after}")
    preset = page.ask(plan, "What landscape do these spins become?", _alike)
    STAGE.draw(plan)
    explain(plan, preset)


def _alike(a: LandscapePlan, b: LandscapePlan) -> bool:
    """Whether two plans differ in what is tried on one and the same model alone."""
    return a.replace(**{name: getattr(b, name) for name in TRIED}) == b


def controls(plan: LandscapePlan, box: Any) -> LandscapePlan:
    """Model, sampler and what the ball's mass is; the knobs that are dragged stand beneath the picture."""
    box.markdown("##### Model")
    plan = settings_control(plan, ("kind",), "landscape", box)
    plan = settings_control(plan, SET[plan.kind], "landscape", box)
    known = DIAGONALS[plan.kind]
    chosen = bind("landscape_diagonal", plan.diagonal if plan.diagonal in known else known[0])
    # Another model may not have what is chosen.
    chosen = chosen if chosen in known else known[0]
    if len(known) > 1:
        segments(box, "Least shift", known, "landscape_diagonal", help=LEAST)
    box.markdown("##### Sampler")
    sampler = bind("landscape_sampler", plan.sampler)
    named = {"format_func": SAMPLERS.__getitem__, "help": "HMC: Hamiltonian Monte Carlo."}
    segments(box, "Sampler", list(SAMPLERS), "landscape_sampler", **named)
    plan = plan.replace(diagonal=chosen, sampler=sampler)
    if sampler != GIBBS:
        plan = settings_control(plan, ("coordinates", "step", "steps"), "landscape", box)
    return settings_control(plan, ("seed",), "landscape", box)


class LandscapeStage(Stage):
    """The landscape with the ball, its energy, and the bars."""

    job = LiveLandscape
    component = "landscape"
    first_speed = 2.0
    autoplay = True

    def knobs(self, plan: LandscapePlan) -> tuple[str, ...]:
        """What the landscape is made of."""
        return DRAGGED[plan.kind]

    def _update(self, turn: Turn) -> bytes:
        now = turn.view.plan
        wanted = kept_plan(self.id, now)
        waits = wanted.replace(**{name: getattr(now, name) for name in AT_ONCE}) != now
        return picture.update(turn.view, turn.sent, turn.desk, waits, wanted != now)

    def answer(self, event: Event) -> bool:
        """Also the choice of coordinates."""
        if event.type == "mode" and event.site in (0, 1):
            plan = self.view.plan
            self.change(plan.replace(coordinates=plan.params()["coordinates"].choices[event.site]))
            return True
        return super().answer(event)

    def _files(self, asked: Asked) -> list[ExportFile]:
        view: LandscapeView = asked.view
        make = lambda: json.dumps(as_object(view)).encode()  # noqa: E731
        words = "The law, the frequencies, and the last trajectories step by step."
        model = [] if view.scene is None else [model_file(view.scene.target.model)]
        return [*model, ExportFile("Numbers", "landscape.json", "application/json", make, words)]

    def _shared(self, plan: LandscapePlan) -> tuple[list[str], list[str]]:
        return [ALWAYS.replace("sweep 0: frame k is the same picture", "step 0: step k is the same roll")], []


def as_object(view: LandscapeView) -> dict[str, Any]:
    """What the export says."""
    assert view.scene is not None
    lane = view.lanes[0]
    rolls = [{"number": roll.number, "z": roll.points.tolist(), "energy": roll.energy.tolist()} for roll in lane.rolls]
    numbers = {"exact": view.scene.law.tolist(), "counts": lane.counts.tolist(), "acceptance": lane.acceptance}
    return {"plan": view.plan.to_dict(), "shift": view.scene.shift.tolist(), **numbers, "rolls": rolls}


STAGE = LandscapeStage(PAGE)


def explain(plan: LandscapePlan, preset: Preset | None) -> None:
    """The folds under the stage."""
    notice = preset.notice if preset else "Your own model: drag the shift, and compare the bars with the exact ticks."
    folds(notice, EQUATIONS, NUMBERS + gap_words(plan), [sampler_class(plan.sampler).spec])


def gap_words(plan: LandscapePlan) -> str:
    """The spectral gap of Gibbs sampling of the plan's spins, exactly and as the same theorem bounds it."""
    if plan.kind == MEMORY:
        return ""
    scene = scene_of(plan)
    least = max(0.0, (1 - scene.largest / ONE_HILL) / scene.n)
    promise = f"at least {significant(least, 3)}" if least else "nothing"
    return (
        "- **Gap of Gibbs sampling**: how fast Gibbs sampling of one spin at a time, another sampler than the ball, "
        "forgets its start: one minus the second largest eigenvalue of a step. Of these spins it is "
        f"{significant(float(gibbs_gap(scene.target)), 3)}, whatever the shift; at this shift λ₁ promises {promise}.\n"
    )


EQUATIONS = r"""
$$
p(s) \propto e^{a^\top s + \frac12 s^\top W s},\qquad W + D = B B^\top
$$

$$
p(z) = \sum_s p(s)\,\mathcal N(z;\, B^\top s, I),\qquad
p(s_i = 1 \mid z) = \sigma\big((Bz)_i + a_i - \tfrac{d_i}{2}\big)
$$

$$
H(z, p) = \tfrac12 z^\top z - \sum_i \log\big(1 + e^{(Bz)_i + a_i - d_i/2}\big) + \tfrac12 p^\top p,\qquad
\text{accepted with } \min(1, e^{-\Delta H})
$$

Of two remembered pictures $\xi_A, \xi_B$ in $n$ spins $\sigma = 2s - 1$ at $\beta = 1/T$, with two Gaussians alone:

$$
p(\sigma) \propto e^{\beta \left(\frac{1}{2n} \sum_k (\xi_k^\top \sigma)^2 + h\, \xi_A^\top \sigma\right)},\qquad
\log p(y) = -\tfrac12 y^\top y + \sum_i \log 2\cosh\big(\sqrt{\beta/n}\,(\xi_{Ai} y_A + \xi_{Bi} y_B)
+ \beta h\, \xi_{Ai}\big) + \mathrm{const}
$$

$\lambda_1(W + D) \le 4$ makes $p(z)$ log-concave; the spectral gap of Gibbs sampling with a random scan is then at
least $(1 - \lambda_1/4)/n$. *Zhang, Sutton, Storkey and Ghahramani 2012, section 3 and proposition 1; Martens and
Sutskever 2010, sections 3.3 and 6; Eldan, Koehler and Zeitouni 2022; Hopfield 1982.*
"""
NUMBERS = """
- **Dots**: the means B's of the Gaussians, their areas in proportion to p(s). **Regions**: coloured by p(s | z), the
  colours mixed where it is undecided.
- **Wells**: −log p(z), whose lows are where z is likely. **Crosses**: the bottoms of those that are counted.
- **Ball**: the first chain. A dot a leapfrog step, its arrow the momentum; a hollow end is a rejected trajectory. How
  many steps a trajectory has is drawn anew, from 1 to 2L − 1. Where it leaves the picture, a wedge points to it.
- **Energy H**: over the steps of the shown trajectory; it is accepted if it ends below the line, which
  is where it began plus an exponential number of mean 1 that this trajectory was given.
- **Bars**: how often all chains were in each state since the last change, one draw a chain and trajectory or sweep;
  ticks: exact p(s).
- **Shift**: D is its least value plus what the knob says. λ₁ is the largest eigenvalue of W + D. **Wells by shift**:
  how many what is seen has, found by mean-shift ascent of p(z) from every Gaussian at shifts .05 apart.
- **Two pictures**: y is √(βn) times the overlaps of a state with A and B, and a normal each; small pictures stand where
  they are. While the ball rolls, the spins are those of p(s | z) under the numbers that they are then drawn with. Bars
  count which picture z is nearest to.
- **Round**: the whitened coordinates z, in which a leapfrog step is at most 2 for every model. **Stretched** (A = I):
  Bz, whose limit is 2√λ_min.
"""


__all__ = ["as_object", "draw"]

"""The perturbation lab: one perturbation solved side by side, and below it what many of them say."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pmpviz.app.address import class_mode, kept_plan
from pmpviz.app.asked import ask_for, asked_on
from pmpviz.app.export import export_dialog
from pmpviz.app.folds import chart, folds
from pmpviz.app.model_picker import refuses
from pmpviz.app.models import model_of
from pmpviz.app.page import Page, class_button
from pmpviz.app.player import Event, answer_events, player
from pmpviz.app.presets import preset_control, preset_of
from pmpviz.app.session import held, held_live
from pmpviz.app.uploads import uploaded
from pmpviz.app.widgets import pressed
from pmpviz.app.words import as_text, sentence, show_notices
from pmpviz.capabilities.perturbation import board, findings
from pmpviz.capabilities.perturbation import maps as perturbation_maps
from pmpviz.capabilities.perturbation import panels as perturbation_panels
from pmpviz.capabilities.perturbation import picture as perturbation
from pmpviz.capabilities.perturbation.controls import model_controls, noise_controls, solver_controls
from pmpviz.capabilities.perturbation.files import files
from pmpviz.capabilities.perturbation.live import LabView, LivePerturbation
from pmpviz.capabilities.perturbation.panels import Panel
from pmpviz.capabilities.perturbation.parts import resolved
from pmpviz.capabilities.perturbation.plan import MOST_DRAWS, LabPlan
from pmpviz.capabilities.perturbation.presets import PERTURBATION
from pmpviz.live.plan import Preset
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.types import InputError

LEAD = "Noise is added to each variable and the best state sought: how often each is best comes near its probability."
PAGE = Page("perturbation_lab", PERTURBATION, LEAD)
BOARD = "lab_board"
# Of so few variables the bars say it all.
FEW = 3
# Width of a picture of many, in pixels.
PANEL, CLASS_PANEL = 104, 184
TICK_SECONDS, SLOW_SECONDS, PATIENCE = 0.5, 1.5, 0.6
# The last column's words wrap where the page is narrow; and what comes late keeps its place, so that nothing beneath it
# is taken for the page's subject, and then falls.
STYLE = """<style>
.st-key-lab_table td:last-child { white-space: normal !important; }
.st-key-lab_board { min-height: 60vh; }
</style>"""
SHORT = {
    "exact": "none has less energy",
    "bound": "none: its bound was not reached",
    "heuristic": "none: it has no bound",
}
ROUNDED = (
    "LP relaxation: a variable may lie between 0 and 1 there (grey). No configuration has less energy than is reached "
    "so; rounded, a half to 0, it can have much more."
)


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    answer_events(BOARD, lambda event: PAGE.note(plan, event, _after))
    plan = kept_plan(PAGE.id, plan)
    side = st.sidebar
    plan, draw_choice = preset_control(PERTURBATION, "Experiment", PAGE.id, plan, side, _alike, "lab_preset")
    side.markdown("##### Solvers")
    plan = solver_controls(plan, side)
    with side.expander("Model", expanded=refuses("lab_model")):
        plan, more = model_controls(plan, st)
    side.markdown("##### Noise")
    plan = noise_controls(plan, side, sites_of(plan))
    show_notices([*notices, *more])
    preset = PAGE.ask(plan, "What do solvers make of the same noise?", _alike)
    draw_choice(plan)
    PAGE.keep(plan)
    draw_buttons(plan)
    stage(plan, preset.id if preset else "")
    show_asked(plan)
    explain(plan, preset)


def _alike(a: LabPlan, b: LabPlan) -> bool:
    """Whether two plans differ in the noise and the layer that are shown only: the question is of the model."""
    return a.replace(seed=b.seed, draw=b.draw, cross=b.cross, layer=b.layer) == b


def _after(plan: LabPlan, event: Event) -> LabPlan:
    """The plan after something was done on the board: another layer, or the cross put elsewhere."""
    view: LabView | None = held(PAGE.id).live and held(PAGE.id).live.view
    if view is None:
        return plan
    layers = board.layers(view)
    if event.type == "mode" and 0 <= event.site < len(layers):
        return plan.replace(layer=layers[event.site]["id"])
    if event.type == "click" and view.atlas is not None and 0 <= event.site < view.atlas.code.size:
        row, column = divmod(event.site, len(view.atlas.axis))
        return plan.replace(cross=(float(view.atlas.axis[column]), float(view.atlas.axis[row])))
    return plan


def draw_buttons(plan: LabPlan) -> None:
    """Which perturbation is shown: the next, the one before; and the link."""
    step, other = 0, None
    with st.container(horizontal=True, key="lab_bar"):
        if pressed(st, "Another perturbation", "lab_next", shortcut="N"):
            step = 1
        if pressed(st, "The one before", "lab_before", disabled=plan.draw == 0):
            step = -1
        if plan.model == PERTURBATION[0].plan.model:
            words = "A lattice of 36 spins, where no plane shows all the noise."
            other = (
                preset_of(PERTURBATION, "glass") if pressed(st, "Go on to 36 spins", "lab_more", help=words) else None
            )
        if pressed(st, "Share", "lab_share", shortcut="S"):
            ask_for("share", PAGE.id)
        if pressed(st, "Export", "lab_export"):
            ask_for("export", PAGE.id)
        class_button()
    if step or other:
        # Once more from the top, so that the buttons, too, know where they are.
        moved = plan.replace(draw=min(max(plan.draw + step, 0), MOST_DRAWS - 1), cross=None)
        PAGE.keep(other.plan if other else moved)
        st.rerun()


def show_asked(plan: LabPlan) -> None:
    """Open the dialog that was asked for."""
    asked = asked_on(PAGE.id)
    if asked is not None and asked.name == "share":
        PAGE.share(plan, ["It opens this page with these settings: the same noise, bit for bit."])
    elif asked is not None:
        view: LabView = _live().view
        export_dialog(
            files(view), f"What is known after {integer(view.tally.draws if view.tally else 0)} perturbations."
        )


def stage(plan: LabPlan, preset: str) -> None:
    """Everything under the question, which is that of a preset."""
    computed = plan.computed
    live = held_live(PAGE.id, lambda: LivePerturbation(computed, uploaded), computed)
    live.wait(PATIENCE)
    busy = live.busy
    st.fragment(_shown, run_every=TICK_SECONDS if busy else None, key="lab-shown")(busy, plan.layer, preset)
    st.fragment(_many, run_every=SLOW_SECONDS if busy else None, key="lab-many")()


def _live() -> LivePerturbation:
    live = held(PAGE.id).live
    live.touch()
    return live


def _dark() -> bool:
    return st.context.theme.type == "dark"


def _panels(panels: list[Panel], otherwise: str) -> None:
    if not panels:
        st.caption(otherwise)
        return
    row = st.container(horizontal=True, gap="small")
    for panel in panels:
        with row.container(width=CLASS_PANEL if class_mode() else PANEL):
            st.markdown(f"**{as_text(panel.title)}**")
            st.image(panel.picture, width="stretch", output_format="PNG", alt=f"{panel.title}: {panel.words}")
            st.caption(as_text(panel.words))


def _shown(was_busy: bool, layer: str, preset: str) -> None:
    st.html(STYLE)
    live = _live()
    view: LabView = live.view
    if view.trouble:
        st.error(sentence(view.trouble))
    # What was found stands on the board, which knows how much of it has been shown.
    waits = live.waits
    found = "" if waits else findings.finding(view, preset)
    if not found and not waits:
        with st.container(key="class-fold-computing"):
            st.markdown(computing(view))
    plan = view.plan.replace(layer=layer)
    update = board.update(view, layer, _dark(), preset, waits)
    if player(update, key=BOARD, answer=lambda event: PAGE.note(plan, event, _after), component="atlas"):
        st.rerun()
    # Before a class the energies beneath the pictures say it.
    if view.shown is not None and not waits and not class_mode():
        with st.container(key="lab_table"):
            _table(view)
            if found:
                st.caption(computing(view))
    if was_busy and not live.busy:
        st.rerun()


def computing(view: LabView) -> str:
    """One line: what is perturbed, how often so far, what is going on."""
    if view.bench is None:
        return f"{view.doing or 'Nothing to show'} …".capitalize()
    draws = 0 if view.tally is None else view.tally.draws
    words = model_words(view.bench.target.model, view.plan.beta)
    free = view.bench.potentials.n
    some = f", {integer(free)} of its variables free" if free < view.bench.target.n else ""
    doing = f", {view.doing} …" if view.doing else ""
    moved = ", its cross moved by hand" if view.plan.cross is not None else ""
    shown = f"Perturbation {integer(view.plan.draw + 1)} of seed {view.plan.seed}{moved}, the same for every solver"
    return as_text(f"{words[:1].upper()}{words[1:]}{some}. {shown}; {integer(draws)} perturbations solved{doing}")


def _table(view: LabView) -> None:
    shown, bench = view.shown, view.bench
    assert shown is not None and bench is not None
    heads = "| solver | energy reached: lowest is best | above the lowest | time to solve | proof that it is the best |"
    lines = [heads, "|:---|---:|---:|---:|:---|"]
    rows = zip(bench.solvers, shown.solutions, bench.refusals, shown.seconds, shown.pending, strict=True)
    for solver, found, reason, time, pending in rows:
        label = as_text(solver.spec.label)
        if pending:
            lines.append(f"| {label} | … | … | … | compiling and solving |")
            continue
        if found is None:
            lines.append(f"| {label} | n/a | n/a | n/a | cannot run: {as_text(reason or '')} |")
            continue
        promise = "proved: none has less energy" if found.exact else SHORT[solver.spec.promise]
        promise += f"; {rest}" if (rest := board.settled(solver, found)) else ""
        if found.notes.get("fractional"):
            promise += f"; {float(found.notes['fractional']):.0%} of its variables between 0 and 1, then rounded"
        gap = "n/a" if shown.best is None else significant(max(0.0, shown.best - found.value))
        lines.append(f"| {label} | {significant(-found.value, 5)} | {gap} | {seconds(time)} | {as_text(promise)} |")
    st.markdown("\n".join(lines))
    if any(found is not None and found.notes.get("fractional") for found in shown.solutions):
        st.caption(ROUNDED)


def _many() -> None:
    live = _live()
    if live.waits:
        return
    view: LabView = live.view
    if view.bench is not None and view.bench.target.n > FEW and view.bench.scene is None:
        st.markdown("##### One best answer against many")
        with st.container(key="lab_averages"):
            _panels(perturbation_panels.averages(view, _dark()), "After the first perturbations …")
    left, right = st.columns(2, gap="medium")
    lost, tree = perturbation.lost(view, _dark()), perturbation_maps.tree(view, _dark())
    with left:
        bounds = perturbation.bounds(view, _dark())
        _part("Bounds on log Z: means, with 95 % bars", bounds, "lab_bounds", perturbation.bounds_help(view))
        if view.no_truth:
            st.caption(f"No exact log Z: {as_text(view.no_truth)}.")
    with right:
        _part("Energy lost", lost, "lab_lost", perturbation.LOST)
        if view.tally is not None and view.tally.draws:
            st.caption(as_text(" ".join(perturbation.lost_words(view))))
    # Where nothing was lost the other column has the room.
    with left if lost is not None else right:
        _part("Exact samples, a variable at a time", tree, "lab_tree", perturbation_maps.tree_words(view))


def _part(title: str, figure: Any, key: str, words: str) -> None:
    """A chart between its title and what it shows, in plain words; nothing where there is none."""
    if figure is not None:
        st.markdown(f"###### {title}")
        chart(figure, key, "")
        st.caption(as_text(words))


def sites_of(plan: LabPlan) -> int:
    """Sites of the plan's model; 2 where it is not here."""
    try:
        return resolved(plan.model, model_of)[0].n
    except InputError:
        return 2


def explain(plan: LabPlan, preset: Preset | None) -> None:
    """The folds under the stage."""
    notice = preset.notice if preset else "Your own model: compare the solvers, and the average with the MAP."
    folds(notice, EQUATIONS, NUMBERS)


EQUATIONS = r"""
$$
x = \arg\max_x\; \theta(x) + \sum_i \gamma_i(x_i),\qquad
\log Z \le \mathbb E_\gamma \max_x\Big\{\theta(x) + \sum_i \gamma_i(x_i)\Big\}
$$

with $\gamma_i(x_i)$ independent centred Gumbel numbers; of two states only their difference counts, which is logistic.
One number for *every* $x$ would make the first exact and the second an equation.

$$
p_j(x_j) = \frac{\exp U(x_1,\dots,x_j)}{\exp U(x_1,\dots,x_{j-1})},\quad
U(x_1,\dots,x_j) = \mathbb E_\gamma \max_{x_{j+1},\dots,x_n}\Big\{\theta(x) + \sum_{i>j}\gamma_i(x_i)\Big\}
$$

is at most 1 in sum; what is missing rejects, and an attempt is accepted with probability $Z / \exp U(\emptyset)$.
*Hazan, Maji and Jaakkola 2013, On sampling from the Gibbs distribution with random MAP perturbations, Algorithm 1;
Perturb-and-max-product, section 3.*
"""
NUMBERS = """
- **Energy** is minus the perturbed log-weight that a solver reached: the maximum has the least. **Above the least
  energy**: how much more it is than that of a proved maximum of the same perturbation, in nats.
- **Time to solve** is the least of three where it is short; others are measured once.
- **Fractional**: variables that the linear program leaves between 0 and 1, drawn grey. Its value is then a bound that
  no configuration reaches.
- **Noise atlas**: the noise of two spins varies, all other noise stays as it is shown. The cross is the shown
  perturbation; where it is dragged, noise, field and answers are those of the pixel under it.
- **Period** is of max-product's undamped messages: 1 is rest.
- **Mean of ...**: the average of a solver's maxima over perturbations, approximate as a marginal whatever the solver:
  one number a site is too little noise for the exact law.
- **A bound** is so in expectation. Every bar and every ± is of 95 %: 1.96 standard errors.
"""


__all__ = ["computing", "draw"]

"""The perturbation lab: one perturbation solved side by side, and below it what many of them say."""

from __future__ import annotations

import streamlit as st

from pmpviz.app.asked import ask_for, asked_on
from pmpviz.app.folds import chart, folds
from pmpviz.app.models import model_of
from pmpviz.app.page import Page
from pmpviz.app.session import held, held_live
from pmpviz.app.uploads import uploaded
from pmpviz.app.widgets import bind, select
from pmpviz.app.words import as_text, sentence, show_notices
from pmpviz.capabilities.perturbation import maps as perturbation_maps
from pmpviz.capabilities.perturbation import panels as perturbation_panels
from pmpviz.capabilities.perturbation import picture as perturbation
from pmpviz.capabilities.perturbation.controls import model_controls, noise_controls, preset_control, solver_controls
from pmpviz.capabilities.perturbation.live import LabView, LivePerturbation
from pmpviz.capabilities.perturbation.panels import Panel
from pmpviz.capabilities.perturbation.parts import resolved
from pmpviz.capabilities.perturbation.plan import MOST_DRAWS, LabPlan
from pmpviz.capabilities.perturbation.presets import PERTURBATION, PerturbationPreset
from pmpviz.capabilities.perturbation.settings import plan_from_query, plan_to_query
from pmpviz.player.model_words import model_words
from pmpviz.player.numbers import integer, seconds, significant
from pmpviz.types import InputError

PAGE = Page("perturbation_lab", PERTURBATION, plan_from_query, plan_to_query)
TICK_SECONDS, SLOW_SECONDS, PATIENCE = 0.5, 1.5, 0.6
SHORT = {"exact": "a maximum", "bound": "with an upper bound, not met here", "heuristic": "without any bound"}


def draw() -> None:
    """The page."""
    plan, notices = PAGE.open()
    side = st.sidebar
    plan = preset_control(plan, side)
    side.markdown("##### Solvers")
    plan = solver_controls(plan, side)
    with side.expander("Model"):
        plan, more = model_controls(plan, st)
    side.markdown("##### Noise")
    plan = noise_controls(plan, side, sites_of(plan))
    show_notices([*notices, *more])
    preset = PAGE.ask(plan, "What do solvers make of the same noise?", lambda a, b: a.replace(draw=b.draw) == b)
    PAGE.keep(plan)
    draw_buttons(plan)
    stage(plan)
    explain(plan, preset)


def draw_buttons(plan: LabPlan) -> None:
    """Which perturbation is shown: the next, the one before; and the link."""
    left, right, words, share = st.columns([0.25, 0.19, 0.43, 0.13], vertical_alignment="center")
    step = 0
    if left.button("Another perturbation", key="lab_next", width="stretch", shortcut="N"):
        step = 1
    if right.button("The one before", key="lab_before", width="stretch", disabled=plan.draw == 0):
        step = -1
    if step:
        # Once more from the top, so that the buttons, too, know where they are.
        PAGE.keep(plan.replace(draw=min(max(plan.draw + step, 0), MOST_DRAWS - 1)))
        st.rerun()
    words.caption(f"Perturbation {integer(plan.draw)} of seed {plan.seed}; every solver is given the same noise.")
    if share.button("Share", key="lab_share", width="stretch", shortcut="S"):
        ask_for("share", PAGE.id)
    if asked_on(PAGE.id):
        PAGE.share(plan, ["It opens this page with these settings: the same noise, bit for bit."])


def stage(plan: LabPlan) -> None:
    """Everything under the question."""
    live = held_live(PAGE.id, lambda: LivePerturbation(plan, uploaded), plan)
    live.wait(PATIENCE)
    busy = live.busy
    st.fragment(_shown, run_every=TICK_SECONDS if busy else None, key="lab-shown")(busy)
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
    for column, panel in zip(st.columns(len(panels)), panels, strict=True):
        column.markdown(f"**{as_text(panel.title)}**")
        column.image(panel.picture, width="stretch", output_format="PNG", alt=f"{panel.title}: {panel.words}")
        column.caption(as_text(panel.words))


def _shown(was_busy: bool) -> None:
    live = _live()
    view: LabView = live.view
    if view.trouble:
        st.error(sentence(view.trouble))
    st.markdown(computing(view))
    with st.container(key="lab_panels"):
        _panels(perturbation_panels.perturbed(view, _dark()), "Solving the first perturbation …")
    if view.shown is not None:
        _table(view)
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
    return as_text(f"{words[:1].upper()}{words[1:]}{some}; {integer(draws)} perturbations solved{doing}")


def _table(view: LabView) -> None:
    shown, bench = view.shown, view.bench
    assert shown is not None and bench is not None
    lines = ["| solver | energy | above the maximum's | time | |", "|:---|---:|---:|---:|:---|"]
    rows = zip(bench.solvers, shown.solutions, bench.refusals, shown.seconds, shown.pending, strict=True)
    for solver, found, reason, time, pending in rows:
        label = as_text(solver.spec.label)
        if pending:
            lines.append(f"| {label} | … | … | … | compiling and solving |")
            continue
        if found is None:
            lines.append(f"| {label} | n/a | n/a | n/a | cannot run: {as_text(reason or '')} |")
            continue
        promise = "proved to be the maximum" if found.exact else SHORT[solver.spec.promise]
        if found.notes.get("fractional"):
            promise += f"; {float(found.notes['fractional']):.0%} of the variables fractional"
        gap = "n/a" if shown.best is None else significant(max(0.0, shown.best - found.value))
        lines.append(f"| {label} | {significant(-found.value, 5)} | {gap} | {seconds(time)} | {as_text(promise)} |")
    st.markdown("\n".join(lines))


def _many() -> None:
    view: LabView = _live().view
    st.markdown("##### One best answer against many")
    waiting = "After the first perturbations …"
    with st.container(key="lab_averages"):
        _panels(perturbation_panels.averages(view, _dark()), waiting)
    left, right = st.columns(2, gap="medium")
    with left:
        st.markdown("###### Noise atlas")
        _atlas(view)
        st.markdown("###### Bounds on log Z")
        chart(perturbation.bounds(view, _dark()), "lab_bounds", waiting)
        if view.no_truth:
            st.caption(f"No exact log Z: {as_text(view.no_truth)}.")
    with right:
        st.markdown("###### Energy lost")
        chart(perturbation.lost(view, _dark()), "lab_lost", "No maximum of this model is known for certain.")
        st.caption(as_text(" ".join(perturbation.lost_words(view))))
        st.markdown("###### States against the exact law")
        chart(perturbation.histogram(view, _dark()), "lab_states", "States are listed for up to 10 free variables.")
        st.caption(as_text(perturbation.histogram_words(view)))
        st.markdown("###### The unbiased sampler's attempts")
        chart(perturbation_maps.tree(view, _dark()), "lab_tree", "")
        st.caption(as_text(perturbation_maps.tree_words(view)))


def _atlas(view: LabView) -> None:
    options = perturbation_maps.layers(view)
    chosen = st.session_state.get("lab_layer")
    chosen = bind("lab_layer", chosen if chosen in options else options[0])
    select(st, "Coloured by", options, "lab_layer", label_visibility="collapsed")
    chart(perturbation_maps.atlas(view, chosen, _dark()), "lab_atlas", "")
    st.caption(as_text(perturbation_maps.atlas_words(view)))


def sites_of(plan: LabPlan) -> int:
    """Sites of the plan's model; 2 where it is not here."""
    try:
        return resolved(plan.model, model_of)[0].n
    except InputError:
        return 2


def explain(plan: LabPlan, preset: PerturbationPreset | None) -> None:
    """The folds under the stage."""
    notice = preset.notice if preset else "Your own model: compare the solvers, and the average with the MAP."
    folds(notice, EQUATIONS, NUMBERS)


EQUATIONS = r"""
$$x = \arg\max_x\; \theta(x) + \sum_i \gamma_i(x_i),\qquad
\log Z \le \mathbb E_\gamma \max_x\Big\{\theta(x) + \sum_i \gamma_i(x_i)\Big\}$$

with $\gamma_i(x_i)$ independent centred Gumbel numbers; of two states only their difference counts, which is logistic.
One number for *every* $x$ would make the first exact and the second an equation.

$$p_j(x_j) = \frac{\exp U(x_1,\dots,x_j)}{\exp U(x_1,\dots,x_{j-1})},\quad
U(x_1,\dots,x_j) = \mathbb E_\gamma \max_{x_{j+1},\dots,x_n}\Big\{\theta(x) + \sum_{i>j}\gamma_i(x_i)\Big\}$$

is at most 1 in sum; what is missing rejects, and an attempt is accepted with probability $Z / \exp U(\emptyset)$.
*Hazan, Maji and Jaakkola 2013, On sampling from the Gibbs distribution with random MAP perturbations, Algorithm 1;
Perturb-and-max-product, section 3.*
"""
NUMBERS = """
- **Energy** is minus the perturbed log-weight that a solver reached; **above the maximum's**: how much it fell short of
  a proved maximum of the same perturbation, in nats.
- **Fractional**: variables that the linear program leaves between 0 and 1, drawn grey. Its value is then a bound that
  no configuration reaches.
- **Noise atlas**: the noise of two sites varies, all other noise stays as it is shown above. The cross is the shown
  perturbation.
- **Period** is of max-product's undamped messages: 1 is rest.
- **Mean of ...**: the average of a solver's maxima over perturbations, approximate as a marginal whatever the solver:
  one number a site is too little noise for the exact law.
- **A bound** is so in expectation: its bar is two standard errors.
"""


__all__ = ["computing", "draw"]

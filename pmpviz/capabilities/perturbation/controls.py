"""The controls of the perturbation lab: preset, solvers, model, noise."""

from __future__ import annotations

from typing import Any

from pmpviz.app import model_picker
from pmpviz.app.model_picker import ModelChoice
from pmpviz.app.widgets import bind, param_control, preset_choice, select, temperature_control
from pmpviz.app.words import as_text, sentence
from pmpviz.capabilities.perturbation.plan import FIRST, SECOND, SEED, SOLVERS, LabPlan
from pmpviz.capabilities.perturbation.presets import PERTURBATION
from pmpviz.capabilities.perturbation.scenes import PREFIX, SCENES, scene_of
from pmpviz.capabilities.perturbation.settings import check_model
from pmpviz.live.plan import BETA
from pmpviz.oracles import ORACLES, PROMISES, oracle_class
from pmpviz.types import InputError, Param

SHORT = {"denoise": "A noisy picture", "complete": "A hidden stroke"}


def preset_control(plan: LabPlan, box: Any) -> LabPlan:
    """The choice of a preset: the plan of the one that was just chosen, else the plan as it is."""
    like = lambda a, b: a.replace(draw=b.draw) == b  # noqa: E731
    chosen = preset_choice(PERTURBATION, "Experiment", "lab_preset", plan, box, like)
    return plan if chosen is None else chosen.plan


def solver_controls(plan: LabPlan, box: Any) -> LabPlan:
    """Up to three different solvers, each with its promise."""
    labels, chosen = {cls.spec.id: cls.spec.label for cls in ORACLES}, []
    for place in range(SOLVERS):
        shown = plan.solvers[place] if place < len(plan.solvers) else ""
        key = f"lab_solver{place}"
        chosen.append(bind(key, shown))
        select(box, f"Solver {place + 1}", labels if place == 0 else {"": "none", **labels}, key)
        if chosen[-1]:
            box.caption(f"It {PROMISES[oracle_class(chosen[-1]).spec.promise]}.")
    return plan.replace(solvers=tuple(dict.fromkeys(name for name in chosen if name)))


def model_controls(plan: LabPlan, box: Any) -> tuple[LabPlan, list[str]]:
    """The plan with the chosen model and temperature: a scene, or any model that the lab perturbs."""
    options = {"": "none, a model"} | {name: SHORT[name] for name in SCENES}
    scene = plan.model.removeprefix(PREFIX) if plan.model.startswith(PREFIX) else ""
    picked = bind("lab_scene", scene)
    select(box, "Picture", options, "lab_scene")
    if picked:
        plan = plan.replace(model=f"{PREFIX}{picked}")
        box.caption(as_text(scene_of(plan.model).words))
        return plan.replace(beta=temperature_control(BETA, "lab_run", plan.beta, box)), []
    model = LabPlan().model if scene else plan.model
    shown = ModelChoice(model, plan.beta)
    found, notices = model_picker.model_controls(shown, box, key="lab_model", run_key="lab_run", evidence=False)
    beta = temperature_control(BETA, "lab_run", found.beta, box)
    try:
        if found.model != plan.model:
            check_model(found.model)
    except InputError as error:
        box.error(sentence(error))
        return plan, notices
    return plan.replace(model=found.model, beta=beta), notices


def noise_controls(plan: LabPlan, box: Any, sites: int) -> LabPlan:
    """The seed, and the two sites whose noise the atlas varies."""
    plan = plan.replace(seed=param_control(SEED, "lab_seed", plan.seed, box))
    for param in (FIRST, SECOND):
        fits = Param(param.name, param.label, 0, max(sites - 1, 1), param.default, "int", param.help)
        now = getattr(plan, param.name)
        value = param_control(fits, f"lab_{param.name}", now if now < sites else param.default, box)
        plan = plan.replace(**{param.name: value})
    return plan


__all__ = ["model_controls", "noise_controls", "preset_control", "solver_controls"]

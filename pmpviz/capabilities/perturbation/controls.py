"""The controls of the perturbation lab: preset, solvers, model, noise."""

from __future__ import annotations

import dataclasses
from typing import Any

from pmpviz.app.model_picker import checked_model_controls
from pmpviz.app.widgets import bind, param_control, select, settings_control, temperature_control
from pmpviz.app.words import as_text
from pmpviz.capabilities.perturbation.plan import SOLVERS, LabPlan, check_model
from pmpviz.capabilities.perturbation.scenes import PREFIX, SCENES, scene_of
from pmpviz.live.plan import BETA
from pmpviz.oracles import ORACLES, PROMISES, oracle_class

# The lab tells energies, of which the least is sought.
PROMISED = PROMISES | {"bound": "gives a bound that no energy is below, and a configuration that may have more"}
SHORT = {"denoise": "A noisy picture", "complete": "A hidden stroke"}


def solver_controls(plan: LabPlan, box: Any) -> LabPlan:
    """Up to three different solvers, each with its promise."""
    labels, chosen = {cls.spec.id: cls.spec.label for cls in ORACLES}, []
    for place in range(SOLVERS):
        shown = plan.solvers[place] if place < len(plan.solvers) else ""
        key = f"lab_solver{place}"
        chosen.append(bind(key, shown))
        told = as_text(oracle_class(chosen[-1]).spec.summary) if chosen[-1] else None
        select(box, f"Solver {place + 1}", labels if place == 0 else {"": "none", **labels}, key, help=told)
        if chosen[-1]:
            box.caption(f"It {PROMISED[oracle_class(chosen[-1]).spec.promise]}.")
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
    if scene:
        plan = plan.replace(model=LabPlan().model)
    return checked_model_controls(plan, box, "lab", check_model)


def noise_controls(plan: LabPlan, box: Any, sites: int) -> LabPlan:
    """The seed, and the two spins whose noise the atlas varies, which people count from 1."""
    plan = settings_control(plan, ("seed",), "lab", box)
    for name in ("first", "second"):
        if getattr(plan, name) >= sites:
            plan = plan.replace(**{name: plan.params()[name].default})
        param = dataclasses.replace(plan.params()[name], low=1, high=max(sites, 2))
        plan = plan.replace(**{name: param_control(param, f"lab_{name}", getattr(plan, name) + 1, box) - 1})
    return plan


__all__ = ["model_controls", "noise_controls", "solver_controls"]

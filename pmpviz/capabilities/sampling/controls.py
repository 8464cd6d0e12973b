"""The controls of a plan: model, lanes, run. Each takes the plan's values and gives back the changed ones."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pmpviz.app.model_picker import COMPILES
from pmpviz.app.models import chain_limit
from pmpviz.app.widgets import bind, param_control, select, temperature_control
from pmpviz.app.words import as_text, sentence
from pmpviz.capabilities.sampling.manifest import read_manifest
from pmpviz.capabilities.sampling.plan import BUDGET, START, STOP, THRESHOLD, UNIT, LanePlan, Plan
from pmpviz.capabilities.sampling.settings import fitted
from pmpviz.live.plan import BETA, CHAINS, SEED
from pmpviz.samplers import SAMPLERS, sampler_class
from pmpviz.types import Param, Target

__all__ = ["adopt", "lane_controls", "run_controls"]


# Model.


# Lanes.


def lane_controls(lane: LanePlan, key: str, container: Any = None, target: Target | None = None) -> LanePlan:
    """One lane: its algorithm with what it guarantees, and the algorithm's knobs, advanced ones folded.

    Algorithms that cannot run on `target` are listed with the reason.
    """
    box = st if container is None else container
    reasons = {cls.spec.id: cls.spec.why_not(target) if target is not None else None for cls in SAMPLERS}
    usable = [cls.spec.id for cls in SAMPLERS if not reasons[cls.spec.id] or cls.spec.id == lane.algorithm]
    chosen = bind(f"{key}_algorithm", lane.algorithm)
    spec = sampler_class(chosen).spec
    labels = {id: sampler_class(id).spec.label for id in usable}
    select(box, "Algorithm", labels, f"{key}_algorithm", help=as_text(spec.paper))
    box.caption(f"**{spec.guarantee.capitalize()}.** {as_text(spec.summary)}")
    if reasons[chosen]:
        box.error(sentence(reasons[chosen]))
    lane = lane if chosen == lane.algorithm else LanePlan(chosen)
    lane = _lane_knobs(lane, f"{key}_{chosen}", box)
    left_out = [f"- {sampler_class(id).spec.label}: {as_text(r)}" for id, r in reasons.items() if r and id != chosen]
    if left_out:
        box.expander("Not on this model").markdown("\n".join(left_out))
    return lane


def _lane_knobs(lane: LanePlan, key: str, box: Any) -> LanePlan:
    before = lane.full_knobs
    params = sampler_class(lane.algorithm).spec.params
    fold = box.expander("Advanced") if any(p.advanced for p in params) else None
    now = {p.name: param_control(p, f"{key}_{p.name}", before[p.name], fold if p.advanced else box) for p in params}
    if now == before:
        return lane
    return LanePlan(lane.algorithm, tuple((p.name, now[p.name]) for p in params if now[p.name] != p.default))


# Run.


def run_controls(plan: Plan, container: Any = None, key: str = "run", model: Any = None) -> Plan:
    """Temperature, start, seed and budget; then the chains, under a heading that says that changing them compiles.

    With `model` given, the chains are limited to what fits into memory.
    """
    box = st if container is None else container
    plan = plan.replace(beta=temperature_control(BETA, key, plan.beta, box))
    stopping = (UNIT, BUDGET, STOP) if plan.stop == "budget" else (UNIT, BUDGET, STOP, THRESHOLD)
    for params in ((START, SEED), stopping):
        plan = _controls(params, plan, box, key)
    box.caption(COMPILES)
    most = int(CHAINS.high) if model is None else chain_limit(model)
    chains = Param("chains", CHAINS.label, 1, most, CHAINS.default, "int", CHAINS.help)
    return _controls((chains,), plan, box, key)


def _controls(params: tuple[Param, ...], plan: Plan, box: Any, key: str) -> Plan:
    for param in params:
        value = param_control(param, f"{key}_{param.name}", getattr(plan, param.name), box)
        plan = plan.replace(**{param.name: value})
    return plan


def adopt(plan: Plan, data: bytes | None, notices: list[str]) -> Plan:
    """The plan of a manifest, or without one the plan itself, fitted to its model (`model_picker.model_controls`)."""
    if data is None:
        return fitted(plan, plan)[0]
    plan, found = fitted(read_manifest(data), plan)
    notices.extend(found)
    return plan

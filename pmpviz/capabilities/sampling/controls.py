"""The controls of a run, and manifests that are brought."""

from __future__ import annotations

import dataclasses
from typing import Any

import streamlit as st

from pmpviz.app.model_picker import COMPILES
from pmpviz.app.models import chain_limit
from pmpviz.app.widgets import settings_control, temperature_control
from pmpviz.capabilities.sampling.manifest import read_manifest
from pmpviz.capabilities.sampling.plan import Plan
from pmpviz.capabilities.sampling.settings import fitted
from pmpviz.live.plan import BETA, CHAINS


def run_controls(plan: Plan, container: Any = None, key: str = "run", model: Any = None) -> Plan:
    """Temperature, start, seed and budget; then the chains, under a heading that says that changing them compiles.

    With `model` given, the chains are limited to what fits into memory.
    """
    box = st if container is None else container
    plan = plan.replace(beta=temperature_control(BETA, key, plan.beta, box))
    threshold = () if plan.stop == "budget" else ("threshold",)
    plan = settings_control(plan, ("start", "seed", "unit", "budget", "stop", *threshold), key, box)
    box.caption(COMPILES)
    most = int(CHAINS.high) if model is None else chain_limit(model)
    return settings_control(plan, (dataclasses.replace(CHAINS, high=most),), key, box)


def adopt(plan: Plan, data: bytes | None, notices: list[str]) -> Plan:
    """The plan of a manifest, or without one the plan itself, fitted to its model (`model_picker.model_controls`)."""
    if data is None:
        return fitted(plan, plan)[0]
    plan, found = fitted(read_manifest(data), plan)
    notices.extend(found)
    return plan


__all__ = ["adopt", "run_controls"]

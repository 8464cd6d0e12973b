"""What an algorithm says of itself is complete, and its knobs are those that it says."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import jax
import numpy as np

from pmpviz.contract.detectors import Verdict
from pmpviz.contract.fixtures import FIXTURES
from pmpviz.types import InputError, Param, Target

SCALES = ("linear", "log", "int", "bool", "choice")
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
OVERLAYS = ("labels", "sequential", "diverging")


def said(cls: Any) -> Verdict:
    """Texts, kind, guarantee, style and numbers of a sampler's spec, and a trace leaf for each of its knobs."""
    problem = next((words for holds, words in (*_words(cls), *_sampler(cls)) if not holds), None) or knobs(cls)
    return Verdict(problem is None, found=problem or "")


def _words(cls: Any):
    spec = cls.spec
    for name in ("label", "summary", "paper", "update"):
        yield bool(str(getattr(spec, name)).strip()), f"its {name} is empty"
    yield bool((cls.__doc__ or "").strip()), "the class has no docstring"
    style = spec.style
    if style is not None:
        fine = re.fullmatch(r"#[0-9A-Fa-f]{6}", style.colour) and style.dash in DASHES
        yield bool(fine), f"its style is no colour #rrggbb with one of the dashes {', '.join(DASHES)}"


def _sampler(cls: Any):
    spec = cls.spec
    model = next((f.target.model for f in FIXTURES if spec.why_not(f.target) is None), None)
    yield spec.kind in ("chain", "draw"), f"a sampler's kind is chain or draw, not {spec.kind}"
    yield spec.guarantee in ("invariant", "exact", "approximate"), f"its guarantee is {spec.guarantee}"
    yield spec.kind == "chain" or not spec.reversible, "only a chain can be reversible"
    yield all(overlay.kind in OVERLAYS for overlay in spec.overlays), f"an overlay's kind is one of {OVERLAYS}"
    known = {param.name for param in spec.params}
    yield all(name in known for knobs in spec.trials.values() for name in knobs), "its trials name an unknown knob"
    yield model is not None, "it runs on none of the small binary models that the laws are tried on"
    if model is not None:
        for name in ("quanta", "tile", "updates_per_sweep"):
            yield getattr(spec, name)(model) >= 1, f"its {name} is below 1"


def knobs(cls: Any) -> str | None:
    """What is wrong with the knobs of an algorithm of any kind, or None."""
    fields = {field.name: field.default for field in dataclasses.fields(cls)}
    params = {param.name: param for param in cls.spec.params}
    if sorted(fields) != sorted(params):
        return f"its fields are {sorted(fields)}, its params {sorted(params)}"
    for name, param in params.items():
        if reason := _knob(param, fields[name]):
            return f"{name}: {reason}"
    return None


def _knob(param: Param, default: Any) -> str | None:
    if param.scale not in SCALES:
        return f"its scale is none of {', '.join(SCALES)}"
    if not param.help.strip():
        return "it has no help"
    try:
        param.check(param.default)
    except InputError as error:
        return str(error)
    wanted = param.choices.index(param.default) if param.scale == "choice" else param.default
    if default == param.default or np.float32(default) == np.float32(wanted):
        return None
    return f"the default of the field is {default}, that of the param {param.default}"


def traced(cls: Any) -> Verdict:
    """Every knob is a traced array of a strong type, so that no slider recompiles."""
    leaves = jax.tree.leaves(cls())
    fine = len(leaves) == len(cls.spec.params)
    fine = fine and all(np.asarray(leaf).dtype in (np.float32, np.int32, np.bool_) for leaf in leaves)
    return Verdict(fine, found="a knob is no leaf of the pytree, or none of float32, int32 and bool")


def refuses_in_a_sentence(cls: Any) -> Verdict:
    """A model of which the algorithm knows nothing is refused by a sentence, not by an exception."""

    class Odd:
        n, card = 2, (3, 3)

    reason = cls.spec.why_not(Target(Odd(), FIXTURES[0].target.evidence, np.float32(1)))
    fine = reason is None or (isinstance(reason, str) and " " in reason and "\n" not in reason)
    guarded = isinstance(reason, str) and "cannot say whether it runs on this model" in reason
    return Verdict(fine and not guarded, found=str(reason))

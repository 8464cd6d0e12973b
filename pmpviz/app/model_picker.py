"""The choice of a model: a preset, a builder with its size and knobs, or a file."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pmpviz.app.file_controls import taken
from pmpviz.app.manifest import is_manifest, plan_of_manifest
from pmpviz.app.models import chain_limit, fit_size, mend_model, model_of, site_limit
from pmpviz.app.uploads import STORE
from pmpviz.app.widgets import bind, edited, param_control, pending_beta, select, show, temperature_control
from pmpviz.app.words import as_text, sentence
from pmpviz.live.plan import BETA, Settings
from pmpviz.models import BUILDERS, PRESETS, Preset, builder_of, format_spec, parse_model_spec
from pmpviz.models.builder import Builder, Values
from pmpviz.models.couplings import Shape
from pmpviz.types import InputError, Param

OWN, FILE = "", "file"
FILE_TYPES = ["uai", "npz", "json"]
COMPILES = "Changing these compiles anew"
FREE = "These change at once"
WEIGHTS = ("couplings", "J", "sigma", "field", "h", "theta", "pattern", "strength", "bias", "lateral", "spread")


@functools.lru_cache(maxsize=256)
def canonical(text: str) -> str:
    """The shortest text of the same model (a file's stays as it is); raises InputError."""
    return text if text.startswith("file:") else format_spec(*parse_model_spec(text))


@dataclass(frozen=True)
class ModelChoice(Settings):
    """What the picker changes of a plan, for pages whose plans have no chains and no edits."""

    model: str
    beta: float
    chains: int = 1
    field: tuple[tuple[int, float], ...] = ()
    clamp: tuple[tuple[int, int], ...] = ()
    places: tuple[tuple[int, float, float], ...] = ()


def model_of_manifest(plan: Any, data: bytes | None, notices: list[str]) -> Any:
    """The plan with the model and the temperature of a manifest's plan; raises InputError where the file is none."""
    if data is None:
        return plan
    given = plan_of_manifest(data)
    model, found = mend_model(str(given.get("model", plan.model)), plan.model)
    notices.extend(found)
    return plan.replace(model=model, beta=BETA.clamp(given.get("beta", plan.beta)))


def model_controls(
    plan: Any,
    container: Any = None,
    key: str = "model",
    run_key: str = "run",
    evidence: bool = True,
    adopt: Callable[[Any, bytes | None, list[str]], Any] = model_of_manifest,
    check: Callable[[str], Any] | None = None,
) -> tuple[Any, list[str]]:
    """(plan with the chosen model, notices): a preset, or a builder with its size and knobs, or a file.

    A preset also sets beta. Another model drops painted and clamped sites. An error is shown where it arises, and
    the model stays as it was: one that `check` raises InputError for is refused too, and a notice says so as long as
    nothing else is chosen. `run_key` is the key of the `run_controls` beside it; `evidence` says whether the page
    clamps sites, and so takes a file of them. `plan` has the fields of `ModelChoice`; `adopt(plan, data, notices)`
    takes up a manifest, or without data fits the plan to a file that has come.
    """
    box = st if container is None else container
    top, built, brought = box.container(), box.container(), box.container()
    refused: list[str] = []
    chosen = _with_preset(plan, f"{key}_preset", check, refused)
    if chosen is plan:
        chosen = plan.replace(beta=pending_beta(BETA, run_key, plan.beta))
    # A file first, wherever it stands: what stands above it shows the model that has just come.
    chosen, notices, fold, told = _from_file(chosen, brought, key, evidence, adopt, check)
    chosen = _built_or_kept(chosen, built, key, check, refused)
    _tell_file(chosen, fold, told)
    _draw_preset(chosen, top, f"{key}_preset")
    notices = [*notices, *_refused_file(key, chosen.model), *refused]
    if chosen.model == plan.model:
        return chosen, notices
    chosen, fewer = _with_fewer_chains(chosen)
    return chosen, notices + fewer


def checked_model_controls(plan: Any, box: Any, key: str, check: Callable[[str], Any]) -> tuple[Any, list[str]]:
    """(plan with the chosen model and temperature, notices), for plans without chains and edits.

    A model that `check` raises InputError for is refused, and the plan stays as it was.
    """
    shown = ModelChoice(plan.model, plan.beta)
    chosen, notices = model_controls(shown, box, f"{key}_model", f"{key}_run", evidence=False, check=check)
    beta = temperature_control(BETA, f"{key}_run", chosen.beta, box)
    return plan.replace(model=chosen.model, beta=beta), notices


def preset_of(plan: Any) -> Preset | None:
    """The preset that the plan shows, or None."""
    same = (p for p in PRESETS if p.beta == plan.beta and canonical(p.spec) == canonical(plan.model))
    return next(same, None)


def refuses(key: str) -> bool:
    """Whether the file that was brought to the picker of this key is refused: what folds it stands open then."""
    return bool(st.session_state.get(f"{key}_file_seen", (None, None))[1])


def _with_preset(plan: Any, key: str, check: Callable[[str], Any] | None, refused: list[str]) -> Any:
    preset = next((p for p in PRESETS if edited(key) and p.id == st.session_state[key]), None)
    if preset is None or not _allowed(preset.spec, check, preset.label, refused):
        return plan
    return plan.replace(model=preset.spec, beta=preset.beta, field=(), clamp=(), places=())


def _allowed(model: str, check: Callable[[str], Any] | None, name: str, refused: list[str]) -> bool:
    """Whether a page's check takes the model; what it says is added to what is refused."""
    try:
        if check is not None:
            check(model)
    except InputError as error:
        refused.append(f"{name} was not taken: {error}")
        return False
    return True


def _draw_preset(plan: Any, box: Any, key: str) -> None:
    preset = preset_of(plan)
    labels = {OWN: "Your own", **{preset.id: preset.label for preset in PRESETS}}
    show(key, preset.id if preset else OWN)
    select(box, "Model", labels, key, help="Models worth opening first.")
    if preset is not None:
        box.caption(as_text(preset.lesson))


def _built_or_kept(plan: Any, box: Any, key: str, check: Callable[[str], Any] | None, refused: list[str]) -> Any:
    """The plan with the builder's model; where that can't be built the controls keep it as a draft."""
    kept_for, draft = st.session_state.get(f"{key}_draft", (None, ""))
    shown = draft if kept_for == plan.model else plan.model
    box.caption(COMPILES)
    text = _builder_controls(shown, box, key)
    if text is None or text == canonical(plan.model):
        st.session_state.pop(f"{key}_draft", None)
        return plan
    try:
        (check or model_of)(text)
    except InputError as error:
        st.session_state[f"{key}_draft"] = (plan.model, text)
        box.error(sentence(error))
        if check is not None:
            refused.append(f"{parse_model_spec(text)[0].label} was not taken: {error}")
        return plan
    st.session_state.pop(f"{key}_draft", None)
    return plan.replace(model=text, field=(), clamp=(), places=())


def _builder_controls(text: str, box: Any, key: str) -> str | None:
    """The model's text that the controls describe, None for a file's."""
    is_file = text.startswith("file:")
    labels = {b.id: b.label for b in BUILDERS} | ({FILE: "From a file"} if is_file else {})
    now = FILE if is_file else parse_model_spec(text)[0].id
    chosen = bind(f"{key}_builder", now)
    select(box, "Built as", labels, f"{key}_builder")
    if chosen == FILE:
        return None
    builder = builder_of(chosen)
    box.caption(builder.help)
    _, size, values = parse_model_spec(text if chosen == now else format_spec(builder))
    size = _size_controls(builder, size, box, f"{key}_{builder.id}")
    return format_spec(builder, size, _knob_controls(builder, values, box, f"{key}_{builder.id}"))


def _size_controls(builder: Builder, size: Shape, box: Any, key: str) -> Shape:
    columns = box.columns(len(builder.size))
    sides = []
    for name, side, column in zip(builder.size, size, columns, strict=True):
        param = Param(name, name.capitalize(), 1, site_limit(builder), side, "int")
        value = bind(f"{key}_{name}", side)
        column.number_input(param.label, 1, int(param.high), int(value), 1, key=f"{key}_{name}")
        sides.append(int(value))
    kept, notice = fit_size(builder, tuple(sides))
    if notice:
        box.warning(sentence(notice))
    return kept


def _knob_controls(builder: Builder, values: Values, box: Any, key: str) -> Values:
    """The knobs that have an effect, which may change from one to the next: topology first, then weights."""
    weights = [p for p in builder.params if p.name in WEIGHTS or p.name == "seed" and not builder.random_graph]
    values, headed = dict(values), False
    for param in [*(p for p in builder.params if p not in weights), *weights]:
        if param not in builder.active(values):
            continue
        if param in weights and not headed:
            box.caption(FREE)
            headed = True
        values[param.name] = param_control(param, f"{key}_{param.name}", values[param.name], box)
    return values


def _from_file(
    plan: Any, box: Any, key: str, evidence: bool, adopt: Callable, check: Callable[[str], Any] | None
) -> tuple[Any, list[str], Any, Any]:
    """(the plan with the model or the evidence, or the whole plan with the manifest, that was just brought, notices,
    the fold, and the place in it for what it holds)."""
    fault = st.session_state.get(f"{key}_file_seen", (None, None))[1]
    fold = box.expander("From a file", expanded=bool(_file_of(plan) or fault))
    told = fold.empty()
    words, types = "Model (UAI, npz, JSON) or manifest", FILE_TYPES
    if evidence:
        words, types = "Model (UAI, npz, JSON), its evidence (evid) or manifest", [*FILE_TYPES, "evid"]
    file = fold.file_uploader(words, type=types, key=f"{key}_file")
    notices: list[str] = []

    def read(file: Any) -> Any:
        found, refused = _read(plan, file.name, file.getvalue(), notices, adopt), list[str]()
        if found.model != plan.model and not _allowed(found.model, check, file.name, refused):
            st.session_state[f"{key}_refused"] = file.file_id, plan.model, refused
            raise InputError(refused[0])
        return found

    found = taken(file, f"{key}_file", fold, read) or plan
    if file is None:
        st.session_state.pop(f"{key}_file_seen", None)
    return found, notices, fold, told


def _refused_file(key: str, model: str) -> list[str]:
    """What was said of a file that is refused, as long as the model is shown that was there when it came."""
    file, (seen, _) = st.session_state.get(f"{key}_refused"), st.session_state.get(f"{key}_file_seen", (None, None))
    return file[2] if file and file[:2] == (seen, model) else []


def _file_of(plan: Any) -> str:
    """The SHA-256 of the file that the plan's model is; empty for another model."""
    return plan.model[len("file:") :] if plan.model.startswith("file:") else ""


def _tell_file(plan: Any, fold: Any, told: Any) -> None:
    wanted = _file_of(plan)
    held = STORE.find(wanted) if wanted else None
    if held is not None:
        told.caption(f"{as_text(held.name)}: {held.model.n:,} variables")
    elif wanted:
        fold.warning(sentence(f"bring the file that this link names (SHA-256 {wanted[:12]}...)"))


def _read(plan: Any, name: str, data: bytes, notices: list[str], adopt: Callable) -> Any:
    if is_manifest(data):
        return adopt(plan, data, notices)
    if name.lower().endswith(".evid"):
        return plan.replace(clamp=_evidence(plan, name, data))
    upload = STORE.add(name, data, _load)
    wanted, model = plan.model, f"file:{upload.sha256}"
    if wanted == model:
        return adopt(plan, None, notices)
    if wanted.startswith("file:") and STORE.find(wanted[len("file:") :]) is None:
        notices.append("this is not the file that the link names; its own model is shown")
    return plan.replace(model=model, field=(), clamp=(), places=())


def _evidence(plan: Any, name: str, data: bytes) -> tuple[tuple[int, int], ...]:
    from pmpviz.io.files import decode
    from pmpviz.io.uai import parse_evid

    return tuple(sorted(parse_evid(decode(data, name), model_of(plan.model).card, name).items()))


def _load(name: str, data: bytes) -> Any:
    from pmpviz.io import load_model_bytes

    return load_model_bytes(name, data).model


def _with_fewer_chains(plan: Any) -> tuple[Any, list[str]]:
    try:
        model = model_of(plan.model)
    except InputError:
        return plan, []  # A manifest of a file that is asked for.
    most = chain_limit(model)
    if plan.chains <= most:
        return plan, []
    notice = f"{plan.chains:,} chains are too many for {model.n:,} variables and were set to {most:,}"
    return plan.replace(chains=most), [notice]

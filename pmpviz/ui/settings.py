"""Settings as a link: `Plan` to query and back, every value clamped to its range with a notice, never an exception."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import numpy as np
import streamlit as st

from pmpviz.models import builder_of, format_spec, parse_model_spec
from pmpviz.models.builder import Builder
from pmpviz.models.couplings import Shape
from pmpviz.runs.plan import (
    BETA,
    BUDGET,
    CHAINS,
    MAX_LANES,
    SEED,
    START,
    STOP,
    THRESHOLD,
    UNIT,
    LanePlan,
    Plan,
    resolve_model,
)
from pmpviz.samplers import sampler_class
from pmpviz.types import InputError, Param
from pmpviz.ui import edits
from pmpviz.ui.echo import is_echo, replace
from pmpviz.ui.link_values import joined, lane_text, quote, read_named, read_value, text_of
from pmpviz.ui.uploads import uploaded
from pmpviz.views.layered import IMAGE

VERSION = "1"
MOST_SITES = 1 << 18
MOST_GRAPH_SITES = 10_000
MOST_DENSE_SITES = 1024
MOST_MESSAGES = 1 << 26

TEMPERATURE = Param("T", "Temperature T", 0.05, 100.0, 1.0, help="T = 1/β: hot is disorder, cold is order.")
ALIASES = {"n": "chains"}
LANES = tuple(f"lane{i + 1}" for i in range(MAX_LANES))
PLAIN = (CHAINS, SEED, START, UNIT, BUDGET, STOP, THRESHOLD)
PRESET = "preset"
KEYS = ("v", "model", "beta", "T", *(p.name for p in PLAIN), *ALIASES, *LANES, "field", "clamp")


# Plan to query.


def plan_to_query(plan: Plan) -> dict[str, str]:
    """The plan as query parameters: `v`, `model`, `beta`, ..., `lane1` = `pmp;damping=0.5`, edits where they fit."""
    query = {"v": VERSION, "model": plan.model, "beta": text_of(float(plan.beta))}
    query |= {p.name: text_of(getattr(plan, p.name)) for p in PLAIN}
    query |= {name: lane_text(lane.algorithm, lane.knobs) for name, lane in zip(LANES, plan.lanes, strict=False)}
    return query | edits.encode(plan.field, plan.clamp)


def query_text(plan: Plan) -> str:
    """What stands behind the `?` of a link."""
    return joined(plan_to_query(plan))


def share_limits(plan: Plan) -> list[str]:
    """One sentence for each thing that a link to this plan leaves out."""
    left = edits.too_large(plan.field, plan.clamp)
    sentences = [f"The {what} is too large for a link; export the manifest to keep it." for what in left]
    if plan.model.startswith("file:"):
        sentences.append("The model's file is not in the link: whoever opens the link is asked for the same file.")
    return sentences


# Query to plan.


def plan_from_query(params: Mapping[str, str], default: Plan) -> tuple[Plan, list[str]]:
    """(plan, notices) of a link; what is missing comes from `default`; never raises.

    Each notice is one sentence on a value that was out of range, unknown or unreadable, and what it was set to.
    """
    given = {str(key): str(value) for key, value in params.items()}
    notices = _stray(given)
    values = {"beta": _read_beta(given, default.beta, notices)}
    for param in PLAIN:
        values[param.name] = _read(param, given, getattr(default, param.name), notices)
    lanes = _read_lanes(given, default.lanes, notices)
    plan = default.replace(lanes=lanes, **values)
    if "model" in given:
        plan = plan.replace(model=given["model"], field=(), clamp=())
    plan, found = fitted(_with_edits(plan, given, notices), default)
    return plan, notices + found


def _stray(given: dict[str, str]) -> list[str]:
    notices = []
    if given.get("v", VERSION) != VERSION:
        notices.append(
            f"this link is of version {quote(given['v'])}, and this is version {VERSION}: check the settings"
        )
    unknown = [quote(key) for key in given if key not in KEYS]
    if unknown:
        more = f" and {len(unknown) - 5} more" if len(unknown) > 5 else ""
        notices.append(f"settings that do not exist were left out: {', '.join(unknown[:5])}{more}")
    return notices


def _read(param: Param, given: dict[str, str], fallback: Any, notices: list[str]) -> Any:
    alias = next((a for a, name in ALIASES.items() if name == param.name and a in given), None)
    name = param.name if param.name in given or alias is None else alias
    if name not in given:
        return fallback
    value, notice = read_value(param, given[name], fallback, name)
    notices.extend([notice] if notice else [])
    return value


def _read_beta(given: dict[str, str], fallback: float, notices: list[str]) -> float:
    if "T" not in given:
        return _read(BETA, given, fallback, notices)
    if "beta" in given:
        notices.append("beta and T = 1/beta are both given; beta was used")
        return _read(BETA, given, fallback, notices)
    start = TEMPERATURE.clamp(1 / fallback) if fallback else TEMPERATURE.high
    return 1 / _read(TEMPERATURE, given, start, notices)


def _read_lanes(given: dict[str, str], fallback: tuple[LanePlan, ...], notices: list[str]) -> tuple[LanePlan, ...]:
    lanes = [_read_lane(given[name], name, notices) for name in LANES if name in given]
    return tuple(lane for lane in lanes if lane is not None) or fallback


def _read_lane(text: str, lane: str, notices: list[str]) -> LanePlan | None:
    found = read_named(text, lane, sampler_class, notices)
    return None if found is None else LanePlan(*found)


# Models.


@functools.lru_cache(maxsize=8)
def _built(text: str) -> Any:
    return resolve_model(text)


def model_of(text: str) -> Any:
    """The model of a plan's text, from a small cache; an uploaded one from the store; raises InputError."""
    if text.startswith("file:"):
        return resolve_model(text, uploaded)
    return _built(text)


def site_limit(builder: Builder) -> int:
    """Sites that a page accepts: fewer where every pair interacts or the graph is drawn site by site.

    Of a model with layers the limit is on the weights between them, the product of its three sides.
    """
    if builder.size == IMAGE:
        return builder.max_sites
    if builder.max_sites <= 1 << 12:
        return min(builder.max_sites, MOST_DENSE_SITES)
    return MOST_GRAPH_SITES if builder.random_graph else MOST_SITES


def chain_limit(model: Any) -> int:
    """Chains that a page accepts: both messages of every coupling of every chain are at most 2^26 numbers."""
    couplings = max(np.size(leaf) for leaf in jax.tree.leaves(model))
    return int(min(CHAINS.high, max(1, MOST_MESSAGES // (2 * couplings))))


def fit_size(builder: Builder, size: Shape) -> tuple[Shape, str | None]:
    """(size within the page's limit, notice or None): sides longer than the limit's root are shortened to it."""
    limit = site_limit(builder)
    if math.prod(size) <= limit:
        return size, None
    side = next(s for s in range(round(limit ** (1 / len(size))) + 1, 0, -1) if s ** len(size) <= limit)
    fitted = tuple(min(s, side) for s in size)
    shown = ["x".join(map(str, sides)) for sides in (size, fitted)]
    what = "weights" if builder.size == IMAGE else "sites"
    return fitted, f"{builder.id} of {shown[0]} has more than {limit:,} {what} and was set to {shown[1]}"


def mend_model(text: str, default: str) -> tuple[str, list[str]]:
    """(model's text that can be built, notices): `text` itself where it is right, mended where it is nearly."""
    notices: list[str] = []
    if text.startswith("file:"):
        if re.fullmatch(r"file:[0-9a-f]{64}", text):
            return text, []
        return default, [f"{quote(text)} names no file by its SHA-256; the model was set to {default}"]
    try:
        builder, size, values = parse_model_spec(text)
        fitted, notice = fit_size(builder, size)
        if notice or not text.isascii() or any(c.isspace() for c in text):
            text = format_spec(builder, fitted, values)
        notices.extend([notice] if notice else [])
    except InputError as error:
        text, notices = _mended(text, default, error)
    try:
        _built(text)
    except InputError as error:
        return default, [*notices, f"{error}; the model was set to {default}"]
    return text, notices


def _mended(text: str, default: str, error: InputError) -> tuple[str, list[str]]:
    head, *parts = text[:1000].split(",")
    id, _, size_text = head.partition(":")
    try:
        builder = builder_of(id.strip())
    except InputError:
        return default, [f"{quote(str(error)) if len(text) > 1000 else error}; the model was set to {default}"]
    notices: list[str] = []
    size = _mended_size(builder, size_text, notices)
    knobs = _mended_knobs(builder, parts, notices)
    return format_spec(builder, size, knobs), notices or [str(error)]


def _mended_size(builder: Builder, text: str, notices: list[str]) -> Shape:
    sides = tuple(int(side[:9]) for side in re.findall(r"[0-9]+", text[:200]))
    if not text.strip():
        return builder.default_size
    if len(sides) != len(builder.size) or min(sides) < 1:
        size = "x".join(map(str, builder.default_size))
        notices.append(f"{builder.id} has no size {quote(text)} and was set to {size}")
        return builder.default_size
    size, notice = fit_size(builder, sides)
    notices.extend([notice] if notice else [])
    return size


def _mended_knobs(builder: Builder, parts: Iterable[str], notices: list[str]) -> dict[str, Any]:
    known = {param.name: param for param in builder.params}
    if "J" in known:
        limit = known["J"].high / 2
        known["theta"] = Param("theta", "theta", -limit, limit, known["J"].default / 2)
    knobs: dict[str, Any] = {}
    for part in list(parts)[:64]:
        name, _, value = (piece.strip() for piece in part.partition("="))
        both = "J" in known and {name, *knobs} >= {"J", "theta"}
        if name not in known or name in knobs or both:
            notices.append(f"{builder.id} cannot take {quote(part)}, which was left out")
            continue
        knobs[name], notice = read_value(known[name], value, known[name].default, f"{builder.id}'s {name}")
        notices.extend([notice] if notice else [])
    return knobs


def _with_edits(plan: Plan, given: dict[str, str], notices: list[str]) -> Plan:
    try:
        changes = edits.decode({key: given[key] for key in ("field", "clamp") if key in given})
    except InputError as error:
        notices.append(str(error))
        return plan
    return plan.replace(**changes)


def _of_equal_sites(text: str, asked: str) -> bool:
    """Whether the mended text names the builder and the size that were asked for, or the size was left to it."""
    (builder, _, size), (wanted, _, wanted_size) = (
        "".join(given.split()).split(",")[0].partition(":") for given in (text, asked)
    )
    return builder == wanted and wanted_size in ("", size)


def fitted(plan: Plan, default: Plan) -> tuple[Plan, list[str]]:
    """(plan whose model can be built, or is a file to be asked for, with edits and chains that fit it, notices)."""
    text, notices = mend_model(plan.model, default.model)
    if (plan.field or plan.clamp) and not _of_equal_sites(text, plan.model):
        notices.append("the sites painted or clamped on that model were left out")
        plan = plan.replace(field=(), clamp=())
    plan = plan.replace(model=text)
    try:
        model = model_of(text)
    except InputError as error:
        return plan, [*notices, str(error)]
    plan, notice = edits.within(plan, model)
    notices += [notice] if notice else []
    most = chain_limit(model)
    if plan.chains > most:
        notices.append(f"chains = {plan.chains} is too many for {model.n:,} sites and was set to {most}")
    return plan.replace(chains=min(plan.chains, most)), notices


# The page's side.


def open_plan(
    page: str, default: Any, read: Callable = plan_from_query, presets: Iterable[Any] = ()
) -> tuple[Any, list[str]]:
    """This page's plan: from the address where it has changed, else as `keep_plan` left it, else `default`.

    `read(query, default)` makes the plan of an address. One that says `preset=ID` begins as that preset of `presets`
    (each with its `id` and `plan`). Call it first in a page's script. The notices stay until the plan changes.
    """
    kept, query = st.session_state.get(f"plan:{page}"), dict(st.query_params)
    if query and query != st.session_state.get(f"query:{page}") and not is_echo(f"query:{page}", query):
        kept = _of_preset(page, query, default, read, presets) if PRESET in query else read(query, default)
        st.session_state[f"plan:{page}"], st.session_state[f"query:{page}"] = kept, query
    return kept or (default, [])


def _of_preset(page: str, query: dict, default: Any, read: Callable, presets: Iterable[Any]) -> tuple[Any, list[str]]:
    rest = {name: value for name, value in query.items() if name != PRESET}
    known = {preset.id: preset for preset in presets}
    preset = known.get(query[PRESET])
    if preset is None:
        plan, notices = read(rest, default)
        return plan, [f"there is no preset {quote(query[PRESET])} here; choose from {', '.join(known)}", *notices]
    st.session_state[f"preset:{page}"] = preset.id
    if hasattr(preset, "speed"):
        st.session_state[f"speed:{page}"] = preset.speed
    return read(rest, preset.plan)


def keep_plan(page: str, plan: Any, write: Callable = plan_to_query) -> None:
    """Keep the plan over page switches and put it, as `write` says, into the address."""
    before = st.session_state.get(f"plan:{page}")
    if before is None or before[0] != plan:
        st.session_state[f"plan:{page}"] = (plan, [])
    query, last = write(plan), st.session_state.get(f"query:{page}")
    if last and last != query:
        replace(f"query:{page}", last)
    if dict(st.query_params) != query:
        st.query_params.from_dict(query)
    st.session_state[f"query:{page}"] = query


def kept_plan(page: str, default: Any) -> Any:
    """The plan as `keep_plan` left it."""
    kept = st.session_state.get(f"plan:{page}")
    return kept[0] if kept else default


def show_notices(notices: list[str], container: Any = None) -> None:
    """The notices of `plan_from_query`, in one box; foreign text in them is shown as it is, never as Markdown."""
    if notices:
        lines = "\n".join(f"- {as_text(notice)}" for notice in notices[:12])
        (container or st).warning(lines, icon=":material/link:")


def sentence(message: object) -> str:
    """A message as a sentence, in Markdown that shows exactly its characters."""
    text = str(message)
    return as_text(text[:1].upper() + text[1:]) + ("" if text.endswith(".") else ".")


def as_text(text: str) -> str:
    """`text` as Markdown that shows exactly its characters."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~$:<>])", r"\\\1", text.replace("\n", " "))

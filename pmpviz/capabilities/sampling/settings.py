"""Settings as a link: `Plan` to query and back, every value clamped to its range with a notice, never an exception."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pmpviz.app.address import VERSION
from pmpviz.app.link_values import joined, lane_text, quote, read_named, read_value, text_of
from pmpviz.app.models import chain_limit, mend_model, model_of
from pmpviz.app.widgets import TEMPERATURE
from pmpviz.capabilities.sampling import edits
from pmpviz.capabilities.sampling.plan import BUDGET, MAX_LANES, START, STOP, THRESHOLD, UNIT, LanePlan, Plan
from pmpviz.live.plan import BETA, CHAINS, SEED
from pmpviz.samplers import sampler_class
from pmpviz.types import InputError, Param

ALIASES = {"n": "chains"}
LANES = tuple(f"lane{i + 1}" for i in range(MAX_LANES))
PLAIN = (CHAINS, SEED, START, UNIT, BUDGET, STOP, THRESHOLD)
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

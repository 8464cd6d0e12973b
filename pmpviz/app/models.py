"""The model that a plan's text names: built, mended where it is nearly right, within what a page can hold."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from pmpviz.app.uploads import uploaded
from pmpviz.live.limits import limits
from pmpviz.live.link import quote, read_value
from pmpviz.live.plan import CHAINS, resolve_model
from pmpviz.models import builder_of, format_spec, parse_model_spec
from pmpviz.models.builder import Builder
from pmpviz.models.couplings import Shape
from pmpviz.player.layered import IMAGE
from pmpviz.types import InputError, Param


def model_of(text: str) -> Any:
    """The model of a plan's text, an uploaded one from the store; raises InputError."""
    return resolve_model(text, uploaded)


def site_limit(builder: Builder) -> int:
    """Sites that a page accepts: fewer where every pair interacts or the graph is drawn site by site.

    Of a model with layers the limit is on the weights between them, the product of its three sides.
    """
    if builder.size == IMAGE:
        return builder.max_sites
    if builder.max_sites <= 1 << 12:
        return min(builder.max_sites, limits().dense_sites)
    return limits().graph_sites if builder.random_graph else limits().sites


def chain_limit(model: Any) -> int:
    """Chains that a page accepts: both messages of every coupling of every chain are at most `limits().messages`."""
    couplings = max(np.size(leaf) for leaf in jax.tree.leaves(model))
    return int(min(CHAINS.high, max(1, limits().messages // (2 * couplings))))


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
        model_of(text)
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
    if builder.spins:
        limit = known["J"].high / 2
        known["theta"] = Param("theta", "theta", -limit, limit, known["J"].default / 2)
    knobs: dict[str, Any] = {}
    for part in list(parts)[:64]:
        name, _, value = (piece.strip() for piece in part.partition("="))
        both = builder.spins and {name, *knobs} >= {"J", "theta"}
        if name not in known or name in knobs or both:
            notices.append(f"{builder.id} cannot take {quote(part)}, which was left out")
            continue
        knobs[name], notice = read_value(known[name], value, known[name].default, f"{builder.id}'s {name}")
        notices.extend([notice] if notice else [])
    return knobs

"""Models as text: `square:25x25,theta=-0.1,periodic=true` is parsed, never evaluated."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from pmpviz.models.builder import Builder, Values
from pmpviz.models.builders import BUILDERS
from pmpviz.models.couplings import Shape
from pmpviz.models.ising import Ising
from pmpviz.types import InputError

MAX_TEXT = 1000


def builder_of(id: str) -> Builder:
    """The builder of this id; raises InputError naming those that exist."""
    for builder in BUILDERS:
        if builder.id == id:
            return builder
    raise InputError(f"there is no model {id[:40]!r}; choose one of {', '.join(b.id for b in BUILDERS)}")


def parse_model_spec(text: str) -> tuple[Builder, Shape, Values]:
    """(builder, size, all its knobs) of `id:size,name=value,...`; size and knobs may be left out.

    Raises InputError, naming the valid choices, for an unknown model or knob, a value out of range, a name given
    twice, both of J and theta, or a knob that has no effect beside the others.
    """
    if len(text) > MAX_TEXT:
        raise InputError(f"the model's text has {len(text)} characters; give at most {MAX_TEXT}")
    head, *rest = text.split(",")
    id, _, size = head.partition(":")
    builder = builder_of(id.strip())
    given = _pairs(builder, rest)
    values = builder.resolve(given)
    _refuse_idle(builder, given, values)
    return builder, builder.check_size(size.strip()), values


def _pairs(builder: Builder, parts: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for part in parts:
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value:
            known = ", ".join(p.name for p in builder.params)
            raise InputError(f"{part.strip()[:40]!r} is no name=value pair; {builder.id} takes {known}")
        if name in given:
            raise InputError(f"{name[:40]} is given twice; give it once")
        given[name] = value
    return given


def _refuse_idle(builder: Builder, given: Mapping[str, Any], values: Values) -> None:
    """A knob without effect would mislead, except `seed`, which is harmless."""
    active = {p.name for p in builder.active(values)} | {"seed"}
    if "J" in active and builder.spins:
        active.add("theta")
    for name in given:
        if name not in active:
            kind = "field" if name == "h" else "couplings"
            raise InputError(f"{name} has no effect with {kind}={values[kind]}; leave it out or change {kind}")


def build_spec(text: str) -> Ising:
    """The model that a spec's text describes; raises InputError as `parse_model_spec` and the builder do."""
    builder, size, values = parse_model_spec(text)
    return builder.build(size, **values)


def format_spec(builder: Builder, size: Shape | str | None = None, params: Mapping[str, Any] | None = None) -> str:
    """The shortest text for this model: size, and the knobs that have an effect and differ from the default.

    `parse_model_spec` gives back the same size and `builder.resolve(params)`; equal models have equal texts.
    """
    values = builder.resolve(params or {})
    changed = [p for p in builder.active(values) if values[p.name] != p.default]
    head = f"{builder.id}:{'x'.join(map(str, builder.check_size(size)))}"
    return ",".join([head, *(f"{p.name}={_text(values[p.name])}" for p in changed)])


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value) if isinstance(value, float) else str(value)


def model_hash(model: Any) -> str:
    """SHA-256 (hex) of a model's class, cardinalities, static fields and weights, for cache keys and share links."""
    digest = hashlib.sha256()
    _feed(digest, np.asarray(model.card, np.int8))
    _feed(digest, model)
    return digest.hexdigest()


def _feed(digest, value: Any) -> None:
    """Adds a value with its type and length, so that neighbouring values can't run into each other."""
    if dataclasses.is_dataclass(value):
        names = [f.name for f in dataclasses.fields(value)]
        digest.update(f"{type(value).__name__}{names};".encode())
        for name in names:
            _feed(digest, getattr(value, name))
    elif isinstance(value, (tuple, list)):
        digest.update(f"tuple {len(value)};".encode())
        for item in value:
            _feed(digest, item)
    elif value is None or isinstance(value, (str, int, float, bool)):
        digest.update(f"{type(value).__name__} {value!r};".encode())
    else:
        array = np.asarray(value)
        digest.update(f"{array.dtype.str} {array.shape};".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
